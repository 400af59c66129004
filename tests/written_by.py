"""Files that evaluation tools wrote themselves: each tool runs in a process of its own, in an environment that has it."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

WRITERS = Path(__file__).with_name("writers")
PYTHON = os.environ.get("TRUECOUNT_TOOLS", sys.executable)
"""The interpreter that has the tools, which pin so many packages that they are best kept apart."""


@cache
def has(package: str) -> bool:
    """Whether the tools' interpreter has a package."""
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
    return subprocess.run([PYTHON, "-c", code], check=False).returncode == 0


def require(package: str) -> None:
    """Skip where a tool is missing; where extras are required, that is a failure."""
    if not has(package):
        pytest.skip(f"could not import {package!r}")


def written_by(tool: str, package: str, folder: Path) -> Path:
    """Run a tool, and return the folder in which it left its files."""
    require(package)
    run_tool(WRITERS / f"write_{tool}.py", folder)
    return folder


def run_tool(script: Path, *arguments: object) -> str:
    """Run a script by the tools' interpreter, and return what it printed."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), *SOURCES]),
    }
    done = subprocess.run(
        [PYTHON, "-W", "ignore", str(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


SOURCES = [str(Path(__file__).parents[1] / "src")]
