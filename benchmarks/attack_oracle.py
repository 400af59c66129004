"""Posteriors of the prevalence without chance and without a line of the engines, for problems of any number of outputs.

Given how many of the unlabelled items of each output belong to each class, all is conjugate. The weight of such an
allocation is a product over outputs times a function of the class totals, so the sum over all allocations is a
convolution over outputs: exact, and feasible for two classes with thousands of items, for more with dozens.

With two classes and so many items that the outputs' shares q are known, one row is drawn from its labels and the other
follows from q and a prevalence: a Monte Carlo estimate with an error of its own.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp, xlogy

from truecount.models import Density


@dataclass(frozen=True)
class Moments:
    """Mean and standard deviation of each class's share, and the standard errors of both; shape (classes,).

    `kurtosis` is the fourth central moment over the squared variance.
    """

    mean: np.ndarray
    sd: np.ndarray
    kurtosis: np.ndarray
    mean_error: np.ndarray
    sd_error: np.ndarray


def by_allocations(density: Density) -> Moments:
    """Sum over all allocations; with three classes or more, of a few dozen items."""
    totals = _two_class_totals(density) if density.n_classes == 2 else _totals_of_many(density)
    log_weights = totals.log_weights + _of_totals(density, totals.items)
    weights = np.exp(log_weights - logsumexp(log_weights))
    shapes = density.prevalence + totals.items
    size = shapes[0].sum()
    mean = weights @ shapes / size
    raw, powers = np.ones_like(shapes), []
    for power in range(4):
        raw = raw * (shapes + power) / (size + power)
        powers.append(raw)
    off = powers[0] - mean
    second, third, fourth = _central(powers)
    variance = weights @ (second + off**2)
    tail = weights @ (fourth + 4 * off * third + 6 * off**2 * second + off**4)
    exact = np.zeros(density.n_classes)
    return Moments(mean, np.sqrt(variance), tail / variance**2, exact, exact)


def _central(powers: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Second to fourth central moments from the raw ones of order one to four."""
    one, two, three, four = powers
    third = three - 3 * one * two + 2 * one**3
    return two - one**2, third, four - 4 * one * three + 6 * one**2 * two - 3 * one**4


@dataclass(frozen=True)
class Totals:
    """Items of each class, shape (totals, classes), and the log-weight of all allocations that lead to them."""

    items: np.ndarray
    log_weights: np.ndarray


def _of_totals(density: Density, items: np.ndarray) -> np.ndarray:
    """What depends on the class totals alone: the prior of the prevalence, and the learned rows' normalisers."""
    learned = ~density.is_known
    rows = gammaln(density.rows[learned].sum(axis=1) + items[:, learned]).sum(axis=1)
    return gammaln(density.prevalence + items).sum(axis=1) - rows


def _of_output(density: Density, output: int, items: np.ndarray) -> np.ndarray:
    """Log-weight of giving an output's items to the classes; items of shape (..., classes)."""
    value = -gammaln(items + 1).sum(axis=-1)
    for row in range(density.n_classes):
        if density.is_known[row]:
            value = value + xlogy(items[..., row], density.known[row, output])
        else:
            value = value + gammaln(density.rows[row, output] + items[..., row])
    return value


def _two_class_totals(density: Density) -> Totals:
    counts = density.unlabeled.astype(int)
    logs = np.zeros(1)
    for output, count in enumerate(counts):
        first = np.arange(count + 1)
        logs = _convolved(logs, _of_output(density, output, np.stack([first, count - first], axis=-1)))
    first = np.arange(counts.sum() + 1)
    return Totals(np.stack([first, counts.sum() - first], axis=1), logs)


