"""Files: which are meant by what someone typed, of what kind they are, whether they are whole, and text opened.

One file, all of a pattern, all in a folder, or an address.
"""

import csv
import gzip
import json
import os
import re
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from functools import partial
from glob import glob, has_magic
from io import SEEK_CUR, SEEK_END, TextIOBase
from itertools import chain, islice
from os import R_OK, PathLike, access
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, NoReturn
from urllib.parse import urlsplit

from truecount._wording import nearest
from truecount.errors import InputError
from truecount.reading.duck import Place, connect, literal

LINES = (".jsonl", ".ndjson")
ARRAY = ".json"
"""A JSON array of records."""
RECORDS = (*LINES, ARRAY)
TABLES = (".parquet", ".pq")
COMPRESSED = (".gz", ".zst")
DATABASES = {"postgres": "postgres", "postgresql": "postgres", "mysql": "mysql", "sqlite": "sqlite", "duckdb": "duckdb"}
"""What an address begins with, and DuckDB's type of such a database."""

LOGS = (".wal", "-wal", "-journal")
"""What a database keeps beside its file, by the ending that this has."""
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
TEXT_LINES = """FROM read_csv({path}, columns={{'line': 'VARCHAR'}}, delim='\x01', quote='', escape='', header=false,
    auto_detect=false, hive_partitioning=false)"""


@dataclass(frozen=True, slots=True)
class Shards:
    """Files of one kind that are read as one table.

    Parameters
    ----------
    name
        What was typed.
    kind
        The ending that says what they hold.
    files
        At least one, in order.
    is_partitioned
        Whether folders such as ``week=3`` are columns.
    """

    name: str
    kind: str
    files: tuple[Place, ...]
    is_partitioned: bool = False


def find_shards(path: str | PathLike[str]) -> Shards:
    """Find the files of a path, a pattern such as ``runs/*.parquet``, or a folder; a file's own name is no pattern."""
    name, place = str(path), Path(path)
    files = files_meant(path)
    if files == [place]:
        return Shards(name, kind(existing_file(place)), (place,))
    if not files:
        found = "holds no files" if place.is_dir() else "matches no file"
        raise InputError(name, found, f"files are needed, seen from {Path.cwd()}", "Check the spelling")
    return Shards(name, one_kind(name, files), tuple(map(existing_file, files)), is_partitioned=True)


def files_meant(path: str | PathLike[str]) -> list[Path]:
    """Return the files in a folder, those that match a pattern, or the path itself, whether or not there is a file.

    A link that leads nowhere is among them, so that it is missed and not left out.
    """
    name, place = str(path), Path(path)
    if place.is_dir():
        return sorted(file for file in _files_below(place) if _is_file_or_lost(file) and not _is_hidden(file, place))
    if has_magic(name) and not place.exists():
        return [Path(match) for match in sorted(glob(name, recursive=True)) if _is_file_or_lost(Path(match))]
    return [place]


def _files_below(folder: Path) -> Iterator[Path]:
    """Walk through a folder, also where a link leads to another one, but into each only once."""
    seen: set[str] = set()
    for above, folders, files in os.walk(folder, followlinks=True, onerror=_refuse_folder):
        place = os.path.realpath(above)
        if place in seen:
            folders.clear()
            continue
        seen.add(place)
        yield from (Path(above, file) for file in files)


def _refuse_folder(error: OSError) -> NoReturn:
    needed = "all files of a table are read"
    raise InputError(str(error.filename), f"may not be read ({error.strerror})", needed, "Change its permissions")


def _is_file_or_lost(path: Path) -> bool:
    return path.is_file() or (path.is_symlink() and not path.exists())


def _is_hidden(file: Path, folder: Path) -> bool:
    """Whether this is a mark that some writer left, such as ``_SUCCESS``, and no data."""
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def folder_columns(file: Place) -> list[str]:
    """Return the columns that folders such as ``week=3`` make.

    >>> folder_columns("runs/week=3/part.csv")
    ['week']
    """
    return re.findall(r"([^/\\=]+)=[^/\\]*[/\\]", str(file))


def one_kind(name: str, files: Iterable[Place]) -> str:
    """Return what all files hold, by their endings."""
    kinds = dict.fromkeys(map(kind, files))
    if len(kinds) > 1:
        found = f"holds files that end in {' and in '.join(kinds)}"
        raise InputError(name, found, "shards of one table are of one kind", "Write a pattern such as 'data/*.parquet'")
    return next(iter(kinds))


def kind(path: Place) -> str:
    """Return the ending that says what a file holds, whether or not it is compressed."""
    found, is_compressed = ending(path)
    if found in DELIMITERS or found in LINES or (found in TABLES and not is_compressed):
        return found
    if found == ".json":
        return _kind_of_json(path)
    known = ", ".join((*DELIMITERS, *RECORDS, *TABLES, ".eval"))
    raise InputError(
        str(path),
        f"ends in {_name(path).suffix!r}",
        f"the ending says what is inside: {known}; text also as {' or '.join(COMPRESSED)}",
        "Rename or convert it",
    )


