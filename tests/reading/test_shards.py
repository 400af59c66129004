"""What a file holds is told by its ending and, for JSON, by its first signs; many files may be one table."""

import gzip
import json
from pathlib import Path

import duckdb
import pytest

from made_counts import count_files
from truecount import Counts
from truecount.errors import InputError
from truecount.reading.columns import Columns
from truecount.reading.files import File
from truecount.reading.locate import find_shards, kind

COLUMNS = {"label": "human", "prediction": "verdict"}


def write(file: Path, content: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content.encode()) if file.suffix == ".gz" else content.encode())
    return file


def outputs(path: Path) -> dict[object, int]:
    return {row.output: row.rows for row in File(path).rows(Columns(prediction="verdict"))}


@pytest.mark.parametrize("name", ["t.json", "T.JSON", "t.json.gz"])
@pytest.mark.parametrize("start", ["", "\n \n"])
def test_json_lines_by_another_ending(name: str, start: str, tmp_path: Path) -> None:
    file = write(tmp_path / name, start + "\n".join(json.dumps({"verdict": verdict}) for verdict in "aab"))
    assert kind(file) == ".jsonl"
    assert outputs(file) == {"a": 2, "b": 1}


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_of_records_is_a_table(name: str, indent: int | None, tmp_path: Path) -> None:
    file = write(tmp_path / name, "\n " + json.dumps([{"verdict": verdict} for verdict in "aab"], indent=indent))
    assert outputs(file) == {"a": 2, "b": 1}


@pytest.mark.parametrize("content", ['{"a": 1}', '{\n"a": 1}', "a,b\n1,2\n", "1\n2\n", "\x00"])
def test_other_json_is_no_table(content: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"t\.json is no table: .*an object on each line, or an array"):
        find_shards(write(tmp_path / "t.json", content))


@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl.gz", "t.json.gz", "t.csv.zst", "t.jsonl.zst", "t.json.zst"])
def test_corrupt_compression_is_refused_by_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(gzip.compress(b"")[:10] + b"\xff" * 50)
    with pytest.raises(InputError) as error:
        outputs(tmp_path / name)
    assert error.value.argument == str(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("t.csv.zst", "csv"),
        ("t.tsv.zst", "csv, DELIM '\t'"),
        ("t.jsonl.zst", "json"),
        ("t.json.zst", "json"),
        ("t.json.zst", "json, ARRAY true"),
    ],
)
def test_zstandard(name: str, form: str, tmp_path: Path) -> None:
    rows = "FROM (VALUES (1, 'a'), (2, 'a'), (3, 'b')) t(id, verdict)"
    duckdb.sql(f"COPY ({rows}) TO '{tmp_path / name}' (FORMAT {form}, COMPRESSION zstd)")
    assert outputs(tmp_path / name) == {"a": 2, "b": 1}


def test_a_long_line_of_compressed_json(tmp_path: Path) -> None:
    records = json.dumps([{"verdict": "a", "note": "x" * 1000}] * 3000)
    line = "columns={'line': 'VARCHAR'}, delim='\x01', quote='', header=false, max_line_size=10000000"
    source = write(tmp_path / "source", records)
    options = "HEADER false, QUOTE '', ESCAPE '', DELIM '\x01', COMPRESSION zstd"
    duckdb.sql(f"COPY (FROM read_csv('{source}', {line})) TO '{tmp_path / 't.json.zst'}' (FORMAT csv, {options})")
    assert outputs(tmp_path / "t.json.zst") == {"a": 3000}


