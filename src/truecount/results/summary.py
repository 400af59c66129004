"""The numbers of an answer, class by class: tables, JSON, CSV, pages, pictures and sentences are made from them."""

from dataclasses import dataclass
from math import ceil, log10
from typing import Any, Literal, TypeAlias

import numpy as np

from truecount._advice import Advice, keyword
from truecount._types import FloatArray, Name
from truecount.counts import Counts
from truecount.errors import InputError
from truecount.inference import convergence

Kind: TypeAlias = Literal["equal-tailed", "hdi"]
Target: TypeAlias = Literal["population", "realized"]
INTERVAL_NAMES = {"equal-tailed": "interval", "hdi": "shortest interval"}
MOST_DECIMALS = 8


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Summary:
    """What an answer says of each class, in numbers; arrays have shape (classes,).

    Parameters
    ----------
    classes
        Their names.
    level, kind, target
        Of the interval, as in `Posterior.interval`.
    counted
        The share by plain counting; None where outputs are not the classes.
    mean, median, sd
        Of the posterior. Without an answer, all that is read off the draws is NaN.
    interval
        Shape (classes, 2): lower and upper end.
    effective_draws, mcse
        Effective sample size, and Monte Carlo standard error of the mean.
    rhat
        None for independent draws.
    """

    classes: tuple[Name, ...]
    level: float
    kind: Kind
    target: Target
    counted: FloatArray | None
    mean: FloatArray
    median: FloatArray
    sd: FloatArray
    interval: FloatArray
    effective_draws: FloatArray
    mcse: FloatArray
    rhat: FloatArray | None

    @property
    def interval_name(self) -> str:
        """What the interval is called above a column and in a sentence."""
        return interval_name(self.level, self.kind)

    @property
    def decimals(self) -> int:
        """As many decimals of a percentage as leave two digits to the narrowest interval that has a width."""
        widths = 100 * (self.interval[:, 1] - self.interval[:, 0])
        narrowest = min(widths[widths > 1e-9], default=100.0)
        return min(max(1, ceil(1 - log10(narrowest))), MOST_DECIMALS)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row of plain values for each class, as JSON and CSV have them."""
        empty = [None] * len(self.classes)
        columns = {
            "class": self.classes,
            "counted": empty if self.counted is None else self.counted,
            "mean": self.mean,
            "median": self.median,
            "sd": self.sd,
            "lower": self.interval[:, 0],
            "upper": self.interval[:, 1],
            "effective_draws": self.effective_draws,
            "rhat": empty if self.rhat is None else self.rhat,
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def interval_name(level: float, kind: Kind) -> str:
    """Return what an interval is called.

    >>> interval_name(0.95, "hdi")
    '95 % shortest interval'
    """
    return f"{100 * level:.6g} % {INTERVAL_NAMES[kind]}"


def interval_of(draws: FloatArray, level: float, kind: str = "equal-tailed") -> FloatArray:
    """Return the interval that holds `level` of the draws along the first axis, shape (…, 2)."""
    if kind == "hdi":
        flat = convergence.shortest_interval(draws.reshape(len(draws), -1), level)
        return flat.reshape(*draws.shape[1:], 2)
    return np.moveaxis(np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0), 0, -1)


def require_realizable(counts: Counts) -> None:
    """Refuse counts whose items cannot be sorted one by one."""
    if counts.is_weighted or not counts.unlabeled.sum():
        needed = "the share among these items needs whole, non-zero unlabelled counts"
        raise InputError("target", "is 'realized'", needed, Advice("Ask for {}", keyword("target", "population")))
