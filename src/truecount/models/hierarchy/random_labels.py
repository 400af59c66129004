"""Labels that are a random sample of the group they come from: their classes tell its prevalence."""

from dataclasses import dataclass

import numpy as np

from truecount._log_sum import finite_log
from truecount._types import FloatArray, IntArray
from truecount.models.hierarchy.dirichlet import DirichletGroups


@dataclass(frozen=True, slots=True)
class RandomLabels:
    """The likelihood of the labels' classes given prevalences: ``Π share ^ count``, as of a Dirichlet prior.

    Parameters
    ----------
    counts
        Shape (classes, units): labelled items of each class, at the effective size of a sample that tells shares; none
        for units that are no groups.
    basis
        The map from log-ratios to logarithms of shares.
    """

    counts: FloatArray
    basis: FloatArray

    def of_groups(self, chosen: IntArray) -> "RandomLabels":
        """Return those of some of the units."""
        return RandomLabels(self.counts[:, chosen], self.basis)

    def with_units(self, further: int) -> "RandomLabels":
        """Return the same, with so many more units that are no groups."""
        return RandomLabels(np.pad(self.counts, ((0, 0), (0, further))), self.basis)

    def log_density(self, shares: FloatArray) -> FloatArray:
        """Return the log-likelihood of each unit, shape (chain, unit)."""
        return np.asarray((self.counts * finite_log(shares)).sum(axis=1))

    def gradient(self, shares: FloatArray) -> FloatArray:
        """Return the gradient by log-ratios, shape (chain, log-ratio, unit)."""
        return np.asarray(np.matmul(self.basis.T, self.counts - self.counts.sum(axis=0) * shares))

    def curvature(self, shares: FloatArray) -> FloatArray:
        """Return minus the second derivatives by log-ratios, shape (chain, log-ratio, log-ratio, unit)."""
        return DirichletGroups(self.basis).curvature(self.counts[None], shares)
