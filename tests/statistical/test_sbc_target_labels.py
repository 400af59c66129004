"""Calibration by simulation of labels of the population beside labels from elsewhere, and bugs that fail it."""

from math import inf

import numpy as np
import pytest
from scipy.stats import chisquare

import truecount as tc
from truecount.models.target_labels import CHANCES, WORTHS

ELSEWHERE = np.array([[32, 8, 5], [6, 40, 9]])
PREVALENCE, BELIEFS = np.array([1.5, 1.0]), 1.0
SETS, DRAWS, BINS, WRONG = 120, 99, 5, 1e-4


def simulated(rng: np.random.Generator):
    """Return the truth, the counts and the labels of the population, all drawn from the model, given ELSEWHERE."""
    worth = rng.choice(WORTHS, p=CHANCES)
    rows = BELIEFS + ELSEWHERE / (1 + ELSEWHERE.sum() / len(ELSEWHERE) / worth)
    if rng.random() < 1 / 2:
        share, total = 1 / (1 + ELSEWHERE.sum() / len(ELSEWHERE) / worth), BELIEFS + ELSEWHERE
        means = total / total.sum(axis=1, keepdims=True)
        rows = (1 - share) * BELIEFS * (0.8 * ELSEWHERE.shape[1] * means + 0.2) + share * total
    shares, confusion = rng.dirichlet(PREVALENCE), np.array([rng.dirichlet(row) for row in rows])
    joint = shares[:, None] * confusion
    own = rng.multinomial(25, joint.ravel()).reshape(joint.shape)
    return (shares, confusion), tc.Counts(ELSEWHERE, rng.multinomial(60, joint.sum(axis=0))), own


def p_values(seed, **options):
    """Rank the true share and the true log-likelihood among draws; return the p-value that ranks are uniform."""
    ranks = []
    for number in range(SETS):
        rng = np.random.default_rng([seed, number])
        (shares, confusion), counts, own = simulated(rng)
        model = tc.TargetLabels(tc.Prior(PREVALENCE.tolist(), BELIEFS), labeled=own, **options)
        found = tc.infer(counts, model, engine=tc.Auto(DRAWS), seed=number)
        kept = rng.choice(len(found.prevalence), DRAWS, replace=False)
        density = tc.TargetLabels(tc.Prior(PREVALENCE.tolist(), BELIEFS), labeled=own).density(counts)
        heights = density.log_likelihood(found.prevalence[kept], found.confusion[kept])
        truth = density.log_likelihood(shares, confusion)
        ranks.append([(found.prevalence[kept, 0] < shares[0]).sum(), (heights < truth).sum()])
    counted = [np.histogram(each, bins=BINS, range=(0, DRAWS + 1))[0] for each in np.transpose(ranks)]
    return [chisquare(each).pvalue for each in counted]


@pytest.mark.slow
def test_draws_are_calibrated(seed):
    assert min(p_values(seed)) > WRONG


@pytest.mark.slow
def test_label_shift_that_does_not_hold_is_found_out():
    assert min(p_values(1, worth=inf)) < WRONG
