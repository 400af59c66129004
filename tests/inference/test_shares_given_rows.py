"""Prevalence given rows: against an integral for two classes, and against known rows for three."""

import numpy as np
import pytest
from scipy.stats import kstest

import truecount as tc
from truecount.inference.shares_given_rows import shares_given_rows

DRAWS = 4000
LEAST = 1e-5
"""Probability of a sound sampler to fail a test."""


@pytest.mark.parametrize("concentration", [(1.0, 1.0), (0.3, 2.0)])
@pytest.mark.parametrize("items", [[100, 100], [180, 20], [0, 0]], ids=["inside", "beyond the rows", "none"])
def test_two_classes_have_the_distribution_of_the_integral(items, concentration, seed):
    rows = np.array([[0.8, 0.2], [0.3, 0.7]])
    density = tc.LabelShift(tc.Prior(concentration)).density(tc.Counts([[8, 2], [3, 7]], items))
    found = shares_given_rows(np.random.default_rng(seed), density, np.tile(rows, (DRAWS, 1, 1)))
    odds = np.linspace(-60, 40, 400_001)
    shares = np.array([1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(odds))])
    heights = np.log(rows.T @ shares).T @ items + np.log(shares).T @ concentration
    below = np.cumsum(np.exp(heights - heights.max()))
    places = np.interp(np.log(found[:, 0] / found[:, 1]), odds, below / below[-1])
    assert kstest(places, "uniform").pvalue > LEAST


def test_three_classes_that_are_hard_to_tell_apart_agree_with_known_rows(seed):
    """Five standard errors of the difference of two means, and of two standard deviations."""
    rows = np.array([[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]])
    counts = tc.Counts(np.zeros((3, 3), int), [700, 650, 650])
    model = tc.LabelShift(tc.Prior.known_confusion(rows))
    found = shares_given_rows(np.random.default_rng(seed), model.density(counts), np.tile(rows, (DRAWS, 1, 1)))
    joint = tc.infer(counts, model, seed=seed).draws
    both = [(found, np.full(3, DRAWS)), (joint.prevalence, joint.effective)]
    assert (joint.effective > DRAWS / 4).all()
    assert_within_five_errors([(draws.mean(axis=0), error_of_mean(draws, size)) for draws, size in both])
    assert_within_five_errors([(draws.std(axis=0), error_of_deviation(draws, size)) for draws, size in both])


def error_of_mean(draws, effective):
    return draws.std(axis=0) / np.sqrt(effective)


def error_of_deviation(draws, effective):
    """Return the standard error of the variance over twice the standard deviation."""
    squares = (draws - draws.mean(axis=0)) ** 2
    return squares.std(axis=0) / np.sqrt(effective) / (2 * draws.std(axis=0))


def assert_within_five_errors(estimates):
    (one, its_error), (other, the_others) = estimates
    assert (np.abs(one - other) < 5 * np.hypot(its_error, the_others)).all()


def test_rows_of_each_draw_are_its_own():
    """With rows that tell everything, shares are those of the outputs that the rows name."""
    density = tc.LabelShift().density(tc.Counts([[9, 0], [0, 9]], [90_000, 10_000]))
    found = shares_given_rows(np.random.default_rng(0), density, np.array([np.eye(2), np.eye(2)[::-1]]))
    assert found[:, 0] == pytest.approx([0.9, 0.1], abs=5 * np.sqrt(0.09 / 100_000))
