"""Piles of items that move between classes leave the posterior of the items as it is."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln

import truecount as tc
from truecount.inference.chains import gibbs, piles, tilts
from truecount.inference.chains.gibbs import Gibbs
from truecount.inference.chains.piles import Pile, Piles
from truecount.inference.draws import dirichlet
from truecount.inference.modes.landscape import survey
from truecount.models import density

ALPHA = np.array([0.3, 0.3, 1.5])
ROWS = np.array([[4.0, 0.02, 1.0, 0.02], [0.02, 3.0, 0.02, 2.0], [1.0, 0.02, 6.0, 0.02]])
SPARSE = tc.Counts([[6, 0, 1, 0], [0, 5, 0, 0], [0, 0, 8, 0]], [40, 25, 30, 12])
CHAINS = 20_000


def from_the_prior(rng):
    """Items of outputs whose sums vary, drawn with their shares: piles moved given the sums leave them so."""
    prevalence, confusion = dirichlet(rng, ALPHA, (CHAINS,)), dirichlet(rng, ROWS, (CHAINS,))
    joint = (prevalence[:, :, None] * confusion).reshape(CHAINS, -1)
    return rng.multinomial(30, joint / joint.sum(axis=1, keepdims=True)).reshape(CHAINS, *ROWS.shape)


def moved(items, rng, is_free=(True, True, True)):
    alpha, rows = np.tile(ALPHA, (CHAINS, 1)), np.broadcast_to(ROWS, items.shape)
    posed = density(SPARSE, tc.Prior(confusion="sparse"))
    known = np.where(np.array(is_free)[:, None], np.nan, 0.25) + 0 * ROWS
    among, columns = Piles(replace(posed, known=known)), items.transpose(0, 2, 1).copy()
    for _ in range(3):
        columns = among.move(columns, alpha, rows, rng)
    return columns.transpose(0, 2, 1)


def deviations(before, after):
    """How far means of items, of their squares and of empty cells moved, in standard errors."""
    values = [each.reshape(CHAINS, -1).astype(float) for each in (before, after)]
    shift = np.hstack([f(values[1]) - f(values[0]) for f in (np.asarray, np.square, lambda x: (x == 0).astype(float))])
    spread = shift.std(axis=0)
    return np.abs(shift.mean(axis=0))[spread > 0] / spread[spread > 0] * np.sqrt(CHAINS)


@pytest.mark.parametrize("is_free", [(True, True, True), (True, False, True)])
def test_items_from_the_prior_stay_items_from_the_prior(is_free, seed):
    rng = np.random.default_rng(seed)
    before = from_the_prior(rng)
    after = moved(before, rng, is_free)
    assert (after.sum(axis=1) == before.sum(axis=1)).all()
    assert after.min() == 0
    assert (after != before).any(axis=(1, 2)).mean() > 0.3
    np.testing.assert_array_equal(after[:, ~np.array(is_free)], before[:, ~np.array(is_free)])
    assert deviations(before, after).max() < 5.0


@pytest.mark.parametrize(
    "wrong",
    [
        lambda pile: gammaln(pile.others + pile.size[:, None] + 1) - gammaln(pile.others + 1),
        lambda pile: np.log(pile.of_class + pile.size[:, None] + 1),
        lambda pile: -np.log(1 + np.where(pile.others == 0, pile.size[:, None], 0)),
    ],
    ids=["permutations of the items are missing", "a power of the class's items", "how the pile was chosen"],
)
def test_a_wrong_density_is_seen(wrong, seed, monkeypatch):
    right, rng = Pile.log_density, np.random.default_rng(seed)
    before = from_the_prior(rng)
    monkeypatch.setattr(Pile, "log_density", lambda pile, *all_: right(pile, *all_) + wrong(pile))
    assert deviations(before, moved(before, rng)).max() > 8.0


def test_of_many_classes_the_likely_ones_and_some_others_have_piles(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    before = from_the_prior(rng)
    monkeypatch.setattr(piles, "MOST_CLASSES", 2)
    found = Piles(density(SPARSE, tc.Prior(confusion="sparse")))
    chosen = {tuple(found.classes(0, rng).tolist()) for _ in range(50)}
    assert chosen == {(0, 1), (0, 2)}
    assert deviations(before, moved(before, rng)).max() < 5.0


def test_piles_suit_rows_most_of_whose_cells_are_sparse():
    sparse, flat = (density(SPARSE, tc.Prior(confusion=rows)) for rows in ("sparse", "flat"))
    assert Piles.suit(sparse)
    assert not Piles.suit(flat)
    assert not Piles.suit(replace(sparse, known=np.array([[0.25] * 4, [0.25] * 4, [np.nan] * 4])))


@pytest.mark.slow
@pytest.mark.parametrize("has_empty_cells", [False, True])
def test_chains_that_move_piles_and_tilt_say_what_independent_draws_say(has_empty_cells, monkeypatch):
    """Those with empty cells as if four outputs were very many, and each class tilted against two rivals."""
    sparse = density(SPARSE, tc.Prior(confusion="sparse"))
    monkeypatch.setattr(tilts, "MANY_OUTPUTS", 3 if has_empty_cells else 150)
    monkeypatch.setattr(tilts, "RIVALS", 2)
    assert gibbs.has_empty_cells(sparse) == has_empty_cells
    chains, exact = Gibbs(4000).sample_from(survey(sparse), 1), tc.Exact(8000).sample(sparse, 2)
    error = exact.prevalence.std(axis=0) * np.sqrt(1 / chains.effective + 1 / exact.effective)
    assert (np.abs(chains.prevalence.mean(axis=0) - exact.prevalence.mean(axis=0)) < 5 * error).all()
