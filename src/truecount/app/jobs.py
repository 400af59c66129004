"""Tasks under way: each has a thread that waits for its process, and the page asks how far it is."""

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_hex
from threading import Event, Thread
from time import monotonic
from typing import Any

from truecount.app.pool import UNEXPECTED, StoppedError

PATIENCE = 90.0
"""Seconds without a question after which nobody waits any more: a hidden tab may ask once a minute."""
LONGEST_NAME = 64
Run = Callable[..., tuple[str, bytes]]


@dataclass(slots=True, eq=False)
class Job:
    """One task: what it was last heard to be doing, what it made, and when somebody last asked."""

    name: str
    stop: Event = field(default_factory=Event)
    done: asyncio.Event = field(default_factory=asyncio.Event)
    told: tuple[str, bytes] = ("progress", b"null")
    asked: float = field(default_factory=monotonic)

    def begin(self, run: Run) -> None:
        """Start the thread; what it hears is passed on to the loop of this thread."""
        loop = asyncio.get_running_loop()

        def put(kind: str, content: bytes) -> None:
            with suppress(RuntimeError):  # the server has ended
                loop.call_soon_threadsafe(self._put, kind, content)

        def tell(what: str, share: float | None) -> None:
            put("progress", json.dumps({"what": what, "share": share}).encode())

        def work() -> None:
            made = _failed(UNEXPECTED)  # whatever happens, who waits is told
            try:
                made = run(tell=tell, stop=self.stop)
            except StoppedError as error:
                made = _failed(str(error))
            finally:
                put(*made)

        Thread(target=work, name="truecount-task", daemon=True).start()

    def _put(self, kind: str, content: bytes) -> None:
        self.told = (kind, content)
        if kind != "progress":
            self.done.set()

    async def news(self, wait: float) -> tuple[str, bytes]:
        """Return what was last told, after waiting a moment for the end."""
        self.asked = monotonic()
        if wait:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.done.wait(), wait)
        return self.told


def _failed(why: str) -> tuple[str, bytes]:
    return "error", json.dumps({"argument": "", "message": why}).encode()


@dataclass(slots=True)
class Jobs:
    """All tasks under way, by the names that pages gave them."""

    _jobs: dict[str, Job] = field(default_factory=dict)

    def begin(self, name: str, run: Run) -> Job:
        """Start a task; one that has this name already is stopped."""
        name = name if 0 < len(name) <= LONGEST_NAME else token_hex(16)
        if name in self._jobs:
            self.end(self._jobs[name])
        job = self._jobs[name] = Job(name)
        job.begin(run)
        return job

    def find(self, name: Any) -> Job | None:
        """Return the task of that name, if there is one."""
        return self._jobs.get(name) if isinstance(name, str) else None

    def end(self, job: Job) -> None:
        """Stop a task, if it is not done, and forget it."""
        job.stop.set()
        self._jobs.pop(job.name, None)

    async def watch(self) -> None:
        """Stop those that nobody asks for."""
        while True:
            await asyncio.sleep(1)
            for job in list(self._jobs.values()):
                if monotonic() - job.asked > PATIENCE:
                    self.end(job)

    def close(self) -> None:
        """Stop all."""
        for job in list(self._jobs.values()):
            self.end(job)
