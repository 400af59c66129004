"""Several classifiers, or several raters, in one table: what is counted, and what is refused."""

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.command import run

import truecount as tc
from truecount.counts import Combinations, Ratings, merge_counts
from truecount.counts.classifiers import merge_rare
from truecount.errors import InputError

JUDGES = ["gpt4", "bem"]
RUNS = {
    "human": ["yes", "yes", "no", "no", None, None, None],
    "gpt4": ["yes", "yes", "no", "yes", "yes", "no", None],
    "bem": ["yes", None, "no", "no", "yes", "yes", "no"],
    "system": ["a", "a", "b", "b", "a", "b", "b"],
}
RATED = {
    "ann": ["yes", "yes", "no", None, None, None],
    "bob": ["yes", "no", None, "no", None, None],
    "verdict": ["yes", "yes", "no", "no", "yes", "no"],
}


def as_csv(folder: Path, table: dict[str, list[Any]]) -> str:
    rows = [",".join(table), *(",".join(each or "" for each in row) for row in zip(*table.values(), strict=True))]
    path = folder / "runs.csv"
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def as_json_lines(folder: Path, table: dict[str, list[Any]]) -> str:
    rows = [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
    path = folder / "runs.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return str(path)


def as_relation(folder: Path, table: dict[str, list[Any]]) -> Any:
    import duckdb

    return duckdb.connect().read_csv(as_csv(folder, table), all_varchar=True)


def as_pandas(_: Path, table: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pandas").DataFrame(table)


def as_polars(_: Path, table: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("polars").DataFrame(table)


KINDS = [as_csv, as_json_lines, as_relation, as_pandas, as_polars]


class TestSeveralClassifiers:
    """Outputs are the combinations that occur, with what is missing as a part of them."""

    @pytest.mark.parametrize("made", KINDS)
    def test_combinations_are_outputs_in_every_kind_of_table(self, made: Any, tmp_path: Path) -> None:
        counts = tc.count_table(made(tmp_path, RUNS), label="human", prediction=JUDGES)
        assert counts.outputs == ("no, no", "no, yes", "yes, no", "yes, yes", "yes, missing", "missing, no")
        assert counts.labeled.tolist() == [[1, 0, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0]]
        assert counts.unlabeled.tolist() == [0, 1, 0, 1, 0, 1]
        assert counts.combinations is not None
        assert counts.combinations.columns == ("gpt4", "bem")
        assert counts.combinations.parts[4] == ("yes", None)

    def test_arrays_and_groups_are_counted_alike(self) -> None:
        known = {judge: RUNS[judge][:4] for judge in JUDGES}
        new = {judge: RUNS[judge][4:] for judge in JUDGES}
        counts = tc.count(RUNS["human"][:4], known, new)
        pandas = pytest.importorskip("pandas")
        groups = tc.count_table(pandas.DataFrame(RUNS), label="human", prediction=JUDGES, by="system")
        assert groups.total == counts
        assert groups["a"].combinations == counts.combinations

    def test_what_outputs_consist_of_survives_json_copies_and_merging(self) -> None:
        known = {judge: RUNS[judge][:4] for judge in JUDGES}
        counts = tc.count(RUNS["human"][:4], known, {judge: RUNS[judge][4:] for judge in JUDGES})
        other = tc.count(RUNS["human"][:4], known, {judge: ["no"] for judge in JUDGES})
        assert tc.Counts.from_json(counts.to_json()).combinations == counts.combinations
        assert copy.deepcopy(counts) == counts
        total = merge_counts(counts, other)
        assert isinstance(total, tc.Counts)
        assert total.combinations is not None
        assert total.outputs == total.combinations.names
        assert total.labeled.sum() == 8
        assert (counts + counts).combinations == counts.combinations

    def test_merged_rare_combinations_are_told_of_all_shards_or_refused(self, tmp_path: Path) -> None:
        parts, names = [["a", "a"], ["a", "b"], ["b", "b"]], ["a, a", "a, b", "b, b"]
        of_all = tc.Counts(
            [[9, 1, 2], [2, 0, 9]], [5, 1, 5], ["a", "b"], names, combinations=Combinations(JUDGES, parts)
        )
        merged = merge_rare(of_all)
        assert merged.combinations is not None
        assert merged.combinations.merged == (1, 0)
        for total in (merge_counts(merged, merged), merged + merged):
            assert isinstance(total, tc.Counts)
            assert total.combinations == merged.combinations
        path = tmp_path / "counts.json"
        path.write_text(merged.to_json())
        assert run("counts", "merge", "counts.json", "-o", "again.json", folder=tmp_path).returncode == 0
        assert tc.Counts.from_json((tmp_path / "again.json").read_text()) == merged
        with pytest.raises(InputError, match="shard 2 has other rare combinations merged than the first"):
            merge_counts(merged, of_all)
        other = replace(merged, combinations=replace(merged.combinations, merged=(0, 1)))
        with pytest.raises(InputError, match="combinations differ between outputs of one name"):
            merged + other

    def test_the_command_takes_the_option_again(self, tmp_path: Path) -> None:
        file, out, merged = as_csv(tmp_path, RUNS), tmp_path / "counts.json", tmp_path / "merged.json"
        options = ["--label", "human", "--prediction", "gpt4", "--prediction", "bem"]
        assert run("counts", file, *options, "-o", "counts.json", folder=tmp_path).returncode == 0
        assert tc.Counts.from_json(out.read_text()) == tc.count_table(file, label="human", prediction=JUDGES)
        assert run("counts", "merge", "counts.json", "-o", "merged.json", folder=tmp_path).returncode == 0
        assert tc.Counts.from_json(merged.read_text()) == tc.Counts.from_json(out.read_text())

    def test_names_tell_their_parts(self) -> None:
        parts = [("a, b", "c"), ("a", "b, c"), ("missing", "c"), (None, "c")]
        assert len(set(Combinations(("x", "y"), tuple(parts)).names)) == len(parts)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (
                {"gpt4": [None] * 7, "bem": [None] * 7},
                "7 rows without a prediction in columns 'gpt4', 'bem': every row",
            ),
            ({"bem": ["yes", None, "no", "no", "yes", "yes", "NA"]}, "1 row predicted 'NA'"),
        ],
    )
    def test_bad_outputs_are_refused(self, change: dict[str, Any], message: str, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=message):
            tc.count_table(as_json_lines(tmp_path, RUNS | change), label="human", prediction=JUDGES)

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            (["gpt4", "gpt4"], "prediction names 'gpt4' twice: these are two columns"),
            (["human", "gpt4"], "prediction is 'human', as is label"),
            ([], r"prediction is \[\]: it must be the name of a column, or a list of names"),
            (["gpt4", "bert"], "has no column 'bert'"),
        ],
    )
    def test_bad_columns_are_refused(self, columns: list[str], message: str, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=message):
            tc.count_table(as_csv(tmp_path, RUNS), label="human", prediction=columns)

    def test_both_sides_have_the_same_classifiers(self) -> None:
        with pytest.raises(InputError, match="both sides have the same classifiers"):
            tc.count(["a", "b"], {"x": ["a", "b"], "y": ["a", "b"]}, {"y": ["a"], "x": ["a"]})


