"""The answers of groups that were inferred one by one: summaries of each, and its draws again on request."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from truecount._table import aligned
from truecount._types import FloatArray, Name
from truecount._wording import percent
from truecount.counts import Groups
from truecount.errors import InputError
from truecount.reading.names import group_name
from truecount.results.export.frame import Backend, to_frame
from truecount.results.finding import Finding
from truecount.results.posterior import Posterior
from truecount.results.separate.rows import FAILED, Row
from truecount.results.summary import Look, interval_name

SHOWN = 20
"""Groups that are printed."""


@dataclass(slots=True)
class StatusCounts:
    """How many groups have which status and which findings, counted while their rows pass.

    `taken_over` is how many of them a run that was stopped had finished.
    """

    status: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    serious: Counter[str] = field(default_factory=Counter)
    errors: dict[str, str] = field(default_factory=dict)
    taken_over: int = 0

    def add(self, rows: Iterable[Row], columns: Sequence[str], classes: int) -> None:
        """Count the groups of some rows, of which each group has one for each class."""
        for row in list(rows)[::classes]:
            self.status[row["status"]] += 1
            self.findings.update(row["findings"].split())
            self.serious.update(row["serious"].split())
            if row["status"] == FAILED:
                self.errors[group_name(tuple(row[column] for column in columns))] = row["error"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SeparateAnswers:
    """What is known of every group by itself; groups do not borrow, and their draws do not belong together.

    Parameters
    ----------
    data
        The groups.
    look
        Level, kind and target of the intervals.
    seed
        From which every group has a seed of its own, by its name.
    tally
        How many groups have which status and findings, and the errors of those that failed, by the group's name.
    path
        The file that holds the rows; None where they are kept here.
    kept
        A row for each group and class; empty where they went to a file.
    redraw
        Infers one group again.
    of_labels
        That labels of the groups show a classifier which treats them differently; None where they do not.
    """

    data: Groups
    look: Look
    seed: int
    tally: StatusCounts
    path: Path | None
    kept: Sequence[Row]
    redraw: Callable[[Any], Posterior]
    of_labels: Finding | None = None

    @property
    def groups(self) -> tuple[Any, ...]:
        """Names of the groups, in the order of the rows."""
        return self.data.groups

    @property
    def classes(self) -> tuple[Name, ...]:
        """Names of the classes, in the order of the rows of a group."""
        return self.data.classes

    @property
    def failed(self) -> Mapping[str, str]:
        """The error of each group that has no answer, by the group's name."""
        return self.tally.errors

    @property
    def rows(self) -> Sequence[Row]:
        """Rows of plain values, one for each group and class."""
        if self.path is not None:
            raise InputError("rows", "are not kept", f"they stand in {self.path}", "Read that file")
        return self.kept

    @property
    def mean(self) -> FloatArray:
        """Shape (groups, classes): the posterior means, NaN for a group without an answer."""
        return self._column("mean")

    @property
    def interval(self) -> FloatArray:
        """Shape (groups, classes, 2): the ends of the intervals."""
        return np.stack([self._column("lower"), self._column("upper")], axis=-1)

    def posterior(self, group: Any) -> Posterior:
        """Return one group's posterior with all its draws, which are drawn again and are the same."""
        self.data.index(group)
        return self.redraw(group)

    def to_frame(self, backend: Backend | None = None) -> Any:
        """Return a data frame with a row for each group and class, of pandas, polars or pyarrow."""
        return to_frame(self.rows, backend)

    def _column(self, name: str) -> FloatArray:
        values = [np.nan if row[name] is None else row[name] for row in self.rows]
        return np.array(values, dtype=np.float64).reshape(len(self.groups), len(self.classes))

    def __repr__(self) -> str:
        return "\n".join([*([] if self.path is not None else self._table()), self.sentence])

    @property
    def sentence(self) -> str:
        """What was done, in a line: how many groups, how many without an answer, and the findings."""
        number = len(self.groups)
        earlier = f", {self.tally.taken_over:,} of them before the run was resumed" if self.tally.taken_over else ""
        parts = [f"{number:,} group{'s' if number > 1 else ''} inferred one by one{earlier}, seed {self.seed}"]
        unsound = {name: count for name, count in sorted(self.tally.status.items()) if name != "ok"}
        parts += [f"{count:,} {name}" for name, count in unsound.items()]
        findings = [f"{code} in {count:,}" for code, count in self.tally.findings.most_common()]
        told = [f"Findings: {', '.join(findings)}."] if findings else []
        told += [] if self.of_labels is None else [f"{self.of_labels.severity}: {self.of_labels.message}"]
        return " ".join(["; ".join(parts) + ".", *told])

    def _table(self) -> list[str]:
        """Return lines for the groups with the largest share of the last class, and how many are left out."""
        place, width = len(self.classes) - 1, len(self.classes)
        rows = self.kept[place::width]
        order = sorted(range(len(rows)), key=lambda at: -(rows[at]["mean"] if rows[at]["mean"] is not None else -1))
        shown = order[:SHOWN]
        header = ["group", "items", "counted", "true share", interval_name(self.look.level, self.look.kind)]
        lines = [header, *(_cells(group_name(self.groups[at]), rows[at]) for at in shown)]
        left_out = len(order) - len(shown)
        tail = [f"… and {left_out:,} groups with smaller shares; rows and to_frame() have all."] if left_out else []
        return [f"Share of {self.classes[place]}, the largest first:", *aligned(lines), *tail]


def _cells(name: str, row: Row) -> list[str]:
    items = f"{row['items']:,}"
    counted = "" if row["counted"] is None else percent(row["counted"])
    if row["mean"] is None:
        return [name, items, counted, row["status"], ""]
    return [name, items, counted, percent(row["mean"]), f"{percent(row['lower'])} – {percent(row['upper'])}"]
