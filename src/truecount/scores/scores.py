"""Soft outputs: what a probabilistic classifier says of every item, one probability for each class."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truecount._types import FloatArray, IntArray, Name
from truecount.counts.table import Counts
from truecount.errors import InputError
from truecount.reading.arrays import Column, encode
from truecount.reading.names import named_or_found

if TYPE_CHECKING:
    from truecount.scores.cells import Cells

ROUNDING = 1e-5
"""How far a row may be from summing to one: what single precision leaves of many classes."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores:
    """Class probabilities of the labelled items, their labels, and class probabilities of the unlabelled items.

    Parameters
    ----------
    labeled
        Shape (labelled items, classes): a row of probabilities for each item, such as ``predict_proba`` gives.
    labels
        The true class of every labelled item, by name. Kept as codes: positions in `classes`.
    unlabeled
        Shape (unlabelled items, classes).
    classes
        Names of the columns, in their order. Left out, they are 0, 1, ….

    Notes
    -----
    A row may miss one by 1e-5, as single precision does, and is then scaled to sum to one; anything further is
    refused. The labelled scores must come from items that the classifier was not trained on.

    Examples
    --------
    >>> scores = Scores([[0.9, 0.1], [0.3, 0.7]], ["fail", "pass"], [[0.6, 0.4]], classes=["fail", "pass"])
    >>> scores
    Scores: 2 labelled and 1 unlabelled items, 2 classes
    >>> scores.labels
    array([0, 1])
    """

    labeled: FloatArray
    labels: IntArray
    unlabeled: FloatArray
    classes: tuple[Name, ...]

    def __init__(self, labeled: Any, labels: Any, unlabeled: Any, classes: Iterable[Any] | None = None) -> None:
        labeled, unlabeled = probabilities("labeled", labeled), probabilities("unlabeled", unlabeled)
        _require_same_width(labeled, unlabeled)
        names = _class_names(labeled.shape[1], classes)
        codes = _codes(encode("labels", labels), names)
        _require_same_length(labeled, codes)
        for name, value in zip(self.__slots__, (labeled, codes, unlabeled, names), strict=True):
            object.__setattr__(self, name, value)
        for array in (labeled, codes, unlabeled):
            array.flags.writeable = False

    def __reduce__(self) -> tuple[Callable[..., "Scores"], tuple[Any, ...]]:
        """Copy and unpickle through the constructor, so that the arrays stay read-only."""
        labels = [self.classes[code] for code in self.labels]
        return Scores, (self.labeled, labels, self.unlabeled, self.classes)

    @property
    def items(self) -> IntArray:
        """Shape (classes,): how many labelled items each class has."""
        return np.bincount(self.labels, minlength=len(self.classes))

    def take(self, labeled: IntArray, unlabeled: IntArray) -> "Scores":
        """Return the items at these positions, which may come more than once."""
        taken: Scores = object.__new__(Scores)
        rows = (self.labeled[labeled], self.labels[labeled], self.unlabeled[unlabeled])
        for array in rows:
            array.flags.writeable = False
        for name, value in zip(self.__slots__, (*rows, self.classes), strict=True):
            object.__setattr__(taken, name, value)
        return taken

    def to_counts(self, cells: "Cells | None" = None) -> Counts:
        r"""Count each item for its cell; without cells, for its most probable class, and of equals the first.

        Parameters
        ----------
        cells
            What a partition was fitted to on other items, such as ``Bins(5).fit(scores_of_training_items)``.

        >>> Scores([[0.9, 0.1], [0.3, 0.7]], [0, 1], [[0.6, 0.4]]).to_counts()
        Counts: 2 labelled and 1 unlabelled items, 2 classes, 2 outputs
        class\output  0  1
        0             1  0
        1             0  1
        unlabelled    1  0
        """
        if cells is not None and not hasattr(cells, "assign"):
            raise InputError(
                "cells", f"is {cells!r:.60}", "it must be fitted cells", "Pass Bins(5).fit(scores), or nothing"
            )
        size, names = (len(self.classes), self.classes) if cells is None else (cells.size, cells.names(self.classes))
        assign = (lambda rows: rows.argmax(axis=1)) if cells is None else cells.assign
        pairs = self.labels * size + assign(self.labeled)
        labeled = np.bincount(pairs, minlength=len(self.classes) * size).reshape(len(self.classes), size)
        return Counts(labeled, np.bincount(assign(self.unlabeled), minlength=size), self.classes, names)

    def __repr__(self) -> str:
        size = f"{len(self.labels)} labelled and {len(self.unlabeled)} unlabelled items"
        return f"Scores: {size}, {len(self.classes)} classes"


