"""A progress bar for what takes more than a moment, and none where nobody is looking."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import TypeVar

Item = TypeVar("Item")
PATIENCE = 1.0
"""Seconds of work before a bar appears."""
INTERVAL = 0.2
"""Seconds between two looks at work that reports how far it is."""


def track(items: Iterable[Item], *, total: int, show: bool | None = None) -> Iterator[Item]:
    """Pass `items` on; after a second show on stderr how many of `total` are done, if it is a terminal.

    Parameters
    ----------
    items
        What is worked through.
    total
        How many there will be.
    show
        True shows the bar at once, False never, None after a second and only in a terminal.
    """
    if show is False or (show is None and not sys.stderr.isatty()):
        yield from items
        return
    begin, done = monotonic(), 0
    bar: _Bar | None = None
    try:
        for item in items:
            if bar is None and (show or monotonic() - begin > PATIENCE):
                bar = _Bar("inferring", total, done)
            yield item
            done += 1
            if bar is not None:
                bar.reach(done)
    finally:
        if bar is not None:
            bar.close()


@contextmanager
def watch(
    share: Callable[[], float] | None = None, *, what: str = "counting", show: bool | None = None
) -> Iterator[None]:
    """Show on stderr that work goes on and, if it reports that, how far; after a second and only in a terminal.

    Parameters
    ----------
    share
        Gives how much is done, from 0 to 1; asked from another thread, five times a second. None if nobody knows.
    what
        What is being done.
    show
        As in `track`.
    """
    if show is False or (show is None and not sys.stderr.isatty()):
        yield
        return
    done = Event()
    wait = 0.0 if show else PATIENCE
    watcher = Thread(target=_follow, args=(share, what, done, wait), name="truecount-bar", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _follow(share: Callable[[], float] | None, what: str, done: Event, patience: float) -> None:
    if done.wait(max(patience, 0.0)):
        return
    bar = _Bar(what, None if share is None else 1.0, 0.0)
    try:
        while not done.wait(INTERVAL):
            bar.reach(0.0 if share is None else max(0.0, share()))
    finally:
        bar.close()


class _Bar:
    """Rich's progress bar on stderr, gone when it is done."""

    def __init__(self, what: str, total: float | None, done: float) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._progress = Progress(console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task(what, total=total)
        self.reach(done)
        self._progress.start()

    def reach(self, done: float) -> None:
        """Show that so much is done."""
        self._progress.update(self._task, completed=done)

    def close(self) -> None:
        """Take the bar away."""
        self._progress.stop()
