"""Files become the counts that their rows say, and bad files become readable errors."""

import gzip
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from made_counts import count_files
from truecount import Counts, count, count_table
from truecount.counts.exchange import read_counts
from truecount.errors import InputError, TruecountWarning
from truecount.reading.columns import Columns
from truecount.reading.files import File

ROWS = [("pass", "pass"), ("fail", "pass"), ("fail", "fail"), (None, "pass"), (None, "pass"), (None, "abstain")]
EXPECTED = Counts([[0, 1, 1], [0, 0, 1]], [1, 0, 2], ["fail", "pass"], ["abstain", "fail", "pass"])
COLUMNS = {"label": "human", "prediction": "verdict"}


def write_text(file: Path, rows: list[tuple[Any, Any]], delimiter: str = ",") -> None:
    lines = [delimiter.join(["id", "human", "verdict"])]
    lines += [delimiter.join([str(i), "" if h is None else str(h), str(v)]) for i, (h, v) in enumerate(rows)]
    content = "\n".join(lines) + "\n"
    file.write_bytes(gzip.compress(content.encode()) if file.suffix == ".gz" else content.encode())


def write_tabs(file: Path, rows: list[tuple[Any, Any]]) -> None:
    write_text(file, rows, "\t")


def write_semicolons(file: Path, rows: list[tuple[Any, Any]]) -> None:
    write_text(file, rows, ";")


def write_lines(file: Path, rows: list[tuple[Any, Any]]) -> None:
    content = "".join(json.dumps({"human": h, "verdict": v, "text": "x"}) + "\n" for h, v in rows)
    file.write_bytes(gzip.compress(content.encode()) if file.suffix == ".gz" else content.encode())


def write_parquet(file: Path, rows: list[tuple[Any, Any]]) -> None:
    with duckdb.connect() as connection:
        source = file.with_suffix(".source.jsonl")
        write_lines(source, rows)
        connection.execute(f"COPY (FROM read_json('{source}')) TO '{file}' (FORMAT parquet)")
        source.unlink()


WRITERS: dict[str, Callable[[Path, list[tuple[Any, Any]]], None]] = {
    "t.csv": write_text,
    "T.CSV": write_text,
    "my.data.csv": write_text,
    "semicolons.csv": write_semicolons,
    "t.csv.gz": write_text,
    "t.tsv": write_tabs,
    "t.tsv.gz": write_tabs,
    "t.jsonl": write_lines,
    "t.ndjson": write_lines,
    "t.jsonl.gz": write_lines,
    "t.parquet": write_parquet,
    "t.pq": write_parquet,
}
TYPED = ["t.jsonl", "t.parquet"]


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_gives_the_same_counts(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name, ROWS)
    assert count_files(tmp_path / name, **COLUMNS) == EXPECTED


@pytest.mark.parametrize("name", WRITERS)
def test_two_files_give_the_same_counts_as_one(name: str, tmp_path: Path) -> None:
    labeled, unlabeled = tmp_path / f"labeled-{name}", tmp_path / f"unlabeled-{name}"
    WRITERS[name](labeled, ROWS[:3])
    WRITERS[name](unlabeled, [("not looked at", verdict) for _, verdict in ROWS[3:]])
    with pytest.warns(TruecountWarning, match="The second table has 3 labels, which are not used"):
        counts = count_files(labeled, unlabeled, **COLUMNS)
    assert counts == EXPECTED


def test_unlabeled_file_needs_no_label_column(tmp_path: Path) -> None:
    write_text(tmp_path / "labeled.csv", ROWS[:3])
    (tmp_path / "unlabeled.csv").write_text("verdict\npass\npass\nabstain\n")
    assert count_files(tmp_path / "labeled.csv", tmp_path / "unlabeled.csv", **COLUMNS) == EXPECTED


def test_many_rows_agree_with_counting_in_memory(tmp_path: Path) -> None:
    rng = random.Random(1)  # noqa: S311
    rows = [(rng.choice("abc") if rng.random() < 0.3 else None, rng.choice("abcd")) for _ in range(20_000)]
    write_text(tmp_path / "t.csv", rows)
    labeled = [row for row in rows if row[0] is not None]
    expected = count([h for h, _ in labeled], [v for _, v in labeled], [v for h, v in rows if h is None])
    assert count_files(tmp_path / "t.csv", **COLUMNS) == expected


