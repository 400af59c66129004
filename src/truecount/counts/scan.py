"""One group-by over a table of any kind, by narwhals; only the groups reach Python."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import isfinite
from typing import Any, TypeAlias

from truecount._wording import nearest, quoted
from truecount.counts.periods import COARSE, FINE, FREQUENCIES, start_of
from truecount.counts.tally import Row
from truecount.counts.values import as_key, as_name, plain_value
from truecount.errors import InputError, MissingExtraError

Record: TypeAlias = tuple[Any, ...]
MOST_GROUPS = 1_000_000
MOST_BYTES = 2**31
"""What offsets of 32 bits can reach."""
NO_NAMES = ("List", "Struct", "Array", "Binary", "Datetime", "Date", "Time", "Duration")
"""Types of columns that hold no names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which columns of a table are read; `label` is None where no row has one."""

    prediction: str
    label: str | None = None
    by: Mapping[str, str | None] = field(default_factory=dict)
    weight: str | None = None

    @property
    def keys(self) -> list[str]:
        """Columns whose combinations are counted: groups, label, prediction."""
        return [*self.by, *([self.label] if self.label is not None else []), self.prediction]

    @property
    def wanted(self) -> list[str]:
        """All columns that are read, each once."""
        return [*self.keys, *([self.weight] if self.weight is not None else [])]

    def require_distinct(self) -> None:
        """Refuse one column in two roles."""
        roles = {"label": self.label, "prediction": self.prediction, "weight": self.weight}
        seen = dict.fromkeys(self.by, "by")
        for role, column in roles.items():
            if column is not None and column in seen:
                found = f"is {column!r}, as is {seen[column]}"
                raise InputError(role, found, "these are two columns", "Name the column of each")
            seen[str(column)] = role


def scan(table: str, native: Any, columns: Columns, decode: Callable[[Any], Any] = lambda value: value) -> list[Row]:
    """Count the combinations of groups, label and prediction in a table.

    Parameters
    ----------
    table
        What the caller knows the table as; errors say it.
    native
        A frame of a kind that narwhals knows.
    columns
        Which columns to read.
    decode
        What a value of the table stands for.
    """
    import narwhals as nw

    try:
        frame = nw.from_native(native)
    except TypeError as error:
        raise _no_frame(table, native) from error
    except nw.exceptions.DuplicateError as error:
        found, needed = "has several columns of one name", "each name must stand for one column"
        raise InputError(table, found, needed, "Rename the others") from error
    _require_columns(table, frame.collect_schema(), columns)
    try:
        cells = _collected(table, _grouped(_prepared(frame, columns), columns))
    except TypeError as error:
        found = f"has values that cannot be grouped ({error})"
        raise InputError(table, found, "names are strings, numbers or booleans", "Convert them to text") from error
    if len(cells) > MOST_GROUPS:
        found = f"has over {MOST_GROUPS:,} combinations of {quoted(columns.keys)}"
        raise InputError(table, found, "these must be columns of class names", "Choose other columns")
    return [_row(table, values, columns, decode) for values in cells]


def _prepared(frame: Any, columns: Columns) -> Any:
    """Select what is needed under names of our own, times cut to the frequency; faster kinds of frames first."""
    import narwhals as nw

    schema, made = frame.collect_schema(), []
    for position, column in enumerate(columns.keys):
        value, frequency = nw.col(column), columns.by.get(column)
        if frequency is not None and _kind(schema[column]) == "Datetime":
            value = value.dt.truncate("1d" if frequency in COARSE else FINE[frequency])
        made.append(value.alias(f"key{position}"))
    if columns.weight is not None:
        weight = nw.col(columns.weight).cast(nw.Float64)
        made += [weight.alias("weight"), (weight * weight).alias("squares")]
    return _quickest(frame, columns.wanted).select(*made)


def _quickest(frame: Any, wanted: Sequence[str]) -> Any:
    """Let polars work lazily, so that it streams, and Arrow count what pandas holds as Arrow does, if it is there."""
    import narwhals as nw

    if frame.implementation.is_polars():
        return frame.lazy()
    if frame.implementation.is_pandas() and find_spec("pyarrow") is not None:
        chosen = frame.select(*map(nw.col, wanted))
        if "Object" not in map(_kind, chosen.schema.values()):
            return nw.from_native(_short_strings(chosen.to_arrow()))
    if frame.implementation.is_pyarrow():
        return nw.from_native(_short_strings(frame.select(*map(nw.col, wanted)).to_native()))
    return frame


def _short_strings(table: Any) -> Any:
    """Give strings the offsets of 32 bits that Arrow groups by three times as fast, where they are long enough."""
    import pyarrow as pa

    for position, column in enumerate(table.schema):
        if pa.types.is_large_string(column.type) and table.column(position).nbytes < MOST_BYTES:
            table = table.set_column(position, column.name, table.column(position).cast(pa.string()))
    return table


def _grouped(frame: Any, columns: Columns) -> Any:
    import narwhals as nw

    sums = [nw.len().alias("rows")]
    if columns.weight is not None:
        sums += [nw.col("weight").sum().alias("total"), nw.col("squares").sum().alias("total_squares")]
        sums += [nw.col("weight").min().alias("least"), nw.col("weight").count().alias("present")]
    keys = [f"key{position}" for position in range(len(columns.keys))]
    return frame.group_by(*keys, drop_null_keys=False).agg(*sums)


def _collected(table: str, grouped: Any) -> list[Record]:
    """Fetch the groups by the way that needs least: neither DuckDB nor Spark needs anything else installed."""
    implementation = grouped.implementation
    try:
        if implementation.is_duckdb():
            return _fetched_by_duckdb(table, grouped.head(MOST_GROUPS + 1).to_native())
        if implementation.is_spark_like():
            return [tuple(row) for row in grouped.head(MOST_GROUPS + 1).to_native().collect()]
        return list((grouped.collect() if hasattr(grouped, "collect") else grouped).rows())
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"Counting {table} with {implementation.value} ({error.name})", "backends") from error


def _fetched_by_duckdb(table: str, relation: Any) -> list[Record]:
    """Fetch Python values. DuckDB makes times with a zone by pytz, and says by a RuntimeError that Ctrl-C was hit."""
    import duckdb

    try:
        return list(relation.fetchall())
    except duckdb.InvalidInputException as error:
        if "pytz" not in str(error):
            raise
        raise MissingExtraError(f"Counting {table} by a time with a zone in DuckDB (pytz)", "backends") from error
    except RuntimeError as error:
        if "interrupt" not in str(error):
            raise
        raise KeyboardInterrupt from error


def _row(table: str, cells: Record, columns: Columns, decode: Callable[[Any], Any]) -> Row:
    """Give the values that a group of alike rows has, as names, and their sums as Python's own numbers."""
    keys, sums = cells[: len(columns.keys)], cells[len(columns.keys) :]
    group = tuple(
        as_key(start_of(frequency, plain_value(decode(key))), table=table, column=column)
        for key, (column, frequency) in zip(keys, columns.by.items(), strict=False)
    )
    names = [
        as_name(decode(key), table=table, column=column)
        for key, column in zip(keys[len(group) :], columns.keys[len(group) :], strict=True)
    ]
    label, output = (None, *names)[-2:]
    return Row(group, label, output, int(sums[0]), *_weights(table, sums, columns.weight))


