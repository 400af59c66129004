"""Draws of many groups are kept in one array, thinned where memory ends, and read chain after chain."""

import numpy as np
import pytest

from truecount.inference import group_draws
from truecount.inference.group_draws import GroupDraws, Kept, attainable

CHAINS = 4


@pytest.mark.parametrize(("most", "every"), [(1000, 1), (200, 2), (37, 16)])
def test_what_was_kept_is_every_so_many_iterations_chain_after_chain(most, every, monkeypatch):
    monkeypatch.setattr(group_draws, "KEPT_BYTES", 8 * CHAINS * (3 + 2 * 3 + 5) * most)
    rng, kept, seen = np.random.default_rng(0), Kept(), []
    for number in range(1, 301):
        values = rng.normal(size=(CHAINS, 3)), rng.normal(size=(CHAINS, 2, 3)), rng.normal(size=(CHAINS, 5))
        kept.add(*values)
        seen.append(values)
        if number % 17 == 0:  # reading in between leaves what comes later right
            wanted = seen[kept.every - 1 :: kept.every]
            for found, each in zip(kept.stacked(), zip(*wanted, strict=True), strict=True):
                chains = np.stack(each, axis=1)
                assert np.array_equal(found, chains.reshape(-1, *chains.shape[2:]))
    assert kept.every == every


def test_values_of_no_numbers_are_kept_too():
    kept = Kept()
    for _ in range(20):
        kept.add(np.ones((CHAINS, 0)), np.ones((CHAINS, 2, 3)))
    assert kept.stacked().hyper.shape == (20 * CHAINS, 0)


def test_reading_copies_nothing():
    kept = Kept()
    for _ in range(50):
        kept.add(np.ones((CHAINS, 3)), np.ones((CHAINS, 2, 3)))
    assert np.shares_memory(kept.stacked().prevalence, kept.stores[1].array)


def test_five_thousand_five_class_groups_leave_room_for_a_thousand_draws():
    assert attainable(200, 5000 * 5) == 200


def autocorrelated(seed, correlation, length):
    """Stationary chains whose neighbours correlate so much, shape (chains, length, 3, 2)."""
    noise = np.random.default_rng(seed).standard_normal((32, length, 3, 2))
    noise[:, 1:] *= np.sqrt(1 - correlation**2)
    for at in range(1, length):
        noise[:, at] += correlation * noise[:, at - 1]
    return noise


@pytest.mark.parametrize(
    ("correlation", "times", "may"), [(0.5, 1, True), (0.99, 1, False), (0.99, 15, True), (0.99999, 15, False)]
)
def test_chains_that_stay_where_they_are_will_not_converge(correlation, times, may, seed):
    """Of 400 iterations of which (1 + ρ) / (1 − ρ) are worth one, in each of 32 chains."""
    none = np.empty((32 * 400, 0))
    draws = GroupDraws(
        prevalence=autocorrelated(seed, correlation, 400).reshape(-1, 3, 2),
        confusion=none,
        centre=none,
        spread=none,
        common_rows=None,
        row_spread=none,
        chains=32,
        iterations=400,
        gradients=400,
        acceptance=0.8,
    )
    assert draws.may_converge(times) == may
