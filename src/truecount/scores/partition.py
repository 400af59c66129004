"""Partitions: ways to sort a classifier's scores into cells, which are then the outputs that are counted.

A partition is a choice; `fit` gives the cells. Those of this module are cut by a rule, those of `learned` are shaped by
the scores. Appendix D of Ziegler & Czyż (TMLR 2024) proposes partitions and leaves them to be tried.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from truecount import _check
from truecount._types import IntArray
from truecount.errors import InputError
from truecount.scores.cells import (
    Cells,
    ClassCells,
    ConfidenceCells,
    LineCells,
    Response,
    second_column,
    table,
)

LABELS_A_CELL = 20
"""Labels of a class, on average, for each cell that its outputs are cut into."""


class Partition(Protocol):
    """A way to sort scores into cells. A frozen dataclass: same scores, same labels, same cells."""

    @property
    def takes(self) -> Response:
        """What its cells sort: rows of probabilities, or one number for each item."""

    @property
    def needs_labels(self) -> bool:
        """Whether labels are used in fitting; items that they come from must not be counted afterwards."""

    def fit(self, scores: Any, labels: Any = None) -> Cells:
        """Return the cells."""


@dataclass(frozen=True, slots=True)
class Argmax:
    """A cell for each class: the most probable one.

    Examples
    --------
    >>> Argmax().fit([[0.2, 0.5, 0.3]]).assign([[0.2, 0.5, 0.3], [0.6, 0.4, 0.0]])
    array([1, 0])
    """

    takes: ClassVar[Response] = "probabilities"
    needs_labels: ClassVar[bool] = False

    def fit(self, scores: Any, labels: Any = None) -> ClassCells:
        """Return as many cells as there are columns."""
        return ClassCells(table(given(scores)).shape[1])


@dataclass(frozen=True, slots=True)
class Confidence:
    """The most probable class, and within it `k` cells by how probable it is, as many of the fitted scores in each.

    Parameters
    ----------
    k
        How many for each class; quantiles that coincide, because many scores are equal, make fewer.

    Notes
    -----
    Labels are not looked at, so every labelled item can be counted. A class that is never the most probable has one
    cell. The cells are called like the class, so that a learned prior of the rows expects items of a class in its own
    cells.

    Examples
    --------
    >>> Confidence(2).fit([[0.6, 0.4], [0.7, 0.3], [0.8, 0.2], [0.9, 0.1], [0.2, 0.8]]).edges
    ((0.8,), ())
    """

    k: int
    takes: ClassVar[Response] = "probabilities"
    needs_labels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check.whole_number("k", self.k, least=1)

    def fit(self, scores: Any, labels: Any = None) -> ConfidenceCells:
        """Cut the highest probability of the items of each class at its quantiles."""
        points = table(given(scores))
        best, highest, inner = points.argmax(axis=1), points.max(axis=1), np.arange(1, self.k) / self.k
        edges = []
        for number in range(points.shape[1]):
            values = highest[best == number]
            cuts = np.unique(np.quantile(values, inner, method="higher")) if len(values) else np.empty(0)
            edges.append(tuple(cuts[cuts > values.min(initial=1.0)].tolist()))
        return ConfidenceCells(tuple(edges))


def by_confidence(least_labels: int, classes: int) -> Confidence:
    """Return the partition that the class with the fewest labels allows: what is used where none is named.

    About twenty labels of a class for each of its cells, up to five cells for two classes and three for more.

    >>> [by_confidence(labels, 10).k for labels in (10, 40, 200)]
    [1, 2, 3]
    """
    return Confidence(min(max(least_labels // LABELS_A_CELL, 1), 5 if classes == 2 else 3))


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The score of the second of two classes, cut where you say.

    Parameters
    ----------
    edges
        Probabilities above 0 and below 1, rising. K − 1 of them make K cells, and a score equal to an edge belongs to
        the cell above.

    Examples
    --------
    >>> Thresholds([0.3, 0.7]).fit([[0.5, 0.5]]).assign([[0.9, 0.1], [0.7, 0.3], [0.1, 0.9]])
    array([0, 1, 2])
    """

    edges: tuple[float, ...]
    takes: ClassVar[Response] = "probabilities"
    needs_labels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        edges = _rising(self.edges)
        if not 0 < edges[0] <= edges[-1] < 1:
            needed = "a probability is cut above 0 and below 1"
            raise InputError("edges", f"go from {edges[0]} to {edges[-1]}", needed, "Use Intervals for other numbers")
        object.__setattr__(self, "edges", edges)

    def fit(self, scores: Any = None, labels: Any = None) -> LineCells:
        """Return the cells, which do not depend on the scores."""
        return LineCells(self.edges, "probabilities")


