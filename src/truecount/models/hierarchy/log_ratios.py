"""Shares and spreads in unbounded coordinates."""

import numpy as np

from truecount._log_sum import finite_log
from truecount._types import FloatArray

SMALLEST_SPREAD = 1e-6


def log_ratio_basis(n_classes: int) -> FloatArray:
    """Return the map from log-ratios to logarithms of shares, shape (classes, classes − 1).

    The log-ratios are isometric ones times √2, so that for two classes the one log-ratio is the logit of the first.

    >>> log_ratio_basis(2)
    array([[ 0.5],
           [-0.5]])
    """
    basis = np.zeros((n_classes, n_classes - 1))
    for column in range(n_classes - 1):
        basis[: column + 1, column] = 1 / (column + 1)
        basis[column + 1, column] = -1
        basis[:, column] *= np.sqrt((column + 1) / (column + 2) / 2)
    return basis


def shares_of(basis: FloatArray, log_ratios: FloatArray) -> FloatArray:
    """Return the softmax of ``basis · log_ratios`` along the last axis but one, shape (…, classes, groups)."""
    shares: FloatArray = np.matmul(basis, log_ratios)
    shares -= shares.max(axis=-2, keepdims=True)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=-2, keepdims=True)
    return shares


def rows_around(rows: FloatArray, spread: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw one row around each of `rows`, shape (…, outputs), whose log-ratios vary with its `spread`, shape (…)."""
    basis = log_ratio_basis(rows.shape[-1])
    step = spread[..., None] * rng.standard_normal((*spread.shape, basis.shape[1]))
    return shares_of(np.eye(len(basis)), (finite_log(rows) + step @ basis.T)[..., None])[..., 0]


def half_normal(scores: FloatArray, scale: float | FloatArray) -> FloatArray:
    """Return spreads whose half-normal prior of this scale makes their `scores` standard normal."""
    from scipy.special import ndtr, ndtri

    return np.asarray(np.maximum(-scale * ndtri(0.5 * ndtr(-scores)), SMALLEST_SPREAD))


def half_normal_slope(scores: FloatArray, spread: FloatArray, scale: float | FloatArray) -> FloatArray:
    """Return the derivative of `half_normal`."""
    standard = spread / scale
    slope: FloatArray = scale * 0.5 * np.exp(-0.5 * (scores * scores - standard * standard))
    return slope
