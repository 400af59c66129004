"""Counts written by hand: read by name, and refused where they could be read two ways."""

from pathlib import Path

import duckdb
import pytest

from truecount import Counts
from truecount.counts.matrix import read_matrix
from truecount.errors import InputError

MATRIX = "class\\output,fail,pass\nfail,140,60\npass,20,180\n"
EXPECTED = Counts([[140, 60], [20, 180]], [600, 400], ["fail", "pass"])


def read(folder: Path, confusion: str = MATRIX, unlabeled: str = "fail,pass\n600,400\n", name: str = "f.csv") -> Counts:
    (folder / name).write_text(confusion, encoding="utf-8")
    (folder / "n.csv").write_text(unlabeled, encoding="utf-8")
    return read_matrix(folder / name, folder / "n.csv")


@pytest.mark.parametrize(
    "unlabeled",
    [
        "fail,pass\n600,400\n",
        "pass,fail\n400,600\n",
        "output,count\nfail,600\npass,400\n",
        "output,count\npass,400\nfail,600\n",
        "fail;pass\n600;400\n",
        "\ufefffail , pass\n 600 , 400 \n\n",
    ],
)
def test_both_forms_are_read_by_name(unlabeled: str, tmp_path: Path) -> None:
    assert read(tmp_path, unlabeled=unlabeled) == EXPECTED


def test_tabs_and_blanks(tmp_path: Path) -> None:
    assert read(tmp_path, MATRIX.replace(",", " \t "), name="f.tsv") == EXPECTED


def test_compressed_by_zstandard(tmp_path: Path) -> None:
    table = tmp_path / "f.csv.zst"
    columns = "{'class\\output': 'VARCHAR', 'fail': 'INT', 'pass': 'INT'}"
    (tmp_path / "f.csv").write_text(MATRIX)
    duckdb.sql(f"COPY (FROM read_csv('{tmp_path / 'f.csv'}', columns={columns})) TO '{table}' (COMPRESSION zstd)")
    (tmp_path / "n.csv").write_text("fail,pass\n600,400\n")
    assert read_matrix(table, tmp_path / "n.csv") == EXPECTED


def test_more_outputs_than_classes_and_names_with_commas(tmp_path: Path) -> None:
    counts = read(tmp_path, 'class\\output,a,b,"c, d"\nx,1,2,3\ny,4,5,6\n', 'a,b,"c, d"\n7,8,9\n')
    assert counts == Counts([[1, 2, 3], [4, 5, 6]], [7, 8, 9], ["x", "y"], ["a", "b", "c, d"])


@pytest.mark.parametrize("corner", ["output\\class", "class/output", "", "Class\\Output", "true"])
def test_any_other_corner_is_refused(corner: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"top-left.*class\\output.*rows are true classes"):
        read(tmp_path, MATRIX.replace("class\\output", corner))


def test_corner_of_a_transposed_table_is_shown_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, MATRIX.replace("class\\output", "output\\class"))
    assert r"has 'output\class' in its top-left cell" in str(error.value)
    assert error.value.remedy == r"Its rows seem to be outputs: transpose the table, then write class\output there"


BAD_MATRIX = {
    "negative": (MATRIX.replace("60", "-60"), "cell '-60'"),
    "not a number": (MATRIX.replace("60", "nan"), "cell 'nan'"),
    "empty cell": (MATRIX.replace("60", ""), "cell ''"),
    "fraction": (MATRIX.replace("60", "6.5"), "cell '6.5': counts are whole numbers"),
    "rate": (MATRIX.replace("60", "0.61"), "cell '0.61': counts are needed, and this looks like a rate"),
    "percentage": (MATRIX.replace("60", "61 %"), "cell '61 %': .* looks like a rate"),
    "foreign digit": (MATRIX.replace("60", "٦"), "cell '٦'"),
    "ragged": (MATRIX.replace(",60", ""), "2 cells in row 2 and 3 in the header"),
    "one class": ("class\\output,fail,pass\nfail,140,60\n", "1 class"),
    "twice the class": (MATRIX.replace("pass,20", "fail,20"), "names 'fail' twice"),
    "twice the output": (MATRIX.replace("fail,pass\n", "fail,fail\n"), "names 'fail' twice"),
    "no rows": ("class\\output,fail,pass\n", "no counts"),
    "empty": ("", "is empty"),
}


@pytest.mark.parametrize("case", BAD_MATRIX)
def test_bad_matrix_is_refused(case: str, tmp_path: Path) -> None:
    content, message = BAD_MATRIX[case]
    with pytest.raises(InputError, match=message):
        read(tmp_path, content)


BAD_UNLABELED = {
    "other output": ("fail,abstain\n600,400\n", "names the output 'abstain': .*'fail', 'pass'.*Give it a column"),
    "misspelt output": ("output,count\nfaill,600\npass,400\n", "names the output 'faill': .*meant 'fail'"),
    "outputs instead of counts": ("verdict\nfail\npass\nfail\n", "has 'fail' below.* look like outputs.*Count"),
    "outputs without a header": ("fail\npass\n", "look like outputs"),
    "rows instead of counts": ("human,verdict\n,fail\n,pass\n", "has 'fail' below.* look like outputs"),
    "rates": ("fail,pass\n0.6,0.4\n", "cell '0.6': .* looks like a rate"),
    "missing output": ("fail\n600\n", "does not name the output 'pass'"),
    "additional output": ("fail,pass,x\n1,2,3\n", "names the output 'x'"),
    "twice": ("output,count\nfail,1\nfail,2\npass,3\n", "names 'fail' twice"),
    "two rows": ("fail,pass\n1,2\n3,4\n", "2 rows below"),
    "negative": ("fail,pass\n-1,2\n", "cell '-1'"),
    "header only": ("fail,pass\n", "no counts"),
}


@pytest.mark.parametrize("case", BAD_UNLABELED)
def test_bad_unlabeled_counts_are_refused(case: str, tmp_path: Path) -> None:
    content, message = BAD_UNLABELED[case]
    with pytest.raises(InputError, match=message):
        read(tmp_path, unlabeled=content)


def test_only_text_files_hold_a_matrix(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="CSV or TSV"):
        read(tmp_path, name="f.jsonl")
    with pytest.raises(InputError, match="does not exist"):
        read_matrix(tmp_path / "x.csv", tmp_path / "y.csv")


def test_matrix_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_bytes(MATRIX.encode() + "é,1,2\n".encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8"):
        read_matrix(tmp_path / "f.csv", tmp_path / "f.csv")
