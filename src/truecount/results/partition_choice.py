"""Partitions side by side: what each is expected to leave unknown, with few labels and with many."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from truecount._table import aligned
from truecount._types import FloatArray
from truecount.scores import Cells, Partition


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Candidate:
    """One partition and the widths that are expected of its intervals.

    Parameters
    ----------
    partition
        The choice.
    size
        How many cells it made.
    widths
        Shape (numbers of labels, classes): expected width of each class's interval.
    """

    partition: Partition
    size: int
    widths: FloatArray


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PartitionChoice:
    """The partition that is expected to leave the least unknown, and what was expected of the others.

    Parameters
    ----------
    candidates
        All that were compared, in the order given.
    chosen
        The position of the one chosen.
    cells
        The chosen partition, fitted to all items given.
    labels
        How many labelled items are assumed: a quarter of those planned, as many, and four times as many.
    level
        Of the intervals.
    provenance
        How it was made.
    """

    candidates: tuple[Candidate, ...]
    chosen: int
    cells: Cells
    labels: tuple[int, ...]
    level: float
    provenance: Mapping[str, Any]

    @property
    def partition(self) -> Partition:
        """The partition chosen."""
        return self.candidates[self.chosen].partition

    def __str__(self) -> str:
        header = ["partition", "cells", *(f"{number:,} labels" for number in self.labels)]
        rows = [header, *map(_line, self.candidates)]
        lines = aligned(rows)
        lines[self.chosen + 1] += "  *"
        note = f"Expected width of {100 * self.level:.6g} % intervals, in points, averaged over the classes."
        return "\n".join([*lines, note, f"* chosen for {self.labels[1]:,} labels: {self.partition}"])

    __repr__ = __str__


def _line(candidate: Candidate) -> list[str]:
    widths = [f"{100 * width:.1f}" for width in candidate.widths.mean(axis=1)]
    return [str(candidate.partition), str(candidate.size), *widths]
