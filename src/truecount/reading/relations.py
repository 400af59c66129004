"""What has types becomes relations of DuckDB, which streams it: JSON, Parquet, and tables at addresses."""

import re
from collections import Counter as Sums
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from glob import has_magic
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from truecount._json import read_json
from truecount._wording import quoted
from truecount.errors import InputError
from truecount.reading.columns import Columns, require_column, require_few_columns, require_in_every_shard
from truecount.reading.duck import (
    Connection,
    Place,
    Relation,
    columns_of,
    identifier,
    literals,
    selected,
    sql_text,
    without_pattern,
)
from truecount.reading.locate import ARRAY, DATABASES, Shards, folder_columns, is_address, one_kind

JSON_LINES = """(SELECT CAST(line AS JSON) AS json, * EXCLUDE (line) FROM read_csv({paths},
    columns={{'line': 'VARCHAR'}}, delim='\x01', quote='', escape='', header=false, auto_detect=false,
    max_line_size=16777216, hive_partitioning={partitioned}, hive_types_autocast=false) WHERE trim(line) <> '')"""

Nested: TypeAlias = tuple[str, ...]
"""The name of a column, and of what is within it."""
Schema: TypeAlias = list[tuple[Nested, str]]
"""The columns of a file, and what is within them, with their types."""
NUMBERS = ("tinyint", "smallint", "integer", "bigint", "hugeint", "float", "double", "decimal")
"""DuckDB's types of numbers, but for those that begin with a ``u`` because they have no sign."""
FIRST_RECORDS = 1000
"""Of JSON, whose keys are its columns."""
TWICE = "'A key that is read stands twice in one object: '"


def of_parquet(connection: Connection, shards: Shards, columns: Columns) -> list[Relation]:
    """Read Parquet; files whose types differ are read singly, because DuckDB would cast all to those of the first."""
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
    """Return the columns wanted of a typed table; a dot leads into a struct where no column has it in its name."""
    known = columns_of(connection, source)
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


def of_records(
    connection: Connection, shards: Shards, columns: Columns, source_of: Callable[[Shards], str]
) -> Relation:
    """Read JSON; a dot leads into an object where no key has it in its name."""
    _require_no_folder_json(shards)
    source = source_of(shards)
    parts = [part for part in columns_of(connection, source) if part != "json"]
    extracted = {
        column: f"to_json({identifier(column)})" if column in parts else _extract(column) for column in columns.wanted
    }
    first, keys = next(iter(extracted)), [column for column in columns.wanted if column not in parts]
    twice = f"{_stands_twice(keys)} THEN error({TWICE} || left(json, 60))"
    extracted[first] = f"CASE WHEN {twice} ELSE {extracted[first]} END"
    return selected(connection, source, columns, extracted, as_text="({} ->> '$')", decode=_from_json)


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


def records_source(shards: Shards) -> str:
    """Return the SQL that reads JSON, record by record."""
    form = "array" if shards.kind == ARRAY else "newline_delimited"
    options = f"format='{form}', hive_partitioning={shards.is_partitioned}, hive_types_autocast=false"
    return f"read_json_objects({literals(shards.files)}, {options})"


def lines_source(shards: Shards) -> str:
    """Return the SQL that reads JSON Lines, line by line."""
    return JSON_LINES.format(paths=literals(shards.files), partitioned=shards.is_partitioned)


def require_keys(connection: Connection, shards: Shards, missing: Sequence[str]) -> None:
    """Refuse columns of JSON that are empty because no record has such a key."""
    if not missing:
        return
    keys = f"SELECT DISTINCT unnest(json_keys(json)) FROM {records_source(shards)} ORDER BY ALL"  # noqa: S608
    known = [key for (key,) in connection.sql(keys).fetchall()]
    for column in missing:
        outer = column.partition(".")[0]
        require_column(shards.name, known, column if outer not in known else outer)


def require_no_mixed_truth(connection: Connection, shards: Shards, mixed: Sequence[str]) -> None:
    """Refuse columns of JSON that hold true or false in one shard and numbers in another, and name both."""
    for column in mixed if len(shards.files) > 1 else ():
        value = f"json_type({_extract(column)})"
        source = records_source(shards).removesuffix(")") + ", filename=true)"
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


def _from_json(value: Any) -> Any:
    return read_json(value) if isinstance(value, str) else value


def files_alike(connection: Connection, shards: Shards, columns: Columns) -> list[list[Place]]:
    """Sort files by the types of their wanted columns, which all must have, and under a name of their own."""
    outer = {column.partition(".")[0] for column in columns.wanted} | set(columns.wanted)
    by_name = {_without_escapes(file): file for file in shards.files}
    alike: defaultdict[tuple[Any, ...], list[Place]] = defaultdict(list)
    names = {}
    for file, schema in _schemas(connection, shards.files):
        paths = [path for path, _ in schema]
        if shards.is_partitioned:
            paths += [(key,) for key in folder_columns(file) if (key,) not in paths]
        _require_distinct_names(file, paths, columns.wanted)
        names[file] = [path[0] for path in paths if len(path) == 1]
        types = tuple(sorted((path, kind) for path, kind in schema if path[0] in outer))
        alike[types].append(by_name.get(file, file))
    require_in_every_shard(names, columns)
    return list(alike.values())


def _without_escapes(file: Place) -> str:
    """Return a file's name as DuckDB says it: addresses were escaped, and a local one is said without its scheme."""
    if not isinstance(file, str):
        return str(file)
    return re.sub(r"^file:(//(localhost)?)?(?=/)", "", re.sub(r"\[([*?\[])\]", r"\1", file))


