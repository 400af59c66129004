"""Shards keep their types: numbers are added up as numbers, other types are not cast, and no order of files matters."""

import json
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import duckdb
import pytest

import truecount as tc
from truecount.reading.columns import Columns
from truecount.reading.files import File

COLUMNS = {"label": "human", "prediction": "verdict"}


def rows_of(folder: Path, **columns: Any) -> dict[tuple[Any, ...], float]:
    rows = File(folder).rows(Columns(label="human", prediction="verdict", **columns))
    found: dict[tuple[Any, ...], float] = {}
    for row in rows:
        key = (*row.group, row.label, row.output)
        found[key] = found.get(key, 0) + row.weight
    return found


def shards(folder: Path, *selections: str) -> Path:
    folder.mkdir()
    for number, selection in enumerate(selections):
        duckdb.sql(f"COPY ({selection}) TO '{folder / f'part-{number}.parquet'}' (FORMAT parquet)")
    return folder


WHOLE = "FROM (VALUES ('a', 'x', 1), ('b', 'x', 2)) t(human, verdict, w)"
PARTS = "FROM (VALUES ('a', 'x', 0.4::DOUBLE), ('b', 'x', 0.4)) t(human, verdict, w)"
TENTHS = "FROM (VALUES ('a', 'x', 0.2::DECIMAL(3, 1)), ('b', 'x', 0.3)) t(human, verdict, w)"


@pytest.mark.parametrize("order", list(permutations([WHOLE, PARTS, TENTHS])))
def test_weights_are_summed_as_numbers(order: tuple[str, ...], tmp_path: Path) -> None:
    found = rows_of(shards(tmp_path / "runs", *order), weight="w")
    assert found == pytest.approx({("a", "x"): 1.6, ("b", "x"): 2.7})


@pytest.mark.parametrize("turn", [1, -1])
def test_labels_and_groups_that_are_numbers_stay_what_they_are(turn: int, tmp_path: Path) -> None:
    whole = "FROM (VALUES (0, 1::TINYINT, 7), (2, 0, 7)) t(human, verdict, week)"
    parts = "FROM (VALUES (0.4::DOUBLE, 1::UBIGINT, 7.5::FLOAT), (1.6, 0, 7)) t(human, verdict, week)"
    found = rows_of(shards(tmp_path / "runs", *[whole, parts][::turn]), by={"week": None})
    assert found == {(7, 0, 1): 1, (7, 2, 0): 1, (7.5, 0.4, 1): 1, (7, 1.6, 0): 1}


OTHER = {
    "text beside numbers": ("'01'", "1", "human", "VARCHAR", "INTEGER"),
    "truth values beside numbers": ("true", "7", "human", "BOOLEAN", "INTEGER"),
    "text beside truth values": ("'true'", "true", "verdict", "VARCHAR", "BOOLEAN"),
    "days beside text": ("DATE '2024-01-01'", "'2024-01-01'", "week", "DATE", "VARCHAR"),
    "days beside times": ("DATE '2024-01-01'", "TIMESTAMP '2024-01-01'", "week", "DATE", "TIMESTAMP"),
    "zones": ("TIMESTAMP '2024-01-01'", "TIMESTAMPTZ '2024-01-01'", "week", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"),
    "weights in text": ("1", "'0.4'", "w", "INTEGER", "VARCHAR"),
}


@pytest.mark.parametrize("case", OTHER)
@pytest.mark.parametrize("turn", [1, -1])
def test_other_types_that_differ_are_refused_by_both_files(
    case: str, turn: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pytz", None)  # DuckDB hands over times with a zone through it
    *values, column, first, second = OTHER[case]
    usual = {"human": "'a'", "verdict": "'x'", "week": "1", "w": "1"}
    made = [", ".join(f"{value} AS {name}" for name, value in (usual | {column: value}).items()) for value in values]
    folder = shards(tmp_path / "runs", *[f"SELECT {each}" for each in made][::turn])
    with pytest.raises(tc.InputError, match=f"in column '{column}', and ") as error:
        rows_of(folder, by={"week": None}, weight="w")
    named = f"{error.value.argument} {error.value.found}"
    assert all(f"part-{number}.parquet" in named for number in (0, 1))
    assert {first, second} == {error.value.found.split()[1], named.rpartition(" has ")[2]} or "ZONE" in second


def test_a_shard_without_any_value_goes_with_every_type(tmp_path: Path) -> None:
    typed = "FROM (VALUES ('a', 'x'), ('b', 'x')) t(human, verdict)"
    empty = ["SELECT NULL::DOUBLE human, 'x' verdict", "SELECT 'nan'::DOUBLE human, 'x' verdict"]
    for order in permutations([typed, *empty]):
        folder = shards(tmp_path / str(hash(order)), *order)
        assert rows_of(folder) == {("a", "x"): 1, ("b", "x"): 1, (None, "x"): 2}


def test_arrow_writes_a_column_of_nothing_as_no_type(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"human": arrow.nulls(2), "verdict": ["x", "y"]}), tmp_path / "a.parquet")
    parquet.write_table(arrow.table({"human": ["a", "b"], "verdict": ["x", "y"]}), tmp_path / "b.parquet")
    assert rows_of(tmp_path) == {("a", "x"): 1, ("b", "y"): 1, (None, "x"): 1, (None, "y"): 1}