def shard(folder: Path, number: int, rows: list[tuple[str, str]]) -> None:
    lines = ["human,verdict", *(f"{human},{verdict}" for human, verdict in rows)]
    write(folder / f"part-{number}.csv", "\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shard(tmp_path / "runs", 0, [("a", "a"), ("", "b")])
    shard(tmp_path / "runs", 1, [("b", "b"), ("", "b")])
    shard(tmp_path / "runs" / "deep", 2, [("", "c")])
    write(tmp_path / "runs" / "_SUCCESS", "")
    write(tmp_path / "runs" / ".part-0.csv.crc", "x")
    return tmp_path / "runs"


def test_a_folder_is_one_table(folder: Path) -> None:
    assert count_files(folder, **COLUMNS) == Counts([[1, 0, 0], [0, 1, 0]], [0, 2, 1], ["a", "b"], ["a", "b", "c"])


def test_a_pattern_is_one_table(folder: Path) -> None:
    assert count_files(folder / "part-?.csv", **COLUMNS) == Counts([[1, 0], [0, 1]], [0, 2], ["a", "b"])
    assert count_files(folder / "**" / "*.csv", **COLUMNS) == count_files(folder, **COLUMNS)
    with pytest.raises(InputError, match=r"other\*\.csv matches no file"):
        count_files(folder / "other*.csv", **COLUMNS)


def test_shards_are_of_one_kind(folder: Path) -> None:
    write(folder / "t.jsonl", '{"human": "a", "verdict": "a"}\n')
    with pytest.raises(InputError, match=r"end in \.csv and in \.jsonl.*one kind"):
        count_files(folder, **COLUMNS)


@pytest.mark.parametrize("form", ["parquet", "csv", "json"])
def test_folders_of_a_partitioned_table_are_columns(form: str, tmp_path: Path) -> None:
    values = "('a', 'a', 1), ('b', 'b', 2), (NULL, 'a', 1), (NULL, 'b', 2), (NULL, 'b', 2)"
    rows = f"FROM (VALUES {values}) t(human, verdict, week)"
    duckdb.sql(f"COPY ({rows}) TO '{tmp_path / 'runs'}' (FORMAT {form}, PARTITION_BY (week))")
    if form == "json":
        for file in (tmp_path / "runs").rglob("*.json"):
            file.rename(file.with_suffix(".jsonl"))
    rows_found = File(tmp_path / "runs").rows(Columns(label="human", prediction="verdict", by={"week": None}))
    week = (lambda number: number) if form == "parquet" else str
    new = {(row.group, row.output): row.rows for row in rows_found if row.label is None}
    assert new == {((week(1),), "a"): 1, ((week(2),), "b"): 2}


def test_an_unreadable_shard_is_named(folder: Path) -> None:
    (folder / "part-1.csv").write_text("human,verdict\na,a\nb\n")
    with pytest.raises(InputError, match="Line: 3") as error:
        count_files(folder, **COLUMNS)
    assert error.value.argument == str(folder / "part-1.csv")
    (folder / "part-1.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError) as error:
        count_files(folder, **COLUMNS)
    assert error.value.argument == str(folder / "part-1.csv")


@pytest.mark.parametrize("start", [4, 30, -20])
def test_a_corrupt_shard_of_parquet_is_named(start: int, tmp_path: Path) -> None:
    for number in range(3):
        rows = "SELECT 'a' human, 'b' verdict FROM range(9)"
        duckdb.sql(f"COPY ({rows}) TO '{tmp_path / f'part-{number}.parquet'}'")
    content = bytearray((tmp_path / "part-1.parquet").read_bytes())
    content[start : start + 20 or None] = b"\xff" * 20
    (tmp_path / "part-1.parquet").write_bytes(content)
    with pytest.raises(InputError) as error:
        count_files(tmp_path, **COLUMNS)
    assert error.value.argument == str(tmp_path / "part-1.parquet")


def test_a_shard_without_the_column_is_named(tmp_path: Path) -> None:
    duckdb.sql(f"COPY (SELECT 'a' human, 'b' verdict) TO '{tmp_path / 'a.parquet'}'")
    duckdb.sql(f"COPY (SELECT 'b' verdict) TO '{tmp_path / 'b.parquet'}'")
    with pytest.raises(InputError, match="human") as error:
        count_files(tmp_path, **COLUMNS)
    assert error.value.argument == str(tmp_path / "b.parquet")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("first", ["labelled", "unlabelled"])
def test_a_shard_without_the_label_column_is_named(ending: str, first: str, tmp_path: Path) -> None:
    tables = {"labelled": "SELECT 'a' AS human, 'a' AS verdict", "unlabelled": "SELECT 'a' AS verdict"}
    for name, query in tables.items():
        place = tmp_path / f"{'1' if name == first else '2'}-{name}.{ending}"
        duckdb.sql(f"COPY ({query}) TO '{place}' (FORMAT {ending})")
    needed = "shards of one table have the same columns. Name files of unlabelled items apart, as a second table"
    with pytest.raises(InputError, match=rf"-unlabelled\.{ending} has no column 'human', and .*: {needed}"):
        count_files(tmp_path, label="human", prediction="verdict")
