"""The covariance that counts will leave, against the posterior that they do leave."""

import numpy as np
import pytest

from truecount import Auto, Counts, infer
from truecount.models.information import expected_covariance

ROWS = np.array([[0.5, 0.2, 0.15, 0.1, 0.05], [0.1, 0.3, 0.3, 0.2, 0.1], [0.05, 0.1, 0.15, 0.2, 0.5]])
SHARES = np.array([0.5, 0.3, 0.2])
FLAT = np.ones(3)


def expected_sd(rows: np.ndarray, shares: np.ndarray, *, labeled: float, unlabeled: float) -> np.ndarray:
    sizes = np.full(len(rows), float(labeled))
    covariance = expected_covariance(rows, shares, labeled=sizes, unlabeled=unlabeled, prior=np.ones(len(rows)))
    return np.sqrt(np.diag(covariance))


def posterior_sd(rows: np.ndarray, shares: np.ndarray, *, labeled: int, unlabeled: int) -> np.ndarray:
    """What the posterior makes of counts as they are expected."""
    counts = Counts(np.round(labeled * rows).astype(int), np.round(unlabeled * shares @ rows).astype(int))
    return infer(counts, engine=Auto(4000)).sd


@pytest.mark.parametrize(("labeled", "unlabeled"), [(20_000, 20_000), (200_000, 20_000), (20_000, 200_000)])
def test_it_is_what_the_posterior_says_of_many_items(labeled: int, unlabeled: int) -> None:
    """The posterior's sd has a relative error of one in √8,000; the rest is what 20,000 items leave of skewness."""
    expected = expected_sd(ROWS, SHARES, labeled=labeled, unlabeled=unlabeled)
    found = posterior_sd(ROWS, SHARES, labeled=labeled, unlabeled=unlabeled)
    np.testing.assert_allclose(found, expected, rtol=5 / np.sqrt(8000) + 0.01)


def test_without_the_rows_own_uncertainty_it_would_be_too_narrow() -> None:
    """Planted: rows taken as known."""
    known = expected_sd(ROWS, SHARES, labeled=1e12, unlabeled=20_000)
    assert (posterior_sd(ROWS, SHARES, labeled=5_000, unlabeled=20_000) > 1.2 * known).all()


def test_merging_outputs_loses_information_and_never_gains() -> None:
    fine = expected_sd(ROWS, SHARES, labeled=100, unlabeled=1000)
    merged = np.column_stack([ROWS[:, 0], ROWS[:, 1:3].sum(axis=1), ROWS[:, 3:].sum(axis=1)])
    assert (expected_sd(merged, SHARES, labeled=100, unlabeled=1000) > fine).all()
    split = np.column_stack([ROWS[:, :4], ROWS[:, 4:] / 2, ROWS[:, 4:] / 2])
    np.testing.assert_allclose(expected_sd(split, SHARES, labeled=100, unlabeled=1000), fine, rtol=1e-9)


def test_two_classes_and_outputs_are_rogan_and_gladen() -> None:
    rows, share = np.array([[0.9, 0.1], [0.2, 0.8]]), 0.3
    positive = share * 0.8 + 0.7 * 0.1
    variance = positive * (1 - positive) / 500 + share**2 * 0.8 * 0.2 / 200 + 0.7**2 * 0.9 * 0.1 / 200
    exact = 1 / (0.7**2 / variance + 12)  # the flat prior's variance is a twelfth
    found = expected_sd(rows, np.array([0.7, 0.3]), labeled=200, unlabeled=500)
    np.testing.assert_allclose(found, np.sqrt(exact), rtol=1e-9)


def test_useless_rows_leave_the_prior() -> None:
    rows = np.tile(ROWS[0], (3, 1))
    prior_sd = np.sqrt(2 / (9 * 4))
    np.testing.assert_allclose(expected_sd(rows, SHARES, labeled=1e9, unlabeled=1e9), prior_sd, rtol=1e-6)


def test_unlimited_data_of_rows_that_are_almost_alike_leave_no_singular_matrix() -> None:
    rows = np.array([[1 - 1e-9, 1e-9], [1 - 1e-9, 1e-9]])
    found = expected_sd(rows, np.array([0.4, 0.6]), labeled=1e12, unlabeled=1e12)
    np.testing.assert_allclose(found, np.sqrt(1 / 12), rtol=1e-6)
