"""Files become groups of equal rows: DuckDB streams them, and only the groups reach Python."""

import csv
import gzip
import json
import re
import zlib
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, TypeAlias

from truecount._wording import nearest, quoted
from truecount.counts.paths import existing_file
from truecount.errors import InputError

Group: TypeAlias = tuple[Any, ...]
"""The values of the columns asked for, then how many rows have them."""

DELIMITERS = {".csv": ",", ".tsv": "\t"}
RECORDS = (".jsonl", ".ndjson")
TABLES = (".parquet", ".pq")
OBJECTS = "read_ndjson_objects($path, hive_partitioning=false)"
KEYS = "(SELECT unnest(json_keys(json)) AS key FROM read_ndjson_objects($path, hive_partitioning=false))"
MOST_GROUPS = 1_000_000
BROKEN = (UnicodeDecodeError, csv.Error, zlib.error, EOFError, OSError)
"""What reading a file as text may end in that is none, or only half of one."""


def grouped(path: Path, columns: Sequence[str]) -> list[Group]:
    """Give each combination of values in `columns` with the number of rows that have it.

    Values come as they are written: text from CSV and TSV, any plain value from JSON and Parquet, None where missing.
    """
    existing_file(path)
    ending = kind(path)
    read = _text if ending in DELIMITERS else _records if ending in RECORDS else _table
    import duckdb

    try:
        groups = read(path, columns)
    except duckdb.Error as error:
        raise InputError(
            str(path),
            f"cannot be read ({_reason(error, path)})",
            f"it must be a whole {ending} file",
            "Mend it, or write it anew",
        ) from error
    if len(groups) > MOST_GROUPS:
        raise InputError(
            str(path),
            f"has over {MOST_GROUPS:,} combinations of {quoted(columns)}",
            "these must be columns of class names",
            "Choose other columns",
        )
    return groups


def kind(path: Path) -> str:
    """Give the ending that says what a file holds, whether or not it is compressed."""
    endings = [ending.lower() for ending in path.suffixes]
    compressed = endings[-1:] == [".gz"]
    found = "".join(endings[-2:-1] if compressed else endings[-1:])
    if found in DELIMITERS or found in RECORDS or (found in TABLES and not compressed):
        return found
    if found == ".json":
        if holds_lines(path):
            return ".jsonl"
        needed = "a table in JSON has an object on each line"
        raise InputError(str(path), "is not JSON Lines", needed, "Write it so, or as CSV or Parquet")
    known = ", ".join((*DELIMITERS, *RECORDS, *TABLES))
    raise InputError(
        str(path),
        f"ends in {path.suffix!r}",
        f"the ending says what is inside: {known}; text also as .gz",
        "Rename or convert it",
    )


def holds_lines(path: Path) -> bool:
    """Whether a file is JSON Lines, whatever its ending: its first two lines are JSON objects."""
    try:
        with open_text(path) as stream:
            first = [json.loads(line) for line in islice(filter(str.strip, stream), 2)]
    except (*BROKEN, json.JSONDecodeError):
        return False
    return len(first) == 2 and all(isinstance(record, dict) for record in first)


def require_column(path: Path, columns: Sequence[str], wanted: str) -> int:
    """Give the position of a column, or say which there are."""
    found = [position for position, name in enumerate(columns) if name == wanted]
    if len(found) > 1:
        raise InputError(
            str(path),
            f"has {len(found)} columns named {wanted!r}",
            "each name must stand for one column",
            "Rename the others",
        )
    if not found:
        meant = nearest(wanted, columns)
        remedy = f"Perhaps you meant {meant!r}" if meant else "Choose one of these"
        raise InputError(str(path), f"has no column {wanted!r}", f"its columns are {quoted(columns)}", remedy)
    return found[0]


