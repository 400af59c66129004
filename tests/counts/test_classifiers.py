"""Counts of several classifiers: some of them alone, and rare combinations merged with the nearest."""

import numpy as np
import pytest

import truecount as tc
from truecount.counts import Combinations
from truecount.counts.classifiers import merge_rare, of_classifiers
from truecount.errors import InputError

PARTS = (("no", "no", "no"), ("no", "no", "yes"), ("yes", "no", "yes"), ("yes", "yes", "yes"), ("yes", None, "no"))
LABELED = [[40, 2, 6, 3, 0], [5, 1, 7, 50, 1]]
NEW = [100, 9, 20, 80, 3]


def counts(labeled: list[list[int]] = LABELED) -> tc.Counts:
    several = Combinations(("a", "b", "c"), PARTS)
    return tc.Counts(labeled, NEW, ["no", "yes"], several.names, combinations=several)


def test_rare_combinations_join_the_one_that_agrees_in_most_classifiers() -> None:
    merged = merge_rare(counts(), fewest=5)
    assert merged.outputs == ("no, no, no (and 1 rare)", "yes, no, yes", "yes, yes, yes (and 1 rare)")
    assert merged.labeled.tolist() == [[42, 6, 3], [6, 7, 51]]
    assert merged.unlabeled.tolist() == [109, 20, 83]
    assert merged.combinations is not None
    assert merged.combinations.merged == (1, 0, 1)
    assert tc.Counts.from_json(merged.to_json()) == merged


def test_merging_does_not_look_at_the_true_class() -> None:
    swapped = counts([LABELED[1], LABELED[0]])
    assert merge_rare(swapped, fewest=5).outputs == merge_rare(counts(), fewest=5).outputs


@pytest.mark.parametrize("fewest", [0, 1000])
def test_nothing_is_merged_where_all_or_nearly_none_are_frequent(fewest: int) -> None:
    assert merge_rare(counts(), fewest=fewest) == counts()


def test_groups_are_merged_alike() -> None:
    one = counts()
    groups = tc.Groups(
        one.labeled, {"g": NEW, "h": NEW}, one.classes, one.outputs, by=["x"], combinations=one.combinations
    )
    merged = merge_rare(groups, fewest=5)
    assert merged["g"].outputs == merge_rare(one, fewest=5).outputs
    assert merged["h"] == merge_rare(one, fewest=5)
    assert merged.by == ("x",)


def test_some_classifiers_alone_add_up() -> None:
    both = of_classifiers(counts(), ["a", "c"])
    assert both.outputs == ("no, no", "no, yes", "yes, yes", "yes, no")
    assert both.unlabeled.tolist() == [100, 9, 100, 3]
    alone = of_classifiers(counts(), ["b"])
    assert alone.outputs == ("no", "yes", "missing")
    assert alone.labeled.tolist() == [[48, 3, 0], [13, 50, 1]]
    assert alone.combinations is None
    assert alone.labeled.sum() == np.sum(LABELED)


def test_classifiers_that_are_not_there_are_refused() -> None:
    with pytest.raises(InputError, match="classifiers hold 'z': the classifiers are 'a', 'b' and 'c'"):
        of_classifiers(counts(), ["z"])
    with pytest.raises(InputError, match="counts are of one classifier"):
        of_classifiers(tc.Counts([[1, 2], [3, 4]], [5, 6]), ["a"])
