"""Summits apart from each other are found, chains begin on them, and jumps give each its weight."""

from dataclasses import replace

import numpy as np
import pytest

from oracle import by_sum
from problems import PROBLEMS
from truecount import NUTS, Counts, Gibbs, Hamiltonian, Prior
from truecount._log_sum import softmax
from truecount.inference.chains import nuts
from truecount.inference.chains.jumps import Jumps
from truecount.inference.importance import exact
from truecount.inference.modes.landscape import Landscape, survey
from truecount.models import density

TWO_SUMMITS = density(Counts([[900, 50, 50], [50, 900, 50]], [100, 100, 800]), Prior())
"""Most items have an output that neither class has often: one of them must have changed, and either will do."""
FAR_CORNER = density(Counts([[9, 31], [19, 21]], [253, 298]), Prior(prevalence=0.05))
SPARSE_CORNER = density(Counts([[3, 2], [5, 0]], [541, 10]), Prior(0.3, 0.1))


@pytest.mark.parametrize(
    "name", ["five classes, nine outputs", "five classes, a million unlabelled", "three classes, nearly singular"]
)
def test_an_ordinary_posterior_has_one_summit(name):
    assert survey(PROBLEMS[name].density).is_plain


def test_two_summits_are_found_and_chains_begin_on_both(seed):
    land = survey(TWO_SUMMITS)
    assert len(land.modes) == 2
    assert sorted(land.modes[:, 0, 0].round(1)) == [0.1, 0.9]
    prevalence, _ = land.starting_points(8, np.random.default_rng(seed))
    assert {0.1, 0.9} <= set(prevalence[:, 0].round(1))


def test_two_summits_are_found_however_many_items_are_unlabelled():
    counts = Counts([[0, 24, 1, 1], [18, 0, 1, 1]], [6170291, 10877641, 82367536, 584532])
    prior = Prior((4.12183954868358, 3.640920602080875), 3.0)
    assert sorted(survey(density(counts, prior)).modes[:, 0, 0].round(3)) == [0.055, 0.967]


def test_chains_of_nuts_begin_on_both(seed, monkeypatch):
    def stay(evaluate, start, dimensions, *, engine, seed):
        points = np.stack([start(np.random.default_rng(chain)) for chain in range(engine.chains)])
        assert points.shape == (engine.chains, dimensions)
        return points[:, None] + np.random.default_rng(seed).normal(scale=1e-6, size=(len(points), 10, dimensions)), 0

    monkeypatch.setattr(nuts, "draw_points", stay)
    monkeypatch.setattr(nuts, "JITTER", 0.0)
    begun = NUTS(20).sample(TWO_SUMMITS, seed).prevalence[:, 0].round(1)
    assert {0.1, 0.9} <= set(begun)


def test_of_many_classes_a_chain_begins_on_the_mode_and_its_agreement_tells(seed, monkeypatch):
    """Chains far from the mode of few classes have missed it; of many, the one that began there would disagree."""
    few, many = (
        density(Counts(np.eye(size, dtype=int) * 90 + 5, np.full(size, 40)), Prior(confusion="sparse"))
        for size in (3, 12)
    )
    prevalence, confusion = survey(many).starting_points(4, np.random.default_rng(seed))
    np.testing.assert_array_equal(prevalence[-1], survey(many).modes[0, :, 0])
    np.testing.assert_array_equal(confusion[-1], survey(many).modes[0, :, 1:])
    monkeypatch.setattr(Landscape, "is_missed_by", lambda self, prevalence: True)
    told = {each.n_classes: Gibbs(8000).sample(each, seed).run.not_converged for each in (few, many)}
    assert told == {3: "no chain stayed on a mode that was found", 12: None}


PILED_UP_AT_AN_EDGE = density(Counts([[0, 1, 1, 0, 1], [2, 0, 1, 6, 0]], [55, 104, 85, 1, 40]), Prior(confusion=0.1))
"""The first class may never have the first output: all its items are then of the second class. There is no mode."""


def test_an_edge_that_holds_a_thin_tail_is_found_and_drawn_from(seed):
    """By the sum over all allocations 3.2e-4 of the mass, and an eighth of the variance, lie between .2 and .4."""
    land = survey(PILED_UP_AT_AN_EDGE)
    assert len(land.modes) == 1
    assert land.edges[:, 1, 0].round(2).tolist() == [0.23]
    assert land.allocations()[-1, 1, 0] == pytest.approx(55)
    masses = []
    for number in range(3):
        pool, _ = exact._fill_pool(PILED_UP_AT_AN_EDGE, 4000, np.random.default_rng([seed, number]))
        is_there = (pool.prevalence[:, 1] > 0.2) & (pool.prevalence[:, 1] < 0.4)
        masses.append(softmax(pool.log_weights)[is_there].sum())
    assert np.mean(masses) > 2e-4


def test_edges_are_looked_for_only_where_the_prior_is_below_one():
    assert not len(survey(replace(PILED_UP_AT_AN_EDGE, rows=PILED_UP_AT_AN_EDGE.rows + 0.9)).edges)


def test_a_summit_without_mass_is_left_out():
    assert len(survey(density(Counts([[900, 50, 50], [50, 9000, 50]], [100, 100, 800]), Prior())).modes) == 1


@pytest.mark.slow
@pytest.mark.parametrize("posed", [FAR_CORNER, SPARSE_CORNER], ids=["far corner", "sparse corner"])
def test_a_corner_that_chains_seldom_visit_gets_its_weight(posed, seed):
    draws, exact = Hamiltonian(effective_draws=2000).sample(posed, seed), by_sum(posed)
    error = exact.sd / np.sqrt(draws.effective[0])
    assert draws.run.not_converged is None
    assert draws.prevalence[:, 0].mean() == pytest.approx(exact.mean, abs=5 * error)


@pytest.mark.slow
def test_equal_summits_get_equal_weight_and_not_without_the_proposals_density(seed, monkeypatch):
    def share_of_first(draws):
        return (draws.prevalence[:, 0] > 0.5).mean(), 0.5 / np.sqrt(draws.effective.min())

    share, error = share_of_first(Hamiltonian(effective_draws=2000).sample(TWO_SUMMITS, seed))
    assert share == pytest.approx(0.5, abs=5 * error)
    honest = Jumps._surplus
    biased = lambda self, prevalence, confusion: honest(self, prevalence, confusion) + (prevalence[:, 0] > 0.5)  # noqa: E731
    monkeypatch.setattr(Jumps, "_surplus", biased)
    share, error = share_of_first(Hamiltonian(effective_draws=2000).sample(TWO_SUMMITS, seed))
    assert abs(share - 0.5) > 5 * error


def test_a_class_that_all_but_vanishes_leaves_no_draw_undefined(seed):
    posed = density(Counts([[20, 5, 2, 0], [3, 3, 10, 10]], [100, 40, 50, 20]), Prior(prevalence=0.01))
    draws = Hamiltonian(640, coordinates="output").sample(posed, seed)
    assert np.isfinite(draws.prevalence).all()
    assert np.isfinite(draws.confusion).all()
