"""Proposals that reach every mode: for counts that contradict each other, where the usual proposals may miss one.

The usual proposals take the confusion from the labels alone. Where labels, prior and unlabelled counts agree, every
point of high density is also likely under them. Where they disagree, a mode may lie where the rows of some class are
bent far away from its labels: nothing is ever proposed there, and no weight shows it.

Here parts are mixed in that bend rows. Most follow from this: draw the outputs' shares q from the unlabelled counts,
the prevalence π and all rows but that of class b, and solve for that row, ``φ_b = (q − Σ π_l φ_l)/π_b``. Its density is
that of q times ``π_b^(K − 1)``. So the unlabelled counts are met whatever their number, and row b may be anything.
There are such parts for every class with π from the prior, and narrower ones around each mode that `landscape` finds,
besides those in which the class of every unlabelled item is taken as known, all or in part.

Rows and outputs that contradict each other give way as far as π allows, so where they lie depends on it. Parts are
therefore fitted to draws slice by slice of the prevalence.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from truecount._log_sum import SMALLEST, finite_log
from truecount._types import FloatArray
from truecount.inference.draws import SMALLEST_SHAPE, dirichlet, draw_rows
from truecount.inference.importance.proposal import Pool, Proposal, log_normaliser, prior_term
from truecount.inference.modes.landscape import Landscape
from truecount.models import Density

SHARES_KEPT = (1.0, 0.3, 0.1)
"""How much of the items' classes a part takes as known: the less, the wider it is."""
BENT = (0.0, 0.5, 5.0)
"""Items as the unlabelled ones that bend a row, for each label."""
LARGE = 0.2
"""A class that holds so much on a mode may have its row solved for there."""
EVEN = 0.2
"""Share of the proposals that all parts have in equal measure, whatever they were worth so far."""
SLICES, LEAST_EFFECTIVE = 8, 5.0
"""Slices of the prevalence; parts are fitted to each with its neighbours, unless so few effective draws lie there."""
BY_SLICE = 0.7
"""Share of the other proposals that parts fitted to slices have."""
WIDER = (0.6, 0.2)
"""Concentrations of fitted parts over that of the draws they were fitted to."""


