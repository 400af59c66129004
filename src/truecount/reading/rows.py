"""Rows: a group-by where the data are, and what one table or two of them must hold; only groups reach Python."""

import warnings
from collections import Counter as Sums
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeAlias

from truecount._advice import AUDIT, Advice, keyword, period, several
from truecount._types import Name
from truecount._wording import quoted
from truecount.errors import InputError, TruecountWarning
from truecount.reading.columns import Columns, NoColumnError, require_kinds, start_of
from truecount.reading.duck import duck_frame, is_relation
from truecount.reading.names import (
    MISSING_WORDS,
    SUSPECT_WORDS,
    Group,
    Key,
    Missing,
    Value,
    as_key,
    as_name,
    cluster_name,
    combined,
    each_part,
    group_name,
    missing_words,
    named_or_found,
    parts_of,
    plain_value,
)

if TYPE_CHECKING:
    from truecount.reading.frames import AnyFrame

TRUTHS = ("true", "false")
SAY_OUTPUT = "write what the classifier said, for instance 'abstained', or remove such rows"
MOST_NAMES = 1000
"""More different values than this are not classes or outputs, unless someone names them all."""
MOST_LONE_GROUPS = 1000
"""More groups than this, of one item or two, are not groups."""
Record: TypeAlias = tuple[Any, ...]
MOST_GROUPS = 1_000_000