def _convolved(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Log of the convolution of two sequences given by their logs: nothing underflows."""
    if len(one) < len(other):
        one, other = other, one
    padded = np.pad(one, len(other) - 1, constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, len(other))
    parts = np.array_split(np.arange(len(windows)), -(-len(windows) * len(other) // 1_000_000))
    return np.concatenate([logsumexp(windows[part] + other[::-1], axis=1) for part in parts])


def _totals_of_many(density: Density) -> Totals:
    """Add one output after another; the axes are the items of each class but the last."""
    counts, free = density.unlabeled.astype(int), density.n_classes - 1
    logs = np.full((counts.sum() + 1,) * free, -np.inf)
    logs[(0,) * free], seen = 0.0, 0
    for output, count in enumerate(counts):
        added = np.full_like(logs, -np.inf)
        for given in np.ndindex(*(count + 1,) * free):
            if sum(given) > count:
                continue
            weight = _of_output(density, output, np.array([*given, count - sum(given)]))
            target = added[tuple(slice(each, each + seen + 1) for each in given)]
            np.logaddexp(target, logs[(slice(seen + 1),) * free] + weight, out=target)
        logs, seen = added, seen + count
    items = np.argwhere(np.isfinite(logs))
    return Totals(np.column_stack([items, seen - items.sum(axis=1)]), logs[tuple(items.T)])


def with_known_outputs(density: Density, rng: np.random.Generator, *, draws: int = 200_000) -> Moments:
    """Integrate two classes' posterior given the outputs' shares, as which the unlabelled counts are taken.

    ``p(π, φ₁) ∝ Dir(π; α) Dir(φ₁; rows₁) Dir((q − (1 − π) φ₁)/π; rows₀) π^(1 − K)``. Both orders of the classes are
    used, each where its class is the larger one, so that the power of π stays small; no row may be known. Errors come
    from ten batches.
    """
    batches = [_batch_sums(density, rng, draws // 10) for _ in range(10)]
    top = max(peak for peak, _ in batches)
    sums = np.array([np.exp(peak - top) * values for peak, values in batches])
    without_one = np.array([_from_sums(sums.sum(axis=0) - batch) for batch in sums])
    mean_error, sd_error, _ = 3 * without_one.std(axis=0)
    mean, sd, kurtosis = _from_sums(sums.sum(axis=0))
    alike = (np.full(2, value) for value in (sd, kurtosis, mean_error, sd_error))
    return Moments(np.array([mean, 1 - mean]), *alike)


def _from_sums(sums: np.ndarray) -> np.ndarray:
    """Mean, sd and kurtosis from sums of weights times powers of the share."""
    powers = list(sums[1:] / sums[0])
    second, _, fourth = _central(powers)
    second = max(second, 1e-30)
    return np.array([powers[0], np.sqrt(second), fourth / second**2])


def _batch_sums(density: Density, rng: np.random.Generator, draws: int) -> tuple[float, np.ndarray]:
    """Return a peak, and over its exponential the sums of weights times powers 0 to 4 of class 0's share."""
    logs, shares = zip(*(_half(density, larger, rng, draws) for larger in (0, 1)), strict=True)
    log_weights, share = np.concatenate(logs), np.concatenate(shares)
    if not len(log_weights):
        return -np.inf, np.zeros(5)
    peak = log_weights.max()
    weights = np.exp(log_weights - peak)
    return peak, weights @ share[:, None] ** np.arange(5)


def _half(density: Density, larger: int, rng: np.random.Generator, draws: int) -> tuple[np.ndarray, np.ndarray]:
    """Log-weights and shares of class 0 where class `larger` holds at least half.

    One half of the draws takes the smaller class's row from its labels and solves for the larger class's, the other
    half the other way round; weighted by the density of both halves together, none weighs much where labels contradict
    the outputs.
    """
    smaller, outputs = 1 - larger, density.unlabeled / density.unlabeled.sum()
    rest = 10 ** rng.uniform(-9, np.log10(0.5), draws)
    ratio = (rest / (1 - rest))[:, None]
    row = rng.dirichlet(density.rows[smaller], draws)
    other = rng.dirichlet(density.rows[larger], draws)
    is_solved = (np.arange(draws) % 2 == 0)[:, None]
    row = np.where(is_solved, row, outputs / rest[:, None] - other / ratio)
    other = np.where(is_solved, outputs / (1 - rest[:, None]) - row * ratio, other)
    inside = np.flatnonzero((row > 0).all(axis=1) & (other > 0).all(axis=1))
    rest, ratio = rest[inside], ratio[inside, 0]
    of_row, of_other = (
        _log_dirichlet(density.rows[smaller], row[inside]),
        _log_dirichlet(density.rows[larger], other[inside]),
    )
    proposed = np.logaddexp(of_row, of_other + (len(outputs) - 1) * np.log(ratio)) - np.log(2)
    prior = (density.prevalence[larger] - 1) * np.log1p(-rest) + density.prevalence[smaller] * np.log(rest)
    log_weights = prior + of_row + of_other - proposed - (len(outputs) - 1) * np.log1p(-rest)
    return log_weights, rest if smaller == 0 else 1 - rest


def _log_dirichlet(shapes: np.ndarray, shares: np.ndarray) -> np.ndarray:
    return np.log(shares) @ (shapes - 1) + gammaln(shapes.sum()) - gammaln(shapes).sum()
