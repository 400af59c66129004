"""The command in a terminal of so many columns."""

import fcntl
import os
import pty
import struct
import sys
import termios
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from threading import Thread
from unittest.mock import patch

from command import call_main


def run_in_terminal(*arguments: str, folder: Path, columns: int = 80, **environment: str) -> str:
    """Run ``truecount`` in this process with a terminal for both streams, and return what it showed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    unset = ("NO_COLOR", "COLUMNS", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    shown: list[bytes] = []
    reader = Thread(target=lambda: shown.extend(_chunks(ours)))
    reader.start()
    with (
        open(theirs, "w", encoding="utf-8") as screen,
        patch.multiple(sys, stdout=screen, stderr=screen, __stdout__=screen, __stderr__=screen),
        patch.dict(os.environ, {**kept, "TERM": "xterm-256color", **environment}, clear=True),
        chdir(folder),
    ):
        call_main(*arguments)
    reader.join()
    os.close(ours)
    return b"".join(shown).decode().replace("\r\n", "\n")


def _chunks(stream: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = os.read(stream, 4096)
        except OSError:
            return
        if not chunk:
            return
        yield chunk
