"""Weighted counts: Kish's effective size, merging, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truecount import Counts, Groups
from truecount.counts.weights import effective_counts
from truecount.errors import InputError

WEIGHTS = {"labeled": [[8.0, 0.0], [1.5, 3.0]], "unlabeled": [5.0, 2.5]}
SQUARES = {"labeled_squares": [[16.0, 0.0], [0.75, 3.0]], "unlabeled_squares": [5.0, 2.75]}


def weighted(**changes):
    return Counts(**(WEIGHTS | SQUARES | changes))


def by_hand(weights, cells, n_cells):
    """Sum weights and their squares over the items of each cell."""
    sums = np.bincount(cells, weights, minlength=n_cells)
    return sums, np.bincount(cells, np.square(weights), minlength=n_cells)


def test_unweighted_counts_come_back_as_they_are():
    labeled, unlabeled = effective_counts(Counts([[1, 2], [3, 4]], [5, 0]))
    assert labeled.tolist() == [[1, 2], [3, 4]]
    assert unlabeled.tolist() == [5, 0]
    assert labeled.dtype == unlabeled.dtype == np.float64


@given(st.floats(0.01, 100), st.integers(1, 50))
def test_equal_weights_are_as_good_as_none(weight, items):
    cells = [[items, 2 * items], [3, 0]]
    counts = Counts(
        np.multiply(cells, weight),
        [4 * weight, 0],
        labeled_squares=np.multiply(cells, weight**2),
        unlabeled_squares=[4 * weight**2, 0],
    )
    labeled, unlabeled = effective_counts(counts)
    np.testing.assert_allclose(labeled, cells, rtol=1e-12)
    np.testing.assert_allclose(unlabeled, [4, 0], rtol=1e-12)


@given(st.lists(st.tuples(st.floats(0.1, 10), st.integers(0, 1)), min_size=1, max_size=30))
def test_each_side_has_the_effective_size_of_kish(items):
    weights, cells = (np.array(side) for side in zip(*items, strict=True))
    sums, squares = by_hand(weights, cells, 2)
    counts = Counts([sums, [1, 1]], sums, labeled_squares=[squares, [1, 1]], unlabeled_squares=squares)
    labeled, unlabeled = effective_counts(counts)
    size = weights.sum() ** 2 / np.square(weights).sum()
    assert labeled[0].sum() == pytest.approx(size)
    assert unlabeled.sum() == pytest.approx(size)
    assert 1 - 1e-9 <= size <= len(weights) + 1e-9
    np.testing.assert_allclose(labeled[0] / labeled[0].sum(), sums / sums.sum(), rtol=1e-12)
    assert labeled[1].tolist() == [1, 1]


def test_a_class_without_weight_stays_empty():
    labeled, unlabeled = effective_counts(
        Counts([[2.0, 0.0], [0, 0]], [0, 0], labeled_squares=[[4.0, 0.0], [0, 0]], unlabeled_squares=[0, 0])
    )
    assert labeled.tolist() == [[1, 0], [0, 0]]
    assert unlabeled.tolist() == [0, 0]


def test_weights_are_floats_that_cannot_be_changed():
    counts = weighted(unlabeled=[5, 3], unlabeled_squares=[5, 5])
    for array in (counts.labeled, counts.unlabeled, counts.labeled_squares, counts.unlabeled_squares):
        assert array.dtype == np.float64
        assert not array.flags.writeable
    assert counts.is_weighted
    assert counts == weighted(unlabeled=[5.0, 3.0], unlabeled_squares=[5.0, 5.0])


def test_weighted_shards_add_weights_and_squares_by_name():
    first = weighted(classes=["a", "b"])
    second = weighted(classes=["b", "a"])
    total = first + second
    assert total.labeled.tolist() == [[11, 1.5], [1.5, 11]]
    assert total.labeled_squares.tolist() == [[19, 0.75], [0.75, 19]]
    assert total.unlabeled.tolist() == [7.5, 7.5]
    assert total.unlabeled_squares.tolist() == [7.75, 7.75]


def test_an_unweighted_item_weighs_one():
    whole = Counts([[1, 2], [3, 4]], [5, 6])
    for total in (whole + weighted(), weighted() + whole):
        assert total.labeled.tolist() == [[9, 2], [4.5, 7]]
        assert total.labeled_squares.tolist() == [[17, 2], [3.75, 7]]
        assert total.unlabeled_squares.tolist() == [10, 8.75]


def test_weighted_groups_of_one_table_have_its_labels_once():
    one = weighted()
    groups = Groups(
        one.labeled,
        {"a": one.unlabeled, "b": [1.0, 1.0]},
        labeled_squares=one.labeled_squares,
        unlabeled_squares={"b": [1.0, 1.0], "a": one.unlabeled_squares},
    )
    assert groups.total.labeled.tolist() == WEIGHTS["labeled"]
    assert groups.total.labeled_squares.tolist() == SQUARES["labeled_squares"]
    assert groups.total.unlabeled.tolist() == [6, 3.5]
    assert groups.total.unlabeled_squares.tolist() == [6, 3.75]
    assert groups["a"] == weighted(classes=groups.classes, outputs=groups.outputs)


def test_json_keeps_the_squares():
    counts = weighted(classes=["a", "b"])
    assert Counts.from_json(counts.to_json()) == counts


def test_weights_print_as_weights():
    assert str(weighted()).splitlines() == [
        "Counts: labelled weight 12.5 and unlabelled weight 7.5, 2 classes, 2 outputs",
        "class\\output    0    1",
        "0               8    0",
        "1             1.5    3",
        "unlabelled      5  2.5",
    ]


@pytest.mark.parametrize("missing", ["labeled_squares", "unlabeled_squares"])
def test_squares_of_one_side_alone_are_refused(missing):
    with pytest.raises(InputError) as caught:
        weighted(**{missing: None})
    assert str(caught.value) == (
        "labeled_squares and unlabeled_squares came apart: weighted counts need both. "
        "Where items are unweighted, repeat their counts."
    )


MISMATCHED = {
    "shape": ("unlabeled_squares", [1.0, 1.0, 1.0]),
    "square without weight": ("labeled_squares", [[16.0, 1.0], [0.75, 3.0]]),
    "weight without square": ("labeled_squares", [[16.0, 0.0], [0.0, 3.0]]),
    "more than the weight squared": ("unlabeled_squares", [5.0, 6.3]),
}


@pytest.mark.parametrize(("argument", "squares"), MISMATCHED.values(), ids=MISMATCHED.keys())
def test_squares_that_no_weights_have_are_refused(argument, squares):
    with pytest.raises(InputError) as caught:
        weighted(**{argument: squares})
    assert str(caught.value) == (
        f"{argument} do not match the weights: squares are 0 where the weight is, and above 0 but at most the weight "
        "squared elsewhere. Sum weight**2 over the same rows."
    )


@pytest.mark.parametrize(("squares", "found"), [([5.0, np.nan], "nan"), ([5.0, -1.0], "-1.0")])
def test_squares_are_numbers(squares, found):
    with pytest.raises(InputError, match=f"unlabeled_squares has {found} at 1"):
        weighted(unlabeled_squares=squares)
