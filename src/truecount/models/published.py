"""Rates that were published with a range, as priors: how many labels such a range is worth."""

from dataclasses import dataclass

import numpy as np

from truecount import _check
from truecount._wording import percent
from truecount.errors import InputError

MOST_LABELS = 1e9


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

    @property
    def shapes(self) -> tuple[float, float]:
        """The beta distribution's: labels that got the output, and that did not."""
        return self.mean * self.labels, (1 - self.mean) * self.labels

    @property
    def labels(self) -> float:
        """How many labelled items of the class the interval is worth."""
        from scipy.optimize import brentq
        from scipy.special import betaincinv

        tails = np.array([(1 - self.level) / 2, (1 + self.level) / 2])

        def excess(log_size: float) -> float:
            size = np.exp(log_size)
            ends = betaincinv(self.mean * size, (1 - self.mean) * size, tails)
            return float(ends[1] - ends[0] - (self.high - self.low))

        least = np.log(1 / min(self.mean, 1 - self.mean))
        if excess(least) < 0:
            return float(np.exp(least))
        return float(np.exp(brentq(excess, least, np.log(MOST_LABELS))))

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
