"""What a drift of the confusion would do to an answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truecount._types import FloatArray, Name
from truecount._wording import percent
from truecount.results.check import value_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A conclusion, and the smallest drift that overturns it.

    Parameters
    ----------
    name, is_above, bound
        The class, and on which side of the bound its whole interval is claimed to lie.
    drift
        The smallest total variation, in every row, at which that no longer holds; 0 where it does not hold anyway, None
        where no drift can change it.
    """

    name: Name
    is_above: bool
    bound: float
    drift: float | None

    @property
    def conclusion(self) -> str:
        """What is claimed."""
        return conclusion_in_words(self.name, self.is_above, self.bound)

    @property
    def is_shown(self) -> bool:
        """Whether the whole interval lies there, without a drift."""
        return self.drift != 0

    @property
    def verdict(self) -> str:
        """What a drift does to it."""
        if self.drift is None:
            return "no drift changes that"
        if not self.drift:
            return "the interval does not show that even without a drift"
        return f"holds unless rows moved by {percent(self.drift)} or more"

    def __str__(self) -> str:
        return f"{self.conclusion}: {self.verdict}."


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sensitivity:
    """Intervals that hold whatever the drift was, within its bound, and posteriors that trust the counts less.

    Parameters
    ----------
    classes
        Their names.
    level
        Of the intervals.
    drift
        Shape (drifts,): total variation that every row of the confusion may have moved.
    interval
        Shape (drifts, classes, 2).
    posteriors
        Draws, shape (draws, classes), by name: ``full``, ``cut`` (rows from the labels alone) and ``tempered``
        (unlabelled items count half).
    claims
        Conclusions, and the drift that each survives.
    """

    classes: tuple[Name, ...]
    level: float
    drift: FloatArray
    interval: FloatArray
    posteriors: Mapping[str, FloatArray]
    claims: tuple[Claim, ...]

    def rows(self) -> tuple[dict[str, Any], ...]:
        """Return plain values: a row for each class of each posterior, then of each drift."""
        tails = [(1 - self.level) / 2, (1 + self.level) / 2]
        ends = {name: np.quantile(draws, tails, axis=0).T for name, draws in self.posteriors.items()}
        ends |= {
            f"drift up to {percent(float(drift))}": interval
            for drift, interval in zip(self.drift, self.interval, strict=True)
        }
        return tuple(
            {"assumed": said, "class": name, "lower": float(lower), "upper": float(upper)}
            for said, interval in ends.items()
            for name, (lower, upper) in zip(self.classes, interval, strict=True)
        )

    def conclusions(self) -> tuple[dict[str, Any], ...]:
        """Return plain values: a row for each conclusion, with the smallest drift that overturns it."""
        return tuple(
            {
                "conclusion": claim.conclusion,
                "shown": claim.is_shown,
                "smallest_drift": claim.drift,
                "verdict": claim.verdict,
            }
            for claim in self.claims
        )

    def __str__(self) -> str:
        return "\n".join([*value_lines(self.rows()), *map(str, self.claims)])

    __repr__ = __str__


def conclusion_in_words(name: Name, is_above: bool, bound: float) -> str:
    """Say what is claimed.

    >>> conclusion_in_words("pass", True, 0.8)
    'pass above 80.0 %'
    """
    return f"{name} {'above' if is_above else 'below'} {percent(bound)}"


def conclusion_of_interval(
    name: Name, is_above: bool, bound: float, interval: tuple[float, float]
) -> dict[str, str | bool]:
    """Return a row for a conclusion that no drift of the confusion could overturn: whether the interval shows it."""
    is_shown = interval[0] > bound if is_above else interval[1] < bound
    verdict = "the interval shows that" if is_shown else "the interval does not show that"
    return {"conclusion": conclusion_in_words(name, is_above, bound), "shown": is_shown, "verdict": verdict}