def test_entries_of_structs_are_compared_alone(tmp_path: Path) -> None:
    folder = shards(
        tmp_path / "runs",
        "SELECT {'human': 1, 'note': 'n'} AS answer, 'x' AS verdict",
        "SELECT {'human': 0.5::DOUBLE, 'note': 3} AS answer, 'x' AS verdict",
    )
    rows = File(folder).rows(Columns(label="answer.human", prediction="verdict"))
    assert {row.label for row in rows} == {1, 0.5}


def test_folders_keep_one_type_where_files_come_apart(tmp_path: Path) -> None:
    for week, value in {"3": "1", "x": "0.5::DOUBLE"}.items():
        (tmp_path / f"week={week}").mkdir()
        selection = f"SELECT 'a' human, 'x' verdict, {value} w"
        duckdb.sql(f"COPY ({selection}) TO '{tmp_path / f'week={week}' / 't.parquet'}' (FORMAT parquet)")
    found = rows_of(tmp_path, by={"week": None}, weight="w")
    assert found == {("3", "a", "x"): 1, ("x", "a", "x"): 0.5}


def test_the_file_that_lacks_a_column_is_named(tmp_path: Path) -> None:
    folder = shards(tmp_path / "runs", "SELECT 'a' human, 'x' verdict", "SELECT 'x' verdict")
    with pytest.raises(tc.InputError, match=r"part-1\.parquet has no column 'human', and .*part-0\.parquet has"):
        rows_of(folder)


def test_files_at_an_address_come_apart_too(tmp_path: Path) -> None:
    folder = shards(tmp_path / "runs [1]", WHOLE, PARTS)
    found = rows_of(f"file://{str(folder).replace('[', '[[]')}/*.parquet", weight="w")  # type: ignore[arg-type]
    assert found == pytest.approx({("a", "x"): 1.4, ("b", "x"): 2.4})


def json_shards(folder: Path, *records: list[dict[str, Any]]) -> Path:
    folder.mkdir()
    for number, each in enumerate(records):
        (folder / f"part-{number}.jsonl").write_text("\n".join(map(json.dumps, each)))
    return folder


@pytest.mark.parametrize("turn", [1, -1])
def test_records_are_typed_by_value(turn: int, tmp_path: Path) -> None:
    whole, parts = [{"human": 1, "verdict": 0, "w": 1}], [{"human": 1.0, "verdict": 0.5, "w": 0.4}]
    found = rows_of(json_shards(tmp_path / "runs", *[whole, parts][::turn]), weight="w")
    assert found == {(1, 0): 1, (1, 0.5): 0.4}


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize("column", ["human", "verdict", "week"])
def test_truth_values_beside_numbers_are_refused_by_both_files(column: str, turn: int, tmp_path: Path) -> None:
    usual = {"human": "a", "verdict": "x", "week": "w"}
    records = [[usual | {column: True}], [usual | {column: 1}]][::turn]
    with pytest.raises(tc.InputError, match=rf"true or false in column '{column}' .*, and numbers") as error:
        rows_of(json_shards(tmp_path / "runs", *records), by={"week": None})
    assert all(f"part-{number}.jsonl" in str(error.value) for number in (0, 1))


def test_groups_that_only_look_alike_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(
        '{"human": "a", "verdict": "a"}\n{"human": "b", "verdict": "b"}\n'
        '{"verdict": "a", "week": 3}\n{"verdict": "b", "week": "3"}\n'
    )
    with pytest.raises(tc.InputError, match="'week' hold both"):
        tc.count_table(tmp_path / "t.jsonl", **COLUMNS, by="week")
