import numpy as np
import pytest
from scipy.stats import chi2

from truecount import Counts, simulate
from truecount.errors import InputError

ROWS = [[0.8, 0.2], [0.1, 0.9]]


@pytest.mark.parametrize(("classes", "outputs"), [(2, 2), (3, 5), (5, 3), (4, 1), (50, 50)])
def test_confusion_has_rows_of_probabilities_and_the_quality_on_its_diagonal(classes, outputs):
    rows = simulate.confusion(0.85, classes, outputs)
    assert rows.shape == (classes, outputs)
    assert rows.sum(axis=1) == pytest.approx(1)
    if outputs > 1:
        assert np.diag(rows) == pytest.approx(0.85)
        assert rows[0, 1:] == pytest.approx(0.15 / (outputs - 1))
        assert rows[outputs:] == pytest.approx(1 / outputs)


def test_as_many_outputs_as_classes_unless_told():
    assert simulate.confusion(0.5, 3).shape == (3, 3)


def test_prevalence_leaves_equal_parts():
    assert simulate.prevalence(0.7, 4) == pytest.approx([0.7, 0.1, 0.1, 0.1])


def test_the_same_seed_gives_the_same_counts_and_another_one_others():
    draws = [simulate.counts([0.5, 0.5], ROWS, labeled=100, unlabeled=100, seed=seed) for seed in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]


def test_as_many_items_as_asked_for_are_drawn():
    drawn = simulate.counts([0.3, 0.7], ROWS, labeled=120, unlabeled=34)
    assert (drawn.labeled.sum(), drawn.unlabeled.sum()) == (120, 34)
    drawn = simulate.counts([0.3, 0.7], ROWS, labeled=[70, 0], unlabeled=0)
    assert drawn.labeled.sum(axis=1).tolist() == [70, 0]
    assert drawn.unlabeled.tolist() == [0, 0]


def misfit(seen, expected) -> float:
    """p-value of Pearson's test."""
    return float(chi2.sf(((seen - expected) ** 2 / expected).sum(), np.size(seen) - 1))


def test_items_follow_the_truth(seed):
    many = 1_000_000
    drawn = simulate.counts([0.3, 0.7], ROWS, labeled=many, unlabeled=many, labeled_prevalence=[0.6, 0.4], seed=seed)
    assert misfit(drawn.labeled, many * np.array([[0.48, 0.12], [0.04, 0.36]])) > 1e-5
    assert misfit(drawn.unlabeled, many * np.array([0.31, 0.69])) > 1e-5
    assert misfit(drawn.labeled.T, many * np.array([[0.48, 0.12], [0.04, 0.36]])) < 1e-5
    even = simulate.counts([0.3, 0.7], ROWS, labeled=many, unlabeled=0, seed=seed)
    assert misfit(even.labeled.sum(axis=1), many * np.array([0.5, 0.5])) > 1e-5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: simulate.confusion(1.2, 2), "quality is 1.2"),
        (lambda: simulate.confusion(0.5, 1), "classes is 1"),
        (lambda: simulate.confusion(0.5, 2, 0), "outputs is 0"),
        (lambda: simulate.prevalence(float("nan"), 2), "first is nan"),
        (lambda: simulate.counts([0.5, 0.6], ROWS, labeled=1, unlabeled=1), "prevalence sums to 1.1"),
        (lambda: simulate.counts([0.5, 0.5], [[0.5, 0.5], [2, -1]], labeled=1, unlabeled=1), "confusion has -1"),
        (lambda: simulate.counts([0.5, 0.2, 0.3], ROWS, labeled=1, unlabeled=1), "prevalence has 3 entries"),
        (lambda: simulate.counts([0.5, 0.5], ROWS, labeled=[1, 2, 3], unlabeled=1), "labeled has 3 entries"),
        (lambda: simulate.counts([0.5, 0.5], ROWS, labeled=1, unlabeled=-1), "unlabeled is -1"),
        (lambda: simulate.counts([0.5, 0.5], ROWS, labeled=1, unlabeled=1, seed=-1), "seed is -1"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_counts_are_counts():
    assert isinstance(simulate.counts([0.5, 0.5], ROWS, labeled=5, unlabeled=5), Counts)
