import copy
import pickle

import numpy as np
import pytest

from truecount import Counts
from truecount.errors import InputError
from truecount.scores.scores import Scores

ROWS = [[0.9, 0.1], [0.3, 0.7], [0.5, 0.5]]


def test_labels_become_positions_of_the_columns_whatever_their_order() -> None:
    scores = Scores(ROWS, ["pass", "fail", "pass"], ROWS, classes=["pass", "fail"])
    assert scores.labels.tolist() == [0, 1, 0]
    assert scores.items.tolist() == [2, 1]
    assert scores.classes == ("pass", "fail")


def test_a_class_without_labels_is_kept() -> None:
    assert Scores(ROWS, [1, 1, 1], ROWS).items.tolist() == [0, 3]


def test_the_most_probable_class_is_counted_and_of_equals_the_first() -> None:
    scores = Scores(ROWS, ["a", "a", "b"], [[0.2, 0.8], [0.1, 0.9], [0.5, 0.5]], classes=["a", "b"])
    assert scores.to_counts() == Counts([[1, 1], [1, 0]], [1, 2], classes=["a", "b"])


def test_single_precision_is_near_enough_and_rows_then_sum_to_one() -> None:
    raw = np.random.default_rng(0).dirichlet(np.ones(300), 50).astype(np.float32)
    raw /= raw.sum(axis=1, keepdims=True)
    scores = Scores(raw, np.arange(50), raw)
    assert scores.labeled.dtype == np.float64
    np.testing.assert_allclose(scores.labeled.sum(axis=1), 1, rtol=1e-14)


def test_the_callers_array_is_neither_kept_nor_changed() -> None:
    raw = np.array(ROWS) * (1 + 1e-6)
    before = raw.copy()
    scores = Scores(raw, [0, 1, 0], raw)
    assert np.array_equal(raw, before)
    raw[0] = 0
    assert scores.labeled[0, 0] == pytest.approx(0.9)
    for array in (scores.labeled, scores.labels, scores.unlabeled):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda scores: pickle.loads(pickle.dumps(scores))])  # noqa: S301
def test_copies_are_equal_and_read_only(again) -> None:
    scores = Scores(ROWS, ["x", "y", "x"], ROWS, classes=["x", "y"])
    twin = again(scores)
    assert twin.classes == scores.classes
    assert np.array_equal(twin.labels, scores.labels)
    np.testing.assert_allclose(twin.labeled, scores.labeled, rtol=1e-15)
    assert not twin.unlabeled.flags.writeable


BAD = {
    "above one": ([[1.2, -0.2]], "1.2 at (0, 0)"),
    "negative": ([[0.5, 0.5], [1.0001, -0.0001]], "at (1, 0)"),
    "not a number": ([[0.5, 0.5], [np.nan, 0.5]], "nan at (1, 0)"),
    "infinite": ([[np.inf, 0.5]], "inf at (0, 0)"),
    "missing": ([[None, 0.5]], "(0, 0)"),
    "short row": ([[0.5, 0.5], [0.5, 0.4]], "sums to 0.9, at position 1"),
    "rounded too far": ([[0.33333, 0.66665]], "sums to 0.99998"),
    "one column": ([[1.0], [1.0]], "column_stack"),
    "one dimension": ([0.2, 0.8], "column_stack"),
    "ragged": ([[0.5, 0.5], [1.0]], "cannot be read"),
    "words": ([["often", "never"]], "cannot be read"),
}


@pytest.mark.parametrize(("rows", "told"), BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("side", ["labeled", "unlabeled"])
def test_bad_scores_are_refused_where_they_are(side: str, rows: list, told: str) -> None:
    tables = {"labeled": [[0.5, 0.5]] * len(rows), "unlabeled": [[0.5, 0.5]], side: rows}
    with pytest.raises(InputError) as caught:
        Scores(labels=[0] * len(rows), **tables)
    assert caught.value.argument == side
    assert told in str(caught.value)


def test_both_sides_score_the_same_classes() -> None:
    with pytest.raises(InputError, match="2 columns but unlabeled has 3"):
        Scores(ROWS, [0, 1, 0], [[0.2, 0.3, 0.5]])


def test_an_unknown_label_is_named_with_its_place() -> None:
    with pytest.raises(InputError, match=r"'z', first at position 2: the columns are called 'x', 'y'"):
        Scores(ROWS, ["x", "y", "z"], ROWS, classes=["x", "y"])


def test_labels_without_names_of_the_columns_are_not_guessed() -> None:
    with pytest.raises(InputError, match=r"classes=\[\.\.\.\], in their order"):
        Scores(ROWS, ["x", "y", "x"], ROWS)


def test_labels_and_rows_come_in_pairs() -> None:
    with pytest.raises(InputError, match="2 rows but labeled has 3"):
        Scores(ROWS, [0, 1], ROWS)


def test_each_column_has_one_name() -> None:
    with pytest.raises(InputError, match="names 3: labeled has 2 columns"):
        Scores(ROWS, [0, 1, 0], ROWS, classes=[0, 1, 2])


def test_a_missing_label_is_refused() -> None:
    with pytest.raises(InputError, match="labels has 1 missing value"):
        Scores(ROWS, ["x", None, "y"], ROWS, classes=["x", "y"])
