"""What a tally gathers, it gathers once, however many groups there are."""

import pytest

from truecount.counts.tally import Tally
from truecount.reading.rows import Row


def of_groups(number: int, *, is_weighted: bool = False) -> Tally:
    tally = Tally(by=("week",), is_weighted=is_weighted)
    tally.add(Row((), label, output, 1, 2.0, 4.0) for label in "ab" for output in "ab")
    tally.add(Row((week,), None, "a", 1, week, week**2) for week in range(number))
    return tally


@pytest.mark.parametrize("is_weighted", [False, True])
def test_each_group_has_its_own_items_beside_the_labeled_ones_of_all(is_weighted: bool) -> None:
    groups = of_groups(3, is_weighted=is_weighted).to_groups()
    assert {week: counts.unlabeled.tolist() for week, counts in groups.items()} == {0: [0, 0], 1: [1, 0], 2: [2, 0]}
    assert all(counts.labeled.tolist() == [[2, 2], [2, 2]] for counts in groups.values())
    if is_weighted:
        assert groups[2].labeled_squares.tolist() == [[4, 4], [4, 4]]
        assert groups[2].unlabeled_squares.tolist() == [4, 0]


def test_names_are_gathered_once_for_all_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    gathered = []
    names = Tally._names
    monkeypatch.setattr(Tally, "_names", lambda _, *arguments: gathered.append(arguments[0]) or names(*arguments))
    assert len(of_groups(50).to_groups()) == 50
    assert gathered == ["classes", "outputs"]
