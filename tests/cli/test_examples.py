"""Every example that the help shows runs as it is printed, on files like those it names; `tests/app` runs the page."""

import json
import shlex
import shutil
from pathlib import Path

import duckdb
import pytest

from truecount.cli.app import app
from truecount.examples import JUDGE

EXAMPLES = [
    line.strip()
    for command in app.commands.values()
    for line in (command.help or "").splitlines()
    if line.strip().startswith("truecount ")
]
MATRIX = "class\\output,forest,water\nforest,50,4\nwater,3,60\n"
ROWS = """
human, verdict, human AS ann, human AS bob, verdict AS gpt4, verdict AS bem,
release AS region, TIMESTAMP '2026-01-05' + INTERVAL (row_number() OVER () % 40) DAY AS time,
chr(65 + CAST(row_number() OVER () % 3 AS INTEGER)) AS model,
chr(120 + CAST(row_number() OVER () % 3 AS INTEGER)) AS site,
row_number() OVER () // 5 AS question,
CASE WHEN human IS NULL OR row_number() OVER () % 4 = 0 THEN 'here' ELSE 'there' END AS "where",
human AS y, verdict AS c, release AS store, strftime(DATE '2026-01-05', '%Y-%m-%d') AS week
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "runs").mkdir()
    with duckdb.connect() as connection:
        rows = connection.read_csv(str(JUDGE)).select(ROWS)
        read, unread = rows.filter("human IS NOT NULL"), rows.filter("human IS NULL")
        for name, table in {"runs": rows, "read": read, "unread": unread}.items():
            table.write_csv(str(folder / f"{name}.csv"))
            table.write_parquet(str(folder / f"{name}.parquet"))
        read.limit(60).write_csv(str(folder / "audit.csv"))
        (folder / "sales").mkdir()
        for part in (folder / "runs", folder / "sales"):
            rows.write_parquet(str(part / "part.parquet"))
    for name in ("confusion", "reference"):
        (folder / f"{name}.csv").write_text(MATRIX)
    for name in ("unlabeled", "pixels"):
        (folder / f"{name}.csv").write_text("forest,water\n700,300\n")
    counts = {"schema": "truecount.counts/1", "classes": ["fail", "pass"], "outputs": ["fail", "pass"]}
    for name in ("counts", "part-1", "part-2"):
        (folder / f"{name}.json").write_text(json.dumps({**counts, "labeled": [[40, 9], [7, 50]], "unlabeled": [9, 8]}))
    return folder


def typed(line: str) -> list[str]:
    """What a shell makes of a line: words, and files in place of a pattern that has no quotes."""
    words = shlex.split(line.removeprefix("truecount "))
    plain = [word for word in words if "*" not in word or f"'{word}'" in line]
    return (
        plain if plain == words else [each for word in words for each in sorted(map(str, Path().glob(word))) or [word]]
    )


@pytest.mark.parametrize("example", [each for each in EXAMPLES if each.split()[1] != "app"])
def test_it_runs(example: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truecount.inference.choose.USUAL_OF_MANY", 20)
    monkeypatch.chdir(shutil.copytree(data, tmp_path / "here"))
    code = app(typed(example), standalone_mode=False)
    assert code in (None, 0) or (code == 3 and "--strict" in example)


def test_there_are_some_of_every_verb() -> None:
    assert {example.split()[1] for example in EXAMPLES} == {"estimate", "check", "plan", "counts", "demo", "app"}
    assert len(EXAMPLES) > 20