class Row(NamedTuple):
    """Rows of a table that are alike, counted; label and output are combinations where several columns are read.

    The key of an unlabelled row is its group, that of a labelled one its study; `label_group` is the group of a
    labelled row, where it is known.
    """

    group: Group
    label: Value
    output: Value
    rows: int
    weight: Any
    squares: Any
    cluster: Key = None
    label_group: Group = ()


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
    """How tables become rows.

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
    missing: tuple[str, ...] = ()
    classes: tuple[Name, ...] | None = None
    outputs: tuple[Name, ...] | None = None
    is_shard: bool = False

    @classmethod
    def told(
        cls,
        columns: Columns,
        *,
        missing: Missing = None,
        classes: Iterable[Any] | None = None,
        outputs: Iterable[Any] | None = None,
        is_shard: bool = False,
    ) -> Self:
        """Check what the caller says: the columns, the words that mean a missing value, the names in their order."""
        columns.require_distinct()
        names = {side: named_or_found(side, given) for side, given in (("classes", classes), ("outputs", outputs))}
        return cls(columns=columns, missing=missing_words(missing), **names, is_shard=is_shard)

    @property
    def named(self) -> tuple[Name, ...]:
        """Classes and outputs that the caller named."""
        return (*(self.classes or ()), *(self.outputs or ()))

    def of_one(self, table: Table) -> list[Row]:
        """Return the rows of a table, in which those with an empty label are the unlabelled population."""
        rows = self.explained(table.name, table.rows(self.columns.with_study))
        require_not_swapped(table.name, rows, self.columns)
        require_predictions(table.name, rows, self.columns.predictions)
        if not self.is_shard:
            require_some_labeled(table.name, rows, self.columns.labels)
            require_some_unlabeled(table.name, rows)
        return self._as_text(self._grouped(table.name, rows), table)

    def _grouped(self, table: str, rows: Sequence[Row]) -> list[Row]:
        """Return rows whose key is the group of an unlabelled row and the study of a labelled one."""
        columns = list(self.columns.with_study.by)
        study = tuple(map(columns.index, self.columns.studies))
        groups = range(len(self.columns.by))
        kept = [
            row._replace(
                group=tuple(row.group[at] for at in (groups if row.label is None else study)),
                label_group=() if row.label is None or study else known_group(row.group),
            )
            for row in rows
        ]
        require_studies(table, kept, self.columns.studies)
        return kept

    def of_two(self, labeled: Table, unlabeled: Table) -> list[Row]:
        """Return the rows of a labelled table and of an unlabelled one, whose labels are not used."""
        with self._both_weighted(labeled, unlabeled):
            rows = [*self._labeled_rows(labeled, unlabeled), *self._new_rows(unlabeled)]
        return self._as_text(rows, labeled, unlabeled)

    def of_labeled(self, table: Table) -> list[Row]:
        """Return the rows of a table that is labelled throughout, and has no population beside it."""
        return self._as_text(self._labeled_rows(table, table), table)

    def explained(self, table: str | None, rows: Sequence[Row]) -> list[Row]:
        """Return the rows with None for the words that mean a missing value, and refuse others that may."""
        words = self.missing
        cleared = [row._replace(label=self._present(row.label), output=self._present(row.output)) for row in rows]
        if "" not in words:
            self._require_clear(table, cleared, words)
        return cleared

    def _present(self, value: Value) -> Value:
        return each_part(value, lambda name: without(name, self.missing))

    def _require_clear(self, table: str | None, rows: Sequence[Row], told: Sequence[str]) -> None:
        often: dict[str, Sums[Name]] = {"labelled": Sums(), "predicted": Sums()}
        for row in rows:
            for role, value in (("labelled", row.label), ("predicted", row.output)):
                for found in parts_of(value):
                    if found is not None and str(found).casefold() in MISSING_WORDS and found not in self.named:
                        often[role][found] += row.rows
        for role, words in often.items():
            for word, number in words.most_common(1):
                missing: Any = [*told, str(word)] if told else str(word)
                name: Any = [*told, ""] if told else ""
                is_needed = role == "predicted" and len(self.columns.predictions) < 2
                raise InputError(
                    table or {"labelled": "labels", "predicted": "predictions"}[role],
                    f"has {number_of_rows(number)} {role} {word!r}",
                    "that may be a name or mean that the value is missing",
                    Advice("Pass {} for a name; if it is missing, {}", keyword("missing", name), SAY_OUTPUT)
                    if is_needed
                    else Advice(
                        "Pass {} if it is missing, or {} for a name",
                        keyword("missing", missing),
                        keyword("missing", name),
                    ),
                )

    def _labeled_rows(self, labeled: Table, unlabeled: Table) -> list[Row]:
        """Return the rows of the first table, labelled throughout; without any label it may be the second."""
        columns = self.columns.labels
        try:
            rows = self.explained(labeled.name, self._rows_of_labels(labeled))
            require_predictions(labeled.name, rows, self.columns.predictions)
            require_some_labeled(labeled.name, rows, columns)
        except InputError as error:
            if self._holds(unlabeled, *columns) and not self._holds(labeled, *columns):
                found, needed = f"has no label and {unlabeled.name} has", "the labelled one comes first"
                raise InputError(labeled.name, found, needed, "Swap the two") from error
            raise
        require_all_labeled(labeled.name, rows)
        require_studies(labeled.name, rows, self.columns.studies)
        return rows

    def _rows_of_labels(self, table: Table) -> list[Row]:
        """Return the rows of a labelled table; where it has the columns of groups, each row knows its group."""
        if self.columns.by and self.columns.study is None:
            with suppress(InputError):
                return [row._replace(group=(), label_group=known_group(row.group)) for row in table.rows(self.columns)]
        return table.rows(self.columns.of_labels)

    def _new_rows(self, table: Table) -> list[Row]:
        """Return the rows of the second table; labels that it holds are not used, and a warning says so."""
        try:
            found = table.rows(replace(self.columns, needs_label=False, study=None))
        except InputError:
            found = table.rows(replace(self.columns, label=None, study=None))
        _warn_of_unused(sum(row.rows for row in found if self._present(row.label) is not None))
        rows = self.explained(table.name, [row._replace(label=None) for row in found])
        require_predictions(table.name, rows, self.columns.predictions)
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

    def _holds(self, table: Table, *columns: str) -> bool:
        """Whether a table has these columns, with something in one of them."""
        try:
            found = table.rows(Columns(prediction=columns))
        except InputError:
            return False
        return any(self._present(row.output) is not None for row in found)

    def _as_text(self, rows: list[Row], *tables: Table) -> list[Row]:
        """Return names as text where a text takes part, unless all are and the caller named them.

        Truth values have one spelling, that of a text where there is one.
        """
        are_text = [each.is_text for each in tables]
        if not any(are_text) or (all(are_text) and self.named):
            return rows
        names = {name for row in rows for value in (row.label, row.output) for name in parts_of(value)}
        words = sorted((name for name in names if isinstance(name, str) and name.casefold() in TRUTHS), reverse=True)
        spelled = {word.casefold(): word for word in words}

        def text(name: Name | None) -> str | None:
            return None if name is None else spelled.get(str(name).casefold(), str(name))

        return [row._replace(label=each_part(row.label, text), output=each_part(row.output, text)) for row in rows]


def known_group(group: Group) -> Group:
    """Return a group, or none where a part of its key is missing."""
    return () if None in group else group


def without(name: Name | None, words: Collection[str]) -> Name | None:
    """Return a name, or None for one of the words that mean a missing value."""
    return None if name is not None and str(name) in words else name


def _warn_of_unused(labels: int) -> None:
    if labels:
        many = "a label, which is" if labels == 1 else f"{labels:,} labels, which are"
        use = "The second table has {} not used: {} shows by such labels whether the classifier drifted."
        warnings.warn(Advice(use, many, AUDIT), TruecountWarning, stacklevel=6)


def require_predictions(table: str, rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Refuse a table without rows, and rows without an output."""
    if not rows:
        raise InputError(table, "has no rows", "some must stand below the column names", "Check how it was written")
    without_output = sum(row.rows for row in rows if row.output is None)
    if without_output:
        found = f"has {number_of_rows(without_output)} without a prediction{_in_column(table, *columns)}"
        remedy = f"{SAY_OUTPUT[0].upper()}{SAY_OUTPUT[1:]}"
        needed = "every row needs one" if len(columns) == 1 else "every row needs that of one classifier at least"
        raise InputError(table, found, needed, remedy)


