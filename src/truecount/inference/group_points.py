"""Trajectories of what many groups have in common, with each group's prevalence integrated over at a few points.

Rows, centre and spreads meet every group. In all coordinates at once their trajectories need the shorter steps the more
groups there are, because what one group says of them changes with its own latents. Here a group has some points z_s,
of which one is where it stands and the others follow by a lattice, and what all groups have in common moves by

``p̂(y) = p(y) Π_g 1/S Σ_s p(group g, z_s | y) / q(z_s)``,

whose mean over lattices is the posterior with groups integrated out. Afterwards each group takes one of its points, by
their weights. Lattice, move and choice leave the joint posterior as it is for any number of points S, which decides
only how closely ``p̂`` follows the integral (Andrieu, Doucet & Holenstein 2010, J. R. Stat. Soc. B 72).

A group far out, where q is small, would stay there for long: after each trajectory it takes one of some points near it
too, by their densities alone (Tjelmeland 2004, Using all Metropolis–Hastings proposals to estimate mean values).
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from truecount._log_sum import SMALLEST
from truecount._types import FloatArray
from truecount.inference.whitening import Whitening
from truecount.models.hierarchy import GroupDensity
from truecount.models.hierarchy.log_ratios import half_normal_slope, shares_of

POINTS, CURVATURE_POINTS = 16, 128
"""Of each group, on trajectories and where the curvature is taken."""
NEAR_POINTS, SHORTEST, LONGEST = 8, 0.3, 1.5
"""Points near where a group stands after a trajectory, and the standard deviations they have there."""
STEP, LEAST_CURVATURE = 0.05, 0.05
"""Of the differences that give the curvature, and the least that it is taken for, in whitened coordinates."""
TRUSTED = 20
"""Draws whose covariance weighs as much as what it is mixed with."""
SCALE = 0.6
"""Of the logistic distribution of z that points come from: close to a normal one, with longer tails."""
EDGE = 1e-13
"""Least distance of a lattice's coordinates from 0 and 1."""
AT_ONCE = 40_000
"""Numbers in one array, so that what is made on the way stays in the processor's cache."""


def can_integrate_at_points(density: GroupDensity) -> bool:
    """Whether groups with the same rows vary normally and independently around a centre."""
    is_pooled = density.loadings is None and density.dirichlet is None and len(density.centre.design) > 0
    return is_pooled and density.labeled is None and density.random_labels is None


def move_at_points(
    whitening: Whitening, y: FloatArray, z: FloatArray, step: float, steps: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, float]:
    """Return where a chain is after one trajectory of y (hyper,), groups z (latents, groups), and its log-ratio."""
    points = GroupPoints.around(whitening, z, POINTS, rng)
    speed = rng.standard_normal(y.shape)
    value, slope, weights = points.value_and_gradient(y)
    start, place, new_weights = value - 0.5 * speed @ speed, y, weights
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _ in range(steps):
            speed = speed + 0.5 * step * slope
            place = place + step * speed
            value, slope, new_weights = points.value_and_gradient(place)
            speed = speed + 0.5 * step * slope
        gain = float(value - 0.5 * speed @ speed - start)
    gain = gain if np.isfinite(gain) else -np.inf
    if np.log(rng.random()) < gain:
        y, weights = place, new_weights
    near = GroupPoints.near(whitening, points.chosen(weights, rng), NEAR_POINTS, rng)
    return y, near.chosen(near.weights(y), rng), gain


def whitened_by_curvature(whitening: Whitening, rng: np.random.Generator) -> Whitening:
    """Return the map whose y have unit curvature where it is centred, groups integrated over."""
    number = len(whitening.hyper)
    points = GroupPoints.around(whitening, np.zeros(whitening.latent.shape), CURVATURE_POINTS, rng)
    sides = [[points.value_and_gradient(side * step)[1] for side in (-1, 1)] for step in STEP * np.eye(number)]
    curvature = np.array([(behind - ahead) / (2 * STEP) for behind, ahead in sides])
    values, directions = np.linalg.eigh((curvature + curvature.T) / 2)
    return _scaled(whitening, directions / np.maximum(values, LEAST_CURVATURE) @ directions.T)


