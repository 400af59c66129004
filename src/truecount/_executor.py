"""Work divided among the workers of any executor: a bounded number of pieces at once, whose failures stay their own."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import ExitStack
from dataclasses import dataclass, field
from threading import Thread
from typing import Any, Generic, TypeVar

from truecount.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")
MOST_WAITING = 1000
"""Pieces handed to an executor that does not say how many workers it has."""
ATTEMPTS = 3
"""How often a piece is tried whose worker died, or that failed by another error than bad input."""


def workers_here(number: int) -> Executor:
    """Return an executor of so many processes, which end when this one does; of one, a thread is enough."""
    if number == 1:
        return ThreadPoolExecutor(1)
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    return ProcessPoolExecutor(number, mp_context=get_context("spawn"), initializer=_end_with_parent)


def _end_with_parent() -> None:
    """Do not outlive a parent that is killed, and so cannot say that the work is over."""
    Thread(target=_await_parent, name="truecount-parent", daemon=True).start()


def _await_parent() -> None:
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@dataclass(frozen=True, slots=True)
class Failure:
    """What went wrong with one item."""

    message: str


@dataclass(slots=True)
class _Piece(Generic[Item]):
    """An item, or one part of an item that was split; `suspect` where a worker died while it was under way."""

    number: int
    item: Item
    place: int | None = None
    attempts: int = 0
    is_suspect: bool = False


@dataclass(slots=True)
class Division(Generic[Item, Result]):
    """One function applied to many items by the workers of an executor.

    Parameters
    ----------
    executor
        Anything that follows ``concurrent.futures.Executor``.
    work
        A function that can be pickled; its result depends on the item alone.
    split
        Returns the smallest parts of an item, each of which fails or succeeds by itself.
    """

    executor: Executor
    work: Callable[[Item], Result]
    split: Callable[[Item], Sequence[Item]]
    _todo: Iterator[_Piece[Item]] = field(init=False)
    _again: deque[_Piece[Item]] = field(init=False, default_factory=deque)
    _flying: dict["Future[Result]", _Piece[Item]] = field(init=False, default_factory=dict)
    _parts: dict[int, list[Result | Failure | None]] = field(init=False, default_factory=dict)
    _own: ExitStack = field(init=False, default_factory=ExitStack)

    def results(self, items: Iterable[tuple[int, Item]]) -> Iterator[tuple[int, list[Result | Failure]]]:
        """Yield each item's number with its result, as they come; of an item that was split, those of its parts.

        Where an item fails, its parts are tried by themselves, and a part that fails is a `Failure` beside the others.
        A worker that dies takes nothing with it: what it had is tried again, by itself where it may be the cause.
        """
        self._todo = (_Piece(number, item) for number, item in items)
        with self._own:
            try:
                while self._fill():
                    finished, _ = wait(self._flying, return_when=FIRST_COMPLETED)
                    for future in finished:
                        yield from self._finish(self._flying.pop(future), future)
            finally:
                for future in self._flying:
                    future.cancel()

    def _fill(self) -> bool:
        """Hand over as many pieces as there is room for; a suspect alone, so that nothing else dies with it."""
        if any(piece.is_suspect for piece in self._flying.values()):
            return True
        while self._again and not (self._again[0].is_suspect and self._flying):
            piece = self._again.popleft()
            self._submit(piece)
            if piece.is_suspect:
                return True
        if not any(piece.is_suspect for piece in self._again):
            while len(self._flying) < self._room and (fresh := next(self._todo, None)) is not None:
                self._submit(fresh)
        return bool(self._flying)

    @property
    def _room(self) -> int:
        workers = getattr(self.executor, "_max_workers", None)
        return 2 * workers if isinstance(workers, int) else MOST_WAITING

    def _submit(self, piece: _Piece[Item]) -> None:
        try:
            future = self.executor.submit(self.work, piece.item)
        except BrokenExecutor as error:
            self._renew(error)
            future = self.executor.submit(self.work, piece.item)
        self._flying[future] = piece

    def _renew(self, error: BrokenExecutor) -> None:
        """Start processes anew where they died: a broken pool takes no more work."""
        from concurrent.futures import ProcessPoolExecutor

        broken: Any = self.executor
        if not isinstance(self.executor, ProcessPoolExecutor):
            needed = "it takes no more work after a worker died"
            raise InputError("executor", f"is broken ({error})", needed, "Pass a new one") from error
        options = {name: getattr(broken, f"_{name}", None) for name in ("mp_context", "initializer")}
        fresh = ProcessPoolExecutor(broken._max_workers, initargs=getattr(broken, "_initargs", ()), **options)
        self.executor = self._own.enter_context(fresh)

    def _finish(self, piece: _Piece[Item], future: "Future[Result]") -> Iterator[tuple[int, list[Result | Failure]]]:
        """Keep a result, or try again, in parts where there are some."""
        error = None if future.cancelled() else future.exception()
        if not future.cancelled() and error is None:
            yield from self._keep(piece, future.result())
            return
        piece.attempts += 1
        if isinstance(error, BrokenExecutor) and piece.attempts < ATTEMPTS:
            piece.is_suspect = True
            self._again.append(piece)
        elif piece.place is None:
            parts = self.split(piece.item)
            self._parts[piece.number] = [None] * len(parts)
            is_suspect = isinstance(error, BrokenExecutor)
            self._again += [
                _Piece(piece.number, part, place, is_suspect=is_suspect) for place, part in enumerate(parts)
            ]
        elif piece.attempts < ATTEMPTS and not isinstance(error, InputError):
            self._again.append(piece)
        else:
            yield from self._keep(piece, Failure(_told(error)))

    def _keep(self, piece: _Piece[Item], result: Result | Failure) -> Iterator[tuple[int, list[Result | Failure]]]:
        if piece.place is None:
            yield piece.number, [result]
            return
        parts = self._parts[piece.number]
        parts[piece.place] = result
        if all(part is not None for part in parts):
            del self._parts[piece.number]
            yield piece.number, [part for part in parts if part is not None]


def _told(error: BaseException | None) -> str:
    """Return what is said of an error; one of ours is complete."""
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, BrokenExecutor):
        return f"the worker died {ATTEMPTS} times"
    return "cancelled" if error is None else f"{type(error).__name__}: {error}"
