"""Several classifiers that err independently: Gibbs sampling with the class of every unlabelled item imputed."""

from collections.abc import Iterator

import numpy as np

from truecount._log_sum import SMALLEST, finite_log
from truecount._types import FloatArray
from truecount.inference.chains.history import History
from truecount.inference.draws import Draws, dirichlet
from truecount.inference.group_draws import GroupDraws, chain_after_chain
from truecount.inference.pooled_shares import PooledShares
from truecount.inference.run import ChainRun
from truecount.models import Density
from truecount.models.independent_classifiers import ClassifierDensity

CHAINS, WARMUP, FIRST, MOST_SWEEPS = 8, 500, 1000, 32_000
KEPT = 4000
"""Sweeps of many groups that are kept, evenly spaced."""


def sample_independent(density: ClassifierDensity, *, effective_draws: int, seed: int) -> Draws:
    """Draw until every share of one population has this effective sample size, or the sweeps are spent."""
    n_classes, n_outputs = len(density.prevalence), density.unlabeled.shape[1]
    blank = np.ones((n_classes, n_outputs))
    history = History(CHAINS, Density(density.prevalence, blank, density.unlabeled[0], np.full_like(blank, np.nan)))
    wanted = FIRST
    for swept, chains in enumerate(_swept(density, np.random.default_rng(seed)), start=1):
        history.append(chains.shares[:, 0], chains.confusion())
        if swept == wanted:
            draws = history.draws(ChainRun(engine="Gibbs by classifier", chains=CHAINS, warmup=WARMUP))
            if (draws.effective.min() >= effective_draws and draws.run.status == "ok") or wanted >= MOST_SWEEPS:
                break
            wanted = min(2 * wanted, MOST_SWEEPS)
    return draws


def sample_independent_groups(density: ClassifierDensity, *, effective_draws: int, seed: int) -> GroupDraws:
    """Do the same for several groups, whose classifiers are the same."""
    wanted, stride = FIRST, 1
    kept: list[tuple[FloatArray, ...]] = []
    for swept, chains in enumerate(_swept(density, np.random.default_rng(seed)), start=1):
        if swept % stride == 0:
            kept.append((chains.shares, chains.confusion(), *chains.in_common()))
        if len(kept) > KEPT:
            kept, stride = kept[1::2], 2 * stride
        if swept == wanted:
            shares, confusion, centre, spread = (chain_after_chain(list(each)) for each in zip(*kept, strict=True))
            draws = GroupDraws(
                prevalence=shares,
                confusion=confusion,
                centre=centre,
                spread=spread,
                common_rows=None,
                row_spread=np.zeros((CHAINS * len(kept), 0)),
                chains=CHAINS,
                iterations=WARMUP + swept,
                gradients=0,
                acceptance=1.0,
            )
            if draws.is_enough(effective_draws) or wanted >= MOST_SWEEPS:
                break
            wanted = min(2 * wanted, MOST_SWEEPS)
    return draws


def _swept(density: ClassifierDensity, rng: np.random.Generator) -> "Iterator[_Chains]":
    """Yield the chains after each sweep that is not thrown away."""
    chains = _Chains(density, rng)
    for sweep in range(WARMUP + MOST_SWEEPS):
        chains.sweep()
        if sweep >= WARMUP:
            yield chains


class _Chains:
    """Where the chains stand: shares (chains, groups, classes), and the rows of each classifier."""

    def __init__(self, density: ClassifierDensity, rng: np.random.Generator) -> None:
        self.density, self.rng = density, rng
        self.whole = np.floor(density.unlabeled).astype(np.int64)
        self.parts = density.unlabeled - self.whole
        self.of_value = [np.eye(rows.shape[1])[at] for rows, at in zip(density.rows, density.values.T, strict=True)]
        self.shares = dirichlet(rng, density.prevalence, (CHAINS, len(self.whole)))
        self.rows = [dirichlet(rng, each, (CHAINS,)) for each in density.rows]
        self.common = None if density.spread is None else PooledShares(density.prevalence, density.spread, CHAINS)

    def sweep(self) -> None:
        """Draw the class of every item, then everything else given these.

        Items that count for less than one, weighted or clustered, are rounded anew in every sweep: rounded once, those
        of rare combinations would be lost.
        """
        rng, density = self.rng, self.density
        joint = self.shares[:, :, None, :] * self._products().transpose(0, 2, 1)[:, None] + SMALLEST
        unlabeled = self.whole + (rng.random((CHAINS, *self.parts.shape)) < self.parts)
        items = rng.multinomial(unlabeled, joint / joint.sum(axis=3, keepdims=True)).transpose(0, 1, 3, 2)
        prior = density.prevalence if self.common is None else self.common.concentration()[:, None]
        self.shares = np.maximum(dirichlet(rng, prior + items.sum(axis=3), ()), SMALLEST)
        every = items.sum(axis=1)
        self.rows = [
            dirichlet(rng, each + every @ value, ()) for each, value in zip(density.rows, self.of_value, strict=True)
        ]
        if self.common is not None:
            products = self._products()
            self.common.sweep(rng, self.shares)
            self.shares = self.common.move(rng, self.shares, lambda shares: self._log_likelihood(shares, products))

    def confusion(self) -> FloatArray:
        """Shape (chains, classes, outputs); rows add up to one where the combination of all missing is left out."""
        products = self._products()
        return np.asarray(products / products.sum(axis=2, keepdims=True))

    def in_common(self) -> tuple[FloatArray, FloatArray]:
        """Return the centre of the groups, (chains, 1, log-ratios), and their spread, (chains, 1); or none of it."""
        if self.common is None:
            return np.zeros((CHAINS, 0, len(self.density.prevalence) - 1)), np.zeros((CHAINS, 0))
        return self.common.ratios()[:, None], self.common.spread[:, None]

    def _log_likelihood(self, shares: FloatArray, products: FloatArray) -> FloatArray:
        return np.asarray((self.density.unlabeled * finite_log(shares @ products)).sum(axis=(1, 2)))

    def _products(self) -> FloatArray:
        """Shape (chains, classes, outputs): P(combination | class)."""
        product = np.ones(1)
        for each, column in zip(self.rows, self.density.values.T, strict=True):
            product = product * each[:, :, column]
        return product
