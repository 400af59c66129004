"""The highest point of the posterior: expectation-maximisation in leaps, and a proof that it has arrived."""

from dataclasses import dataclass, replace

import numpy as np

from truecount._types import FloatArray
from truecount.errors import InputError
from truecount.models import Density

LEAPS_BETWEEN_CHECKS = 8
LONGEST_LEAP = 1e8
SAME = 1e-3
"""Slopes that differ by less, in nats for a whole share, count as equal when a ridge is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeRecord:
    """Where the density is highest.

    Parameters
    ----------
    prevalence
        Shape (classes,).
    confusion
        Shape (classes, outputs); known rows as they are.
    iterations
        Steps of expectation-maximisation.
    kkt_residual
        Nats that could be gained, at most, by moving the prevalence, or any one row of the confusion, anywhere while
        all else is held. It is zero exactly where the Karush-Kuhn-Tucker conditions hold.
    is_converged
        Whether that is negligible.
    is_unique
        Whether no other prevalence next to this one is as high.
    """

    prevalence: FloatArray
    confusion: FloatArray
    iterations: int
    kkt_residual: float
    is_converged: bool
    is_unique: bool


def find_mode(density: Density, *, budget: int = 100_000) -> ModeRecord:
    """Find the maximum a posteriori point of prevalence and confusion.

    It maximises ``Σ (a_l - 1) log π_l + Σ (b_lk - 1) log φ_lk + Σ n_k log q_k``, where ``q = φᵀπ`` and a and b are the
    concentrations of prevalence and rows (labels included), from even shares. Each step allocates the unlabelled items
    to classes as the point says, and moves to what the allocation says (expectation-maximisation); every two steps a
    leap extrapolates them, if that leads higher (SQUAREM). Where unlabelled items outnumber labels by far the ridge is
    too narrow to leap along, so they are let in by degrees.

    Parameters
    ----------
    density
        With no exponent below zero, that is no concentration below one where nothing was counted.
    budget
        Steps to take at most.

    Notes
    -----
    The density has one peak in the prevalence for any confusion, and in the confusion for any prevalence, but may have
    several in both together; the one found lies uphill from even shares.
    """
    point, iterations = _start(density), 0
    for unlabeled in _by_degrees(density):
        climb = _Climb(replace(density, unlabeled=unlabeled))
        residual = climb.residual(point)
        while iterations < budget and residual > climb.tolerance:
            for _ in range(LEAPS_BETWEEN_CHECKS):
                point = climb.leap(point)
            iterations += 3 * LEAPS_BETWEEN_CHECKS
            residual = climb.residual(point)
    return ModeRecord(
        prevalence=point[:, 0].copy(),
        confusion=point[:, 1:].copy(),
        iterations=iterations,
        kkt_residual=residual,
        is_converged=residual <= climb.tolerance,
        is_unique=climb.is_unique(point),
    )


def _start(density: Density) -> FloatArray:
    """Even shares, and rows that the labels suggest, with something in every cell."""
    seen = density.rows - 1 + 1 / density.n_outputs
    rows = np.where(density.is_known[:, None], density.known, seen / seen.sum(axis=1, keepdims=True))
    return np.hstack([np.full((density.n_classes, 1), 1 / density.n_classes), rows])


def _by_degrees(density: Density) -> list[FloatArray]:
    """Unlabelled counts scaled down to about the labels' number, then ten times as many each time, then all."""
    counts = [density.unlabeled]
    labels = max(density.rows[~density.is_known].sum(), 1.0)
    while counts[-1].sum() > 10 * labels and not density.is_known.all():
        counts.append(counts[-1] / 10)
    return counts[::-1]


