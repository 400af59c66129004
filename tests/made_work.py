"""Work for executors, in a module that their processes can import."""

import os
from collections.abc import Sequence
from pathlib import Path


def squares(numbers: Sequence[int]) -> list[int]:
    """Square numbers; 7 is an error, 13 kills the process."""
    if 7 in numbers:
        raise KeyError("seven")
    if 13 in numbers:
        os._exit(1)
    return [number * number for number in numbers]


def fragile(piece: tuple[str, Sequence[int]]) -> list[int]:
    """Square numbers; the first process that sees 3 is killed, and leaves a file by which the next one knows."""
    folder, numbers = piece
    seen = Path(folder) / "seen"
    if 3 in numbers and not seen.exists():
        seen.touch()
        os._exit(1)
    return [number * number for number in numbers]