def test_text_stays_text(tmp_path: Path) -> None:
    write_text(tmp_path / "t.csv", [("01", "1"), ("1", "01"), (None, "1"), ("true", "2020-01-01")])
    counts = count_files(tmp_path / "t.csv", **COLUMNS)
    assert counts.classes == ("01", "1", "true")
    assert counts.outputs == ("01", "1", "2020-01-01")


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize(
    ("written", "read"),
    [([1, 2], (1, 2)), ([1.0, 2.0], (1, 2)), ([True, False], (False, True)), ([0.5, 1.5], (0.5, 1.5))],
)
def test_types_are_kept_and_whole_numbers_are_whole(
    name: str, written: list[Any], read: tuple[Any, ...], tmp_path: Path
) -> None:
    first, second = written
    WRITERS[name](tmp_path / name, [(first, first), (second, second), (None, second)])
    counts = count_files(tmp_path / name, **COLUMNS)
    assert counts.classes == counts.outputs == read
    assert [type(name) for name in counts.classes] == [type(name) for name in read]


def test_a_number_and_a_string_that_look_alike_are_refused(tmp_path: Path) -> None:
    write_lines(tmp_path / "t.jsonl", [("1", 1), (1, "1"), (None, "a")])
    with pytest.raises(InputError, match="classes hold both 1 and '1'"):
        count_files(tmp_path / "t.jsonl", **COLUMNS)
    write_lines(tmp_path / "t.jsonl", [(1, "1"), (0, "0"), (None, "1")])
    with pytest.raises(
        InputError, match=r"classes and outputs hold both 0 and '0'.*classes=\[...\] and outputs=\[...\]"
    ):
        count_files(tmp_path / "t.jsonl", **COLUMNS)
    counts = count_files(tmp_path / "t.jsonl", **COLUMNS, classes=[0, 1], outputs=["0", "1"])
    assert counts.labeled.tolist() == [[1, 0], [0, 1]]


def test_truth_values_have_one_spelling_in_text(tmp_path: Path) -> None:
    write_text(tmp_path / "t.csv", [("True", "true"), ("False", "true"), ("False", "false"), (None, "false")])
    counts = count_files(tmp_path / "t.csv", **COLUMNS)
    assert counts == Counts([[1, 1], [0, 1]], [1, 0], ["False", "True"])
    assert counts.counted is not None
    named = count_files(tmp_path / "t.csv", **COLUMNS, classes=["True", "False"], outputs=["true", "false"])
    assert named.labeled.tolist() == [[1, 0], [1, 1]]


def test_json_may_lack_the_label_where_it_is_missing(tmp_path: Path) -> None:
    lines = ['{"human": "a", "verdict": "a"}', '{"human": "b", "verdict": "b"}', "", '{"verdict": "a"}']
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    assert count_files(tmp_path / "t.jsonl", **COLUMNS) == Counts([[1, 0], [0, 1]], [1, 0], ["a", "b"])


def test_escapes_in_json_are_the_sign_they_mean(tmp_path: Path) -> None:
    lines = [
        r'{"human": "\u00e9", "verdict": "é"}',
        '{"human": "é", "verdict": "b"}',
        r'{"human": "b", "verdict": "\u0062"}',
        '{"verdict": "b"}',
    ]
    (tmp_path / "t.jsonl").write_text("\n".join(lines), encoding="utf-8")
    assert count_files(tmp_path / "t.jsonl", **COLUMNS) == Counts([[1, 0], [1, 1]], [1, 0], ["b", "é"])


@pytest.mark.parametrize(
    ("name", "blank"), [("t.csv", '""'), ("t.csv", "  "), ("t.csv", '" "'), ("t.jsonl", ""), ("t.jsonl", " \t")]
)
def test_blank_labels_are_missing_and_blanks_around_names_do_not_count(name: str, blank: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name, [("a ", " a"), ("b", "b"), (blank, "a")])
    assert count_files(tmp_path / name, **COLUMNS) == Counts([[1, 0], [0, 1]], [1, 0], ["a", "b"])


