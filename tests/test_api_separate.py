"""Groups one by one: the same draws by any executor, in any order, among any others; streamed, failed and resumed."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import duckdb
import numpy as np
import pytest

import truecount as tc
from truecount._executor import workers_here
from truecount._progress import progress_style
from truecount.api.separate import group_seed
from truecount.counts import Combinations
from truecount.inference.draws import Engine
from truecount.results.separate.rows import COLUMNS
from truecount.results.summary import Look

BY = ["store", "week"]


def made_groups(number: int, n_classes: int = 2, seed: int = 0) -> tc.Groups:
    rng = np.random.default_rng(seed)
    confusion = np.eye(n_classes) * 0.8 + 0.2 / n_classes
    labeled = [rng.multinomial(100, row) for row in confusion]
    items = rng.multinomial(200, rng.dirichlet(np.full(n_classes, 3.0), number) @ confusion)
    return tc.Groups(labeled, {(f"s{at // 4}", at % 4): row for at, row in enumerate(items)}, by=BY)


def inferred(groups: tc.Groups, workers: int = 1, **options) -> tc.SeparateAnswers:
    with ThreadPoolExecutor(workers) as threads:
        return tc.infer(groups, executor=threads, **options)


def test_the_same_draws_in_threads_in_any_order_and_among_any_others():
    groups = made_groups(40, 3)
    whole, threaded = inferred(groups, seed=3), inferred(groups, 3, seed=3)
    assert whole.rows == threaded.rows
    some = groups.select(list(reversed(groups.groups))[:7])
    means = {(row["store"], row["week"], row["class"]): row["mean"] for row in whole.rows}
    assert all(means[row["store"], row["week"], row["class"]] == row["mean"] for row in inferred(some, seed=3).rows)
    assert inferred(some, seed=4).rows != inferred(some, seed=3).rows


@pytest.mark.slow
def test_the_same_draws_in_processes():
    groups = made_groups(300)
    with workers_here(2) as processes:
        assert tc.infer(groups, executor=processes, seed=3).rows == inferred(groups, seed=3).rows
        few = made_groups(30, 3)
        many, again = tc.infer_many(few, seed=5, executor=processes), tc.infer_many(few, seed=5)
    assert list(many) == list(again)
    assert all(np.array_equal(many[group].prevalence, again[group].prevalence) for group in again)


def test_an_executor_changes_no_draw_of_infer_many():
    groups = made_groups(12, 3)
    with ThreadPoolExecutor(2) as threads:
        many, again = tc.infer_many(groups, seed=5, executor=threads), tc.infer_many(groups, seed=5)
    assert all(np.array_equal(many[group].prevalence, again[group].prevalence) for group in again)


def test_each_answer_is_that_of_infer_and_its_draws_can_be_had_again():
    groups = made_groups(8)
    answers = inferred(groups)
    for at, group in enumerate(groups.groups):
        posterior, alone = answers.posterior(group), tc.infer(groups[group], engine=tc.Auto(1000), seed=9)
        assert np.array_equal(posterior.mean, answers.mean[at])
        assert posterior.origin.seed == group_seed(0, group)
        assert (np.abs(posterior.mean - alone.mean) < 5 * np.hypot(posterior.mcse, alone.mcse)).all()
    assert answers.interval.shape == (8, 2, 2)


def test_a_seed_is_that_of_the_name_alone():
    seeds = [group_seed(seed, group) for seed in (0, 1) for group in ("a", "b", ("a", "b"), ("a", None), ("a", "None"))]
    assert len(set(seeds)) == len(seeds)
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_groups_with_labels_of_their_own_use_them():
    one, other = tc.Counts([[90, 10], [20, 80]], [60, 40]), tc.Counts([[60, 40], [40, 60]], [60, 40])
    answers = inferred(tc.Groups.of({"A": one, "B": other}))
    widths = np.diff(answers.interval[:, 0]).ravel()
    assert widths[1] > 2 * widths[0]
    assert "shared-labels" not in answers.tally.findings


@dataclass(frozen=True)
class Failing(Engine):
    """An engine that fails where an output was never seen."""

    def sample(self, density, seed):
        if not density.unlabeled.all():
            raise FloatingPointError("no such luck")
        return tc.Auto(200).sample(density, seed)


@pytest.fixture
def one_bad() -> tc.Groups:
    return tc.Groups([[80, 20], [20, 80]], {"a": [30, 20], "b": [30, 0], "c": [10, 40]}, by=["store"])


def test_a_group_that_fails_stands_beside_the_others(one_bad):
    answers = inferred(one_bad, engine=Failing())
    assert answers.failed == {"b": "FloatingPointError: no such luck"}
    assert [row["status"] for row in answers.rows] == ["ok", "ok", "failed", "failed", "ok", "ok"]
    assert answers.rows[2]["items"] == 30
    assert answers.rows[2]["mean"] is None
    assert np.isnan(answers.mean[1]).all()
    assert "1 failed" in str(answers)
    with ThreadPoolExecutor(1) as thread, pytest.raises(tc.InputError, match=r"problems\['b'\] failed"):
        tc.infer_many(one_bad, engine=Failing(), executor=thread)


def test_weighted_groups_fail_and_succeed_alike():
    """Sums of weights are no whole numbers; those of a group that failed are told too."""
    squares = {"labeled_squares": [[40.0, 10.0], [10.0, 40.0]], "unlabeled_squares": {"a": [9.0, 9.0], "b": [9.0, 0.0]}}
    groups = tc.Groups([[80.5, 20.0], [20.0, 80.0]], {"a": [30.5, 20.0], "b": [30.5, 0.0]}, by=["store"], **squares)
    answers = inferred(groups, engine=Failing())
    assert [row["status"] for row in answers.rows] == ["ok", "ok", "failed", "failed"]
    assert [row["items"] for row in answers.rows] == [50.5, 50.5, 30.5, 30.5]


def test_files_hold_the_same_rows(tmp_path):
    groups = made_groups(6)
    rows = inferred(groups).rows
    for ending in ("jsonl", "csv", "parquet"):
        answers = inferred(groups, output=tmp_path / f"answers.{ending}")
        assert answers.path == tmp_path / f"answers.{ending}"
        with pytest.raises(tc.InputError, match="rows are not kept"):
            answers.rows  # noqa: B018
    assert [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()] == rows
    found = duckdb.sql(f"FROM '{tmp_path / 'answers.parquet'}'")
    assert found.columns == [*BY, *COLUMNS]
    assert [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()] == rows
    header, *lines = (tmp_path / "answers.csv").read_text().splitlines()
    assert header.split(",") == [*BY, *COLUMNS]
    assert len(lines) == len(rows)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.csv", "answers.jsonl", "answers.parquet"]


def test_partitions_are_folders(tmp_path):
    output = tc.Output(tmp_path / "answers", partition="store", look=Look(level=0.8))
    inferred(made_groups(8), output=output)
    assert sorted(path.name for path in (tmp_path / "answers").iterdir()) == ["store=s0", "store=s1"]
    assert len(duckdb.read_parquet(f"{tmp_path}/answers/*/*.parquet").fetchall()) == 16


class StoppedError(Exception):
    """What stops a run."""


def test_a_run_that_was_stopped_goes_on_and_ends_with_the_same_bytes(tmp_path, monkeypatch, capsys):
    groups = made_groups(300, 2)
    inferred(groups, output=tmp_path / "whole.parquet")
    added, add = [], tc.results.separate.row_files.RowFiles.add

    def stop_at_second(self, number, rows):
        added.append(number)
        if len(added) == 2:
            raise StoppedError
        add(self, number, rows)

    monkeypatch.setattr("truecount.results.separate.row_files.RowFiles.add", stop_at_second)
    path = tmp_path / "answers.parquet"
    with pytest.raises(StoppedError):
        inferred(groups, output=path)
    assert not path.exists()
    with pytest.raises(tc.InputError, match=r"answers.parquet.parts holds what a stopped run has finished"):
        inferred(groups, output=path)
    with pytest.raises(tc.InputError, match=r"is of another run \(other seed\)"):
        inferred(groups, seed=1, output=tc.Output(path, resume=True))
    added.clear()
    monkeypatch.setattr(
        "truecount.results.separate.row_files.RowFiles.add", lambda *given: added.append(given[1]) or add(*given)
    )
    with progress_style("log"):
        answers = inferred(groups, output=tc.Output(path, resume=True))
    assert len(added) == 1  # of two parts, one was there
    taken = answers.tally.taken_over
    assert 0 < taken < 300
    assert f"{taken} of 300 groups were finished by an earlier run; {300 - taken} are left." in capsys.readouterr().err
    assert f"300 groups inferred one by one, {taken} of them before the run was resumed, seed" in answers.sentence
    assert path.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert answers.tally.status == {"ok": 300}


def clustered_groups(number: int, *, own_labels: bool, shift: int = 0) -> tc.Groups:
    """Groups whose items are in clusters of four, with labels of their own or shared ones."""
    each = {}
    for at in range(number):
        known = [str((at + item + shift) // 4 % 40) for item in range(80)]
        new = [f"{at} {(item + shift) // 4}" for item in range(40 + at)]
        labels, outputs = ["a", "b"] * 40, ["a", "b", "a", "a"] * 20
        each[f"g{at}"] = tc.count(labels, outputs, outputs[: 40 + at], cluster=known, new_cluster=new)
    groups = tc.Groups.of(each)
    if own_labels:
        return groups
    clusters = groups.clusters.changed(lambda own: own.sum(axis=1, keepdims=True), lambda own: own)
    items = dict(zip(groups.groups, groups.unlabeled, strict=True))
    return tc.Groups(groups.labeled.sum(axis=0), items, groups.classes, groups.outputs, clusters=clusters)


@pytest.mark.parametrize("own_labels", [False, True])
def test_parts_of_groups_keep_their_clusters(own_labels):
    groups = clustered_groups(7, own_labels=own_labels)
    parts = [each for part in groups.parts(4) for each in part.apart()]
    assert parts == list(groups.apart())
    assert all(counts.clusters is not None for _, counts in parts)


@pytest.mark.parametrize("own_labels", [False, True])
def test_clustered_groups_are_inferred_in_every_part(own_labels, monkeypatch):
    monkeypatch.setattr("truecount.api.separate.CELLS_OF_PIECE", 16)  # four groups in a part
    groups = clustered_groups(6, own_labels=own_labels)
    answers = inferred(groups)
    assert answers.failed == {}
    assert answers.tally.findings["clustered"] == 6
    assert np.array_equal(answers.posterior("g5").mean, answers.mean[5])


def test_only_the_same_clusters_studies_and_combinations_go_on(tmp_path, monkeypatch):
    def stop(*_):
        raise StoppedError

    groups = clustered_groups(3, own_labels=True)
    add, path = tc.results.separate.row_files.RowFiles.add, tmp_path / "answers.csv"
    monkeypatch.setattr("truecount.results.separate.row_files.RowFiles.add", stop)
    with pytest.raises(StoppedError):
        inferred(groups, output=path)
    monkeypatch.setattr("truecount.results.separate.row_files.RowFiles.add", add)
    others = (
        clustered_groups(3, own_labels=True, shift=1),
        groups.renamed(groups.groups, ["g2", "g1", "g0"]),
        groups.with_outputs(groups.outputs, Combinations(["x", "y"], [["a", "b"], ["b", "a"]])),
    )
    for other in others:
        assert np.array_equal(other.unlabeled, groups.unlabeled)
        with pytest.raises(tc.InputError, match=r"is of another run \(other data\)"):
            inferred(other, output=tc.Output(path, resume=True))
    assert inferred(groups, output=tc.Output(path, resume=True)).tally.status == {"ok": 3}


def test_what_would_change_nothing_is_refused(tmp_path):
    groups, one = made_groups(4), tc.Counts([[9, 1], [1, 9]], [5, 5])
    with ThreadPoolExecutor(1) as thread:
        for model in (tc.LabelShift(groups=tc.Pooled()), tc.LabelShift(confusion=tc.Varying())):
            with pytest.raises(tc.InputError, match="one joint density, which is drawn in one process"):
                tc.infer(groups, model, executor=thread)
        with pytest.raises(tc.InputError, match="executor is given with Counts"):
            tc.infer(one, executor=thread)
        with pytest.raises(tc.InputError, match="closed form, which takes no time"):
            tc.infer_many([one], tc.SamePopulation(), executor=thread)
        with pytest.raises(tc.InputError, match=r"output ends in '\.xlsx'"):
            tc.infer(groups, executor=thread, output="answers.xlsx")
        with pytest.raises(tc.InputError, match="partition names 'region'"):
            tc.infer(groups, executor=thread, output=tc.Output(tmp_path / "answers", partition="region"))
    with pytest.raises(tc.InputError, match="output is given without executor"):
        tc.infer(groups, output="answers.csv")
    with pytest.raises(tc.InputError, match=r"executor is 2: it must have submit\(\)"):
        tc.infer(groups, executor=2)


def test_the_largest_are_printed_and_the_rest_is_counted():
    text = str(inferred(made_groups(30)))
    assert "… and 10 groups with smaller shares; rows and to_frame() have all." in text
    assert "30 groups inferred one by one, seed 0." in text


def test_labels_that_show_a_classifier_that_favours_a_group_are_told():
    own = {"a": [[40, 5], [5, 40]], "b": [[10, 35], [5, 40]]}
    groups = tc.Groups(np.sum(list(own.values()), axis=0), {"a": [50, 50], "b": [40, 60]}, label_groups=own)
    answers = inferred(groups)
    assert answers.of_labels.code == "confusion-drifted"
    assert "serious: Labels show that the classifier treats class 0 differently from group to group" in repr(answers)