@dataclass(frozen=True, slots=True)
class Intervals:
    """Numbers on the real line, cut where you say: a decision function, a temperature, a titre.

    Parameters
    ----------
    edges
        Finite numbers, rising: a, b, …, z make the cells (−∞, a), [a, b), …, [z, ∞).

    Notes
    -----
    For X normal given the class, P(cell | class) is the difference of the normal CDF at the ends of the cell. Ziegler &
    Czyż, section 3.3.

    Examples
    --------
    >>> Intervals([-0.5, 0.5, 1.5]).fit().assign([-2, -0.5, 1.49, 40])
    array([0, 1, 2, 3])
    """

    edges: tuple[float, ...]
    takes: ClassVar[Response] = "values"
    needs_labels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", _rising(self.edges))

    def fit(self, scores: Any = None, labels: Any = None) -> LineCells:
        """Return the cells, which do not depend on the scores."""
        return LineCells(self.edges, "values")


@dataclass(frozen=True, slots=True)
class Bins:
    """The score of the second of two classes in `k` bins.

    Parameters
    ----------
    k
        How many, two or more.
    kind
        ``"equal-width"``: each as wide, from 0 to 1; ``"quantile"``: as many of the fitted scores in each.

    Notes
    -----
    The outer bins reach 0 and 1, so no score is outside. Quantiles that coincide, because many scores are equal, make
    fewer bins. Where one class is rare, most quantiles lie among the scores of the other, in bins that the rare class
    hardly reaches; a flat row prior then moves much of it there, and `docs/guides/scores.md` shows what that costs.

    Examples
    --------
    >>> Bins(4).fit().edges
    (0.25, 0.5, 0.75)
    >>> Bins(2, kind="quantile").fit([0.1, 0.25, 0.5, 0.9]).edges
    (0.5,)
    """

    k: int
    kind: Literal["equal-width", "quantile"] = field(default="equal-width", kw_only=True)
    takes: ClassVar[Response] = "probabilities"
    needs_labels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check.whole_number("k", self.k, least=2)
        _check.one_of("kind", self.kind, ("equal-width", "quantile"))

    def fit(self, scores: Any = None, labels: Any = None) -> LineCells:
        """Return the bins; of equal width, they do not depend on the scores."""
        inner = np.arange(1, self.k) / self.k
        if self.kind == "equal-width":
            return LineCells(tuple(inner.tolist()), "probabilities")
        values = second_column(given(scores))
        edges = np.unique(np.quantile(values, inner, method="higher"))
        return LineCells(tuple(edges[edges > values.min()].tolist()), "probabilities")


def given(scores: Any) -> Any:
    """Return the scores, which must be of some items."""
    if scores is None or not len(scores):
        raise InputError("scores", "are missing", "these cells are fitted to scores", "Pass the scores of some items")
    return scores


def _rising(edges: Any) -> tuple[float, ...]:
    try:
        values = np.asarray(edges, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("edges", f"are {edges!r}", "they must be numbers", "Pass a list of them") from error
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or (np.diff(values) <= 0).any():
        needed = "they must be finite numbers, one or more, each above the one before"
        raise InputError("edges", f"are {edges!r}", needed, "Sort them, and drop repeats")
    return tuple(values.tolist())


def held_out_mask(labels: IntArray, one_in: int, rng: np.random.Generator) -> Any:
    """Shape (items,): True for one in so many items of each class, in an order drawn at random; rounded down.

    >>> held_out_mask(np.array([0, 0, 0, 1]), 2, np.random.default_rng(0)).sum()
    np.int64(1)
    """
    order = rng.permutation(len(labels))
    by_class = order[np.argsort(labels[order], kind="stable")]
    starts = np.searchsorted(labels[by_class], labels[by_class])
    aside = np.zeros(len(labels), bool)
    aside[by_class] = (np.arange(len(labels)) - starts) % one_in == one_in - 1
    return aside