def test_quotes_newlines_and_marks_in_text(tmp_path: Path) -> None:
    text = '\ufeffhuman,note,verdict\r\n"a, b","first\r\nsecond ""quoted"" # no comment","a, b"\r\nc,#x,c\r\n,,c\r\n'
    (tmp_path / "t.csv").write_bytes(text.encode())
    assert count_files(tmp_path / "t.csv", **COLUMNS) == Counts([[1, 0], [0, 1]], [0, 1], ["a, b", "c"])


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
@pytest.mark.parametrize("column", ['a "quoted" name', "it's", "a.b", "a/b~c", "sel ect; --", "ünï", "$.x", "[0]"])
def test_columns_of_any_name(name: str, column: str, tmp_path: Path) -> None:
    source = tmp_path / "source.jsonl"
    rows = [{column: "x", "verdict": "x"}, {column: "y", "verdict": "y"}, {column: None, "verdict": "y"}]
    source.write_text("\n".join(map(json.dumps, rows)))
    with duckdb.connect() as connection:
        form = {"t.csv": "csv, header true", "t.jsonl": "json", "t.parquet": "parquet"}[name]
        connection.execute(f"COPY (FROM read_json('{source}')) TO '{tmp_path / name}' (FORMAT {form})")
    counts = count_files(tmp_path / name, label=column, prediction="verdict")
    assert counts == Counts([[1, 0], [0, 1]], [0, 1], ["x", "y"])


@pytest.mark.parametrize(
    "name", ["[a].csv", "*.csv", "a?.csv", "it's.csv", 'say "x".csv', "a b.csv", "ünï.csv", "$path.csv", "[!a].jsonl"]
)
def test_file_names_are_never_patterns(name: str, tmp_path: Path) -> None:
    for decoy in ("a.csv", "b.csv", "ab.csv", "b.jsonl"):
        (tmp_path / decoy).write_text("human,verdict\nwrong,wrong\n")
    writer = write_lines if name.endswith("jsonl") else write_text
    writer(tmp_path / name, ROWS)
    assert count_files(tmp_path / name, **COLUMNS) == EXPECTED


def test_folder_that_looks_like_a_partition_adds_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "human=wrong" / "[x]"
    folder.mkdir(parents=True)
    for name in ("t.csv", "t.jsonl"):
        WRITERS[name](folder / name, ROWS)
        assert count_files(folder / name, **COLUMNS) == EXPECTED
    write_parquet(tmp_path / "t.parquet", ROWS)
    (folder / "t.parquet").write_bytes((tmp_path / "t.parquet").read_bytes())
    assert count_files(folder / "t.parquet", **COLUMNS) == EXPECTED


def test_text_and_typed_files_meet_as_text(tmp_path: Path) -> None:
    write_lines(tmp_path / "labeled.jsonl", [(1, 1), (0, 1), (0, 0)])
    write_text(tmp_path / "unlabeled.csv", [(None, 1), (None, 0), (None, 0)])
    counts = count_files(tmp_path / "labeled.jsonl", tmp_path / "unlabeled.csv", **COLUMNS)
    assert counts == Counts([[1, 1], [0, 1]], [2, 1], ["0", "1"])


@pytest.mark.parametrize("typed", ["new.jsonl", "new.parquet"])
@pytest.mark.parametrize("spelling", [str.lower, str.title, str.upper])
def test_truth_values_are_one_name_however_text_spells_them(
    spelling: Callable[[str], str], typed: str, tmp_path: Path
) -> None:
    true, false = spelling("true"), spelling("false")
    write_text(tmp_path / "t.csv", [(true, true), (false, true), (false, false), (true, "unsure")])
    WRITERS[f"t{Path(typed).suffix}"](tmp_path / typed, [(None, True), (None, False), (None, True)])
    counts = count_files(tmp_path / "t.csv", tmp_path / typed, **COLUMNS)
    assert counts == Counts([[1, 1, 0], [0, 1, 1]], [1, 2, 0], [false, true], [false, true, "unsure"])


def test_whole_numbers_with_a_point_are_whole_in_either_column(tmp_path: Path) -> None:
    write_text(tmp_path / "t.csv", [("1.0", "1"), ("0.0", "1.0"), ("1", "0"), (" -2.0", "0"), (None, "0.0 ")])
    counts = count_files(tmp_path / "t.csv", **COLUMNS)
    assert counts == Counts([[1, 0], [0, 1], [1, 1]], [1, 0], ["-2", "0", "1"], ["0", "1"])


@pytest.mark.parametrize("name", ["1.5", "1.00", "01.1", "v1.0", "1.0.0", "1e1"])
def test_other_names_with_a_point_stay_as_they_are(name: str, tmp_path: Path) -> None:
    write_text(tmp_path / "t.csv", [("a", name), (name, "a"), (None, "a")])
    assert name in count_files(tmp_path / "t.csv", **COLUMNS).classes


