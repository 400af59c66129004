"""Have the chains converged, and how much are their draws worth? The field's own definitions, from arviz-stats."""

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from truecount._types import BoolArray, FloatArray

RHAT_LIMIT, RHAT_SERIOUS, RHAT_MOST = 1.01, 1.05, 1.1
"""R-hat that is wanted, from which on an answer is not to be used as it stands, and beyond which there is none."""
PARETO_K_LIMIT = 0.5
FEWEST_EFFECTIVE = 100
LONG_CHAINS = 4
"""To which many chains are joined for R-hat."""
FALSE_ALARMS = 1e-5
"""How often chains that are alike are said to have a stray one among them."""
AT_ONCE = 500_000
"""Numbers of which the fast functions look at once, so that many values fit in memory."""


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


def rhat_of_many_chains(draws: FloatArray, chains: int) -> FloatArray:
    """Split R-hat of many values by ranks, not folded; many short chains are joined to four long ones; shape (values,).

    With M half-chains and n effective draws R-hat is about ``1 + M / 2n`` however well chains mix; thirty-two chains
    would need thousands of effective draws to come below 1.01. One chain apart from the others hardly moves the mean of
    its quarter: where one lies farther from the others than chance allows, R-hat is that of all chains, unjoined. Where
    a chain never moved from where no other chain was, it is infinite.
    """
    if chains <= LONG_CHAINS or chains % LONG_CHAINS != 0:
        return _in_parts(_rhat_of_part, draws, chains)
    return _in_parts(partial(_rhat_of_many_of_part, values=draws.shape[1]), draws, chains)


def effective_fast(draws: FloatArray, chains: int) -> FloatArray:
    """Effective number of draws for the means of many values at once, shape (values,), by Geyer's positive sequence."""
    return _in_parts(_effective_of_part, draws, chains)


