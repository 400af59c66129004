"""A progress bar for what takes more than a moment, and none where nobody is looking."""

import sys
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TypeVar

Item = TypeVar("Item")
PATIENCE = 2.0
"""Seconds of work before a bar appears."""


def track(items: Iterable[Item], *, total: int, show: bool | None = None) -> Iterator[Item]:
    """Pass `items` on; after two seconds show on stderr how many of `total` are done, if it is a terminal.

    Parameters
    ----------
    items
        What is worked through.
    total
        How many there will be.
    show
        True shows the bar at once, False never, None after two seconds and only in a terminal.
    """
    if show is False or (show is None and not sys.stderr.isatty()):
        yield from items
        return
    begin, done, bar = monotonic(), 0, None
    try:
        for item in items:
            if bar is None and (show or monotonic() - begin > PATIENCE):
                bar = _Bar(total, done)
            yield item
            done += 1
            if bar is not None:
                bar.advance()
    finally:
        if bar is not None:
            bar.close()


class _Bar:
    """Rich's progress bar on stderr, gone when it is done."""

    def __init__(self, total: int, done: int) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._progress = Progress(console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task("inferring", total=total, completed=done)
        self._progress.start()

    def advance(self) -> None:
        """Count one more."""
        self._progress.advance(self._task)

    def close(self) -> None:
        """Take the bar away."""
        self._progress.stop()