def ending(path: Place) -> tuple[str, bool]:
    """Return the last ending of a file's name, in lower case, but for that of a compressed file, and whether it is one.

    >>> ending(Path("Runs.CSV.gz")), ending("https://example.org/runs.jsonl?week=3")
    (('.csv', True), ('.jsonl', False))
    """
    endings = [each.lower() for each in _name(path).suffixes]
    is_compressed = bool(endings) and endings[-1] in COMPRESSED
    return "".join(endings[-2:-1] if is_compressed else endings[-1:]), is_compressed


def _name(path: Place) -> PurePath:
    return PurePosixPath(urlsplit(path).path) if isinstance(path, str) else path


def _kind_of_json(path: Place) -> str:
    if holds_lines(path):
        return LINES[0]
    if first_sign(path) in ("[", ""):
        return ARRAY
    needed = "a table in JSON has an object on each line, or an array of objects"
    raise InputError(str(path), "is no table", needed, "Write it so, or as CSV or Parquet")


def holds_lines(path: Place) -> bool:
    """Whether a file is JSON Lines, whatever its ending: its first two lines are JSON objects."""
    if first_sign(path) != "{":
        return False
    try:
        with open_text(path) as stream:
            first = list(islice(filter(str.strip, stream), 2))
    except BROKEN:
        return False
    return len(first) == 2 and all(map(_is_object, first))


def _is_object(line: str) -> bool:
    """Whether a line is a JSON object, also one that Python cannot hold."""
    try:
        return isinstance(json.loads(line), dict)
    except json.JSONDecodeError:
        return False
    except (ValueError, RecursionError):
        return line.lstrip("\ufeff \t").startswith("{")


def holds_counts(path: Path) -> bool:
    """Whether a file is one JSON object, such as `truecount counts` writes, and neither a table nor a log."""
    if path.suffix.lower() != ".json" or first_sign(path) != "{" or holds_lines(path):
        return False
    from truecount.reading.logs.log import find_log

    return find_log([path]) is None


def is_address(path: object) -> bool:
    """Whether this is an address such as ``s3://bucket/runs.parquet`` or ``postgres://host/database#runs``.

    >>> is_address("s3://bucket/*.parquet"), is_address("runs.csv"), is_address("C:/runs.csv")
    (True, False, False)
    """
    return isinstance(path, str) and re.match(r"[a-z][a-z0-9+.-]+://", path, re.IGNORECASE) is not None


def may_be_log(path: str | PathLike[str]) -> bool:
    """Whether the log of an evaluation tool may be called so: its ending does not say that it is a table.

    >>> may_be_log("logs/*.eval"), may_be_log("runs.csv"), may_be_log("s3://bucket/runs.jsonl")
    (True, False, False)
    """
    suffix = Path(path).suffix.lower()
    return not is_address(path) and (
        suffix in (".eval", ARRAY, LINES[0], "") or has_magic(suffix) or Path(path).is_dir()
    )


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


def existing_file(path: str | PathLike[str]) -> Path:
    """Return the path of a file that exists, may be read and is not empty."""
    file = Path(path)
    if str(file) in ("-", "/dev/stdin") or file.is_relative_to("/dev/fd"):
        needed = "a file is needed, whose ending says what it holds"
        raise InputError(str(file), "is no file on disk", needed, "Save the data first, for instance as data.csv")
    if file.is_dir():
        raise InputError(str(file), "is a folder", "a file is needed", "Name one file inside it")
    if file.is_symlink() and not file.exists():
        found = f"is a link to {str(file.readlink())!r}, which does not exist"
        raise InputError(str(file), found, "a file is needed", "Restore what it leads to, or remove the link")
    if not file.exists():
        raise InputError(str(file), "does not exist", f"a file is needed, seen from {Path.cwd()}", _nearest_file(file))
    if not access(file, R_OK):
        raise InputError(
            str(file), "may not be read", "you need the right to read it", "Change its permissions, or copy it"
        )
    if not file.stat().st_size and file.is_file():
        raise InputError(str(file), "is empty", "it must hold data", "Check how it was written")
    return file


def _nearest_file(file: Path) -> str:
    if not file.parent.is_dir():
        return f"There is no folder {str(file.parent)!r} either"
    neighbours = sorted(file.parent.iterdir(), key=lambda neighbour: neighbour.suffix == file.suffix)
    near = [each for each in neighbours if file.suffix == each.suffix or file.stem.casefold() == each.stem.casefold()]
    by_stem = {neighbour.stem: neighbour.name for neighbour in near}
    meant = nearest(file.stem, by_stem)
    return f"Perhaps you meant {str(file.with_name(by_stem[meant]))!r}" if meant else "Check the spelling"


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
            found = connection.execute(TEXT_LINES.format(path=literal(path)))
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
