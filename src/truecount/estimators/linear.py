"""Undoing the confusion by one linear system, of which each method has its own rows.

Under label shift the outputs of the unlabelled items are a mixture of the rows of the confusion φ, ``q = φᵀπ``. Every
method here applies a left inverse B of φᵀ, ``π = B q``; they differ in the rows that B is made from, which matters only
where there are more or fewer outputs than classes, or where some classes look alike.
"""

import numpy as np

from truecount._types import FloatArray

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
