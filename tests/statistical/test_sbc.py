"""Simulation-based calibration of `infer`, and proof that it would see a wrong one."""

import numpy as np
import pytest

import truecount as tc
from calibrated import DATA_SETS, SHAPES, SQUARE
from truecount import Counts, Prior
from truecount.inference import Auto
from truecount.inference.draws import Draws, dirichlet
from truecount.models import Density, density

FALSE_ALARMS = 1e-4
"""A sound engine fails a test of this file so often."""


def by_infer(counts: Counts, prior: Prior, seed: int) -> Draws:
    return tc.infer(counts, prior=prior, engine=Auto(400), seed=seed).draws


MINUTES = ("as many outputs", "more outputs", "fewer outputs", "a million unlabelled", "one known row", "learned rows")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in MINUTES else name for name in SHAPES]
)
def test_infer_is_calibrated(name, seed):
    result = SHAPES[name].calibrate(by_infer, seed=seed)
    assert len(result.ranks) >= DATA_SETS
    assert result.least_effective > 2 * result.draws
    assert result.p_value > FALSE_ALARMS, result.p_values


def textbook(posed: Density, seed: int) -> Draws:
    """Draw from what is known without the unlabelled counts, and resample by their likelihood: slow, and plain."""
    rng = np.random.default_rng(seed)
    prevalence, confusion = dirichlet(rng, posed.prevalence, (6000,)), dirichlet(rng, posed.rows, (6000,))
    heights = posed.log_likelihood(prevalence, confusion)
    weights = np.exp(heights - heights.max())
    return some(prevalence, confusion, rng.choice(len(weights), 100, p=weights / weights.sum()))


def some(prevalence: np.ndarray, confusion: np.ndarray, chosen: np.ndarray) -> Draws:
    effective = np.full(prevalence.shape[1], float(len(chosen)))
    return Draws(prevalence=prevalence[chosen], confusion=confusion[chosen], effective=effective)


def rightly(counts: Counts, prior: Prior, seed: int) -> Draws:
    return textbook(density(counts, prior), seed)


def without_weights(counts: Counts, prior: Prior, seed: int) -> Draws:
    """Solve for the prevalence, keep what lies inside the simplex, and leave it at that."""
    posed, rng = density(counts, prior), np.random.default_rng(seed)
    confusion = dirichlet(rng, posed.rows, (20_000,))
    outputs = dirichlet(rng, posed.unlabeled + 1, (20_000,))
    solution = np.linalg.solve(confusion.transpose(0, 2, 1), outputs[..., None])[..., 0]
    return some(solution, confusion, np.flatnonzero((solution >= 0).all(axis=1)))


def without_unlabeled(counts: Counts, prior: Prior, seed: int) -> Draws:
    return textbook(density(Counts(counts.labeled, np.zeros_like(counts.unlabeled)), prior), seed)


def transposed(counts: Counts, prior: Prior, seed: int) -> Draws:
    return textbook(density(Counts(counts.labeled.T, counts.unlabeled), prior), seed)


def with_labels_twice(counts: Counts, prior: Prior, seed: int) -> Draws:
    return textbook(density(Counts(2 * counts.labeled, counts.unlabeled), prior), seed)


def with_flat_rows(counts: Counts, prior: Prior, seed: int) -> Draws:
    return textbook(density(counts, Prior(prior.prevalence, "flat")), seed)


def from_the_prior(counts: Counts, prior: Prior, seed: int) -> Draws:
    rng = np.random.default_rng(seed)
    prevalence = dirichlet(rng, prior.prevalence_for(counts), (100,))
    return some(prevalence, dirichlet(rng, prior.confusion_for(counts), (100,)), np.arange(100))


def test_the_textbook_is_calibrated(seed):
    assert SQUARE.calibrate(rightly, seed=seed).p_value > FALSE_ALARMS


@pytest.mark.parametrize(
    ("bug", "data_sets"),
    [
        (without_unlabeled, 100),
        (from_the_prior, 100),
        (without_weights, 150),
        (transposed, 100),
        (with_labels_twice, DATA_SETS),
    ],
)
def test_that_check_fails_on_a_bug(bug, data_sets, seed):
    """With fewer data sets than `infer` and the engines have, or as many."""
    result = SQUARE.calibrate(bug, seed=seed, data_sets=data_sets)
    assert result.p_value < FALSE_ALARMS, result.p_values


def test_that_check_fails_on_fixed_rows_where_they_are_learned(seed):
    """As few data sets and ranks as chains of learned rows have."""
    result = SHAPES["learned rows"].calibrate(with_flat_rows, seed=seed, data_sets=60, draws=9)
    assert result.p_value < FALSE_ALARMS, result.p_values


def test_ranks_of_the_shares_alone_do_not_see_the_prior_returned(seed):
    """That is why the likelihood and the joint density are ranked too."""
    result = SQUARE.calibrate(from_the_prior, seed=seed, data_sets=100)
    assert result.p_values[:3].min() * 3 > FALSE_ALARMS
    assert result.p_values[3] < FALSE_ALARMS
