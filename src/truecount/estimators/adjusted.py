"""Undoing the confusion by one linear system, of which each method has its own rows.

Under label shift the outputs of the unlabelled items are a mixture of the rows of the confusion φ, ``q = φᵀπ``. Every
method here applies a left inverse B of φᵀ, ``π = B q``; they differ in the rows that B is made from, which matters only
where there are more or fewer outputs than classes, or where some classes look alike.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from truecount._simplex import project_to_simplex
from truecount._types import FloatArray
from truecount.counts.table import Counts
from truecount.estimators.rates import Rates, rates_of
from truecount.scores.scores import Scores

System: TypeAlias = Literal["adjusted-count", "invariant-ratio", "black-box-shift"]
NAMES: dict[System, tuple[str, str]] = {
    "adjusted-count": ("acc", "pacc"),
    "invariant-ratio": ("invariantratio", "invariantratio-soft"),
    "black-box-shift": ("bbse", "bbse-soft"),
}
"""Names as they are registered, on counts and on scores."""


@dataclass(frozen=True, slots=True)
class Adjusted:
    """Adjusted counting: the confusion undone by a linear system. `ACC`, `PACC`, `InvariantRatio` and `BBSE` make it.

    Parameters
    ----------
    system
        Which rows the system has: `adjusted_count`, `invariant_ratio` or `black_box_shift`.
    restricted
        Whether to go to the nearest point of the simplex; left out of it, shares may be negative or above one.
    soft
        Whether to average scores, and not to count the most probable classes.
    """

    system: System
    restricted: bool = True
    soft: bool = False
    caution: ClassVar[str] = ""
    is_adjusted: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Lower case, as it is registered."""
        return NAMES[self.system][self.soft]

    @property
    def needs(self) -> Literal["counts", "scores"]:
        """What it works on."""
        return "scores" if self.soft else "counts"

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class in the unlabelled population."""
        return self.solve(rates_of(data, self, self.name))

    def solve(self, rates: Rates) -> FloatArray:
        """Shape (..., classes): the share of each class, for each set of averages."""
        shares: FloatArray = (self.inverse(rates) @ rates.observed[..., None])[..., 0]
        return project_to_simplex(shares) if self.restricted else shares

    def inverse(self, rates: Rates) -> FloatArray:
        """Shape (..., classes, outputs): the left inverse that takes outputs to classes."""
        if self.system == "black-box-shift":
            return black_box_shift(rates.confusion, rates.labeled_prevalence)
        return invariant_ratio(rates.confusion) if self.system == "invariant-ratio" else adjusted_count(rates.confusion)

    def rows(self, n_outputs: int) -> FloatArray:
        """Shape (rows, outputs): what of the outputs the squared errors are summed over."""
        return invariant_rows(n_outputs) if self.system == "invariant-ratio" else np.eye(n_outputs)


def ACC(restricted: bool = True) -> Adjusted:  # noqa: N802 - a name of the literature
    """Return adjusted classify and count, on counts (Forman 2008).

    >>> ACC().prevalence(Counts([[90, 10], [20, 80]], [55, 45]))
    array([0.5, 0.5])
    """
    return Adjusted("adjusted-count", restricted)


def PACC(restricted: bool = True) -> Adjusted:  # noqa: N802
    """Return adjusted classify and count, on scores (Bella et al. 2010)."""
    return Adjusted("adjusted-count", restricted, soft=True)


def InvariantRatio(restricted: bool = True, soft: bool = False) -> Adjusted:  # noqa: N802
    """Return the invariant ratio estimator (Vaz, Izbicki & Stern 2019), on counts or, if soft, on scores."""
    return Adjusted("invariant-ratio", restricted, soft)


def BBSE(restricted: bool = False, soft: bool = False) -> Adjusted:  # noqa: N802
    """Return the black-box shift estimator (Lipton, Wang & Smola 2018); as published it is not restricted."""
    return Adjusted("black-box-shift", restricted, soft)


RANK_TOLERANCE = 1e-9
"""Singular values below this share of the largest count as zero."""


def adjusted_count(confusion: FloatArray) -> FloatArray:
    """Return the left inverse of ``φᵀ`` itself, one row for each output (ACC, PACC).

    Parameters
    ----------
    confusion
        Shape (..., classes, outputs): φ, the average output of each class.

    Returns
    -------
    Shape (..., classes, outputs): B, where ``B q`` is the prevalence.

    Notes
    -----
    For two classes ``B q`` is ``(q₊ − FPR) / (TPR − FPR)``. Forman 2008; Bella et al. 2010 for scores.

    Examples
    --------
    >>> confusion = np.array([[0.9, 0.1], [0.2, 0.8]])
    >>> adjusted_count(confusion) @ np.array([0.55, 0.45])
    array([0.5, 0.5])
    """
    return left_inverse(np.swapaxes(confusion, -1, -2))


def invariant_ratio(confusion: FloatArray) -> FloatArray:
    """Return the left inverse of the paper's system: the last output dropped, a row of ones appended.

    Parameters
    ----------
    confusion
        Shape (..., classes, outputs): φ, the average output of each class.

    Returns
    -------
    Shape (..., classes, outputs): B, where ``B q`` is the prevalence.

    Notes
    -----
    With ``R`` the rows to keep and one of ones, ``B = (R φᵀ)⁺ R``: outputs sum to one, so a row of ones holds of both
    sides. Ziegler & Czyż, appendix E.3; Vaz, Izbicki & Stern, JMLR 20 (2019).
    """
    rows = invariant_rows(confusion.shape[-1])
    inverse: FloatArray = left_inverse(rows @ np.swapaxes(confusion, -1, -2)) @ rows
    return inverse


def invariant_rows(n_outputs: int) -> FloatArray:
    """Shape (outputs, outputs): R, which keeps all outputs but the last and puts their sum in its place."""
    rows = np.eye(n_outputs)
    rows[-1] = 1.0
    return rows


def black_box_shift(confusion: FloatArray, labeled_prevalence: FloatArray) -> FloatArray:
    """Return the left inverse by way of the ratio of prevalences, ``q = P(C, Y) r`` and ``π = p r`` (BBSE).

    Parameters
    ----------
    confusion
        Shape (..., classes, outputs): φ, the average output of each class.
    labeled_prevalence
        Shape (classes,): p, above zero.

    Returns
    -------
    Shape (..., classes, outputs): B, where ``B q`` is the prevalence.

    Notes
    -----
    Where φᵀ has a full left inverse this is `adjusted_count`. Where it has not, the ratio r that comes out is the
    smallest, and not the prevalence. Lipton, Wang & Smola, ICML 2018, section 4.
    """
    joint = np.swapaxes(confusion, -1, -2) * labeled_prevalence
    return labeled_prevalence[:, None] * left_inverse(joint)


def left_inverse(matrix: FloatArray) -> FloatArray:
    """Return the left inverse of each matrix: of least squares, and of least norm where columns depend on each other.

    Parameters
    ----------
    matrix
        Shape (..., rows, columns).

    Returns
    -------
    Shape (..., columns, rows).
    """
    if matrix.shape[-1] != matrix.shape[-2]:
        return _least_norm(matrix)
    try:
        inverse: FloatArray = np.linalg.inv(matrix).astype(np.float64, copy=False)
    except np.linalg.LinAlgError:
        return _least_norm(matrix)
    sizes = [np.abs(each).sum(axis=-1).max(axis=-1) for each in (matrix, inverse)]
    blind = ~(sizes[0] * sizes[1] < 1 / RANK_TOLERANCE)
    if blind.any():
        inverse[blind] = _least_norm(matrix[blind])
    return inverse


def _least_norm(matrix: FloatArray) -> FloatArray:
    return np.linalg.pinv(matrix, rtol=RANK_TOLERANCE).astype(np.float64, copy=False)


def indistinct_classes(confusion: FloatArray) -> list[int]:
    """Name the classes that the outputs cannot tell apart.

    Parameters
    ----------
    confusion
        Shape (classes, outputs).

    Returns
    -------
    Positions of the classes whose shares can change, some up and others down, without any change of the outputs.

    Examples
    --------
    >>> indistinct_classes(np.array([[0.9, 0.1], [0.2, 0.8], [0.2, 0.8]]))
    [1, 2]
    """
    _, sizes, directions = np.linalg.svd(confusion.T)
    rank = int((sizes > RANK_TOLERANCE * sizes.max(initial=0.0)).sum())
    involved: list[int] = np.flatnonzero((np.abs(directions[rank:]) > np.sqrt(RANK_TOLERANCE)).any(axis=0)).tolist()
    return involved
