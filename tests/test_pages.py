"""The first block of code of each page runs as printed, and tables show what was measured."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import truecount as tc

DOCS = Path(__file__).parent.parent / "docs"


def run_first_block(page: str) -> dict[str, Any]:
    block = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)[0]
    names: dict[str, Any] = {}
    exec(compile(block, page, "exec"), names)  # noqa: S102
    return names


def test_the_map_s_area_is_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    names, page = run_first_block("designs.md"), (DOCS / "designs.md").read_text(encoding="utf-8")
    assert f"```text\n{capsys.readouterr().out}```" in page
    [said] = re.findall(r"Read as label shift the same table gives ([0-9.]+) %", page)
    assert said == f"{100 * tc.infer(names['counts']).mean[0]:.2f}"


def test_the_quantifier_s_block_runs_without_a_finding() -> None:
    pytest.importorskip("sklearn")
    names = run_first_block("scores.md")
    assert names["quantifier"].posterior(names["X_new"]).findings == ()


def test_the_recalibrated_classifier_s_block_runs() -> None:
    pytest.importorskip("sklearn")
    names = run_first_block("recalibration.md")
    assert names["corrected"].interval(0.95).shape == (500, 2, 2)


def test_pages_show_what_was_measured_last() -> None:
    command = [sys.executable, DOCS.parent / "benchmarks" / "pages.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run benchmarks/pages.py: {done.stdout}"


def test_the_blocks_of_the_estimators_run_in_their_order(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    page = (DOCS / "estimators.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)[:2]:
        exec(compile(block, "estimators.md", "exec"), names)  # noqa: S102
    assert isinstance(names["scores"], tc.Scores)
    assert capsys.readouterr().out.count("share") == 3


def test_what_wrong_labels_do_to_the_example_is_as_printed() -> None:
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    example = Path(tc.__file__).parent / "examples" / "judge.csv"
    found = tc.check(tc.count_table(example, label="human", prediction="verdict"), label_error=0.05)
    row = found.tables["label_error"][0]
    assert f"“{row['class']}” would have {100 * row['lowest']:.1f} % to {100 * row['highest']:.1f} %" in readme
    assert "**The labels are right.**" in readme


MINUS = "\N{MINUS SIGN}"
NUMBER = re.compile(rf"[<>]? ?[-+{MINUS}]?[0-9][0-9,.]*")


def close(printed: str, written: str) -> bool:
    """Whether the words are the same, and numbers as far apart as draws of chains on two machines."""
    if NUMBER.sub("#", printed).split() != NUMBER.sub("#", written).split():
        return False
    sides = (
        [float(each.strip("<> ,.").replace(",", "").replace(MINUS, "-")) for each in NUMBER.findall(text)]
        for text in (printed, written)
    )
    return all(abs(one - other) <= 2 + 0.1 * abs(other) for one, other in zip(*sides, strict=True))


@pytest.mark.parametrize("name", ["groups.md", "scores.md"])
def test_what_a_page_prints_is_as_printed(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block, written in re.findall(r"```python\n((?:(?!```).)*)```\n\n```text\n(.*?)```", page, flags=re.DOTALL):
        exec(compile(block, name, "exec"), names)  # noqa: S102
        printed = capsys.readouterr().out
        for line, wanted in zip(printed.splitlines(), written.splitlines(), strict=True):
            if "effective sample size" not in line and "Without a change" not in line:
                assert close(line, wanted), (line, wanted)
