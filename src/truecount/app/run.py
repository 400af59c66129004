"""The program: a port, a token, a server in this process, and a browser that is sent there."""

import secrets
import signal
import socket
import sys
import webbrowser
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Thread
from types import FrameType

from truecount._optional import load
from truecount.app.places import Named
from truecount.errors import InputError

FEATURE, EXTRA = "truecount app", "app"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the server listens; port 0 stands for any that is free."""

    host: str = "127.0.0.1"
    port: int = 0

    def listen(self) -> socket.socket:
        """Return a socket that listens there."""
        try:
            kind, _, _, _, address = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)[0]
            return socket.create_server(address[:2], family=kind)
        except (OSError, OverflowError) as error:
            found, needed = f"cannot be used ({error})", f"truecount app listens on {self.host}, port {self.port}"
            raise InputError("--port", found, needed, "Write --port 0, which takes any that is free") from error


def run(files: Sequence[str], place: Place, *, is_opened: bool) -> None:
    """Serve the page until Ctrl-C; the first line on the standard output is its address with the token."""
    uvicorn = load("uvicorn", feature=FEATURE, extra=EXTRA)
    load("starlette", feature=FEATURE, extra=EXTRA)
    from truecount.app.server import Desk, build

    named, token, listening = Named.of(files), secrets.token_urlsafe(24), place.listen()
    port = listening.getsockname()[1]
    shown = f"[{place.host}]" if ":" in place.host else place.host
    app = build(Desk(named), token=token, host=place.host, port=port)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=1, ws="none"
    )
    address = f"http://{shown}:{port}/?token={token}"
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    sys.stderr.write("Open this address in a browser on this machine. Ctrl-C ends the program.\n")
    if is_opened:
        Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:
        sys.stderr.write("\n")
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt
