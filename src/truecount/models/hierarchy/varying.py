"""Groups and studies among which the confusion varies too, around common rows.

A *unit* is a group, a study that labels come from, or both. Row l of unit u is
``softmax(h_l + basis · (drift_l · ε_ul))`` with ``ε ~ N(0, 1)``, where h_l are the log-gammas of the common row; the
prevalence of a unit varies as in `pooled`. Units with labels of their own tell how large the drift is; a unit without
any has the predictive rows, so that what was seen to differ between studies widens its answer.

Latents of a unit: its log-ratios of the prevalence, then those of each row to be learned.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.models.hierarchy.centre import Centre
from truecount.models.hierarchy.log_ratios import half_normal, half_normal_slope, log_ratio_basis, shares_of
from truecount.models.hierarchy.rows import Rows


@dataclass(frozen=True)
class VaryingDensity:
    """The posterior of common rows, their drift between units, centre, spread, prevalences and rows of units.

    Parameters
    ----------
    rows
        Prior of the common rows, without labels.
    labeled
        Shape (classes, outputs, units): labelled items of each unit.
    unlabeled
        Shape (outputs, units): unlabelled items of each unit.
    centre
        Prior and design of the units' centre.
    spread_scale, drift_scale
        Scales of the half-normal priors of the spread of prevalences and of the drift of rows.
    centring
        Shape (latents, units), from 0 to 1.
    """

    rows: Rows
    labeled: FloatArray
    unlabeled: FloatArray
    centre: Centre
    spread_scale: float = 1.0
    drift_scale: float = 0.5
    centring: FloatArray = field(default_factory=lambda: np.zeros(()))
    loadings: None = None

    @property
    def n_groups(self) -> int:
        """How many units there are."""
        return int(self.unlabeled.shape[1])

    @property
    def n_ratios(self) -> int:
        """How many log-ratios a prevalence has."""
        return int(self.centre.basis.shape[1])

    @property
    def n_free(self) -> int:
        """How many rows are to be learned."""
        return int(self.rows.free.sum())

    @property
    def n_spreads(self) -> int:
        """How many spreads there are: of each log-ratio, and the drift of each row."""
        return self.n_ratios + self.n_free

    @property
    def n_hyper(self) -> int:
        """How many hyperparameters there are."""
        return self.rows.size + len(self.centre.design) * self.n_ratios + self.n_spreads

    @property
    def latent_shape(self) -> tuple[int, int]:
        """How many latents a unit has, and how many units there are."""
        return self.n_ratios + self.n_free * (len(self.unlabeled) - 1), self.n_groups

    @cached_property
    def _row_basis(self) -> FloatArray:
        return log_ratio_basis(len(self.unlabeled))

    @cached_property
    def _items(self) -> FloatArray:
        items: FloatArray = self.unlabeled.sum(axis=0)
        return items

    @cached_property
    def spread_of_latent(self) -> IntArray:
        """Shape (latents,): which spread each latent has."""
        of_rows = np.repeat(np.arange(self.n_free), len(self.unlabeled) - 1)
        return np.concatenate([np.arange(self.n_ratios), self.n_ratios + of_rows])

    @cached_property
    def _scales(self) -> FloatArray:
        return np.repeat([self.spread_scale, self.drift_scale], [self.n_ratios, self.n_free])

    def recentred(self, centring: FloatArray) -> "VaryingDensity":
        """Return the same density in coordinates of another centring."""
        return replace(self, centring=centring)

    def of_groups(self, chosen: IntArray) -> "VaryingDensity":
        """Return the density of some of the units."""
        return replace(
            self,
            labeled=self.labeled[:, :, chosen],
            unlabeled=self.unlabeled[:, chosen],
            centre=replace(self.centre, design=self.centre.design[:, chosen]),
            centring=self.centring[:, chosen],
        )

    def parts(self, hyper: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return coordinates of rows, coefficients of the centre (chain, column, log-ratio) and scores of spreads."""
        first, last = self.rows.size, hyper.shape[1] - self.n_spreads
        return hyper[:, :first], hyper[:, first:last].reshape(len(hyper), -1, self.n_ratios), hyper[:, last:]

    def spread(self, scores: FloatArray) -> FloatArray:
        """Return the spreads of prevalences and the drifts of rows, of their scores."""
        return half_normal(scores, self._scales)

    def prevalence(self, hyper: FloatArray, latent: FloatArray) -> FloatArray:
        """Return prevalences, shape (chain, class, unit)."""
        _, coefficients, scores = self.parts(hyper)
        scaled = self._stretched(self.spread(scores))[0] * latent
        return shares_of(self.centre.basis, self.centre.located(coefficients) + scaled[:, : self.n_ratios])

    def confusion(self, hyper: FloatArray, latent: FloatArray) -> FloatArray:
        """Return the confusion of every unit, shape (chain, unit, class, output)."""
        row_points, _, scores = self.parts(hyper)
        scaled = self._stretched(self.spread(scores))[0] * latent
        common, logs, _, _ = self.rows.natural(row_points)
        return self._unit_rows(common, logs, scaled).transpose(0, 3, 1, 2)

    def standard_latent(self, hyper: FloatArray, latent: FloatArray) -> FloatArray:
        """Return latents whose prior is standard normal, whatever the centring."""
        return latent * np.sqrt(self._stretched(self.spread(self.parts(hyper)[2]))[1])

    def own_latent(self, hyper: FloatArray, standard: FloatArray) -> FloatArray:
        """Return the latent coordinates of standard ones."""
        return standard / np.sqrt(self._stretched(self.spread(self.parts(hyper)[2]))[1])

    def _stretched(self, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the scale of each latent and its prior precision, shape (chain, latent, unit)."""
        logs = np.log(spread)[:, self.spread_of_latent, None]
        return np.exp((1 - self.centring) * logs), np.exp(-2 * self.centring * logs)

    def _unit_rows(self, common: FloatArray, logs: FloatArray, scaled: FloatArray) -> FloatArray:
        """Return rows of every unit, shape (chain, class, output, unit)."""
        deviation = scaled[:, self.n_ratios :].reshape(len(scaled), self.n_free, -1, self.n_groups)
        exponents = logs[..., None] + np.matmul(self._row_basis, deviation)
        exponents -= exponents.max(axis=2, keepdims=True)
        np.exp(exponents, out=exponents)
        rows = np.broadcast_to(common[..., None], (*common.shape, self.n_groups)).copy()
        rows[:, self.rows.free] = exponents / exponents.sum(axis=2, keepdims=True)
        return rows

    def value_and_gradient(self, hyper: FloatArray, latent: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the log-density (chain,) and its gradients by `hyper` and `latent`."""
        row_points, coefficients, scores = self.parts(hyper)
        common, logs, slope, value = self.rows.natural(row_points)
        spread = self.spread(scores)
        scale, precision = self._stretched(spread)
        scaled, basis, free = scale * latent, self.centre.basis, self.rows.free
        shares = shares_of(basis, self.centre.located(coefficients) + scaled[:, : self.n_ratios])
        rows = self._unit_rows(common, logs, scaled)
        joint = shares[:, :, None] * rows
        outputs = joint.sum(axis=1)
        allocations = joint * (self.unlabeled / outputs)[:, None]
        score = np.matmul(basis.T, allocations.sum(axis=2) - self._items * shares)
        counted = allocations[:, free] + self.labeled[free]
        by_logits = counted - rows[:, free] * counted.sum(axis=2, keepdims=True)
        by_rows = np.matmul(self._row_basis.T, by_logits).reshape(len(hyper), -1, self.n_groups)
        by_scaled = np.concatenate([score, by_rows], axis=1)
        penalty = latent * latent * precision

        value = value + np.where(self.unlabeled > 0, self.unlabeled * np.log(outputs), 0.0).sum(axis=(1, 2))
        value += (self.labeled[free] * np.log(rows[:, free])).sum(axis=(1, 2, 3))
        value -= 0.5 * (penalty - np.log(precision)).sum(axis=(1, 2))
        prior, by_coefficients = self.centre.prior(coefficients)
        value += prior - 0.5 * (scores * scores).sum(axis=1)

        by_log = ((1 - self.centring) * by_scaled * scaled + self.centring * (penalty - 1)).sum(axis=2)
        by_spread = np.zeros_like(spread)
        np.add.at(by_spread.T, self.spread_of_latent, by_log.T)
        of_common = np.zeros_like(common)
        of_common[:, free] = by_logits.sum(axis=3)
        by_hyper = np.concatenate(
            [
                self.rows.gradient(of_common, common, logs, slope),
                (by_coefficients + self.centre.gradient(score)).reshape(len(hyper), -1),
                by_spread / spread * half_normal_slope(scores, spread, self._scales) - scores,
            ],
            axis=1,
        )
        return value, by_hyper, by_scaled * scale - latent * precision

    def curvature(self, hyper: FloatArray, latent: FloatArray) -> FloatArray:
        """Return the expected curvature by the latents of each unit, shape (chain, latent, latent, unit)."""
        row_points, coefficients, scores = self.parts(hyper)
        common, logs, _, _ = self.rows.natural(row_points)
        scale, precision = self._stretched(self.spread(scores))
        scaled, basis, free = scale * latent, self.centre.basis, self.rows.free
        shares = shares_of(basis, self.centre.located(coefficients) + scaled[:, : self.n_ratios])
        rows = self._unit_rows(common, logs, scaled)
        joint = shares[:, :, None] * rows
        mean = np.matmul(basis.T, shares)
        by_ratios = np.einsum("clku,lj->cjku", joint, basis) - mean[:, :, None] * joint.sum(axis=1)[:, None]
        own = rows[:, free]
        tilted = self._row_basis[None, None, :, :, None] - np.einsum("clku,km->clmu", own, self._row_basis)[:, :, None]
        by_rows = (joint[:, free][:, :, :, None] * tilted).transpose(0, 1, 3, 2, 4)
        slopes = np.concatenate([by_ratios, by_rows.reshape(len(hyper), -1, *joint.shape[2:])], axis=1)
        result: FloatArray = np.einsum("caku,cku,cbku->cabu", slopes, self._items / joint.sum(axis=1), slopes)
        of_labels = np.einsum("clkmu,clku,clknu->clmnu", tilted, own, tilted)
        of_labels *= self.labeled[free].sum(axis=1)[None, :, None, None]
        width = len(self.unlabeled) - 1
        for row in range(self.n_free):
            block = slice(self.n_ratios + row * width, self.n_ratios + (row + 1) * width)
            result[:, block, block] += of_labels[:, row]
        result *= scale[:, :, None] * scale[:, None]
        diagonal = np.arange(result.shape[1])
        result[:, diagonal, diagonal] += precision
        return result