def require_not_swapped(table: str, rows: Sequence[Row], columns: Columns) -> None:
    """Refuse gaps among the predictions and none among the labels, where both name the same: they changed places."""
    if len(columns.labels) != 1 or len(columns.predictions) != 1:
        return
    (label,), (prediction,) = columns.labels, columns.predictions
    labels, outputs = {row.label for row in rows}, {row.output for row in rows}
    if None in outputs and None not in labels and len(outputs) > 1 and outputs - {None} <= labels:
        found = f"has a label in every row of column {label!r}, and gaps in the predictions of column {prediction!r}"
        needed = "some labels may be unknown, and no prediction"
        names = keyword("label", prediction), keyword("prediction", label)
        raise InputError(table, found, needed, Advice("Perhaps they are swapped: pass {}, {}", *names))


def require_few_names(table: str | None, columns: Sequence[str], argument: str, names: Sequence[Name | None]) -> None:
    """Refuse a column with more different values than classes are."""
    if len(names) > MOST_NAMES:
        found = f"has {len(names):,} different values{_in_column(table, *columns)}"
        needed = f"a column of class names has at most {MOST_NAMES:,}"
        remedy = f"Choose another column, sort continuous scores into bins, or name them all in {argument}=[...]"
        raise InputError(table or columns[0], found, needed, remedy)


def require_named(
    table: str | None, columns: Sequence[str], argument: str, wanted: Sequence[Name], found: Sequence[Name | None]
) -> None:
    """Refuse a name that occurs but that the caller did not name."""
    known = frozenset(wanted)
    for name in found:
        if name not in known:
            needed = f"{argument} names only {quoted(wanted)}"
            remedy = f"Add it to {argument}=[...], or correct the column"
            where = _in_column(table, *columns)
            raise InputError(table or columns[0], f"holds {name!r}{where}", needed, remedy)


