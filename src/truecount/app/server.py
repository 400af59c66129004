"""The server: the page and its style, and tasks that are passed to processes.

A task is answered at once if it is done in a moment; else the page asks again, in short requests, how far it is. No
request is held open, because a browser opens only six connections to one server, for all its tabs together.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from truecount._version import __version__
from truecount.app.examples import EXAMPLES, FILES
from truecount.app.guard import Guard, TooLargeError, refuse_too_large
from truecount.app.jobs import Job, Jobs
from truecount.app.places import MOST_UPLOAD, READABLE, UPLOAD, Named, Uploads
from truecount.app.pool import Pool
from truecount.app.worker import told
from truecount.errors import InputError
from truecount.reading.locate import COMPRESSED

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

STATIC = Path(__file__).with_name("static")
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
QUICK = ("answer", "compare", "drift", "preview")
"""Tasks of a moment, which never wait for those that may take minutes."""
LONG = ("long-answer", "count", "plan", "save")
FILE_KINDS = {
    "html": "text/html",
    "json": "application/json",
    "csv": "text/csv",
    "png": "image/png",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
}
STEP_BACK = 5
"""Niceness of work that may take minutes, beside which somebody types; much more would starve it on a busy machine."""
HOLD = 0.4
"""Seconds that a request waits for its task to be done."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What the server works with: files that may be read, files that were dropped, and processes.

    `quick` does what takes a moment; `long` what may take minutes; `opening` looks into files and
    `reading` counts their rows, each file in a process of its own.
    """

    named: Named
    uploads: Uploads = field(default_factory=Uploads)
    quick: Pool = field(default_factory=Pool)
    long: Pool = field(default_factory=partial(Pool, niceness=STEP_BACK))
    opening: Pool = field(default_factory=partial(Pool, is_fresh=True))
    reading: Pool = field(default_factory=partial(Pool, is_fresh=True, niceness=STEP_BACK))

    def path(self, place: str) -> str:
        """Return where a file lies that the page names."""
        if place in FILES:
            return FILES[place]
        return self.uploads.path(place) if place.startswith(UPLOAD) else self.named.allowed(place)

    def pool(self, task: str) -> Pool:
        """Return who does a task."""
        if task in ("count", "preview"):
            return self.reading if task == "count" else self.opening
        return self.quick if task in QUICK else self.long

    def close(self) -> None:
        """End all processes, and delete what was dropped."""
        for pool in (self.quick, self.long, self.opening, self.reading):
            pool.close()
        self.uploads.close()


def build(desk: Desk, *, token: str, host: str, port: int, most_upload: int = MOST_UPLOAD) -> Guard:
    """Return the server as an ASGI application."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    jobs = Jobs()

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        Thread(target=desk.quick.prepare, daemon=True).start()
        watcher = asyncio.create_task(jobs.watch())
        try:
            yield
        finally:
            watcher.cancel()
            jobs.close()
            desk.close()

    routes = [
        Route("/", partial(_static, name="index.html")),
        Route("/{name}", _static),
        Route("/api/start", partial(_start, desk, most_upload), methods=["POST"]),
        Route("/api/upload", partial(_upload, desk), methods=["POST"]),
        Route("/api/forget", partial(_forget, desk), methods=["POST"]),
        Route("/api/job", partial(_job, jobs), methods=["POST"]),
        Route("/api/stop", partial(_stop, jobs), methods=["POST"]),
        *(Route(f"/api/{task}", partial(_task, desk, jobs, task), methods=["POST"]) for task in (*QUICK, *LONG)),
    ]
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers={TooLargeError: refuse_too_large})
    return Guard(app, token=token, host=host, port=port, most_upload=most_upload)


async def _static(request: "Request", name: str | None = None) -> "Response":
    """Return a file that ships with the package; its name is one of a list, so that no path leads elsewhere."""
    from starlette.responses import PlainTextResponse, Response

    wanted = name or request.path_params["name"]
    if wanted == "style.css":
        from truecount.page.frame import style

        return Response(f"{style()}\n{(STATIC / 'app.css').read_text(encoding='utf-8')}", media_type="text/css")
    known = {file.name: file for file in STATIC.iterdir() if file.suffix in KINDS}
    if wanted not in known:
        return PlainTextResponse("There is no such page.\n", 404)
    return Response(known[wanted].read_bytes(), media_type=KINDS[known[wanted].suffix])


