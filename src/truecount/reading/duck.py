"""DuckDB: a connection, and how strings and names are written in its SQL."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

Connection: TypeAlias = Any
"""Of DuckDB, which is only imported where it is needed."""
Place: TypeAlias = Path | str
"""A file on disk, or an address, which is a string."""


def connect(*, extensions: bool = False) -> Connection:
    """Open a database in memory, which installs nothing, and loads only what the user has installed and needs."""
    import duckdb

    config: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": str(extensions).lower(),
    }
    connection = duckdb.connect(":memory:", config=config)
    connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false; SET TimeZone = 'UTC'")
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
