"""How far the shares may be off if the confusion drifted: linear programs over everything within reach."""

from typing import Any

import numpy as np

from truecount._types import FloatArray
from truecount.errors import InputError

CLOSE = 1e-3
"""How exactly the smallest drift is found."""


def reach(prevalence: FloatArray, confusion: FloatArray, row: int, *, drift: float, largest: bool) -> FloatArray:
    """Shape (draws,): the smallest or largest share of one class that is possible after a drift, draw by draw.

    The outputs keep their shares ``q = φᵀπ``, which is what was seen. Any joint table T of class and output with these
    column sums is possible whose rows, divided by their sums, lie within a total variation of `drift` of φ's. That is
    linear in T: with ``x ≥ φ_l ΣT_l − T_l`` and ``x ≥ 0``, what leaves an output, ``Σ_k x_lk ≤ drift · ΣT_l``.

    Parameters
    ----------
    prevalence, confusion
        Draws, shapes (draws, classes) and (draws, classes, outputs).
    row
        The class.
    drift
        Total variation that every row may have moved, from 0 to 1.
    largest
        Whether to look for the largest share.
    """
    from scipy.optimize import linprog
    from scipy.sparse import block_diag

    outputs = np.einsum("dl,dlk->dk", prevalence, confusion)
    n_draws, n_classes, n_outputs = confusion.shape
    of_class = np.zeros((n_classes, n_outputs))
    of_class[row] = -1.0 if largest else 1.0
    cost = np.concatenate([of_class.ravel(), np.zeros(of_class.size)])
    limits = block_diag([_limits(each, drift) for each in confusion], format="csr")
    sums = block_diag([_column_sums(n_classes, n_outputs)] * n_draws, format="csr")
    found = linprog(
        np.tile(cost, n_draws), A_ub=limits, b_ub=np.zeros(limits.shape[0]), A_eq=sums, b_eq=outputs.ravel()
    )
    if not found.success:
        raise InputError(
            "drift",
            f"is {drift:g}, and its linear programs were not solved ({found.message})",
            "without them nothing is known of what it would do",
            "Try a slightly different drift, or fewer draws",
        )
    tables = found.x.reshape(n_draws, 2, n_classes, n_outputs)[:, 0]
    shares: FloatArray = tables[:, row].sum(axis=1).clip(0.0, 1.0)
    return shares


def _limits(confusion: FloatArray, drift: float) -> Any:
    """The inequalities of one draw, over T and then x, each class after class."""
    from scipy.sparse import csr_matrix

    n_classes, n_outputs = confusion.shape
    size = n_classes * n_outputs
    limits = np.zeros((size + n_classes, 2 * size))
    for row in range(n_classes):
        own = slice(row * n_outputs, (row + 1) * n_outputs)
        limits[own, own] = confusion[row][:, None] - np.eye(n_outputs)
        limits[size + row, own] = -drift
        limits[size + row, size + own.start : size + own.stop] = 1.0
    limits[:size, size:] = -np.eye(size)
    return csr_matrix(limits)


def _column_sums(n_classes: int, n_outputs: int) -> Any:
    from scipy.sparse import csr_matrix

    sums = np.tile(np.eye(n_outputs), n_classes)
    return csr_matrix(np.hstack([sums, np.zeros_like(sums)]))


def interval_under(
    prevalence: FloatArray, confusion: FloatArray, row: int, *, drift: float, level: float
) -> tuple[float, float]:
    """The interval of one class that holds whatever the drift was, within its bound."""
    low, high = (reach(prevalence, confusion, row, drift=drift, largest=largest) for largest in (False, True))
    return float(np.quantile(low, (1 - level) / 2)), float(np.quantile(high, (1 + level) / 2))


def smallest_drift(
    prevalence: FloatArray, confusion: FloatArray, row: int, *, bound: float, is_above: bool, level: float
) -> float | None:
    """The smallest drift at which the interval no longer lies on one side of a bound; None if no drift does that.

    Zero means that it does not lie there even without a drift.
    """
    probability = (1 - level) / 2 if is_above else (1 + level) / 2

    def holds(drift: float) -> bool:
        end = float(np.quantile(reach(prevalence, confusion, row, drift=drift, largest=not is_above), probability))
        return end > bound if is_above else end < bound

    if not holds(0.0):
        return 0.0
    if holds(1.0):
        return None
    low, high = 0.0, 1.0
    while high - low > CLOSE:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high