async def _start(desk: Desk, most_upload: int, request: "Request") -> "Response":
    """Return what the page shows before anything is asked."""
    from starlette.responses import JSONResponse

    listed = await asyncio.to_thread(desk.named.listed)
    return JSONResponse(
        {
            "version": __version__,
            "files": listed,
            "named": list(desk.named.typed),
            "open": desk.named.first_file,
            "examples": list(EXAMPLES),
            "endings": [*READABLE, *COMPRESSED],
            "most_upload": most_upload,
        }
    )


async def _upload(desk: Desk, request: "Request") -> "Response":
    """Write what is sent to a file of ours, as it comes; nothing is kept of what is too large or cut off."""
    from starlette.requests import ClientDisconnect
    from starlette.responses import JSONResponse

    try:
        place, path = desk.uploads.begin(request.query_params.get("name", ""))
    except InputError as error:
        return JSONResponse({"error": told(error)}, 400)
    is_whole = False
    try:
        with path.open("wb") as stream:
            async for part in request.stream():
                await asyncio.to_thread(stream.write, part)
        is_whole = True
    except ClientDisconnect:
        return JSONResponse({}, 400)  # which nobody reads
    finally:
        if not is_whole:
            desk.uploads.forget(place)
    return JSONResponse({"place": place})


async def _forget(desk: Desk, request: "Request") -> "Response":
    from starlette.responses import JSONResponse

    values = await _values(request)
    if isinstance(values, dict):
        desk.uploads.forget(str(values.get("place", "")))
    return JSONResponse({})


async def _task(desk: Desk, jobs: Jobs, task: str, request: "Request") -> "Response":
    """Begin a task, and answer what it made or how far it is."""
    values = await _values(request)
    try:
        given = _given(desk, task, values)
    except InputError as error:
        return _told("error", json.dumps(told(error)).encode())
    run = partial(desk.pool(task).run, "answer" if task == "long-answer" else task, given)
    job = jobs.begin(request.query_params.get("job", ""), run)
    return _news(jobs, job, await job.news(HOLD))


async def _job(jobs: Jobs, request: "Request") -> "Response":
    """Answer what a task made, or how far it is."""
    values = await _values(request)
    job = jobs.find(values.get("job") if isinstance(values, dict) else None)
    if job is None:
        gone = {"argument": "", "message": "This was stopped, or the program was started again. Ask once more."}
        return _told("error", json.dumps(gone).encode())
    return _news(jobs, job, await job.news(0))


async def _stop(jobs: Jobs, request: "Request") -> "Response":
    """End a task that nobody waits for."""
    values = await _values(request)
    job = jobs.find(values.get("job") if isinstance(values, dict) else None)
    if job is not None:
        jobs.end(job)
    return _told("json", b"{}")


def _news(jobs: Jobs, job: Job, news: tuple[str, bytes]) -> "Response":
    """Return what is known of a task, which is over when it is done."""
    if news[0] != "progress":
        jobs.end(job)
    return _told(*news)


def _told(kind: str, content: bytes) -> "Response":
    """Return a result, an error or progress as JSON, and a file to save as it is."""
    from starlette.responses import Response

    ending = kind.removeprefix("file.")
    if ending != kind:
        name = f'attachment; filename="truecount.{ending}"'
        return Response(content, media_type=FILE_KINDS[ending], headers={"content-disposition": name})
    name = "result" if kind == "json" else kind
    return Response(b'{"' + name.encode() + b'": ' + content + b"}", media_type="application/json")


def _given(desk: Desk, task: str, values: Any) -> Any:
    """Return what a worker is given: of files, where they lie, if they may be read."""
    if task not in ("count", "preview"):
        return values
    given = values if isinstance(values, dict) else {}
    places = [given.get("place"), *([given["population"]] if task == "count" and given.get("population") else [])]
    if not all(isinstance(place, str) for place in places):
        raise InputError("file", "is missing", "a file is needed", "Choose one")
    paths = [desk.path(place) for place in places]
    return (paths, values) if task == "count" else (paths[0], places[0])


async def _values(request: "Request") -> Any:
    try:
        return json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        return None
