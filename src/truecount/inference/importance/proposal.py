"""Proposals for independent draws: prevalence and confusion at once, with the weight that makes them exact.

The confusion φ comes from what the labels say of it. For the prevalence π, draw the shares q of (groups of) outputs
from the unlabelled counts, draw the shares of the classes that are not solved for, and solve φᵀπ = q for the rest. The
density of such a draw is that of q times that of the free shares times |det φ|, so the weight is the prior of π over
them.

Where rows of φ are nearly equal, |det φ| is nearly zero and weights would have no bound. A mixture with a smaller
system, in which the classes that cannot be told apart are free, gives them one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import lgamma, log

import numpy as np

from truecount._log_sum import SMALLEST, finite_log, softmax
from truecount._types import FloatArray
from truecount.inference.draws import SMALLEST_SHAPE, dirichlet, rows_by_labels
from truecount.inference.importance.resample import effective_share
from truecount.inference.importance.square import SquareSystem, merge_columns, smaller_system, solve, square_system
from truecount.models import Density

LEAST_SHARE = 3e-4
"""Times the cells of the confusion: the share of proposals that must count; below it Hamiltonian chains are faster."""


@dataclass(frozen=True)
class Pool:
    """Independent weighted draws that fell inside the simplex; `proposed` counts those outside too."""

    prevalence: FloatArray
    confusion: FloatArray
    log_weights: FloatArray
    proposed: int

    @classmethod
    def joined(cls, pools: Sequence["Pool"]) -> "Pool":
        """Put pools from one proposal together."""
        return cls(
            np.concatenate([pool.prevalence for pool in pools]),
            np.concatenate([pool.confusion for pool in pools]),
            np.concatenate([pool.log_weights for pool in pools]),
            sum(pool.proposed for pool in pools),
        )

    @cached_property
    def weights(self) -> FloatArray:
        """Weights that sum to one."""
        return softmax(self.log_weights)

    @cached_property
    def effective(self) -> float:
        """Kish's effective number of draws."""
        return effective_share(self.weights) * len(self.log_weights) if len(self.log_weights) else 0.0

    @cached_property
    def largest(self) -> float:
        """The largest weight over the mean weight."""
        return float(self.weights.max() * len(self.log_weights)) if len(self.log_weights) else np.inf


