"""One group-by over a relation of DuckDB, in its own words: files need no other library, and start at once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from truecount.counts.columns import Columns
from truecount.counts.duck import identifier
from truecount.counts.periods import COARSE
from truecount.errors import MissingExtraError

KINDS = {
    "varchar": "String",
    "blob": "Binary",
    "interval": "Duration",
    "hugeint": "Int128",
    "uhugeint": "UInt128",
    "double": "Float64",
    "tinyint": "Int8",
    "smallint": "Int16",
    "integer": "Int32",
    "bigint": "Int64",
    "utinyint": "UInt8",
    "usmallint": "UInt16",
    "uinteger": "UInt32",
    "ubigint": "UInt64",
}
"""What narwhals calls the types of DuckDB that are called otherwise."""


@dataclass(frozen=True, slots=True)
class DuckFrame:
    """A relation, and what the caller knows it as."""

    table: str
    relation: Any

    @property
    def kinds(self) -> Mapping[str, str]:
        """The type of each column."""
        return dict(zip(self.relation.columns, map(_kind, self.relation.types), strict=True))

    def groups(self, columns: Columns, most: int) -> list[tuple[Any, ...]]:
        """Count and sum alike rows; where there are more than `most` kinds of them, one more than `most` suffices.

        DuckDB makes times with a zone by pytz, and says by a RuntimeError that Ctrl-C was hit.
        """
        import duckdb

        keys = ", ".join(self._keys(columns))
        try:
            grouped = self.relation.aggregate(f"{keys}, {_sums(columns)}", keys)
            return list(grouped.limit(most + 1).fetchall())
        except duckdb.InvalidInputException as error:
            if "pytz" not in str(error):
                raise
            feature = f"Counting {self.table} by a time with a zone in DuckDB (pytz)"
            raise MissingExtraError(feature, "backends") from error
        except RuntimeError as error:
            if "interrupt" not in str(error):
                raise
            raise KeyboardInterrupt from error

    def _keys(self, columns: Columns) -> Iterator[str]:
        """Give what rows are grouped by, times cut to the frequency."""
        kinds = self.kinds
        for column in columns.keys:
            frequency = columns.by.get(column)
            if frequency is not None and kinds[column] == "Datetime":
                yield f"date_trunc('{'day' if frequency in COARSE else frequency}', {identifier(column)})"
            else:
                yield identifier(column)


def is_relation(native: Any) -> TypeGuard[Any]:
    """Whether this is a relation of DuckDB, which need not be loaded to know it."""
    return type(native).__module__.partition(".")[0] in ("duckdb", "_duckdb") and hasattr(native, "fetchall")


def _sums(columns: Columns) -> str:
    if columns.weight is None:
        return "count(*)"
    weight = f"CAST({identifier(columns.weight)} AS DOUBLE)"
    return f"count(*), sum({weight}), sum({weight} * {weight}), min({weight}), count({weight})"


def _kind(dtype: Any) -> str:
    name: str = dtype.id
    if name.startswith("time"):
        return "Datetime" if name.startswith("timestamp") else "Time"
    return KINDS.get(name, name.capitalize())
