"""One group-by over a frame of any library that narwhals knows; only the groups reach Python."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.util import find_spec
from typing import Any

from truecount.errors import InputError, MissingExtraError
from truecount.reading.columns import COARSE, FINE, Columns

MICROSECONDS = {None: 1, "minute": 60_000_000, "hour": 3_600_000_000, "day": 86_400_000_000}
"""What the times of Spark are rounded down to."""
SPARK_MICROSECONDS = (
    "(unix_date(CAST({0} AS DATE)) * 86400000000L + hour({0}) * 3600000000L + minute({0}) * 60000000L"
    " + CAST(extract(SECOND FROM {0}) * 1000000 AS BIGINT))"
)
"""Of times without a zone, which Spark's own functions would move over a night in which clocks change."""
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
            return as_times(_collected(self.grouped(columns), most), self.times_as_numbers(columns))
        except (TypeError, NotImplementedError) as error:
            found = f"has values that cannot be grouped ({error})"
            needed = "names must be strings, numbers or booleans"
            raise InputError(self.table, found, needed, "Convert them to text") from error
        except ModuleNotFoundError as error:
            feature = f"Counting {self.table} with {self.frame.implementation.value} ({error.name})"
            raise MissingExtraError(feature, "backends") from error

    def grouped(self, columns: Columns) -> Any:
        """Return the frame of counts and sums of alike rows, not computed yet where the library is lazy."""
        return _grouped(_prepared(self.frame, columns), columns)

    def times_as_numbers(self, columns: Columns) -> list[int]:
        """Return which of the keys are times that come as microseconds since 1970, as those of Spark do."""
        schema = self.frame.collect_schema()
        is_spark = self.frame.implementation.is_spark_like()
        return [at for at, column in enumerate(columns.by) if is_spark and _kind(schema[column]) == "Datetime"]


def any_frame(table: str, native: Any, columns: Columns) -> AnyFrame:
    """Wrap a frame, or say that it is none."""
    import narwhals as nw

    try:
        frame = nw.from_native(native)
        if frame.implementation.is_pandas_like() or frame.implementation.is_dask():
            frame = nw.from_native(_zones_in_utc(table, native, columns))
        return AnyFrame(table, frame)
    except TypeError as error:
        raise _no_frame(table, native) from error
    except nw.exceptions.DuplicateError as error:
        found, needed = "has several columns of one name", "each name must stand for one column"
        raise InputError(table, found, needed, "Rename the others") from error


def _zones_in_utc(table: str, native: Any, columns: Columns) -> Any:
    """Convert times of pandas to UTC: narwhals does not know zones such as America/New_York there."""
    if native.columns.nlevels > 1:
        found, needed = f"has columns with {native.columns.nlevels} levels of names", "each column has one name"
        remedy = "Join the levels: table.columns = ['.'.join(name) for name in table.columns]"
        raise InputError(table, found, needed, remedy)
    zoned = [column for column in columns.by if column in native.columns and hasattr(native.dtypes[column], "tz")]
    return native.assign(**{column: native[column].dt.tz_convert("UTC") for column in zoned})


def _prepared(frame: Any, columns: Columns) -> Any:
    """Select what is needed under names of our own, times cut to the frequency; faster kinds of frames first."""
    import narwhals as nw

    schema, made = frame.collect_schema(), []
    if frame.implementation.is_spark_like():
        frame = _in_microseconds(frame, columns)
    for position, column in enumerate(columns.keys):
        value = nw.col(column)
        if _kind(schema[column]) == "Datetime" and not frame.implementation.is_spark_like():
            value = _cut(value, schema[column].time_zone, columns.by[column], frame.implementation)
        made.append(value.alias(f"key{position}"))
    if columns.weight is not None:
        weight = nw.col(columns.weight).cast(nw.Float64)
        made += [weight.alias("weight"), (weight * weight).alias("squares")]
    return _quickest(frame, columns.wanted).select(*made)


def _cut(value: Any, zone: str | None, frequency: str | None, implementation: Any) -> Any:
    """Cut times to the frequency, in UTC where they have a zone; databases behind Ibis do it in their session's."""
    if zone is not None and not implementation.is_ibis():
        value = value.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    return value if frequency is None else value.dt.truncate("1d" if frequency in COARSE else FINE[frequency])


def _in_microseconds(frame: Any, columns: Columns) -> Any:
    """Replace Spark's times by microseconds since 1970: it cuts and hands over times in zones of the machines."""
    import narwhals as nw

    schema, native = frame.collect_schema(), frame.to_native()
    for column, frequency in columns.by.items():
        if _kind(schema[column]) == "Datetime":
            quoted = f"`{column.replace('`', '``')}`"
            form = SPARK_MICROSECONDS if schema[column].time_zone is None else "unix_micros({0})"
            micros = form.format(quoted)
            step = MICROSECONDS["day" if frequency in COARSE else frequency]
            others = [f"`{each.replace('`', '``')}`" for each in native.columns if each != column]
            native = native.selectExpr(*others, f"{micros} - pmod({micros}, {step}) AS {quoted}")
    return nw.from_native(native)


def as_times(records: list[tuple[Any, ...]], positions: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return microseconds since 1970, at these positions of each record, as the times that they are."""
    if not positions:
        return records
    begin = datetime(1970, 1, 1)
    return [
        tuple(
            begin + timedelta(microseconds=value) if position in positions and value is not None else value
            for position, value in enumerate(record)
        )
        for record in records
    ]


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
    """Cast strings to the offsets of 32 bits that Arrow groups by three times as fast, where they are long enough."""
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
