"""The shipped file is the one that the script makes."""

from truecount.examples import JUDGE
from truecount.examples.make_judge import ANSWERS, make_judge


def test_shipped_file_is_made_by_the_script() -> None:
    assert JUDGE.read_text(encoding="utf-8") == make_judge()


def test_only_the_first_release_was_read_by_people() -> None:
    rows = [line.split(",") for line in make_judge().splitlines()[1:]]
    assert [row[1] for row in rows] == ["v1"] * ANSWERS["v1"] + ["v2"] * ANSWERS["v2"]
    assert all((human != "") == (release == "v1") for _, release, human, _ in rows)
