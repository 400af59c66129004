"""Tasks under way: asked after, stopped, and given up."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest

NEEDED = "could not import it: needs the extra app"
pytest.importorskip("starlette", reason=NEEDED)
pytest.importorskip("uvicorn", reason=NEEDED)

from questions import LONG, SURVEY  # noqa: E402
from served import Served, served  # noqa: E402
from truecount.app import jobs  # noqa: E402


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("data")) as found:
        yield found


def told(server: Served, path: str, values: object) -> dict[str, object]:
    status, _, body = server.send("POST", f"/api/{path}", json.dumps(values))
    assert status == 200
    return dict(json.loads(body))


def until_idle(server: Served) -> bool:
    return any(server.desk.long._busy == 0 or sleep(0.05) for _ in range(1200))


def test_long_work_is_asked_after_and_stopped(server: Served) -> None:
    assert "progress" in told(server, "plan?job=one", LONG)
    assert "progress" in told(server, "job", {"job": "one"})
    assert "result" in server.ask("answer", SURVEY)  # meanwhile
    assert told(server, "stop", {"job": "one"}) == {"result": {}}
    assert until_idle(server)
    gone = told(server, "job", {"job": "one"})
    assert "Ask once more" in str(gone["error"])


def test_what_nobody_asks_after_is_given_up(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "progress" in told(server, "plan?job=two", LONG)
    monkeypatch.setattr(jobs, "PATIENCE", 0.0)
    assert until_idle(server)


def test_a_job_that_is_begun_again_replaces_the_first(server: Served) -> None:
    assert "progress" in told(server, "plan?job=three", LONG)
    assert "progress" in told(server, "plan?job=three", LONG)
    told(server, "stop", {"job": "three"})
    assert until_idle(server)


def test_who_waits_is_told_also_of_what_nobody_expected(monkeypatch: pytest.MonkeyPatch) -> None:
    noticed: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda told: noticed.append(told.exc_type))

    def failing(**_: object) -> tuple[str, bytes]:
        raise ZeroDivisionError

    async def waited() -> tuple[str, bytes]:
        job = jobs.Jobs().begin("one", failing)
        return await job.news(30)

    kind, content = asyncio.run(waited())
    for thread in threading.enumerate():
        if thread.name == "truecount-task":
            thread.join(30)
    assert noticed == [ZeroDivisionError]
    assert kind == "error"
    assert b"ended unexpectedly" in content


@pytest.mark.parametrize("values", [None, [], {}, {"job": 5}, {"job": "unknown"}])
def test_what_is_no_job_is_neither_found_nor_stopped(server: Served, values: object) -> None:
    assert "error" in told(server, "job", values)
    assert told(server, "stop", values) == {"result": {}}


def test_a_file_to_save_is_sent_as_it_is(server: Served, tmp_path: Path) -> None:
    status, headers, body = server.send("POST", "/api/save?job=f", json.dumps({**SURVEY, "format": "json"}))
    while "content-disposition" not in headers:
        status, headers, body = server.send("POST", "/api/job", json.dumps({"job": "f"}))
    assert (status, headers["content-disposition"]) == (200, 'attachment; filename="truecount.json"')
    assert json.loads(body)["schema"] == "truecount.estimate/1"
    refused = told(server, "save?job=g", {**SURVEY, "format": "exe"})
    while "progress" in refused:
        refused = told(server, "job", {"job": "g"})
    assert "format is 'exe'" in str(refused["error"])
