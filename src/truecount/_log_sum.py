"""Numbers by their logarithms: sums, shares, and a logarithm that is never infinite."""

import numpy as np

from truecount._types import FloatArray

SMALLEST = 1e-300
"""What a share of zero is taken for where it divides or has a logarithm: times no items, that is zero still."""


def finite_log(numbers: FloatArray) -> FloatArray:
    """Return the logarithms of numbers that are not negative, where one below `SMALLEST` is taken for that.

    >>> finite_log(np.array([0.0, 1.0])).round(1)
    array([-690.8,    0. ])
    """
    return np.asarray(np.log(np.maximum(numbers, SMALLEST)))


def log_sum(logs: FloatArray, *, axis: int) -> FloatArray:
    """Return ``log Σ exp(logs)`` along an axis, which keeps length 1; several times as fast as ``logaddexp.reduce``.

    Some number along the axis must be finite.
    """
    top = logs.max(axis=axis, keepdims=True)
    return np.asarray(top + np.log(np.exp(logs - top).sum(axis=axis, keepdims=True)))


def softmax(logs: FloatArray, *, axis: int = -1) -> FloatArray:
    """Return shares in proportion to ``exp(logs)``, which sum to one along an axis.

    >>> softmax(np.log([[1.0, 3.0]]))
    array([[0.25, 0.75]])
    """
    shares: FloatArray = np.exp(logs - logs.max(axis=axis, keepdims=True))
    shares /= shares.sum(axis=axis, keepdims=True)
    return shares