@dataclass(frozen=True, slots=True)
class DirichletMixture:
    """Equal parts of Dirichlets; shape (components, shares)."""

    concentrations: FloatArray

    def fitted(self, shares: FloatArray, weights: FloatArray) -> "DirichletMixture":
        """Add a component with the mean of these draws and a little more than their spread.

        What was there before stays, so that nothing is out of reach.
        """
        mean = weights @ shares
        variance = np.maximum(weights @ (shares - mean) ** 2, 1e-12)
        total = max(0.7 * float(np.median(mean * (1 - mean) / variance)) - 1, 1.0)
        return DirichletMixture(np.vstack([self.concentrations, np.maximum(mean * total, 0.5)]))

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Shape (size, shares)."""
        return dirichlet(rng, self.concentrations[rng.integers(len(self.concentrations), size=size)], ())

    def log_density(self, shares: FloatArray) -> FloatArray:
        """Log-density at each of (size, shares)."""
        logs = finite_log(shares)
        each = [logs @ (c - 1) + log_normaliser(c) for c in self.concentrations]
        value: FloatArray = np.logaddexp.reduce(each, axis=0) - log(len(each))
        return value


@dataclass(frozen=True, slots=True)
class Source:
    """One way to draw π given φ: a system of equations, and where the shares of its free classes come from.

    `free` has one entry for each free class and a last one for all solved classes together.
    """

    density: Density
    system: SquareSystem
    free: DirichletMixture

    @classmethod
    def of(cls, density: Density, system: SquareSystem) -> "Source":
        """Take free shares from the prior."""
        rest = density.prevalence[system.solved].sum()
        return cls(density, system, DirichletMixture(np.append(density.prevalence[system.free], rest)[None]))

    def fitted(self, pilot: Pool) -> "Source":
        """Learn from a pilot where the free shares lie."""
        if not len(self.system.free):
            return self
        return Source(
            self.density,
            self.system,
            self.free.fitted(self._free_shares(pilot.prevalence), pilot.weights),
        )

    def draw(self, confusion: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Prevalence (draws, classes), which may lie outside the simplex, and log|det φ| (draws,)."""
        system, merged = self.system, self._merged(confusion)
        right = _group_shares(self._counts(), merged.shape[2], rng)
        prevalence = np.empty((merged.shape[2], self.density.n_classes))
        if len(system.free):
            free = self.free.draw(len(prevalence), rng)[:, :-1]
            prevalence[:, system.free] = free
            right -= np.einsum("sf,fgs->gs", free, merged[system.free])
        solution, log_det = solve(merged[system.solved], right)
        prevalence[:, system.solved] = solution.T
        return prevalence, log_det

    def log_determinant(self, confusion: FloatArray) -> FloatArray:
        """log|det φ| of the system, shape (draws,)."""
        matrix = self._merged(confusion)[self.system.solved]
        return solve(matrix, np.zeros(matrix.shape[1:]))[1]

    def log_density(self, prevalence: FloatArray, confusion: FloatArray, log_det: FloatArray) -> FloatArray:
        """Log-density of π given φ over the likelihood of the unlabelled counts, up to what all sources share.

        Over the likelihood, because almost all of it would cancel, and with 10¹² items nothing else would be left.
        """
        value = log_det - self._within_groups(prevalence, confusion)
        if len(self.system.free):
            value = value + self.free.log_density(self._free_shares(prevalence))
        return value

    def log_constant(self) -> float:
        """What sources do not share: the normaliser of the outputs' shares."""
        return log_normaliser(self._counts() + 1)

    def _free_shares(self, prevalence: FloatArray) -> FloatArray:
        free = prevalence[:, self.system.free]
        return np.column_stack([free, 1 - free.sum(axis=1)])

    def _merged(self, confusion: FloatArray) -> FloatArray:
        return merge_columns(confusion, self.system.groups, self.system.size)

    def _counts(self) -> FloatArray:
        counts = np.zeros(self.system.size)
        np.add.at(counts, self.system.groups, self.density.unlabeled)
        return counts

    def _within_groups(self, prevalence: FloatArray, confusion: FloatArray) -> FloatArray | float:
        """Log-likelihood of how the unlabelled items fall within each group of outputs."""
        if self.density.n_outputs == self.system.size:
            return 0.0
        shares = np.einsum("sl,lks->ks", prevalence, confusion)
        together = merge_columns(shares[None], self.system.groups, self.system.size)[0]
        seen = self.density.unlabeled > 0
        with np.errstate(divide="ignore", invalid="ignore"):  # what floats take for impossible has no weight
            logs = np.log(shares[seen] / together[self.system.groups[seen]])
        value: FloatArray = self.density.unlabeled[seen] @ logs
        return value


