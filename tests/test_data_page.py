"""The code of the guide to data runs as printed, but for where the file is: Spark's Java process has its own folder."""

import re
from pathlib import Path

import duckdb
import pytest

from frames import Sparks

PAGE = (Path(__file__).parent.parent / "docs" / "guides" / "data.md").read_text(encoding="utf-8")
SECTIONS = re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", PAGE, flags=re.DOTALL | re.MULTILINE)
BLOCKS = {title: block for title, text in SECTIONS for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL)}
NEEDS = {"Frames": "polars", "Spark": "pyspark", "Dask": "dask.dataframe", "Warehouses, by Ibis": "ibis"}
ROWS = """SELECT CASE WHEN i % 3 = 0 THEN (CASE WHEN i % 2 = 0 THEN 'fail' ELSE 'pass' END) END AS human,
    CASE WHEN (i % 2 = 0) != (i % 7 = 0) THEN 'fail' ELSE 'pass' END AS verdict,
    CASE WHEN i % 5 = 0 THEN 'north' ELSE 'south' END AS region,
    TIMESTAMP '2024-01-01' + INTERVAL (i) HOUR AS time FROM range(600) t(i)"""


def test_the_page_has_these_blocks() -> None:
    assert set(BLOCKS) >= {*NEEDS, "Groups, and weeks", "A cluster counts, a laptop infers"}


@pytest.mark.filterwarnings("ignore:fetch_arrow_table", "ignore:The inplace keyword")
@pytest.mark.parametrize("title", BLOCKS)
def test_the_block_runs_as_printed(
    title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], sparks: Sparks
) -> None:
    if title in NEEDS:
        pytest.importorskip(NEEDS[title])
    if title == "Spark":
        sparks.session(connect=False)
    monkeypatch.chdir(tmp_path)
    duckdb.sql(f"COPY ({ROWS}) TO 'runs.parquet'")
    block = BLOCKS[title].replace('"runs.parquet"', f'"{tmp_path.as_posix()}/runs.parquet"')
    exec(compile(block, "data.md", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out


@pytest.mark.parametrize("target", re.findall(r"\]\((?!http)([^)]+)\)", PAGE))
def test_links_lead_somewhere(target: str) -> None:
    assert (Path(__file__).parent.parent / "docs" / "guides" / target.partition("#")[0]).exists()
