"""The code of docs/guides/scale.md runs as printed."""

import re
from pathlib import Path
from typing import Any

import pytest

from truecount import Auto
from truecount.cli import separate, source
from truecount.results.separate.rows import COLUMNS

PAGE = (Path(__file__).parent.parent / "docs" / "guides" / "scale.md").read_text(encoding="utf-8")
FIRST, SECOND = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


def test_groups_one_by_one_are_as_printed(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(FIRST, "scale.md", "exec"), {})  # noqa: S102
    assert f"```text\n{capsys.readouterr().out}```" in PAGE


def test_a_frame_of_dask_is_inferred_where_it_is(tmp_path, monkeypatch, capsys) -> None:
    pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    human = ["pass", "fail", None, None] * 30
    verdict = ["pass", "fail", "fail", "pass"] * 30
    runs = pd.DataFrame({"human": human, "verdict": verdict, "region": ["north", "south"] * 60})
    runs.to_parquet("runs.parquet")
    names: dict[str, Any] = {}
    exec(compile(SECOND, "scale.md", "exec"), names)  # noqa: S102
    assert capsys.readouterr().out == "(4, 3)\n"


def test_the_page_names_every_column_and_the_limits() -> None:
    assert [name for name in COLUMNS if f"`{name}`" not in PAGE] == []
    assert f"up to {separate.MOST_POOLED:,} without being asked twice, {source.MOST_GROUPS:,} at most" in PAGE
    assert f"an effective sample size of {Auto().open_choice_of_many:,} for each group" in PAGE
