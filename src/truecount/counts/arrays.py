"""Columns of labels become counts."""

from collections.abc import Iterable, Sequence, Sized
from collections.abc import Set as AbstractSet
from itertools import chain
from math import prod
from typing import Any

import numpy as np

from truecount import _check
from truecount._types import IntArray, Name
from truecount.counts import validation
from truecount.counts.table import Counts
from truecount.errors import InputError
from truecount.reading.encode import BLOCK, Column, encode

_MOST_CELLS = 10_000_000
"""More cells than this are not a table of classes and outputs but a wrong column."""


def count(
    labels: Any,
    predictions: Any,
    new_predictions: Any,
    *,
    classes: Iterable[Any] | None = None,
    outputs: Iterable[Any] | None = None,
) -> Counts:
    r"""Count how often each class got each output, and how often each output came up in the unlabelled population.

    Parameters
    ----------
    labels
        The true class of every labelled item: a list, a tuple, a NumPy array, or a column of pandas, polars or arrow,
        holding strings, numbers or booleans.
    predictions
        The black box's output for the same items, in the same order.
    new_predictions
        The output for every item of the unlabelled population; it may be empty.
    classes, outputs
        Their names, in the order wanted. Left out, they are the values that occur, sorted: numbers, then strings.
        One that is named but does not occur is kept with zeros; one that occurs but is not named is an error.

    Returns
    -------
    Whole numbers; rows are classes, columns are outputs.

    Notes
    -----
    Rows are matched by position; the index of a pandas column is ignored. Values are equal where Python says so: 1,
    1.0 and True are one name, 1 and ``"1"`` are two. Whole floats become integers. Levels of a categorical column
    that never occur are left out, and the order of its levels is not used: pass ``classes=`` or ``outputs=``.

    Where labelled and unlabelled items have no output in common, mostly because one side is spelled otherwise, they are
    refused unless `outputs` names them all. A missing value (None, NaN, null) is an error. If the black box abstained,
    that is an output: give it a name.

    Examples
    --------
    >>> count(["cat", "dog", "dog"], ["cat", "cat", "dog"], ["dog", "bird", "dog"])
    Counts: 3 labelled and 3 unlabelled items, 2 classes, 3 outputs
    class\output  bird  cat  dog
    cat              0    1    0
    dog              0    1    1
    unlabelled       1    0    2
    """
    truth, said = encode("labels", labels), encode("predictions", predictions)
    new = encode("new_predictions", new_predictions)
    _require_pairs(truth, said)
    class_names = _names("classes", classes, labels=truth)
    output_names = _names("outputs", outputs, predictions=said, new_predictions=new)
    require_table(class_names, output_names)
    if outputs is None:
        validation.shared_outputs("predictions", said.names, new.names)
    labeled = np.zeros((len(class_names), len(output_names)), np.int64)
    np.add.at(labeled, np.ix_(_places(truth, class_names), _places(said, output_names)), _tally(truth, said))
    unlabeled = np.zeros(len(output_names), np.int64)
    np.add.at(unlabeled, _places(new, output_names), _tally(new))
    return Counts(labeled, unlabeled, class_names, output_names)


def _require_pairs(truth: Column, said: Column) -> None:
    if len(truth.codes) != len(said.codes):
        raise InputError(
            "labels",
            f"has {len(truth.codes)} rows but predictions has {len(said.codes)}",
            "each labelled item needs both",
            "Pass two columns of the same rows",
        )


def _names(argument: str, given: Iterable[Any] | None, **columns: Column) -> Sequence[Name]:
    """Give the names in their order: the caller's, or sorted."""
    if given is None:
        found = _check.sorted_names(dict.fromkeys(chain.from_iterable(column.names for column in columns.values())))
        _check.distinguishable(argument, found)
        return found
    names = _check.names(argument, given)
    for column_argument, column in columns.items():
        _require_named(column_argument, column, argument, names)
    return _check.sorted_names(names) if isinstance(given, AbstractSet) else names


def _require_named(column_argument: str, column: Column, argument: str, names: Sequence[Name]) -> None:
    known = frozenset(names)
    for name in column.names:
        if name not in known:
            listed = ", ".join(map(repr, names[:9])) + (", …" if len(names) > 9 else "")
            raise InputError(
                column_argument,
                f"holds {name!r}, first at position {column.first_row(name)}",
                f"{argument} names only {listed}",
                f"Add it to {argument}=[...], or mend the column",
            )


def require_table(classes: Sized, outputs: Sized) -> None:
    """Refuse columns with so many different values that they are no classes and outputs."""
    if len(classes) * len(outputs) > _MOST_CELLS:
        raise InputError(
            "labels",
            f"and predictions make {len(classes):,} classes and {len(outputs):,} outputs",
            f"a table of counts has {_MOST_CELLS:,} cells at most",
            "Check that these are the right columns, and sort continuous scores into bins",
        )


def _places(column: Column, names: Iterable[Name]) -> IntArray:
    place = {name: position for position, name in enumerate(names)}
    return np.array([place[name] for name in column.names], np.int64)


def _tally(*columns: Column) -> IntArray:
    """Count how often each combination of codes occurs."""
    shape = tuple(len(column.names) for column in columns)
    total = np.zeros(prod(shape), np.int64)
    size = max(BLOCK, len(total))
    for start in range(0, len(columns[0].codes), size):
        cells: Any = np.int64(0)
        for column in columns:
            cells = cells * len(column.names) + column.codes[start : start + size]
        total += np.bincount(cells, minlength=len(total))
    return total.reshape(shape)
