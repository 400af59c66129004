"""A sentence of the paper beside what was measured."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

ERRORS = 3.0
"""Standard errors between what is measured and what would speak against a claim."""


@dataclass(frozen=True)
class Claim:
    """What the paper says, what was measured, and whether it holds.

    Parameters
    ----------
    where
        The section, and the panel or paragraph in it.
    says
        The claim, in few words.
    measured
        The figures behind the verdict.
    holds
        The verdict.
    expected
        The verdict on record, where it is not that the claim holds.
    is_main
        Whether the quick run asserts the verdict on record.
    """

    where: str
    says: str
    measured: str
    holds: bool
    expected: bool = True
    is_main: bool = False

    @property
    def is_broken(self) -> bool:
        """Whether the quick run must fail: a main claim has another verdict than the one on record."""
        return self.is_main and self.holds != self.expected


@dataclass(frozen=True)
class Measured:
    """A mean over repetitions and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        digits = 3 if self.error == 0 else int(np.clip(1 - np.floor(np.log10(self.error)), 1, 6))
        return f"{self.value:.{digits}f} ± {self.error:.{digits}f}"

    def is_above(self, bound: float = 0.0) -> bool:
        """Whether the mean lies above `bound` by more than chance."""
        return self.value - ERRORS * self.error > bound

    def is_below(self, bound: float = 0.0) -> bool:
        """Whether the mean lies below `bound` by more than chance."""
        return self.value + ERRORS * self.error < bound

    def agrees(self, value: float, spare: float = 0.0) -> bool:
        """Whether chance, and `spare` beside it, explain how far the mean is from `value`."""
        return abs(self.value - value) <= ERRORS * self.error + spare


def mean(values: ArrayLike) -> Measured:
    """Average over repetitions."""
    array = np.asarray(values, float)
    return Measured(float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array))))


def difference(first: ArrayLike, second: ArrayLike) -> Measured:
    """Compare the means of independent repetitions."""
    one, other = mean(first), mean(second)
    return Measured(one.value - other.value, float(np.hypot(one.error, other.error)))


def share(holds: ArrayLike, nominal: float | None = None) -> Measured:
    """Return how often something held; the standard error is that at `nominal`, where there is one."""
    array = np.asarray(holds, bool)
    rate = float(array.mean())
    variance = max(rate * (1 - rate), 1 / len(array)) if nominal is None else nominal * (1 - nominal)
    return Measured(rate, float(np.sqrt(variance / len(array))))


def listed(values: Iterable[tuple[object, float]], pattern: str = "{:.3f}") -> str:
    """Write values with their names, as in ``10: 0.100, 50: 0.050``."""
    return ", ".join(f"{name}: {pattern.format(value)}" for name, value in values)
