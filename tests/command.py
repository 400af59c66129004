"""The command as a user runs it: another process, its own folder."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

COMMAND = [sys.executable, "-W", "error", "-m", "truecount"]


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``truecount`` with these arguments in `folder`."""
    environment = {**os.environ, "PYTHONUTF8": "1"}
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, capture_output=True, encoding="utf-8", env=environment, check=False
    )


@contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C reach processes started within, also where the suite runs in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
