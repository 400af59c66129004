"""The page to work in, served to tests from this process, and asked over the loopback address."""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

from truecount.app.places import MOST_UPLOAD, Named
from truecount.app.run import Place
from truecount.app.server import Desk, build

TOKEN = "a-token-of-tests"  # noqa: S105


@dataclass(frozen=True)
class Served:
    """A server at work."""

    desk: Desk
    port: int

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={TOKEN}"

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        *,
        token: str | None = TOKEN,
    ) -> tuple[int, dict[str, str], bytes]:
        """Send one request as it is written, and return status, headers and body; 0 where the server hung up."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        given = {} if token is None else {"Authorization": f"Bearer {token}"}
        try:
            connection.request(method, path, body, {**given, **(headers or {})})
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        except (BrokenPipeError, ConnectionResetError):
            return 0, {}, b""
        finally:
            connection.close()

    def ask(self, task: str, values: Any) -> dict[str, Any]:
        """Ask for a task as the page does, and again until it is done."""
        status, _, body = self.send("POST", f"/api/{task}?job={task}", json.dumps(values))
        while status == 200 and "progress" in (told := dict(json.loads(body))):
            sleep(0.05)
            status, _, body = self.send("POST", "/api/job", json.dumps({"job": task}))
        assert status == 200, body
        return told


@contextmanager
def served(*files: Path | str, most_upload: int = MOST_UPLOAD) -> Iterator[Served]:
    """Serve the page, which may read these files, until the block ends."""
    import uvicorn

    listening = Place().listen()
    port = listening.getsockname()[1]
    desk = Desk(Named.of([str(file) for file in files]))
    app = build(desk, token=TOKEN, host="127.0.0.1", port=port, most_upload=most_upload)
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=1, ws="none")
    )
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        while not server.started:
            sleep(0.01)
        yield Served(desk, port)
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()
