"""Tilts of a class leave the outputs' shares and the posterior as they are."""

from dataclasses import replace

import numpy as np
import pytest

import truecount as tc
from deviations import deviations
from truecount.inference.chains import gibbs, tilts
from truecount.inference.chains.gibbs import Gibbs
from truecount.inference.chains.piles import Piles
from truecount.inference.chains.tilts import Tilts
from truecount.inference.draws import dirichlet
from truecount.models import density

ALPHA = np.array([0.3, 1.0, 2.5])
ROWS = np.array([[3.0, 0.02, 0.6, 2.0], [0.02, 4.0, 1.0, 0.02], [1.5, 0.02, 5.0, 1.0]])
CHAINS = 20_000
POSED = density(tc.Counts([[3, 0, 1, 2], [0, 4, 1, 0], [2, 0, 5, 1]], [9, 7, 8, 2]), tc.Prior(confusion="sparse"))


def from_the_prior(rng):
    return dirichlet(rng, ALPHA, (CHAINS,)), dirichlet(rng, ROWS, (CHAINS,))


def moved(rng, prevalence, confusion, own=None):
    alpha, rows = np.tile(ALPHA, (CHAINS, 1)), np.tile(ROWS, (CHAINS, 1, 1))
    return (own or Tilts(POSED)).move(prevalence, confusion, alpha, rows, rng)


def test_draws_from_the_prior_stay_draws_from_the_prior(seed):
    rng = np.random.default_rng(seed)
    before = from_the_prior(rng)
    after = moved(rng, *before)
    assert (np.abs(after[0] - before[0]).max(axis=1) > 1e-3).mean() > 0.5
    assert deviations(before, after).max() < 5.0
    shares = [np.einsum("cl,clk->ck", *each) for each in (before, after)]
    np.testing.assert_allclose(*shares, atol=1e-12)
    np.testing.assert_allclose(after[1].sum(axis=2), 1, atol=1e-12)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda own, step, at: -step,
        lambda own, step, at: np.log(own.rest[at] + np.exp(step)[:, None] * own.part[at]).sum(axis=1),
    ],
    ids=["a power of the class's odds is missing", "powers of the divisors are missing"],
)
def test_a_wrong_density_is_seen(wrong, seed, monkeypatch):
    right, rng = tilts.Line.log_density, np.random.default_rng(seed)
    monkeypatch.setattr(tilts.Line, "log_density", lambda *all_: right(*all_) + wrong(*all_))
    before = from_the_prior(rng)
    assert deviations(before, moved(rng, *before)).max() > 8.0


def test_a_slice_that_steps_out_on_each_side_alike_is_wide_enough(seed):
    """From a first width far too small: most steps are then as long as the limit allows, and the prior stays."""
    rng, narrow = np.random.default_rng(seed), Tilts(POSED)
    narrow.widths[:] = 0.05
    before = from_the_prior(rng)
    assert deviations(before, moved(rng, *before, narrow)).max() < 5.0
    narrow.adapt()
    tilted = narrow.widths != 0.05
    assert tilted.any()
    assert (narrow.widths[tilted] > tilts.LEAST_WIDTH).all()


@pytest.fixture
def some(monkeypatch):
    """Tilts as those of many outputs: against two of the three classes at each, of which it may be one itself."""
    monkeypatch.setattr(tilts, "MANY_OUTPUTS", 3)
    monkeypatch.setattr(tilts, "RIVALS", 2)
    monkeypatch.setattr(tilts, "PART", 1.0)
    return Tilts(POSED)


def test_of_many_outputs_a_class_is_tilted_against_its_rivals(seed, some):
    assert [set(at.tolist()) for at in some.rivals] == [{0, 2}, {0, 1}, {1, 2}, {0, 2}]
    rng = np.random.default_rng(seed)
    before = from_the_prior(rng)
    after = moved(rng, *before, some)
    assert (np.abs(after[0] - before[0]).max(axis=1) > 1e-3).mean() > 0.5
    assert deviations(before, after).max() < 5.0
    shares = [np.einsum("cl,clk->ck", *each) for each in (before, after)]
    np.testing.assert_allclose(*shares, atol=1e-12)


def test_wrong_powers_of_the_divisors_of_rivals_are_seen(seed, some, monkeypatch):
    right, rng = tilts.RivalLine.__init__, np.random.default_rng(seed)

    def wrong(line, *all_):
        right(line, *all_)
        line.of_divisor = line.of_divisor - 0.5

    monkeypatch.setattr(tilts.RivalLine, "__init__", wrong)
    before = from_the_prior(rng)
    assert deviations(before, moved(rng, *before, some)).max() > 8.0


def test_empty_cells_of_a_class_stay_empty(seed, some):
    rng = np.random.default_rng(seed)
    prevalence, confusion = from_the_prior(rng)
    confusion[confusion < 1e-20] = 0.0
    after = moved(rng, prevalence, confusion / confusion.sum(axis=2, keepdims=True), some)[1]
    assert (confusion == 0).any()
    np.testing.assert_array_equal(after == 0, confusion == 0)


def test_cells_too_small_for_a_float_are_tilted_as_nothing():
    joint = np.array([[[0.5, 0.0], [0.0, 0.5]]])
    line = tilts.Line(joint.copy(), 0, np.full(1, 2e-3), np.full((1, 2), 2e-3), np.full((1, 2), 1 - 2e-3))
    line.tilt(tilts.drawn_step(line.log_density, 1, 4.0, np.random.default_rng(0)))
    np.testing.assert_allclose(line.joint, joint)


def test_rows_that_are_known_are_not_tilted():
    posed = density(tc.Counts([[8, 2], [1, 9]], [30, 20]), tc.Prior())
    known = replace(posed, known=np.array([[0.8, 0.2], [np.nan, np.nan]]))
    assert Tilts.suit(posed)
    assert not Tilts.suit(known)


def rare_classes(classes=24):
    """Most classes rare, few labels for each, and each mistaken for another one."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(classes, 0.25))
    confusion = 0.85 * np.eye(classes) + 0.1 * np.eye(classes)[np.arange(classes) ^ 1] + 0.05 / classes
    labeled = [rng.multinomial(3 + rng.poisson(7), row) for row in confusion]
    return density(tc.Counts(labeled, rng.multinomial(5000, shares @ confusion)), tc.Prior())


@pytest.mark.slow
def test_few_labels_of_many_classes_need_both_piles_and_tilts(monkeypatch):
    """Chains of as many sweeps: 134 effective draws of both; 24 of piles alone, 86 of tilts, 13 of neither."""
    posed = rare_classes()

    def effective() -> float:
        return float(np.mean([Gibbs(2000, chains=8, warmup=60).sample(posed, seed).effective.min() for seed in (1, 2)]))

    both = effective()
    monkeypatch.setattr(Piles, "move", lambda own, items, *_: items)
    of_tilts = effective()
    monkeypatch.setattr(gibbs, "_is_tilted", lambda posed: False)
    of_none = effective()
    assert both > 1.3 * of_tilts > 1.3 * 2 * of_none
