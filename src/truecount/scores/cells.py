"""Fitted partitions: which cell an item's scores fall into. Frozen, comparable, and plain enough for JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Literal, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np

from truecount import _check
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import own_cell, range_names
from truecount.errors import InputError
from truecount.scores.scores import probabilities

SCHEMA = "truecount.cells/1"
Response: TypeAlias = Literal["probabilities", "values"]
"""What is sorted into cells: a row of probabilities for each item, or one number."""
_BLOCK = 1 << 14
"""Items handled at a time: few enough to stay in the processor's cache."""


@runtime_checkable
class Cells(Protocol):
    """Cells that every item falls into exactly one of; a value that fits none is refused, never dropped."""

    @property
    def takes(self) -> Response:
        """What `assign` sorts."""

    @property
    def size(self) -> int:
        """How many cells there are."""

    def names(self, classes: Sequence[Name]) -> tuple[Name, ...]:
        """Return a name for each cell, in order; where cells are the classes, theirs."""

    def assign(self, scores: Any) -> IntArray:
        """Shape (items,): the position of each item's cell."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; `read_cells` reads them."""


@dataclass(frozen=True, slots=True)
class _Fitted:
    """What all kinds of cells share."""

    kind: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; `read_cells` reads them."""
        return {"schema": SCHEMA, "kind": self.kind, **json.loads(json.dumps(asdict(self)))}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read what `to_dict` gave, without schema and kind."""
        return cls(**{name: _tuples(value) for name, value in values.items()})


@dataclass(frozen=True, slots=True)
class ClassCells(_Fitted):
    """A cell for each class: the items for which it is the most probable; of equals, the first.

    >>> ClassCells(3).assign([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4]])
    array([1, 0])
    """

    n_classes: int
    kind: ClassVar[str] = "classes"
    takes: ClassVar[Response] = "probabilities"

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.n_classes

    def names(self, classes: Sequence[Name]) -> tuple[Name, ...]:
        """Return the names of the classes."""
        return tuple(classes)

    def assign(self, scores: Any) -> IntArray:
        """Shape (items,): the position of the most probable class."""
        return np.asarray(table(scores, self.n_classes).argmax(axis=1), np.int64)


@dataclass(frozen=True, slots=True)
class ConfidenceCells(_Fitted):
    """The most probable class, and within it how probable: below its first edge, to below the next, from the last on.

    Parameters
    ----------
    edges
        For each class, rising; K − 1 of them make K cells of items for which it is the most probable.

    Examples
    --------
    >>> cells = ConfidenceCells(((0.8,), ()))
    >>> cells.assign([[0.7, 0.3], [0.9, 0.1], [0.2, 0.8]])
    array([0, 1, 2])
    >>> cells.names(("fail", "pass"))
    ('fail: < 0.8', 'fail: ≥ 0.8', 'pass')
    """

    edges: tuple[tuple[float, ...], ...]
    kind: ClassVar[str] = "confidence"
    takes: ClassVar[Response] = "probabilities"

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.edges) + sum(map(len, self.edges))

    def names(self, classes: Sequence[Name]) -> tuple[Name, ...]:
        """Return the class, and the interval of its probability where there are several."""
        named: list[Name] = []
        for name, edges in zip(classes, self.edges, strict=True):
            named += [own_cell(name, each) for each in range_names(edges)] if edges else [name]
        return tuple(named)

    def assign(self, scores: Any) -> IntArray:
        """Shape (items,): the position of each item's cell."""
        points = table(scores, len(self.edges))
        best, highest, found = points.argmax(axis=1), points.max(axis=1), np.empty(len(points), np.int64)
        first = 0
        for number, edges in enumerate(self.edges):
            rows = best == number
            found[rows] = first + np.searchsorted(np.array(edges), highest[rows], side="right")
            first += len(edges) + 1
        return found


@dataclass(frozen=True, slots=True)
class LineCells(_Fitted):
    """Intervals of one number: below the first edge, from each edge to below the next, from the last edge on.

    Parameters
    ----------
    edges
        Rising; K − 1 of them make K cells.
    takes
        ``"probabilities"``: of two classes, or of the second alone, whose probability is cut; or ``"values"``.

    Examples
    --------
    >>> cells = LineCells((0.25, 0.75), "values")
    >>> cells.assign([-3, 0.25, 0.7, 0.75, 8])
    array([0, 1, 1, 2, 2])
    >>> cells.names(())
    ('< 0.25', '0.25 to < 0.75', '≥ 0.75')
    """

    edges: tuple[float, ...]
    takes: Response
    kind: ClassVar[str] = "line"

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.edges) + 1

    def names(self, classes: Sequence[Name]) -> tuple[Name, ...]:
        """Return each interval in words."""
        return range_names(self.edges)

    def assign(self, scores: Any) -> IntArray:
        """Shape (items,): how many edges are no higher."""
        values = second_column(scores) if self.takes == "probabilities" else numbers(scores)
        return np.searchsorted(np.array(self.edges), values, side="right")


