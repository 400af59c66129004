"""Which files the page may read: those that the user named when the program was started, and those dropped on the page.

A path counts as named if it is one of the files named on the command line, or lies inside a folder named there, after
all links are followed; without any name, the folder is the one in which the program was started. Addresses of other
machines are not read.
"""

import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from truecount.errors import InputError
from truecount.reading.locate import COMPRESSED, DELIMITERS, RECORDS, TABLES, ending, files_meant, is_address

MOST_LISTED = 200
MOST_DEPTH = 3
MOST_UPLOAD = 256 * 2**20
"""Bytes of a file that is dropped; larger ones are read where they lie."""
MOST_UPLOADS = 8
"""Files that are kept at once; the oldest makes room."""
UPLOAD = "upload:"
"""How the page names a file that was dropped."""
READABLE = (*DELIMITERS, *RECORDS, *TABLES)


@dataclass(frozen=True, slots=True)
class Named:
    """What the user named: files and folders, as typed and with all links followed."""

    typed: tuple[str, ...]
    places: tuple[Path, ...]

    @classmethod
    def of(cls, typed: Sequence[str]) -> "Named":
        """Check what was named on the command line; nothing stands for the current folder."""
        for name in typed:
            if is_address(name) or not Path(name).exists():
                found = "is an address" if is_address(name) else "does not exist"
                raise InputError(name, found, "a file or a folder on this machine is needed", "Check the spelling")
        names = tuple(typed) or (".",)
        return cls(names, tuple(Path(name).resolve() for name in names))

    @property
    def first_file(self) -> str | None:
        """The file that is opened at once."""
        return next((name for name in self.typed if Path(name).is_file()), None)

    def allowed(self, typed: str) -> str:
        """Return a path that may be read; refuse every other, also behind a pattern or a link."""
        remedy = "Start truecount app with the name of that file or of its folder, or drop the file on the page"
        if is_address(typed) or "\0" in typed:
            raise InputError(f"{typed!r:.200}", "is no file of this machine", "only files here are read", remedy)
        files = files_meant(Path(typed)) if typed.strip() else []
        if not files or not all(map(self._holds, [*files, Path(typed)] if Path(typed).exists() else files)):
            needed = f"only what was named at the start is read: {', '.join(map(str, self.places))}"
            raise InputError(f"{typed!r:.200}", "is not among the files of this session", needed, remedy)
        return typed

    def _holds(self, path: Path) -> bool:
        real = path.resolve()
        return any(real == place or (place.is_dir() and real.is_relative_to(place)) for place in self.places)

    def listed(self) -> list[str]:
        """Return files that may be opened, as they would be typed, the nearest first."""
        found: list[str] = []
        for name, place in zip(self.typed, self.places, strict=True):
            found += [name] if place.is_file() else [str(each) for each in _readable(Path(name))]
        return found[:MOST_LISTED]


def _readable(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Walk through a folder, its own files first; what is hidden or may not be read is left out."""
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    visible = [entry for entry in entries if not entry.name.startswith((".", "_"))]
    yield from (entry for entry in visible if entry.is_file() and _is_readable(entry))
    if depth < MOST_DEPTH:
        for entry in visible:
            if entry.is_dir() and not entry.is_symlink():
                yield from _readable(entry, depth + 1)


def _is_readable(path: Path) -> bool:
    kind, is_compressed = ending(path)
    return kind in READABLE and not (is_compressed and kind in TABLES)


@dataclass(slots=True)
class Uploads:
    """Files that were dropped on the page, in a folder that only this user may read and that goes with the program."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="truecount-app-")))
    _names: dict[str, Path] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def begin(self, name: str) -> tuple[str, Path]:
        """Return what the page calls a new upload, and where its bytes go: under a name of ours, with its ending."""
        kind, is_compressed = ending(Path(Path(name).name))
        suffix = Path(name).suffix.lower() if is_compressed else ""
        if kind not in READABLE or (is_compressed and suffix not in COMPRESSED):
            needed = f"the ending says what is inside: {', '.join(READABLE)}"
            raise InputError(f"{Path(name).name!r:.100}", f"ends in {kind!r}", needed, "Rename or convert it")
        key = secrets.token_hex(8)
        path = self.folder / f"{key}{kind}{suffix}"
        with self._lock:
            self._names[key] = path
            oldest = list(self._names)[:-MOST_UPLOADS]
        for each in oldest:
            self.forget(each)
        return f"{UPLOAD}{key}/{Path(name).name}", path

    def path(self, place: str) -> str:
        """Return where an upload lies."""
        key = place.removeprefix(UPLOAD).partition("/")[0]
        with self._lock:
            path = self._names.get(key)
        if path is None or not path.is_file():
            raise InputError(
                "file", "is no longer here", "files that are dropped are kept for a while", "Drop it again"
            )
        return str(path)

    def forget(self, place: str) -> None:
        """Delete an upload; one that is gone already is no error."""
        with self._lock:
            path = self._names.pop(place.removeprefix(UPLOAD).partition("/")[0], None)
        if path is not None:
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Delete all of them."""
        shutil.rmtree(self.folder, ignore_errors=True)
