"""Which files of the package a row of a CSV file passes on its way to the page, and how often it turns back.

    python tests/architecture/trace_row.py

The command runs in this process while every call of a function of the package is noted. The files that are passed are
those in which a function runs; ground (`errors` and the modules with an underscore), the bodies of modules and classes,
and the constructors of options are left out. The doors, `cli` and `api`, take the data from stage to stage: where they
enter a stage after one that comes later, the way has turned back. A later stage that asks an earlier one, as a table
asks counts for their names, is a question and no turn: imports allow no other direction.
"""

import inspect
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import truecount

ROOT = Path(truecount.__file__).parent
DOORS = ("cli", "api")
STAGES = ("reading", "counts", "scores", "models", "inference", "results", "diagnostics", "plots", "page")
ROWS = ["human,verdict", *["pass,pass", "fail,fail"] * 20, "pass,fail", "fail,pass", *[",pass", ",fail"] * 30]


@dataclass(frozen=True)
class Call:
    """A call of a function of the package, and the folder that it was called from."""

    folder: str
    file: str
    function: str
    caller: str


def trace(*arguments: str) -> list[Call]:
    """Run the command, and return its calls in their order."""
    from click.testing import CliRunner

    from truecount.cli.app import app

    calls: list[Call] = []

    def note(frame: FrameType, _: str, __: Any) -> None:
        if folder := function_folder(frame.f_code):
            calls.append(Call(folder, str(path_of(frame.f_code)), frame.f_code.co_qualname, caller_of(frame)))

    before = sys.gettrace()
    sys.settrace(note)
    try:
        done = CliRunner().invoke(app, list(arguments))
    finally:
        sys.settrace(before)
    if done.exit_code:
        raise RuntimeError(done.output)
    return calls


@cache
def path_of(code: CodeType) -> Path:
    """The file of some code within a stage or a door; nothing where it is of others, or ground."""
    path = Path(code.co_filename)
    path = path.relative_to(ROOT) if path.is_relative_to(ROOT) else Path()
    return path if len(path.parts) > 1 and path.parts[0] in (*DOORS, *STAGES) else Path()


@cache
def function_folder(code: CodeType) -> str:
    """The folder of a function; nothing for bodies of classes and modules, which have no fast locals, and annotations.

    Comprehensions belong to the body or function around them.
    """
    is_body = code.co_name in ("__post_init__", "__init__", "__annotate__") or code.co_name.startswith("<")
    is_function = code.co_flags & inspect.CO_OPTIMIZED and not is_body
    return path_of(code).parts[0] if is_function and path_of(code).parts else ""


def caller_of(frame: FrameType) -> str:
    """The folder of the nearest frame above that belongs to a stage or a door."""
    above = frame.f_back
    while above is not None and not path_of(above.f_code).parts:
        above = above.f_back
    return "" if above is None else path_of(above.f_code).parts[0]


def entries(calls: Sequence[Call]) -> list[Call]:
    """Where a door enters a stage that it has not just entered."""
    entered = [call for call in calls if call.caller in ("", *DOORS) and call.folder in STAGES]
    return [next(run) for _, run in groupby(entered, key=lambda call: call.folder)]


def reversals(calls: Sequence[Call]) -> list[tuple[Call, Call]]:
    """Each entry into a stage that comes before the one that was entered last, with that one."""
    found = entries(calls)
    return [(one, two) for one, two in pairwise(found) if STAGES.index(two.folder) < STAGES.index(one.folder)]


def files_by_folder(calls: Sequence[Call]) -> dict[str, list[str]]:
    """The files that were passed, in the order of the stages and in that of their first call."""
    files = dict.fromkeys(call.file for call in calls)
    found = {folder: [file for file in files if file.startswith(f"{folder}/")] for folder in (*STAGES, *DOORS)}
    return {folder: passed for folder, passed in found.items() if passed}


def trace_page() -> list[Call]:
    """Trace a small table on its way to the page."""
    with tempfile.TemporaryDirectory() as folder:
        table, page = Path(folder) / "runs.csv", Path(folder) / "page.html"
        table.write_text("\n".join(ROWS) + "\n", encoding="utf-8")
        columns = ("--label", "human", "--prediction", "verdict")
        return trace("estimate", str(table), *columns, "--html", str(page), "--table")


def table(calls: Sequence[Call]) -> list[str]:
    """The way in lines."""
    passed, turned = files_by_folder(calls), reversals(calls)
    lines = [f"{folder:12}{len(files):3}  {', '.join(Path(f).stem for f in files)}" for folder, files in passed.items()]
    lines.append(f"{'in all':12}{sum(map(len, passed.values())):3}  {len(turned)} reversals")
    lines.append(f"way: {' → '.join(call.folder for call in entries(calls))}")
    return lines + [f"turns back from {one.file} via {one.function} to {two.file}" for one, two in turned]


if __name__ == "__main__":
    sys.stdout.write("\n".join(table(trace_page())) + "\n")
