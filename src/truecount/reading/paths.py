"""Paths that someone typed, and the files that were perhaps meant."""

from os import R_OK, PathLike, access
from pathlib import Path

from truecount._wording import nearest
from truecount.errors import InputError


def existing_file(path: str | PathLike[str]) -> Path:
    """Give the path of a file that exists, may be read and is not empty."""
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
