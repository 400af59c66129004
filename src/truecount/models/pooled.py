"""Groups whose prevalences vary around a common centre: a posterior density with its gradient and curvature.

The log-ratios of group g are ``η_g = centre_g + spread · ζ_g`` with ``ζ_g ~ N(0, 1)``, and its prevalence is the softmax
of ``basis · η_g``. Rows of the confusion are normalised gammas. Everything is unbounded in the coordinates used here:

``hyper``
    For each cell of a row to be learned the standardised logarithm of its gamma, then the coefficients of the centre,
    then for each log-ratio the normal score of its spread.
``latent``
    For each group and log-ratio ``v = spread ** centring · ζ``. A centring of 0 suits groups with few items, of 1 groups
    with many: it keeps the posterior of `latent` from depending on the spread.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from truecount._types import FloatArray

SMALLEST_SPREAD = 1e-6


def log_ratio_basis(n_classes: int) -> FloatArray:
    """Return the map from log-ratios to logarithms of shares, shape (classes, classes − 1).

    The log-ratios are isometric ones times √2, so that for two classes the one log-ratio is the logit of the first.

    >>> log_ratio_basis(2)
    array([[ 0.5],
           [-0.5]])
    """
    basis = np.zeros((n_classes, n_classes - 1))
    for column in range(n_classes - 1):
        basis[: column + 1, column] = 1 / (column + 1)
        basis[column + 1, column] = -1
        basis[:, column] *= np.sqrt((column + 1) / (column + 2) / 2)
    return basis


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of the confusion in unbounded coordinates: standardised logarithms of gammas of these shapes.

    Parameters
    ----------
    shapes
        Shape (classes, outputs): Dirichlet concentration of each row, labelled items included.
    known
        Shape (classes, outputs): rows that are known, NaN in those to be learned.
    """

    shapes: FloatArray
    known: FloatArray
    free: FloatArray = field(init=False)
    location: FloatArray = field(init=False)
    scale: FloatArray = field(init=False)
    stretch: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        from scipy.special import digamma, polygamma

        free = np.isnan(self.known[:, 0])
        shapes = self.shapes[free]
        tame = np.maximum(shapes, 1.0)
        object.__setattr__(self, "free", free)
        object.__setattr__(self, "location", np.asarray(digamma(tame)))
        object.__setattr__(self, "scale", np.sqrt(polygamma(1, tame)))
        object.__setattr__(self, "stretch", 1 / np.minimum(shapes, 1.0) - 1)

    @property
    def size(self) -> int:
        """How many coordinates there are."""
        return self.location.size

    def natural(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return the confusion, and log-gammas, their slope and their log-density at these coordinates.

        A gamma of shape a < 1 has a long left tail in its logarithm h; ``h = y − (1/a − 1) · log(1 + exp(−y))`` bends it.
        """
        bent = self.location + self.scale * points.reshape(len(points), *self.location.shape)
        left = 1 / (1 + np.exp(bent))
        slope = 1 + self.stretch * left
        logs = bent - self.stretch * np.logaddexp(0, -bent)
        density = (self.shapes[self.free] * logs - np.exp(logs) + np.log(slope)).sum(axis=(1, 2))
        gammas = np.exp(logs - logs.max(axis=2, keepdims=True))
        confusion = np.broadcast_to(self.known, (len(points), *self.known.shape)).copy()
        confusion[:, self.free] = gammas / gammas.sum(axis=2, keepdims=True)
        return confusion, logs, slope, density

    def gradient(
        self, allocations: FloatArray, confusion: FloatArray, logs: FloatArray, slope: FloatArray
    ) -> FloatArray:
        """Return the gradient of likelihood and prior, given ``φ · ∂/∂φ`` of the likelihood (chain, class, output)."""
        pull = allocations[:, self.free]
        pull = pull - confusion[:, self.free] * pull.sum(axis=2, keepdims=True) + self.shapes[self.free] - np.exp(logs)
        left = (slope - 1) / np.where(self.stretch > 0, self.stretch, 1.0)
        bend = self.stretch * left * (1 - left) / slope
        return ((pull * slope - bend) * self.scale).reshape(len(pull), -1)


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
        Shape (classes,): Dirichlet concentration of the share at the centre.
    design
        Shape (columns, groups): the centre of a group is the sum of its columns times their coefficients; the first
        column is one throughout.
    spread_scale, effect_scale
        Scales of the half-normal prior of the spread and of the normal prior of the other coefficients.
    centring
        Shape (log-ratios, groups), from 0 to 1.
    """

    rows: Rows
    unlabeled: FloatArray
    centre: FloatArray
    design: FloatArray
    spread_scale: float = 1.0
    effect_scale: float = 1.0
    centring: FloatArray = field(default_factory=lambda: np.zeros(()))

    @cached_property
    def basis(self) -> FloatArray:
        """The map from log-ratios to logarithms of shares."""
        return log_ratio_basis(len(self.centre))

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return self.unlabeled.shape[1]

    @property
    def n_ratios(self) -> int:
        """How many log-ratios a prevalence has."""
        return len(self.centre) - 1

    @property
    def n_hyper(self) -> int:
        """How many hyperparameters there are."""
        return self.rows.size + (len(self.design) + 1) * self.n_ratios

    @cached_property
    def _items(self) -> FloatArray:
        return self.unlabeled.sum(axis=0)

    def recentred(self, centring: FloatArray) -> "PooledDensity":
        """Return the same density in coordinates of another centring."""
        return replace(self, centring=centring)

    def hyper_parts(self, hyper: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the coordinates of rows, centre (chain, column, log-ratio) and spread (chain, log-ratio)."""
        first, last = self.rows.size, hyper.shape[1] - self.n_ratios
        centre = hyper[:, first:last].reshape(len(hyper), -1, self.n_ratios)
        return hyper[:, :first], centre, hyper[:, last:]

    def spread(self, scores: FloatArray) -> FloatArray:
        """Return spreads, whose half-normal prior makes their `scores` standard normal."""
        from scipy.special import ndtr, ndtri

        return np.maximum(-self.spread_scale * ndtri(0.5 * ndtr(-scores)), SMALLEST_SPREAD)

    def log_ratios(self, hyper: FloatArray, latent: FloatArray) -> FloatArray:
        """Return η, shape (chain, log-ratio, group)."""
        _, centre, scores = self.hyper_parts(hyper)
        return self._located(centre) + self._stretched(self.spread(scores))[0] * latent

    def latent(self, hyper: FloatArray, log_ratios: FloatArray) -> FloatArray:
        """Return the latent coordinates of these log-ratios."""
        _, centre, scores = self.hyper_parts(hyper)
        return (log_ratios - self._located(centre)) / self._stretched(self.spread(scores))[0]

    def shares(self, log_ratios: FloatArray) -> FloatArray:
        """Return prevalences, shape (chain, class, group)."""
        shares = np.matmul(self.basis, log_ratios)
        shares -= shares.max(axis=1, keepdims=True)
        np.exp(shares, out=shares)
        shares /= shares.sum(axis=1, keepdims=True)
        return shares

    def _located(self, centre: FloatArray) -> FloatArray:
        return np.matmul(centre.transpose(0, 2, 1), self.design)

    def _stretched(self, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``∂η/∂v`` and the prior precision of v, shape (chain, log-ratio, group)."""
        logs = np.log(spread)[:, :, None]
        return np.exp((1 - self.centring) * logs), np.exp(-2 * self.centring * logs)

    def value_and_gradient(self, hyper: FloatArray, latent: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the log-density (chain,) and its gradients by `hyper` and `latent`."""
        rows, centre, scores = self.hyper_parts(hyper)
        confusion, logs, slope, value = self.rows.natural(rows)
        spread = self.spread(scores)
        scale, precision = self._stretched(spread)
        shares = self.shares(self._located(centre) + scale * latent)
        outputs = np.matmul(confusion.transpose(0, 2, 1), shares)
        ratio = self.unlabeled / outputs
        score = np.matmul(self.basis.T, np.matmul(confusion, ratio) * shares - self._items * shares)
        allocations = np.matmul(shares, ratio.transpose(0, 2, 1)) * confusion
        penalty = latent * latent * precision

        value = value + np.where(self.unlabeled > 0, self.unlabeled * np.log(outputs), 0.0).sum(axis=(1, 2))
        value -= 0.5 * penalty.sum(axis=(1, 2)) + (self.centring * np.log(spread)[:, :, None]).sum(axis=(1, 2))
        prior, by_centre = self._centre_prior(centre)
        value += prior - 0.5 * (scores * scores).sum(axis=1)

        by_centre = by_centre + np.matmul(score, self.design.T).transpose(0, 2, 1)
        by_log = ((1 - self.centring) * score * scale * latent + self.centring * (penalty - 1)).sum(axis=2)
        standard = spread / self.spread_scale
        slope_of_spread = self.spread_scale * 0.5 * np.exp(-0.5 * (scores * scores - standard * standard))
        by_hyper = np.concatenate(
            [
                self.rows.gradient(allocations, confusion, logs, slope),
                by_centre.reshape(len(hyper), -1),
                by_log / spread * slope_of_spread - scores,
            ],
            axis=1,
        )
        return value, by_hyper, score * scale - latent * precision

    def _centre_prior(self, centre: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return log-prior and gradient of the centre's coefficients: a Dirichlet share, and normal effects."""
        logs = centre[:, 0] @ self.basis.T
        logs = logs - np.logaddexp.reduce(logs, axis=1)[:, None]
        gradient = -centre / self.effect_scale**2
        gradient[:, 0] = (self.centre - self.centre.sum() * np.exp(logs)) @ self.basis
        effects = 0.5 * (centre[:, 1:] ** 2).sum(axis=(1, 2)) / self.effect_scale**2
        return logs @ self.centre - effects, gradient

    def curvature(self, hyper: FloatArray, latent: FloatArray) -> FloatArray:
        """Return the expected curvature by each group's latent coordinates, shape (chain, log-ratio, log-ratio, group)."""
        rows, centre, scores = self.hyper_parts(hyper)
        confusion = self.rows.natural(rows)[0].transpose(0, 2, 1)
        scale, precision = self._stretched(self.spread(scores))
        shares = self.shares(self._located(centre) + scale * latent)
        mean = np.matmul(self.basis.T, shares)
        outputs = np.matmul(confusion, shares)
        slopes = [
            np.matmul(confusion, shares * (self.basis[:, ratio, None] - mean[:, None, ratio])) * scale[:, None, ratio]
            for ratio in range(self.n_ratios)
        ]
        weight = self._items / outputs
        result = np.empty((len(hyper), self.n_ratios, self.n_ratios, self.n_groups))
        for first in range(self.n_ratios):
            for second in range(first + 1):
                cell = (weight * slopes[first] * slopes[second]).sum(axis=1)
                result[:, first, second] = result[:, second, first] = cell
            result[:, first, first] += precision[:, first]
        return result
