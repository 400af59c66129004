"""Truths that a pilot leaves open: unlabelled items must not make a classifier worse than its labels do."""

import numpy as np
import pytest

import truecount as tc
from truecount.planning.pilot import pilot_scenario, posterior_draws, untilted

ROWS = np.repeat([[[0.6, 0.4], [0.4, 0.6]], [[0.8, 0.2], [0.2, 0.8]]], 200, axis=0)
"""Determinants of .2 and of .6."""
MANY, FLAT = np.array([10**6, 10**6]), np.ones(2)


def far_apart(rows=ROWS, populations=(MANY,), concentration=FLAT) -> int:
    """Return how many of 400 draws with the larger determinant are kept."""
    return int((untilted(rows, populations, concentration, 0) >= 200).sum())


def test_rows_are_kept_by_their_determinant_once_for_each_population():
    """The prior weighs them by 1/|det φ|, which is three times as much for one half of them."""
    assert far_apart() == pytest.approx(300, abs=1)
    assert far_apart(populations=(MANY, MANY)) == pytest.approx(360, abs=1)


def test_outputs_that_are_split_at_random_change_nothing():
    assert far_apart(np.repeat(ROWS, 2, axis=2) / 2, (np.repeat(MANY, 2) // 2,)) == pytest.approx(300, abs=1)


def test_rows_are_kept_as_they_are_without_items_or_where_shares_are_known():
    assert far_apart(populations=(np.zeros(2),)) == 200
    assert far_apart(concentration=np.full(2, 1e9)) == pytest.approx(200, abs=1)


def test_items_between_the_rows_leave_the_rates_to_the_labels():
    """Five standard errors of two means. As the posterior has it, items take 3.6 points off the determinant."""
    counts = tc.Counts([[15, 5], [5, 15]], [100, 100])
    model = tc.LabelShift(tc.Prior(confusion="learned"))
    labels = np.linalg.det(pilot_scenario(tc.Counts(counts.labeled, [0, 0]), model, 1).confusion)
    both = np.linalg.det(pilot_scenario(counts, model, 1).confusion)
    error = 5 * np.hypot(labels.std(), both.std()) / np.sqrt(len(both))
    assert both.mean() == pytest.approx(labels.mean(), abs=error)
    assert np.linalg.det(posterior_draws(counts, model, 1).confusion).mean() < labels.mean() - error
