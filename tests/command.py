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
    with chdir(folder), redirect_stdout(out), redirect_stderr(errors):
        code = call_main(*arguments)
    out.flush()
    errors.flush()
    texts = (stream.buffer.getvalue().decode() for stream in (out, errors))
    return subprocess.CompletedProcess(["truecount", *arguments], code, *texts)


def call_main(*arguments: str) -> int:
    """Run ``python -m truecount`` with these arguments and nothing to read; return its exit code."""
    program = str(Path(truecount.__file__).with_name("__main__.py"))
    with patch.multiple(sys, argv=[program, *arguments], stdin=io.TextIOWrapper(io.BytesIO())):
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0)
        except Exception:
            traceback.print_exc()
            return 1
    return 0


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