def open_text(path: Path) -> IO[str]:
    """Open a text file, compressed or not."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def header(path: Path) -> tuple[list[str], str]:
    """Give the column names of a CSV or TSV file and what separates them."""
    try:
        with open_text(path) as stream:
            first = stream.readline()
            delimiter = _delimiter(path, first)
            names = next(csv.reader(chain([first], stream), delimiter=delimiter))
    except (*BROKEN, StopIteration) as error:
        raise InputError(
            str(path), f"cannot be read ({error})", "it must be text in UTF-8", "Save it as CSV UTF-8"
        ) from error
    if not first.strip():
        raise InputError(
            str(path),
            "starts with an empty line",
            "the first line must name the columns",
            "Remove empty lines above it",
        )
    return [name.strip() for name in names], delimiter


def _delimiter(path: Path, first_line: str) -> str:
    """Spreadsheets in half of Europe write CSV with semicolons."""
    usual = DELIMITERS[kind(path)]
    return next((sign for sign in (usual, ";", "\t") if sign in first_line), usual)


def _text(path: Path, columns: Sequence[str]) -> list[Group]:
    names, delimiter = header(path)
    wanted = [f"c{require_column(path, names, column)}" for column in columns]
    source = """read_csv($path, columns=$columns, delim=$delimiter, header=true, quote='"', escape='"', comment='',
        auto_detect=false, hive_partitioning=false)"""
    types = {f"c{position}": "VARCHAR" for position in range(len(names))}
    return _groups(wanted, source, path=_literal(path), columns=types, delimiter=delimiter)


def _records(path: Path, columns: Sequence[str]) -> list[Group]:
    literal = _literal(path)
    pointers = {
        f"p{position}": "/" + column.replace("~", "~0").replace("/", "~1") for position, column in enumerate(columns)
    }
    groups = _groups([f"json_extract(json, ${name})::VARCHAR" for name in pointers], OBJECTS, path=literal, **pointers)
    for position, column in enumerate(columns):
        if groups and all(group[position] is None for group in groups):
            keys = _groups(["key"], KEYS, path=literal)
            require_column(path, sorted(key for key, _ in keys), column)
    return [(*(value if value is None else json.loads(value) for value in values), rows) for *values, rows in groups]


def _table(path: Path, columns: Sequence[str]) -> list[Group]:
    source = "read_parquet($path, hive_partitioning=false)"
    names = [
        column[0] for column in _connection().execute(f"FROM {source} LIMIT 0", {"path": _literal(path)}).description
    ]
    for column in columns:
        require_column(path, names, column)
    quoted = ['"' + column.replace('"', '""') + '"' for column in columns]
    return _groups(quoted, source, path=_literal(path))


def _groups(expressions: Sequence[str], source: str, **given: Any) -> list[Group]:
    """Group by expressions that are our own or quoted; whatever was typed comes as a parameter.

    DuckDB says by a RuntimeError, which its own errors are not, that Ctrl-C was pressed.
    """
    selected = ", ".join(expressions)
    query = f"SELECT {selected}, count(*) FROM {source} GROUP BY ALL LIMIT {MOST_GROUPS + 1}"  # noqa: S608
    try:
        groups: list[Group] = _connection().execute(query, given).fetchall()
    except RuntimeError as error:
        if "interrupt" not in str(error):
            raise
        raise KeyboardInterrupt from error
    return groups


def _connection() -> Any:
    """Open a database in memory that fetches nothing from anywhere."""
    import duckdb

    return duckdb.connect(
        ":memory:", config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    )


def _literal(path: Path) -> str:
    """Keep DuckDB from taking a file's name for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))


def _reason(error: Exception, path: Path) -> str:
    """Give the gist of DuckDB's message."""
    bad_line = _bad_line(path) if kind(path) in RECORDS else None
    if bad_line:
        return bad_line
    text = str(error).partition("Error: ")[2].split("\nPossible")[0].split("\n\nLINE")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "; ".join(dict.fromkeys([lines[0], lines[-1]]))[:300]


def _bad_line(path: Path) -> str | None:
    """Find the first line that is not JSON; DuckDB's own line numbers are one too high."""
    try:
        with open_text(path) as stream:
            problems = ((number, _problem(line)) for number, line in enumerate(stream, 1) if line.strip())
            return next((f"line {number}: {problem}" for number, problem in problems if problem), None)
    except BROKEN:
        return None


def _problem(line: str) -> str | None:
    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        return f"{error.msg} (character {error.colno})"
    return None
