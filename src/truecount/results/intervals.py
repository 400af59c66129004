"""Intervals of draws, and which counts have shares of their own items."""

from typing import Literal, TypeAlias

import numpy as np

from truecount._types import FloatArray
from truecount.counts import Counts
from truecount.errors import InputError
from truecount.inference import convergence

Kind: TypeAlias = Literal["equal-tailed", "hdi"]
Target: TypeAlias = Literal["population", "realized"]


def interval_of(draws: FloatArray, level: float, kind: Kind) -> FloatArray:
    """Return the interval that holds `level` of the draws, column by column, shape (columns, 2)."""
    if kind == "hdi":
        return convergence.shortest_interval(draws, level)
    return np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0).T


def require_realizable(counts: Counts) -> None:
    """Refuse counts whose items cannot be sorted one by one."""
    if counts.is_weighted or not counts.unlabeled.sum():
        needed = "the share among these items needs whole, non-zero unlabelled counts"
        raise InputError("target", "is 'realized'", needed, "Ask for target='population'")
