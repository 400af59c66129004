"""Addresses are left to DuckDB, and what it lacks is named."""

from pathlib import Path

import duckdb
import pytest

import truecount as tc
from truecount.counts.columns import Columns
from truecount.counts.files import File, count_files

COLUMNS = {"label": "human", "prediction": "verdict"}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    with duckdb.connect(tmp_path / "runs.duckdb") as connection:
        connection.execute("CREATE SCHEMA main2; CREATE TABLE main2.runs (human VARCHAR, verdict VARCHAR)")
        connection.execute("CREATE TABLE runs AS FROM (VALUES ('a', 'a'), ('b', 'b'), (NULL, 'a')) t(human, verdict)")
    return tmp_path / "runs.duckdb"


def test_a_table_of_a_database(database: Path) -> None:
    expected = tc.Counts([[1, 0], [0, 1]], [1, 0], ["a", "b"])
    assert count_files(f"duckdb://{database}#runs", **COLUMNS) == expected
    assert tc.count_table(f"duckdb://{database}#main.runs", **COLUMNS) == expected
    with pytest.raises(tc.InputError, match="has no rows"):
        count_files(f"duckdb://{database}#main2.runs", **COLUMNS)


def test_the_table_must_be_named(database: Path) -> None:
    with pytest.raises(tc.InputError, match=r"names no table.*#table or .*#schema\.table"):
        count_files(f"duckdb://{database}", **COLUMNS)
    with pytest.raises(tc.InputError, match="cannot be read"):
        count_files(f"duckdb://{database}#nothing", **COLUMNS)
    with pytest.raises(tc.InputError, match=r"has no column 'verdikt'.*meant 'verdict'"):
        count_files(f"duckdb://{database}#runs", label="human", prediction="verdikt")
    with pytest.raises(tc.InputError, match="cannot be read"):
        count_files(f"duckdb://{database.with_name('nothing.duckdb')}#runs", **COLUMNS)


EXTENSIONS = {
    "s3://bucket/runs/*.parquet": "httpfs",
    "https://example.org/runs.csv.gz": "httpfs",
    "postgres://localhost/data#runs": "postgres_scanner",
    "sqlite://runs.db#runs": "sqlite_scanner",
}


@pytest.mark.parametrize("address", EXTENSIONS)
def test_a_missing_extension_is_named(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(tc.InputError) as error:
        File(address).rows(Columns(prediction="verdict"))
    assert error.value.argument == address
    assert f"INSTALL {EXTENSIONS[address]}" in error.value.remedy


def test_the_ending_says_what_is_inside() -> None:
    with pytest.raises(tc.InputError, match=r"ends in '\.xlsx'.*\.parquet"):
        count_files("s3://bucket/runs.xlsx", **COLUMNS)
