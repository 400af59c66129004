"""Processes that work for the page: each does one task at a time, and is ended when its task is stopped."""

import multiprocessing
import os
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Condition, Event
from time import monotonic, sleep
from typing import Any

from truecount.app import worker

GRACE = 0.5
"""Seconds that a stopped task has to end by itself before its process is ended: a new one costs more than a picture."""
LOOK = 0.05
"""Seconds between two looks at whether a task is to be stopped."""
UNEXPECTED = "The computation ended unexpectedly; the terminal may say why."
Telling = Callable[[str, float | None], None]


class StoppedError(Exception):
    """The task was stopped, or its process ended."""


@dataclass(slots=True)
class Worker:
    """A process, and this end of the pipe to it."""

    process: BaseProcess
    connection: Connection

    def end(self) -> None:
        """End the process now, also one that is paused."""
        self.connection.close()
        self.process.kill()
        self.process.join(5)
        self.process.close()


@dataclass(slots=True, eq=False)
class Pool:
    """At most so many processes, of which the idle ones wait for work; who comes first is served first.

    Parameters
    ----------
    most
        Processes that work at the same time.
    is_fresh
        Whether each task has a process of its own, whose memory returns when it is done.
    niceness
        How far its processes stand back behind others where processors are scarce.
    """

    most: int = field(default_factory=lambda: max(2, os.cpu_count() or 1))
    is_fresh: bool = False
    niceness: int = 0
    _idle: list[Worker] = field(default_factory=list)
    _waiting: deque[object] = field(default_factory=deque)
    _busy: int = 0
    _is_closed: bool = False
    _changed: Condition = field(default_factory=Condition)

    def prepare(self) -> None:
        """Start a process before it is needed."""
        with self._changed:
            if not self._is_closed:
                self._idle.append(_started(self.niceness))

    def run(self, task: str, values: Any, tell: Telling, stop: Event) -> tuple[str, bytes]:
        """Do a task, telling how far it is; raise `StoppedError` where it is stopped, or its process ended."""
        worker = self._taken(tell, stop)
        is_sound = False
        try:
            worker.connection.send((task, values))
            made = _followed(worker, tell, stop)
            is_sound = not self.is_fresh
        except (EOFError, OSError) as error:
            raise StoppedError(UNEXPECTED) from error
        finally:
            self._returned(worker if is_sound else None)
            if not is_sound:
                worker.end()
        return made

    def close(self) -> None:
        """End all processes that wait; those at work end with their task."""
        with self._changed:
            self._is_closed = True
            idle, self._idle[:] = list(self._idle), []
            self._changed.notify_all()
        for each in idle:
            each.end()

    def _taken(self, tell: Telling, stop: Event) -> Worker:
        turn = object()
        with self._changed:
            self._waiting.append(turn)
            try:
                while self._waiting[0] is not turn or self._busy >= self.most:
                    self._changed.wait(LOOK)
                    if stop.is_set() or self._is_closed:
                        raise StoppedError("Stopped before it began.")
                    if self._busy >= self.most:
                        tell("waiting", None)
                self._busy += 1
                found = self._idle.pop() if self._idle else None
            finally:
                self._waiting.remove(turn)
                self._changed.notify_all()
        is_there = False
        try:
            found = found or _started(self.niceness)
            is_there = True
        except (EOFError, OSError) as error:
            raise StoppedError(f"No process could be started for it ({error!r}). Try again.") from error
        finally:
            if not is_there:
                self._returned(None)
        return found

    def _returned(self, worker: Worker | None) -> None:
        with self._changed:
            self._busy -= 1
            if worker is not None and not self._is_closed:
                self._idle.append(worker)
            elif worker is not None:
                worker.end()
            self._changed.notify_all()


def _followed(worker: Worker, tell: Telling, stop: Event) -> tuple[str, bytes]:
    """Pass on what a worker tells until it is done."""
    last = None
    while True:
        if worker.connection.poll(LOOK):
            kind, *rest = worker.connection.recv()
            if kind == "done":
                return rest[0], rest[1]
            tell(*rest)
        if stop.is_set():
            last = last or monotonic() + GRACE
            if monotonic() > last:
                raise StoppedError("Stopped.")


def _started(niceness: int) -> Worker:
    """Start a process, at the second attempt if need be: the one that it is forked from may have to be renewed."""
    try:
        return _begun(niceness)
    except (EOFError, OSError):
        sleep(GRACE)
        return _begun(niceness)


def _begun(niceness: int) -> Worker:
    """Start a process: forked from one that has everything loaded where that is safe, else from nothing."""
    context: Any = multiprocessing.get_context("forkserver" if sys.platform == "linux" else "spawn")
    if sys.platform == "linux":
        context.set_forkserver_preload(["truecount.app.warm"])
    ours, theirs = context.Pipe()
    process = context.Process(target=worker.serve, args=(theirs, niceness), daemon=True, name="truecount-worker")
    process.start()
    theirs.close()
    return Worker(process, ours)