@pytest.mark.parametrize("word", ["NA", "nan", "None", "null", "N/A"])
def test_word_that_may_mean_missing_must_be_explained(word: str, tmp_path: Path) -> None:
    write_text(tmp_path / "t.csv", [("a", "a"), ("b", "b"), (word, "b"), (word, "b"), (None, "a")])
    with pytest.raises(InputError, match=f"2 rows labelled '{word}'.*missing='{word}'"):
        count_files(tmp_path / "t.csv", **COLUMNS)
    kept = count_files(tmp_path / "t.csv", **COLUMNS, classes=["a", "b", word])
    assert kept.labeled.sum(axis=1).tolist() == [1, 1, 2]
    assert count_files(tmp_path / "t.csv", **COLUMNS, missing=word) == Counts([[1, 0], [0, 1]], [1, 2], ["a", "b"])
    assert word in count_files(tmp_path / "t.csv", **COLUMNS, missing="").classes


@pytest.mark.parametrize("words", [["NA", "NaN"], ("NaN", "NA"), {"NA", "NaN", "unseen"}])
def test_several_words_may_mean_missing(words: Any, tmp_path: Path) -> None:
    write_text(tmp_path / "t.csv", [("a", "a"), ("b", "b"), ("NA", "b"), ("NaN", "b"), (None, "a")])
    assert count_files(tmp_path / "t.csv", **COLUMNS, missing=words) == Counts([[1, 0], [0, 1]], [1, 2], ["a", "b"])


@pytest.mark.parametrize("one", ["NA", ["NA"]])
def test_words_that_were_not_named_stay_refused(one: Any, tmp_path: Path) -> None:
    write_text(tmp_path / "t.csv", [("a", "a"), ("b", "b"), ("NA", "b"), ("NaN", "b"), (None, "a")])
    with pytest.raises(InputError, match=r"1 row labelled 'NaN'.*missing=\['NA', 'NaN'\].*missing=\['NA', ''\]"):
        count_files(tmp_path / "t.csv", **COLUMNS, missing=one)
    assert count_files(tmp_path / "t.csv", **COLUMNS, missing=["NA", ""]).classes == ("NaN", "a", "b")


@pytest.mark.parametrize("wrong", [3, ["NA", None], [float("nan")]])
def test_what_is_no_word_is_refused(wrong: Any, tmp_path: Path) -> None:
    write_text(tmp_path / "t.csv", [("a", "a"), ("b", "b"), (None, "a")])
    with pytest.raises(InputError, match=r"missing is .*or a list of them.*missing=\['NA', 'NaN'\]"):
        count_files(tmp_path / "t.csv", **COLUMNS, missing=wrong)


@pytest.mark.parametrize("word", ["unknown", "?", "-", "Missing"])
def test_frequent_word_is_suspected_where_every_row_has_a_label(word: str, tmp_path: Path) -> None:
    rows = [("a", "a"), ("b", "b"), (word, "b"), (word, "b"), (".", "a")]
    write_text(tmp_path / "t.csv", rows)
    with pytest.raises(InputError) as error:
        count_files(tmp_path / "t.csv", **COLUMNS)
    assert error.value.found == f"has a label in every row, and that of 2 rows is '{word}'"
    assert error.value.remedy == f"Pass missing='{word}' if that means that the label is missing"
    assert count_files(tmp_path / "t.csv", **COLUMNS, missing=word).unlabeled.tolist() == [0, 2]
    write_text(tmp_path / "t.csv", [*rows[:-1], ("a", word)])
    with pytest.raises(InputError, match="Leave the label empty"):
        count_files(tmp_path / "t.csv", **COLUMNS)


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
@pytest.mark.parametrize("word", ["NA", "none", "NaN"])
def test_the_rule_for_missing_words_is_the_same_for_predictions(name: str, word: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name, [(word, word), ("some", "some"), (None, word)])
    with pytest.raises(InputError, match=f"1 row labelled '{word}'.*missing='{word}'.*missing=''"):
        count_files(tmp_path / name, **COLUMNS)
    named = count_files(tmp_path / name, **COLUMNS, missing="")
    assert named.classes == named.outputs == tuple(sorted([word, "some"]))
    with pytest.raises(InputError, match="2 rows without a prediction"):
        count_files(tmp_path / name, **COLUMNS, missing=word)
    WRITERS[name](tmp_path / name, [("a", "a"), ("some", word), (None, word)])
    with pytest.raises(InputError, match=f"2 rows predicted '{word}'"):
        count_files(tmp_path / name, **COLUMNS)
    assert count_files(tmp_path / name, **COLUMNS, outputs=["a", word]).outputs == ("a", word)


