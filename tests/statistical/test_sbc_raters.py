"""Simulation-based calibration of several classifiers and of labels that err, also in groups; all see planted bugs."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from scipy.stats import chisquare

import truecount as tc
from truecount.counts import Combinations, Ratings
from truecount.inference import raters
from truecount.inference.draws import dirichlet
from truecount.inference.independent import sample_independent
from truecount.inference.pooled_shares import PooledShares
from truecount.inference.raters import sample_rated
from truecount.models.independent_classifiers import all_combinations

pytestmark = pytest.mark.filterwarnings("ignore::truecount.errors.ConvergenceWarning")  # chains are short
FALSE_ALARMS = 1e-4
CLASSES, OUTPUTS, RATED, NEW = 2, 3, 60, 400
PATTERNS = [(one, two, three) for one in (0, 1) for two in (0, 1) for three in (0, 1, None)]
MODEL = tc.ErringLabels(tc.Prior([2, 3], [[4, 1, 1], [1, 2, 4]]), right=4.0, shares=2.0)
JUDGES = tc.IndependentClassifiers(tc.Prior([2, 3]))
Made = tuple[np.ndarray, np.ndarray]
Simulated = Callable[..., Made]


@pytest.fixture(autouse=True)
def short_chains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raters, "WARMUP", 150)
    monkeypatch.setattr(raters, "FIRST", 200)
    monkeypatch.setattr(raters, "MOST_SWEEPS", 200)
    for name in ("WARMUP", "FIRST", "MOST_SWEEPS"):
        monkeypatch.setattr(f"truecount.inference.independent.{name}", 150)


def p_value(simulate: Callable[[np.random.Generator, int], Made], seed: int, data_sets: int) -> float:
    """Return how probable ranks as uneven as these are, over all quantities: truths and draws (draw, quantity)."""
    rng, ranks = np.random.default_rng(seed), []
    for number in range(data_sets):
        truth, draws = simulate(rng, number)
        chosen = draws[np.linspace(0, len(draws) - 1, 99).astype(int)]
        ranks.append((chosen < truth).sum(axis=0))
    counts = [np.bincount(column // 10, minlength=10) for column in np.array(ranks).T]
    return float(min(1.0, len(counts) * min(chisquare(each).pvalue for each in counts)))


def pooled(rng: np.random.Generator) -> tuple[np.ndarray, list[float]]:
    """Draw the shares of three groups from their prior; and share of the centre, and logarithm of the spread."""
    common = PooledShares(np.array([2.0, 3.0]), tc.Pooled().spread, 1)
    common.centre, common.spread = rng.dirichlet([2, 3], 1), np.abs(rng.normal(0, tc.Pooled().spread, 1))
    shares = rng.dirichlet(common.concentration()[0], 3)
    return shares, [*shares[:, 0], common.ratios()[0, 0], float(np.log(common.spread[0]))]


def drawn_in_common(answer: tc.GroupPosterior) -> np.ndarray:
    """The same quantities of draws."""
    shares = answer.prevalence[:: len(answer.prevalence) // len(answer.spread)]
    return np.column_stack([shares[:, :, 0], answer.draws.centre[:, 0, 0], np.log(answer.spread[:, 0])])


def rated(rng: np.random.Generator) -> tuple[np.ndarray, Ratings]:
    """Draw a truth from the prior, and ratings from it."""
    pi = rng.dirichlet([2, 3])
    (tau, phi, rho), table = labelled(rng)
    patterns = Combinations(("ann", "bob", "cy"), tuple(PATTERNS))
    data = Ratings(tc.Counts(table, rng.multinomial(NEW, pi @ phi), patterns.names, list("xyz")), patterns, [0, 1])
    return np.array([pi[0], tau[0], phi[0, 0], phi[1, 2], rho[0, 0, 0], rho[2, 1, 1]]), data


def labelled(rng: np.random.Generator) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
    """Draw the shares behind labelled items, rows of the classifier and of raters, and labels by pattern and output."""
    tau = rng.dirichlet([2, 2])
    phi = np.array([rng.dirichlet(row) for row in ([4, 1, 1], [1, 2, 4])])
    rho = rng.standard_gamma(np.tile(np.ones((2, 2)) + 4 * np.eye(2), (3, 1, 1)))
    rho /= rho.sum(axis=2, keepdims=True)
    table = np.zeros((len(PATTERNS), OUTPUTS), int)
    for truth in rng.choice(2, RATED, p=tau):
        said = tuple(int(rng.choice(2, p=rho[rater, truth])) for rater in range(3))
        said = (*said[:2], None if rng.random() < 0.4 else said[2])
        table[PATTERNS.index(said), rng.choice(OUTPUTS, p=phi[truth])] += 1
    return (tau, phi, rho), table


def rated_groups(rng: np.random.Generator, number: int, times: int = 1) -> Made:
    """Draw a truth of three groups, ratings from it, and from the posterior.

    With a planted bug labelled and unlabelled items count several times.
    """
    shares, truth = pooled(rng)
    (_, phi, _), table = labelled(rng)
    patterns = Combinations(("ann", "bob", "cy"), tuple(PATTERNS))
    unlabeled = {name: times * rng.multinomial(100, each @ phi) for name, each in zip("ABC", shares, strict=True)}
    data = Ratings(tc.Groups(times * table, unlabeled, patterns.names, list("xyz")), patterns, [0, 1])
    return np.array(truth), drawn_in_common(tc.infer(data, MODEL, engine=tc.Auto(100), seed=number))


def by_raters(model: tc.ErringLabels) -> Callable[[np.random.Generator, int], Made]:
    def simulate(rng: np.random.Generator, number: int) -> Made:
        truth, data = rated(rng)
        drawn = sample_rated(model.rated_density(data), effective_draws=100, seed=number)
        confusion, rates = drawn.confusion, drawn.raters
        columns = (drawn.prevalence[:, 0, 0], drawn.labeled_prevalence[:, 0], confusion[:, 0, 0], confusion[:, 1, 2])
        return truth, np.column_stack([*columns, rates[:, 0, 0, 0], rates[:, 2, 1, 1]])

    return simulate


def judged(rng: np.random.Generator, number: int, labels: int = 1) -> Made:
    """Draw a truth, counts of two classifiers that err independently, and from the posterior.

    With a planted bug labels count several times.
    """
    pi, (joint, labeled, combinations) = rng.dirichlet([2, 3]), both_judges(rng)
    counts = tc.Counts(
        labels * labeled, rng.multinomial(200, pi @ joint), ["a", "b"], combinations.names, combinations=combinations
    )
    density = JUDGES.classifier_density(all_combinations(counts))
    draws = sample_independent(density, effective_draws=100, seed=number)
    return np.array([pi[0], joint[0, 0]]), np.column_stack([draws.prevalence[:, 0], draws.confusion[:, 0, 0]])


def judged_groups(rng: np.random.Generator, number: int, labels: int = 1) -> Made:
    """Do the same with three groups."""
    (shares, truth), (joint, labeled, combinations) = pooled(rng), both_judges(rng)
    unlabeled = {name: rng.multinomial(100, each @ joint) for name, each in zip("ABC", shares, strict=True)}
    data = tc.Groups(labels * labeled, unlabeled, ["a", "b"], combinations.names, combinations=combinations)
    return np.array(truth), drawn_in_common(tc.infer(data, JUDGES, engine=tc.Auto(100), seed=number))


def both_judges(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, Combinations]:
    """Draw rows of two classifiers that err independently, and labels, by combinations of outputs."""
    rows = [rng.dirichlet([1, 1], 2), rng.dirichlet([1, 1, 1], 2)]
    parts = tuple((one, two) for one in "ab" for two in "abc")
    joint = (rows[0][:, :, None] * rows[1][:, None, :]).reshape(2, -1)
    return joint, np.array([rng.multinomial(20, row) for row in joint]), Combinations(("x", "y"), parts)


def joint_outputs(rng: np.random.Generator, number: int, confusion: str | float = "learned") -> Made:
    """Draw combinations of outputs from rows that lean towards agreement, and from the posterior."""
    combinations = Combinations(("x", "y"), tuple((one, two) for one in "ab" for two in "ab"))
    names = {"classes": ["a", "b"], "outputs": combinations.names, "combinations": combinations}
    prior = tc.Prior([2.0, 3.0], "learned")
    grid = prior.learned_rows_for(tc.Counts(np.zeros((2, 4), int), [1, 0, 0, 0], **names))
    assert grid is not None
    shapes = grid.rows_at(grid.draw(rng, 1))[0]
    rows, pi = np.array([rng.dirichlet(row) for row in shapes]), rng.dirichlet([2, 3])
    counts = tc.Counts([rng.multinomial(12, row) for row in rows], rng.multinomial(60, pi @ rows), **names)
    draws = tc.Auto(100).sample(tc.LabelShift(tc.Prior([2.0, 3.0], confusion)).density(counts), seed=number)
    shares = draws.prevalence[:: len(draws.prevalence) // len(draws.confusion)][: len(draws.confusion)]
    found = shares[:, 0], draws.confusion[:, 0, 0], draws.confusion[:, 1, 2]
    return np.array([pi[0], rows[0, 0], rows[1, 2]]), np.column_stack(found)


@pytest.mark.slow
def test_raters_are_calibrated(seed: int) -> None:
    assert p_value(by_raters(MODEL), seed, 120) > FALSE_ALARMS


@pytest.mark.slow
def test_it_sees_labels_taken_for_true_ones(seed: int) -> None:
    assert p_value(by_raters(tc.ErringLabels(MODEL.prior, known=0.0)), seed, 40) < FALSE_ALARMS


@pytest.mark.slow
def test_groups_by_raters_are_calibrated(seed: int) -> None:
    assert p_value(rated_groups, seed, 60) > FALSE_ALARMS


@pytest.mark.slow
def test_that_sees_items_of_groups_that_count_twenty_times(seed: int) -> None:
    assert p_value(partial(rated_groups, times=20), seed, 60) < FALSE_ALARMS


@pytest.mark.slow
@pytest.mark.parametrize(("simulate", "data_sets"), [(judged, 120), (judged_groups, 60)])
def test_independent_classifiers_are_calibrated(simulate: Simulated, data_sets: int, seed: int) -> None:
    assert p_value(simulate, seed, data_sets) > FALSE_ALARMS


@pytest.mark.slow
@pytest.mark.parametrize(("simulate", "data_sets"), [(judged, 120), (judged_groups, 60)])
def test_that_sees_labels_that_count_forty_times(simulate: Simulated, data_sets: int, seed: int) -> None:
    assert p_value(partial(simulate, labels=40), seed, data_sets) < FALSE_ALARMS


@pytest.mark.slow
def test_joint_outputs_are_calibrated(seed: int) -> None:
    assert p_value(joint_outputs, seed, 120) > FALSE_ALARMS


@pytest.mark.slow
def test_that_sees_even_rows_of_joint_outputs(seed: int) -> None:
    assert p_value(partial(joint_outputs, confusion=5.0), seed, 40) < FALSE_ALARMS


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