class TestSeveralRaters:
    """Labels are patterns of what each rater said, with what is missing as a part of them."""

    @pytest.mark.parametrize("made", KINDS)
    def test_patterns_are_counted_in_every_kind_of_table(self, made: Any, tmp_path: Path) -> None:
        ratings = tc.count_table(made(tmp_path, RATED), label=["ann", "bob"], prediction="verdict")
        assert isinstance(ratings, Ratings)
        assert ratings.patterns.parts == (("no", None), ("yes", "no"), ("yes", "yes"), (None, "no"))
        assert ratings.classes == ("no", "yes")
        assert ratings.counts.unlabeled.tolist() == [1, 1]

    def test_they_survive_json_copies_and_merging(self) -> None:
        labels = {"ann": RATED["ann"][:4], "bob": RATED["bob"][:4]}
        ratings = tc.count(labels, RATED["verdict"][:4], RATED["verdict"][4:])
        assert Ratings.from_json(ratings.to_json()) == ratings
        assert copy.deepcopy(ratings) == ratings
        total = merge_counts(ratings, ratings)
        assert isinstance(total, Ratings)
        assert total.counts.labeled.sum() == 8
        assert total == ratings + ratings

    def test_merged_shards_keep_the_classes_and_their_order(self) -> None:
        labels = {"ann": RATED["ann"][:4], "bob": RATED["bob"][:4]}
        told = tc.count(labels, RATED["verdict"][:4], RATED["verdict"][4:], classes=["yes", "no", "maybe"])
        assert (told + told).classes == ("yes", "no", "maybe")
        plain = tc.count(labels, RATED["verdict"][:4], RATED["verdict"][4:])
        assert (told + plain).classes == ("maybe", "no", "yes")

    def test_the_command_tells_classes_from_patterns_and_files_from_options(self, tmp_path: Path) -> None:
        options = ["--label", "ann", "--label", "bob", "--prediction", "verdict"]
        done = run("counts", as_csv(tmp_path, RATED), *options, "-o", "counts.json", folder=tmp_path)
        assert "4 labelled and 2 unlabelled rows, 2 classes, 2 outputs" in done.stdout
        checked = run("check", "counts.json", folder=tmp_path)
        assert checked.returncode == 2
        assert "counts.json holds labels of 2 raters" in " ".join(checked.stderr.split())
        assert "--label is given 2 times" in " ".join(
            run("check", as_csv(tmp_path, RATED), *options, folder=tmp_path).stderr.split()
        )

    def test_a_label_that_no_class_has_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="holds 'yes' in columns 'ann', 'bob': classes names only 'no', 'maybe'"):
            tc.count_table(as_csv(tmp_path, RATED), label=["ann", "bob"], prediction="verdict", classes=["no", "maybe"])
