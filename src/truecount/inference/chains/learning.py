"""Chains on a posterior whose prior is learned.

Hamiltonian chains move on the mixture of all priors of the grid (`Learning`); Gibbs draws a prior of the grid in turns
with the rest (`Concentrations`).
"""

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.inference.chains.coordinates import Coordinates
from truecount.models import Density
from truecount.models.learned import Learned

ANYWHERE = 0.1
"""Part of the proposals of a prior that may be any; the others go by the labels."""

ROUNDING = 1e-9
"""Labels that a cell has by rounding alone, at most."""


class Learning:
    """Add to a density with fixed concentrations the log-ratio of the learned prior to it, and its gradient."""

    def __init__(self, inner: Coordinates, density: Density) -> None:
        self.inner, self.density, self.shapes = inner, density, inner.shapes
        self.scale, self.point, self.moved = inner.scale, inner.point, inner.moved
        self.natural, self.logs, self.pull = inner.natural, inner.logs, inner.pull

    def gradient(self, point: FloatArray) -> FloatArray:
        """Concentrations beyond the fixed ones pull at prevalence and confusion."""
        prevalence, confusion = self.logs(point)
        by_class, by_cell = np.zeros_like(prevalence), np.zeros_like(confusion)
        if self.density.learned_rows is not None:
            by_cell = self.density.learned_rows.surplus(confusion)
        if self.density.learned_prevalence is not None:
            by_class = self.density.learned_prevalence.surplus(prevalence[:, None, :])[:, 0]
        return self.inner.gradient(point) + self.pull(point, by_class, by_cell)

    def log_density(self, point: FloatArray) -> FloatArray:
        """Log-density under the learned prior."""
        value: FloatArray = self.inner.log_density(point) + self.density.log_learned(*self.logs(point))
        return value


class Concentrations:
    """The prior of each chain, where it is learned: a point of the grid, drawn given the items imputed."""

    def __init__(self, density: Density, chains: int, rng: np.random.Generator) -> None:
        self.density, self.prevalence, self.beyond = density, density.prevalence, np.zeros(1)
        self.points: IntArray | None = None
        if density.learned_rows is not None:
            self.points = density.learned_rows.draw(rng, chains)
            labeled = density.rows - density.learned_rows.reference_rows
            self.labeled = np.where(labeled > ROUNDING, labeled, 0.0)

    def update(self, of_class: FloatArray, of_row: FloatArray, rng: np.random.Generator) -> None:
        """Draw each chain's prior given its items, with prevalence and rows left out.

        Items are those of each group's classes, (chains, groups, classes), and of each row, (chains, classes, outputs).
        `prevalence` is then the concentration of the prevalence, and `beyond` that of the rows beyond the density's.
        """
        shares, rows = self.density.learned_prevalence, self.density.learned_rows
        if shares is not None:
            self.prevalence = shares.rows_at(_drawn_points(shares, of_class, rng))[..., 0, :]
        if rows is not None and self.points is not None:
            self.points = _moved_points(rows, self.points, of_row + self.labeled, rng)
            self.beyond = rows.rows_at(self.points) - rows.reference_rows


def _drawn_points(shares: Learned, items: FloatArray, rng: np.random.Generator) -> IntArray:
    """Shape (…): points drawn by the evidence of items of shape (…, classes)."""
    evidence = shares.log_evidence_at(np.arange(len(shares.even)), items[..., None, None, :])
    return np.asarray((evidence + shares.log_prior + rng.gumbel(size=evidence.shape)).argmax(axis=-1))


def _moved_points(rows: Learned, points: IntArray, items: FloatArray, rng: np.random.Generator) -> IntArray:
    """Propose to each chain another point, mostly by what the labels say, and accept or reject it."""
    proposed = np.where(
        rng.random(len(points)) < ANYWHERE, rng.integers(len(rows.even), size=len(points)), rows.draw(rng, len(points))
    )
    log_chances = np.log((1 - ANYWHERE) * rows.probability + ANYWHERE / len(rows.even))
    gain = rows.log_evidence_at(proposed, items) - rows.log_evidence_at(points, items)
    gain += rows.log_prior[proposed] - rows.log_prior[points]
    is_accepted = np.log(rng.random(len(points))) < gain - log_chances[proposed] + log_chances[points]
    return np.where(is_accepted, proposed, points)
