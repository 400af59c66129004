"""Exchanges of items between classes leave the posterior of the items as it is."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import gammaln

import truecount as tc
from truecount.inference.chains import exchanges
from truecount.inference.chains.exchanges import Exchanges
from truecount.inference.chains.gibbs import Gibbs
from truecount.inference.draws import dirichlet
from truecount.inference.modes.landscape import survey
from truecount.models import density

ALPHA = np.array([0.3, 0.3, 1.5])
ROWS = np.array([[4.0, 0.02, 1.0, 0.02], [0.02, 3.0, 0.02, 2.0], [1.0, 0.02, 6.0, 0.02]])
SPARSE = tc.Counts([[4, 0, 1, 0], [0, 3, 0, 2], [1, 0, 6, 0]], [9, 7, 12, 5])
CHAINS = 20_000


def from_the_prior(rng):
    """Items of outputs whose sums vary, drawn with their shares: exchanges given the sums leave them so."""
    prevalence, confusion = dirichlet(rng, ALPHA, (CHAINS,)), dirichlet(rng, ROWS, (CHAINS,))
    joint = (prevalence[:, :, None] * confusion).reshape(CHAINS, -1)
    return rng.multinomial(30, joint / joint.sum(axis=1, keepdims=True)).reshape(CHAINS, *ROWS.shape)


def moved(items, rng):
    after, alpha, rows = items.copy(), np.tile(ALPHA, (CHAINS, 1)), np.broadcast_to(ROWS, items.shape)
    for _ in range(3):
        Exchanges(density(SPARSE, tc.Prior(confusion="sparse"))).move(after, alpha, rows, rng)
    return after


def deviations(before, after):
    """How far means of items, of their squares and of empty cells moved, in standard errors."""
    values = [each.reshape(CHAINS, -1).astype(float) for each in (before, after)]
    shift = np.hstack([f(values[1]) - f(values[0]) for f in (np.asarray, np.square, lambda x: (x == 0).astype(float))])
    spread = shift.std(axis=0)
    return np.abs(shift.mean(axis=0))[spread > 0] / spread[spread > 0] * np.sqrt(CHAINS)


def test_items_from_the_prior_stay_items_from_the_prior(seed):
    rng = np.random.default_rng(seed)
    before = from_the_prior(rng)
    after = moved(before, rng)
    assert (after.sum(axis=1) == before.sum(axis=1)).all()
    assert after.min() == 0
    assert (after != before).any(axis=(1, 2)).mean() > 0.3
    assert deviations(before, after).max() < 5.0


@pytest.mark.parametrize(
    "wrong",
    [lambda side, items, at: gammaln(items + 1), lambda side, items, at: np.log(side.elsewhere[at] + items + 1)],
    ids=["permutations of the items are missing", "a power of the class's items is missing"],
)
def test_a_wrong_density_is_seen(wrong, seed, monkeypatch):
    right, rng = exchanges._Side.log_density, np.random.default_rng(seed)
    before = from_the_prior(rng)
    monkeypatch.setattr(exchanges._Side, "log_density", lambda *all_: right(*all_) + wrong(*all_))
    assert deviations(before, moved(before, rng)).max() > 8.0


def test_known_rows_exchange_nothing():
    sparse = density(SPARSE, tc.Prior(confusion="sparse"))
    known = sparse.known.copy()
    known[0] = 0.25
    found, rng = Exchanges(replace(sparse, known=known)), np.random.default_rng(0)
    pairs = [found.pairs(rng)[1:] for _ in range(50)]
    assert all(0 not in [*first, *second] for first, second in pairs)
    assert all(len({*first, *second}) == 2 * len(first) > 0 for first, second in pairs)


@pytest.mark.slow
def test_chains_that_exchange_items_say_what_independent_draws_say():
    sparse = density(
        tc.Counts([[6, 0, 1, 0], [0, 5, 0, 0], [0, 0, 8, 0]], [40, 25, 30, 12]), tc.Prior(confusion="sparse")
    )
    assert Exchanges.suit(sparse)
    chains, exact = Gibbs(4000).sample_from(survey(sparse), 1), tc.Exact(8000).sample(sparse, 2)
    error = exact.prevalence.std(axis=0) * np.sqrt(1 / chains.effective + 1 / exact.effective)
    assert (np.abs(chains.prevalence.mean(axis=0) - exact.prevalence.mean(axis=0)) < 5 * error).all()
