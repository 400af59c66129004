"""No output takes the place of an input, or joins it, whatever way the input is named."""

import subprocess
from pathlib import Path

import duckdb
import pytest

from command import COMMAND, run

ROWS = "human,verdict\n" + "a,a\n" * 9 + "b,b\n" * 9 + ",a\n" * 5
TABLE = ["--label", "human", "--prediction", "verdict"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "v.csv").write_text(ROWS)
    (tmp_path / "link.csv").symlink_to("v.csv")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "part.csv").write_text(ROWS)
    with duckdb.connect(tmp_path / "d.db") as connection:
        connection.execute("CREATE TABLE t AS FROM (VALUES ('a', 'a'), ('b', 'b'), (NULL, 'a')) t(human, verdict)")
    return tmp_path


def content(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


CASES = [
    ("duckdb://d.db#t", "d.db"),
    ("duckdb://d.db#main.t", "./runs/../d.db"),
    ("duckdb://{folder}/d.db#t", "d.db"),
    ("DuckDB://d.db#t", "d.db"),
    ("duckdb://d.db#t", "d.db.wal"),
    ("sqlite://d.db#t", "d.db"),
    ("sqlite://d.db#t", "d.db-journal"),
    ("file://{folder}/v.csv", "v.csv"),
    ("file://localhost{folder}/v.csv", "v.csv"),
    ("file://{folder}/link.csv", "v.csv"),
    ("file://{folder}/v.csv", "link.csv"),
    ("file://{folder}/*.csv", "v.csv"),
    ("file://{folder}/runs/*.csv", "runs/part.csv"),
    ("v.csv", "v.csv"),
    ("runs", "runs/part.csv"),
    ("runs", "runs/new.csv"),
    ("runs", "runs/deep.csv"),
]


@pytest.mark.parametrize(("source", "output"), CASES)
def test_an_input_is_not_written_to(source: str, output: str, folder: Path) -> None:
    before, option = content(folder), ("--json", "--csv", "--html")[len(source + output) % 3]
    done = run("estimate", source.format(folder=folder), *TABLE, option, output, folder=folder)
    assert done.returncode == 1
    assert "is read and is to be written" in done.stderr or "all of which is read" in done.stderr
    assert content(folder) == before


@pytest.mark.parametrize(("source", "output"), CASES[::4])
def test_nor_by_counts(source: str, output: str, folder: Path) -> None:
    before = content(folder)
    done = run("counts", source.format(folder=folder), *TABLE, "-o", output, folder=folder)
    assert done.returncode == 1
    assert content(folder) == before


def test_nor_by_check_of_an_audit(folder: Path) -> None:
    before = content(folder)
    for audit, output in (("v.csv", "v.csv"), ("runs", "runs/new.json")):
        done = run("check", "link.csv", *TABLE, "--audit", audit, "--json", output, folder=folder)
        assert (done.returncode, content(folder)) == (1, before)


def test_nor_is_the_standard_input(folder: Path) -> None:
    with (folder / "v.csv").open() as stream:
        command = [*COMMAND, "estimate", "-", *TABLE, "--csv", "v.csv"]
        done = subprocess.run(command, cwd=folder, stdin=stream, capture_output=True, text=True, check=False)
    assert (done.returncode, (folder / "v.csv").read_text()) == (1, ROWS)
    assert "is read and is to be written" in done.stderr


def test_another_file_is_written(folder: Path) -> None:
    done = run("estimate", "duckdb://d.db#t", *TABLE, "--json", "new.json", folder=folder)
    assert (done.returncode, (folder / "new.json").exists()) == (0, True)
