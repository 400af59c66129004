"""Files that evaluation tools wrote themselves, each in a process of its own."""

import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

import truecount as tc

WRITERS = Path(__file__).with_name("writers")
PYTHON = os.environ.get("TRUECOUNT_TOOLS", sys.executable)
"""The interpreter that has the tools, which pin so many packages that they are best kept apart."""


@cache
def has(package: str) -> bool:
    """Whether the tools' interpreter has a package."""
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({package!r}) is None)"
    return subprocess.run([PYTHON, "-c", code], check=False).returncode == 0


def require(package: str) -> None:
    """Insist on a package where an interpreter with the tools is named; elsewhere skip."""
    if not has(package):
        lacking(f"{PYTHON} has no {package}")


def lacking(what: str) -> NoReturn:
    """Skip, or fail where an interpreter with the tools is named, as `.ci/doors` does."""
    if "TRUECOUNT_TOOLS" in os.environ:
        pytest.fail(what)
    pytest.skip(f"{what}; .ci/doors installs it")


def written_by(tool: str, package: str, folder: Path) -> Path:
    """Run a tool, and return the folder in which it left its files."""
    require(package)
    run_tool(WRITERS / f"write_{tool}.py", folder)
    return folder


def run_tool(script: Path, *arguments: object, python: str = PYTHON, folder: Path | None = None) -> str:
    """Run a script by the tools' interpreter, and return what it printed."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), *SOURCES]),
    }
    done = subprocess.run(
        [python, "-W", "ignore", str(script), *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


SOURCES = [str(Path(__file__).parents[1] / "src")]


def numbers(counts: tc.Counts) -> Counter:
    """How often each label and output occur in counts."""
    labeled = {
        (name, output): int(number)
        for name, row in zip(counts.classes, counts.labeled, strict=True)
        for output, number in zip(counts.outputs, row, strict=True)
    }
    return +Counter(labeled | {(None, o): int(n) for o, n in zip(counts.outputs, counts.unlabeled, strict=True)})