def test_output_never_seen_with_a_label_is_kept(tmp_path: Path) -> None:
    write_text(tmp_path / "t.csv", [("a", "a"), ("b", "a"), (None, "new"), (None, "a")])
    assert count_files(tmp_path / "t.csv", **COLUMNS).labeled[:, 1].tolist() == [0, 0]


BAD = {
    "no such column": (
        "human,verdict\na,a\n",
        {"label": "humn"},
        r"no column 'humn'.*'human', 'verdict'.*meant 'human'",
    ),
    "other case": ("Human,verdict\na,a\n", {}, r"no column 'human'.*meant 'Human'"),
    "nothing near": ("x,y\na,a\n", {}, r"no column 'human'.*'x', 'y'.*Choose"),
    "twice": ("human,human,verdict\na,a,a\n", {}, "2 columns named 'human'"),
    "one column for both": ("human,verdict\na,a\n", {"label": "verdict"}, "two columns"),
    "missing predictions": ("human,verdict\na,\nb,b\n, \n", {}, "2 rows without a prediction in column 'verdict'"),
    "one missing prediction": ("human,verdict\na,\nb,b\n,b\n", {}, "1 row without"),
    "swapped": (
        "human,verdict\na,\nb,b\na,a\n",
        {},
        "Perhaps they are swapped: pass label='verdict', prediction='human'",
    ),
    "other outputs": ("human,verdict\na,Yes\nb,No\n,yes\n", {}, "only 'yes' for the unlabelled.*'yes' is 'Yes'"),
    "scores": (
        "human,verdict\na,2\nb,3\n" + "".join(f",{number / 64}\n" for number in range(20)),
        {},
        "look like scores",
    ),
    "no labels": ("human,verdict\n,a\n ,b\n", {}, "no label in column 'human'"),
    "all labelled": ("human,verdict\na,a\nb,b\n", {}, "label in every row.*no unlabelled population"),
    "one class": ("human,verdict\na,a\na,b\n,b\n", {}, "only the label 'a'.*two classes"),
    "header only": ("human,verdict\n", {}, "has no rows"),
    "ragged": ("human,verdict\na,a\nb\n,a\n", {}, "Line: 3"),
    "open quote": ('human,verdict\na,a\n"b,b\n', {}, "unterminated quote"),
    "blank first line": ("\nhuman,verdict\na,a\n", {}, "empty line"),
    "many names": (
        "human,verdict\n" + "".join(f"{i},a\n" for i in range(1001)) + ",a\n",
        {},
        "1,001 different values in column 'human'",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_table_is_refused_by_name(case: str, tmp_path: Path) -> None:
    content, columns, message = BAD[case]
    (tmp_path / "t.csv").write_text(content)
    with pytest.raises(InputError, match=message) as error:
        count_files(tmp_path / "t.csv", **{**COLUMNS, **columns})
    assert "t.csv" in str(error.value) or case == "one column for both"


@pytest.mark.parametrize("name", TYPED)
def test_bad_columns_of_typed_files(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name, ROWS)
    with pytest.raises(InputError, match=r"no column 'humn'.*'human', .*'verdict'.*meant 'human'"):
        count_files(tmp_path / name, label="humn", prediction="verdict")
    with pytest.raises(InputError, match="no column 'prediction'"):
        count_files(tmp_path / name, label="human", prediction="prediction")


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}])
def test_values_that_are_no_names_are_refused(value: Any, tmp_path: Path) -> None:
    write_lines(tmp_path / "t.jsonl", [("a", "a"), (value, "b")])
    with pytest.raises(InputError, match=r"in column 'human'.*names must be"):
        count_files(tmp_path / "t.jsonl", **COLUMNS)


def test_dates_in_parquet_are_no_names(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT DATE '2020-01-01' human, 'a' verdict) TO '{tmp_path / 't.parquet'}' (FORMAT parquet)"
        )
    with pytest.raises(InputError, match=r"Date values in column 'human'.*names must be"):
        count_files(tmp_path / "t.parquet", **COLUMNS)


