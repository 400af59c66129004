"""Unbounded coordinates of what groups of two classes have in common: rows, centre and spread.

Items determine the outputs' shares q at the centre well, and so tie the rows to the centre: a thin, bent ridge, whose
ends are centres where one class is absent. Where both rows are learned, the coordinates are therefore the log-ratios of
``q = m_1 φ_1 + m_2 φ_2``, where m are the classes' shares at the centre, and how much those of the rows differ,
``δ = r_1 − r_2``. Given q, δ and m, rows follow from ``φ_2k = q_k / (m_2 + m_1 exp(δ_k) / Z)``, where Z makes it a row.

Where labels come from studies that vary, the groups are one study among them, perhaps without labels. Its row l has
the log-ratios ``t_l = r_l + spread_l · u_l``, ``u_l ~ N(0, 1)``, around the common ones r_l, and u_l is a coordinate.
The other is t_l where the groups say more of it than a study says of its own row, and r_l elsewhere.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truecount._log_sum import SMALLEST, finite_log
from truecount._types import BoolArray, FloatArray, IntArray
from truecount.inference.integrated.integral import Common
from truecount.inference.integrated.studies import study_evidence
from truecount.models.hierarchy import GroupDensity
from truecount.models.hierarchy.log_ratios import log_ratio_basis, shares_of

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

    @cached_property
    def groups(self) -> GroupDensity:
        """The density of the groups alone, without studies that are no groups."""
        density = self.density
        if density.labeled is None or density.is_group is None:
            return density
        return density.of_groups(np.flatnonzero(density.is_group))

    @cached_property
    def _own_labels(self) -> FloatArray:
        """Shape (rows, outputs): labels of the groups, where they are one study among several."""
        return np.zeros((0, 0)) if self.groups.labeled is None else self.groups.labeled[self._free].sum(axis=2)

    @cached_property
    def _study_labels(self) -> list[FloatArray]:
        """For each row the labels of the studies that have some of its class, shape (studies, outputs)."""
        density = self.density
        if density.labeled is None or density.is_group is None:
            return []
        each = [density.labeled[row][:, ~density.is_group].T for row in self._free]
        return [labels[labels.any(axis=1)] for labels in each]

    @cached_property
    def _starts_at_own(self) -> BoolArray:
        """Shape (rows,): whether t stands in place of r, because the groups say more of it than a study of its own."""
        usual = [labels.sum() / max(len(labels), 1) for labels in self._study_labels]
        is_usual: BoolArray = self._own_labels.sum(axis=1) <= np.array(usual)
        return ~is_usual | self._is_tied | (self.groups.n_groups > 1)

    def natural(self, points: FloatArray) -> tuple[Common, FloatArray]:
        """Return what the points (point, coordinate) stand for, and the logarithm of its density there, items apart."""
        common, value = self.placed(points)
        if common.middle is not None:
            spread = self.density.spread(common.scores)[:, self.density.n_prevalence_spreads :]
            ratios = self._ratios_of(common.middle[:, self._free])
            for at, labels in enumerate(self._study_labels):
                value = value + study_evidence(labels, ratios[:, at], spread[:, at], self._basis)
        return common, value

    def placed(self, points: FloatArray) -> tuple[Common, FloatArray]:
        """Return what the points stand for, and the logarithm of its density there, items and other studies apart."""
        density, width, size = self.density, self._basis.shape[1], len(points)
        n_rows, n_columns = len(self._free) * width, len(density.centre.design)
        ends = np.cumsum([n_rows, n_columns, density.n_spreads])
        of_rows, coefficients, scores, apart = np.split(points, ends, axis=1)
        ratios = of_rows.reshape(size, len(self._free), width)
        coefficients = coefficients[..., None]
        value = density.centre.prior(coefficients)[0] - 0.5 * (scores * scores).sum(axis=1)
        if self._is_tied:
            tied, volume = self._untied(ratios[:, 0], ratios[:, 1], self._at_centre(coefficients))
            ratios, value = self._ratios_of(tied), value + volume
        if density.labeled is None:
            rows, logs = self._rows_of(ratios)
            return Common(rows, coefficients, scores), value + self._prior_of_rows(logs)
        spread = density.spread(scores)[:, density.n_prevalence_spreads :]
        step = spread[..., None] * apart.reshape(ratios.shape)
        own = ratios + np.where(self._starts_at_own[:, None], 0.0, step)
        rows, logs = self._rows_of(own)
        middle, common_logs = self._rows_of(own - step)
        value = value + self._prior_of_rows(common_logs) - 0.5 * (apart * apart).sum(axis=1)
        value = value + (self._own_labels * logs[:, self._free]).sum(axis=(1, 2))
        return Common(rows, coefficients, scores, middle), value

    def points(self, common: Common) -> FloatArray:
        """Return the coordinates of what groups have in common."""
        rows, size = common.rows[:, self._free], len(common.rows)
        own = ratios = self._ratios_of(rows)
        apart = np.empty((size, 0))
        if common.middle is not None:
            around = self._ratios_of(common.middle[:, self._free])
            ratios = np.where(self._starts_at_own[:, None], own, around)
            spread = self.density.spread(common.scores)[:, self.density.n_prevalence_spreads :]
            apart = (own - around) / spread[..., None]
        if self._is_tied:
            outputs = (self._at_centre(common.coefficients)[:, :, None] * rows).sum(axis=1)
            ratios = np.stack([self._ratios_of(outputs), own[:, 0] - own[:, 1]], axis=1)
        parts = (ratios, common.coefficients, common.scores, apart)
        return np.concatenate([each.reshape(size, -1) for each in parts], axis=1)

    def _ratios_of(self, rows: FloatArray) -> FloatArray:
        return np.asarray(finite_log(rows) @ np.linalg.pinv(self._basis).T)

    def _rows_of(self, ratios: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return rows (point, class, output), those that are known among them, and their logarithms."""
        rows = np.broadcast_to(self.density.rows.known, (len(ratios), *self.density.rows.shapes.shape)).copy()
        rows[:, self._free] = shares_of(self._basis, ratios.swapaxes(1, 2)).swapaxes(1, 2)
        return rows, finite_log(rows)

    def _prior_of_rows(self, logs: FloatArray) -> FloatArray:
        """Return the log-density of log-ratios of rows that are learned."""
        rows = self.density.rows
        value: FloatArray = (rows.shapes * logs)[:, self._free].sum(axis=(1, 2))
        return value if rows.learned is None else value + rows.learned.log_ratio(logs)

    def _at_centre(self, coefficients: FloatArray) -> FloatArray:
        """Return both classes' shares at the centre, shape (point, class)."""
        return shares_of(self.density.centre.basis, coefficients[:, :1].swapaxes(1, 2))[:, :, 0]

    def _untied(self, of_outputs: FloatArray, apart: FloatArray, centre: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return both rows (point, class, output), and the logarithm of the volume that they have for one of q."""
        outputs = shares_of(self._basis, of_outputs[:, :, None])[:, :, 0]
        logs = np.clip(apart @ self._basis.T, -300, 300)
        first, second = np.maximum(centre[:, :1], SMALLEST), np.maximum(centre[:, 1:], SMALLEST)
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