def probabilities(argument: str, values: Any) -> FloatArray:
    """Return rows of probabilities as a new array, each row summing to one."""
    try:
        array = np.array(values, np.float64, order="C")
    except (TypeError, ValueError) as error:
        needed = "it must be a table of probabilities, a row for each item"
        raise InputError(argument, f"cannot be read ({error})", needed, "Pass predict_proba's array") from error
    if array.ndim != 2 or array.shape[1] < 2:
        raise InputError(
            argument,
            f"has shape {array.shape}",
            "it must have a row for each item and a column for each class, two or more",
            "Of a binary classifier, pass both columns: np.column_stack([1 - p, p])",
        )
    if array.size:
        _require_probabilities(argument, array)
    return array


def _require_probabilities(argument: str, array: FloatArray) -> None:
    """Refuse anything outside [0, 1] and rows that do not sum to one, and take what rounding left off the rest."""
    if not (array.min() >= 0 and array.max() <= 1 + ROUNDING):
        row, column = np.argwhere(~((array >= 0) & (array <= 1 + ROUNDING)))[0]
        raise InputError(
            argument,
            f"has {array[row, column]} at {(int(row), int(column))}",
            "scores are probabilities from 0 to 1",
            "Turn logits into probabilities with a softmax, and drop rows without scores",
        )
    sums = array @ np.ones(array.shape[1])
    row = int(np.abs(sums - 1).argmax())
    if abs(sums[row] - 1) > ROUNDING:
        raise InputError(
            argument,
            f"has a row that sums to {sums[row]:.6g}, at position {row}",
            "the scores of an item must sum to one",
            "Pass a score for every class, and more digits if they were rounded",
        )
    array /= sums[:, None]


def _require_same_width(labeled: FloatArray, unlabeled: FloatArray) -> None:
    if labeled.shape[1] != unlabeled.shape[1]:
        raise InputError(
            "labeled",
            f"has {labeled.shape[1]} columns but unlabeled has {unlabeled.shape[1]}",
            "both must score the same classes",
            "Pass the scores of one classifier",
        )


def _class_names(n_columns: int, classes: Iterable[Any] | None) -> tuple[Name, ...]:
    names = named_or_found("classes", range(n_columns) if classes is None else classes) or ()
    if len(names) != n_columns:
        remedy = "Name each column once, in the order of the columns"
        raise InputError("classes", f"names {len(names)}", f"labeled has {n_columns} columns", remedy)
    return names


def _codes(labels: Column, classes: tuple[Name, ...]) -> IntArray:
    for name in labels.names:
        if name not in classes:
            raise InputError(
                "labels",
                f"holds {name!r}, first at position {labels.first_row(name)}",
                f"the columns are called {', '.join(map(repr, classes[:9]))}{', …' if len(classes) > 9 else ''}",
                "Name the columns with classes=[...], in their order",
            )
    return labels.positions(classes)


def _require_same_length(labeled: FloatArray, codes: IntArray) -> None:
    if len(labeled) != len(codes):
        raise InputError(
            "labels",
            f"has {len(codes)} rows but labeled has {len(labeled)}",
            "each labelled item needs both",
            "Pass labels and scores of the same rows",
        )
