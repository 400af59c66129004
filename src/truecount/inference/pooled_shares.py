"""Groups around a common centre, in chains that draw their shares by imputing classes."""

from collections.abc import Callable

import numpy as np

from truecount._log_sum import SMALLEST
from truecount._types import BoolArray, FloatArray
from truecount.models.hierarchy.dirichlet import DirichletGroups
from truecount.models.hierarchy.log_ratios import log_ratio_basis, shares_of

WALK = 2.4
"""Steps of a random walk, in standard deviations of what is drawn."""


class PooledShares:
    """What pooled groups have in common: ``π_g ~ Dir(κ m)``, with the spread that stands for κ, shapes (chains, …)."""

    def __init__(self, concentration: FloatArray, scale: float, chains: int) -> None:
        n_classes = len(concentration)
        self.prior, self.scale = concentration, scale
        self.groups = DirichletGroups(log_ratio_basis(n_classes))
        self.inverse = np.linalg.pinv(self.groups.basis).T
        self.centre = np.full((chains, n_classes), 1 / n_classes)
        self.spread = np.full(chains, scale)

    def ratios(self) -> FloatArray:
        """Return the log-ratios of the centre."""
        return np.asarray(np.log(self.centre) @ self.inverse)

    def concentration(self) -> FloatArray:
        """Return κ m, shape (chains, classes)."""
        return self._concentrations(self.centre, self.spread)

    def log_density(self, shares: FloatArray, centre: FloatArray, spread: FloatArray | None = None) -> FloatArray:
        """Return the log-density of the groups' log-ratios, shape (chains,)."""
        concentrations = self._concentrations(centre, self.spread if spread is None else spread)
        return self.groups.log_density(concentrations[:, :, None], shares.transpose(0, 2, 1))

    def sweep(self, rng: np.random.Generator, shares: FloatArray) -> None:
        """Move the centre, then the spread, by random walks in log-ratios and in the logarithm of the spread.

        Steps are as long as what the groups leave open: the centre's in proportion to the spread.
        """
        basis, number = self.groups.basis, shares[0].size
        step = WALK * np.minimum(self.spread, 1.0) / np.sqrt(shares.shape[1])
        moved = self.ratios() + step[:, None] * rng.standard_normal((len(self.spread), basis.shape[1]))
        ratio = self.height(shares, _shares(basis, moved), self.spread) - self.height(shares, self.centre, self.spread)
        self.take(ratio, _shares(basis, moved), self.spread, rng)
        spread = self.spread * np.exp(WALK / np.sqrt(2 * number) * rng.standard_normal(len(self.spread)))
        ratio = self.height(shares, self.centre, spread) - self.height(shares, self.centre, self.spread)
        self.take(ratio, self.centre, spread, rng)

    def move(
        self, rng: np.random.Generator, shares: FloatArray, log_likelihood: Callable[[FloatArray], FloatArray]
    ) -> FloatArray:
        """Stretch all groups about their centre, the spread with them; then shift them all, the centre with them.

        How far is chosen by chance, from a hundredth to three: what fits depends on the spread, which may be near zero.
        Returns the shares, shape (chains, groups, classes).
        """
        basis, chains = self.groups.basis, len(self.spread)
        stretch, step = (np.exp(rng.uniform(-4.5, 1.0, chains)) for _ in range(2))
        stretch *= rng.standard_normal(chains)
        shift = step[:, None, None] * rng.standard_normal((chains, 1, basis.shape[1]))
        for is_shift in (False, True):
            ratios, about = np.log(shares) @ self.inverse, self.ratios()[:, None]
            if is_shift:
                moved, centre = ratios + shift, _shares(basis, about + shift)[:, 0]
                spread, volume = self.spread, np.zeros(chains)
            else:
                moved, centre = about + np.exp(stretch)[:, None, None] * (ratios - about), self.centre
                spread, volume = self.spread * np.exp(stretch), stretch * ratios[0].size
            new = _shares(basis, moved)
            ratio = self.height(new, centre, spread) - self.height(shares, self.centre, self.spread)
            accepted = self.take(ratio + volume + log_likelihood(new) - log_likelihood(shares), centre, spread, rng)
            shares = np.where(accepted[:, None, None], new, shares)
        return shares

    def take(self, ratio: FloatArray, centre: FloatArray, spread: FloatArray, rng: np.random.Generator) -> BoolArray:
        """Take a proposal with the probability of its ratio, and say in which chains."""
        accepted: BoolArray = np.log(rng.random(len(ratio))) < ratio
        self.centre = np.where(accepted[:, None], centre, self.centre)
        self.spread = np.where(accepted, spread, self.spread)
        return accepted

    def height(self, shares: FloatArray, centre: FloatArray, spread: FloatArray) -> FloatArray:
        """Return the log-density of log-ratios of shares and centre, and of the logarithm of the spread."""
        hyper = np.log(centre) @ self.prior - 0.5 * (spread / self.scale) ** 2 + np.log(spread)
        return np.asarray(self.log_density(shares, centre, spread) + hyper)

    def _concentrations(self, centre: FloatArray, spread: FloatArray) -> FloatArray:
        return np.asarray((2 * len(self.prior) / spread**2)[:, None] * centre)


def _shares(basis: FloatArray, ratios: FloatArray) -> FloatArray:
    """Return the shares of log-ratios, which are along the last axis."""
    return np.maximum(shares_of(basis, ratios[..., None])[..., 0], SMALLEST)
