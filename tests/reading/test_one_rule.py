"""One table of awkward values, and every door: each takes the same values for the same names, and refuses the same."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import truecount as tc
from command import run
from frames import BACK_ENDS, Sparks

COLUMNS = {"label": "human", "prediction": "verdict"}
Door = Callable[[list[Any], list[Any], dict[str, Any], Path], tc.Counts]
"""Counts labels, the outputs for the same items, and the same outputs once more as the population."""


def rows(labels: list[Any], outputs: list[Any]) -> dict[str, list[Any]]:
    return {"human": [*labels, *[None] * len(outputs)], "verdict": [*outputs, *outputs]}


def by_arrays(build: Callable[[list[Any]], Any]) -> Door:
    return lambda labels, outputs, options, _: tc.count(build(labels), build(outputs), build(outputs), **options)


def by_counter(labels: list[Any], outputs: list[Any], options: dict[str, Any], _: Path) -> tc.Counts:
    return tc.Counter(**options).update(labels, outputs).update(None, outputs).counts


def by_frame(back_end: str) -> Door:
    def count(labels: list[Any], outputs: list[Any], options: dict[str, Any], _: Path) -> tc.Counts:
        return tc.count_table(BACK_ENDS[back_end](rows(labels, outputs), Sparks()), **COLUMNS, **options)

    return count


def written(name: str, values: dict[str, list[Any]], folder: Path) -> Path:
    records = list(zip(*values.values(), strict=True))
    if name.endswith(".csv"):
        with (folder / name).open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([values, *records])
    elif name.endswith(".jsonl"):
        lines = [json.dumps(dict(zip(values, record, strict=True))) for record in records]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        BACK_ENDS["duckdb"](values, Sparks()).write_parquet(str(folder / name))
    return folder / name


def by_file(name: str) -> Door:
    def count(labels: list[Any], outputs: list[Any], options: dict[str, Any], folder: Path) -> tc.Counts:
        return tc.count_table(written(name, rows(labels, outputs), folder), **COLUMNS, **options)

    return count


def by_command(labels: list[Any], outputs: list[Any], options: dict[str, Any], folder: Path) -> tc.Counts:
    """The command has no option that names classes."""
    written("t.jsonl", rows(labels, outputs), folder)
    missing = options.get("missing")
    words = [] if missing is None else [part for word in [missing] for part in ("--missing", word)]
    done = run("counts", "t.jsonl", "--label", "human", "--prediction", "verdict", *words, folder=folder)
    if done.returncode:
        raise tc.InputError(done.stderr, "", "", "")
    return tc.Counts.from_json(done.stdout)


def objects(values: list[Any]) -> Any:
    made = np.empty(len(values), object)
    made[:] = values
    return made


DOORS: dict[str, Door] = {
    "count, lists": by_arrays(list),
    "count, NumPy": by_arrays(objects),
    "count, pandas": by_arrays(lambda values: pytest.importorskip("pandas").Series(values)),
    "count, polars": by_arrays(lambda values: pytest.importorskip("polars").Series(values)),
    "Counter": by_counter,
    "count_table, pandas": by_frame("pandas"),
    "count_table, polars": by_frame("polars"),
    "count_table, Arrow": by_frame("arrow"),
    "count_table, DuckDB": by_frame("duckdb"),
    "JSON Lines": by_file("t.jsonl"),
    "Parquet": by_file("t.parquet"),
    "CSV": by_file("t.csv"),
}
TEXT = ("CSV",)
"""Doors through which everything is text."""
AWKWARD: dict[str, tuple[list[Any], list[Any]]] = {
    "blanks around": ([" yes ", "no", "\tno"], ["no", "yes"]),
    "whole floats": ([1.0, 2.0, -3.0], [-3, 1, 2]),
    "fractions": ([0.5, 1.0], [0.5, 1]),
    "whole numbers": ([7, 0], [0, 7]),
    "truth values": ([True, False], [False, True]),
    "whole numbers in text": (["1.0", "2", "-3.0"], ["-3", "1", "2"]),
    "other numbers in text": (["01", "1.50", "1e3"], ["01", "1.50", "1e3"]),
    "case": (["Yes", "yes"], ["Yes", "yes"]),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case", AWKWARD)
def test_every_door_takes_a_value_for_the_same_name(case: str, door: str, tmp_path: Path) -> None:
    values, names = AWKWARD[case]
    expected = [str(name) for name in names] if door in TEXT else names
    counts = DOORS[door](values, values, {}, tmp_path)
    assert list(counts.classes) == list(counts.outputs) == expected
    assert [type(name) for name in counts.classes] == [type(name) for name in expected]
    assert counts.labeled.sum() == counts.unlabeled.sum() == len(values)


def test_the_command_takes_values_for_the_same_names(tmp_path: Path) -> None:
    for case in ("blanks around", "whole floats", "whole numbers in text"):
        values, names = AWKWARD[case]
        assert list(by_command(values, values, {}, tmp_path).classes) == names


MISSING: dict[str, list[Any]] = {
    "nothing": ["a", "b", None],
    "an empty string": ["a", "b", ""],
    "blanks": ["a", "b", " \t "],
    "NaN": [0.5, 1.5, float("nan")],
}


@pytest.mark.parametrize("door", [*DOORS, "command"])
@pytest.mark.parametrize("case", MISSING)
def test_every_door_misses_the_same_predictions(case: str, door: str, tmp_path: Path) -> None:
    outputs = MISSING[case]
    labels = ["x", "y", "x"]
    if case == "NaN" and door in ("JSON Lines", "CSV", "command"):
        pytest.skip("a file of text has no NaN, only the word")
    count = by_command if door == "command" else DOORS[door]
    with pytest.raises(tc.InputError, match=r"missing value|without a prediction"):
        count(labels, outputs, {}, tmp_path)


@pytest.mark.parametrize("door", [*DOORS, "command"])
@pytest.mark.parametrize("word", ["NA", "n/a", "null"])
def test_every_door_asks_what_a_word_means(word: str, door: str, tmp_path: Path) -> None:
    count = by_command if door == "command" else DOORS[door]
    values = ["a", "b", word]
    with pytest.raises(tc.InputError, match=f"labelled '{word}'"):
        count(values, ["a", "b", "a"], {}, tmp_path)
    with pytest.raises(tc.InputError, match=f"predicted '{word}'"):
        count(["a", "b", "a"], values, {}, tmp_path)
    assert word in count(values, values, {"missing": ""}, tmp_path).classes
    with pytest.raises(tc.InputError, match=r"missing value|without a prediction"):
        count(["a", "b", "a"], values, {"missing": word}, tmp_path)
    if door != "command":
        assert word in count(values, values, {"classes": ["a", "b", word]}, tmp_path).outputs


@pytest.mark.parametrize("door", DOORS)
def test_every_door_has_the_same_limit_and_takes_what_is_named(door: str, tmp_path: Path) -> None:
    many = [f"n{number:04}" for number in range(1001)]
    outputs = ["a", "b"] * 500 + ["a"]
    with pytest.raises(tc.InputError, match=r"has 1,001 different values.*at most 1,000"):
        DOORS[door](many, outputs, {}, tmp_path)
    assert DOORS[door](many, outputs, {"classes": many}, tmp_path).labeled.shape == (1001, 2)
    assert len(DOORS[door](many[:1000], outputs[:1000], {}, tmp_path).classes) == 1000


@pytest.mark.parametrize("door", [door for door in DOORS if door not in TEXT])
def test_every_door_refuses_a_number_beside_its_text(door: str, tmp_path: Path) -> None:
    with pytest.raises(tc.InputError, match="classes and outputs hold both 1 and '1'"):
        DOORS[door]([1, 2], ["1", "2"], {}, tmp_path)
    named = DOORS[door]([1, 2], ["1", "2"], {"classes": [1, 2], "outputs": ["1", "2"]}, tmp_path)
    assert (named.classes, named.outputs) == ((1, 2), ("1", "2"))


@pytest.mark.parametrize("door", DOORS)
def test_names_that_the_caller_gives_are_names_by_the_same_rule(door: str, tmp_path: Path) -> None:
    wanted = {"classes": [" yes", "no "], "outputs": ["2.0", "1.0"]}
    counts = DOORS[door](["yes", "no"], ["1", "2.0"], wanted, tmp_path)
    assert (counts.classes, counts.outputs) == (("yes", "no"), ("2", "1"))
    with pytest.raises(tc.InputError, match="classes holds ' ': blanks alone mean that a value is missing"):
        DOORS[door](["yes", "no"], ["1", "2"], {"classes": ["yes", " "]}, tmp_path)
    with pytest.raises(tc.InputError, match="outputs names '1' twice"):
        DOORS[door](["yes", "no"], ["1", "2"], {"outputs": ["1", "1.0", "2"]}, tmp_path)


GROUPED = {
    "human": ["a", "b", None, None, None],
    "verdict": ["a", "b", "a", "b", "b"],
    "week": [1.0, 1.0, 2.0, 1.0, 2.0],
}


def test_every_door_makes_the_same_groups(tmp_path: Path) -> None:
    labeled, items = [[1, 0], [0, 1]], {1: [0, 1], 2: [1, 1]}
    expected = tc.Groups(labeled, items, ["a", "b"], by="week", label_groups={1: labeled})
    labels, outputs, weeks = GROUPED.values()
    arrays = tc.count(labels[:2], outputs[:2], outputs[2:], by={"week": np.array(weeks[2:])})
    assert arrays == tc.Groups(labeled, items, ["a", "b"], by="week")  # the groups of labels are not given
    found = {
        "Counter": tc.Counter(by="week").update(labels, outputs, by=weeks).groups,
        "merged": tc.counts.merge_counts(
            tc.count_table(BACK_ENDS["polars"](GROUPED, Sparks()), **COLUMNS, by="week"),
            tc.Groups([[0, 0], [0, 0]], {2: [0, 0]}, ["a", "b"], by="week"),
        ),
        "frame": tc.count_table(BACK_ENDS["pandas"](GROUPED, Sparks()), **COLUMNS, by="week"),
        "DuckDB": tc.count_table(BACK_ENDS["duckdb"](GROUPED, Sparks()), **COLUMNS, by="week"),
        "file": tc.count_table(written("t.jsonl", GROUPED, tmp_path), **COLUMNS, by=["week"]),
    }
    command = ("counts", "t.jsonl", "--label", "human", "--prediction", "verdict", "--by", "week")
    found["command"] = tc.Groups.from_json(run(*command, folder=tmp_path).stdout)
    assert {door: groups for door, groups in found.items() if groups != expected} == {}


def test_dates_are_keys_of_groups_through_every_door() -> None:
    days = np.array(["2024-05-27", "2024-06-03"], "M8[D]")
    frame = duckdb.sql(
        "FROM (VALUES ('a', 'a', NULL), ('b', 'b', NULL), (NULL, 'a', DATE '2024-05-27'),"
        " (NULL, 'b', DATE '2024-06-03')) AS made(human, verdict, day)"
    )
    counted = tc.count(["a", "b"], ["a", "b"], ["a", "b"], by={"day": days})
    assert counted.groups == tuple(days.tolist())
    assert tc.count_table(frame, **COLUMNS, by="day") == counted
