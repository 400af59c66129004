"""Diagnostics: the field's definitions, asked in the right way."""

import numpy as np
import pytest

from truecount.inference import convergence


def test_independent_draws_are_all_effective(seed):
    draws = np.random.default_rng(seed).random((4000, 2))
    assert np.all(convergence.rhat(draws, 4) < 1.01)
    assert np.all(np.abs(convergence.effective_draws(draws, 4) / 4000 - 1) < 0.2)


def test_chains_in_different_places_are_seen(seed):
    draws = np.random.default_rng(seed).random((400, 1))
    draws[:100] += 1
    assert convergence.rhat(draws, 4)[0] > 1.1
    assert convergence.effective_draws(draws, 4)[0] < 40


@pytest.mark.parametrize(("k", "low", "high"), [(0.2, 0.0, 0.4), (0.5, 0.35, 0.65), (1.0, 0.8, 1.2)])
def test_pareto_k_is_that_of_the_weights_tail(k, low, high, seed):
    """Weights u^(−k) have tail shape k."""
    log_weights = -k * np.log(np.random.default_rng(seed).random(50_000))
    assert low < convergence.pareto_k(log_weights) < high


def test_shortest_interval_of_a_skewed_sample_starts_at_its_peak(seed):
    draws = np.random.default_rng(seed).exponential(size=(50_000, 1))
    low, high = convergence.shortest_interval(draws, 0.9)[0]
    assert low < 0.01
    assert abs(high - np.log(10)) < 0.1


def slow_chains(seed, *, values=20, length=400):
    """Thirty-two stationary chains whose neighbours correlate by 0.7, shape (32, length, values)."""
    noise = np.random.default_rng(seed).standard_normal((32, length, values))
    noise[:, 1:] *= np.sqrt(1 - 0.7**2)
    for at in range(1, length):
        noise[:, at] += 0.7 * noise[:, at - 1]
    return noise


def test_chains_that_never_move_do_not_vouch_for_each_other(seed):
    chains = slow_chains(seed)
    chains[[5, 9], :, 0] = 1.0
    assert np.isinf(convergence.rhat_of_many_chains(chains.reshape(-1, 20), 32)[0])


@pytest.mark.parametrize("offset", [2.0, 3.0, 5.0, "stuck"])
def test_one_stray_chain_among_many_is_seen(offset, seed):
    """The chain moves off, or never leaves where it begins; R-hat of the other values stays what it was."""
    chains = slow_chains(seed)
    before = convergence.rhat_of_many_chains(chains.reshape(-1, 20), 32)
    if offset == "stuck":
        chains[5, :, 0] = chains[5, 0, 0]
    else:
        chains[5, :, 0] += offset
    found = convergence.rhat_of_many_chains(chains.reshape(-1, 20), 32)
    assert before.max() < convergence.RHAT_LIMIT < found[0]
    np.testing.assert_array_equal(found[1:], before[1:])


def test_many_chains_that_are_alike_have_no_stray_one(seed):
    """Of 500 values of short chains, each of about eighteen effective draws, none is mistaken."""
    draws = slow_chains(seed, values=500, length=100).reshape(-1, 500)
    np.testing.assert_array_equal(convergence.rhat_of_many_chains(draws, 32), convergence.rhat_of_many_chains(draws, 4))


@pytest.mark.parametrize("share", [0.75, 0.999])
def test_draws_that_are_equal_count_alike_whatever_chain_they_are_of(share, seed):
    """Most draws are the same number, in some chains all of them."""
    chains = slow_chains(seed)
    chains[np.random.default_rng([seed, 1]).random(chains.shape) < share] = 1.0
    assert (np.ptp(chains, axis=1) == 0).any() == (share > 0.99)
    assert convergence.rhat_of_many_chains(chains.reshape(-1, 20), 32).max() < convergence.RHAT_LIMIT


def test_parts_of_the_values_are_looked_at_as_all_of_them(seed, monkeypatch):
    chains = slow_chains(seed)
    chains[5] += np.linspace(0.5, 1.2, 20)  # with some of them a chain is just not stray
    draws = chains.reshape(-1, 20)
    whole = convergence.rhat_of_many_chains(draws, 32)
    monkeypatch.setattr(convergence, "AT_ONCE", 1)
    np.testing.assert_allclose(convergence.rhat_of_many_chains(draws, 32), whole, rtol=1e-12)


def test_complaints():
    good, few = np.full(2, 4000.0), np.array([50.0, 4000.0])
    assert convergence.complaint(good, np.full(2, 1.0)) is None
    assert "R-hat 1.200" in str(convergence.complaint(good, np.array([1.0, 1.2])))
    assert "an effective sample size of only 50" in str(convergence.complaint(few, np.full(2, 1.0)))
    assert "too short" in str(convergence.complaint(good, np.array([1.0, np.nan])))


def test_the_error_of_interval_ends_is_what_other_draws_show(seed: int) -> None:
    """Of normal draws, and of log-normal ones whose upper tail is heavy; that of the mean would be another."""
    rng = np.random.default_rng(seed)
    for make in (np.asarray, lambda values: np.exp(2 * values)):
        sets = make(rng.standard_normal((4000, 300)))
        told = convergence.interval_end_error(sets, 4, 0.95)
        seen = np.quantile(sets, [0.025, 0.975], axis=0).std(axis=1, ddof=1)
        assert np.median(told, axis=0) == pytest.approx(seen, rel=0.1 + 5 / np.sqrt(2 * 300))


def test_an_end_that_is_the_largest_of_many_equal_draws_has_no_error() -> None:
    draws = np.ones((400, 2))
    draws[:80] = np.linspace(0, 0.5, 160).reshape(80, 2)
    assert (convergence.interval_end_error(draws, 4, 0.95)[:, 1] == 0).all()
