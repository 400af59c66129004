"""The command in a terminal of so many columns."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import Iterator
from pathlib import Path

from command import COMMAND


def run_in_terminal(*arguments: str, folder: Path, columns: int = 80, **environment: str) -> str:
    """Run ``truecount`` with a terminal for both streams, and give what it showed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    unset = ("NO_COLOR", "COLUMNS", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env={**kept, "PYTHONUTF8": "1", "TERM": "xterm-256color", **environment},
    )
    os.close(theirs)
    shown = b"".join(_chunks(ours))
    os.close(ours)
    process.wait()
    return shown.decode().replace("\r\n", "\n")


def _chunks(stream: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = os.read(stream, 4096)
        except OSError:
            return
        if not chunk:
            return
        yield chunk
