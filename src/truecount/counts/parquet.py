"""Columns of Parquet files that DuckDB takes for one, or calls otherwise: their names differ only in case."""

import re
from collections import Counter as Sums
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from truecount._wording import quoted
from truecount.counts.columns import Columns, require_in_every_shard
from truecount.counts.duck import Connection, Place, literals
from truecount.counts.shards import Shards, folder_columns
from truecount.errors import InputError

Path: TypeAlias = tuple[str, ...]
"""The name of a column, and of what is within it."""


def require_columns(connection: Connection, shards: Shards, columns: Columns) -> None:
    """Refuse shards of which some lack a wanted column, or in which one has the name of another but for its case."""
    names = {}
    for file, paths in _paths(connection, shards.files):
        if shards.is_partitioned:
            paths += [(key,) for key in folder_columns(file) if (key,) not in paths]
        names[file] = [path[0] for path in paths if len(path) == 1]
        for alike in _alike(paths):
            if any(_is_concerned(column, alike[0]) for column in columns.wanted):
                found, needed = f"has columns {quoted(alike)}", "DuckDB takes names that differ only in case for one"
                raise InputError(file, found, needed, "Rename all but one")
    require_in_every_shard(names, columns)


def _paths(connection: Connection, files: Sequence[Place]) -> Iterator[tuple[str, list[Path]]]:
    """Give all columns of each file, and what is within them."""
    schema = f"SELECT file_name, name, coalesce(num_children, 0) FROM parquet_schema({literals(files)})"  # noqa: S608
    entries: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for file, *entry in connection.sql(schema).fetchall():
        entries[file].append(tuple(entry))
    for file, ((_, children), *nodes) in entries.items():
        yield file, list(_below(iter(nodes), children))


def _below(nodes: Iterator[tuple[str, int]], children: int, above: Path = ()) -> Iterator[Path]:
    """Walk through a schema, in which the entries of a column follow it."""
    for _ in range(children):
        name, inner = next(nodes)
        yield (*above, name)
        yield from _below(nodes, inner, (*above, name))


def _alike(paths: Sequence[Path]) -> Iterator[list[str]]:
    """Give the names that are one but for their case, together."""
    folded = [tuple(map(str.casefold, path)) for path in paths]
    for each, number in Sums(folded).items():
        if number > 1:
            yield [".".join(path) for path, name in zip(paths, folded, strict=True) if name == each]


def _is_concerned(column: str, name: str) -> bool:
    """Whether a column is one of that name, lies within it, or may be what DuckDB calls it instead: ``name_1``."""
    return re.match(re.escape(name) + r"(_\d+)*(\.|$)", column, re.IGNORECASE) is not None
