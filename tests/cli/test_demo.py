"""The demo answers, and what it says about the answer is true."""

import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from command import run
from made_counts import count_files
from truecount import infer
from truecount.examples import JUDGE
from truecount.examples.make_judge import PASS_RATE

module = import_module("truecount.cli.demo")
"""By its name: in the package, ``demo`` may be the function."""


def test_demo_explains_the_numbers_of_its_table(tmp_path: Path) -> None:
    done = run("demo", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    row = re.search(r"^pass +([\d.]+) % +([\d.]+) % +([\d.]+) . +([\d.]+) %$", done.stdout, re.MULTILINE)
    assert row
    words = " ".join(done.stdout.split())
    counted, mean, low, high = row.groups()
    assert f"the judge passes {counted} % of" in words
    assert f"corrected, {mean} % pass" in words
    assert f"between {low} % and {high} % pass" in words
    assert "of the 109 answers that people failed, it passed 42" in words
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if "estimate" not in line)


def test_the_command_that_the_demo_prints_gives_its_table(tmp_path: Path) -> None:
    shown = run("demo", folder=tmp_path).stdout
    command = re.search(r"^  (.* estimate .*)$", shown, re.MULTILINE)
    assert command
    done = subprocess.run(shlex.split(command[1]), cwd=tmp_path, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout in shown


@pytest.mark.parametrize(
    ("called", "shown"),
    [
        (".venv/bin/truecount", ".venv/bin/truecount"),
        ("{here}/.venv/bin/truecount", ".venv/bin/truecount"),
        ("/else where/truecount", '"/else where/truecount"'),
        ("/lib/truecount/__main__.py", "python -m truecount"),
    ],
)
def test_program_is_named_as_it_can_be_called(
    called: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [called.format(here=Path.cwd())])
    monkeypatch.setattr(sys, "executable", "python")
    monkeypatch.setattr(module, "which", lambda name: None)
    assert module._program() == shown
    monkeypatch.setattr(module, "which", lambda name: f"/bin/{name}")
    assert module._program() == "truecount"


def test_shipped_example_misleads_whoever_only_counts() -> None:
    counts = count_files(JUDGE, label="human", prediction="verdict")
    posterior = infer(counts)
    row, truth = counts.classes.index("pass"), PASS_RATE["v2"]
    low, high = posterior.interval()[row]
    assert counts.counted is not None
    assert low < truth < high < counts.counted[row]
    assert abs(posterior.mean[row] - truth) < 0.2 * abs(counts.counted[row] - truth)
