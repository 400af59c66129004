"""Tables below the answer: the counts, what the classifier does with each class, and whether the outputs fit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truecount._wording import labels
from truecount.counts import Counts
from truecount.page.text import LONGEST_NAME
from truecount.plots.classifier import confusion_data, predictive_data
from truecount.results import Posterior

LONGEST_HEAD = 24
"""Letters of a name above a column; the table of shares has all of them."""
MOST_CELLS = 400
"""Of the confusion; a larger one is no longer read."""
MOST_ON_PAPER = 12
"""Outputs beside each other."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A row for each class, a column for each output.

    `rows` holds names and cells, `foot` names and words that stand below; cells are words, or a share and words.
    """

    outputs: list[str]
    rows: list[tuple[str, list[tuple[float, str, str]]]]
    foot: list[tuple[str, list[str]]]

    @property
    def is_wide(self) -> bool:
        """Whether a sheet of paper would cut it."""
        return len(self.outputs) > MOST_ON_PAPER


def counts_table(counts: Counts, groups: Sequence[tuple[str, Counts]] = ()) -> Grid:
    """Return the counts, names shortened; those of groups share the labelled ones, and have a row each below."""
    names = labels(counts.classes, LONGEST_NAME)
    rows = [
        (name, [(0.0, number, "") for number in _numbers(row)]) for name, row in zip(names, counts.labeled, strict=True)
    ]
    below = groups or [("unlabelled", counts)]
    names_below = labels([name for name, _ in below], LONGEST_NAME)
    foot = [(name, _numbers(each.unlabeled)) for name, (_, each) in zip(names_below, below, strict=True)]
    return Grid(labels(counts.outputs, LONGEST_HEAD), rows, foot)


def confusion_table(posterior: Posterior, level: float) -> Grid | None:
    """Return P(output | class) with its intervals in percent; None where there are too many cells to read."""
    if posterior.counts.labeled.size > MOST_CELLS:
        return None
    data = confusion_data(posterior, level=level)
    rows = [
        (name, [(share, f"{100 * share:.0f}", _span(ends)) for share, ends in zip(shares, spans, strict=True)])
        for name, shares, spans in zip(labels(data.classes, LONGEST_NAME), data.mean, data.interval, strict=True)
    ]
    return Grid(labels(data.outputs, LONGEST_HEAD), rows, [])


def fit_table(posterior: Posterior, level: float) -> list[tuple[str, str, str, str]]:
    """Return a row for each output: its name, the items seen, those expected, and whether they agree."""
    if not posterior.counts.unlabeled.sum():
        return []
    data = predictive_data(posterior, level=level)
    names = labels(data.outputs, LONGEST_NAME)
    return [
        (name, f"{seen:,.0f}", f"{low:,.0f} \N{EN DASH} {high:,.0f}", "yes" if low <= seen <= high else "no")
        for name, seen, (low, high) in zip(names, data.observed, data.interval, strict=True)
    ]


def _span(ends: np.ndarray) -> str:
    low, high = 100 * ends
    return f"{low:.0f} \N{EN DASH} {high:.0f}"


def _numbers(values: np.ndarray) -> list[str]:
    return [f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}" for value in values]