def test_decimals_and_nan_in_parquet(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (human DOUBLE, verdict DECIMAL(4, 2))")
        connection.execute("INSERT INTO t VALUES (1, 1), (2.5, 1), (NULL, 2.5), ('NaN', 1)")
        connection.execute(f"COPY t TO '{tmp_path / 't.parquet'}' (FORMAT parquet)")
    assert count_files(tmp_path / "t.parquet", **COLUMNS) == Counts([[1, 0], [1, 0]], [1, 1], [1, 2.5])


def test_infinite_label_is_no_name(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"human": 1e308, "verdict": 1}\n{"human": 1e400, "verdict": 1}\n')
    with pytest.raises(InputError):
        count_files(tmp_path / "t.jsonl", **COLUMNS)


def test_first_of_two_files_must_be_labeled_throughout(tmp_path: Path) -> None:
    write_text(tmp_path / "t.csv", ROWS)
    with pytest.raises(InputError, match=r"3 rows with an empty label.*second one"):
        count_files(tmp_path / "t.csv", tmp_path / "t.csv", **COLUMNS)


@pytest.mark.parametrize("unread", ["human,verdict\n,a\n,b\n", "verdict\na\nb\n"], ids=["empty", "no column"])
def test_files_in_the_wrong_order(unread: str, tmp_path: Path) -> None:
    (tmp_path / "unread.csv").write_text(unread)
    write_text(tmp_path / "read.csv", ROWS[:3])
    with pytest.raises(InputError, match=r"unread\.csv has no label and .*read\.csv has: .* first. Swap"):
        count_files(tmp_path / "unread.csv", tmp_path / "read.csv", **COLUMNS)
    with pytest.raises(InputError, match=r"no (label in )?column 'human'"):
        count_files(tmp_path / "unread.csv", tmp_path / "unread.csv", **COLUMNS)


def test_two_labeled_files_are_not_in_the_wrong_order(tmp_path: Path) -> None:
    write_text(tmp_path / "read.csv", ROWS[:3])
    (tmp_path / "half.csv").write_text("human,verdict\na,a\nb,\n")
    with pytest.raises(InputError, match="1 row without a prediction"):
        count_files(tmp_path / "half.csv", tmp_path / "read.csv", **COLUMNS)


def test_second_of_two_files_must_have_rows(tmp_path: Path) -> None:
    write_text(tmp_path / "labeled.csv", ROWS[:3])
    write_text(tmp_path / "unlabeled.csv", [])
    with pytest.raises(InputError, match=r"unlabeled\.csv has no rows"):
        count_files(tmp_path / "labeled.csv", tmp_path / "unlabeled.csv", **COLUMNS)


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("content", [b"", bytes(range(256)) * 20], ids=["empty", "binary"])
def test_unreadable_content_is_refused_by_name(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as error:
        count_files(tmp_path / name, **COLUMNS)
    assert error.value.argument == str(tmp_path / name)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl.gz", "t.jsonl", "t.parquet"])
def test_half_a_file_is_refused_by_name(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name, ROWS * 50)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) // 2 - 3])
    with pytest.raises(InputError) as error:
        count_files(tmp_path / name, **COLUMNS)
    assert error.value.argument == str(tmp_path / name)


def test_other_encoding_below_the_header_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"human,verdict\n" + b"a,a\n" * 20_000 + "é,a\n".encode("latin-1"))
    with pytest.raises(InputError, match="Invalid unicode"):
        count_files(tmp_path / "t.csv", **COLUMNS)


