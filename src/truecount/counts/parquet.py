"""Columns of Parquet files that DuckDB takes for one, or calls otherwise: their names differ only in case."""

import re
from collections import Counter as Sums
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from truecount._wording import quoted
from truecount.counts.duck import Connection, Place, literal
from truecount.counts.shards import Shards
from truecount.errors import InputError

Path: TypeAlias = tuple[str, ...]
"""The name of a column, and of what is within it."""


def require_distinct_names(connection: Connection, shards: Shards, wanted: Sequence[str]) -> None:
    """Refuse files in which a wanted column has the name of another, but for its case."""
    for file in shards.files:
        paths = _paths(connection, file)
        if shards.is_partitioned:
            paths += [(key,) for key in re.findall(r"([^/\\=]+)=[^/\\]*[/\\]", str(file)) if (key,) not in paths]
        for alike in _alike(paths):
            if any(_is_concerned(column, alike[0]) for column in wanted):
                found, needed = f"has columns {quoted(alike)}", "DuckDB takes names that differ only in case for one"
                raise InputError(str(file), found, needed, "Rename all but one")


def _paths(connection: Connection, file: Place) -> list[Path]:
    schema = f"SELECT name, coalesce(num_children, 0) FROM parquet_schema({literal(file)})"  # noqa: S608
    nodes = iter(connection.sql(schema).fetchall())
    _, children = next(nodes)
    return list(_below(nodes, children))


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
