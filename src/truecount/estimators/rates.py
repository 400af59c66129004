"""The averages that counting and its corrections need: outputs by class, outputs overall."""

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.counts.table import Counts
from truecount.counts.weights import effective_items
from truecount.estimators.inputs import harden, require_every_class, require_scores
from truecount.scores.scores import Scores


@dataclass(frozen=True, slots=True)
class Rates:
    """How much of each output there is, within each class and in the unlabelled population.

    Parameters
    ----------
    confusion
        Shape (..., classes, outputs): average output of the labelled items of each class, zeros where there are none.
    observed
        Shape (..., outputs): average output of the unlabelled items.
    items
        Shape (classes,): labelled items of each class; weighted ones at their effective size as one sample.
    """

    confusion: FloatArray
    observed: FloatArray
    items: FloatArray | IntArray

    @property
    def labeled_prevalence(self) -> FloatArray:
        """Shape (classes,): the share of each class among the labelled items."""
        shares: FloatArray = self.items / self.items.sum()
        return shares


@runtime_checkable
class FromRates(Protocol):
    """A method that needs no more than averages, and takes many sets of them at once."""

    is_adjusted: ClassVar[bool]
    """Whether it corrects for the confusion, and so needs labelled items of every class."""

    @property
    def soft(self) -> bool:
        """Whether it averages scores, and not counts of the most probable class."""

    def solve(self, rates: Rates) -> FloatArray:
        """Shape (..., classes): the share of each class, for each set of averages."""


def rates_of(data: Counts | Scores, method: FromRates, name: str) -> Rates:
    """Return the averages that a method needs, or refuse data that lacks them."""
    rates = of_scores(require_scores(name, data, every_class=False)) if method.soft else of_counts(harden(data))
    if method.is_adjusted:
        require_every_class(name, rates.items, data.classes)
    return rates


def of_counts(counts: Counts) -> Rates:
    """Turn counts into shares; outputs that are the classes come in the order of the classes."""
    order = class_order(counts)
    labeled, unlabeled = counts.labeled[:, order], counts.unlabeled[order]
    confusion = averages(labeled, labeled.sum(axis=1))
    return Rates(confusion, unlabeled / unlabeled.sum(), effective_items(counts))


def class_order(counts: Counts) -> list[int]:
    """Return the columns in the order of the classes, or as they are where outputs are not the classes."""
    return [counts.outputs.index(name) for name in (counts.classes if counts.outputs_are_classes else counts.outputs)]


def of_scores(scores: Scores) -> Rates:
    """Average the scores, of each class and overall."""
    members = np.equal.outer(np.arange(len(scores.classes)), scores.labels).astype(np.float64)
    return Rates(averages(members @ scores.labeled, scores.items), scores.unlabeled.mean(axis=0), scores.items)


def averages(sums: FloatArray | IntArray, items: FloatArray | IntArray) -> FloatArray:
    """Divide each row, shape (..., rows, outputs), by its number of items, shape (rows,); an empty one stays zero."""
    result: FloatArray = sums / np.where(items > 0, items, 1)[:, None]
    return result
