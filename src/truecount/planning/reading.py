"""How many items must be read to find so many of each class."""

import numpy as np

from truecount._types import FloatArray

SURE = 0.9
"""Probability of having found enough."""


def items_to_read(wanted: FloatArray, shares: FloatArray, *, sure: float = SURE) -> FloatArray:
    """Return how many items, read at random, hold so many of each class with probability `sure`, class by class.

    Parameters
    ----------
    wanted
        Shape (classes,): how many of each class are wanted.
    shares
        Shape (truths, classes): the share of each class among the items that are read; equally probable truths.
    sure
        Probability of finding as many, averaged over the truths.

    Returns
    -------
    Shape (classes,): whole numbers; infinite for a class that may not occur at all.

    Examples
    --------
    >>> items_to_read(np.array([10.0, 1.0]), np.array([[0.5, 0.05]]))
    array([26., 45.])
    """
    from scipy.special import betainc

    found = np.zeros(len(wanted))
    for place, (number, share) in enumerate(zip(wanted, shares.T, strict=True)):
        if number <= 0:
            continue
        low, high = number - 1, number / max(float(share.mean()), 1e-9)
        while betainc(number, high - number + 1, share).mean() < sure and high < 1e12:
            low, high = high, 2 * high
        while high - low > 0.5:
            middle = (low + high) / 2
            enough = betainc(number, max(np.ceil(middle) - number + 1, 1e-9), share).mean() >= sure
            low, high = (low, middle) if enough else (middle, high)
        found[place] = np.ceil(high) if high < 1e12 else np.inf
    return found
