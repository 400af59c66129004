"""Jumps between modes that no chain would walk between."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from truecount._types import FloatArray
from truecount.inference.chains.coordinates import Coordinates
from truecount.inference.chains.leapfrog import Chains
from truecount.inference.draws import dirichlet, draw_rows
from truecount.models import Density

SHARES_KEPT = (1.0, 0.5, 0.2)
"""How much of an allocation a proposal takes for granted: the less, the wider it is."""
SMALLEST = 1e-300


@dataclass(frozen=True)
class Jumps:
    """Independent proposals: were it known how many items of each output are of each class, all would be Dirichlet.

    Parameters
    ----------
    density
        The posterior.
    allocations
        Shape (proposals, classes, outputs): items of each class and output, one guess after another.
    """

    density: Density
    allocations: FloatArray

    @classmethod
    def between(cls, density: Density, allocations: FloatArray) -> "Jumps":
        """Propose each of these allocations, taken more and less for granted."""
        return cls(density, np.concatenate([share * allocations for share in SHARES_KEPT]))

    def jump(self, coordinates: Coordinates, chains: Chains, rng: np.random.Generator) -> Chains:
        """Propose a point elsewhere to every chain, and accept or reject it."""
        here, there = coordinates.natural(chains.point), self._draw(len(chains.point), rng)
        with np.errstate(all="ignore"):
            gain = np.nan_to_num(self._surplus(*there) - self._surplus(*here), nan=-np.inf)
        accept = np.log(rng.random(len(gain))) < gain
        if not accept.any():
            return chains
        point = chains.point.copy()
        point[accept] = coordinates.moved(point[accept], there[0][accept], there[1][accept])
        return Chains(point, coordinates.log_density(point), coordinates.gradient(point))

    def _draw(self, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        items = self.allocations[rng.integers(len(self.allocations), size=size)]
        prevalence = dirichlet(rng, self.density.prevalence + items.sum(axis=2), ())
        return prevalence, draw_rows(rng, self.density, items, ())

    @cached_property
    def _log_norms(self) -> FloatArray:
        """Shape (proposals,): what the Dirichlet densities are divided by."""
        from scipy.special import gammaln

        free = ~self.density.is_known
        shapes = self.density.prevalence + self.allocations.sum(axis=2), (self.density.rows + self.allocations)[:, free]
        of_classes = gammaln(shapes[0]).sum(axis=1) - gammaln(shapes[0].sum(axis=1))
        return np.asarray(of_classes + (gammaln(shapes[1]).sum(axis=2) - gammaln(shapes[1].sum(axis=2))).sum(axis=1))

    def _surplus(self, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
        """Log-density of the posterior over that of the proposals, up to a constant."""
        free = ~self.density.is_known
        logs = np.log(np.maximum(prevalence, SMALLEST)), np.log(np.maximum(confusion[:, free], SMALLEST))
        cells = self.allocations[:, free].reshape(len(self.allocations), -1)
        proposed = logs[0] @ self.allocations.sum(axis=2).T + logs[1].reshape(len(prevalence), -1) @ cells.T
        proposals = np.logaddexp.reduce(proposed - self._log_norms, axis=1)
        learned = self.density.log_learned(logs[0], np.log(np.maximum(confusion, SMALLEST)))
        return np.asarray(self.density.log_likelihood(prevalence, confusion) + learned - proposals)
