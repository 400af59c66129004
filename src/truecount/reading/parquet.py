"""What the columns of Parquet files are called and which types they have: DuckDB casts shards to the first one's."""

import re
from collections import Counter as Sums
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from truecount._wording import quoted
from truecount.errors import InputError
from truecount.reading.columns import Columns, require_few_columns, require_in_every_shard
from truecount.reading.duck import Connection, Place, identifier, literals
from truecount.reading.shards import Shards, folder_columns

Path: TypeAlias = tuple[str, ...]
"""The name of a column, and of what is within it."""
Schema: TypeAlias = list[tuple[Path, str]]
"""The columns of a file, and what is within them, with their types."""
NUMBERS = ("tinyint", "smallint", "integer", "bigint", "hugeint", "float", "double", "decimal")
"""DuckDB's types of numbers, but for those that begin with a ``u`` because they have no sign."""


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


def _require_distinct_names(file: str, paths: list[Path], wanted: Sequence[str]) -> None:
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


def _below(nodes: Iterator[tuple[str, int, str]], children: int, above: Path = ()) -> Iterator[tuple[Path, str]]:
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
    return bool(relation.filter(f"CAST({identifier(column)} AS VARCHAR) <> 'nan'").limit(1).fetchall())


def _alike(paths: Sequence[Path]) -> Iterator[list[str]]:
    """Give the names that are one but for their case, together."""
    folded = [tuple(map(str.casefold, path)) for path in paths]
    for each, number in Sums(folded).items():
        if number > 1:
            yield [".".join(path) for path, name in zip(paths, folded, strict=True) if name == each]


def _is_concerned(column: str, name: str) -> bool:
    """Whether a column is one of that name, lies within it, or may be what DuckDB calls it instead: ``name_1``."""
    return re.match(re.escape(name) + r"(_\d+)*(\.|$)", column, re.IGNORECASE) is not None
