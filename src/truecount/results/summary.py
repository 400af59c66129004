"""The numbers of an answer, class by class: tables, JSON, CSV, pages, pictures and sentences are made from them."""

from dataclasses import dataclass, replace
from math import ceil, log10
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from truecount._advice import Advice, keyword
from truecount._types import FloatArray, Name
from truecount.counts import Counts
from truecount.errors import InputError
from truecount.inference import convergence

if TYPE_CHECKING:
    from truecount.results.posterior import Posterior

Kind: TypeAlias = Literal["equal-tailed", "hdi"]
Target: TypeAlias = Literal["population", "realized"]
INTERVAL_NAMES = {"equal-tailed": "interval", "hdi": "shortest interval"}
MOST_DECIMALS = 8
MOST_ROWS, SHOWN = 40, 30
"""Classes up to which each has a row in a table or a picture, and how many of more have."""


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


def folded_summary(
    posterior: "Posterior", *, level: float, kind: Kind, target: Target
) -> tuple[Summary, tuple[int, ...]]:
    """Return the summary with the classes that are shown, and where each stands; of many, the largest and the others.

    The last row of a summary that was folded is of all other classes together, whose draws are added up.
    """
    summary = posterior.summary(level, kind=kind, target=target)
    number = len(summary.classes)
    if number <= MOST_ROWS or not posterior.has_answer:
        return summary, tuple(range(number))
    order = np.argsort(-summary.mean, kind="stable")
    shown, others = order[:SHOWN], order[SHOWN:]
    together = posterior.shares(target)[:, others].sum(axis=1)

    def rows(values: FloatArray | None, last: FloatArray | float) -> FloatArray | None:
        return None if values is None else np.concatenate([values[shown], np.atleast_1d(last)])

    sd, effective = float(together.std(ddof=1)), float(summary.effective_draws[others].min())
    interval = np.clip(interval_of(together[:, None], level, kind), 0.0, 1.0)
    folded = {
        "counted": rows(summary.counted, 0.0 if summary.counted is None else float(summary.counted[others].sum())),
        "mean": rows(summary.mean, float(together.mean())),
        "median": rows(summary.median, float(np.median(together))),
        "sd": rows(summary.sd, sd),
        "interval": np.vstack([summary.interval[shown], interval]),
        "effective_draws": rows(summary.effective_draws, effective),
        "mcse": rows(summary.mcse, sd / np.sqrt(effective)),
        "rhat": rows(summary.rhat, np.nan if summary.rhat is None else float(np.max(summary.rhat[others]))),
    }
    names = (*(summary.classes[place] for place in shown), f"{len(others)} others")
    return replace(summary, classes=names, **folded), (*map(int, shown), number)  # type: ignore[arg-type]


def fold_note(number: int, shown: int) -> str:
    """Say below a table that not every class has a row, and where all of them are; nothing where each has.

    >>> fold_note(200, 31)
    'The 30 largest of 200 classes are shown, and the others together; JSON, CSV and to_frame() have all.'
    """
    if shown >= number:
        return ""
    largest = f"The {shown - 1} largest of {number} classes are shown, and the others together"
    return f"{largest}; JSON, CSV and to_frame() have all."