def require_all_labeled(table: str, rows: Sequence[Row]) -> None:
    """Refuse an empty label in a table of labelled rows."""
    unlabeled = sum(row.rows for row in rows if row.label is None)
    if unlabeled:
        needed = "the first of two tables must be labelled throughout"
        remedy = "Remove them, or move them to the second one"
        raise InputError(table, f"has {number_of_rows(unlabeled)} with an empty label", needed, remedy)


def require_studies(table: str, rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Refuse a labelled row whose study is not known."""
    without_study = sum(row.rows for row in rows if row.label is not None and None in row.group)
    if columns and without_study:
        found = f"has {number_of_rows(without_study)} with a label and no study{_in_column(table, *columns)}"
        raise InputError(table, found, "every label comes from a study", "Fill it in, or leave out the study")


def require_some_labeled(table: str, rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Refuse a table without any label."""
    if all(row.label is None for row in rows):
        remedy = "Fill in the true class of a sample, or choose another column"
        raise InputError(table, f"has no label{_in_column(table, *columns)}", "some rows must be labelled", remedy)


def require_some_unlabeled(table: str, rows: Sequence[Row]) -> None:
    """Refuse a table in which every row has a label; one of them may mean that there is none."""
    if any(row.label is None for row in rows):
        return
    found, needed = "has a label in every row", "there is no unlabelled population to estimate"
    remedy = "Leave the label empty where it is unknown, or give the unlabelled rows in a second table"
    outputs, suspects = {output for row in rows for output in parts_of(row.output)}, Sums[Name]()
    for row in rows:
        for label in parts_of(row.label):
            if label is not None and str(label).casefold() in SUSPECT_WORDS and label not in outputs:
                suspects[label] += row.rows
    for label, number in suspects.most_common(1):
        found = f"{found}, and that of {number_of_rows(number)} is {label!r}"
        remedy = Advice("Pass {} if that means that the label is missing", keyword("missing", str(label)))
    raise InputError(table, found, needed, remedy)


def require_full_groups(table: str | None, rows: Sequence[Row], columns: Columns) -> None:
    """Refuse many groups of hardly more than one item: a column of raw times, or of names of items."""
    new = [row for row in rows if row.label is None]
    items, groups = sum(row.rows for row in new), len({row.group for row in new})
    if groups > MOST_LONE_GROUPS and items < 2 * groups:
        found = f"has {groups:,} groups by {quoted(columns.by)}, of {number_of_rows(items)}"
        weeks = period(next(iter(columns.by)), "week")
        remedy = Advice("Make periods of times, as in {}, or choose another column", weeks)
        raise InputError(table or "by", found, "a share is one of many items", remedy)


def require_clusters(table: str | None, rows: Sequence[Row], columns: Columns) -> int:
    """Refuse rows without a cluster, and clusters that cross groups or studies; return how many clusters there are."""
    where = table or "cluster"
    without_cluster = sum(row.rows for row in rows if row.cluster is None)
    if without_cluster:
        found = f"has {number_of_rows(without_cluster)} without a cluster{_in_column(table, *columns.clusters)}"
        remedy = "Give items that stand alone a cluster of their own, such as their id"
        raise InputError(where, found, "every item belongs to a cluster, if only to its own", remedy)
    homes: dict[tuple[Key, bool], Group] = {}
    for row in rows:
        home = homes.setdefault((row.cluster, row.label is None), row.group)
        if home != row.group:
            kind = "groups" if row.label is None else "studies"
            both = " and ".join(sorted(repr(group_name(key[0] if len(key) == 1 else key)) for key in (home, row.group)))
            found = f"has the cluster {row.cluster!r} in the {kind} {both}"
            needed = "what a cluster's items have in common would tie these together, which are drawn as independent"
            outer = [*columns.by] if row.label is None else [*columns.studies]
            remedy = Advice("Make clusters within them: {}", several("cluster", [*outer, *columns.clusters]))
            raise InputError(where, found, needed, remedy)
    return len({cluster for cluster, _ in homes})


def number_of_rows(number: int) -> str:
    """Return a number of rows in words.

    >>> number_of_rows(1), number_of_rows(2000)
    ('1 row', '2,000 rows')
    """
    return f"{number:,} row{'' if number == 1 else 's'}"


def _in_column(table: str | None, *columns: str) -> str:
    """Return where in a table something was found; an array is its own column."""
    if table is None or table in columns:
        return ""
    return f" in column{'s' * (len(columns) > 1)} {quoted(columns)}"


@dataclass(frozen=True, slots=True)
class Frame:
    """A relation of DuckDB or a frame that narwhals knows, and the argument that it came as."""

    name: str
    native: Any
    is_text: bool = False

    def rows(self, columns: Columns) -> list[Row]:
        """Count the combinations of values in these columns."""
        return scan(self.name, self.native, columns)


def scan(table: str, native: Any, columns: Columns, decode: Callable[[Any], Any] = lambda value: value) -> list[Row]:
    """Count the combinations of groups, labels and predictions in a table.

    Parameters
    ----------
    table
        What the caller knows the table as; errors say it.
    native
        A relation of DuckDB, or a frame of a kind that narwhals knows.
    columns
        Which columns to read.
    decode
        What a value of the table stands for.
    """
    frame = duck_frame(table, native, columns) if is_relation(native) else _any_frame(table, native, columns)
    require_kinds(table, frame.kinds, columns)
    cells = frame.groups(columns, MOST_GROUPS)
    if len(cells) > MOST_GROUPS:
        found = f"has over {MOST_GROUPS:,} combinations of {quoted(columns.keys)}"
        remedy = "Choose other columns"
        if columns.cluster is not None:
            remedy = "Count parts of the data with truecount counts, and merge them, or choose other columns"
        raise InputError(table, found, "these must be columns of class names", remedy)
    return [row_of(table, values, columns, decode) for values in cells]


def _any_frame(table: str, native: Any, columns: Columns) -> "AnyFrame":
    from truecount.reading.frames import any_frame

    return any_frame(table, native, columns)


def row_of(table: str, cells: Record, columns: Columns, decode: Callable[[Any], Any] = lambda value: value) -> Row:
    """Return the values that a group of alike rows has, as names, and their sums as Python's own numbers."""
    keys, sums = cells[: len(columns.keys)], cells[len(columns.keys) :]
    group = tuple(
        as_key(start_of(frequency, plain_value(decode(key))), table=table, column=column)
        for key, (column, frequency) in zip(keys, columns.by.items(), strict=False)
    )
    start = len(group) + len(columns.clusters)
    names = [
        as_name(decode(key), table=table, column=column)
        for key, column in zip(keys[start:], columns.keys[start:], strict=True)
    ]
    clusters = [
        as_name(decode(key), table=table, column=column)
        for key, column in zip(keys[len(group) : start], columns.clusters, strict=True)
    ]
    label = combined(columns.label, names[: len(columns.labels)])
    output = combined(columns.prediction, names[len(columns.labels) :])
    return Row(group, label, output, int(sums[0]), *_weights(table, sums, columns.weight), cluster_name(clusters))


def _weights(table: str, sums: Record, column: str | None) -> tuple[float, float]:
    """Return the sums of the weights and of their squares; rows without a column of weights weigh one."""
    if column is None:
        return int(sums[0]), int(sums[0])
    rows, total, squares, least, present = sums
    if present < rows or not isfinite(total) or not isfinite(squares) or least < 0:
        absent = rows - present
        number = f"{absent:,} missing weight{'s' * (absent > 1)}" if absent else "negative or infinite weights"
        needed = "weights are 0 or more"
        raise InputError(table, f"has {number} in column {column!r}", needed, "Fill them in, or remove those rows")
    return float(total), float(squares)
