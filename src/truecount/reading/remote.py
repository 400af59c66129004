"""Addresses: files in a cloud or on the web, and tables of databases, by extensions of DuckDB that the user has."""

import re
from glob import has_magic
from pathlib import Path
from urllib.parse import urlsplit

from truecount.errors import InputError
from truecount.reading.columns import Columns
from truecount.reading.duck import Connection, Place, identifier, sql_text, without_pattern
from truecount.reading.query import Relation, of_table
from truecount.reading.shards import Shards, files_meant, one_kind

DATABASES = {"postgres": "postgres", "postgresql": "postgres", "mysql": "mysql", "sqlite": "sqlite", "duckdb": "duckdb"}
"""What an address begins with, and DuckDB's type of such a database."""

LOGS = (".wal", "-wal", "-journal")
"""What a database keeps beside its file, by the ending that this has."""


def is_address(path: object) -> bool:
    """Whether this is an address such as ``s3://bucket/runs.parquet`` or ``postgres://host/database#runs``.

    >>> is_address("s3://bucket/*.parquet"), is_address("runs.csv"), is_address("C:/runs.csv")
    (True, False, False)
    """
    return isinstance(path, str) and re.match(r"[a-z][a-z0-9+.-]+://", path, re.IGNORECASE) is not None


def is_database(address: str) -> bool:
    """Whether an address leads to a table of a database."""
    return urlsplit(address).scheme.lower() in DATABASES


def local_path(address: str) -> str | None:
    """Return the path on this machine that an address leads to; None where it leads elsewhere.

    >>> local_path("file:///data/runs.csv"), local_path("duckdb://runs.db#main.runs"), local_path("s3://bucket/runs.csv")
    ('/data/runs.csv', 'runs.db', None)
    """
    scheme, _, rest = address.partition("://")
    if scheme.lower() == "file":
        return re.sub(r"^localhost(?=/)", "", rest)
    database, has_table, _ = rest.rpartition("#")
    local = DATABASES.get(scheme.lower()) in ("duckdb", "sqlite")
    return (database if has_table else rest) if local else None


def places_read(path: str) -> list[Path]:
    """Return the files that are read where this is named, and the folder if it is one; none of another machine."""
    if not is_address(path):
        return [*files_meant(path), *([Path(path)] if Path(path).is_dir() else [])]
    local = local_path(path)
    if local is None:
        return []
    logs = [Path(f"{local}{ending}") for ending in LOGS] if is_database(path) else []
    return [*files_meant(local), *logs]


def table_at(connection: Connection, address: str, columns: Columns) -> Relation:
    """Give the table of a database, of which DuckDB fetches only the columns that are read."""
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
    """Open a database for reading, and give its table's name in SQL."""
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
    """Give the extension that DuckDB says it lacks."""
    found = re.search(r"INSTALL (\w+)", str(error))
    return found.group(1) if found else None
