"""Findings of groups that were inferred one by one, each said once."""

from datetime import date

import truecount as tc
from made_posterior import made_posterior
from truecount.diagnostics.evidence import groups_findings
from truecount.reading.names import group_name

LABELED = tc.Counts([[140, 60], [20, 180]], [0, 0], classes=["fail", "pass"])


def test_keys_become_names() -> None:
    assert [group_name(key) for key in (date(2026, 1, 5), None)] == ["2026-01-05", "(none)"]
    assert group_name((date(2026, 1, 5), "north", True)) == "2026-01-05 north True"


def test_a_finding_is_told_as_grave_as_it_is_anywhere_and_the_gravest_first() -> None:
    mild, grave = (tc.Finding("few-labels", severity, f"Here {severity}.") for severity in ("caution", "serious"))
    note, common = tc.Finding("method", "info", "Note."), tc.Finding("weighted-counts", "caution", "Weights.")
    found = {"a": (note, mild, common), "b": (grave, common), "c": (mild, grave, common), "d": (common,)}
    told = groups_findings({group: made_posterior(findings=findings) for group, findings in found.items()})
    assert [(each.severity, each.message) for each in told] == [
        ("serious", "In b: Here serious. Likewise in c. Less severe in a."),
        ("caution", "Weights."),
        ("info", "In a: Note."),
    ]


def test_a_finding_with_numbers_of_its_own_in_every_group_is_not_told_as_if_all_had_them() -> None:
    sizes = {"a": 10, "b": 500}
    groups = tc.Groups(
        LABELED.labeled,
        {name: [2 * n, 2 * n] for name, n in sizes.items()},
        labeled_squares=LABELED.labeled,
        unlabeled_squares={name: [4 * n] * 2 for name, n in sizes.items()},
    )
    (told,) = [each for each in groups_findings(tc.infer_many(groups)) if each.code == "weighted-counts"]
    assert told.message.startswith(
        "In a: The counts are sums of weights; they were taken to be worth 400 labelled and 20 "
    )
    assert told.message.endswith("Likewise in all other groups, each with numbers of its own.")
