"""The classifier itself, corrected for the new prevalence: what it says of each item, with how sure that is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from truecount import _check
from truecount._types import FloatArray, Name
from truecount.errors import InputError

_BLOCK_BYTES = 4_000_000
"""What is computed at a time: little enough to stay close to the processor."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Recalibration:
    """Class probabilities of items in the new population.

    ``P_new(y | x) ∝ P_old(y | x) · π′_y / π_y``, once for each draw of the ratio.

    Parameters
    ----------
    scores
        Shape (items, classes): the probabilities as they were, at the prevalence π.
    ratios
        Shape (draws, classes): draws of π′/π.
    classes
        Names of the classes, in the order of the columns.
    """

    scores: FloatArray
    ratios: FloatArray
    classes: tuple[Name, ...]

    @cached_property
    def mean(self) -> FloatArray:
        """Shape (items, classes): the probability of each class, averaged over the draws; rows sum to one."""
        mean = np.empty_like(self.scores)
        for part in self._parts(len(self.ratios)):
            mean[part] = self.scores[part] * (1 / (self.scores[part] @ self.ratios.T) @ self.ratios)
        shares: FloatArray = mean / mean.sum(axis=1, keepdims=True)  # as many as there are draws, but for rounding
        return shares

    @cached_property
    def shares(self) -> FloatArray:
        """Shape (draws, classes): the average over the items, for each draw; that of right probabilities is π′."""
        total = np.zeros_like(self.ratios)
        for part in self._parts(len(self.ratios)):
            total += (1 / (self.ratios @ self.scores[part].T)) @ self.scores[part]
        return self.ratios * total / len(self.scores)

    def interval(self, level: float = 0.95) -> FloatArray:
        """Shape (items, classes, 2): between which ends the probability lies, given what is known of the shares.

        Notes
        -----
        It holds what is not known of the prevalence, not whether the scores themselves are right.
        """
        level = _check.level(level)
        ends = np.empty((*self.scores.shape, 2))
        for part in self._parts(self.ratios.size):
            weighted = self.scores[part, None] * self.ratios
            weighted /= weighted.sum(axis=2, keepdims=True)
            ends[part] = np.moveaxis(np.quantile(weighted, [(1 - level) / 2, (1 + level) / 2], axis=1), 0, -1)
        return ends

    def decide(self, costs: Any = None, *, decisions: Sequence[Name] | None = None) -> np.ndarray[Any, Any]:
        """Choose what costs least on average, item by item.

        Parameters
        ----------
        costs
            Shape (classes, decisions): what each decision costs where each class is the truth. Left out, every mistake
            costs the same, and the most probable class is chosen.
        decisions
            Names of the decisions; the classes where there are as many, numbers otherwise.

        Returns
        -------
        Shape (items,): the name of a decision for each; of equals, the first.

        Notes
        -----
        A cost is linear in the probabilities, so their mean over the draws is all that counts.

        Examples
        --------
        >>> flat = Recalibration(scores=np.array([[0.7, 0.3]]), ratios=np.ones((1, 2)), classes=("well", "ill"))
        >>> flat.decide().tolist(), flat.decide([[0, 1], [20, 0]]).tolist()
        (['well'], ['ill'])
        """
        table = _costs(costs, len(self.classes))
        names = _decisions(decisions, table.shape[1], self.classes)
        chosen: np.ndarray[Any, Any] = names[(self.mean @ table).argmin(axis=1)]
        return chosen

    def _parts(self, numbers: int) -> Iterator[slice]:
        """Return slices of the items, of which so many numbers each are computed at a time."""
        size = max(1, _BLOCK_BYTES // (8 * numbers))
        yield from (slice(start, start + size) for start in range(0, len(self.scores), size))

    def __repr__(self) -> str:
        return f"Recalibration: {len(self.scores)} items, {len(self.classes)} classes, {len(self.ratios)} draws"


def spread(draws: FloatArray, wanted: int) -> FloatArray:
    """Return so many draws, evenly spaced; of fewer, each several times."""
    chosen: FloatArray = draws[np.linspace(0, len(draws) - 1, wanted).round().astype(int)]
    return chosen


def _costs(costs: Any, n_classes: int) -> FloatArray:
    if costs is None:
        return 1 - np.eye(n_classes)
    table = np.asarray(costs, np.float64)
    if table.ndim != 2 or len(table) != n_classes or not np.isfinite(table).all():
        needed = f"it must have a row of finite numbers for each of {n_classes} classes, a column for each decision"
        raise InputError("costs", f"has shape {table.shape}", needed, "Rows are true classes")
    return table


def _decisions(names: Sequence[Name] | None, size: int, classes: Sequence[Name]) -> np.ndarray[Any, Any]:
    chosen = (classes if size == len(classes) else range(size)) if names is None else names
    if len(chosen) != size:
        raise InputError("decisions", f"names {len(chosen)}", f"costs has {size} columns", "Name each column once")
    return np.array(chosen, dtype=object if len(set(map(type, chosen))) > 1 else None)  # 1 and "ill" stay as they are