def _require_distinct_names(file: str, paths: list[Nested], wanted: Sequence[str]) -> None:
    for alike in _alike(paths):
        if any(_is_concerned(column, alike[0]) for column in wanted):
            found, needed = f"has columns {quoted(alike)}", "DuckDB takes names that differ only in case for one"
            raise InputError(file, found, needed, "Rename all but one")


def _schemas(connection: Connection, files: Sequence[Place]) -> Iterator[tuple[str, Schema]]:
    """Return all columns of each file, and what is within them, with their types."""
    kind = "concat_ws(' ', type, converted_type, logical_type, precision, scale)"
    schema = f"SELECT file_name, name, coalesce(num_children, 0), {kind} FROM parquet_schema({literals(files)})"  # noqa: S608
    entries: defaultdict[str, list[tuple[str, int, str]]] = defaultdict(list)
    for file, *entry in connection.sql(schema).fetchall():
        entries[file].append(tuple(entry))
    for file, ((_, children, _), *nodes) in entries.items():
        require_few_columns(file, children)
        yield file, list(_below(iter(nodes), children))


def _below(nodes: Iterator[tuple[str, int, str]], children: int, above: Nested = ()) -> Iterator[tuple[Nested, str]]:
    """Walk through a schema, in which the entries of a column follow it."""
    for _ in range(children):
        name, inner, kind = next(nodes)
        yield (*above, name), kind
        yield from _below(nodes, inner, (*above, name))


def require_one_type(parts: Sequence[tuple[str, Any]], wanted: Sequence[str]) -> None:
    """Refuse columns whose types differ between files: numbers go with numbers, and nothing at all with anything.

    Parameters
    ----------
    parts
        The first file of those that have the same types, and the relation that they make up.
    wanted
        The columns, as they are called in the relations.
    """
    if len(parts) == 1:
        return
    for column in wanted:
        types = [(file, relation, relation.types[relation.columns.index(column)]) for file, relation in parts]
        held = [each for each in types if _family(each[2]) != "null"]
        if len({_family(kind) for _, _, kind in held}) > 1:
            held = [each for each in held if _holds_something(each[1], column)]
        for file, _, kind in held[1:]:
            first, _, usual = held[0]
            if _family(kind) != _family(usual):
                found = f"has {kind} values in column {column!r}, and {first} has {usual}"
                needed = "shards of one table have one type in a column, or numbers"
                raise InputError(file, found, needed, "Write both with one type")


def _family(kind: Any) -> str:
    """Return what values of a type are to a reader of names, weights and times."""
    name: str = kind.id
    if name in NUMBERS or name.removeprefix("u") in NUMBERS:
        return "number"
    if name.startswith("timestamp"):
        return "time with a zone" if name.endswith("with time zone") else "time"
    return "null" if name in ("null", "sqlnull") else str(kind)


def _holds_something(relation: Any, column: str) -> bool:
    """Whether a column holds more than nulls and NaN, which pandas writes where all is missing."""
    held = relation.filter(f"CAST({identifier(column)} AS VARCHAR) <> 'nan'").limit(1)
    return bool(held.project("1").fetchall())  # a time with a zone would need pytz to be handed over


def _alike(paths: Sequence[Nested]) -> Iterator[list[str]]:
    """Yield the names that are one but for their case, together."""
    folded = [tuple(map(str.casefold, path)) for path in paths]
    for each, number in Sums(folded).items():
        if number > 1:
            yield [".".join(path) for path, name in zip(paths, folded, strict=True) if name == each]


def _is_concerned(column: str, name: str) -> bool:
    """Whether a column is one of that name, lies within it, or may be what DuckDB calls it instead: ``name_1``."""
    return re.match(re.escape(name) + r"(_\d+)*(\.|$)", column, re.IGNORECASE) is not None


def table_at(connection: Connection, address: str, columns: Columns) -> Relation:
    """Return the table of a database, of which DuckDB fetches only the columns that are read."""
    kind = DATABASES[urlsplit(address).scheme.lower()]
    return of_table(connection, address, _attached(connection, address, kind), columns)


def shards_at(connection: Connection, address: str) -> Shards:
    """Find the files at an address, or all that match it where it is a pattern; the web has no patterns."""
    parts = urlsplit(address)
    is_pattern = has_magic(parts.path) and parts.scheme.lower() not in ("http", "https")
    files: list[Place] = _matching(connection, address) if is_pattern else [address]
    return Shards(address, one_kind(address, files), tuple(files), is_partitioned=is_pattern)


def _matching(connection: Connection, pattern: str) -> list[Place]:
    found = connection.execute(f"FROM glob({sql_text(pattern)}) ORDER BY ALL").fetchall()
    if not found:
        raise InputError(pattern, "matches no file", "files are needed", "Check the spelling")
    return [without_pattern(file) if is_address(file) else Path(file) for (file,) in found]


def _attached(connection: Connection, address: str, kind: str) -> str:
    """Open a database for reading, and return its table's name in SQL."""
    database, _, table = address.rpartition("#")
    if not database or not table:
        needed = "the table's name follows the address"
        raise InputError(address, "names no table", needed, f"Write {address}#table or {address}#schema.table")
    if kind in ("sqlite", "duckdb"):
        database = database.partition("://")[2]
    kind_option = "" if kind == "duckdb" else f"TYPE {kind}, "
    connection.execute(f"ATTACH {sql_text(database)} AS source ({kind_option}READ_ONLY)")
    return ".".join(map(identifier, ("source", *table.split("."))))


def lacking_extension(error: Exception) -> str | None:
    """Return the extension that DuckDB says it lacks."""
    found = re.search(r"INSTALL (\w+)", str(error))
    return found.group(1) if found else None
