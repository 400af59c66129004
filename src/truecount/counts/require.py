"""What rows must satisfy to be counted, said of the table that they came from."""

from collections.abc import Sequence

from truecount._types import Name
from truecount._wording import quoted
from truecount.counts.tally import Tally
from truecount.errors import InputError
from truecount.reading.columns import Columns
from truecount.reading.markers import suspect_label
from truecount.reading.rows import Row

MOST_NAMES = 1000
"""More different values than this are not classes or outputs, unless someone names them all."""
MOST_LONE_GROUPS = 1000
"""More groups than this, of one item or two, are not groups."""


def predictions(table: str, rows: Sequence[Row], column: str) -> None:
    """Refuse a table without rows, and rows without an output."""
    if not rows:
        raise InputError(table, "has no rows", "some must stand below the column names", "Check how it was written")
    without = sum(row.rows for row in rows if row.output is None)
    if without:
        found = f"has {_rows(without)} without a prediction in column {column!r}"
        remedy = "Write what the box said, for instance 'abstained', or remove them"
        raise InputError(table, found, "every row needs one", remedy)


def not_swapped(table: str, rows: Sequence[Row], label: str, prediction: str) -> None:
    """Refuse gaps among the predictions and none among the labels, where both name the same: they changed places."""
    labels, outputs = {row.label for row in rows}, {row.output for row in rows}
    if None in outputs and None not in labels and len(outputs) > 1 and outputs - {None} <= labels:
        found = f"has a label in every row of column {label!r}, and gaps in the predictions of column {prediction!r}"
        needed = "some labels may be unknown, and no prediction"
        raise InputError(
            table, found, needed, f"Perhaps they are swapped: pass label={prediction!r}, prediction={label!r}"
        )


def few_names(table: str, column: str, names: Sequence[Name]) -> None:
    """Refuse a column with more different values than classes are."""
    if len(names) > MOST_NAMES:
        found = f"has {len(names):,} different values in column {column!r}"
        needed = f"a column of class names has at most {MOST_NAMES:,}"
        raise InputError(table, found, needed, "Choose another column")


def named(table: str, column: str, argument: str, wanted: Sequence[Name], found: Sequence[Name]) -> None:
    """Refuse a name that occurs but that the caller did not name."""
    known = frozenset(wanted)
    for name in found:
        if name not in known:
            needed = f"{argument} names only {quoted(wanted)}"
            remedy = f"Add it to {argument}=[...], or mend the column"
            raise InputError(table, f"holds {name!r} in column {column!r}", needed, remedy)


def all_labeled(table: str, rows: Sequence[Row]) -> None:
    """Refuse an empty label in a table of labelled rows."""
    without = sum(row.rows for row in rows if row.label is None)
    if without:
        needed = "the first of two tables must be labelled throughout"
        remedy = "Remove them, or move them to the second one"
        raise InputError(table, f"has {_rows(without)} with an empty label", needed, remedy)


def some_labeled(table: str, rows: Sequence[Row], column: str) -> None:
    """Refuse a table without any label."""
    if all(row.label is None for row in rows):
        found, remedy = (
            f"has no label in column {column!r}",
            "Fill in the true class of a sample, or choose another column",
        )
        raise InputError(table, found, "some rows must be labelled", remedy)


def some_unlabeled(table: str, rows: Sequence[Row]) -> None:
    """Refuse a table in which every row has a label; one of them may mean that there is none."""
    if any(row.label is None for row in rows):
        return
    found, needed = "has a label in every row", "there is no unlabelled population to estimate"
    remedy = "Leave the label empty where it is unknown, or give the unlabelled rows in a second table"
    suspect = suspect_label(rows)
    if suspect:
        found = f"{found}, and that of {_rows(suspect[1])} is {suspect[0]!r}"
        remedy = f"Pass missing={str(suspect[0])!r} if that means that the label is missing"
    raise InputError(table, found, needed, remedy)


def few_groups(table: str, rows: Sequence[Row], columns: Columns) -> None:
    """Refuse many groups of hardly more than one item: a column of raw times, or of names of items."""
    new = [row for row in rows if row.label is None]
    items, groups = sum(row.rows for row in new), len({row.group for row in new})
    if groups > MOST_LONE_GROUPS and items < 2 * groups:
        found = f"has {groups:,} groups by {quoted(columns.by)}, of {_rows(items)}"
        remedy = f"Make periods of times, as in by={{{next(iter(columns.by))!r}: 'week'}}, or choose another column"
        raise InputError(table, found, "a share is one of many items", remedy)


def two_classes(table: str, tally: Tally) -> None:
    """Refuse a single class."""
    classes = tally.class_names()
    if len(classes) == 1:
        found, needed = f"has only the label {classes[0]!r}", "a share needs at least two classes"
        raise InputError(table, found, needed, "Label some items of another class")


def _rows(number: int) -> str:
    return f"{number:,} row{'' if number == 1 else 's'}"
