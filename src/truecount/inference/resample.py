"""Weighted draws become equally weighted ones, and what they are worth is known."""

import numpy as np

from truecount._types import FloatArray, IntArray


def normalised(log_weights: FloatArray) -> FloatArray:
    """Weights that sum to one."""
    weights = np.exp(log_weights - log_weights.max())
    total: FloatArray = weights / weights.sum()
    return total


def effective_share(weights: FloatArray) -> float:
    """Kish's effective size over the number of draws."""
    return float(1 / (weights**2).sum() / len(weights))


def resample(weights: FloatArray, size: int, rng: np.random.Generator) -> IntArray:
    """Pick `size` draws, each as often as its weight says, rounded up or down (systematic resampling)."""
    ticks = (np.arange(size) + rng.random()) / size
    chosen = np.searchsorted(np.cumsum(weights), ticks)
    return np.minimum(chosen, len(weights) - 1)


def effective_draws(values: FloatArray, weights: FloatArray, size: int) -> FloatArray:
    """Effective number of `size` draws resampled from a weighted pool, for each column of `values`.

    The variance of a mean has two parts: that of the weighted pool, ``Σ w² (x − μ)²``, and that of rounding
    ``size · w`` up or down, ``Σ f (1 − f) (x − μ)² / size²`` with the fraction ``f`` left over.
    """
    mean = weights @ values
    squares = (values - mean) ** 2
    fraction = size * weights % 1.0
    noise = (weights**2 + fraction * (1 - fraction) / size**2) @ squares
    variance = weights @ squares
    effective: FloatArray = np.divide(variance, noise, out=np.full(len(mean), float(size)), where=noise > 0)
    return effective


def draws_needed(values: FloatArray, weights: FloatArray, size: int, asked: int) -> tuple[int, FloatArray]:
    """How many draws, `size` or more, make so many as `asked` effective, and the effective number that comes of it.

    A pool that is worth less than what is asked for ends the search at eight times as many.
    """
    effective = effective_draws(values, weights, size)
    while round(effective.min()) < asked and size < 8 * asked:
        size = int(1.02 * size * asked / effective.min()) + 1
        effective = effective_draws(values, weights, size)
    return size, effective
