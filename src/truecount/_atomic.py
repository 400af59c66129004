"""Files that are whole or not there at all."""

import errno
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from secrets import token_hex
from typing import IO

from truecount.errors import InputError

try:
    import fcntl
except ImportError:  # no locks here, so that drafts of killed processes stay
    fcntl = None  # type: ignore[assignment]

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What a disk says that cannot take any more."""
DRAFTS = ".truecount-*.tmp"
"""What files are called while they are written."""


@contextmanager
def whole_file(path: str | PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for writing that takes its name, and another's place, only when it is whole.

    It is written under another name in the same folder. Whatever interrupts that leaves what stood there before, and
    nothing else; what a killed process left is removed by the next one that writes to the folder. A pipe or a device is
    written to straight away.
    """
    require_writable(path)
    if _is_device(path):
        with Path(path).open("wb") as stream:
            yield stream
        return
    with ExitStack() as drafts:
        draft = drafts.enter_context(_drafted(path))
        try:
            with draft.path.open("r+b") as stream:
                yield stream
        except OSError as error:
            if error.errno in FULL:
                raise _unwritable(draft.asked, error) from error
            raise
        _take_places([draft])


def write_whole(contents: Mapping[str, bytes]) -> None:
    """Write several files, all or none, in the order given; an error names the file.

    All are written under other names first, and take their places only when every one is whole. Where the last step
    fails, files that already took theirs make way for what stood there before.
    """
    for path in contents:
        require_writable(path)
    devices = [path for path in contents if _is_device(path)]
    with ExitStack() as drafts:
        made = [drafts.enter_context(_drafted(path)) for path in contents if path not in devices]
        for draft in made:
            with _blamed_on(draft.asked):
                draft.path.write_bytes(contents[draft.asked])
        for path in devices:
            with _blamed_on(path):
                Path(path).write_bytes(contents[path])
        _take_places(made)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A file that is being written: what it was asked for as, where it will stand, and where it stands now."""

    asked: str
    target: Path
    path: Path


@contextmanager
def _drafted(path: str | PathLike[str]) -> Iterator[_Draft]:
    """Make an empty draft, locked as long as this process lives, and remove it afterwards."""
    target = Path(os.path.realpath(path))
    _remove_stale_drafts(target.parent)
    with _blamed_on(str(path)):
        draft, lock = _new_draft(target)
    try:
        yield _Draft(str(path), target, draft)
    finally:
        draft.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


def _new_draft(target: Path) -> tuple[Path, int | None]:
    """Make an empty file and lock it; another process may have taken it for a stale one before it was locked."""
    while True:
        draft = target.with_name(DRAFTS.replace("*", token_hex(8)))
        lock = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        if fcntl is None:
            os.close(lock)
            return draft, None
        with suppress(OSError):  # it is being removed as a stale one, or this folder knows no locks
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if draft.exists():
            return draft, lock
        os.close(lock)


def _remove_stale_drafts(folder: Path) -> None:
    """Remove drafts of this user that no living process has locked."""
    if fcntl is None:
        return
    for draft in folder.glob(DRAFTS):
        with suppress(OSError):  # it is locked, gone by now, or another user's
            lock = os.open(draft, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(lock).st_uid == os.getuid():
                    draft.unlink()
            finally:
                os.close(lock)


def _take_places(drafts: list[_Draft]) -> None:
    """Let every draft take its place, or none."""
    with ExitStack() as keeping, ExitStack() as undoing:
        for draft in drafts:
            with _blamed_on(draft.asked):
                if draft.target.exists():
                    draft.path.chmod(stat.S_IMODE(draft.target.stat().st_mode))
                if draft is not drafts[-1]:
                    undoing.callback(_put_back, draft.target, _kept(draft.target, keeping))
                draft.path.replace(draft.target)
        undoing.pop_all()


def _kept(target: Path, keeping: ExitStack) -> Path | None:
    """Return what stands there a second name until all is done; None where nothing does."""
    if not target.exists():
        return None
    second = target.with_name(DRAFTS.replace("*", token_hex(8)))
    keeping.callback(second.unlink, missing_ok=True)
    try:
        os.link(target, second)
    except OSError:  # a folder without links
        shutil.copy2(target, second)
    return second


def _put_back(target: Path, before: Path | None) -> None:
    if before is None:
        target.unlink(missing_ok=True)
    else:
        before.replace(target)


@contextmanager
def _blamed_on(path: str) -> Iterator[None]:
    """Name the file that was asked for, whatever is wrong with its draft."""
    try:
        yield
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: str, error: OSError) -> InputError:
    found, remedy = f"cannot be written: {error.strerror}", "Choose another folder"
    return InputError(path, found, "a file is to be written, and none was", remedy)


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
