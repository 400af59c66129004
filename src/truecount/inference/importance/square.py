"""Turn any number of outputs and classes into as many equations as unknowns.

Given the confusion φ, the outputs' shares q = φᵀπ fix the prevalence π when there are as many outputs as classes. More
outputs are merged into as many groups as there are classes; with fewer, some classes' shares are drawn and the rest
follow. Both are exact once the draws are weighted for what was left out.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from truecount._types import BoolArray, FloatArray, IntArray
from truecount.models import Density


@dataclass(frozen=True, slots=True)
class SquareSystem:
    """Which outputs are merged and which classes are solved for.

    Parameters
    ----------
    groups
        Shape (outputs,): the group that each output belongs to, numbered so that elimination needs no pivoting.
    solved
        Classes whose shares follow from the equations, as many as there are groups, in pivot order.
    free
        Classes whose shares are drawn.
    """

    groups: IntArray
    solved: IntArray
    free: IntArray

    @property
    def size(self) -> int:
        """How many equations there are."""
        return len(self.solved)


def square_system(density: Density) -> SquareSystem:
    """Choose groups and solved classes so that the equations are as far from singular as can be had greedily."""
    confusion = density.mean_confusion
    size = min(confusion.shape)
    if confusion.shape[0] > confusion.shape[1]:
        return _pivoted(confusion, np.arange(size), _independent_rows(confusion, size))
    return _pivoted(confusion, _merge(confusion, _independent_rows(confusion.T, size)), np.arange(size))


def smaller_system(system: SquareSystem, density: Density) -> SquareSystem:
    """Merge two groups and free one class, those that leave the equations furthest from singular."""
    confusion = density.mean_confusion
    merged = merge_columns(confusion[system.solved], system.groups, system.size)
    options = [(pair, row) for pair in combinations(range(system.size), 2) for row in range(system.size)]
    volumes = [abs(np.linalg.det(np.delete(_join(merged, pair), row, axis=0))) for pair, row in options]
    (kept, gone), row = options[int(np.argmax(volumes))]
    groups = np.where(system.groups == gone, kept, system.groups)
    return _pivoted(confusion, groups - (groups > gone), np.delete(system.solved, row))


def _join(matrix: FloatArray, pair: tuple[int, int]) -> FloatArray:
    joined = np.delete(matrix, pair[1], axis=1)
    joined[:, pair[0]] += matrix[:, pair[1]]
    return joined


def _pivoted(confusion: FloatArray, groups: IntArray, solved: IntArray) -> SquareSystem:
    """Order the solved classes so that elimination needs no pivoting."""
    order = _pivots(merge_columns(confusion[solved], groups, len(solved)))
    free = np.delete(np.arange(len(confusion)), solved)
    return SquareSystem(groups, solved[order], free)


def merge_columns(confusion: FloatArray, groups: IntArray, size: int) -> FloatArray:
    """Add up the outputs of each group; shape (classes, outputs, …) becomes (classes, size, …)."""
    if len(groups) == size:
        merged = np.empty_like(confusion)
        merged[:, groups] = confusion
        return merged
    merged = np.zeros((confusion.shape[0], size, *confusion.shape[2:]))
    for output, group in enumerate(groups):
        merged[:, group] += confusion[:, output]
    return merged


def _independent_rows(matrix: FloatArray, size: int) -> IntArray:
    """Pick rows that span the largest volume, one after another."""
    rest = matrix.copy()
    chosen: list[int] = []
    for _ in range(size):
        lengths = (rest**2).sum(axis=1)
        lengths[chosen] = -1.0
        best = int(lengths.argmax())
        chosen.append(best)
        direction = rest[best] / max(np.sqrt(lengths[best]), 1e-300)
        rest = rest - np.outer(rest @ direction, direction)
    return np.array(chosen)


def _merge(confusion: FloatArray, anchors: IntArray) -> IntArray:
    """Let each further output join the anchor that keeps the classes furthest apart."""
    groups = np.full(confusion.shape[1], -1)
    groups[anchors] = np.arange(len(anchors))
    merged = confusion[:, anchors].copy()
    for output in np.flatnonzero(groups < 0):
        joined = merged[None] + confusion[None, :, output, None] * np.eye(len(anchors))[:, None, :]
        best = int(np.abs(np.linalg.det(joined)).argmax())
        groups[output], merged = best, joined[best]
    return groups


def _pivots(matrix: FloatArray) -> IntArray:
    """Order the rows as elimination with pivoting would."""
    rest, order = matrix.copy(), np.arange(len(matrix))
    for step in range(len(matrix)):
        best = step + int(np.abs(rest[step:, step]).argmax())
        rest[[step, best]], order[[step, best]] = rest[[best, step]], order[[best, step]]
        pivot = rest[step, step] or 1e-300
        rest[step + 1 :] -= np.outer(rest[step + 1 :, step] / pivot, rest[step])
    return order


def solve(matrix: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Solve ``matrixᵀ x = right`` and give log|det|, for many systems along the last axes.

    Elimination in the given order, one NumPy operation a step for all systems; those few where that order was a poor
    one are solved again with pivoting.

    Parameters
    ----------
    matrix
        Shape (n, n, …).
    right
        Shape (n, …).
    """
    size = len(matrix)
    rest, known = np.swapaxes(matrix, 0, 1).copy(), right.copy()
    with np.errstate(all="ignore"):
        for step in range(size - 1):
            factor = rest[step + 1 :, step] / rest[step, step]
            rest[step + 1 :, step + 1 :] -= factor[:, None] * rest[None, step, step + 1 :]
            known[step + 1 :] -= factor * known[step]
        solution = np.empty_like(known)
        for step in range(size - 1, -1, -1):
            above = (rest[step, step + 1 :] * solution[step + 1 :]).sum(axis=0) if step + 1 < size else 0.0
            solution[step] = (known[step] - above) / rest[step, step]
        log_det = np.log(np.abs(rest[np.arange(size), np.arange(size)])).sum(axis=0)
        residual = np.abs(np.einsum("ij...,i...->j...", matrix, solution) - right).max(axis=0)
    poor = ~(residual < 1e-10)
    if poor.any():
        _solve_with_pivoting(matrix, right, poor, solution, log_det)
    return solution, log_det


def _solve_with_pivoting(
    matrix: FloatArray, right: FloatArray, which: BoolArray, solution: FloatArray, log_det: FloatArray
) -> None:
    """Solve some systems again, in place; a singular one has no solution and is left at minus infinity."""
    transposed, sides = matrix[:, :, which].transpose(2, 1, 0), right[:, which].T
    log_det[which] = np.linalg.slogdet(transposed)[1]
    regular = np.isfinite(log_det[which])
    answers = np.full(sides.shape, -np.inf)
    answers[regular] = np.linalg.solve(transposed[regular], sides[regular, :, None])[..., 0]
    solution[:, which] = answers.T
