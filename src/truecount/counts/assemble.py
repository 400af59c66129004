"""Tables of any kind become one tally: a table with both kinds of rows, or a labelled and an unlabelled one."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from truecount import _check
from truecount._types import Name
from truecount.counts import require
from truecount.counts.tally import Tally
from truecount.errors import InputError, TruecountWarning
from truecount.reading.columns import Columns, NoColumnError
from truecount.reading.markers import Missing, explained, missing_words
from truecount.reading.rows import Row

TRUTHS = ("true", "false")


class Table(Protocol):
    """Something with rows; `is_text` where numbers and strings look alike in it."""

    @property
    def name(self) -> str:
        """What the caller knows it as; errors say it."""

    @property
    def is_text(self) -> bool:
        """Whether all values are text."""

    def rows(self, columns: Columns) -> list[Row]:
        """Count the combinations of values in these columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How rows become a tally.

    Parameters
    ----------
    columns
        Which columns are read.
    missing
        The words that mean a missing value; "" says that no other does.
    classes, outputs
        Their names in the order wanted; None for those that occur, sorted.
    is_shard
        Whether this may be a part of the data: without labels, with a single class, or without unlabelled rows.
    """

    columns: Columns
    missing: Missing = None
    classes: Iterable[Any] | None = None
    outputs: Iterable[Any] | None = None
    is_shard: bool = False

    def of_one(self, table: Table) -> Tally:
        """Count a table, in which rows with an empty label are the unlabelled population."""
        rows = self._explained(table, self.columns)
        require.not_swapped(table.name, rows, str(self.columns.label), self.columns.prediction)
        require.predictions(table.name, rows, self.columns.prediction)
        if not self.is_shard:
            require.some_labeled(table.name, rows, str(self.columns.label))
            require.some_unlabeled(table.name, rows)
        return self._tally(rows, table)

    def of_two(self, labeled: Table, unlabeled: Table) -> Tally:
        """Count a labelled table and an unlabelled one, of which only groups, predictions and weights are read."""
        with self._both_weighted(labeled, unlabeled):
            rows = [*self._labeled_rows(labeled, unlabeled), *self._new_rows(unlabeled)]
        return self._tally(rows, labeled, unlabeled)

    def of_labeled(self, table: Table) -> Tally:
        """Count a table that is labelled throughout, and has no population beside it."""
        return self._tally(self._labeled_rows(table, table), table)

    def _rows(self, table: Table, columns: Columns) -> list[Row]:
        rows = self._explained(table, columns)
        require.predictions(table.name, rows, columns.prediction)
        return rows

    def _explained(self, table: Table, columns: Columns) -> list[Row]:
        return explained(table.name, table.rows(columns), self.missing, self._named())

    def _labeled_rows(self, labeled: Table, unlabeled: Table) -> list[Row]:
        """Count the first of two tables, which must be labelled throughout; without any label it may be the second."""
        column = str(self.columns.label)
        try:
            rows = self._rows(labeled, replace(self.columns, by={}))
            require.some_labeled(labeled.name, rows, column)
        except InputError as error:
            if self._has_labels(unlabeled) and not self._has_labels(labeled):
                found, needed = f"has no label and {unlabeled.name} has", "the labelled one comes first"
                raise InputError(labeled.name, found, needed, "Swap the two") from error
            raise
        require.all_labeled(labeled.name, rows)
        return rows

    def _new_rows(self, table: Table) -> list[Row]:
        """Count the second of two tables; labels that it holds are not used, which is said where they can be read."""
        try:
            found = table.rows(replace(self.columns, needs_label=False))
        except InputError:
            found = table.rows(replace(self.columns, label=None))
        _say_unused(sum(row.rows for row in found if row.label not in (None, *missing_words(self.missing))))
        rows = [row._replace(label=None) for row in found]
        rows = explained(table.name, rows, self.missing, self._named())
        require.predictions(table.name, rows, self.columns.prediction)
        return rows

    @contextmanager
    def _both_weighted(self, *tables: Table) -> Iterator[None]:
        """Say of a column of weights that only one of two tables lacks what to do about it."""
        column = str(self.columns.weight)
        try:
            yield
        except NoColumnError as error:
            if error.column != column or not any(self._holds(table, column) for table in tables):
                raise
            remedy = "Add it there, with 1 in every row that has no weight"
            raise InputError(error.argument, error.found, "both tables need the weights", remedy) from error

    def _has_labels(self, table: Table) -> bool:
        return self._holds(table, str(self.columns.label))

    def _holds(self, table: Table, column: str) -> bool:
        """Whether a table has this column, with something in it."""
        try:
            found = table.rows(Columns(prediction=column))
        except InputError:
            return False
        return any(row.output not in (None, *missing_words(self.missing)) for row in found)

    def _named(self) -> list[Name]:
        return [*(named_or_found("classes", self.classes) or ()), *(named_or_found("outputs", self.outputs) or ())]

    def _tally(self, rows: Sequence[Row], *tables: Table) -> Tally:
        """Add up rows; names become text where a text takes part, unless all are and the caller named them."""
        table, are_text = tables[0].name, [each.is_text for each in tables]
        if any(are_text) and not (all(are_text) and self._named()):
            rows = _as_text(rows)
        for position, column in enumerate(self.columns.by):
            _check.distinguishable(
                f"groups by {column!r}", dict.fromkeys(row.group[position] for row in rows if row.group)
            )
        tally = Tally(by=tuple(self.columns.by), is_weighted=self.columns.weight is not None)
        tally.add(rows)
        self._name(table, tally)
        if not self.is_shard:
            self._require_sound(table, rows, tally)
        return tally

    def _require_sound(self, table: str, rows: Sequence[Row], tally: Tally) -> None:
        require.two_classes(table, tally)
        require.few_groups(table, rows, self.columns)
        tally.require_one_kind()
        if self.outputs is None:
            tally.require_shared_outputs(table)

    def _name(self, table: str, tally: Tally) -> None:
        """Give classes and outputs the caller's names and order, or see that those found are few."""
        classes, outputs = named_or_found("classes", self.classes), named_or_found("outputs", self.outputs)
        sides = (
            ("classes", self.columns.label, classes, tally.class_names()),
            ("outputs", self.columns.prediction, outputs, tally.output_names()),
        )
        for argument, column, wanted, found in sides:
            if wanted is None:
                require.few_names(table, str(column), found)
            else:
                require.named(table, str(column), argument, wanted, found)
        tally.classes, tally.outputs = classes, outputs


def _say_unused(labels: int) -> None:
    if labels:
        many = "a label, which is" if labels == 1 else f"{labels:,} labels, which are"
        said = (
            f"The second table has {many} not used: check(..., audit=...) shows by such labels whether the box drifted."
        )
        warnings.warn(said, TruecountWarning, stacklevel=5)


def named_or_found(argument: str, names: Iterable[Any] | None) -> tuple[Name, ...] | None:
    """Give the names that the caller wants, in order; None for those that will be found."""
    if names is None:
        return None
    checked = _check.names(argument, names)
    return tuple(_check.sorted_names(checked)) if isinstance(names, AbstractSet) else checked


def _as_text(rows: Sequence[Row]) -> list[Row]:
    """Give all names as text; truth values have one spelling, that of a text where there is one."""
    names = {name for row in rows for name in (row.label, row.output)}
    words = sorted((name for name in names if isinstance(name, str) and name.casefold() in TRUTHS), reverse=True)
    spelled = {word.casefold(): word for word in words}

    def text(name: Name | None) -> str | None:
        return None if name is None else spelled.get(str(name).casefold(), str(name))

    return [row._replace(label=text(row.label), output=text(row.output)) for row in rows]
