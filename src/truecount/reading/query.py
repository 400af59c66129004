"""Files and databases become relations of DuckDB, which streams them: only what is counted reaches Python."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from truecount._json import read_json
from truecount.errors import InputError
from truecount.reading.columns import Columns, require_column, require_few_columns, require_in_every_shard
from truecount.reading.duck import Connection, Place, identifier, literals, sql_text
from truecount.reading.parquet import files_alike, require_one_type
from truecount.reading.shards import ARRAY, RECORDS, Shards, folder_columns
from truecount.reading.text import DELIMITERS, header

CSV = """read_csv({paths}, columns={types}, delim={delimiter}, header=true, quote='"', escape='"', comment='',
    auto_detect=false, parallel={parallel}, hive_partitioning={partitioned}, hive_types_autocast=false)"""
JSON_LINES = """(SELECT CAST(line AS JSON) AS json, * EXCLUDE (line) FROM read_csv({paths},
    columns={{'line': 'VARCHAR'}}, delim='\x01', quote='', escape='', header=false, auto_detect=false,
    max_line_size=16777216, hive_partitioning={partitioned}, hive_types_autocast=false) WHERE trim(line) <> '')"""

TWICE = "'A key that is read stands twice in one object: '"


class Relation(NamedTuple):
    """What DuckDB reads, and what a value of it stands for."""

    native: Any
    decode: Callable[[Any], Any]


def relations(
    connection: Connection, shards: Shards, columns: Columns, *, is_careful: bool = False
) -> Iterator[Relation]:
    """Return the table that all shards make up; files that name, order or type their columns differently come apart.

    Where `is_careful`, CSV is read by one thread, as line breaks in quotes may need, and JSON line by line, as a byte
    order mark does.
    """
    if shards.kind in DELIMITERS:
        yield from _of_text(connection, shards, columns, "false" if is_careful else "true")
    elif shards.kind in RECORDS:
        yield _of_records(connection, shards, columns, _lines_source if is_careful else _records_source)
    else:
        yield from _of_parquet(connection, shards, columns)


def _of_text(connection: Connection, shards: Shards, columns: Columns, parallel: str) -> Iterator[Relation]:
    """Read CSV by position, under names that no folder can have: one such as ``week=3`` replaces a column ``week``."""
    alike: defaultdict[tuple[tuple[str, ...], str], list[Place]] = defaultdict(list)
    for file in shards.files:
        names, delimiter = header(file)
        require_few_columns(str(file), len(names))
        alike[tuple(names), delimiter].append(file)
    by_file = {str(files[0]): [*named, *folder_columns(files[0])] for (named, _), files in alike.items()}
    require_in_every_shard(by_file, columns)
    for (named, delimiter), files in alike.items():
        types = "{" + ", ".join(f"'/{position}': 'VARCHAR'" for position in range(len(named))) + "}"
        source = CSV.format(
            paths=literals(files),
            types=types,
            delimiter=sql_text(delimiter),
            parallel=parallel,
            partitioned=shards.is_partitioned,
        )
        parts = _columns_of(connection, source)[len(named) :]
        known = [*named, *parts]
        chosen = {column: f"#{require_column(str(files[0]), known, column) + 1}" for column in columns.wanted}
        yield _selected(connection, source, columns, chosen)


def _of_parquet(connection: Connection, shards: Shards, columns: Columns) -> list[Relation]:
    """Read Parquet; files whose types differ come apart, because DuckDB would cast all to those of the first."""
    alike = files_alike(connection, shards, columns)
    folders = _types_of_folders(connection, shards) if len(alike) > 1 else ""
    made = []
    for files in alike:
        source = f"read_parquet({literals(files)}, hive_partitioning={shards.is_partitioned}{folders})"
        name = shards.name if len(alike) == 1 else str(files[0])
        made.append((str(files[0]), of_table(connection, name, source, columns)))
    require_one_type([(file, relation.native) for file, relation in made], columns.wanted)
    return [relation for _, relation in made]


def _types_of_folders(connection: Connection, shards: Shards) -> str:
    """Return the option by which columns of folders such as ``week=3`` have the types that all files give them."""
    keys = {key for file in shards.files for key in folder_columns(file)}
    source = f"read_parquet({literals(shards.files)}, hive_partitioning={shards.is_partitioned})"
    whole = connection.sql(f"FROM {source} LIMIT 0")
    typed = [
        f"{identifier(name)}: {kind}" for name, kind in zip(whole.columns, whole.types, strict=True) if name in keys
    ]
    return f", hive_types={{{', '.join(typed)}}}" if shards.is_partitioned and typed else ""


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


def _of_records(
    connection: Connection, shards: Shards, columns: Columns, source_of: Callable[[Shards], str]
) -> Relation:
    """Read JSON; a dot leads into an object where no key has it in its name."""
    _require_no_folder_json(shards)
    source = source_of(shards)
    parts = [part for part in _columns_of(connection, source) if part != "json"]
    extracted = {
        column: f"to_json({identifier(column)})" if column in parts else _extract(column) for column in columns.wanted
    }
    first, keys = next(iter(extracted)), [column for column in columns.wanted if column not in parts]
    twice = f"{_stands_twice(keys)} THEN error({TWICE} || left(json, 60))"
    extracted[first] = f"CASE WHEN {twice} ELSE {extracted[first]} END"
    return _selected(connection, source, columns, extracted, as_text="({} ->> '$')", decode=_from_json)


def _stands_twice(columns: Sequence[str]) -> str:
    """Write whether a key on the way to one of the columns stands twice in its object."""
    inside: defaultdict[str, set[str]] = defaultdict(set)
    for column in columns:
        inside[""].add(column)
        way = column.split(".")
        for depth, name in enumerate(way):
            inside["".join(f"/{_pointer(each)}" for each in way[:depth])].add(name)
    tests = []
    for pointer, names in inside.items():
        keys = f"json_keys(json, {sql_text(pointer)})" if pointer else "json_keys(json)"
        found = f"[key FOR key IN {keys} IF key IN ({', '.join(map(sql_text, sorted(names)))})]"
        tests.append(f"len({found}) > len(list_distinct({found}))")
    return f"({' OR '.join(tests) or 'false'})"


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


def _lines_source(shards: Shards) -> str:
    return JSON_LINES.format(paths=literals(shards.files), partitioned=shards.is_partitioned)


def require_keys(connection: Connection, shards: Shards, missing: Sequence[str]) -> None:
    """Refuse columns of JSON that are empty because no record has such a key."""
    if not missing:
        return
    keys = f"SELECT DISTINCT unnest(json_keys(json)) FROM {_records_source(shards)} ORDER BY ALL"  # noqa: S608
    known = [key for (key,) in connection.sql(keys).fetchall()]
    for column in missing:
        outer = column.partition(".")[0]
        require_column(shards.name, known, column if outer not in known else outer)


def require_no_mixed_truth(connection: Connection, shards: Shards, mixed: Sequence[str]) -> None:
    """Refuse columns of JSON that hold true or false in one shard and numbers in another, and name both."""
    for column in mixed if len(shards.files) > 1 else ():
        value = f"json_type({_extract(column)})"
        source = _records_source(shards).removesuffix(")") + ", filename=true)"
        where = f"{value} IN ('BOOLEAN', 'BIGINT', 'UBIGINT', 'HUGEINT', 'DOUBLE')"
        files = f"SELECT {value} = 'BOOLEAN', min(filename) FROM {source} WHERE {where} GROUP BY 1 ORDER BY 1"  # noqa: S608
        (_, numbers), (_, truths) = connection.sql(files).fetchall()
        if truths == numbers:
            continue
        found = f"has true or false in column {column!r} of {truths}, and numbers in that of {numbers}"
        needed = "values of one column are of one kind"
        raise InputError(shards.name, found, needed, "Write numbers, or true and false, throughout")


def _pointer(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _extract(column: str) -> str:
    pointers = ["/" + _pointer(column)]
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
    return Relation(connection.sql(f"SELECT {', '.join(made)} FROM {source}"), decode or _from_text)  # noqa: S608


def _from_text(value: Any) -> Any:
    """Read ``1.0`` as ``1``: so do spreadsheets and pandas write whole numbers in a column with gaps."""
    return re.sub(r"^(\s*-?\d+)\.0(\s*)$", r"\1\2", value) if isinstance(value, str) else value


def _from_json(value: Any) -> Any:
    return read_json(value) if isinstance(value, str) else value


def _columns_of(connection: Connection, source: str) -> list[str]:
    return list(connection.sql(f"FROM {source} LIMIT 0").columns)
