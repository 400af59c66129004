"""What estimators are given: counts or scores, checked, and the averages of outputs by class and overall."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from truecount import _check
from truecount._advice import OF_COUNTS, POSTERIOR, Advice
from truecount._types import FloatArray, IntArray, Name
from truecount.counts.table import COUNT_FIRST, Counts
from truecount.counts.weights import effective_items
from truecount.errors import InputError
from truecount.scores.scores import Scores


def counts_or_scores(data: Counts | Scores) -> Counts | Scores:
    """Return the data, or refuse what is neither counts nor scores."""
    _check.instance_of("data", data, (Counts, Scores), COUNT_FIRST)
    return data


def require_scores(method: str, data: Counts | Scores, *, every_class: bool = True) -> Scores:
    """Return scores that have an unlabelled item and labels of every class, or say what is missing."""
    if not isinstance(data, Scores):
        remedy = Advice("{} a method that needs counts", OF_COUNTS)
        raise InputError("data", "are counts", f"{method} needs the scores of every item", remedy)
    require_unlabeled(len(data.unlabeled))
    if every_class:
        require_every_class(method, data.items, data.classes)
    return data


def harden(data: Counts | Scores) -> Counts:
    """Return counts; of scores, count the most probable class of each item."""
    counts = data.to_counts() if isinstance(data, Scores) else data
    require_unlabeled(counts.unlabeled.sum())
    return counts


def require_unlabeled(items: float) -> None:
    """Refuse an empty unlabelled side."""
    if not items:
        raise InputError(
            "unlabeled", "holds no items", "shares are of items", "Pass the outputs of the population in question"
        )


def require_every_class(method: str, items: IntArray | FloatArray, classes: Sequence[Name]) -> None:
    """Refuse a class without labelled items."""
    empty = np.flatnonzero(items == 0)
    if len(empty):
        names = ", ".join(repr(classes[position]) for position in empty[:9]) + (", …" if len(empty) > 9 else "")
        raise InputError(
            "labeled",
            f"has no item of class {names}",
            f"{method} needs labelled items of every class",
            Advice("Label some, leave the class out, or use {}, which answers with the prior there", POSTERIOR),
        )


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
