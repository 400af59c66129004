"""Prevalences of groups with a Dirichlet prior, in place of normal log-ratios."""

from dataclasses import dataclass

import numpy as np

from truecount._log_sum import finite_log
from truecount._types import FloatArray
from truecount.models.hierarchy.log_ratios import shares_of


@dataclass(frozen=True, slots=True)
class DirichletGroups:
    """The prevalence of each group is drawn from a Dirichlet distribution.

    Either of a fixed concentration, the same for all groups, which are then independent of each other; or ``κ · m``
    around the groups' centre m, with ``κ = 2 L / spread²``: where the centre is even and κ is large, `spread` is the
    standard deviation of a log-ratio.

    Parameters
    ----------
    basis
        The map from log-ratios to logarithms of shares.
    fixed
        Shape (classes,): the fixed concentration; None where it is learned.
    """

    basis: FloatArray
    fixed: FloatArray | None = None

    def concentration(self, located: FloatArray, spread: FloatArray) -> FloatArray:
        """Return the concentration of each group (chain, class, group), of its centre and the spread (chain,)."""
        if self.fixed is not None:
            return np.broadcast_to(self.fixed[:, None], (len(located), len(self.fixed), located.shape[2]))
        total = 2 * len(self.basis) / spread**2
        return total[:, None, None] * shares_of(self.basis, located)

    def log_density(self, concentration: FloatArray, shares: FloatArray) -> FloatArray:
        """Return the log-density of the groups' log-ratios, shape (chain,)."""
        from scipy.special import gammaln

        normaliser = gammaln(concentration.sum(axis=1)) - gammaln(concentration).sum(axis=1)
        weighted = (concentration * finite_log(shares)).sum(axis=1)
        value: FloatArray = (normaliser + weighted).sum(axis=1)
        return value

    def gradient(self, concentration: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the gradients by the groups' log-ratios, by their centre, and by the logarithm of the spread."""
        from scipy.special import digamma

        total = concentration.sum(axis=1, keepdims=True)
        by_ratios = np.matmul(self.basis.T, concentration - total * shares)
        if self.fixed is not None:
            return by_ratios, np.zeros_like(by_ratios), np.zeros(len(shares))
        by_each = digamma(total) - digamma(concentration) + finite_log(shares)
        by_total = (concentration * by_each).sum(axis=1, keepdims=True)
        by_centre = np.matmul(self.basis.T, concentration * by_each - concentration / total * by_total)
        return by_ratios, by_centre, -2 * by_total.sum(axis=(1, 2))

    def curvature(self, concentration: FloatArray, shares: FloatArray) -> FloatArray:
        """Return minus the second derivatives by the groups' log-ratios, shape (chain, log-ratio, log-ratio, group)."""
        mean = np.matmul(self.basis.T, shares)
        second = np.einsum("li,clg,lj->cijg", self.basis, shares, self.basis)
        spread: FloatArray = second - mean[:, :, None] * mean[:, None]
        spread *= concentration.sum(axis=1)[:, None, None]
        return spread
