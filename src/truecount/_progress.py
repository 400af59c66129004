"""What is told of work that takes more than a moment: a bar in a terminal, lines with times in a log, or nothing."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from threading import Event, Thread
from time import monotonic, strftime
from typing import Literal, TypeAlias, TypeVar

Item = TypeVar("Item")
PATIENCE = 1.0
"""Seconds of work before a bar appears."""
INTERVAL = 0.2
"""Seconds between two looks at work that reports how far it is."""
BESIDE_BAR = 15
"""Letters beside the name of the work and its bar: percentage, time left, and blanks between them."""
LOG_PATIENCE, LOG_INTERVAL = 5.0, 10.0
"""Seconds of work before it is logged, and between two lines."""
Style = Literal["bar", "log", "quiet"]
_style: ContextVar[Style] = ContextVar("style", default="bar")
Listener: TypeAlias = Callable[[str, float | None], None]
"""Is told what is being done and how much of it is, from 0 to 1; None if nobody knows."""
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_steps: ContextVar[list[str] | None] = ContextVar("steps", default=None)
"""What is being done, the innermost part last; None where nobody watches."""


@contextmanager
def progress_style(style: Style) -> Iterator[None]:
    """Tell of long work in this way: ``bar`` in a terminal alone, ``log`` as lines on stderr, ``quiet`` not at all."""
    before = _style.set(style)
    try:
        yield
    finally:
        _style.reset(before)


@contextmanager
def progress_to(listener: Listener) -> Iterator[None]:
    """Tell `listener` of work, from another thread and five times a second, in place of the terminal."""
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def _is_silent(show: bool | None) -> bool:
    if _listener.get() is not None:
        return False
    return show is False or (show is None and _style.get() != "log" and (_style.get() == "quiet" or not _in_terminal()))


def _in_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


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
    if _is_silent(show):
        yield from items
        return
    begin, done = monotonic(), 0
    if _style.get() == "log" or _listener.get() is not None:
        with watch(lambda: done / max(total, 1), what="inferring", show=show):
            for item in items:
                yield item
                done += 1
        return
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
    if _is_silent(show):
        yield
        return
    done = Event()
    is_log, listener = _style.get() == "log", _listener.get()
    make: _Maker = partial(_Log, begin=monotonic()) if is_log else _Bar
    wait = 0.0 if show else LOG_PATIENCE if is_log else PATIENCE
    if listener is not None:
        make, wait = partial(_Told, listener=listener), INTERVAL
    steps = [what]
    watcher = Thread(target=_follow, args=(make, share, steps, done, wait), name="truecount-bar", daemon=True)
    before = _steps.set(steps)
    watcher.start()
    try:
        yield
    finally:
        _steps.reset(before)
        done.set()
        watcher.join()


@contextmanager
def step(what: str) -> Iterator[None]:
    """Say what is being done within work that is watched."""
    steps = _steps.get()
    if steps is None:
        yield
        return
    steps.append(what)
    try:
        yield
    finally:
        steps.pop()


def detail(words: str) -> None:
    """Say in a few words how far work that is watched has come; no words take back what was said."""
    steps = _steps.get()
    if steps is not None:
        base = steps[-1].partition(" (")[0]
        steps[-1] = f"{base} ({words})" if words else base


def _follow(make: "_Maker", share: Callable[[], float] | None, steps: list[str], done: Event, patience: float) -> None:
    if done.wait(max(patience, 0.0)):
        return

    def reached() -> float:
        return 0.0 if share is None else max(0.0, share())

    what = steps[-1]
    bar = make(what, None if share is None else 1.0, reached())
    try:
        while not done.wait(INTERVAL):
            if steps[-1] != what:
                what = steps[-1]
                bar.rename(what)
            bar.reach(reached())
    finally:
        bar.close()


def say(words: str) -> None:
    """Write one line on stderr: with the time where work is logged, and not at all where it is quiet."""
    if _style.get() != "quiet":
        stamp = f"{strftime('%Y-%m-%d %H:%M:%S')} " if _style.get() == "log" else ""
        sys.stderr.write(f"{stamp}{words}\n")
        sys.stderr.flush()


def note(words: str) -> None:
    """Write one line on stderr where long work is reported, and nowhere else."""
    if not _is_silent(None) and _listener.get() is None:
        say(words)


def _columns() -> int | None:
    """Return how wide the terminal of stderr is; None where it is none, or does not say."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or None
    except (OSError, ValueError):
        return None


class _Bar:
    """Rich's progress bar on stderr, gone when it is done."""

    def __init__(self, what: str, total: float | None, done: float) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress

        console = Console(stderr=True, width=_columns())
        text, _, *rest = Progress.get_default_columns()
        bar = BarColumn(bar_width=max(1, min(40, console.width - len(what) - BESIDE_BAR)))
        self._progress = Progress(text, bar, *rest, console=console, transient=True)
        self._task = self._progress.add_task(what, total=total)
        self.reach(done)
        self._progress.start()

    def reach(self, done: float) -> None:
        """Show that so much is done."""
        self._progress.update(self._task, completed=done)

    def rename(self, what: str) -> None:
        """Show what is being done now."""
        self._progress.update(self._task, description=what)

    def close(self) -> None:
        """Take the bar away."""
        self._progress.stop()


class _Log:
    """Lines on stderr with the time: one when work takes long, one every ten seconds, and one when it is done."""

    def __init__(self, what: str, total: float | None, done: float, *, begin: float) -> None:
        self._what, self._total = what, total
        self._begin = self._since = begin
        self._last = monotonic()
        seconds = round(self._last - begin)
        self._write(f" for {seconds} s …" if seconds else " …")

    def reach(self, done: float) -> None:
        """Say how much is done, if it is time."""
        if monotonic() - self._last >= LOG_INTERVAL:
            self._last = monotonic()
            self._write(
                f" for {self._last - self._since:.0f} s" if self._total is None else f" {done / self._total:.0%}"
            )

    def rename(self, what: str) -> None:
        """Say what is being done now."""
        self._what, self._since, self._last = what, monotonic(), monotonic()
        self._write(" …")

    def close(self) -> None:
        """Say that the work is over, done or not."""
        self._what = self._what.partition(" (")[0]
        self._write(f": ended after {monotonic() - self._begin:.0f} s")

    def _write(self, words: str) -> None:
        sys.stderr.write(f"{strftime('%Y-%m-%d %H:%M:%S')} {self._what}{words}\n")
        sys.stderr.flush()


class _Told:
    """What a listener is told."""

    def __init__(self, what: str, total: float | None, done: float, *, listener: Listener) -> None:
        self._what, self._total, self._listener = what, total, listener
        self.reach(done)

    def reach(self, done: float) -> None:
        """Tell how much is done."""
        self._listener(self._what, None if self._total is None else min(done / self._total, 1.0))

    def rename(self, what: str) -> None:
        """Tell from now on of other work."""
        self._what = what

    def close(self) -> None:
        """Say nothing more."""


_Maker: TypeAlias = Callable[[str, float | None, float], "_Bar | _Log | _Told"]
