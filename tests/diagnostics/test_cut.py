"""The cut posterior: the full one where rows are known, quadrature over rows elsewhere."""

import numpy as np
import pytest

import truecount as tc
from truecount import Counts, Prior
from truecount.diagnostics.cut import cut_draws, tempered_draws
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
