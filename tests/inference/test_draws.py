"""What every engine draws with."""

import numpy as np
import pytest
from scipy import stats

from truecount.inference import draws
from truecount.inference.draws import dirichlet, sparse_dirichlet


def test_no_rows_no_draws() -> None:
    """A part of a mixture may happen to get no proposals at all."""
    assert dirichlet(np.random.default_rng(0), np.ones((0, 3)), ()).shape == (0, 3)


def test_tiny_concentrations_still_sum_to_one(seed: int) -> None:
    shares = dirichlet(np.random.default_rng(seed), np.full(4, 1e-4), (200,))
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)


SPARSE = np.array([0.02, 3.0, 0.3, 0.02, 1.0])


def least_p_value(shares: np.ndarray) -> float:
    """Of every entry's marginal, a beta distribution; entries below 1e-15 count as that."""
    rest = SPARSE.sum() - SPARSE
    floor = 1e-15
    chances = []
    for own, a, b in zip(shares.T, SPARSE, rest, strict=True):
        below = stats.beta(a, b).cdf(floor)
        chances.append(stats.binomtest(int((own < floor).sum()), len(own), below).pvalue)
        above = stats.beta(a, b).cdf(own[own >= floor])
        chances.append(stats.kstest((above - below) / (1 - below), "uniform").pvalue)
    return min(chances)


def test_rows_with_empty_cells_are_dirichlet(seed: int) -> None:
    shares = sparse_dirichlet(np.random.default_rng(seed), np.tile(SPARSE, (5000, 4, 1)))
    np.testing.assert_allclose(shares.sum(axis=2), 1, rtol=1e-12)
    assert (shares == 0).mean(axis=(0, 1))[0] == pytest.approx(draws.EMPTY**0.02, abs=0.02)
    assert least_p_value(shares.reshape(-1, 5)) > 1e-5


def test_cells_left_empty_too_often_are_seen(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draws, "EMPTY", 1e-5)
    shares = sparse_dirichlet(np.random.default_rng(seed), np.tile(SPARSE, (20_000, 1)))
    assert least_p_value(shares) < 1e-6
