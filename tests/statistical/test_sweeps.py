"""Sweeps that begin at the truth leave the joint distribution of truth and data as it is (Geweke, 2004).

A truth that was drawn from the prior is a draw from the posterior given its data, so that it is one after some sweeps
of a right sampler too, however slowly that mixes. Simulation-based calibration of 20 and 50 classes takes minutes,
because chains have to forget where they began; this takes six sweeps for each data set.
"""

import numpy as np
import pytest
from scipy.stats import norm

import truecount as tc
from truecount.inference.chains import gibbs, tilts
from truecount.inference.chains.gibbs import _Part
from truecount.inference.chains.piles import Pile
from truecount.inference.draws import dirichlet
from truecount.models import density
from truecount.models.learned import CONCENTRATIONS, learned_rows

LABELS, ITEMS, SWEEPS = 12, 10, 6
"""Of each class, and after how many sweeps the chain is looked at."""
FALSE_ALARMS = 1e-4


def quantities(prevalence, confusion, strength, part, even, unlabeled):
    """Log-likelihood, learned priors and shares; all of them have a variance."""
    outputs = np.log(np.maximum(prevalence @ confusion, 1e-300)) @ unlabeled
    diagonal = prevalence @ np.diag(confusion)
    logs = np.log(prevalence + 1e-3).mean()
    halves = prevalence[: len(prevalence) // 2].sum()
    return [outputs, np.log(strength), part, np.log(even), (prevalence**2).sum(), logs, diagonal, halves, prevalence[0]]


def change(classes, rng):
    """Shape (quantities,): by how much each changed in some sweeps that began at a truth."""
    grid = learned_rows(np.zeros((classes, classes)), [[own] for own in range(classes)], np.zeros(classes, bool))
    chances = np.exp(grid.log_prior - grid.log_prior.max())
    point, even = int(rng.choice(len(chances), p=chances / chances.sum())), rng.choice(CONCENTRATIONS)
    prevalence = dirichlet(rng, np.full(classes, even), ())
    rows = grid.rows_at(np.array(point))
    confusion = dirichlet(rng, rows, ())
    labeled = [rng.multinomial(LABELS, row) for row in confusion]
    unlabeled = rng.multinomial(ITEMS * classes, prevalence @ confusion)
    posed = density(tc.Counts(labeled, unlabeled), tc.Prior("learned", "learned"))
    chain = _Part(posed, prevalence[None], confusion[None], np.full(classes, 1 / classes), rng)
    chain.concentrations.points = np.array([point])
    chain.concentrations.beyond = (rows - posed.learned_rows.reference_rows)[None]
    chain.concentrations.prevalence = np.full((1, 1, classes), even)
    total = grid.even + grid.own
    before = quantities(prevalence, confusion, total[point], grid.own[point] / total[point], even, unlabeled)
    chain.sweep(SWEEPS)
    point, even = int(chain.concentrations.points[0]), float(chain.concentrations.prevalence.ravel()[0])
    moved = chain.prevalence[0], chain.confusion[0]
    after = quantities(*moved, total[point], grid.own[point] / total[point], even, unlabeled)
    return np.subtract(after, before)


def p_value(classes, data_sets, seed):
    """The smallest p-value of a mean change, corrected for how many there are."""
    rng = np.random.default_rng(seed)
    changes = np.array([change(classes, rng) for _ in range(data_sets)])
    away = np.abs(changes.mean(axis=0)) / (changes.std(axis=0, ddof=1) / np.sqrt(data_sets))
    return float(2 * norm.sf(away.max()) * changes.shape[1])


@pytest.mark.slow
@pytest.mark.parametrize(("classes", "data_sets", "is_sparse"), [(20, 150, False), (50, 100, False), (20, 150, True)])
def test_sweeps_of_many_classes_leave_truth_and_data_as_they_are(classes, data_sets, is_sparse, seed, monkeypatch):
    """The last as if twenty outputs were so many that rows have empty cells and tilts go against some classes only."""
    if is_sparse:
        monkeypatch.setattr(tilts, "MANY_OUTPUTS", 10)
        monkeypatch.setattr(tilts, "RIVALS", 4)
    assert p_value(classes, data_sets, seed) > FALSE_ALARMS


def labels_twice(monkeypatch):
    right = gibbs._drawn

    def wrong(posed, items, concentrations, rng):
        labels = np.rint(posed.rows - posed.learned_rows.reference_rows).T.astype(int)
        prevalence, confusion, of_class = right(posed, items + labels, concentrations, rng)
        return prevalence, confusion, of_class

    monkeypatch.setattr(gibbs, "_drawn", wrong)


def piles_by_size(monkeypatch):
    right = Pile.log_density
    monkeypatch.setattr(Pile, "log_density", lambda own, *all_: right(own, *all_) + np.log(own.of_class + 1.0))


def tilts_upwards(monkeypatch):
    right = tilts.Line.log_density
    monkeypatch.setattr(tilts.Line, "log_density", lambda own, step, at: right(own, step, at) + 2 * step)


@pytest.mark.slow
@pytest.mark.parametrize("bug", [labels_twice, piles_by_size, tilts_upwards])
def test_that_check_fails_on_a_bug(bug, seed, monkeypatch):
    bug(monkeypatch)
    assert p_value(20, 150, seed) < FALSE_ALARMS
