"""The cut posterior: the full one where rows are known, quadrature over rows elsewhere."""

import numpy as np
import pytest

import truecount as tc
from truecount import Counts, Prior
from truecount.diagnostics.drift import cut_draws, tempered_draws
from truecount.models import density

OUTSIDE = Counts([[45, 5], [20, 30]], [98, 2])


def test_with_known_rows_there_is_nothing_to_cut(seed):
    counts, prior = Counts([[0, 0], [0, 0]], [40, 60]), Prior.known_confusion([[0.9, 0.1], [0.2, 0.8]])
    cut, full = cut_draws(density(counts, prior), draws=2000, seed=seed), tc.infer(counts, prior=prior)
    assert cut.mean(axis=0) == pytest.approx(full.mean, abs=5 * full.sd[0] * np.sqrt(1 / 2000 + 1 / 4000))
    assert cut.std(axis=0) == pytest.approx(full.sd, rel=0.1)


@pytest.mark.parametrize("prior", [Prior(), Prior([3, 1.5])])
def test_each_draw_of_the_rows_has_its_own_shares(prior, seed):
    """Two classes: the mean of π given φ by a grid, averaged over rows from the labels."""
    model = density(OUTSIDE, prior)
    grid = np.linspace(0.0005, 0.9995, 1000)
    rng = np.random.default_rng(seed)
    rows = rng.beta(model.rows[:, 0], model.rows[:, 1], (4000, 2))
    first = grid * rows[:, :1] + (1 - grid) * rows[:, 1:]
    heights = 98 * np.log(first) + 2 * np.log(1 - first)
    heights += (model.prevalence[0] - 1) * np.log(grid) + (model.prevalence[1] - 1) * np.log(1 - grid)
    weights = np.exp(heights - heights.max(axis=1, keepdims=True))
    means = (weights @ grid) / weights.sum(axis=1)
    cut = cut_draws(model, draws=2000, seed=seed)[:, 0]
    assert cut.mean() == pytest.approx(means.mean(), abs=5 * (cut.std() / np.sqrt(2000) + means.std() / np.sqrt(4000)))


HARD = {
    "a rare output": (
        [[0.001, 0.33, 0.33, 0.339], [0.003, 0.33, 0.33, 0.337]],
        [200, 33e3, 33e3, 33800],
    ),
    "one output too many": ([[0.001, 0.5, 0.499], [0.003, 0.499, 0.498]], [200, 49950, 49850]),
    "beyond the edge": ([[0.55, 0.45], [0.45, 0.55]], [440, 560]),
    "at the edge": ([[0.9, 0.1], [0.2, 0.8]], [190, 810]),
    "none of one output": ([[0.9, 0.1], [0.1, 0.9]], [0, 60]),
    "inside": ([[0.3, 0.25, 0.25, 0.2], [0.2, 0.25, 0.25, 0.3]], [500, 500, 500, 500]),
}


@pytest.mark.parametrize("prior", [(1, 1), (5, 2), (0.2, 0.3)])
@pytest.mark.parametrize(("rows", "items"), HARD.values(), ids=HARD.keys())
def test_two_classes_have_the_distribution_of_quadrature(rows, items, prior, seed):
    """Draws of known rows are independent: Kolmogorov and Smirnov's distance passes 2.25/√n once in 12,000 runs."""
    rows = np.array(rows)
    cut = cut_draws(known(rows, items, prior), draws=1500, seed=seed)
    odds = np.linspace(-60, 60, 40_001)
    middle = (odds[1:] + odds[:-1]) / 2
    parts = 1 / (1 + np.exp(np.column_stack([-middle, middle])))
    heights = np.log(parts @ rows) @ np.array(items) + np.log(parts) @ np.array(prior)
    mass = np.exp(heights - heights.max())
    drawn = np.sort(np.log(cut[:, 0] / cut[:, 1]))
    below = np.interp(drawn, odds, np.concatenate([[0], np.cumsum(mass) / mass.sum()]))
    assert np.abs(below - (np.arange(1500) + 0.5) / 1500).max() < 2.25 / np.sqrt(1500)


ALIKE = ([[0.8, 0.1, 0.1], [0.1, 0.45, 0.45], [0.1, 0.44, 0.46]], [3000, 1500, 1500])
FEW_OUTPUTS = ([[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]], [600, 400])
AT_A_CORNER = ([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]], [100, 5, 5])
MORE_OUTPUTS = ([[0.3, 0.3, 0.2, 0.2], [0.2, 0.3, 0.3, 0.2], [0.2, 0.2, 0.3, 0.3]], [500, 600, 520, 380])


@pytest.mark.parametrize(("rows", "items"), [ALIKE, FEW_OUTPUTS, AT_A_CORNER, MORE_OUTPUTS])
@pytest.mark.parametrize("prior", [(1, 1, 1), (2, 5, 1.5)])
def test_three_classes_have_the_moments_of_quadrature(rows, items, prior, seed):
    cut = cut_draws(known(rows, items, prior), draws=1500, seed=seed)
    first, second = np.meshgrid(*[(np.arange(700) + 0.5) / 700] * 2, indexing="ij")
    grid = np.stack([first, second, 1 - first - second], axis=-1)[first + second < 1 - 1e-9]
    heights = np.log(grid @ np.array(rows)) @ items + np.log(grid) @ (np.array(prior) - 1)
    mass = np.exp(heights - heights.max())
    mass /= mass.sum()
    mean = mass @ grid
    squares = (grid - mean) ** 2
    variance = mass @ squares
    assert cut.mean(axis=0) == pytest.approx(mean, abs=5 * np.sqrt(variance.max() / 1500))
    error = np.sqrt((mass @ squares**2 - variance**2) / 1500)
    assert (np.abs(((cut - mean) ** 2).mean(axis=0) - variance) < 5 * error + 0.01 * variance).all()


def known(rows, items, prior):
    counts = Counts(np.zeros(np.shape(rows), dtype=int), np.array(items, dtype=int))
    return density(counts, Prior.known_confusion(rows, prevalence=list(prior)))


def test_unlabelled_items_that_do_not_fit_move_the_full_posterior_only(seed):
    """The full posterior bends the first row towards the outputs seen, and so leaves room for the other class."""
    full, cut = tc.infer(OUTSIDE, seed=seed), cut_draws(density(OUTSIDE, Prior()), seed=seed)
    assert full.confusion[:, 0, 0].mean() > 0.92 > 46 / 52
    assert cut[:, 1].mean() < full.mean[1]


def test_a_tempered_posterior_is_wider_and_a_power_of_one_is_the_full_one():
    counts = Counts([[800, 200], [100, 900]], [60, 40])
    model, full = density(counts, Prior()), tc.infer(counts)
    half = tempered_draws(model, tc.Auto(2000)).prevalence
    assert half.std(axis=0)[0] == pytest.approx(np.sqrt(2) * full.sd[0], rel=0.1)
    whole = tempered_draws(model, tc.Auto(4000), power=1.0).prevalence
    np.testing.assert_array_equal(whole, full.prevalence)
