"""One group-by over a frame of any library that narwhals knows; only the groups reach Python."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from truecount.counts.columns import Columns
from truecount.counts.periods import COARSE, FINE
from truecount.errors import InputError, MissingExtraError

MOST_BYTES = 2**31
"""What offsets of 32 bits can reach."""


@dataclass(frozen=True, slots=True)
class AnyFrame:
    """A frame wrapped by narwhals, and what the caller knows it as."""

    table: str
    frame: Any

    @property
    def kinds(self) -> Mapping[str, str]:
        """The type of each column."""
        return {column: _kind(dtype) for column, dtype in self.frame.collect_schema().items()}

    def groups(self, columns: Columns, most: int) -> list[tuple[Any, ...]]:
        """Count and sum alike rows; where there are more than `most` kinds of them, some more than `most` suffice."""
        try:
            return _collected(_grouped(_prepared(self.frame, columns), columns), most)
        except TypeError as error:
            found = f"has values that cannot be grouped ({error})"
            needed = "names are strings, numbers or booleans"
            raise InputError(self.table, found, needed, "Convert them to text") from error
        except ModuleNotFoundError as error:
            feature = f"Counting {self.table} with {self.frame.implementation.value} ({error.name})"
            raise MissingExtraError(feature, "backends") from error


def any_frame(table: str, native: Any) -> AnyFrame:
    """Wrap a frame, or say that it is none."""
    import narwhals as nw

    try:
        return AnyFrame(table, nw.from_native(native))
    except TypeError as error:
        raise _no_frame(table, native) from error
    except nw.exceptions.DuplicateError as error:
        found, needed = "has several columns of one name", "each name must stand for one column"
        raise InputError(table, found, needed, "Rename the others") from error


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


def _collected(grouped: Any, most: int) -> list[tuple[Any, ...]]:
    """Fetch the groups by the way that needs least: Spark needs nothing else installed."""
    if grouped.implementation.is_spark_like():
        return [tuple(row) for row in grouped.head(most + 1).to_native().collect()]
    return list((grouped.collect() if hasattr(grouped, "collect") else grouped).rows())


def _kind(dtype: Any) -> str:
    return str(dtype).partition("(")[0]


def _no_frame(table: str, native: Any) -> InputError:
    return InputError(
        table,
        f"is of type {type(native).__name__}",
        "it must be a table of pandas, polars, Arrow, DuckDB, Dask, Ibis or Spark, or the path of a file",
        "Convert it, or count columns with truecount.count()",
    )