class _Climb:
    """The hill. A point has shape (classes, 1 + outputs): the prevalence, then the confusion."""

    def __init__(self, density: Density) -> None:
        self.learned = ~density.is_known
        self.prevalence, self.unlabeled = density.prevalence - 1, density.unlabeled
        self.rows = np.where(self.learned[:, None], density.rows - 1, 0.0)
        _require_no_pole("prevalence", self.prevalence)
        _require_no_pole("confusion", self.rows)
        self.total = self.prevalence.sum() + self.unlabeled.sum()
        self.tolerance = float(1e-6 + 1e-12 * self.total)

    def step(self, point: FloatArray) -> FloatArray:
        """Allocate the unlabelled items as the point says, and go where that leads."""
        allocated = point[:, :1] * point[:, 1:] * self._per_item(point)
        new = point.copy()
        if self.total:
            new[:, 0] = (self.prevalence + allocated.sum(axis=1)) / self.total
        seen = self.rows + allocated
        weight = seen.sum(axis=1, keepdims=True)
        np.divide(seen, weight, out=new[:, 1:], where=self.learned[:, None] & (weight > 0))
        return new

    def leap(self, point: FloatArray) -> FloatArray:
        """Take two steps, extrapolate, and take one more from there; stay with the two if that was not uphill."""
        once = self.step(point)
        twice = self.step(once)
        change, bend = once - point, twice - 2 * once + point
        ratio = float(np.linalg.norm(change)) / max(float(np.linalg.norm(bend)), 1e-300)
        length = min(max(ratio, 1.0), LONGEST_LEAP)
        far = point + 2 * length * change + length**2 * bend
        far = np.where(far > 0, far, 0.1 * twice)
        far[:, 0] /= far[:, 0].sum()
        far[:, 1:] /= far[:, 1:].sum(axis=1, keepdims=True)
        there = self.step(far)
        return there if self._height(there) >= self._height(twice) else twice

    def residual(self, point: FloatArray) -> float:
        """Bound what moving the prevalence or one row could gain; both are concave, so the slope bounds it."""
        slopes, rows = self._slopes(point)
        steepest = np.maximum(rows.max(axis=1) - (rows * point[:, 1:]).sum(axis=1), 0.0)[self.learned]
        return float(max(slopes.max() - slopes @ point[:, 0], steepest.max(initial=0.0)))

    def is_unique(self, point: FloatArray) -> bool:
        """Look for directions along which the prevalence may move while all that has a weight stays where it is.

        What may move are classes and cells of exponent zero that are no steeper downhill than the rest. What must
        stay are the shares of the outputs that were seen, and the sums of the prevalence and of each row.
        """
        slopes, rows = self._slopes(point)
        shares = np.flatnonzero((self.prevalence == 0) & (slopes >= slopes.max() - SAME))
        level = rows >= rows.max(axis=1, keepdims=True) - SAME
        cells = np.argwhere(level & (self.rows == 0) & self.learned[:, None] & (point[:, :1] > 0))
        seen = self.unlabeled > 0
        moved_shares = np.vstack([point[shares, 1:].T[seen], np.ones(len(shares)), np.zeros((len(rows), len(shares)))])
        outputs = np.where(cells[:, 1] == np.arange(rows.shape[1])[:, None], point[cells[:, 0], 0], 0.0)
        sums = cells[:, 0] == np.arange(len(rows))[:, None]
        moved_cells = np.vstack([outputs[seen], np.zeros(len(cells)), sums])
        return _rank(np.hstack([moved_shares, moved_cells])) == _rank(moved_cells) + len(shares)

    def _per_item(self, point: FloatArray) -> FloatArray:
        """Items of each output over its share, zero where none was seen."""
        outputs = point[:, 0] @ point[:, 1:]
        return np.divide(self.unlabeled, outputs, out=np.zeros_like(outputs), where=self.unlabeled > 0)

    def _slopes(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient by prevalence, shape (classes,), and by confusion, shape (classes, outputs)."""
        per_item = self._per_item(point)
        exponents = np.column_stack([self.prevalence, self.rows])
        own = np.divide(exponents, point, out=np.zeros_like(point), where=exponents > 0)
        return own[:, 0] + point[:, 1:] @ per_item, own[:, 1:] + point[:, :1] * per_item

    def _height(self, point: FloatArray) -> float:
        return float(
            _weighted_log(self.prevalence, point[:, 0])
            + _weighted_log(self.rows, point[:, 1:])
            + _weighted_log(self.unlabeled, point[:, 0] @ point[:, 1:])
        )


def _weighted_log(weights: FloatArray, values: FloatArray) -> FloatArray:
    """``Σ weight · log(value)``; where a weight is zero its value may be too."""
    total: FloatArray = (weights * np.log(np.where(weights > 0, values, 1.0))).sum()
    return total


def _rank(matrix: FloatArray) -> int:
    return int(np.linalg.matrix_rank(matrix, tol=1e-8)) if matrix.size else 0


def _require_no_pole(argument: str, exponents: FloatArray) -> None:
    if (exponents < 0).any():
        raise InputError(
            "prior",
            f"has a concentration of {argument} below 1 where nothing was counted",
            "the density then rises without bound towards zero and has no highest point",
            "Use concentrations of 1 or more, or infer(), whose mean exists",
        )
