"""Files and databases become relations of DuckDB, which streams them: only what is counted reaches Python."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from truecount.counts.columns import Columns, require_column, require_in_every_shard
from truecount.counts.duck import Connection, Place, identifier, literals, sql_text
from truecount.counts.parquet import require_columns
from truecount.counts.shards import ARRAY, RECORDS, Shards, folder_columns
from truecount.counts.text import DELIMITERS, header
from truecount.errors import InputError

CSV = """read_csv({paths}, columns={types}, delim={delimiter}, header=true, quote='"', escape='"', comment='',
    auto_detect=false, hive_partitioning={partitioned}, hive_types_autocast=false)"""


class Relation(NamedTuple):
    """What DuckDB reads, and what a value of it stands for."""

    native: Any
    decode: Callable[[Any], Any]


def relations(connection: Connection, shards: Shards, columns: Columns) -> Iterator[Relation]:
    """Give the table that all shards make up; CSV files that name or order their columns differently come apart."""
    if shards.kind in DELIMITERS:
        yield from _of_text(connection, shards, columns)
    elif shards.kind in RECORDS:
        yield _of_records(connection, shards, columns)
    else:
        yield _of_parquet(connection, shards, columns)


def _of_text(connection: Connection, shards: Shards, columns: Columns) -> Iterator[Relation]:
    """Read CSV by position, under names that no folder can have: one such as ``week=3`` replaces a column ``week``."""
    alike: defaultdict[tuple[tuple[str, ...], str], list[Place]] = defaultdict(list)
    for file in shards.files:
        names, delimiter = header(file)
        alike[tuple(names), delimiter].append(file)
    by_file = {str(files[0]): [*named, *folder_columns(files[0])] for (named, _), files in alike.items()}
    require_in_every_shard(by_file, columns)
    for (named, delimiter), files in alike.items():
        types = "{" + ", ".join(f"'/{position}': 'VARCHAR'" for position in range(len(named))) + "}"
        source = CSV.format(
            paths=literals(files), types=types, delimiter=sql_text(delimiter), partitioned=shards.is_partitioned
        )
        parts = _columns_of(connection, source)[len(named) :]
        known = [*named, *parts]
        chosen = {column: f"#{require_column(str(files[0]), known, column) + 1}" for column in columns.wanted}
        yield _selected(connection, source, columns, chosen)


def _of_parquet(connection: Connection, shards: Shards, columns: Columns) -> Relation:
    require_columns(connection, shards, columns)
    source = f"read_parquet({literals(shards.files)}, hive_partitioning={shards.is_partitioned})"
    return of_table(connection, shards.name, source, columns)


def of_table(connection: Connection, name: str, source: str, columns: Columns) -> Relation:
    """Give the columns wanted of a typed table; a dot leads into a struct where no column has it in its name."""
    known = _columns_of(connection, source)
    chosen = {}
    for column in columns.wanted:
        outer, _, inner = column.partition(".")
        if column in known or outer not in known or not inner:
            require_column(name, known, column)
            chosen[column] = identifier(column)
        else:
            chosen[column] = ".".join(map(identifier, (outer, *inner.split("."))))
    selected = ", ".join(f"{expression} AS {identifier(column)}" for column, expression in chosen.items())
    return Relation(connection.sql(f"SELECT {selected} FROM {source}"), lambda value: value)  # noqa: S608


def _of_records(connection: Connection, shards: Shards, columns: Columns) -> Relation:
    """Read JSON; a dot leads into an object where no key has it in its name."""
    _require_no_folder_json(shards)
    source = _records_source(shards)
    parts = [part for part in _columns_of(connection, source) if part != "json"]
    extracted = {
        column: f"to_json({identifier(column)})" if column in parts else _extract(column) for column in columns.wanted
    }
    return _selected(connection, source, columns, extracted, as_text="({} ->> '$')", decode=_from_json)


def _require_no_folder_json(shards: Shards) -> None:
    """Refuse folders that replace the one column that DuckDB reads records into."""
    for file in shards.files if shards.is_partitioned else ():
        if re.search(r"(^|[/\\])json=", str(file), re.IGNORECASE):
            found, needed = "lies in a folder json=…", "DuckDB would put that value in place of the records"
            raise InputError(str(file), found, needed, "Rename the folder")


def _records_source(shards: Shards) -> str:
    form = "array" if shards.kind == ARRAY else "newline_delimited"
    options = f"format='{form}', hive_partitioning={shards.is_partitioned}, hive_types_autocast=false"
    return f"read_json_objects({literals(shards.files)}, {options})"


def require_keys(connection: Connection, shards: Shards, missing: Sequence[str]) -> None:
    """Refuse columns of JSON that are empty because no record has such a key."""
    if not missing:
        return
    keys = f"SELECT DISTINCT unnest(json_keys(json)) FROM {_records_source(shards)} ORDER BY ALL"  # noqa: S608
    known = [key for (key,) in connection.sql(keys).fetchall()]
    for column in missing:
        outer = column.partition(".")[0]
        require_column(shards.name, known, column if outer not in known else outer)


def _extract(column: str) -> str:
    pointers = ["/" + column.replace("~", "~0").replace("/", "~1")]
    if "." in column:
        pointers.append(pointers[0].replace(".", "/"))
    return f"coalesce({', '.join(f'json_extract(json, {sql_text(pointer)})' for pointer in pointers)})"


def _selected(
    connection: Connection,
    source: str,
    columns: Columns,
    chosen: dict[str, str],
    *,
    as_text: str = "{}",
    decode: Callable[[Any], Any] | None = None,
) -> Relation:
    """Select columns of text; times and weights are read as such."""
    made = []
    for column, expression in chosen.items():
        filled = f"nullif(trim({as_text.format(expression)}), '')"
        if columns.by.get(column):
            expression = f"CAST({filled} AS TIMESTAMP)"
        elif column == columns.weight:
            expression = f"CAST({filled} AS DOUBLE)"
        else:
            expression = f"CAST({expression} AS VARCHAR)"
        made.append(f"{expression} AS {identifier(column)}")
    return Relation(connection.sql(f"SELECT {', '.join(made)} FROM {source}"), decode or _from_text)  # noqa: S608


def _from_text(value: Any) -> Any:
    """Read ``1.0`` as ``1``: so do spreadsheets and pandas write whole numbers in a column with gaps."""
    return re.sub(r"^(\s*-?\d+)\.0(\s*)$", r"\1\2", value) if isinstance(value, str) else value


def _from_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


def _columns_of(connection: Connection, source: str) -> list[str]:
    return list(connection.sql(f"FROM {source} LIMIT 0").columns)
