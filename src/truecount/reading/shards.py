"""What someone typed becomes the files that are meant: one, all that match a pattern, or all in a folder."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from itertools import islice
from os import PathLike
from pathlib import Path, PurePath, PurePosixPath
from typing import NoReturn
from urllib.parse import urlsplit

from truecount.errors import InputError
from truecount.reading.duck import Place
from truecount.reading.paths import existing_file
from truecount.reading.text import BROKEN, DELIMITERS, first_sign, open_text

LINES = (".jsonl", ".ndjson")
ARRAY = ".json"
"""A JSON array of records."""
RECORDS = (*LINES, ARRAY)
TABLES = (".parquet", ".pq")
COMPRESSED = (".gz", ".zst")


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
    """Give what all files hold, by their endings."""
    kinds = dict.fromkeys(map(kind, files))
    if len(kinds) > 1:
        found = f"holds files that end in {' and in '.join(kinds)}"
        raise InputError(name, found, "shards of one table are of one kind", "Write a pattern such as 'data/*.parquet'")
    return next(iter(kinds))


def kind(path: Place) -> str:
    """Give the ending that says what a file holds, whether or not it is compressed."""
    found, is_compressed = ending(path)
    if found in DELIMITERS or found in LINES or (found in TABLES and not is_compressed):
        return found
    if found == ".json":
        return _kind_of_json(path)
    known = ", ".join((*DELIMITERS, *RECORDS, *TABLES))
    raise InputError(
        str(path),
        f"ends in {_name(path).suffix!r}",
        f"the ending says what is inside: {known}; text also as {' or '.join(COMPRESSED)}",
        "Rename or convert it",
    )


def ending(path: Place) -> tuple[str, bool]:
    """Give the last ending of a file's name, in lower case, but for that of a compressed file, and whether it is one.

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
    """Whether a file is one JSON object, such as `truecount counts` writes, and no table."""
    return path.suffix.lower() == ".json" and first_sign(path) == "{" and not holds_lines(path)