def _weights(table: str, sums: Record, column: str | None) -> tuple[float, float]:
    """Give the sums of the weights and of their squares; rows without a column of weights weigh one."""
    if column is None:
        return int(sums[0]), int(sums[0])
    rows, total, squares, least, present = sums
    if present < rows or not isfinite(total) or not isfinite(squares) or least < 0:
        absent = rows - present
        number = f"{absent:,} missing weight{'s' * (absent > 1)}" if absent else "negative or infinite weights"
        needed = "weights are 0 or more"
        raise InputError(table, f"has {number} in column {column!r}", needed, "Fill them in, or remove those rows")
    return float(total), float(squares)


def _require_columns(table: str, schema: Mapping[str, Any], columns: Columns) -> None:
    """Refuse columns that are not there or hold what nothing is called."""
    for column in columns.wanted:
        require_column(table, list(schema), column)
    for column in columns.keys[len(columns.by) :]:
        if _kind(schema[column]) in NO_NAMES:
            found = f"has {_kind(schema[column])} values in column {column!r}"
            raise InputError(table, found, "names are strings, numbers or booleans", "Convert it to text")
    for column, frequency in columns.by.items():
        if frequency is not None and _kind(schema[column]) not in _time_kinds(frequency):
            found, needed = f"has {_kind(schema[column])} values in column {column!r}", "a frequency needs times"
            raise InputError(table, found, needed, "Convert it to a time, or leave out the frequency")
    if columns.weight is not None and not schema[columns.weight].is_numeric():
        found = f"has {_kind(schema[columns.weight])} values in column {columns.weight!r}"
        raise InputError(table, found, "weights are numbers", "Convert it, or choose another column")


def _time_kinds(frequency: str) -> tuple[str, ...]:
    """Give the types of columns that can be cut; pandas keeps dates as objects, of which days are made here."""
    return ("Date", "Datetime", "Object") if frequency in COARSE else ("Datetime",)


def _kind(dtype: Any) -> str:
    return str(dtype).partition("(")[0]


def require_column(table: str, columns: Sequence[str], wanted: str) -> int:
    """Give the position of a column, or say which there are."""
    found = [position for position, name in enumerate(columns) if name == wanted]
    if len(found) > 1:
        needed = "each name must stand for one column"
        raise InputError(table, f"has {len(found)} columns named {wanted!r}", needed, "Rename the others")
    if not found:
        raise InputError(
            table, f"has no column {wanted!r}", f"its columns are {quoted(columns)}", _advice(wanted, columns)
        )
    return found[0]


def _advice(wanted: str, columns: Sequence[str]) -> str:
    """Say which column, or which period of a column, was perhaps meant."""
    column, _, _ = wanted.rpartition(":")
    if column in columns:
        return f"Write the period of {column!r} as one of {', '.join(FREQUENCIES)}"
    meant = nearest(wanted, columns)
    return f"Perhaps you meant {meant!r}" if meant else "Choose one of these"


def _no_frame(table: str, native: Any) -> InputError:
    return InputError(
        table,
        f"is of type {type(native).__name__}",
        "it must be a table of pandas, polars, Arrow, DuckDB, Dask, Ibis or Spark, or the path of a file",
        "Convert it, or count columns with truecount.count()",
    )
