"""The command as a user runs it, in its own folder: in this process, or in another where that matters."""

import io
import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import truecount
from truecount.cli import main

COMMAND = [sys.executable, "-W", "error", "-m", "truecount"]


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``truecount`` with these arguments in `folder`, in this process: a start takes longer than most commands."""
    out, errors = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    typed = patch.multiple(
        sys,
        argv=[str(Path(truecount.__file__).with_name("__main__.py")), *arguments],
        stdin=io.TextIOWrapper(io.BytesIO()),
    )
    with chdir(folder), typed, redirect_stdout(out), redirect_stderr(errors):
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        except Exception:
            traceback.print_exc()
            code = 1
    out.flush()
    errors.flush()
    texts = (stream.buffer.getvalue().decode() for stream in (out, errors))
    return subprocess.CompletedProcess(["truecount", *arguments], code, *texts)


def run_process(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``truecount`` with these arguments in `folder`, in a process of its own."""
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
