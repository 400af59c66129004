"""Weighted draws become equally weighted ones, and what they are worth is known."""

import numpy as np

from truecount._types import FloatArray, IntArray


def effective_share(weights: FloatArray) -> float:
    """Kish's effective size over the number of draws."""
    return float(1 / (weights**2).sum() / len(weights))


def resample(weights: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Pick `size` draws, each as often as its weight says, rounded up or down (systematic resampling)."""
    return pick(np.cumsum(weights), size, rng)


def pick(sums: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Resample by the sums of the weights so far."""
    chosen = np.searchsorted(sums, (np.arange(size) + rng.random()) / size)
    return np.minimum(chosen, len(sums) - 1)


def effective_draws(values: FloatArray, weights: FloatArray, size: IntArray) -> FloatArray:
    """Effective number of draws resampled from weighted pools, for each class of each problem.

    The variance of a mean has two parts: that of the weighted pool, ``Σ w² (x − μ)²``, and that of rounding
    ``size · w`` up or down, ``Σ f (1 − f) (x − μ)² / size²`` with the fraction ``f`` left over.

    Parameters
    ----------
    values
        Shape (classes, problems, draws).
    weights
        Shape (problems, draws); each row sums to one.
    size
        Shape (problems,): how many are resampled.
    """
    squares = values - np.vecdot(values, weights)[..., None]
    squares *= squares
    fraction = size[:, None] * weights
    fraction -= np.floor(fraction)
    noise = np.vecdot(squares, weights**2 + fraction * (1 - fraction) / size[:, None] ** 2)
    variance = np.vecdot(squares, weights)
    effective: FloatArray = np.divide(variance, noise, out=np.zeros_like(noise) + size, where=noise > 0)
    return effective


def draws_needed(values: FloatArray, weights: FloatArray, size: int, asked: int) -> tuple[int, FloatArray]:
    """How many draws, `size` or more, make so many as `asked` effective, and the effective number that comes of it.

    A pool that is worth less than what is asked for ends the search at eight times as many.

    Parameters
    ----------
    values
        Shape (draws, classes).
    weights
        Shape (draws,); they sum to one.
    size, asked
        Draws, and their effective sample size.
    """
    sizes, effective = all_draws_needed(values.T[:, None], weights[None], size, asked)
    return int(sizes[0]), effective[:, 0]


def all_draws_needed(values: FloatArray, weights: FloatArray, size: int, asked: int) -> tuple[IntArray, FloatArray]:
    """Return what `draws_needed` does for many problems: shapes (problems,) and (classes, problems).

    `values` and `weights` are those of `effective_draws`.
    """
    sizes = np.full(len(weights), size)
    effective = effective_draws(values, weights, sizes)
    while len(short := np.flatnonzero((np.round(effective.min(axis=0)) < asked) & (sizes < 8 * asked))):
        sizes[short] = 1.02 * sizes[short] * asked / effective[:, short].min(axis=0) + 1
        effective[:, short] = effective_draws(values[:, short], weights[short], sizes[short])
    return sizes, effective
