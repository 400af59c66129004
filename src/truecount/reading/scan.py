"""One group-by over a frame, where the data are; only the groups reach Python, as rows."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

from truecount._wording import quoted
from truecount.errors import InputError
from truecount.reading.columns import Columns, require_kinds, start_of
from truecount.reading.duck import duck_frame, is_relation
from truecount.reading.names import as_key, as_name, combined, plain_value
from truecount.reading.rows import Row

if TYPE_CHECKING:
    from truecount.reading.frames import AnyFrame

Record: TypeAlias = tuple[Any, ...]
MOST_GROUPS = 1_000_000


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
    cluster = [as_name(decode(key), table=table, column=str(columns.cluster)) for key in keys[len(group) : start]]
    label = combined(columns.label, names[: len(columns.labels)])
    output = combined(columns.prediction, names[len(columns.labels) :])
    return Row(group, label, output, int(sums[0]), *_weights(table, sums, columns.weight), *cluster)


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
