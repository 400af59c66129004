"""Have the chains settled, and how much are their draws worth? The field's own definitions, from arviz-stats."""

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from truecount._types import FloatArray

RHAT_LIMIT, RHAT_SERIOUS, RHAT_MOST = 1.01, 1.05, 1.1
"""R-hat that is wanted, from which on an answer is not to be used as it stands, and beyond which there is none."""
PARETO_K_LIMIT = 0.5
FEWEST_EFFECTIVE = 100


@cache
def _stats() -> Any:
    """Load arviz-stats' array layer: it takes about a second, so only those who ask wait for it."""
    return import_module("arviz_stats.base").array_stats


def by_chain(draws: FloatArray, chains: int) -> FloatArray:
    """Shape (draws, …), chain after chain, becomes (chains, draws of each, …)."""
    return draws.reshape(chains, -1, *draws.shape[1:])


def rhat(draws: FloatArray, chains: int) -> FloatArray:
    """Rank-normalised split R-hat of each class, shape (classes,)."""
    return np.asarray(_stats().rhat(by_chain(draws, chains), chain_axis=0, draw_axis=1))


def effective_by_kind(draws: FloatArray, chains: int) -> dict[str, FloatArray]:
    """Effective numbers of draws of each class, shape (classes,): for its mean, its bulk and its 5 and 95 % quantiles.

    The bulk's is that of ranks, which a rare excursion hardly moves; the mean's feels how far it goes.
    """
    values = by_chain(draws, chains)
    options: dict[str, dict[str, Any]] = {"mean": {}, "bulk": {}, "tail": {"prob": (0.05, 0.95)}}
    return {
        kind: np.asarray(_stats().ess(values, chain_axis=0, draw_axis=1, method=kind, **more))
        for kind, more in options.items()
    }


def effective_draws(draws: FloatArray, chains: int) -> FloatArray:
    """Effective number of draws of each class, the least of its kinds, shape (classes,)."""
    return np.asarray(np.min(list(effective_by_kind(draws, chains).values()), axis=0))


def mcse(draws: FloatArray, chains: int) -> FloatArray:
    """Monte Carlo standard error of each class's mean, shape (classes,)."""
    return np.asarray(_stats().mcse(by_chain(draws, chains), chain_axis=0, draw_axis=1, method="mean"))


def shortest_interval(draws: FloatArray, level: float) -> FloatArray:
    """Shortest interval holding `level` of the draws of each class, shape (classes, 2)."""
    return np.asarray(_stats().hdi(draws, prob=level, axis=0, method="nearest"))


def pareto_k(log_weights: FloatArray) -> float:
    """Tail shape of importance weights: below ½ their mean has a variance."""
    return float(_stats().psislw(-log_weights)[1])


def pareto_smoothed(log_weights: FloatArray) -> tuple[FloatArray, float]:
    """Log-weights whose tail was smoothed, and the tail's shape; above 0.7 they are not to be believed."""
    smoothed, k = _stats().psislw(-log_weights)
    return np.asarray(smoothed), float(k)


def complaint(effective: FloatArray, rhat: FloatArray) -> str | None:
    """Say why chains have not settled; None if they have."""
    if not np.isfinite(rhat).all() or not np.isfinite(effective).all():
        return "the chains are too short to judge"
    if rhat.max() > RHAT_LIMIT:
        return f"chains disagree (R-hat {rhat.max():.3f}, wanted at most {RHAT_LIMIT})"
    if effective.min() < FEWEST_EFFECTIVE:
        return f"only {effective.min():.0f} effective draws (wanted at least {FEWEST_EFFECTIVE})"
    return None
