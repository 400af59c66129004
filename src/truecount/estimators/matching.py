"""Matching histograms: the mixture of the classes' histograms of scores that looks most like the unlabelled one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from truecount import _check
from truecount._types import FloatArray, IntArray
from truecount.counts.table import Counts
from truecount.estimators.interior import minimize_on_simplex
from truecount.estimators.rates import require_scores
from truecount.scores.scores import Scores

Distance: TypeAlias = Literal["hellinger", "topsoe"]
HDY_BINS = tuple(range(10, 111, 10))
"""Numbers of bins that HDy tries, from González-Castro et al. (2013)."""


def dys(
    labeled: FloatArray, labels: IntArray, unlabeled: FloatArray, *, bins: int = 8, distance: Distance = "topsoe"
) -> FloatArray:
    """Find the mixture of class histograms that is nearest to the histogram of the unlabelled scores.

    With ``h_lc`` the histogram of the scores for class ``c`` among labelled items of class ``l``, and ``q_c`` that of
    the unlabelled scores, the prevalence is

        argmin over π in the simplex of  Σ_c D(Σ_l π_l h_lc, q_c)

    where D is Topsøe's divergence, ``Σ m log 2m/(m+q) + q log 2q/(m+q)``, or half the squared Hellinger distance,
    ``1 − Σ √(m q)``. Both are convex, so there is one least value, found for all classes at once. Of two classes the
    scores for the second say all, and are binned alone.

    Parameters
    ----------
    labeled
        Shape (labelled items, classes): scores, each row summing to one.
    labels
        Shape (labelled items,): the class of each, as a position. Every class has one or more.
    unlabeled
        Shape (unlabelled items, classes), one item or more.
    bins
        How many equal bins the range from 0 to 1 is cut into.
    distance
        ``"topsoe"`` or ``"hellinger"``.

    Returns
    -------
    Shape (classes,): the prevalence.

    Notes
    -----
    Not for scores that cluster in one bin: few bins then see nothing, and many bins need many labels. Classes whose
    histograms are alike get equal shares. Maletzke, dos Reis, Cherman & Batista, AAAI 2019; they treat two classes.

    Examples
    --------
    >>> labeled = np.array([[0.9, 0.1], [0.9, 0.1], [0.3, 0.7], [0.1, 0.9]])
    >>> unlabeled = np.array([[0.9, 0.1], [0.3, 0.7], [0.3, 0.7], [0.1, 0.9], [0.1, 0.9]])
    >>> dys(labeled, np.array([0, 0, 1, 1]), unlabeled).round(6)
    array([0.2, 0.8])
    """
    classes = labeled.shape[1]
    rows = np.array([_histograms(labeled[labels == position], bins) for position in range(classes)])
    return nearest_mixture(rows, _histograms(unlabeled, bins), distance=distance)


def hdy(labeled: FloatArray, labels: IntArray, unlabeled: FloatArray) -> FloatArray:
    """Match histograms by Hellinger's distance, with 10, 20, …, 110 bins, and give the middle of the eleven answers.

    Of two classes the middle is the median, as in the paper. Of more it is the answer that lies nearest to all
    others, which for two classes is the same and for more remains a prevalence; medians class by class need not sum
    to one.

    Parameters
    ----------
    labeled, labels, unlabeled
        As in `dys`.

    Returns
    -------
    Shape (classes,): the prevalence.

    Notes
    -----
    Not for few labels: at 110 bins a class of 50 labels leaves most bins empty, and an unlabelled item in a bin that
    no class has seen counts for nothing. The paper tries the prevalences 0, 0.01, …, 1; this is the optimum between
    them. González-Castro, Alaiz-Rodríguez & Alegre, Information Sciences 218 (2013).
    """
    answers = np.array([dys(labeled, labels, unlabeled, bins=bins, distance="hellinger") for bins in HDY_BINS])
    apart = np.linalg.norm(answers[:, None] - answers, axis=2).sum(axis=1)
    middle: FloatArray = answers[apart.argmin()]
    return middle


def nearest_mixture(rows: FloatArray, target: FloatArray, *, distance: Distance) -> FloatArray:
    """Find the weights with which the rows, summed, come nearest to the target.

    Parameters
    ----------
    rows
        Shape (classes, cells): one histogram for each class, or several in a line.
    target
        Shape (cells,).
    distance
        ``"topsoe"`` or ``"hellinger"``.

    Returns
    -------
    Shape (classes,): the weights, summing to one. Cells that are empty in all rows say nothing about them.
    """
    seen = rows.any(axis=0)
    rows, target = rows[:, seen], target[seen]
    derivatives = _DERIVATIVES[distance]

    def slopes(point: FloatArray) -> tuple[FloatArray, FloatArray]:
        first, second = derivatives(point @ rows, target)
        return rows @ first, (rows * second) @ rows.T

    return minimize_on_simplex(slopes, len(rows))


def _hellinger(mixture: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Differentiate ``−√(m q)`` twice by ``m``."""
    first = -0.5 * np.sqrt(target / mixture)
    return first, -0.5 * first / mixture


def _topsoe(mixture: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Differentiate ``m log 2m/(m+q) + q log 2q/(m+q)`` twice by ``m``."""
    both = mixture + target
    return np.log(2 * mixture / both), target / (mixture * both)


ROUGH = "It compares histograms of scores, which few labels leave rough."
_DERIVATIVES: dict[Distance, Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]] = {
    "hellinger": _hellinger,
    "topsoe": _topsoe,
}


def _histograms(scores: FloatArray, bins: int) -> FloatArray:
    """Return the share of items in each bin, column after column; of two columns, the second alone."""
    columns = scores[:, 1:] if scores.shape[1] == 2 else scores
    return np.concatenate([np.histogram(column, bins, range=(0, 1))[0] for column in columns.T]) / len(scores)


@dataclass(frozen=True, slots=True)
class DyS:
    """The choice of `dys`, with the settings that it takes."""

    bins: int = 8
    distance: Distance = "topsoe"
    name: ClassVar[str] = "dys"
    needs: ClassVar[Literal["scores"]] = "scores"
    caution: ClassVar[str] = ROUGH

    def __post_init__(self) -> None:
        _check.whole_number("bins", self.bins, least=2)
        _check.one_of("distance", self.distance, tuple(_DERIVATIVES))

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class in the unlabelled population."""
        scores = require_scores(self.name, data)
        return dys(scores.labeled, scores.labels, scores.unlabeled, bins=self.bins, distance=self.distance)


@dataclass(frozen=True, slots=True)
class HDy:
    """The choice of `hdy`."""

    name: ClassVar[str] = "hdy"
    needs: ClassVar[Literal["scores"]] = "scores"
    caution: ClassVar[str] = ROUGH

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class in the unlabelled population."""
        scores = require_scores(self.name, data)
        return hdy(scores.labeled, scores.labels, scores.unlabeled)
