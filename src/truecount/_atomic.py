"""Files that are whole or not there at all."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import IO

from truecount.errors import InputError


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its name, and another's place, only when it is whole.

    It is written under another name in the same folder. Whatever interrupts that leaves what stood there before, and
    nothing else. A pipe or a device is written to straight away.
    """
    require_writable(path)
    if _is_device(path):
        with Path(path).open("wb") as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".truecount-{token_hex(8)}.tmp")
    try:
        with _opened(draft, path) as stream:
            yield stream
        if target.exists():
            draft.chmod(stat.S_IMODE(target.stat().st_mode))
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _opened(draft: Path, path: str | PathLike[str]) -> IO[bytes]:
    """Open the draft; where the folder refuses it, the file that was asked for is blamed."""
    try:
        return draft.open("xb")
    except OSError as error:
        found = f"cannot be written: {error.strerror}"
        raise InputError(str(path), found, "a file is to be written", "Choose another folder") from error


def require_writable(path: str | PathLike[str], inputs: Iterable[str | PathLike[str]] = ()) -> None:
    """Refuse a path that cannot become a file, or that is or lies in one of the `inputs`, before any work is done."""
    folder = Path(os.path.realpath(path)).parent
    if Path(path).is_dir():
        raise InputError(str(path), "is a folder", "a file is to be written", "Name a file inside it")
    if _is_device(path):
        return
    if not folder.is_dir():
        raise InputError(str(path), "lies in no folder that exists", "a file is to be written", "Make the folder first")
    if not os.access(folder, os.W_OK):
        raise InputError(str(path), "lies where you may not write", "a file is to be written", "Choose another folder")
    for source in inputs:
        if is_same_file(path, source) or os.path.realpath(path) == os.path.realpath(source):
            needed = "that would destroy the data"
            raise InputError(str(path), "is read and is to be written", needed, "Name another file")
        if Path(source).is_dir() and folder.is_relative_to(os.path.realpath(source)):
            found, needed = f"lies in {str(source)!r}, all of which is read", "it would be data the next time"
            raise InputError(str(path), found, needed, "Choose another folder")


def is_same_file(first: str | PathLike[str], second: str | PathLike[str]) -> bool:
    """Whether two paths lead to one file that exists, by whatever way."""
    return Path(first).is_file() and Path(second).is_file() and Path(first).samefile(second)


def _is_device(path: str | PathLike[str]) -> bool:
    """Whether this is a pipe, a terminal or ``/dev/null``, whose place no file may take."""
    return Path(path).exists() and not Path(path).is_file()
