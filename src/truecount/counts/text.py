"""Files of text: their column names, what separates them, and the line where one goes wrong."""

import csv
import gzip
import json
import zlib
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, closing
from itertools import chain
from pathlib import Path

from truecount.counts.duck import Place, connect, literal
from truecount.errors import InputError

DELIMITERS = {".csv": ",", ".tsv": "\t"}
BROKEN = (UnicodeDecodeError, csv.Error, zlib.error, EOFError, OSError)
"""What reading a file as text may end in that is none, or only half of one."""
UTF_8 = "utf-8-sig"
FETCHED = 1000
"""Lines that DuckDB hands over at a time."""
LINES = """FROM read_csv({path}, columns={{'line': 'VARCHAR'}}, delim='\x01', quote='', escape='', header=false,
    auto_detect=false, hive_partitioning=false)"""


def open_text(path: Place) -> AbstractContextManager[Iterator[str]]:
    """Give the lines of a text file, compressed or not, one after the other; DuckDB complains of those elsewhere."""
    if isinstance(path, str) or path.suffix.lower() == ".zst":
        return closing(_lines(path))
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding=UTF_8, newline="")
    return path.open(encoding=UTF_8, newline="")


def _lines(path: Place) -> Generator[str, None, None]:
    """Let DuckDB read the lines that Python 3.11 cannot fetch or decompress."""
    import duckdb

    try:
        with connect(extensions=isinstance(path, str)) as connection:
            found = connection.execute(LINES.format(path=literal(path)))
            while rows := found.fetchmany(FETCHED):
                yield from (f"{line or ''}\n" for (line,) in rows)
    except duckdb.Error as error:
        if isinstance(path, str) and not isinstance(error, duckdb.InvalidInputException):
            raise
        raise OSError(str(error).splitlines()[0]) from error


def header(path: Place) -> tuple[list[str], str]:
    """Give the column names of a CSV or TSV file and what separates them."""
    try:
        names, delimiter, first = _header(path)
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


def _header(path: Place) -> tuple[list[str], str, str]:
    with open_text(path) as stream:
        first = next(stream, "")
        delimiter = _delimiter(path, first)
        return next(csv.reader(chain([first], stream), delimiter=delimiter)), delimiter, first


def _delimiter(path: Place, first_line: str) -> str:
    """Spreadsheets in half of Europe write CSV with semicolons."""
    usual = "\t" if ".tsv" in Path(path).name.lower() else ","
    return next((sign for sign in (usual, ";", "\t") if sign in first_line), usual)


def bad_line(path: Place) -> str | None:
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