@dataclass(frozen=True, slots=True)
class Part:
    """Dirichlet concentrations of the prevalence, the rows and the outputs' shares.

    These shares are drawn where the row of one class, `solved`, follows from the rest; None is for the counts' own.
    """

    prevalence: FloatArray
    rows: FloatArray
    solved: int | None = None
    outputs: FloatArray | None = None

    def draw(self, density: Density, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Shapes (kept, classes) and (kept, classes, outputs); what has no row in the simplex is left out."""
        prevalence = dirichlet(rng, self.prevalence, (size,))
        confusion = draw_rows(rng, replace(density, rows=self.rows), 0.0, (size,))
        if self.solved is None:
            return prevalence, confusion
        confusion[:, self.solved] = 0.0
        outputs = dirichlet(rng, self.of_outputs(density), (size,)) - np.einsum("sl,slk->sk", prevalence, confusion)
        kept = np.flatnonzero((outputs > 0).all(axis=1))
        row = outputs[kept] / outputs[kept].sum(axis=1, keepdims=True)
        prevalence, confusion = prevalence[kept], confusion[kept]
        confusion[:, self.solved] = row
        return prevalence, confusion

    def of_outputs(self, density: Density) -> FloatArray:
        """Return the concentrations of the outputs' shares."""
        return density.unlabeled + 1 if self.outputs is None else self.outputs


@dataclass(frozen=True)
class DefensiveProposal:
    """The usual proposal and parts beside it.

    Parameters
    ----------
    density
        The posterior.
    usual
        The usual proposal.
    parts
        What is mixed in.
    probabilities
        Shape (1 + parts,): of the usual proposal and of each part.
    own
        So many of the parts were there before any was fitted.
    """

    density: Density
    usual: Proposal
    parts: tuple[Part, ...]
    probabilities: FloatArray
    own: int

    @property
    def numbers(self) -> int:
        """As of the usual proposal."""
        return self.usual.numbers

    @property
    def least_share(self) -> float:
        """As of the usual proposal."""
        return self.usual.least_share

    def __post_init__(self) -> None:
        """Keep the posterior's own shapes wherever shares are nearly zero.

        A share of a shape far below one is mostly too small for a float, and then only a part of the same shape has a
        density that is known there.
        """
        own = self.density
        kept = tuple(
            replace(part, prevalence=_kept(own.prevalence, part.prevalence), rows=_kept(own.rows, part.rows))
            for part in self.parts
        )
        object.__setattr__(self, "parts", kept)

    @classmethod
    def around(cls, landscape: Landscape, usual: Proposal) -> "DefensiveProposal":
        """Mix in what the prior allows, and what reaches each mode of the landscape."""
        parts = (*_prior_parts(landscape.density), *_mode_parts(landscape))
        return cls(landscape.density, usual, parts, np.full(1 + len(parts), 1 / (1 + len(parts))), len(parts))

    def fitted(self, pool: Pool) -> "DefensiveProposal":
        """Propose more from what was worth more, and from parts fitted to slices of the draws."""
        own, worth = self.parts[: self.own], _worth(pool)
        before = replace(self, parts=own, probabilities=self.probabilities[: 1 + self.own])
        log_parts = before._log_parts(pool.prevalence, pool.confusion) + np.log(before.probabilities)
        told = worth @ np.exp(log_parts - np.logaddexp.reduce(log_parts, axis=1)[:, None])
        fitted = tuple(_sliced_parts(self.density, pool, worth))
        by_slice = (1 - EVEN) * BY_SLICE if fitted else 0.0
        of_own = EVEN / len(told) + (1 - EVEN - by_slice) * told / told.sum()
        probabilities = np.append(of_own, np.full(len(fitted), by_slice / max(len(fitted), 1)))
        return replace(self, parts=(*own, *fitted), probabilities=probabilities)

    def draw(self, size: int, rng: np.random.Generator) -> Pool:
        """Draw so many, keep those inside the simplices, and weight them."""
        sizes = rng.multinomial(size, self.probabilities)
        usual = self.usual.draw(int(sizes[0]), rng)
        drawn = [(usual.prevalence, usual.confusion)]
        drawn += [part.draw(self.density, each, rng) for part, each in zip(self.parts, sizes[1:], strict=True) if each]
        prevalence, confusion = (np.concatenate(values) for values in zip(*drawn, strict=True))
        log_parts = self._log_parts(prevalence, confusion) + np.log(self.probabilities)
        log_weights = prior_term(self.density, prevalence) - np.logaddexp.reduce(log_parts, axis=1)
        finite = np.flatnonzero(np.isfinite(log_weights))
        return Pool(prevalence[finite], confusion[finite], log_weights[finite], size)

    def _log_parts(self, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
        """Shape (draws, 1 + parts): log-density over what the labels say of the rows and the likelihood."""
        usual = self.usual.log_density(prevalence, np.ascontiguousarray(confusion.transpose(1, 2, 0)))
        outputs = np.einsum("sl,slk->sk", prevalence, confusion)
        shares, cells, outputs = (finite_log(each) for each in (prevalence, confusion, outputs))
        terms, cells = self._terms, cells.reshape(len(shares), self.density.rows.size)
        parts = shares @ terms.shares.T + cells @ terms.cells.T + outputs @ terms.outputs.T
        return np.column_stack([usual, parts + terms.constants])

    @cached_property
    def _terms(self) -> "_Terms":
        return _Terms.of(self.density, self.parts)


@dataclass(frozen=True, slots=True)
class _Terms:
    """Log-densities of all parts as linear functions of logarithms; a row for each part."""

    shares: FloatArray
    cells: FloatArray
    outputs: FloatArray
    constants: FloatArray

    @classmethod
    def of(cls, density: Density, parts: tuple[Part, ...]) -> "_Terms":
        """Gather exponents and normalisers, over what the labels say of the rows and the likelihood."""
        learned = ~density.is_known
        by_labels = np.array([log_normaliser(row) for row in density.rows])
        shares, cells, outputs, constants = [], [], [], []
        for part in parts:
            of_rows = np.array([log_normaliser(row) for row in part.rows]) - by_labels
            powers = np.where(learned[:, None], part.rows - density.rows, 0.0)
            exponents, constant = part.prevalence - 1, log_normaliser(part.prevalence)
            of_outputs = -density.unlabeled
            if part.solved is not None:
                concentrations = part.of_outputs(density)
                exponents[part.solved] += density.n_outputs - 1
                powers[part.solved] = 1 - density.rows[part.solved]
                of_outputs = concentrations - 1 - density.unlabeled
                of_rows[part.solved], constant = -by_labels[part.solved], constant + log_normaliser(concentrations)
            shares.append(exponents)
            cells.append(powers.ravel())
            outputs.append(of_outputs)
            constants.append(constant + of_rows[learned].sum())
        return cls(np.array(shares), np.array(cells), np.array(outputs), np.array(constants))


def _kept(own: FloatArray, shapes: FloatArray) -> FloatArray:
    return np.where(np.maximum(own, shapes) < SMALLEST_SHAPE, own, shapes)


def _prior_parts(density: Density) -> Iterator[Part]:
    """Parts that take the prevalence from the prior, or lean towards the class whose row is solved for.

    The other rows are as the labels say, or bent towards the unlabelled outputs: rows may all be alike, and then any
    prevalence explains the outputs.
    """
    yield Part(density.prevalence, density.rows)
    bent = density.rows[~density.is_known].sum() * density.unlabeled / density.unlabeled.sum()
    for number in np.flatnonzero(~density.is_known):
        leaning = density.prevalence + density.n_outputs * (np.arange(density.n_classes) == number)
        for prevalence in (density.prevalence, leaning):
            for strength in BENT:
                yield Part(prevalence, density.rows + strength * bent, int(number))


def _mode_parts(landscape: Landscape) -> Iterator[Part]:
    """Parts around each mode and on the way from it to one class alone, by the items of each class and output there."""
    density = landscape.density
    few = min(1.0, max(1.0, density.rows[~density.is_known].sum()) / density.unlabeled.sum())
    scales = np.geomspace(1.0, 0.1 * few, 2 - int(np.log10(few)))
    for items in landscape.allocations():
        held = items.sum(axis=1)
        for kept in SHARES_KEPT:
            yield Part(density.prevalence + kept * held, density.rows + kept * items)
        for number in np.flatnonzero(~density.is_known & (held > LARGE * held.sum())):
            for kept in scales:
                yield Part(density.prevalence + kept * held, density.rows, int(number))
                yield Part(density.prevalence + kept * held, density.rows + few * items, int(number))
    for items in landscape.allocations_on_the_way():
        held = items.sum(axis=1)
        for kept in SHARES_KEPT:
            yield Part(density.prevalence + kept * held, density.rows + kept * items)
        largest = int(np.argmax(np.where(density.is_known, 0.0, held)))
        if not density.is_known.all():
            yield Part(density.prevalence + few * held, density.rows + few * items, largest)


def _worth(pool: Pool) -> FloatArray:
    """Shape (draws,), of sum 1: half of it the weight, half the draw's part in the variance of the prevalence.

    Without the latter a thin tail that makes up most of the variance would be drawn from too rarely to be seen.
    """
    weights = pool.weights
    squares = (pool.prevalence - weights @ pool.prevalence) ** 2
    distance: FloatArray = (squares / np.maximum(weights @ squares, SMALLEST)).mean(axis=1)
    return weights * (1 + distance) / 2


def _sliced_parts(density: Density, pool: Pool, worth: FloatArray) -> Iterator[Part]:
    """Parts with the mean of the draws in each slice and its neighbours, and more than their spread.

    Slices are along the direction in which shares vary most. In every second part, unless all rows are known, the row
    of the largest class whose row is not follows from the rest.
    """
    off = pool.prevalence - worth @ pool.prevalence
    along = off @ np.linalg.eigh(off.T @ (worth[:, None] * off))[1][:, -1]
    order = np.argsort(along, kind="stable")
    ends = np.searchsorted(np.cumsum(worth[order]), np.arange(SLICES + 1) / SLICES)
    for number in range(SLICES):
        chosen = order[ends[max(number - 1, 0)] : ends[min(number + 2, SLICES)]]
        weights = worth[chosen]
        if not weights.sum() or weights.sum() ** 2 < LEAST_EFFECTIVE * (weights**2).sum():
            continue
        weights, prevalence, confusion = weights / weights.sum(), pool.prevalence[chosen], pool.confusion[chosen]
        rows = np.array([_fitted_dirichlet(confusion[:, row], weights) for row in range(density.n_classes)])
        shares = _fitted_dirichlet(prevalence, weights)
        outputs = _fitted_dirichlet(np.einsum("sl,slk->sk", prevalence, confusion), weights)
        largest = int(np.argmax(np.where(density.is_known, 0.0, shares)))
        for wider in WIDER:
            bent = np.where(density.is_known[:, None], density.rows, wider * rows)
            yield Part(wider * shares, bent)
            if not density.is_known.all():
                yield Part(wider * shares, bent, largest, wider * outputs)


def _fitted_dirichlet(shares: FloatArray, weights: FloatArray) -> FloatArray:
    """Concentrations with the mean and the spread of weighted draws of shape (draws, shares)."""
    mean = weights @ shares
    variance = weights @ (shares - mean) ** 2
    total = mean @ np.clip(mean * (1 - mean) / np.maximum(variance, 1e-18) - 1, 1.0, 1e15)
    return np.maximum(total * mean, 5e-3)
