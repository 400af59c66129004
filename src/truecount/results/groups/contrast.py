"""What is compared between groups: draws of a difference, a ratio, a total; and ranks."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truecount import _check
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import percent, signed
from truecount.counts import Groups
from truecount.inference import convergence
from truecount.results.by_class import ByClass
from truecount.results.summary import in_parts, interval_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Draws of one quantity for every class, such as a difference between two groups.

    Parameters
    ----------
    name
        What it is, such as ``"A − B"``.
    draws
        Shape (draws, classes).
    classes
        Their names.
    equal
        The value that means that two groups do not differ: 0 for differences, 1 for ratios; None for what compares
        nothing, such as a total.
    """

    name: str
    draws: FloatArray
    classes: tuple[Name, ...]
    equal: float | None = 0.0

    @property
    def mean(self) -> FloatArray:
        """Shape (classes,)."""
        mean: FloatArray = self.draws.mean(axis=0)
        return mean

    @property
    def sd(self) -> FloatArray:
        """Shape (classes,)."""
        sd: FloatArray = self.draws.std(axis=0, ddof=1)
        return sd

    def interval(self, level: float = 0.95, *, kind: str = "equal-tailed") -> FloatArray:
        """Return the interval that holds `level` of the draws of each class, shape (classes, 2)."""
        return interval_of(self.draws, _check.level(level), _check.one_of("kind", kind, ("equal-tailed", "hdi")))

    def probability(self, event: Callable[[Mapping[Name, FloatArray]], Any]) -> float:
        """Return the probability of an event, such as ``lambda difference: difference["pass"] > 0``."""
        return float(np.mean(event(ByClass(zip(self.classes, self.draws.T, strict=True)))))

    def __repr__(self) -> str:
        def told(value: float) -> str:
            return signed(value, 4) if self.equal == 0 else f"{value:.4f}"

        lines = []
        for place, (name, (lower, upper)) in enumerate(zip(self.classes, self.interval(), strict=True)):
            line = f"{name}: {told(self.mean[place])} ({told(lower)} to {told(upper)})"
            if self.equal is not None:
                above = (self.draws[:, place] > self.equal).mean()
                line += f", above {self.equal:g} with probability {above:.3f}"
            lines.append(line)
        return "\n".join([f"{self.name}, 95 % interval", *lines])


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranks:
    """Ranks of the groups by the share of one class, draw by draw; rank 1 has the largest share.

    Means of groups that borrow from each other must not be ranked: they lie too close together, and the order of
    uncertain groups depends on how much each was drawn towards the centre.
    """

    groups: tuple[Any, ...]
    draws: NDArray[np.int32]

    @property
    def best(self) -> dict[Any, float]:
        """The probability that each group has the largest share."""
        return dict(zip(self.groups, map(float, (self.draws == 1).mean(axis=0)), strict=True))

    @property
    def worst(self) -> dict[Any, float]:
        """The probability that each group has the smallest share."""
        last = len(self.groups)
        return dict(zip(self.groups, map(float, (self.draws == last).mean(axis=0)), strict=True))

    @property
    def mean(self) -> FloatArray:
        """Shape (groups,): the mean rank."""
        mean: FloatArray = self.draws.mean(axis=0)
        return mean

    def probability(self) -> FloatArray:
        """Return the probability of each rank, shape (groups, ranks)."""
        number = len(self.groups)
        return np.array([np.bincount(ranks - 1, minlength=number) for ranks in self.draws.T]) / len(self.draws)

    def interval(self, level: float = 0.95) -> IntArray:
        """Return ranks that hold each group's rank with at least this probability, shape (groups, 2)."""
        tail = (1 - _check.level(level)) / 2
        ends = in_parts(lambda some: np.quantile(some, [tail, 1 - tail], axis=0, method="inverted_cdf").T, self.draws)
        return ends.astype(np.int64)

    def __repr__(self) -> str:
        order = np.argsort(self.mean, kind="stable")
        ends, best = self.interval(), self.best
        lines = [
            f"{self.groups[at]!s}: rank {ends[at][0]} to {ends[at][1]}, largest with {percent(best[self.groups[at]])}"
            for at in order
        ]
        return "\n".join(lines)


def ranks_of(groups: tuple[Any, ...], shares: FloatArray, seed: int) -> Ranks:
    """Return ranks of the groups by draws of a share, shape (draws, groups); equal shares are ordered at random."""
    rng, ranks = np.random.default_rng([seed, *b"ranks"]), np.empty(shares.shape, np.int32)
    size = max(1, convergence.AT_ONCE // len(groups))
    for at in range(0, len(shares), size):
        some = shares[at : at + size]
        order = np.lexsort((rng.random(some.shape), -some), axis=1)
        np.put_along_axis(ranks[at : at + size], order, np.arange(1, len(groups) + 1)[None], axis=1)
    return Ranks(groups=groups, draws=ranks)


def ratio_of(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return draws of a ratio: infinite where the second share is zero, 1 where both are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: FloatArray = np.where(first == second, 1.0, first / second)
    return ratio


def group_weights(data: Groups) -> FloatArray:
    """Return how large groups are: their unlabelled items, or all alike where there are none."""
    items = data.unlabeled.sum(axis=1).astype(np.float64)
    return items if items.any() else np.ones(len(items))
