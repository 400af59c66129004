"""What DuckDB is asked, and that it asks nobody else."""

import json
from pathlib import Path

import duckdb
import pytest

import truecount as tc
from truecount.errors import InputError
from truecount.reading.columns import Columns
from truecount.reading.duck import connect
from truecount.reading.files import relations
from truecount.reading.locate import find_shards
from truecount.reading.relations import require_keys

BOTH = Columns(label="human", prediction="verdict")


def cells(path: Path, columns: Columns = BOTH) -> list[tuple[object, ...]]:
    """All rows as they are read, decoded."""
    with connect() as connection:
        return [
            tuple(map(relation.decode, row))
            for relation in relations(connection, find_shards(path), columns)
            for row in relation.native.fetchall()
        ]


def test_columns_come_in_the_order_asked_for_and_only_they(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("verdict,id,human\nx,1,y\n")
    assert cells(tmp_path / "t.csv") == [("y", "x")]


def test_shards_with_other_headers_are_read_by_their_own(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("verdict,human\nx,y\n")
    (tmp_path / "b.csv").write_text("human;note;verdict\ny2;n;x2\n")
    assert sorted(cells(tmp_path)) == [("y", "x"), ("y2", "x2")]
    (tmp_path / "c.csv").write_text("human,verdct\ny,x\n")
    with pytest.raises(InputError, match=r"c\.csv has no column 'verdict'.*meant 'verdct'"):
        cells(tmp_path)


@pytest.mark.parametrize("name", ["t.jsonl", "t.json"])
def test_dots_lead_into_objects_unless_a_key_has_them(name: str, tmp_path: Path) -> None:
    records = [{"a": {"b": {"c": 1}}, "x.y": "flat", "x": {"y": "deep"}}, {"a": {"b": None}, "x": {"y": "deep"}}]
    lines = "\n".join(map(json.dumps, records)) if name == "t.jsonl" else json.dumps(records)
    (tmp_path / name).write_text(lines)
    assert sorted(cells(tmp_path / name, Columns(label="x.y", prediction="a.b.c")), key=str) == [
        ("deep", None),
        ("flat", 1),
    ]


def test_dots_lead_into_structs_unless_a_column_has_them(tmp_path: Path) -> None:
    columns = "{'b': {'c': 'deep'}} AS a, 'flat' AS \"x.y\", {'y': 'deep'} AS x"
    duckdb.sql(f"COPY (SELECT {columns}) TO '{tmp_path / 't.parquet'}'")
    assert cells(tmp_path / "t.parquet", Columns(label="x.y", prediction="a.b.c")) == [("flat", "deep")]
    with pytest.raises(duckdb.Error, match="nothing"):
        cells(tmp_path / "t.parquet", Columns(label="x.y", prediction="a.nothing"))


@pytest.mark.parametrize("folder", ["c0=z", "C1=z", "column0=z", "key0=z", "0=z", "Human=z"])
def test_a_folder_of_any_name_replaces_no_column_of_text(folder: str, tmp_path: Path) -> None:
    file = tmp_path / folder / "t.csv"
    file.parent.mkdir()
    file.write_text("verdict,human\nx,y\n")
    by = folder.partition("=")[0]
    assert cells(tmp_path, Columns(label="human", prediction="verdict", by={by: None})) == [("z", "y", "x")]


def test_a_folder_that_would_replace_the_records_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "runs/Json=z/t.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text('{"human": "y", "verdict": "x"}\n')
    assert cells(file) == [("y", "x")]
    with pytest.raises(InputError, match=r"t\.jsonl lies in a folder json=…: .*Rename the folder"):
        cells(tmp_path / "runs")


def test_times_and_weights_are_read_from_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("t,w,verdict\n2024-01-01 10:00, 2.5 ,x\n,,x\n")
    (tmp_path / "t.jsonl").write_text(
        '{"t": "2024-01-01T10:00", "w": 2.5, "verdict": "x"}\n{"t": null, "w": " ", "verdict": "x"}\n'
    )
    columns = Columns(prediction="verdict", by={"t": "day"}, weight="w")
    for name in ("t.csv", "t.jsonl"):
        first, second = cells(tmp_path / name, columns)
        assert (str(first[0]), *first[1:]) == ("2024-01-01 10:00:00", "x", 2.5)
        assert second == (None, "x", None)


def test_a_column_that_no_record_has_is_named(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 1, "verdict": {"x": 1}}\n{"b": 1}\n')
    shards = find_shards(tmp_path / "t.jsonl")
    with connect() as connection:
        require_keys(connection, shards, ["verdict.other"])
        with pytest.raises(InputError, match=r"no column 'c'.*'a', 'b', 'verdict'"):
            require_keys(connection, shards, ["c"])


def test_nothing_is_installed_or_loaded() -> None:
    names = "('autoinstall_known_extensions', 'autoload_known_extensions')"
    with connect() as connection:
        values = connection.sql(f"SELECT value FROM duckdb_settings() WHERE name IN {names}").fetchall()  # noqa: S608
    assert values == [("false",), ("false",)]


def test_files_are_read_where_progress_cannot_be_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB refuses to turn its progress on in a notebook without ipywidgets."""
    opened = duckdb.connect

    class Refusing:
        def __init__(self, *arguments: object, **options: object) -> None:
            self.connection = opened(*arguments, **options)

        def execute(self, text: str) -> object:
            if "progress" in text:
                raise duckdb.InvalidInputException("required package 'ipywidgets' is missing")
            return self.connection.execute(text)

        def __getattr__(self, name: str) -> object:
            return getattr(self.connection, name)

        def __enter__(self) -> "Refusing":
            return self

        def __exit__(self, *_: object) -> None:
            self.connection.close()

    monkeypatch.setattr(duckdb, "connect", Refusing)
    path = tmp_path / "runs.csv"
    path.write_text("y,c\na,a\nb,b\n,a\n")
    assert tc.count_table(path, label="y", prediction="c").unlabeled.tolist() == [1, 0]
