"""Draws from the posterior of many groups, and how they are kept while they are made."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from truecount._types import FloatArray
from truecount.inference import convergence

KEPT_BYTES = 650_000_000
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

    def may_converge(self, times: float) -> bool:
        """Whether chains so many times as long may have enough effective draws to be an answer.

        Effective draws of chains that mix grow in proportion. Those of chains that stay where they begin do not: for
        each chain they are one half.
        """
        stayed = self.chains / 2
        every = (convergence.effective_fast(values, self.chains).min() for _, values in self._quantities())
        return all((effective - stayed) * times >= convergence.FEWEST_EFFECTIVE for effective in every)

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
                varies = flat.max(axis=0) != flat.min(axis=0)
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
class _Store:
    """Values (chain, …) of successive iterations in one array, which is read chain after chain without a copy.

    Each chain has some room, which doubles when it is full and is all there may be from a quarter of that on, so that
    little is held twice. To be read, the chains are moved together in place, and
    apart again before more is written.
    """

    array: FloatArray
    length: int = 0
    is_together: bool = False

    def add(self, values: FloatArray, most: int) -> None:
        """Write the next iteration, of so many at most."""
        if self.is_together:
            self._move(range(len(self.array) - 1, 0, -1), self.length, self.array.shape[1])
            self.is_together = False
        if self.length == self.array.shape[1]:
            room = most if 4 * self.length >= most else 2 * self.length
            larger = np.empty((len(self.array), room, *self.array.shape[2:]))
            larger[:, : self.length] = self.array
            self.array = larger
        self.array[:, self.length] = values
        self.length += 1

    def thin(self) -> None:
        """Leave out every second iteration."""
        for at in range(self.length // 2):
            self.array[:, at] = self.array[:, 2 * at + 1]
        self.length //= 2

    def together(self) -> FloatArray:
        """Return all draws, chain after chain, until more are written."""
        if not self.is_together:
            self._move(range(1, len(self.array)), self.array.shape[1], self.length)
            self.is_together = True
        return self._flat()[: len(self.array) * self.length]

    def _flat(self) -> FloatArray:
        chains, room, *shape = self.array.shape
        return self.array.reshape(chains * room, *shape)

    def _move(self, chains: Iterable[int], before: int, after: int) -> None:
        """Move the draws of each chain from where it begins if all have so much room to where it does otherwise."""
        flat = self._flat()
        for chain in chains:
            flat[chain * after : chain * after + self.length] = flat[chain * before : chain * before + self.length]


@dataclass(slots=True)
class Kept:
    """Draws that were kept; every second iteration is left out when they take too much memory."""

    every: int = 1
    seen: int = 0
    stores: list[_Store] = field(default_factory=list)

    def add(self, hyper: FloatArray, prevalence: FloatArray, rows: FloatArray | None = None) -> None:
        """Keep where the chains stand, unless there is too little memory for every iteration."""
        self.seen += 1
        if self.seen % self.every:
            return
        values = [hyper, prevalence] if rows is None else [hyper, prevalence, rows]
        if not self.stores:
            self.stores = [_Store(np.empty((len(each), FEWEST_KEPT, *each.shape[1:]))) for each in values]
        most = max(FEWEST_KEPT, KEPT_BYTES // (8 * sum(each.size for each in values)))
        for store, each in zip(self.stores, values, strict=True):
            store.add(each, most)
        if self.stores[0].length == most:
            self.every *= 2
            for store in self.stores:
                store.thin()

    def stacked(self) -> Stacked:
        """Return all that was kept, chain after chain; it is overwritten when more is added."""
        hyper, prevalence, *rows = (store.together() for store in self.stores)
        return Stacked(hyper, prevalence, rows[0] if rows else None)


def chain_after_chain(values: list[FloatArray]) -> FloatArray:
    """Return draws of shape (draws, …) of what stands in all chains after each sweep, shape (chains, …)."""
    stacked = np.stack(values, axis=1)
    return stacked.reshape(stacked.shape[0] * stacked.shape[1], *stacked.shape[2:])
