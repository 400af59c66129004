"""Groups whose prevalences vary around a common centre, or walk in time; one confusion for all.

The log-ratios are ``η = centre + loading · (spread · ζ)`` with ``ζ ~ N(0, 1)``, and prevalences the softmax of
``basis · η``. The loading is the identity for groups that vary independently around the centre; for a random walk it
adds up the steps so far. Everything is unbounded in the coordinates used here:

``hyper``
    For each cell of a row to be learned the standardised logarithm of its gamma, then the coefficients of the centre,
    then for each spread its normal score.
``latent``
    ``v = spread ** centring · ζ``. A centring of 0 suits latents that the data say little about, of 1 those that they
    determine: it keeps the posterior of `latent` from depending on the spread.

Latents come in blocks that are independent given `hyper`: one for each group, or a single one for a walk.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.models.hierarchy.centre import Centre
from truecount.models.hierarchy.log_ratios import half_normal, half_normal_slope, log_ratio_basis, shares_of
from truecount.models.hierarchy.rows import Rows


@dataclass(frozen=True)
class PooledDensity:
    """The posterior of confusion, centre, spread and prevalences of groups that share them.

    Parameters
    ----------
    rows
        The rows of the confusion, with what the labels say of them.
    unlabeled
        Shape (outputs, groups): unlabelled items.
    centre
        Prior and design of the groups' centre.
    loadings
        None for groups that vary independently. Else one matrix (groups, steps) for each kind of spread: a random walk,
        and perhaps an independent part beside it.
    spread_scale
        Scale of the half-normal prior of the spread.
    centring
        Shape (latents, blocks), from 0 to 1.
    """

    rows: Rows
    unlabeled: FloatArray
    centre: Centre
    loadings: tuple[FloatArray, ...] | None = None
    spread_scale: float = 1.0
    centring: FloatArray = field(default_factory=lambda: np.zeros(()))

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return int(self.unlabeled.shape[1])

    @property
    def n_ratios(self) -> int:
        """How many log-ratios a prevalence has."""
        return int(self.centre.basis.shape[1])

    @property
    def n_spreads(self) -> int:
        """How many spreads there are: one for each log-ratio and kind."""
        return self.n_ratios * len(self.loadings or (None,))

    @property
    def n_hyper(self) -> int:
        """How many hyperparameters there are."""
        return self.rows.size + len(self.centre.design) * self.n_ratios + self.n_spreads

    @property
    def latent_shape(self) -> tuple[int, int]:
        """How many latents a block has, and how many blocks there are."""
        if self.loadings is None:
            return self.n_ratios, self.n_groups
        return self.n_ratios * sum(loading.shape[1] for loading in self.loadings), 1

    @cached_property
    def _items(self) -> FloatArray:
        items: FloatArray = self.unlabeled.sum(axis=0)
        return items

    @cached_property
    def spread_of_latent(self) -> IntArray:
        """Shape (latents,): which spread each latent has; latents of one kind and log-ratio stand together."""
        if self.loadings is None:
            return np.arange(self.n_ratios)
        steps = np.repeat([loading.shape[1] for loading in self.loadings], self.n_ratios)
        return np.repeat(np.arange(self.n_spreads), steps)

    def recentred(self, centring: FloatArray) -> "PooledDensity":
        """Return the same density in coordinates of another centring."""
        return replace(self, centring=centring)

    def of_groups(self, chosen: IntArray) -> "PooledDensity":
        """Return the density of some of the groups, where they are independent of the others."""
        centre = replace(self.centre, design=self.centre.design[:, chosen])
        return replace(self, unlabeled=self.unlabeled[:, chosen], centre=centre, centring=self.centring[:, chosen])

    def parts(self, hyper: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return coordinates of rows, coefficients of the centre (chain, column, log-ratio) and scores of spreads."""
        first, last = self.rows.size, hyper.shape[1] - self.n_spreads
        return hyper[:, :first], hyper[:, first:last].reshape(len(hyper), -1, self.n_ratios), hyper[:, last:]

    def spread(self, scores: FloatArray) -> FloatArray:
        """Return the spreads of their scores."""
        return half_normal(scores, self.spread_scale)

    def prevalence(self, hyper: FloatArray, latent: FloatArray) -> FloatArray:
        """Return prevalences, shape (chain, class, group)."""
        _, coefficients, scores = self.parts(hyper)
        scale, _ = self._stretched(self.spread(scores))
        return shares_of(self.centre.basis, self.centre.located(coefficients) + self._deviation(scale * latent))

    def confusion(self, hyper: FloatArray, latent: FloatArray) -> FloatArray:
        """Return the confusion, shape (chain, class, output)."""
        return self.rows.natural(self.parts(hyper)[0])[0]

    def standard_latent(self, hyper: FloatArray, latent: FloatArray) -> FloatArray:
        """Return ``ζ``, whatever the centring."""
        _, precision = self._stretched(self.spread(self.parts(hyper)[2]))
        return latent * np.sqrt(precision)

    def own_latent(self, hyper: FloatArray, standard: FloatArray) -> FloatArray:
        """Return the latent coordinates of ``ζ``."""
        _, precision = self._stretched(self.spread(self.parts(hyper)[2]))
        return standard / np.sqrt(precision)

    def _stretched(self, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``spread · ζ / v`` and the prior precision of v, shape (chain, latent, block)."""
        logs = np.log(spread)[:, self.spread_of_latent, None]
        return np.exp((1 - self.centring) * logs), np.exp(-2 * self.centring * logs)

    def _deviation(self, scaled: FloatArray) -> FloatArray:
        """Return the deviations from the centre (chain, log-ratio, group), of scaled latents."""
        if self.loadings is None:
            return scaled
        total, start = np.zeros((len(scaled), self.n_ratios, self.n_groups)), 0
        for loading in self.loadings:
            stop = start + self.n_ratios * loading.shape[1]
            total += scaled[:, start:stop, 0].reshape(len(scaled), self.n_ratios, -1) @ loading.T
            start = stop
        return total

    def _by_scaled(self, score: FloatArray) -> FloatArray:
        """Return the gradient by scaled latents, of that by log-ratios."""
        if self.loadings is None:
            return score
        return np.concatenate([(score @ each).reshape(len(score), -1) for each in self.loadings], axis=1)[:, :, None]

    def value_and_gradient(self, hyper: FloatArray, latent: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the log-density (chain,) and its gradients by `hyper` and `latent`."""
        row_points, coefficients, scores = self.parts(hyper)
        confusion, logs, slope, value = self.rows.natural(row_points)
        spread = self.spread(scores)
        scale, precision = self._stretched(spread)
        basis = self.centre.basis
        shares = shares_of(basis, self.centre.located(coefficients) + self._deviation(scale * latent))
        outputs = np.matmul(confusion.transpose(0, 2, 1), shares)
        ratio = self.unlabeled / outputs
        score = np.matmul(basis.T, np.matmul(confusion, ratio) * shares - self._items * shares)
        allocations = np.matmul(shares, ratio.transpose(0, 2, 1)) * confusion
        penalty = latent * latent * precision

        value = value + np.where(self.unlabeled > 0, self.unlabeled * np.log(outputs), 0.0).sum(axis=(1, 2))
        value -= 0.5 * penalty.sum(axis=(1, 2)) - 0.5 * np.log(precision).sum(axis=(1, 2))
        prior, by_coefficients = self.centre.prior(coefficients)
        value += prior - 0.5 * (scores * scores).sum(axis=1)

        by_scaled = self._by_scaled(score)
        by_log = ((1 - self.centring) * by_scaled * scale * latent + self.centring * (penalty - 1)).sum(axis=2)
        by_spread = np.zeros_like(spread)
        np.add.at(by_spread.T, self.spread_of_latent, by_log.T)
        by_hyper = np.concatenate(
            [
                self.rows.gradient(allocations, confusion, logs, slope),
                (by_coefficients + self.centre.gradient(score)).reshape(len(hyper), -1),
                by_spread / spread * half_normal_slope(scores, spread, self.spread_scale) - scores,
            ],
            axis=1,
        )
        return value, by_hyper, by_scaled * scale - latent * precision

    def curvature(self, hyper: FloatArray, latent: FloatArray) -> FloatArray:
        """Return the expected curvature by the latents of each block, shape (chain, latent, latent, block)."""
        row_points, coefficients, scores = self.parts(hyper)
        confusion = self.rows.natural(row_points)[0].transpose(0, 2, 1)
        scale, precision = self._stretched(self.spread(scores))
        basis = self.centre.basis
        shares = shares_of(basis, self.centre.located(coefficients) + self._deviation(scale * latent))
        mean = np.matmul(basis.T, shares)
        weight = self._items / np.matmul(confusion, shares)
        slopes = [
            np.matmul(confusion, shares * (column[:, None] - mean[:, None, at])) for at, column in enumerate(basis.T)
        ]
        information = np.empty((len(hyper), self.n_ratios, self.n_ratios, self.n_groups))
        for first in range(self.n_ratios):
            for second in range(first + 1):
                cell = (weight * slopes[first] * slopes[second]).sum(axis=1)
                information[:, first, second] = information[:, second, first] = cell
        result = self._loaded(information) * scale[:, :, None] * scale[:, None]
        result[:, np.arange(len(precision[0])), np.arange(len(precision[0]))] += precision
        return result

    def _loaded(self, information: FloatArray) -> FloatArray:
        """Return the information on scaled latents, of that on log-ratios group by group."""
        if self.loadings is None:
            return information
        rows = []
        for left in self.loadings:
            cells = [np.einsum("gs,cijg,gt->cisjt", left, information, right) for right in self.loadings]
            rows.append(
                np.concatenate(
                    [cell.reshape(*cell.shape[:1], cell.shape[1] * cell.shape[2], -1) for cell in cells], axis=2
                )
            )
        return np.concatenate(rows, axis=1)[..., None]


def pooled_density(
    rows: Rows,
    unlabeled: FloatArray,
    concentration: FloatArray,
    design: FloatArray,
    *,
    loadings: tuple[FloatArray, ...] | None = None,
    spread_scale: float = 1.0,
    effect: float = 1.0,
) -> PooledDensity:
    """Put rows, items (outputs, groups), the centre's Dirichlet prior and the groups' design together."""
    centre = Centre(concentration, design, log_ratio_basis(len(concentration)), effect)
    return PooledDensity(rows, unlabeled, centre, loadings, spread_scale)
