"""Moves that draw the prevalence and the rows of a unit anew, given what all units share.

Items fix the outputs' shares of a unit, and with rows of its own many pairs of rows and prevalence have the same ones:
a thin, bent ridge, along which trajectories creep. This move draws rows from the unit's labels alone, then the
prevalence given them and the items, each from a normal or t approximation, and accepts by the ratio of densities.
"""

from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray
from truecount.inference.group_shares import Approximation, approximate_shares, t_noise
from truecount.models.hierarchy import GroupDensity

ROW_STEPS = 4
"""Newton steps to the mode of rows given labels."""
WIDER = 1.2
"""By which the normal approximation of the rows is widened."""


@dataclass(frozen=True, slots=True)
class UnitMoves:
    """Draws standard latents of all units anew, given hyperparameters; `density` has centring 0 and no loadings."""

    density: GroupDensity

    def move(self, hyper: FloatArray, standard: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return standard latents (chain, latent, unit) after the move."""
        first = self.density.n_ratios
        of_labels = self._given_labels(hyper)
        old = standard.transpose(0, 2, 1)
        new_rows = of_labels.moved(WIDER * rng.standard_normal(of_labels.mean.shape))
        forward, back = (self._given_rows(hyper, rows) for rows in (new_rows, old[..., first:]))
        new = np.concatenate([forward.moved(t_noise(rng, (*old.shape[:2], first))), new_rows], axis=2)
        moved = new.transpose(0, 2, 1)
        gain = self.density.unit_values(hyper, moved) - self.density.unit_values(hyper, standard)
        gain += back.log_t(old[..., :first]) - forward.log_t(new[..., :first])
        gain += 0.5 * (of_labels.square(new_rows) - of_labels.square(old[..., first:])) / WIDER**2
        accept = np.log(rng.random(gain.shape)) < np.where(np.isfinite(gain), gain, -np.inf)
        return np.where(accept[:, None], moved, standard)

    def _given_labels(self, hyper: FloatArray) -> Approximation:
        """Approximate the rows of each unit by what its labels say."""
        labels = self.density.without_items
        latent, first = np.zeros((len(hyper), *labels.latent_shape)), labels.n_ratios
        for _ in range(ROW_STEPS):
            blocks = labels.curvature(hyper, latent)[:, first:, first:].transpose(0, 3, 1, 2)
            gradient = labels.value_and_gradient(hyper, latent)[2][:, first:].transpose(0, 2, 1)
            step = np.linalg.solve(blocks, gradient[..., None])[..., 0].transpose(0, 2, 1)
            latent[:, first:] += np.clip(step, -3.0, 3.0)
        blocks = labels.curvature(hyper, latent)[:, first:, first:].transpose(0, 3, 1, 2)
        return Approximation.at(latent[:, first:].transpose(0, 2, 1), blocks)

    def _given_rows(self, hyper: FloatArray, rows_latent: FloatArray) -> Approximation:
        """Approximate the standard latents of the prevalence of each unit, given its rows and items."""
        density = self.density
        _, coefficients, scores = density.parts(hyper)
        located = density.centre.located(coefficients)
        scale = density.all_spreads(scores)[:, density.spread_of_latent[: density.n_ratios], None]
        padded = np.pad(rows_latent.transpose(0, 2, 1), ((0, 0), (density.n_ratios, 0), (0, 0)))
        rows = density.unit_rows(hyper, padded).transpose(0, 2, 3, 1)

        def prior(shares: FloatArray, latent: FloatArray) -> tuple[FloatArray, FloatArray]:
            return density.given_all_but_items(located, scale, latent, scores, shares)

        return approximate_shares(density.unlabeled, rows, density.centre.basis, located, scale, prior)
