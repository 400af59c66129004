"""Moves of the rows that take all prevalences with them, so that the outputs' shares stay as they are.

Items determine the outputs' shares of the groups, and many pairs of rows and prevalences have the same ones: a thin,
bent ridge, along which trajectories creep. This move proposes other rows, as far away as labels allow, and maps the
prevalence of every group, and the centre, by ``A = (φ' W)⁻ᵀ (φ W)ᵀ``. W is P(class | output) at some point; its rows
sum to one, so that mapped shares do too, and where outputs are as many as classes ``φ'ᵀ A π = φᵀ π``. Spreads are
scaled as the map does at the centre. The move is one to one given both rows, and accepted by densities and its volume.
"""

from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray
from truecount.models.hierarchy import GroupDensity
from truecount.models.hierarchy.log_ratios import half_normal_slope, shares_of

MOVES = 4
"""Of each chain at a time."""
SHORTEST, LONGEST = 0.1, 2.4
"""Steps of the rows, of length 1 if all coordinates together move by one standard deviation of what labels say."""
LEAST_SHARE = 1e-12


def can_move_rows(density: GroupDensity) -> bool:
    """Whether there are one confusion, some of which is learned, and groups that vary normally around a centre."""
    is_pooled = density.loadings is None and density.dirichlet is None and len(density.centre.design) > 0
    return is_pooled and density.labeled is None and density.rows.size > 0


@dataclass(frozen=True, slots=True)
class RowMoves:
    """Moves of rows, centre, spreads and prevalences together; `density` has centring 0.

    Parameters
    ----------
    density
        What is drawn from.
    classes_of_outputs
        Shape (outputs, classes): W.
    """

    density: GroupDensity
    classes_of_outputs: FloatArray

    @classmethod
    def at(cls, density: GroupDensity, hyper: FloatArray) -> "RowMoves":
        """Take P(class | output) at the centre of the groups, at this point (hyper,)."""
        coefficients = density.parts(hyper[None])[1]
        centre = shares_of(density.centre.basis, coefficients[:, 0, :, None])[0]
        joint = centre * density.common_rows(hyper[None])[0]
        return cls(density, np.asarray((joint / joint.sum(axis=0)).T))

    def move(self, hyper: FloatArray, standard: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return hyperparameters and standard latents of every chain after some moves."""
        with np.errstate(all="ignore"):
            value = self.density.value_and_gradient(hyper, standard)[0]
            for _ in range(MOVES):
                new_hyper, new, volume = self._mapped(hyper, standard, self._stepped(hyper, rng))
                found = self.density.value_and_gradient(new_hyper, new)[0]
                gain = np.where(np.isfinite(found + volume), found + volume - value, -np.inf)
                accept = np.log(rng.random(len(gain))) < gain
                hyper, value = np.where(accept[:, None], new_hyper, hyper), np.where(accept, found, value)
                standard = np.where(accept[:, None, None], new, standard)
        return hyper, standard

    def _stepped(self, hyper: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return coordinates of rows some steps away."""
        size = self.density.rows.size
        step = np.exp(rng.uniform(np.log(SHORTEST), np.log(LONGEST), (len(hyper), 1))) / np.sqrt(size)
        return np.asarray(hyper[:, :size] + step * rng.standard_normal((len(hyper), size)))

    def _mapped(
        self, hyper: FloatArray, standard: FloatArray, row_points: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return all coordinates with other rows, and the logarithm of the volume of the map (chain,)."""
        density, basis = self.density, self.density.centre.basis
        _, coefficients, scores = density.parts(hyper)
        before, after = (
            (density.rows.natural(points)[0] @ self.classes_of_outputs).swapaxes(1, 2)
            for points in (hyper[:, : density.rows.size], row_points)
        )
        centre = shares_of(basis, coefficients[:, 0, :, None])
        shares = np.concatenate([centre, density.prevalence(hyper, standard)], axis=2)
        is_sound = np.abs(np.linalg.det(after)) > LEAST_SHARE
        after = np.where(is_sound[:, None, None], after, np.eye(len(basis)))
        mapped = np.linalg.solve(after, before @ shares)
        is_sound &= (mapped > LEAST_SHARE).all(axis=(1, 2))
        logs, new_logs = np.log(shares), np.log(np.maximum(mapped, LEAST_SHARE))
        determinants = np.linalg.slogdet(before)[1] - np.linalg.slogdet(after)[1]
        volumes = determinants[:, None] + logs.sum(axis=1) - new_logs.sum(axis=1)
        ratios = np.matmul(np.linalg.pinv(basis), new_logs)
        stretch = volumes[:, :1] / density.n_ratios
        new_scores, volume = self._scaled(scores, stretch)
        moved = coefficients.copy()
        moved[:, 0] = ratios[:, :, 0]
        spread = density.spread(new_scores)[:, :, None]
        new = (ratios[:, :, 1:] - density.centre.located(moved)) / spread
        volume = volume + volumes.sum(axis=1) - density.n_groups * density.n_ratios * stretch[:, 0]
        new_hyper = np.concatenate([row_points, moved.reshape(len(hyper), -1), new_scores], axis=1)
        return new_hyper, new, np.where(is_sound, volume, -np.inf)

    def _scaled(self, scores: FloatArray, stretch: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the scores of spreads that are ``exp(stretch)`` times as large, and the log-volume of that map."""
        from scipy.special import ndtr, ndtri

        density, spread = self.density, self.density.spread(scores)
        larger = spread * np.exp(stretch)
        new = -ndtri(2 * ndtr(-larger / density.spread_scale))
        before = half_normal_slope(scores, spread, density.spread_scale)
        after = half_normal_slope(new, larger, density.spread_scale)
        return new, np.asarray((stretch + np.log(before) - np.log(after)).sum(axis=1))
