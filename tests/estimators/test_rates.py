import numpy as np
import pytest

from truecount import Counts
from truecount.errors import InputError
from truecount.estimators import ACC, CC, PACC, PCC
from truecount.estimators.rates import averages, of_counts, of_scores, rates_of
from truecount.scores.scores import Scores


def test_counts_become_shares_in_the_order_of_the_classes() -> None:
    counts = Counts([[1, 3], [4, 0]], [2, 8], classes=["a", "b"], outputs=["b", "a"])
    rates = of_counts(counts)
    np.testing.assert_allclose(rates.confusion, [[0.75, 0.25], [0, 1]])
    np.testing.assert_allclose(rates.observed, [0.8, 0.2])
    np.testing.assert_allclose(rates.labeled_prevalence, [0.5, 0.5])


def test_outputs_that_are_not_the_classes_keep_their_order() -> None:
    counts = Counts([[1, 3, 0], [4, 0, 4]], [2, 6, 2], outputs=["z", "y", "x"])
    np.testing.assert_allclose(of_counts(counts).confusion, [[0.25, 0.75, 0], [0.5, 0, 0.5]])


def test_scores_are_averaged_by_class() -> None:
    scores = Scores([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]], [0, 0, 1], [[0.6, 0.4], [0.4, 0.6]])
    rates = of_scores(scores)
    np.testing.assert_allclose(rates.confusion, [[0.7, 0.3], [0.2, 0.8]])
    np.testing.assert_allclose(rates.observed, [0.5, 0.5])
    np.testing.assert_allclose(rates.labeled_prevalence, [2 / 3, 1 / 3])


def test_an_empty_row_stays_zero() -> None:
    np.testing.assert_array_equal(averages(np.array([[2, 2], [0, 0]]), np.array([4, 0])), [[0.5, 0.5], [0, 0]])


@pytest.mark.parametrize("method", [ACC(), PACC()])
def test_a_correction_needs_every_class(method) -> None:
    scores = Scores([[0.9, 0.1, 0.0]], ["cat"], [[0.2, 0.3, 0.5]], classes=["cat", "dog", "eel"])
    with pytest.raises(InputError, match=r"labeled has no item of class 'dog', 'eel': .*infer\(\)"):
        rates_of(scores, method, method.name)


@pytest.mark.parametrize("method", [CC(), PCC()])
def test_counting_does_not(method) -> None:
    scores = Scores([[0.9, 0.1]], [0], [[0.25, 0.75]])
    assert rates_of(scores, method, method.name).observed.sum() == 1


@pytest.mark.parametrize("method", [CC(), PCC(), ACC(), PACC()])
def test_a_share_of_nothing_is_refused(method) -> None:
    scores = Scores([[0.9, 0.1], [0.1, 0.9]], [0, 1], np.empty((0, 2)))
    with pytest.raises(InputError, match="unlabeled holds no items"):
        rates_of(scores, method, method.name)


def test_counts_are_not_scores() -> None:
    with pytest.raises(InputError, match="data are counts: pacc needs the scores of every item"):
        rates_of(Counts([[1, 0], [0, 1]], [1, 1]), PACC(), "pacc")