@dataclass(frozen=True, slots=True)
class Proposal:
    """Equal parts of one or more sources."""

    density: Density
    sources: tuple[Source, ...]

    @property
    def numbers(self) -> int:
        """The cells of the confusion, which are most of a draw."""
        return self.density.rows.size

    @property
    def least_share(self) -> float:
        """Share of the proposals that must count."""
        return LEAST_SHARE * self.numbers

    @classmethod
    def first(cls, density: Density) -> "Proposal":
        """Propose by what is known before any draw."""
        return cls(density, (Source.of(density, square_system(density)),))

    @property
    def is_learning(self) -> bool:
        """Whether a pilot could improve it."""
        return any(len(source.system.free) for source in self.sources)

    def fitted(self, pilot: Pool) -> "Proposal":
        """Learn from a pilot where free shares lie."""
        return Proposal(self.density, tuple(source.fitted(pilot) for source in self.sources))

    def widened(self) -> "Proposal":
        """Mix in a system smaller by one than the smallest; as it is, if there is none."""
        smallest = self.sources[-1].system
        if smallest.size == 1:
            return self
        smaller = Source.of(self.density, smaller_system(smallest, self.density))
        return Proposal(self.density, (*self.sources, smaller))

    def draw(self, size: int, rng: np.random.Generator) -> Pool:
        """Draw so many, keep those inside the simplex, and weight them."""
        confusion = _confusion_draws(self.density, size, rng)
        parts = np.array_split(np.arange(size), len(self.sources))
        drawn = [source.draw(confusion[:, :, part], rng) for source, part in zip(self.sources, parts, strict=True)]
        prevalence, log_det = (np.concatenate(values) for values in zip(*drawn, strict=True))
        inside = np.flatnonzero((prevalence >= 0).all(axis=1) & np.isfinite(log_det))
        prevalence, kept = prevalence[inside], confusion[:, :, inside]
        log_weights = prior_term(self.density, prevalence) - self._log_density(prevalence, kept, log_det[inside])
        log_weights = np.broadcast_to(log_weights, len(prevalence))
        finite = np.flatnonzero(np.isfinite(log_weights))
        confusion = np.ascontiguousarray(kept[:, :, finite].transpose(2, 0, 1))
        return Pool(prevalence[finite], confusion, log_weights[finite], size)

    def _log_density(self, prevalence: FloatArray, confusion: FloatArray, log_det: FloatArray) -> FloatArray:
        if len(self.sources) == 1:
            return self.sources[0].log_density(prevalence, confusion, log_det)
        return self.log_density(prevalence, confusion)

    def log_density(self, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
        """Log-density over what the labels say of the rows and the likelihood; confusion (classes, outputs, draws)."""
        each = [
            source.log_constant() + source.log_density(prevalence, confusion, source.log_determinant(confusion))
            for source in self.sources
        ]
        value: FloatArray = np.logaddexp.reduce(each, axis=0) - log(len(each))
        return value


def log_normaliser(concentration: FloatArray) -> float:
    """Log of what makes a Dirichlet density of this concentration integrate to one."""
    return lgamma(concentration.sum()) - sum(map(lgamma, concentration))


def fill_gammas(concentrations: FloatArray, out: FloatArray, rng: np.random.Generator) -> None:
    """Fill `out`, of shape (…, draws), with gammas: one plain call a cell is faster than one call with many shapes."""
    for index, concentration in np.ndenumerate(concentrations):
        rng.standard_gamma(concentration, out=out[index])


def _confusion_draws(density: Density, size: int, rng: np.random.Generator) -> FloatArray:
    """Shape (classes, outputs, draws)."""
    if density.learned_rows is not None or density.rows.min() < SMALLEST_SHAPE:
        confusion = np.moveaxis(rows_by_labels(rng, density, size), 0, -1).copy()
    else:
        confusion = np.empty((*density.rows.shape, size))
        fill_gammas(density.rows, confusion, rng)
        confusion /= confusion.sum(axis=1, keepdims=True)
        confusion[density.is_known] = density.known[density.is_known][:, :, None]
    return confusion


def _group_shares(counts: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
    """Shape (groups, draws): the shares of the groups of outputs, given how often each was seen."""
    gammas = np.empty((len(counts), size))
    fill_gammas(counts + 1, gammas, rng)
    gammas /= gammas.sum(axis=0)
    return gammas


def prior_term(density: Density, prevalence: FloatArray) -> FloatArray | float:
    """Log-prior of each prevalence of (draws, classes), up to a constant."""
    exponents = density.prevalence - 1
    if not exponents.any():
        return 0.0
    least = np.where(exponents < 0, SMALLEST, 0.0)  # a pole is as high as floats go
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(prevalence, least))
    value: FloatArray = logs[:, exponents != 0] @ exponents[exponents != 0]
    return value
