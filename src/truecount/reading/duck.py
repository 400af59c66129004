"""DuckDB: a connection, how names are written in its SQL, relations, and one group-by over one in its own words.

Files need no other library, and start at once.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeGuard

from truecount.reading.columns import COARSE, Columns, require_column

Connection: TypeAlias = Any
"""Of DuckDB, which is only imported where it is needed."""
Place: TypeAlias = Path | str
"""A file on disk, or an address, which is a string."""
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
"""What narwhals calls the types of DuckDB that have other names."""


def connect(*, extensions: bool = False) -> Connection:
    """Open a database in memory, which installs nothing, and loads only what the user has installed and needs."""
    import duckdb

    config: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": str(extensions).lower(),
    }
    connection = duckdb.connect(":memory:", config=config)
    connection.execute("SET TimeZone = 'UTC'")
    with suppress(duckdb.InvalidInputException):  # a notebook without ipywidgets: no progress can be asked for
        connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
    return connection


def literal(path: Place) -> str:
    """Quote a path for SQL, and keep DuckDB from taking it for a pattern; an address stays as it is."""
    return sql_text(path if isinstance(path, str) else without_pattern(str(path)))


def literals(paths: Iterable[Place]) -> str:
    """Write a list of paths in SQL."""
    return f"[{', '.join(map(literal, paths))}]"


def without_pattern(path: str) -> str:
    """Write a path so that DuckDB does not take it for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def sql_text(text: str) -> str:
    """Quote a string for SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(text: str) -> str:
    """Quote a name for SQL."""
    return '"' + text.replace('"', '""') + '"'


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

        DuckDB says by a RuntimeError that Ctrl-C was hit.
        """
        keys = ", ".join(f"key{position}" for position in range(len(columns.keys)))
        try:
            chosen = self.relation.project(", ".join(self._chosen(columns)))
            grouped = chosen.aggregate(f"{keys}, {_sums(columns)}", keys)
            return list(grouped.limit(most + 1).fetchall())
        except RuntimeError as error:
            if "interrupt" not in str(error):
                raise
            raise KeyboardInterrupt from error

    def _chosen(self, columns: Columns) -> Iterator[str]:
        """Yield what is needed under names of our own, times in UTC cut to the frequency, text compared by its bytes.

        Columns are read by their position: DuckDB takes names that differ only in case for one, and values too where
        a column or the connection has such a collation.
        """
        places = {name: f"#{position}" for position, name in enumerate(self.relation.columns, 1)}
        kinds, types = self.kinds, dict(zip(self.relation.columns, self.relation.types, strict=True))
        for position, column in enumerate(columns.keys):
            value, frequency = places[column], columns.by.get(column)
            if types[column].id.endswith("with time zone") and kinds[column] == "Datetime":
                value = f"make_timestamp(epoch_us({value}))"
            if frequency is not None and kinds[column] == "Datetime":
                value = f"date_trunc('{'day' if frequency in COARSE else frequency}', {value})"
            elif kinds[column] == "String":
                value = f"CAST({value} AS VARCHAR) COLLATE posix"
            yield f"{value} AS key{position}"
        if columns.weight is not None:
            yield f"CAST({places[columns.weight]} AS DOUBLE) AS weight"


def duck_frame(table: str, relation: Any, columns: Columns) -> DuckFrame:
    """Wrap a relation in which every wanted column is there once: a join may give it twice."""
    for column in columns.wanted:
        require_column(table, relation.columns, column)
    return DuckFrame(table, relation)


def is_relation(native: Any) -> TypeGuard[Any]:
    """Whether this is a relation of DuckDB, which need not be loaded to know it; a connection is none."""
    is_of_duckdb = type(native).__module__.partition(".")[0] in ("duckdb", "_duckdb")
    return is_of_duckdb and hasattr(native, "aggregate") and hasattr(native, "columns")


def _sums(columns: Columns) -> str:
    if columns.weight is None:
        return "count(*)"
    return "count(*), sum(weight), sum(weight * weight), min(weight), count(weight)"


def _kind(dtype: Any) -> str:
    name: str = dtype.id
    if name.startswith("time"):
        return "Datetime" if name.startswith("timestamp") else "Time"
    return KINDS.get(name, name.capitalize())


class Relation(NamedTuple):
    """What DuckDB reads, and what a value of it stands for."""

    native: Any
    decode: Callable[[Any], Any]


def selected(
    connection: Connection,
    source: str,
    columns: Columns,
    chosen: dict[str, str],
    *,
    as_text: str = "{}",
    decode: Callable[[Any], Any] = lambda value: value,
) -> Relation:
    """Select columns of text; times, in UTC if they have a zone, and weights are read as such."""
    made = []
    for column, expression in chosen.items():
        filled = f"nullif(trim({as_text.format(expression)}), '')"
        if columns.by.get(column):
            expression = f"CAST(CAST({filled} AS TIMESTAMPTZ) AS TIMESTAMP)"
        elif column == columns.weight:
            expression = f"CAST({filled} AS DOUBLE)"
        else:
            expression = f"CAST({expression} AS VARCHAR)"
        made.append(f"{expression} AS {identifier(column)}")
    return Relation(connection.sql(f"SELECT {', '.join(made)} FROM {source}"), decode)  # noqa: S608


def columns_of(connection: Connection, source: str) -> list[str]:
    """Return the names of a source's columns."""
    return list(connection.sql(f"FROM {source} LIMIT 0").columns)
