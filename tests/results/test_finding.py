"""Findings that wait to be looked at."""

from truecount.results.finding import Awaited, Finding


def test_awaited_findings_are_looked_for_once_and_only_when_looked_at():
    searches = []

    def find():
        searches.append(1)
        return (Finding("few-labels", "caution", "Few."),)

    awaited = Awaited(find)
    assert not searches
    assert (len(awaited), awaited[0].code, [each.code for each in awaited]) == (1, "few-labels", ["few-labels"])
    assert awaited == (Finding("few-labels", "caution", "Few."),)
    assert awaited != ()
    assert len(searches) == 1