@dataclass(frozen=True, slots=True)
class CenterCells(_Fitted):
    """The items nearest to each center, in log-ratio coordinates.

    Parameters
    ----------
    centers
        K rows of centered log-ratios, one for each class.
    smallest
        What is added to each probability first, so that a logarithm of zero is never taken.
    """

    centers: tuple[tuple[float, ...], ...]
    smallest: float
    kind: ClassVar[str] = "centers"
    takes: ClassVar[Response] = "probabilities"

    @property
    def size(self) -> int:
        """How many cells there are."""
        return len(self.centers)

    def names(self, classes: Sequence[Name]) -> tuple[Name, ...]:
        """Number the clusters."""
        return tuple(f"cluster {number}" for number in range(1, self.size + 1))

    def assign(self, scores: Any) -> IntArray:
        """Shape (items,): the nearest center; of equals, the first."""
        centers = np.array(self.centers)
        points, half_squares = table(scores, centers.shape[1]), (centers**2).sum(axis=1) / 2
        found = np.empty(len(points), np.int64)
        for start in range(0, len(points), _BLOCK):
            block = slice(start, start + _BLOCK)
            found[block] = (half_squares - log_ratios(points[block], self.smallest) @ centers.T).argmin(axis=1)
        return found


@dataclass(frozen=True, slots=True)
class LeafCells(_Fitted):
    """The leaves of a small decision tree on the scores.

    Parameters
    ----------
    column, threshold, left, right
        One entry for each node, the root first: an item whose score in `column` is at most `threshold` goes `left`.
        A leaf has column −1, and `left` is its number.
    n_classes
        How many columns the scores have.
    """

    column: tuple[int, ...]
    threshold: tuple[float, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    n_classes: int
    kind: ClassVar[str] = "leaves"
    takes: ClassVar[Response] = "probabilities"

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.column.count(-1)

    def names(self, classes: Sequence[Name]) -> tuple[Name, ...]:
        """Number the leaves."""
        return tuple(f"leaf {number}" for number in range(1, self.size + 1))

    def assign(self, scores: Any) -> IntArray:
        """Shape (items,): the leaf that each item ends in."""
        points = table(scores, self.n_classes)
        column, threshold = np.array(self.column), np.array(self.threshold)
        left, right = np.array(self.left), np.array(self.right)
        node = np.zeros(len(points), np.int64)
        rows = np.flatnonzero(column[node] >= 0)
        while len(rows):
            at = node[rows]
            node[rows] = np.where(points[rows, column[at]] <= threshold[at], left[at], right[at])
            rows = rows[column[node[rows]] >= 0]
        return left[node]


_KINDS: dict[str, type[_Fitted]] = {
    kind.kind: kind for kind in (ClassCells, ConfidenceCells, LineCells, CenterCells, LeafCells)
}


def read_cells(values: Mapping[str, Any]) -> Cells:
    """Read what the `to_dict` of fitted cells gave, on a cluster for instance.

    >>> read_cells(ClassCells(2).to_dict())
    ClassCells(n_classes=2)
    """
    _check.instance_of("cells", values, Mapping, "Pass what to_dict() gave")
    found = values.get("schema"), values.get("kind")
    if found[0] != SCHEMA or found[1] not in tuple(_KINDS):
        needed = f"they must be of schema {SCHEMA!r} and of a kind among {', '.join(_KINDS)}"
        raise InputError(
            "cells", f"are of schema {found[0]!r} and kind {found[1]!r}", needed, "Write them by to_dict()"
        )
    rest = {name: value for name, value in values.items() if name not in ("schema", "kind")}
    kind = _KINDS[str(found[1])]
    for name in sorted(rest.keys() ^ {field.name for field in fields(kind)}):
        told, needed = "hold" if name in rest else "lack", f"those of kind {kind.kind!r} are described by other entries"
        raise InputError("cells", f"{told} {name!r}", needed, "Write them by to_dict()")
    cells: Any = kind.from_dict(rest)
    return cells  # type: ignore[no-any-return]


def log_ratios(scores: FloatArray, smallest: float) -> FloatArray:
    """Shape (items, classes): logarithms of the scores plus `smallest`, less their mean.

    Distances are those of isometric log-ratio coordinates, of which these are a rotation.

    >>> log_ratios(np.array([[0.8, 0.2]]), 1e-9).round(3)
    array([[ 0.693, -0.693]])
    """
    logs = np.log(scores + smallest)
    ratios: FloatArray = logs - logs.mean(axis=1, keepdims=True)
    return ratios


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def table(scores: Any, n_classes: int | None = None) -> FloatArray:
    """Return rows of probabilities, of so many classes; a single column is taken for the second of two."""
    array = np.asarray(scores)
    if array.ndim == 1 and n_classes in (None, 2):
        second = second_column(array)
        return np.column_stack([1 - second, second])
    rows = probabilities("scores", array)
    if n_classes not in (None, rows.shape[1]):
        raise InputError(
            "scores",
            f"has {rows.shape[1]} columns",
            f"these cells are of {n_classes} classes",
            "Fit the partition again",
        )
    return rows


def second_column(scores: Any) -> FloatArray:
    """Return the probability of the second of two classes."""
    array = np.asarray(scores)
    if array.ndim == 2 and array.shape[1] == 2:
        return probabilities("scores", array)[:, 1]
    if array.ndim != 1:
        raise InputError(
            "scores",
            f"has shape {array.shape}",
            "this partition cuts the scores of two classes",
            "Choose Argmax(), Clusters(k) or Tree(k) for more classes",
        )
    line = numbers(array)
    _check.refuse("scores", line, (line < 0) | (line > 1), "probabilities lie from 0 to 1", "Use Intervals for others")
    return line


def numbers(values: Any) -> FloatArray:
    """Return one number for each item; infinity is a number here, NaN is not."""
    try:
        array = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        remedy = "Pass decision_function's array"
        raise InputError("scores", f"cannot be read ({error})", "they must be numbers", remedy) from error
    if array.ndim != 1:
        raise InputError("scores", f"has shape {array.shape}", "it must be one number for each item", "Pass one column")
    _check.refuse("scores", array, np.isnan(array), "every item needs a number", "Drop those items, or correct them")
    return array
