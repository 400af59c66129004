"""How often intervals hold the truth, on data of the user's own sizes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from truecount import _check
from truecount._types import FloatArray, Name
from truecount.counts import Counts
from truecount.counts.weights import effective_counts
from truecount.inference.draws import Draws
from truecount.results.check import value_lines

Answer: TypeAlias = Callable[[list[Counts]], Sequence[Draws]]
"""Counts of many data sets become draws of each."""
LEVELS = (0.5, 0.8, 0.9, 0.95)
SURE = 3.0
"""Standard errors from the level, beyond which intervals are said not to hold what they promise."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Coverage:
    """How often equal-tailed intervals held a fixed truth.

    Parameters
    ----------
    levels
        Shape (levels,): what the intervals promise.
    held
        Shape (levels, classes): share of the data sets in which they held the truth.
    width
        Shape (levels, classes): their mean width.
    data_sets
        How many there were.
    truth
        Shape (classes,): the shares that data were simulated from.
    classes
        Their names.
    """

    levels: FloatArray
    held: FloatArray
    width: FloatArray
    data_sets: int
    truth: FloatArray
    classes: tuple[Name, ...]

    @property
    def error(self) -> FloatArray:
        """Shape (levels,): standard error of what is held, if the promise is kept."""
        return np.asarray(np.sqrt(self.levels * (1 - self.levels) / self.data_sets))

    @property
    def verdict(self) -> str:
        """Say whether the intervals keep their promise at this truth."""
        short = (self.held < (self.levels - SURE * self.error)[:, None]).any(axis=0)
        if not short.any():
            return "Intervals hold the truth as often as they promise, or more often, at sizes and shares like these."
        names = ", ".join(str(self.classes[row]) for row in np.flatnonzero(short))
        return f"Intervals of {names} hold the truth less often than they promise, at sizes and shares like these."

    def __str__(self) -> str:
        return "\n".join([*value_lines(self.rows()), self.verdict])

    def rows(self) -> tuple[dict[str, Any], ...]:
        """Return plain values, a row for each level and class."""
        return tuple(
            {"level": level, "class": name, "truth": truth, "held": held, "error": error, "width": width}
            for level, error, of_level, widths in zip(
                self.levels.tolist(), self.error.tolist(), self.held.tolist(), self.width.tolist(), strict=True
            )
            for name, truth, held, width in zip(self.classes, self.truth.tolist(), of_level, widths, strict=True)
        )


def coverage_at(
    answer: Answer,
    counts: Counts,
    prevalence: FloatArray,
    confusion: FloatArray,
    *,
    data_sets: int,
    seed: int,
    levels: Sequence[float] = LEVELS,
) -> Coverage:
    """Simulate data of the sizes of these counts from a fixed truth, and see which intervals hold it.

    Parameters
    ----------
    answer
        What is put to the test.
    counts
        Their labelled items in each class and unlabelled items are the sizes; weighted ones have their effective size.
    prevalence, confusion
        The truth.
    data_sets, seed, levels
        How many, from which seed, and what the intervals promise.
    """
    rng = np.random.default_rng(_check.whole_number("seed", seed, least=0))
    labeled, unlabeled = effective_counts(counts)
    sizes, items = np.rint(labeled.sum(axis=1)).astype(int), round(float(unlabeled.sum()))
    outputs = prevalence @ confusion
    drawn = [
        Counts(
            rng.multinomial(sizes, confusion),
            rng.multinomial(items, outputs / outputs.sum()),
            counts.classes,
            counts.outputs,
        )
        for _ in range(data_sets)
    ]
    wanted = np.asarray([_check.level(level) for level in levels])
    tails = np.concatenate([(1 - wanted) / 2, (1 + wanted) / 2])
    ends = np.array([np.quantile(draws.prevalence, tails, axis=0) for draws in answer(drawn)])
    low, high = ends[:, : len(wanted)], ends[:, len(wanted) :]
    return Coverage(
        levels=wanted,
        held=((low <= prevalence) & (prevalence <= high)).mean(axis=0),
        width=(high - low).mean(axis=0),
        data_sets=data_sets,
        truth=prevalence,
        classes=counts.classes,
    )