def test_bad_line_of_json_is_counted_from_one(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"human": "a", "verdict": "a"}\n\n{"human": "a", "verdict": \n')
    with pytest.raises(InputError, match="line 3"):
        count_files(tmp_path / "t.jsonl", **COLUMNS)


@pytest.mark.parametrize("name", ["t.xlsx", "t", "t.gz", "t.parquet.gz", "t.txt"])
def test_unknown_ending_lists_the_known_ones(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("human,verdict\n")
    with pytest.raises(InputError, match=r"\.csv, \.tsv, \.jsonl, .*\.parquet"):
        count_files(tmp_path / name, **COLUMNS)


def test_path_that_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text("x")
    with pytest.raises(InputError, match=r"does not exist.*meant '.*results\.csv'"):
        count_files(tmp_path / "result.csv", **COLUMNS)
    with pytest.raises(InputError, match=r"does not exist.*no folder"):
        count_files(tmp_path / "nowhere" / "t.csv", **COLUMNS)
    with pytest.raises(InputError, match=r"nothing\*\.csv matches no file"):
        count_files(tmp_path / "nothing*.csv", **COLUMNS)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no files"):
        count_files(tmp_path / "empty", **COLUMNS)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is forbidden to this user")
def test_forbidden_file(tmp_path: Path) -> None:
    write_text(tmp_path / "t.csv", ROWS)
    (tmp_path / "t.csv").chmod(0)
    with pytest.raises(InputError, match="may not be read"):
        count_files(tmp_path / "t.csv", **COLUMNS)


def test_nothing_is_left_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_text(tmp_path / "t.csv", ROWS)
    count_files("t.csv", **COLUMNS)
    assert os.listdir() == ["t.csv"]


def test_counts_are_read_from_their_own_json(tmp_path: Path) -> None:
    (tmp_path / "counts.json").write_text(EXPECTED.to_json())
    assert read_counts(tmp_path / "counts.json").to_counts() == EXPECTED


@pytest.mark.parametrize("content", [b"", b"[1]", b"{", b'{"schema": "truecount.counts/9"}', b"\xff\xfe"])
def test_other_json_is_refused_by_name(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "counts.json").write_bytes(content)
    with pytest.raises(InputError, match=r"counts\.json") as error:
        read_counts(tmp_path / "counts.json")
    assert not content or all(f'"{field}"' in error.value.remedy for field in EXPECTED.to_dict())


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
@pytest.mark.parametrize("value", ["de", "2024-13-01", 'a "b" c'])
def test_a_column_without_times_has_no_periods(name: str, value: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name, [("a", "2024-05-30"), ("b", "2024-05-30"), (None, value)])
    with pytest.raises(InputError) as error:
        File(tmp_path / name).rows(Columns(prediction="human", by={"verdict": "week"}))
    assert error.value.found == f"has {value!r} in column 'verdict'"
    assert error.value.needed == "periods are cut from times"


def test_a_weight_that_is_no_number_is_named(tmp_path: Path) -> None:
    write_text(tmp_path / "t.csv", [("a", "1"), ("b", "much")])
    with pytest.raises(InputError, match="has 'much' in column 'verdict': weights are numbers"):
        File(tmp_path / "t.csv").rows(Columns(prediction="human", weight="verdict"))


def write_alike(file: Path, spelled: tuple[str, str, str]) -> None:
    """Write groups, labels and outputs of a table in which 3 of 10 labelled rows are wrong, half of them unlabelled."""
    rows = [("g", "a", "a")] * 8 + [("g", "a", "b")] * 2 + [("g", "b", "a")] * 3 + [("g", "b", "b")] * 7
    rows += [("g", "", "a")] * 4 + [("h", "", "b")] * 5
    records = [dict(zip(spelled, row, strict=True)) for row in rows]
    lines = map(json.dumps, records) if file.suffix == ".jsonl" else (",".join(row) for row in (spelled, *rows))
    file.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
@pytest.mark.parametrize("spelled", [("By", "Verdict", "verdict"), ("Pred", "human", "pred"), ("x", "X", "ẋ")])
def test_columns_whose_names_differ_only_in_case(name: str, spelled: tuple[str, str, str], tmp_path: Path) -> None:
    write_alike(tmp_path / name, spelled)
    by, label, prediction = spelled
    counts = count_table(tmp_path / name, label=label, prediction=prediction, by=by)
    assert {key: value.unlabeled.tolist() for key, value in counts.items()} == {"g": [4, 0], "h": [0, 5]}
    assert counts["g"].labeled.tolist() == [[8, 2], [3, 7]]


def test_a_weight_whose_name_differs_only_in_case(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("human,Verdict,VERDICT\na,a,2\nb,b,1\n,b,4\n")
    counts = count_files(tmp_path / "t.csv", label="human", prediction="Verdict", weight="VERDICT")
    assert (counts.labeled.tolist(), counts.unlabeled.tolist()) == ([[2, 0], [0, 1]], [0, 4])


def test_json_lines_have_clusters(tmp_path: Path) -> None:
    lines = [
        {"human": "ab"[at % 2] if at < 8 else None, "verdict": "ab"[at % 3 == 0], "user": at // 2} for at in range(20)
    ]
    path = tmp_path / "runs.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    counts = count_table(path, label="human", prediction="verdict", cluster="user")
    assert counts.clusters is not None
    assert counts.clusters.number == 10
