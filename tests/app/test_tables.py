"""Files that are opened: what their columns are taken for, and what they count."""

import gzip
import json
from pathlib import Path

import duckdb
import pytest

from truecount.app.request import Chosen
from truecount.app.tables import count, preview
from truecount.errors import InputError
from truecount.examples import JUDGE
from truecount.reading.files import File

ROWS = [("2026-03-02", "north", "pass", "pass", 1.5), ("2026-03-03", "south", "fail", "pass", 1.0)] * 4
ROWS += [("2026-03-09", "north", None, "pass", 2.0), ("2026-03-10", "south", None, "fail", 1.0)] * 6
NAMES = ("day", "region", "human", "verdict", "weight")


def write(path: Path) -> Path:
    if path.suffix == ".parquet":
        with duckdb.connect() as connection:
            connection.execute("CREATE TABLE t (day DATE, region TEXT, human TEXT, verdict TEXT, weight DOUBLE)")
            connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", ROWS)
            connection.sql(f"COPY t TO '{path}'")
    elif path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(dict(zip(NAMES, row, strict=True))) for row in ROWS))
    elif path.suffix == ".json":
        path.write_text(json.dumps([dict(zip(NAMES, row, strict=True)) for row in ROWS]))
    else:
        sign = "\t" if ".tsv" in path.name else ";" if "semi" in path.name else ","
        text = "\n".join(sign.join("" if cell is None else str(cell) for cell in row) for row in (NAMES, *ROWS))
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


KINDS = ["runs.csv", "runs.tsv", "semi.csv", "runs.csv.gz", "runs.jsonl", "runs.json", "runs.parquet"]


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_file_is_shown_with_a_guess(name: str, tmp_path: Path) -> None:
    found = preview(str(write(tmp_path / name)))
    assert found["columns"] == list(NAMES)
    assert (found["label"], found["prediction"]) == ("human", "verdict")
    assert found["times"] == ["day"]
    assert found["groups"] == ["region", "weight"]
    labels = [row[2] for row in found["rows"]]
    assert labels.count("") == 2
    assert len(labels) == 4


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_file_is_counted(name: str, tmp_path: Path) -> None:
    file = write(tmp_path / name)
    chosen = Chosen(place=str(file), label=["human"], prediction=["verdict"])
    found = count([str(file)], chosen)
    assert found["counts"]["labeled"] == [[0, 4], [0, 4]]
    assert found["counts"]["unlabeled"] == [6, 6]
    by = count([str(file)], Chosen(place=str(file), label=["human"], prediction=["verdict"], by=["region"]))
    assert by["counts"]["groups"] == [["north"], ["south"]]


def test_the_example_is_understood() -> None:
    found = preview(str(JUDGE))
    assert (found["label"], found["prediction"], found["groups"]) == ("human", "verdict", ["release"])


def test_names_decide_where_values_do_not(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("pred_class,y_true,z\n" + "a,a,1\nb,b,2\nb,a,3\n" * 3)
    assert (preview(str(file))["label"], preview(str(file))["prediction"]) == ("y_true", "pred_class")


def test_where_nothing_speaks_for_it_nothing_is_guessed(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("u,v\n" + "".join(f"{at},{at + 1000}\n" for at in range(200)))
    found = preview(str(file))
    assert (found["label"], found["prediction"], found["groups"]) == (None, None, [])


def test_a_matrix_and_counts_are_known_for_what_they_are(tmp_path: Path) -> None:
    matrix, counts = tmp_path / "confusion.csv", tmp_path / "counts.json"
    matrix.write_text("class\\output,fail,pass\nfail,140,60\npass,20,180\n")
    counts.write_text('{"schema": "truecount.counts/1", "classes": ["a", "b"], "outputs": ["a", "b"], '
                      '"labeled": [[1, 2], [3, 4]], "unlabeled": [5, 6]}')  # fmt: skip
    assert preview(str(matrix))["matrix"]["labeled"] == [[140, 60], [20, 180]]
    assert preview(str(counts)) == {"kind": "counts"}
    assert count([str(counts)], Chosen(place="counts.json"))["counts"]["unlabeled"] == [5, 6]


def test_long_cells_and_many_columns_are_cut(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(",".join(f"c{at}" for at in range(150)) + "\n" + ",".join(["x" * 500] * 150) + "\n")
    found = preview(str(file))
    assert len(found["columns"]) == len(found["rows"][0]) == 100
    assert len(found["rows"][0][0]) == 60


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b""),
        ("a.parquet", b"PAR1 no"),
        ("a.jsonl", b'{"a": \n'),
        ("a.csv", b"\xff\xfe\x00"),
        ("a.csv.gz", b"no"),
    ],
    ids=["empty", "parquet", "json", "bytes", "gzip"],
)
def test_a_broken_file_is_refused_by_its_own_name(name: str, content: bytes, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(InputError):
        preview(str(file))
    with pytest.raises(InputError) as told:
        count([str(file)], Chosen(place=f"upload:abc/{name}", label=["a"], prediction=["b"]))
    assert str(tmp_path) not in str(told.value)


def test_only_the_first_rows_are_read(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("a,b\n" + "1,2\n" * 5000)
    names, rows = File(file).head(7)
    assert (names, len(rows)) == (["a", "b"], 7)


def two_files(folder: Path) -> tuple[Path, Path]:
    labelled, population = folder / "read.csv", folder / "unread.csv"
    labelled.write_text("human,verdict\n" + "pass,pass\nfail,fail\nfail,pass\n" * 10)
    population.write_text("verdict,region\n" + "pass,north\nfail,south\npass,south\n" * 20)
    return labelled, population


def test_labelled_rows_and_the_population_may_be_two_files(tmp_path: Path) -> None:
    labelled, population = two_files(tmp_path)
    assert preview(str(labelled))["is_labelled"]
    assert not preview(str(population))["is_labelled"]
    chosen = Chosen(place=str(labelled), population=str(population), label=["human"], prediction=["verdict"])
    found = count([str(labelled), str(population)], chosen)
    assert found["counts"]["labeled"] == [[10, 10], [0, 10]]
    assert found["counts"]["unlabeled"] == [20, 40]
    assert found["notes"] == []
    assert chosen.words() == [str(labelled), str(population), "--label", "human", "--prediction", "verdict"]


def test_what_is_wrong_with_the_population_names_it_as_the_user_does(tmp_path: Path) -> None:
    labelled, population = two_files(tmp_path)
    places = {"place": "upload:a1/read.csv", "population": "upload:b2/unread.csv"}
    chosen = Chosen(**places, label=["human"], prediction=["region"])
    with pytest.raises(InputError) as told:
        count([str(labelled), str(population)], chosen)
    assert "read.csv" in str(told.value)
    assert str(tmp_path) not in str(told.value)
    swapped = Chosen(
        place="upload:b2/unread.csv", population="upload:a1/read.csv", label=["human"], prediction=["verdict"]
    )
    with pytest.raises(InputError, match=r"unread\.csv has no label and read\.csv has"):
        count([str(population), str(labelled)], swapped)


def test_labels_of_the_population_that_are_not_used_are_named(tmp_path: Path) -> None:
    labelled, _ = two_files(tmp_path)
    again = tmp_path / "again.csv"
    again.write_text(labelled.read_text())
    chosen = Chosen(place=str(labelled), population=str(again), label=["human"], prediction=["verdict"])
    (said,) = count([str(labelled), str(again)], chosen)["notes"]
    assert "30" in said
