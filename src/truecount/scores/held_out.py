"""Labelled items that are set aside for choices that look at labels, so that the others can be counted."""

from typing import Any

import numpy as np

from truecount._types import IntArray


def held_out_mask(labels: IntArray, one_in: int, rng: np.random.Generator) -> Any:
    """Shape (items,): True for one in so many items of each class, in an order drawn at random; rounded down.

    >>> held_out_mask(np.array([0, 0, 0, 1]), 2, np.random.default_rng(0)).sum()
    np.int64(1)
    """
    order = rng.permutation(len(labels))
    by_class = order[np.argsort(labels[order], kind="stable")]
    starts = np.searchsorted(labels[by_class], labels[by_class])
    aside = np.zeros(len(labels), bool)
    aside[by_class] = (np.arange(len(labels)) - starts) % one_in == one_in - 1
    return aside
