"""Processes that work for the page: they answer, tell how far they are, and end when they are stopped."""

import json
import os
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from questions import LONG, SURVEY
from truecount.app import pool as pool_module
from truecount.app.pool import Pool, StoppedError


def silent(what: str, share: float | None) -> None:
    """Listen to nothing."""


def test_what_comes_first_is_done_first_and_processes_are_used_again() -> None:
    pool = Pool(most=1)
    try:
        kinds = [pool.run("answer", SURVEY, silent, Event())[0] for _ in range(3)]
        assert kinds == ["json"] * 3
        assert len(pool._idle) == 1
    finally:
        pool.close()
    assert pool._idle == []


def test_stopped_work_ends_and_its_process_with_it() -> None:
    pool, stop, told = Pool(most=1), Event(), []
    ended: list[Any] = []

    def tell(what: str, share: float | None) -> None:
        told.append((what, share))
        stop.set()

    def work() -> None:
        try:
            ended.append(pool.run("plan", LONG, tell, stop))
        except StoppedError as error:
            ended.append(str(error))

    thread = Thread(target=work)
    thread.start()
    thread.join(60)
    try:
        assert ended == ["Stopped."]
        assert told[0] == ("planning", None)
        assert (pool._idle, pool._busy) == ([], 0)
        assert pool.run("answer", SURVEY, silent, Event())[0] == "json"
    finally:
        pool.close()


def test_who_stops_while_waiting_is_not_begun() -> None:
    pool, stop = Pool(most=0), Event()
    stop.set()
    with pytest.raises(StoppedError, match="before it began"):
        pool.run("answer", SURVEY, silent, stop)
    assert not pool._waiting


def test_a_process_that_dies_costs_its_task_alone() -> None:
    pool = Pool(most=1)
    try:
        pool.prepare()
        os.kill(pool._idle[0].process.pid or 0, 9)
        with pytest.raises(StoppedError, match="ended unexpectedly"):
            pool.run("answer", SURVEY, silent, Event())
        assert pool.run("answer", SURVEY, silent, Event())[0] == "json"
    finally:
        pool.close()


@pytest.mark.parametrize(("failures", "words"), [(1, None), (2, "No process could be started")])
def test_a_process_that_cannot_be_started_is_tried_twice(
    failures: int, words: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, tried = pool_module._begun, []

    def failing(niceness: int) -> Any:
        tried.append(niceness)
        if len(tried) <= failures:
            raise EOFError("unexpected EOF")
        return begun(niceness)

    monkeypatch.setattr(pool_module, "_begun", failing)
    pool = Pool(most=1)
    try:
        if words is None:
            assert pool.run("answer", SURVEY, silent, Event())[0] == "json"
        else:
            with pytest.raises(StoppedError, match=words):
                pool.run("answer", SURVEY, silent, Event())
        assert pool._busy == 0
    finally:
        pool.close()


def test_reading_a_file_has_a_process_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "runs.csv"
    file.write_text("human,verdict\n" + "pass,pass\nfail,pass\n,pass\n,fail\n" * 10)
    pool = Pool(most=2, is_fresh=True)
    chosen = {"place": str(file), "label": ["human"], "prediction": ["verdict"]}
    kind, made = pool.run("count", ([str(file)], chosen), silent, Event())
    assert (kind, json.loads(made)["unlabeled"]) == ("json", 20)
    assert pool._idle == []
    pool.close()
