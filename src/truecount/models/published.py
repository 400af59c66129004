"""Rates that were published with a range, as priors: how many labels such a range is worth."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from truecount import _check
from truecount._types import FloatArray
from truecount._wording import percent
from truecount.errors import InputError

LEAST_LABELS, MOST_LABELS, STEPS = 1e-3, 1e9, 500
"""Sizes among which the one of an interval's width is searched for, in steps of its logarithm."""
MOST_OFF = 0.25
"""Of its width, by which an end of the beta distribution's interval may miss the published one."""
CHECK_RANGE = "Check the numbers, or pass the most likely value and the range: Pert(likely, low, high)"


@dataclass(frozen=True, slots=True)
class Pert:
    """A rate with a most likely value and a range: the beta distribution with the mean and variance of a PERT one.

    The mean is ``(low + 4 · likely + high) / 6``, the variance ``(mean − low) (high − mean) / 7``.

    Examples
    --------
    >>> Pert(0.85, 0.7, 0.95)
    Pert(likely=0.85, low=0.7, high=0.95)
    >>> print(Pert(0.85, 0.7, 0.95))
    most likely 85.0 %, from 70.0 to 95.0 %: worth 60 labels
    """

    likely: float
    low: float
    high: float

    def __post_init__(self) -> None:
        _require_order(self.low, self.likely, self.high, "likely")

    @property
    def shapes(self) -> tuple[float, float]:
        """The beta distribution's: labels that got the output, and that did not."""
        mean = (self.low + 4 * self.likely + self.high) / 6
        variance = (mean - self.low) * (self.high - mean) / 7
        size = mean * (1 - mean) / variance - 1
        return mean * size, (1 - mean) * size

    @property
    def labels(self) -> float:
        """How many labelled items of the class the range is worth."""
        return sum(self.shapes)

    def __str__(self) -> str:
        return f"most likely {percent(self.likely)}, {_worth(self.low, self.high, self.labels)}"


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """A rate with a mean and an interval: the beta distribution whose central interval is as wide.

    Refused where no beta distribution fits: none of this mean is as wide, or its interval lies elsewhere.

    Examples
    --------
    >>> print(MeanInterval(0.9, 0.84, 0.95))
    mean 90.0 %, from 84.0 to 95.0 %: worth 112 labels
    """

    mean: float
    low: float
    high: float
    level: float = 0.95

    def __post_init__(self) -> None:
        _require_order(self.low, self.mean, self.high, "mean")
        _check.level(self.level)
        ends = self._ends(self.labels)
        if max(abs(ends[0] - self.low), abs(ends[1] - self.high)) > MOST_OFF * (self.high - self.low):
            held = f"{percent(float(ends[0])).removesuffix(' %')} to {percent(float(ends[1]))}"
            needed = f"the beta distribution of this mean and width holds {percent(self.level)} from {held}"
            raise InputError("mean", self._found, needed, CHECK_RANGE)

    @property
    def shapes(self) -> tuple[float, float]:
        """The beta distribution's: labels that got the output, and that did not."""
        labels = self.labels
        return self.mean * labels, (1 - self.mean) * labels

    @property
    def labels(self) -> float:
        """How many labelled items of the class the interval is worth.

        Near 0 and 1 small sizes are narrow too, as the mass gathers at one end: the largest size is the answer.
        """
        from scipy.optimize import brentq

        def excess(log_size: float) -> float:
            ends = self._ends(np.exp(log_size))
            return float(ends[1] - ends[0] - (self.high - self.low))

        grid = np.linspace(np.log(LEAST_LABELS), np.log(MOST_LABELS), STEPS)
        ends = self._ends(np.exp(grid)[:, None])
        widths = ends[:, 1] - ends[:, 0]
        wide = np.flatnonzero(widths >= self.high - self.low)
        if not len(wide):
            needed = f"the widest interval of a beta distribution of this mean spans {percent(float(widths.max()))}"
            raise InputError("mean", self._found, needed, CHECK_RANGE)
        if wide[-1] == STEPS - 1:
            needed = f"an interval as narrow is worth more than {MOST_LABELS:,.0f} labels"
            raise InputError("mean", self._found, needed, "Pass the rate as known: Prior.known_confusion(...)")
        return float(np.exp(brentq(excess, grid[wide[-1]], grid[wide[-1] + 1])))

    def _ends(self, size: Any) -> FloatArray:
        """Return the central interval of the beta distribution of this mean, worth so many labels."""
        from scipy.special import betaincinv

        tails = np.array([(1 - self.level) / 2, (1 + self.level) / 2])
        ends: FloatArray = betaincinv(self.mean * size, (1 - self.mean) * size, tails)
        return ends

    @property
    def _found(self) -> str:
        return f"is {percent(self.mean)}, from {percent(self.low).removesuffix(' %')} to {percent(self.high)}"

    def __str__(self) -> str:
        return f"mean {percent(self.mean)}, {_worth(self.low, self.high, self.labels)}"


PublishedRate = Pert | MeanInterval


def published_row(rate: PublishedRate, own: object, outputs: list[object]) -> dict[object, float]:
    """Return the concentration of a class's row by output: `own` is the output that the rate is of.

    Other outputs share the rest evenly.
    """
    right, wrong = rate.shapes
    return {output: right if output == own else wrong / (len(outputs) - 1) for output in outputs}


def _worth(low: float, high: float, labels: float) -> str:
    return f"from {percent(low).removesuffix(' %')} to {percent(high)}: worth {labels:,.0f} labels"


def _require_order(low: float, middle: float, high: float, name: str) -> None:
    are_numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (low, middle, high))
    if not are_numbers or not 0 <= low < middle < high <= 1:
        found = f"is {middle!r:.40} between {low!r:.40} and {high!r:.40}"
        needed = "rates lie between 0 and 1, low below it and high above it"
        raise InputError(name, found, needed, "Write 85 % as 0.85, as in Pert(0.85, 0.7, 0.95)")
