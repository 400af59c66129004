"""Logs that other evaluation tools wrote: counts equal those by hand, and another shape is refused."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import truecount as tc
from command import run
from truecount.errors import InputError, TruecountWarning
from writers.items import ITEMS, by_hand
from written_by import numbers, written_by

PACKAGES = {
    "lm_eval": "lm_eval",
    "deepeval": "deepeval",
    "openai_evals": "evals",
    "mlflow": "mlflow",
    "langsmith": "langsmith",
    "phoenix": "phoenix.evals",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Run a tool once, when its files are first asked for."""
    made: dict[str, Path] = {}

    def folder(tool: str) -> Path:
        if tool not in made:
            made[tool] = written_by(tool, PACKAGES[tool], tmp_path_factory.mktemp(tool))
        return made[tool]

    return folder


def one(folder: Path, pattern: str) -> Path:
    [path] = folder.rglob(pattern)
    return path


def changed(path: Path, target: Path, change: Callable[[str], str]) -> Path:
    """What a tool wrote, in which something was changed."""
    target.write_text(change(path.read_text()))
    return target


def test_documents_of_lm_eval_have_an_answer_for_each_filter(files: Callable) -> None:
    path = one(files("lm_eval"), "samples_free*.jsonl")
    assert numbers(tc.count_log(path, prediction="filters.first.answer")) == by_hand()
    lowered = Counter((item.human, item.verdict.lower()) for item in ITEMS)
    assert numbers(tc.count_log(path, prediction="filters.lower.answer")) == lowered
    with pytest.raises(InputError, match=r"has no column 'answer'.*'filters.first.answer'"):
        tc.count_log(path)


def test_choices_of_lm_eval_are_those_that_it_scored(files: Callable) -> None:
    """The answer is the likeliest choice: it is the target where the harness says that it is right."""
    path = one(files("lm_eval"), "samples_choice*.jsonl")
    records = [record.values for record in tc.read_log(path).records()]
    assert [float(values["answer"] == values["target"]) for values in records] == [values["acc"] for values in records]
    places = Counter((item.human, str("CPIN".index(item.verdict))) for item in ITEMS)
    assert numbers(tc.count_log(path, label="doc.human")) == places


def test_another_shape_of_lm_eval_is_refused(files: Callable, tmp_path: Path) -> None:
    path = one(files("lm_eval"), "samples_choice*.jsonl")
    other = changed(path, tmp_path / "samples.jsonl", lambda text: text.replace('"filtered_resps"', '"answers"'))
    with pytest.raises(
        InputError, match="is a log of lm-evaluation-harness without 'filtered_resps': each of its lines"
    ):
        tc.count_log(other)
    twice = changed(path, tmp_path / "twice.jsonl", lambda text: text + text)
    with pytest.raises(InputError, match="has document 0 twice under filter 'none'"):
        tc.count_log(twice)


def success(verdict: str) -> bool | str:
    """What DeepEval makes of a verdict: where there is none its metric fails."""
    return "error" if verdict == "N" else verdict == "C"


@pytest.mark.parametrize("prediction", [None, "metrics.Correct"])
def test_test_cases_of_deepeval_are_counted(files: Callable, prediction: str | None) -> None:
    path = one(files("deepeval") / "results", "test_run_*.json")
    counts = tc.count_log(path, label="metadata.human", prediction=prediction)
    assert numbers(counts) == Counter((item.human, success(item.verdict)) for item in ITEMS)


def test_scores_of_deepeval_are_columns_too(files: Callable) -> None:
    path = one(files("deepeval") / "results", "test_run_*.json")
    assert "metrics.Correct.score" in tc.read_log(path).columns


def test_another_shape_of_deepeval_is_refused(files: Callable, tmp_path: Path) -> None:
    path = one(files("deepeval") / "results", "test_run_*.json")
    other = changed(path, tmp_path / "run.json", lambda text: text.replace('"metricsData"', '"metrics"'))
    with pytest.raises(InputError, match="is a log of DeepEval without what its metrics said"):
        tc.count_log(other, label="metadata.human")


def test_samples_of_openai_evals_are_counted(files: Callable, tmp_path: Path) -> None:
    path = one(files("openai_evals"), "record.jsonl")
    counts = tc.count_log(path, missing="unknown")
    assert numbers(counts) == by_hand()
    done = run("counts", str(path), "--missing", "unknown", "-o", "-", folder=tmp_path)
    assert json.loads(done.stdout)["unlabeled"] == counts.unlabeled.tolist()


def test_a_record_without_a_report_is_read_with_a_warning(files: Callable, tmp_path: Path) -> None:
    path = one(files("openai_evals"), "record.jsonl")
    lines = [line for line in path.read_text().splitlines() if '"final_report"' not in line]
    begun = changed(path, tmp_path / "begun.jsonl", lambda _: "\n".join(lines))
    with pytest.warns(TruecountWarning, match="has no final report"):
        assert numbers(tc.count_log(begun, missing="unknown")) == by_hand()
    other = changed(path, tmp_path / "other.jsonl", lambda text: text.replace('"sample_id"', '"sample"'))
    with pytest.raises(InputError, match="is a log of OpenAI evals without 'sample_id'"):
        tc.count_log(other)


@pytest.mark.parametrize("name", ["logged.json", "eval_results_table.json"])
def test_tables_of_mlflow_are_counted(files: Callable, name: str) -> None:
    path = one(files("mlflow"), name)
    prediction = "verdict" if name == "logged.json" else "outputs"
    known = tc.read_log(path).columns
    assert (
        numbers(tc.count_log(path, label="human", prediction=prediction if prediction in known else "verdict"))
        == by_hand()
    )


def test_a_ragged_table_of_mlflow_is_refused(files: Callable, tmp_path: Path) -> None:
    path = one(files("mlflow"), "logged.json")
    told = json.loads(path.read_text())
    other = changed(path, tmp_path / "ragged.json", lambda _: json.dumps({**told, "columns": told["columns"][1:]}))
    with pytest.raises(InputError, match="is a log of MLflow with rows of another length: there are 3 columns"):
        tc.count_log(other, label="human", prediction="verdict")


@pytest.mark.parametrize(
    ("name", "label", "prediction"),
    [
        ("flat.jsonl", "reference.human", "feedback.judge"),
        ("nested.jsonl", "example.outputs.human", "run.outputs.verdict"),
    ],
)
def test_exports_of_langsmith_are_reached_by_dots(files: Callable, name: str, label: str, prediction: str) -> None:
    counts = tc.count_table(files("langsmith") / name, label=label, prediction=prediction)
    assert numbers(counts) == by_hand()


@pytest.mark.parametrize("name", ["table.jsonl", "table.parquet"])
def test_exports_of_phoenix_are_reached_by_dots(files: Callable, name: str) -> None:
    counts = tc.count_table(files("phoenix") / name, label="human", prediction="judge_score.label")
    assert numbers(counts) == by_hand()