def whitened_by_draws(whitening: Whitening, factor: FloatArray, hyper: FloatArray) -> Whitening:
    """Return the map whose y have about the covariance 1 of draws (draw, hyper), starting from the factor of another.

    Draws of a trajectory are correlated, so that half of them count.
    """
    scaled = replace(whitening, factor=factor, coupling=whitening.coupling @ np.linalg.solve(whitening.factor, factor))
    covariance, number = np.cov(scaled.standard_hyper(hyper).T), len(hyper) / 2
    return _scaled(scaled, (number * covariance + TRUSTED * np.eye(len(factor))) / (number + TRUSTED))


def _scaled(whitening: Whitening, covariance: FloatArray) -> Whitening:
    """Return the map whose y are standard where those of this one have a covariance."""
    root = np.linalg.cholesky(covariance)
    return replace(whitening, factor=whitening.factor @ root, coupling=whitening.coupling @ root)


@dataclass(frozen=True, slots=True)
class GroupPoints:
    """Points z of every group (latents, groups, points), and minus the logarithm of the density they come from."""

    map: Whitening
    z: FloatArray
    log_weight: FloatArray

    @classmethod
    def around(cls, whitening: Whitening, z: FloatArray, number: int, rng: np.random.Generator) -> "GroupPoints":
        """Draw lattices of so many points, of which one, at a random place, is z (latents, groups)."""
        ahead = np.arange(number) - rng.integers(number, size=(z.shape[1], 1))
        shares = 1 / (1 + np.exp(-z / SCALE))[..., None] + _generator(len(z))[:, None, None] * ahead
        shares -= np.floor(shares)
        np.clip(shares, EDGE, 1 - EDGE, out=shares)
        logs, rest = np.log(shares), np.log1p(-shares)
        return cls(whitening, SCALE * (logs - rest), -(logs + rest).sum(axis=0))

    @classmethod
    def near(cls, whitening: Whitening, z: FloatArray, number: int, rng: np.random.Generator) -> "GroupPoints":
        """Draw points around a point that is drawn around z (latents, groups); z is the first of them."""
        scale = np.exp(rng.uniform(np.log(SHORTEST), np.log(LONGEST), (z.shape[1], 1)))
        middle = z[..., None] + scale * rng.standard_normal((*z.shape, 1))
        others = middle + scale * rng.standard_normal((*z.shape, number - 1))
        return cls(whitening, np.concatenate([z[..., None], others], axis=2), np.zeros((z.shape[1], number)))

    def chosen(self, weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return a point of each group, drawn by weights (groups, points)."""
        total = weights.cumsum(axis=1)
        at = (total < rng.random((len(total), 1)) * total[:, -1:]).sum(axis=1)
        return np.take_along_axis(self.z, np.minimum(at, total.shape[1] - 1)[None, :, None], axis=2)[..., 0]

    def weights(self, y: FloatArray) -> FloatArray:
        """Return weights of the points (groups, points) at y (hyper,)."""
        common = _Common.at(self.map, y)
        return np.concatenate([self._weighed(part, common).weights for part in self._parts()])

    def value_and_gradient(self, y: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the logarithm of ``p̂`` at y (hyper,), its gradient, and weights of the points (groups, points)."""
        density, whitening, common = self.map.density, self.map, _Common.at(self.map, y)
        rows, logs, slope, value = density.rows.natural(common.row_points)
        sums = [self._sums(part, common) for part in self._parts()]
        weights, by_located, by_latent = (
            np.concatenate([getattr(each, name) for each in sums], axis=axis)
            for name, axis in (("weights", 0), ("by_located", 1), ("by_latent", 1))
        )
        scores, spread = common.scores, density.spread(common.scores)
        prior, by_coefficients = density.centre.prior(common.coefficients)
        total = float(value[0] + prior[0] - 0.5 * (scores**2).sum() + 0.5 * np.log(common.precision).sum())
        total += sum(each.value for each in sums)
        by_spread = sum(each.by_log_spread for each in sums) - density.centring.sum(axis=1)
        slopes = half_normal_slope(scores, spread, density.spread_scale) / spread
        allocations = (sum(each.allocations for each in sums) * rows[0])[None]
        by_hyper = np.concatenate(
            [
                density.rows.gradient(allocations, rows, logs, slope)[0],
                (by_coefficients + density.centre.gradient(by_located[None])).ravel(),
                (by_spread * slopes - scores)[0],
            ]
        )
        return total, by_hyper @ whitening.factor + by_latent.ravel() @ whitening.coupling, weights

    def _parts(self) -> list[slice]:
        """Return which groups are looked at together."""
        n_outputs, number = self.map.density.unlabeled.shape
        width = max(1, AT_ONCE // (self.z.shape[2] * max(n_outputs, len(self.z) + 1)))
        return [slice(at, at + width) for at in range(0, number, width)]

    def _weighed(self, part: slice, common: "_Common") -> "_Weighed":
        """Return the points of some groups, and their weights."""
        density, root, z = self.map.density, self.map.root[..., part], self.z[:, part]
        latent = common.middle[:, part, None] + root[:, 0, :, None] * z[0]
        for column in range(1, len(z)):
            latent += root[:, column, :, None] * z[column]
        scaled, pull = latent * common.scale[:, part, None], latent * common.precision[:, part, None]
        ratios = (common.located[:, part, None] + scaled).reshape(len(latent), -1)
        shares, unlabeled = shares_of(density.centre.basis, ratios), density.unlabeled[:, part, None]
        outputs = np.maximum((common.rows.T @ shares).reshape(-1, *latent.shape[1:]), SMALLEST)
        penalty = latent * pull
        likelihood = np.where(unlabeled > 0, unlabeled * np.log(outputs), 0.0).sum(axis=0)
        values = likelihood - 0.5 * penalty.sum(axis=0) + self.log_weight[part]
        top = values.max(axis=1, keepdims=True)
        weights = np.exp(values - top)
        total = weights.sum(axis=1, keepdims=True)
        weights /= total
        return _Weighed(scaled, pull, penalty, shares, outputs, weights, float((top + np.log(total)).sum()))

    def _sums(self, part: slice, common: "_Common") -> "_Sums":
        """Return sums over the points of some groups."""
        density, found = self.map.density, self._weighed(part, common)
        shape, unlabeled, weights = found.scaled.shape, density.unlabeled[:, part, None], found.weights
        ratio = (unlabeled / found.outputs).reshape(len(unlabeled), -1)
        weighted = found.shares * weights.ravel()
        items = np.broadcast_to(unlabeled.sum(axis=0), shape[1:]).ravel()
        score = (density.centre.basis.T @ ((common.rows @ ratio - items) * weighted)).reshape(shape)
        centring = density.centring[:, part]
        by_log = (1 - centring) * (score * found.scaled).sum(axis=2)
        by_log += centring * (weights * found.penalty).sum(axis=2)
        by_located = score.sum(axis=2)
        return _Sums(
            value=found.value,
            weights=weights,
            allocations=weighted @ ratio.T,
            by_located=by_located,
            by_latent=by_located * common.scale[:, part] - (weights * found.pull).sum(axis=2),
            by_log_spread=by_log.sum(axis=1),
        )


class _Common(NamedTuple):
    """What groups have in common at y: hyperparameters, rows, and where and how wide latents of groups are."""

    row_points: FloatArray
    coefficients: FloatArray
    scores: FloatArray
    rows: FloatArray
    located: FloatArray
    scale: FloatArray
    precision: FloatArray
    middle: FloatArray

    @classmethod
    def at(cls, whitening: Whitening, y: FloatArray) -> "_Common":
        """Return it at y (hyper,)."""
        density = whitening.density
        parts = density.parts((whitening.hyper + whitening.factor @ y)[None])
        scale, precision = (each[0] for each in density.stretched(density.spread(parts[2])))
        middle = whitening.latent + (whitening.coupling @ y).reshape(whitening.latent.shape)
        rows, located = density.rows.natural(parts[0])[0][0], density.centre.located(parts[1])[0]
        return cls(*parts, rows, located, scale, precision, middle)


class _Weighed(NamedTuple):
    """Points of some groups: scaled latents, their pull and penalty, shares, outputs, weights, and the log-density."""

    scaled: FloatArray
    pull: FloatArray
    penalty: FloatArray
    shares: FloatArray
    outputs: FloatArray
    weights: FloatArray
    value: float


@dataclass(frozen=True, slots=True)
class _Sums:
    """Over points of some groups: the log-density, weights, and gradients by what it depends on."""

    value: float
    weights: FloatArray
    allocations: FloatArray
    by_located: FloatArray
    by_latent: FloatArray
    by_log_spread: FloatArray


def _generator(dimensions: int) -> FloatArray:
    """Return the steps of a lattice in so many dimensions: powers of the root of ``x^(d+1) = x + 1``."""
    root = 2.0
    for _ in range(50):
        root = (1 + root) ** (1 / (dimensions + 1))
    return np.asarray(root ** -np.arange(1.0, dimensions + 1))
