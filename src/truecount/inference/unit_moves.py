"""Moves that draw the prevalence and the rows of a unit anew, given what all units share.

Items fix the outputs' shares of a unit, and with rows of its own many pairs of rows and prevalence have the same ones:
a thin, bent ridge, along which trajectories creep. This move draws rows from the unit's labels alone, then the
prevalence given them and the items, each from a normal or t approximation, and accepts by the ratio of densities.
"""

from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray
from truecount.models.hierarchy import GroupDensity
from truecount.models.hierarchy.log_ratios import shares_of

ROW_STEPS, SHARE_STEPS = 4, 6
"""Newton steps to the mode of rows given labels, and of the prevalence given rows and items."""
WIDER = 1.2
"""By which the normal approximation of the rows is widened."""
DEGREES = 5.0
"""Of freedom of the t approximation of the prevalence."""


@dataclass(frozen=True, slots=True)
class _Normal:
    """A normal approximation for each chain and unit: its mean (chain, unit, d) and the Cholesky factor of 1/variance."""

    mean: FloatArray
    factor: FloatArray

    @classmethod
    def at(cls, mean: FloatArray, curvature: FloatArray) -> "_Normal":
        return cls(mean, np.linalg.cholesky(curvature))

    def moved(self, noise: FloatArray) -> FloatArray:
        """Return points whose standardised distance from the mean is `noise`."""
        steps = np.linalg.solve(self.factor.swapaxes(2, 3), noise[..., None])[..., 0]
        return np.asarray(self.mean + steps)

    def square(self, points: FloatArray) -> FloatArray:
        """Return squared standardised distances, shape (chain, unit)."""
        scaled = np.matmul(self.factor.swapaxes(2, 3), (points - self.mean)[..., None])[..., 0]
        total: FloatArray = (scaled**2).sum(axis=2)
        return total

    @property
    def log_scale(self) -> FloatArray:
        """Logarithm of the density's height, shape (chain, unit)."""
        height: FloatArray = np.log(self.factor.diagonal(axis1=2, axis2=3)).sum(axis=2)
        return height


@dataclass(frozen=True, slots=True)
class UnitMoves:
    """Draws standard latents of all units anew, given hyperparameters; `density` has centring 0 and no loadings."""

    density: GroupDensity

    def move(
        self, hyper: FloatArray, standard: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Return standard latents (chain, latent, unit) after the move, and where it was accepted (chain, unit)."""
        first = self.density.n_ratios
        of_labels = self._given_labels(hyper)
        old = standard.transpose(0, 2, 1)
        rows_noise = WIDER * rng.standard_normal(of_labels.mean.shape)
        new_rows = of_labels.moved(rows_noise)
        forward, back = (self._given_rows(hyper, rows) for rows in (new_rows, old[..., first:]))
        noise = rng.standard_normal((*old.shape[:2], first))
        noise *= np.sqrt(DEGREES / rng.chisquare(DEGREES, old.shape[:2]))[..., None]
        new = np.concatenate([forward.moved(noise), new_rows], axis=2)
        gain = self.density.unit_values(hyper, new.transpose(0, 2, 1)) - self.density.unit_values(hyper, standard)
        gain += _log_t(back, old[..., :first]) - _log_t(forward, new[..., :first])
        gain += 0.5 * (of_labels.square(new_rows) - of_labels.square(old[..., first:])) / WIDER**2
        accept = np.log(rng.random(gain.shape)) < np.where(np.isfinite(gain), gain, -np.inf)
        return np.where(accept[:, None], new.transpose(0, 2, 1), standard), accept

    def _given_labels(self, hyper: FloatArray) -> _Normal:
        """Approximate the rows of each unit by what its labels say."""
        labels = self.density.without_items
        latent, first = np.zeros((len(hyper), *labels.latent_shape)), labels.n_ratios
        for _ in range(ROW_STEPS):
            blocks = labels.curvature(hyper, latent)[:, first:, first:].transpose(0, 3, 1, 2)
            gradient = labels.value_and_gradient(hyper, latent)[2][:, first:].transpose(0, 2, 1)
            step = np.linalg.solve(blocks, gradient[..., None])[..., 0].transpose(0, 2, 1)
            latent[:, first:] += np.clip(step, -3.0, 3.0)
        blocks = labels.curvature(hyper, latent)[:, first:, first:].transpose(0, 3, 1, 2)
        return _Normal.at(latent[:, first:].transpose(0, 2, 1), blocks)

    def _given_rows(self, hyper: FloatArray, rows_latent: FloatArray) -> _Normal:
        """Approximate the standard latents of the prevalence of each unit, given its rows and items."""
        density = self.density
        basis, items = density.centre.basis, density.unlabeled.sum(axis=0)
        _, coefficients, scores = density.parts(hyper)
        located = density.centre.located(coefficients)
        scale = density.all_spreads(scores)[:, density.spread_of_latent[: density.n_ratios], None]
        padded = np.pad(rows_latent.transpose(0, 2, 1), ((0, 0), (density.n_ratios, 0), (0, 0)))
        rows = density.unit_rows(hyper, padded).transpose(0, 2, 3, 1)
        latent = np.zeros(scale.shape[:2] + (density.n_groups,))
        for number in range(SHARE_STEPS + 1):
            shares = shares_of(basis, located + scale * latent)
            joint = shares[:, :, None] * rows
            outputs = joint.sum(axis=1)
            slopes = np.einsum("clku,lj->cjku", joint, basis)
            slopes -= np.matmul(basis.T, shares)[:, :, None] * outputs[:, None]
            information = np.einsum("ciku,cku,cjku->cuij", slopes, items / outputs, slopes, optimize=True)
            score = (slopes * (density.unlabeled / outputs)[:, None]).sum(axis=2)
            of_prior, by_prior = density.prior_of_ratios(located, scale, latent, scores)
            curvature = information * (scale[:, None] * scale[:, :, None])[..., 0][:, None] + of_prior
            if number == SHARE_STEPS:
                break
            gradient = (score * scale + by_prior).transpose(0, 2, 1)
            step = np.linalg.solve(curvature, gradient[..., None])[..., 0].transpose(0, 2, 1)
            latent = latent + np.clip(step, -3.0, 3.0)
        return _Normal.at(latent.transpose(0, 2, 1), curvature)


def _log_t(approximation: _Normal, points: FloatArray) -> FloatArray:
    """Return the log-density of the t distribution, up to a constant."""
    exponent = 0.5 * (DEGREES + points.shape[2])
    value: FloatArray = approximation.log_scale - exponent * np.log1p(approximation.square(points) / DEGREES)
    return value
