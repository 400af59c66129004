"""The command as a user runs it: another process, its own folder."""

import os
import subprocess
import sys
from pathlib import Path

COMMAND = [sys.executable, "-W", "error", "-m", "truecount"]


def run(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``truecount`` with these arguments in `folder`."""
    environment = {**os.environ, "PYTHONUTF8": "1"}
    return subprocess.run(
        [*COMMAND, *arguments], cwd=folder, capture_output=True, encoding="utf-8", env=environment, check=False
    )
