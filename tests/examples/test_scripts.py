"""The numbered scripts run as they stand, and find what they were made to show."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(FOLDER.glob("[0-9]*.py"))
LONG = ("05_weekly_monitoring",)
DUCKDB = "nanobind|leaked|skipped remainder"
"""What DuckDB's bindings may say as Python ends, and nobody can help."""
WRITTEN = {
    "01_llm_judge": {"judge.html", "judge.svg"},
    "04_map_areas": {"areas.png"},
    "05_weekly_monitoring": {"log.csv", "log.parquet", "weeks.html", "weeks.png"},
}


def test_all_are_there_and_listed() -> None:
    assert [script.name[:2] for script in SCRIPTS] == ["01", "02", "03", "04", "05"]
    listed = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"`{script.name}`" in listed for script in SCRIPTS)


@pytest.mark.parametrize(
    "script",
    [pytest.param(each, marks=pytest.mark.slow) if each.stem in LONG else each for each in SCRIPTS],
    ids=lambda script: script.stem,
)
def test_it_runs(script: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONUTF8": "1"}
    arguments = [sys.executable, str(script), str(tmp_path)]
    done = subprocess.run(arguments, env=environment, capture_output=True, encoding="utf-8", check=False)
    complaints = [line for line in done.stderr.splitlines() if not re.search(DUCKDB, line)]
    assert (done.returncode, complaints) == (0, [])
    assert "%" in done.stdout
    assert set(os.listdir(tmp_path)) == WRITTEN.get(script.stem, set())
