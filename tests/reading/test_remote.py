"""Addresses are left to DuckDB, and what it lacks is named."""

import gzip
import json
from pathlib import Path

import duckdb
import pytest

import truecount as tc
from made_counts import count_files
from truecount.reading.columns import Columns
from truecount.reading.files import File

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


ROWS = [(8.0, "1.0", 2, "2024-05-27"), (7.0, " 1 ", 2, "2024-05-27"), (7.0, "0", 1, "2024-06-03")]
ROWS += [(None, "1", 0.5, "2024-05-28"), (None, "0.0", 3, "2024-06-04"), (None, "true", 1, "2024-06-04")]


def written(file: Path) -> str:
    """A file with gaps, blanks, weights and times in text, and its address."""
    sign = {".tsv": "\t", ".csv": ";"}.get(file.suffix, ",")
    names, rows = ["human", "verdict", "weight", "time"], [["" if v is None else str(v) for v in row] for row in ROWS]
    records = [dict(zip(names, row, strict=True)) for row in ROWS]
    lines = [sign.join(row) for row in (names, *rows)]
    content = {".json": json.dumps(records), ".jsonl": "\n".join(map(json.dumps, records))}
    text = content.get(file.suffix, "\n".join(lines))
    file.write_bytes(gzip.compress("\n".join(lines).encode()) if file.suffix == ".gz" else text.encode())
    return f"file://{file}"


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.json", "t.jsonl"])
def test_an_address_is_read_by_the_rules_of_files_on_disk(name: str, tmp_path: Path) -> None:
    address = written(tmp_path / name)
    for more in ({}, {"weight": "weight"}, {"by": {"time": "week"}}, {"by": "time"}):
        here, there = (tc.count_table(path, **COLUMNS, **more) for path in (str(tmp_path / name), address))
        pairs = zip(here.values(), there.values(), strict=True) if "by" in more else [(here, there)]
        assert all(mine.to_dict() | {"tables": 0} == its.to_dict() | {"tables": 0} for mine, its in pairs)
        assert "by" not in more or list(here) == list(there)
    assert set(there[next(iter(there))].classes) == ({7, 8} if "json" in name else {"7", "8"})


def test_text_at_an_address_meets_a_typed_file_as_text(tmp_path: Path) -> None:
    (tmp_path / "new.jsonl").write_text('{"verdict": 1}\n{"verdict": true}\n{"verdict": "0"}')
    (tmp_path / "t.csv").write_text("human,verdict\n1,1\n0,0\n0,TRUE\n")
    counts = count_files(f"file://{tmp_path / 't.csv'}", tmp_path / "new.jsonl", **COLUMNS)
    assert counts == tc.Counts([[1, 0, 1], [0, 1, 0]], [1, 1, 1], ["0", "1"], ["0", "1", "TRUE"])


def test_a_pattern_at_an_address_reads_each_file_by_its_own_header(tmp_path: Path) -> None:
    for week, text in {3: "human,verdict\na,x\n,y\n", 4: "verdict;note;human\ny;n;b\n"}.items():
        (tmp_path / f"week={week}").mkdir()
        (tmp_path / f"week={week}" / "t.csv").write_text(text)
    address = f"file://{tmp_path}/*/*.csv"
    assert count_files(address, **COLUMNS) == tc.Counts([[1, 0], [0, 1]], [0, 1], ["a", "b"], ["x", "y"])
    assert list(tc.count_table(address, **COLUMNS, by="week")) == ["3"]
    with pytest.raises(tc.InputError, match=r"\*\.tsv matches no file"):
        count_files(f"file://{tmp_path}/*.tsv", **COLUMNS)


def test_bad_files_at_an_address_are_refused_by_name(tmp_path: Path) -> None:
    address = written(tmp_path / "t.csv")
    with pytest.raises(tc.InputError, match=r"t\.csv has no column 'verdikt'.*meant 'verdict'"):
        count_files(address, label="human", prediction="verdikt")
    with pytest.raises(tc.InputError, match=r"^file://.*t\.csv has '2024-05-27' in column 'time': weights are numbers"):
        count_files(address, **COLUMNS, weight="time")
    with pytest.raises(tc.InputError, match=r"nothing\.csv cannot be read .*Check the address"):
        count_files(f"file://{tmp_path / 'nothing.csv'}", **COLUMNS)


def test_a_long_line_of_json_at_an_address(tmp_path: Path) -> None:
    records = [{"human": name, "verdict": "a", "note": "x" * 1000} for name in ("a", "b", None)]
    (tmp_path / "t.json").write_text(json.dumps(records * 1000))
    counts = count_files(f"file://{tmp_path / 't.json'}", **COLUMNS)
    assert counts == tc.Counts([[1000], [1000]], [1000], ["a", "b"], ["a"])


def test_the_ending_says_what_is_inside() -> None:
    with pytest.raises(tc.InputError, match=r"ends in '\.xlsx'.*\.parquet"):
        count_files("s3://bucket/runs.xlsx", **COLUMNS)
