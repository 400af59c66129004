"""Draws from the posterior of many groups, and how they are kept while they are made."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from truecount._types import FloatArray
from truecount.inference import convergence

KEPT_BYTES = 120_000_000
"""Of draws; every second iteration is left out when they take more."""
FEWEST_KEPT = 16
KEPT_OF_EFFECTIVE = 4
"""Draws that memory must hold for each effective one that is aimed at."""


@dataclass(frozen=True, slots=True)
class Convergence:
    """Of one kind of quantity: the largest R-hat and the least effective sample size of its values."""

    name: str
    rhat: float
    effective: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDraws:
    """Draws from the posterior of many groups, chain after chain.

    Parameters
    ----------
    prevalence
        Shape (draws, groups, classes).
    confusion
        Shape (draws, classes, outputs), or (draws, groups, classes, outputs) where the confusion varies.
    centre
        Shape (draws, columns, log-ratios): coefficients of the groups' centre; no columns for independent groups.
    spread
        Shape (draws, spreads): standard deviation between groups, of each log-ratio; none for independent groups.
    common_rows
        Shape (draws, classes, outputs): the rows around which the confusion varies; None where it does not.
    row_spread
        Shape (draws, classes): standard deviation of each row that is learned, between studies and groups; no columns
        where the confusion does not vary.
    chains
        How many there are.
    iterations, gradients
        Trajectories of each chain, warm-up included, and evaluations of the gradient.
    acceptance
        Mean probability with which trajectories were accepted.
    """

    prevalence: FloatArray
    confusion: FloatArray
    centre: FloatArray
    spread: FloatArray
    common_rows: FloatArray | None
    row_spread: FloatArray
    chains: int
    iterations: int
    gradients: int
    acceptance: float

    def convergence(self) -> tuple[Convergence, ...]:
        """Return R-hat and effective sample size of each kind of quantity that varies."""
        return tuple(
            Convergence(
                name,
                float(convergence.rhat_of_many_chains(values, self.chains).max()),
                float(convergence.effective_fast(values, self.chains).min()),
            )
            for name, values in self._quantities()
        )

    def is_enough(self, wanted: int) -> bool:
        """Whether chains agree and so many draws of every quantity are effective."""
        for _, values in self._quantities():
            if convergence.effective_fast(values, self.chains).min() < wanted:
                return False
            if convergence.rhat_of_many_chains(values, self.chains).max() > convergence.RHAT_LIMIT:
                return False
        return True

    def _quantities(self) -> Iterator[tuple[str, FloatArray]]:
        """Yield what is drawn as (draws, values) by name, the smaller first, without what is known."""
        found = {
            "spread": self.spread,
            "centre": self.centre,
            "spread of the confusion": self.row_spread,
            "common confusion": self.common_rows,
            "confusion": self.confusion,
            "prevalence": self.prevalence,
        }
        for name, values in found.items():
            if values is not None:
                flat = values.reshape(len(values), -1)
                varies = (flat != flat[0]).any(axis=0)
                if varies.any():
                    yield name, flat if varies.all() else flat[:, varies]


def attainable(wanted: int, numbers: int) -> int:
    """Return how many effective draws to aim at, where a draw consists of so many numbers and memory is limited."""
    return max(1, min(wanted, KEPT_BYTES // (8 * numbers * KEPT_OF_EFFECTIVE)))


class Stacked(NamedTuple):
    """What was kept, chain after chain: shapes (draws, …)."""

    hyper: FloatArray
    prevalence: FloatArray
    rows: FloatArray | None


@dataclass(slots=True)
class Kept:
    """Draws that were kept, each an array (chain, …) for one iteration."""

    hyper: list[FloatArray] = field(default_factory=list)
    prevalence: list[FloatArray] = field(default_factory=list)
    rows: list[FloatArray] = field(default_factory=list)
    every: int = 1
    seen: int = 0

    def add(self, hyper: FloatArray, prevalence: FloatArray, rows: FloatArray | None = None) -> None:
        """Keep where the chains stand, unless there is too little memory for every iteration."""
        self.seen += 1
        if self.seen % self.every:
            return
        self.hyper.append(hyper)
        self.prevalence.append(prevalence)
        if rows is not None:
            self.rows.append(rows)
        size = hyper.size + prevalence.size + (0 if rows is None else rows.size)
        if len(self.hyper) > max(FEWEST_KEPT, KEPT_BYTES // (8 * size)):
            self.every *= 2
            for values in (self.hyper, self.prevalence, self.rows):
                values[:] = values[1::2]

    def stacked(self) -> Stacked:
        """Return all that was kept, chain after chain."""
        rows = _chain_after_chain(self.rows) if self.rows else None
        return Stacked(_chain_after_chain(self.hyper), _chain_after_chain(self.prevalence), rows)


def _chain_after_chain(values: Sequence[FloatArray]) -> FloatArray:
    """Join arrays (chain, …) of successive iterations to (draws, …)."""
    stacked = np.stack(values, axis=1)
    return stacked.reshape(len(stacked) * len(values), *stacked.shape[2:])
