"""Kernel mean matching: the mixture of the classes whose mean embedding is that of the unlabelled scores."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from truecount import _check
from truecount._types import FloatArray, IntArray
from truecount.counts.table import Counts
from truecount.errors import InputError
from truecount.estimators.interior import minimize_on_simplex
from truecount.estimators.rates import require_scores
from truecount.scores.scores import Scores

_CELLS = 2**22
"""Kernel values held at once: 32 MB."""
_PAIRED_ROWS = 1000
"""Rows of each side from which the width is taken."""


def kmm(labeled: FloatArray, labels: IntArray, unlabeled: FloatArray, *, width: float | None = None) -> FloatArray:
    """Match the mean embedding of the unlabelled scores by a mixture of those of the classes.

    With ``μ_l`` the mean of ``k(x, ·)`` over labelled items of class ``l`` and ``μ′`` over unlabelled ones, the
    prevalence is

        argmin over π in the simplex of  ‖Σ_l π_l μ_l − μ′‖²,      k(x, y) = exp(−‖x − y‖² / 2 width²)

    a quadratic programme in one number for each class. This is Zhang's target-shift matching where the label is
    discrete: one weight for each class, and plain class means for the conditional embeddings.

    Parameters
    ----------
    labeled
        Shape (labelled items, classes): scores, or any other features.
    labels
        Shape (labelled items,): the class of each, as a position. Every class has one or more.
    unlabeled
        Shape (unlabelled items, classes), one item or more.
    width
        Of the Gaussian kernel; by default, the median distance between a labelled and an unlabelled item.

    Returns
    -------
    Shape (classes,): the prevalence.

    Notes
    -----
    **The cost is quadratic**: every labelled item meets every labelled and every unlabelled one, N (N + N′) kernel
    values; 20,000 items on each side make 800 million. They are formed and summed in blocks, so memory stays at
    32 MB, but time does not: `KMM` takes a sample of the rows. Zhang, Schölkopf, Muandet & Wang, ICML 2013.

    Examples
    --------
    >>> labeled = np.array([[0.9, 0.1], [0.8, 0.2], [0.2, 0.8], [0.1, 0.9]])
    >>> kmm(labeled, np.array([0, 0, 1, 1]), labeled[[0, 1, 2, 3, 2, 3, 2, 3]]).round(6)
    array([0.25, 0.75])
    """
    members = np.equal.outer(labels, np.arange(labeled.shape[1])).astype(np.float64)
    members /= members.sum(axis=0)
    everyone = np.full((len(unlabeled), 1), 1 / len(unlabeled))
    width = _median_distance(labeled, unlabeled) if width is None else width
    within = _mean_kernel(labeled, members, labeled, members, width)
    across = _mean_kernel(labeled, members, unlabeled, everyone, width)[:, 0]
    return minimize_on_simplex(lambda point: (within @ point - across, within), len(within))


def _mean_kernel(
    first: FloatArray, first_weights: FloatArray, second: FloatArray, second_weights: FloatArray, width: float
) -> FloatArray:
    """Sum the kernel over pairs of rows, with weights; shape (columns of the first weights, of the second)."""
    total = np.zeros((first_weights.shape[1], second_weights.shape[1]))
    block = max(1, _CELLS // len(second))
    for start in range(0, len(first), block):
        rows = slice(start, start + block)
        kernel = np.exp(_squared_distances(first[rows], second) / (-2 * width**2))
        total += first_weights[rows].T @ (kernel @ second_weights)
    return total


def _squared_distances(first: FloatArray, second: FloatArray) -> FloatArray:
    squares: FloatArray = (first**2).sum(axis=1)[:, None] + (second**2).sum(axis=1) - 2 * first @ second.T
    np.maximum(squares, 0.0, out=squares)
    return squares


def _median_distance(labeled: FloatArray, unlabeled: FloatArray) -> float:
    """Return the median distance between the two sides, from evenly spaced rows; of distances above zero alone."""
    few = [rows[:: -(-len(rows) // _PAIRED_ROWS)] for rows in (labeled, unlabeled)]
    distances = np.sqrt(_squared_distances(*few))
    apart = distances[distances > 0]
    if not apart.size:
        raise InputError(
            "scores",
            "are the same for every item",
            "kernel mean matching needs items that differ",
            "Check that the classifier was trained",
        )
    return float(np.median(apart))


@dataclass(frozen=True, slots=True)
class KMM:
    """The choice of `kmm` on a random sample of the rows, because its cost grows with their square.

    Parameters
    ----------
    width
        Of the Gaussian kernel; by default, the median distance between a labelled and an unlabelled item.
    rows
        At most so many labelled rows, equally from each class, and so many unlabelled ones are used. The answer does
        not feel the rest: raise it as far as patience allows. The default of 2,000 takes a fraction of a second.
    seed
        Which rows are drawn, where there are more.
    """

    width: float | None = None
    rows: int = 2000
    seed: int = 0
    name: ClassVar[str] = "kmm"
    needs: ClassVar[Literal["scores"]] = "scores"

    def __post_init__(self) -> None:
        _check.whole_number("rows", self.rows, least=2)
        _check.whole_number("seed", self.seed, least=0)
        if self.width is not None and not self.width > 0:
            remedy = "Leave it out to take the median distance"
            raise InputError("width", f"is {self.width!r}", "it must be above 0", remedy)

    @property
    def caution(self) -> str:
        """What is lost where there are more rows than `rows`."""
        return f"Its cost is quadratic: at most {self.rows} labelled and {self.rows} unlabelled rows are used."

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class in the unlabelled population."""
        scores = require_scores(self.name, data)
        rng = np.random.default_rng(self.seed)
        share = max(1, self.rows // len(scores.classes))
        by_class = [np.flatnonzero(scores.labels == position) for position in range(len(scores.classes))]
        labeled = np.concatenate([_few(rng, rows, share) for rows in by_class])
        unlabeled = _few(rng, np.arange(len(scores.unlabeled)), self.rows)
        return kmm(scores.labeled[labeled], scores.labels[labeled], scores.unlabeled[unlabeled], width=self.width)


def _few(rng: np.random.Generator, rows: IntArray, most: int) -> IntArray:
    """Draw at most so many of the rows, each at most once."""
    return rows if len(rows) <= most else rng.choice(rows, most, replace=False)
