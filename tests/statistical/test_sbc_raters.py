"""Simulation-based calibration of labels that err and of classifiers taken for independent; both see planted bugs."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import chisquare

import truecount as tc
from truecount.counts import Combinations, Ratings
from truecount.inference import raters
from truecount.inference.draws import dirichlet
from truecount.inference.independent import sample_independent
from truecount.inference.raters import sample_rated
from truecount.models.independent_classifiers import all_combinations

FALSE_ALARMS = 1e-4
CLASSES, OUTPUTS, RATED, NEW = 2, 3, 60, 400
PATTERNS = [(one, two, three) for one in (0, 1) for two in (0, 1) for three in (0, 1, None)]
MODEL = tc.ErringLabels(tc.Prior([2, 3], [[4, 1, 1], [1, 2, 4]]), right=4.0, shares=2.0)
JUDGES = tc.IndependentClassifiers(tc.Prior([2, 3]))
Made = tuple[np.ndarray, np.ndarray]


@pytest.fixture(autouse=True)
def short_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raters, "WARMUP", 150)
    monkeypatch.setattr(raters, "FIRST", 200)
    monkeypatch.setattr(raters, "MOST_SWEEPS", 200)


def p_value(simulate: Callable[[np.random.Generator, int], Made], seed: int, data_sets: int) -> float:
    """Return how probable ranks as uneven as these are, over all quantities: truths and draws (draw, quantity)."""
    rng, ranks = np.random.default_rng(seed), []
    for number in range(data_sets):
        truth, draws = simulate(rng, number)
        chosen = draws[np.linspace(0, len(draws) - 1, 99).astype(int)]
        ranks.append((chosen < truth).sum(axis=0))
    counts = [np.bincount(column // 10, minlength=10) for column in np.array(ranks).T]
    return float(min(1.0, len(counts) * min(chisquare(each).pvalue for each in counts)))


def rated(rng: np.random.Generator) -> tuple[np.ndarray, Ratings]:
    """Draw a truth from the prior, and ratings from it."""
    pi, tau = rng.dirichlet([2, 3]), rng.dirichlet([2, 2])
    phi = np.array([rng.dirichlet(row) for row in ([4, 1, 1], [1, 2, 4])])
    rho = rng.standard_gamma(np.tile(np.ones((2, 2)) + 4 * np.eye(2), (3, 1, 1)))
    rho /= rho.sum(axis=2, keepdims=True)
    table = np.zeros((len(PATTERNS), OUTPUTS), int)
    for truth in rng.choice(2, RATED, p=tau):
        said = tuple(int(rng.choice(2, p=rho[rater, truth])) for rater in range(3))
        said = (*said[:2], None if rng.random() < 0.4 else said[2])
        table[PATTERNS.index(said), rng.choice(OUTPUTS, p=phi[truth])] += 1
    unlabeled = rng.multinomial(NEW, pi @ phi)
    patterns = Combinations(("ann", "bob", "cy"), tuple(PATTERNS))
    data = Ratings(tc.Counts(table, unlabeled, patterns.names, list("xyz")), patterns, [0, 1])
    return np.array([pi[0], tau[0], phi[0, 0], phi[1, 2], rho[0, 0, 0], rho[2, 1, 1]]), data


def by_raters(model: tc.ErringLabels) -> Callable[[np.random.Generator, int], Made]:
    def simulate(rng: np.random.Generator, number: int) -> Made:
        truth, data = rated(rng)
        drawn = sample_rated(model.rated_density(data), effective_draws=100, seed=number)
        confusion, rates = drawn.confusion, drawn.raters
        columns = (drawn.prevalence[:, 0, 0], drawn.labeled_prevalence[:, 0], confusion[:, 0, 0], confusion[:, 1, 2])
        return truth, np.column_stack([*columns, rates[:, 0, 0, 0], rates[:, 2, 1, 1]])

    return simulate


def judged(rng: np.random.Generator, number: int) -> Made:
    """Draw a truth, counts of two classifiers that err independently, and from the posterior."""
    pi = rng.dirichlet([2, 3])
    rows = [rng.dirichlet([1, 1], 2), rng.dirichlet([1, 1, 1], 2)]
    parts = tuple((one, two) for one in "ab" for two in "abc")
    joint = (rows[0][:, :, None] * rows[1][:, None, :]).reshape(2, -1)
    labeled = np.array([rng.multinomial(20, row) for row in joint])
    combinations = Combinations(("x", "y"), parts)
    counts = tc.Counts(
        labeled, rng.multinomial(200, pi @ joint), ["a", "b"], combinations.names, combinations=combinations
    )
    density = JUDGES.classifier_density(all_combinations(counts))
    draws = sample_independent(density, effective_draws=100, seed=number)
    return np.array([pi[0], joint[0, 0]]), np.column_stack([draws.prevalence[:, 0], draws.confusion[:, 0, 0]])


@pytest.mark.slow
def test_raters_are_calibrated(seed: int) -> None:
    assert p_value(by_raters(MODEL), seed, 120) > FALSE_ALARMS


@pytest.mark.slow
def test_it_sees_labels_taken_for_true_ones(seed: int) -> None:
    assert p_value(by_raters(tc.ErringLabels(MODEL.prior, known=0.0)), seed, 40) < FALSE_ALARMS


@pytest.mark.slow
def test_independent_classifiers_are_calibrated(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WARMUP", "FIRST", "MOST_SWEEPS"):
        monkeypatch.setattr(f"truecount.inference.independent.{name}", 150)
    assert p_value(judged, seed, 120) > FALSE_ALARMS


def test_dirichlet_shares_refresh_to_the_same_distribution(seed: int) -> None:
    """A refreshed share has the mean and the variance of its Dirichlet distribution, and remembers the old one."""
    chains = object.__new__(raters._Chains)
    chains.rng = np.random.default_rng(seed)
    concentrations = np.tile([[2.0, 5.0, 1.0]], (40_000, 1, 1))
    old = dirichlet(chains.rng, concentrations, ())
    new = chains._refreshed(old, concentrations, np.full((40_000, 1, 1), 0.3))
    mean, variance = np.array([2, 5, 1]) / 8, np.array([2, 5, 1]) * np.array([6, 3, 7]) / (64 * 9)
    assert np.abs(new[:, 0].mean(axis=0) - mean).max() < 5 * np.sqrt(variance.max() / 40_000)
    assert np.allclose(new[:, 0].var(axis=0), variance, rtol=0.06)
    assert np.corrcoef(old[:, 0, 0], new[:, 0, 0])[0, 1] > 0.4
