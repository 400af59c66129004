"""Addresses: files in a cloud or on the web, and tables of databases, by extensions of DuckDB that the user has."""

import re
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from truecount.counts.columns import Columns
from truecount.counts.duck import Connection, identifier, sql_text
from truecount.counts.query import Relation, of_table
from truecount.errors import InputError

DATABASES = {"postgres": "postgres", "postgresql": "postgres", "mysql": "mysql", "sqlite": "sqlite", "duckdb": "duckdb"}
"""What an address begins with, and DuckDB's type of such a database."""
READERS = {
    ".parquet": "read_parquet({})",
    ".pq": "read_parquet({})",
    ".csv": "read_csv({}, header=true, all_varchar=true)",
    ".tsv": "read_csv({}, header=true, all_varchar=true, delim='\t')",
    ".jsonl": "read_json({}, format='newline_delimited')",
    ".ndjson": "read_json({}, format='newline_delimited')",
    ".json": "read_json({})",
}
"""How DuckDB reads what an address of a file ends in."""


def is_address(path: object) -> bool:
    """Whether this is an address such as ``s3://bucket/runs.parquet`` or ``postgres://host/database#runs``.

    >>> is_address("s3://bucket/*.parquet"), is_address("runs.csv"), is_address("C:/runs.csv")
    (True, False, False)
    """
    return isinstance(path, str) and re.match(r"[a-z][a-z0-9+.-]+://", path, re.IGNORECASE) is not None


def relation_at(connection: Connection, address: str, columns: Columns) -> Relation:
    """Give the table at an address, of which DuckDB fetches only the columns that are read."""
    scheme = urlsplit(address).scheme.lower()
    if scheme in DATABASES:
        return of_table(connection, address, _attached(connection, address, DATABASES[scheme]), columns)
    return of_table(connection, address, _reader(address), columns)


def _attached(connection: Connection, address: str, kind: str) -> str:
    """Open a database for reading, and give its table's name in SQL."""
    database, _, table = address.partition("#")
    if not table:
        needed = "the table's name follows the address"
        raise InputError(address, "names no table", needed, f"Write {address}#table or {address}#schema.table")
    if kind in ("sqlite", "duckdb"):
        database = database.partition("://")[2]
    kind_option = "" if kind == "duckdb" else f"TYPE {kind}, "
    connection.execute(f"ATTACH {sql_text(database)} AS source ({kind_option}READ_ONLY)")
    return ".".join(map(identifier, ("source", *table.split("."))))


def _reader(address: str) -> str:
    endings = [ending.lower() for ending in PurePosixPath(urlsplit(address).path).suffixes]
    found = "".join(endings[-2:-1] if endings[-1:] in ([".gz"], [".zst"]) else endings[-1:])
    if found not in READERS:
        needed = f"the ending says what is inside: {', '.join(READERS)}"
        raise InputError(address, f"ends in {found!r}", needed, "Give the address of such a file, or a pattern")
    return READERS[found].format(sql_text(address))


def lacking_extension(error: Exception) -> str | None:
    """Give the extension that DuckDB says it lacks."""
    found = re.search(r"INSTALL (\w+)", str(error))
    return found.group(1) if found else None
