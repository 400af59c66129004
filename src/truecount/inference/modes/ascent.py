"""Ascent of a log density, many problems at once: EM steps, accelerated (SQUAREM)."""

import numpy as np

from truecount._types import BoolArray, FloatArray
from truecount.errors import InputError
from truecount.models import Density

LONGEST_LEAP = 1e8
FITTING_STEPS = 50
SAME = 1e-3
"""Slopes that differ by less, in nats for a whole share, count as equal when a ridge is looked for."""


class Ascent:
    """The log-density. A point has shape (..., classes, 1 + outputs): the prevalence, then the confusion.

    Cells that stay empty, if any, have shape (..., classes, outputs), of points that ascend together. The prevalence
    may be kept as it is, so that only rows move.
    """

    def __init__(self, density: Density, is_empty: BoolArray | bool = False, *, keeps_prevalence: bool = False) -> None:
        self.learned, self.keeps_prevalence = ~density.is_known, keeps_prevalence
        self.prevalence, self.unlabeled = density.prevalence - 1, density.unlabeled
        self.rows = np.where(self.learned[:, None] & ~np.asarray(is_empty), density.rows - 1, 0.0)
        _require_no_pole("prevalence", self.prevalence)
        _require_no_pole("confusion", self.rows)
        self.total = self.prevalence.sum() + self.unlabeled.sum()
        self.tolerance = float(1e-6 + 1e-12 * self.total)

    def allocated(self, point: FloatArray) -> FloatArray:
        """Shape (..., classes, outputs): the unlabelled items, shared out as the point says."""
        items: FloatArray = point[..., :1] * point[..., 1:] * self._per_item(point)
        return items

    def step(self, point: FloatArray) -> FloatArray:
        """Share out the unlabelled items as the point says, and go where that leads."""
        allocated = self.allocated(point)
        new = point.copy()
        if self.total and not self.keeps_prevalence:
            new[..., 0] = (self.prevalence + allocated.sum(axis=-1)) / self.total
        seen = self.rows + allocated
        weight = seen.sum(axis=-1, keepdims=True)
        np.divide(seen, weight, out=new[..., 1:], where=self.learned[:, None] & (weight > 0))
        return new

    def leap(self, point: FloatArray) -> FloatArray:
        """Take two steps, extrapolate, and take one more from there; keep the two if that is not higher."""
        once = self.step(point)
        twice = self.step(once)
        far = extrapolate(point, once, twice, longest=LONGEST_LEAP, axes=(-2, -1))
        far[..., 0] /= far[..., 0].sum(axis=-1, keepdims=True)
        far[..., 1:] /= far[..., 1:].sum(axis=-1, keepdims=True)
        there = self.step(far)
        higher: FloatArray = np.where((self.height(there) >= self.height(twice))[..., None, None], there, twice)
        return higher

    def residual(self, point: FloatArray) -> FloatArray:
        """Bound what moving the prevalence or one row could gain; both are concave, so the slope bounds it."""
        slopes, rows = self._slopes(point)
        steepest = np.where(self.learned, rows.max(axis=-1) - (rows * point[..., 1:]).sum(axis=-1), 0.0)
        shares = slopes.max(axis=-1) - (slopes * point[..., 0]).sum(axis=-1)
        return np.asarray(np.maximum(shares, np.maximum(steepest.max(axis=-1), 0.0)))

    def is_peak(self, point: FloatArray) -> bool:
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

    def height(self, point: FloatArray) -> FloatArray:
        """Log-density, up to a constant."""
        outputs = (point[..., :1] * point[..., 1:]).sum(axis=-2)
        rows = _weighted_log(self.rows, point[..., 1:]).sum(axis=-1)
        return np.asarray(_weighted_log(self.prevalence, point[..., 0]) + rows + _weighted_log(self.unlabeled, outputs))

    def ceiling(self) -> float:
        """Return an upper bound of the height: prevalence, rows and outputs each at its own maximum."""
        parts = [self.prevalence, self.unlabeled, *self.rows]
        return float(sum(_weighted_log(part, part / max(part.sum(), 1e-300)) for part in parts))

    def _per_item(self, point: FloatArray) -> FloatArray:
        """Items of each output over its share, zero where none was seen; shape (..., 1, outputs)."""
        outputs = (point[..., :1] * point[..., 1:]).sum(axis=-2, keepdims=True)
        per_item: FloatArray = np.divide(self.unlabeled, outputs, out=np.zeros_like(outputs), where=self.unlabeled > 0)
        return per_item

    def _slopes(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Gradient by prevalence, shape (..., classes), and by confusion, shape (..., classes, outputs)."""
        per_item = self._per_item(point)
        exponents = np.broadcast_to(np.column_stack([self.prevalence, self.rows]), point.shape)
        own = np.divide(exponents, point, out=np.zeros_like(point), where=exponents > 0)
        return own[..., 0] + (point[..., 1:] * per_item).sum(axis=-1), own[..., 1:] + point[..., :1] * per_item


def extrapolate(
    start: FloatArray, once: FloatArray, twice: FloatArray, *, longest: float, axes: tuple[int, ...]
) -> FloatArray:
    """Return where two steps lead if they go on as they began (SQUAREM), many at once; nothing is below zero.

    Parameters
    ----------
    start, once, twice
        Points, and where one and two steps have led.
    longest
        How many times the first step is taken, at most.
    axes
        Those that make up one point.
    """
    change, bend = once - start, twice - 2 * once + start
    lengths = (np.sqrt((vectors**2).sum(axis=axes, keepdims=True)) for vectors in (change, bend))
    length = np.clip(next(lengths) / np.maximum(next(lengths), 1e-300), 1.0, longest)
    far = start + 2 * length * change + length**2 * bend
    return np.where(far > 0, far, 0.1 * twice)


def share_out(density: Density, prevalence: FloatArray, confusion: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Share the unlabelled items out by a rough fit of the prevalence, with the confusion as it is.

    Shapes (..., classes) and (..., classes, outputs) give the prevalence and the items, of the same shapes.
    """
    for _ in range(FITTING_STEPS):
        joint = prevalence[..., None] * confusion
        outputs = joint.sum(axis=-2)
        per_item = np.divide(density.unlabeled, outputs, out=np.zeros_like(outputs), where=outputs > 0)
        items = joint * per_item[..., None, :]
        prevalence = items.sum(axis=-1) + density.prevalence
        prevalence /= prevalence.sum(axis=-1, keepdims=True)
    return prevalence, items


def _weighted_log(weights: FloatArray, values: FloatArray) -> FloatArray:
    """``Σ weight · log(value)`` over the last axis; where a weight is zero its value may be too."""
    return np.asarray((weights * np.log(np.where(weights > 0, values, 1.0))).sum(axis=-1))


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