def _in_parts(function: Callable[[FloatArray, int], FloatArray], draws: FloatArray, chains: int) -> FloatArray:
    """Apply a function of (draws, values) to some values after the others."""
    width = max(1, AT_ONCE // len(draws))
    parts = [function(draws[:, at : at + width], chains) for at in range(0, draws.shape[1], width)]
    return np.concatenate(parts) if parts else np.empty(0)


def _rhat_of_part(draws: FloatArray, chains: int) -> FloatArray:
    return _split_rhat(_normal_scores(draws, chains))


def _rhat_of_many_of_part(draws: FloatArray, chains: int, *, values: int) -> FloatArray:
    scores = _normal_scores(draws, chains)
    found = _split_rhat(scores.reshape(LONG_CHAINS, -1, scores.shape[2]))
    strays = _has_stray(scores.mean(axis=1), values)
    found[strays] = np.maximum(found[strays], _split_rhat(scores[:, :, strays]))
    found[_has_stuck(by_chain(draws, chains))] = np.inf
    return found


def _has_stuck(values: FloatArray) -> BoolArray:
    """Whether some chain stayed where none that moved has been, shape (chains, draws of each, values) to (values,).

    Where one came by, the value has probability, as a share of 1 does to which the rest of a row adds less than digits
    hold.
    """
    result = np.zeros(values.shape[2], bool)
    has_moved = np.ptp(values, axis=1) > 0
    for chain, value in np.argwhere(~has_moved):
        was_here = (values[:, :, value] == values[chain, 0, value]).any(axis=1)
        result[value] |= not (was_here & has_moved[:, value]).any()
    return result


def _normal_scores(draws: FloatArray, chains: int) -> FloatArray:
    """Return the normal score of each draw's rank among those of all chains, shape (chains, draws of each, values).

    Equal draws have the mean of their ranks. Else their order in memory would count, which is that of the chains.
    """
    from scipy.special import ndtri

    order = draws.argsort(axis=0)
    ascending = np.take_along_axis(draws, order, axis=0)
    differs, end = ascending[1:] != ascending[:-1], np.ones((1, draws.shape[1]), bool)
    place = np.arange(len(draws))[:, None]
    first = np.maximum.accumulate(np.where(np.concatenate([end, differs]), place, 0), axis=0)
    last = np.where(np.concatenate([differs, end]), place, len(draws))
    last = np.minimum.accumulate(last[::-1], axis=0)[::-1]
    ranks = np.empty(draws.shape)
    np.put_along_axis(ranks, order, (first + last) / 2, axis=0)
    return by_chain(ndtri((ranks + 0.625) / (len(draws) + 0.25)), chains)


def _split_rhat(scores: FloatArray) -> FloatArray:
    half = scores.shape[1] // 2
    halves = np.concatenate([scores[:, :half], scores[:, -half:]])
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    result: FloatArray = np.sqrt((half - 1) / half + between / within)
    return result


def _has_stray(means: FloatArray, values: int) -> BoolArray:
    """Whether the mean of some chain lies apart from those of the others, shape (chains, part) to (part,).

    Its distance from their mean over its standard error by their variance follows Student's t if chains are alike,
    however slowly they mix. False alarms are shared out among all chains and values, of which these are a part.
    """
    from scipy.special import stdtrit

    chains = len(means)
    distance = np.abs(means - means.mean(axis=0)) * chains / (chains - 1)
    squares = means.var(axis=0) * chains - distance**2 * (chains - 1) / chains
    error = np.sqrt(squares / (chains - 2) * chains / (chains - 1))
    bound = -stdtrit(chains - 2, FALSE_ALARMS / (2 * chains * max(values, 1)))
    result: BoolArray = (distance > bound * error).any(axis=0)
    return result


def _effective_of_part(draws: FloatArray, chains: int) -> FloatArray:
    values = by_chain(draws, chains)
    length = values.shape[1]
    centred = values - values.mean(axis=1, keepdims=True)
    spectrum = np.fft.rfft(centred, n=2 * length, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, axis=1)[:, :length].mean(axis=0) / length
    within = covariance[0] * length / (length - 1)
    total = within * (length - 1) / length + (values.mean(axis=1).var(axis=0, ddof=1) if chains > 1 else 0.0)
    correlation = 1 - (within - covariance) / total
    correlation[0] = 1.0
    even = length // 2 * 2
    pairs = correlation[:even].reshape(-1, 2, draws.shape[1]).sum(axis=1)
    pairs = np.minimum.accumulate(np.where(np.cumsum(pairs <= 0, axis=0) > 0, 0.0, pairs), axis=0)
    time = np.maximum(2 * pairs.sum(axis=0) - 1, 1 / np.log10(len(draws)))
    result: FloatArray = len(draws) / time
    return result


def interval_end_error(draws: FloatArray, chains: int, level: float) -> FloatArray:
    """Monte Carlo standard errors of the ends of equal-tailed intervals, shape (values, 2), by order statistics.

    A share p of the draws lies below an end, give or take ``√(p (1 − p) / ESS)``; the quantiles that far on both sides
    are two standard errors apart. ESS is that of the share below, and at most that of the mean.
    """
    effective, result = effective_fast(draws, chains), np.empty((draws.shape[1], 2))
    for side, share in enumerate(((1 - level) / 2, (1 + level) / 2)):
        below = (draws <= np.quantile(draws, share, axis=0)).astype(np.float64)
        varies, worth = (
            np.ptp(below, axis=0) > 0,
            effective.copy(),
        )  # not where the end is the largest of many equal draws
        worth[varies] = np.fmin(effective[varies], effective_fast(below[:, varies], chains))
        away = np.sqrt(share * (1 - share) / np.maximum(worth, 1.0))
        for value, own in enumerate(away):
            near = np.quantile(draws[:, value], [max(share - own, 0.0), min(share + own, 1.0)])
            result[value, side] = (near[1] - near[0]) / 2
    return result


def shortest_interval(draws: FloatArray, level: float) -> FloatArray:
    """Shortest interval holding `level` of the draws of each class, shape (classes, 2)."""
    return np.asarray(_stats().hdi(draws, prob=level, axis=0, method="nearest"))


def pareto_k(log_weights: FloatArray) -> float:
    """Tail shape of importance weights: below ½ their mean has a variance."""
    return float(_stats().psislw(-log_weights)[1])


def pareto_smoothed(log_weights: FloatArray) -> tuple[FloatArray, float]:
    """Log-weights whose tail was smoothed, and the tail's shape; above 0.7 they are unreliable."""
    smoothed, k = _stats().psislw(-log_weights)
    return np.asarray(smoothed), float(k)


def complaint(effective: FloatArray, rhat: FloatArray) -> str | None:
    """Say why chains have not converged; None if they have."""
    if not np.isfinite(rhat).all() or not np.isfinite(effective).all():
        return "the chains are too short to judge"
    if rhat.max() > RHAT_LIMIT:
        return f"chains disagree (R-hat {rhat.max():.3f}, wanted at most {RHAT_LIMIT})"
    if effective.min() < FEWEST_EFFECTIVE:
        return f"an effective sample size of only {effective.min():.0f} (wanted at least {FEWEST_EFFECTIVE})"
    return None
