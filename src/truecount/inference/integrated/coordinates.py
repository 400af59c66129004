"""Unbounded coordinates of what groups of two classes have in common: rows, centre and spread.

Items determine the outputs' shares q at the centre well, and so tie the rows to the centre: a thin, bent ridge, whose
ends are centres where one class is absent. Where both rows are learned, the coordinates are therefore the log-ratios of
``q = m_1 φ_1 + m_2 φ_2``, where m are the classes' shares at the centre, and how much those of the rows differ,
``δ = r_1 − r_2``. Given q, δ and m, rows follow from ``φ_2k = q_k / (m_2 + m_1 exp(δ_k) / Z)``, where Z makes it a row.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.inference.integrated.integral import Common
from truecount.models.hierarchy import GroupDensity
from truecount.models.hierarchy.log_ratios import log_ratio_basis, shares_of

TINY = 1e-300
STEPS = 40
"""Of bisection, in the search for Z."""


@dataclass(frozen=True)
class CommonCoordinates:
    """Log-ratios of rows that are learned, or of q and their difference; then of the centre, and scores of spreads."""

    density: GroupDensity

    @cached_property
    def _basis(self) -> FloatArray:
        return log_ratio_basis(len(self.density.unlabeled))

    @cached_property
    def _free(self) -> IntArray:
        return np.flatnonzero(self.density.rows.free)

    @property
    def _is_tied(self) -> bool:
        """Whether q and a difference stand in place of rows."""
        return len(self._free) == 2 and len(self.density.centre.design) > 0

    def natural(self, points: FloatArray) -> tuple[Common, FloatArray]:
        """Return what the points (point, coordinate) stand for, and the logarithm of its prior there."""
        density, width = self.density, self._basis.shape[1]
        n_rows, n_columns = len(self._free) * width, len(density.centre.design)
        ratios = points[:, :n_rows].reshape(len(points), len(self._free), width)
        coefficients = points[:, n_rows : n_rows + n_columns].reshape(len(points), n_columns, 1)
        scores = points[:, n_rows + n_columns :]
        value = density.centre.prior(coefficients)[0] - 0.5 * (scores * scores).sum(axis=1)
        rows = np.broadcast_to(density.rows.known, (len(points), *density.rows.shapes.shape)).copy()
        if self._is_tied:
            rows, volume = self._untied(ratios[:, 0], ratios[:, 1], self._at_centre(coefficients))
            value = value + volume
        else:
            rows[:, self._free] = shares_of(self._basis, ratios.swapaxes(1, 2)).swapaxes(1, 2)
        logs = np.log(np.maximum(rows, TINY))
        value = value + (density.rows.shapes * logs)[:, self._free].sum(axis=(1, 2))
        if density.rows.learned is not None:
            value = value + density.rows.learned.log_ratio(logs)
        return Common(rows, coefficients, scores), value

    def points(self, common: Common) -> FloatArray:
        """Return the coordinates of what groups have in common."""
        rows, size = common.rows[:, self._free], len(common.rows)
        inverse = np.linalg.pinv(self._basis).T
        ratios = np.log(np.maximum(rows, TINY)) @ inverse
        if self._is_tied:
            outputs = (self._at_centre(common.coefficients)[:, :, None] * rows).sum(axis=1)
            ratios = np.stack([np.log(outputs) @ inverse, ratios[:, 0] - ratios[:, 1]], axis=1)
        return np.concatenate([each.reshape(size, -1) for each in (ratios, common.coefficients, common.scores)], axis=1)

    def _at_centre(self, coefficients: FloatArray) -> FloatArray:
        """Return both classes' shares at the centre, shape (point, class)."""
        return shares_of(self.density.centre.basis, coefficients[:, :1].swapaxes(1, 2))[:, :, 0]

    def _untied(self, of_outputs: FloatArray, apart: FloatArray, centre: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return both rows (point, class, output), and the logarithm of the volume that they have for one of q."""
        outputs = shares_of(self._basis, of_outputs[:, :, None])[:, :, 0]
        logs = np.clip(apart @ self._basis.T, -300, 300)
        first, second = np.maximum(centre[:, :1], TINY), np.maximum(centre[:, 1:], TINY)
        low, high = logs.min(axis=1), logs.max(axis=1)
        for _ in range(STEPS):
            middle = 0.5 * (low + high)
            tilted = first * np.exp(logs - middle[:, None])
            is_low = (outputs / (second + tilted)).sum(axis=1) < 1
            low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        tilted = np.exp(logs - middle[:, None])
        row = outputs / (second + first * tilted)
        rows = np.stack([row * tilted, row], axis=1)
        rows /= rows.sum(axis=2, keepdims=True)
        moved = self._moved(centre[:, 0], rows[:, 0]) + self._moved(centre[:, 1], rows[:, 1])
        volume = np.linalg.slogdet(self._moved(np.ones(len(outputs)), outputs))[1] - np.linalg.slogdet(moved)[1]
        return rows, volume

    def _moved(self, weight: FloatArray, shares: FloatArray) -> FloatArray:
        """Return ``weight · Bᵀ (diag φ − φ φᵀ) B``, how much shares move with their log-ratios, in their basis B."""
        mean = shares @ self._basis
        second = np.einsum("ki,pk,kj->pij", self._basis, shares, self._basis)
        return np.asarray(weight[:, None, None] * (second - mean[:, :, None] * mean[:, None]))
