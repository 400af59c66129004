"""Files of text: their column names, what separates them, and the line where one goes wrong."""

import csv
import gzip
import json
import re
import zlib
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, closing
from functools import partial
from io import SEEK_CUR, SEEK_END, TextIOBase
from itertools import chain
from pathlib import Path
from typing import IO

from truecount.errors import InputError
from truecount.reading.duck import Place, connect, literal

DELIMITERS = {".csv": ",", ".tsv": "\t"}
BROKEN = (UnicodeDecodeError, csv.Error, zlib.error, EOFError, OSError)
"""What reading a file as text may end in that is none, or only half of one."""
UTF_8 = "utf-8-sig"
CLOSING = re.compile(r'[^"]*(?:""[^"]*)*"(?!")')
"""The rest of a quoted field, in which a quotation mark is doubled."""
CHUNK = 1 << 20
"""Bytes, or characters, that are read at a time."""
ZSTD, SKIPPABLE, CUT_OFF = 0xFD2FB528, 0x184D2A5, "the file ended before the end of its stream"
"""How frames of zstd begin, and those that hold no data, whose last four bits are free."""
FETCHED = 1000
"""Lines that DuckDB hands over at a time."""
LINES = """FROM read_csv({path}, columns={{'line': 'VARCHAR'}}, delim='\x01', quote='', escape='', header=false,
    auto_detect=false, hive_partitioning=false)"""


def open_text(path: Place) -> AbstractContextManager[Iterator[str]]:
    """Return the lines of a text file, compressed or not, one after the other; DuckDB complains of those elsewhere."""
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


def require_whole(path: Place) -> None:
    """Refuse a compressed file on disk that is cut off or, of gzip, has a wrong checksum: DuckDB looks at neither."""
    suffix = "" if isinstance(path, str) else path.suffix.lower()
    if isinstance(path, str) or suffix not in (".gz", ".zst") or not path.is_file():
        return
    try:
        stream: IO[bytes]
        with gzip.open(path) if suffix == ".gz" else path.open("rb") as stream:  # type: ignore[assignment]
            if suffix == ".zst":
                _walk_zstd(stream)
            while stream.read(CHUNK):
                pass
    except (EOFError, OSError, zlib.error) as error:
        found, needed = f"cannot be read ({error})", f"it must be a whole {'gzip' if suffix == '.gz' else 'zstd'} file"
        raise InputError(str(path), found, needed, "Fetch it again, or write it again") from error


def _walk_zstd(stream: IO[bytes]) -> None:
    """Go from block to block of all frames to the end (RFC 8878), without decompressing; its checksum DuckDB checks."""
    size = stream.seek(0, SEEK_END)
    stream.seek(0)
    while stream.tell() < size:
        magic = _number(stream, 4)
        if magic >> 4 == SKIPPABLE:
            stream.seek(_number(stream, 4), SEEK_CUR)
        elif magic == ZSTD:
            _walk_frame(stream)
        else:
            raise EOFError("no zstd frame where one must begin")
    if stream.tell() > size:
        raise EOFError(CUT_OFF)


def _walk_frame(stream: IO[bytes]) -> None:
    about = _number(stream, 1)
    is_single = bool(about & 0x20)
    length = (is_single, 2, 4, 8)[about >> 6]
    stream.seek((not is_single) + (0, 1, 2, 4)[about & 3] + length, SEEK_CUR)
    is_last = False
    while not is_last:
        block = _number(stream, 3)
        is_last, is_repeated = bool(block & 1), block >> 1 & 3 == 1
        stream.seek(1 if is_repeated else block >> 3, SEEK_CUR)
    if about & 4:
        _number(stream, 4)


def _number(stream: IO[bytes], size: int) -> int:
    read = stream.read(size)
    if len(read) < size:
        raise EOFError(CUT_OFF)
    return int.from_bytes(read, "little")


def header(path: Place) -> tuple[list[str], str]:
    """Return the column names of a CSV or TSV file and what separates them."""
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


def ends_in_quotes(path: Place) -> bool:
    """Whether the last field of a CSV or TSV file is quoted and never closed, which one thread of DuckDB leaves out."""
    delimiter = re.escape(header(path)[1])
    opening, is_open = re.compile(f'(?:^|{delimiter})"'), False
    try:
        with open_text(path) as stream:
            for line in stream:
                at = 0
                while found := (CLOSING.match if is_open else opening.search)(line, at):
                    at, is_open = found.end(), not is_open
    except BROKEN:
        return True
    return is_open


def first_sign(path: Place) -> str:
    """Return the first sign of a text; nothing where there is none, or where the text is broken, as DuckDB will say."""
    try:
        with open_text(path) as stream:
            parts = iter(partial(stream.read, CHUNK), "") if isinstance(stream, TextIOBase) else stream
            return next((part.strip()[0] for part in parts if part.strip()), "")
    except BROKEN:
        return ""


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
    except (ValueError, RecursionError):
        return None
    return None
