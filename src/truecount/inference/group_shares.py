"""The prevalence of each group given rows and a prior, approximated by a normal distribution of its log-ratios."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray
from truecount.models.hierarchy.log_ratios import shares_of

STEPS = 8
"""Newton steps to the mode."""
LONGEST = 1.5
"""Change of a log-ratio in one of them: farther away shares are flat, and a longer step would overshoot."""
DEGREES = 5.0
"""Of freedom of the t distribution that is drawn from, whose tails are longer than the posterior's."""
PriorOfLatents = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
"""Of shares (chain, class, group) and latents: curvature (chain, group, log-ratio, log-ratio) and gradient."""


@dataclass(frozen=True, slots=True)
class Approximation:
    """A normal approximation for each chain and group: mean (chain, group, d), Cholesky factor of the precision."""

    mean: FloatArray
    factor: FloatArray

    @classmethod
    def at(cls, mean: FloatArray, curvature: FloatArray) -> "Approximation":
        """Take mode and curvature."""
        return cls(mean, np.asarray(np.linalg.cholesky(curvature)))

    def moved(self, noise: FloatArray) -> FloatArray:
        """Return points whose standardised distance from the mean is `noise`."""
        steps = np.linalg.solve(self.factor.swapaxes(2, 3), noise[..., None])[..., 0]
        return np.asarray(self.mean + steps)

    def square(self, points: FloatArray) -> FloatArray:
        """Return squared standardised distances, shape (chain, group)."""
        scaled = np.matmul(self.factor.swapaxes(2, 3), (points - self.mean)[..., None])[..., 0]
        total: FloatArray = (scaled**2).sum(axis=2)
        return total

    @property
    def log_scale(self) -> FloatArray:
        """Half the logarithm of the precision's determinant, shape (chain, group)."""
        height: FloatArray = np.log(self.factor.diagonal(axis1=2, axis2=3)).sum(axis=2)
        return height

    def log_t(self, points: FloatArray) -> FloatArray:
        """Return the log-density of the t distribution at points, up to a constant, shape (chain, group)."""
        exponent = 0.5 * (DEGREES + points.shape[2])
        value: FloatArray = self.log_scale - exponent * np.log1p(self.square(points) / DEGREES)
        return value


def t_noise(rng: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Draw standard t vectors along the last axis."""
    noise: FloatArray = rng.standard_normal(shape)
    noise *= np.sqrt(DEGREES / rng.chisquare(DEGREES, shape[:-1]))[..., None]
    return noise


def approximate_shares(
    unlabeled: FloatArray,
    rows: FloatArray,
    basis: FloatArray,
    located: FloatArray,
    scale: FloatArray,
    prior: PriorOfLatents,
) -> Approximation:
    """Approximate the latents v of each group's prevalence, whose log-ratios are ``located + scale · v``.

    Parameters
    ----------
    unlabeled
        Shape (outputs, groups): items.
    rows
        Shape (chain, class, output, group): the confusion; the last axis may be 1.
    basis
        The map from log-ratios to logarithms of shares.
    located, scale
        Shapes (chain, log-ratio, group) and (chain, log-ratio, 1 or group).
    prior
        Curvature and gradient of the prior of v.
    """
    items, latent = unlabeled.sum(axis=0), np.zeros(located.shape)
    scales = np.broadcast_to(scale, located.shape).transpose(0, 2, 1)
    for number in range(STEPS + 1):
        shares = shares_of(basis, located + scale * latent)
        joint = shares[:, :, None] * rows
        outputs = joint.sum(axis=1)
        slopes = np.einsum("clku,lj->cjku", joint, basis)
        slopes -= np.matmul(basis.T, shares)[:, :, None] * outputs[:, None]
        by_group = slopes.transpose(0, 3, 1, 2)
        weighted = by_group * (items / outputs).transpose(0, 2, 1)[:, :, None]
        information = np.matmul(weighted, by_group.swapaxes(2, 3))
        of_prior, by_prior = prior(shares, latent)
        curvature = information * scales[..., None] * scales[:, :, None] + of_prior
        if number == STEPS:
            break
        gradient = (slopes * (unlabeled / outputs)[:, None]).sum(axis=2) * scale + by_prior
        step = np.linalg.solve(curvature, gradient.transpose(0, 2, 1)[..., None])[..., 0].transpose(0, 2, 1)
        latent = latent + np.clip(step, -LONGEST / scale, LONGEST / scale)
    return Approximation.at(latent.transpose(0, 2, 1), curvature)
