"""Logs that Inspect wrote: counts equal those by hand, and what is no such log is refused."""

import json
import re
import shutil
import zipfile
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

import truecount as tc
from as_printed import TUTORIALS
from command import run
from truecount.cli import source
from truecount.errors import InputError, TruecountWarning
from truecount.reading.locate import holds_counts
from truecount.reading.logs.log import TOOLS
from writers.items import ITEMS, by_hand
from written_by import numbers, run_tool, written_by


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_by("inspect", "inspect_ai", tmp_path_factory.mktemp("inspect"))


@pytest.mark.parametrize("kind", ["archive", "json"])
@pytest.mark.parametrize("label", ["scores.human", "scores.human.value", "metadata.human"])
def test_counts_are_those_by_hand(logs: Path, kind: str, label: str) -> None:
    counts = tc.count_log(logs / kind, label=label, prediction="scores.judge")
    assert numbers(counts) == by_hand(repeats=2)
    assert counts.clusters.number == len(ITEMS)
    assert counts.outputs == ("C", "I", "N", "P")


def test_the_only_score_is_the_prediction(logs: Path) -> None:
    counts = tc.count_log(logs / "one_scorer", label="metadata.human")
    assert numbers(counts) == by_hand()
    assert counts.clusters is None


def test_a_path_is_a_table_too(logs: Path) -> None:
    pattern = str(logs / "archive" / "*.eval")
    assert numbers(tc.count_table(pattern, label="metadata.human", prediction="scores.judge")) == by_hand(repeats=2)


def test_a_frame_of_samples_is_counted_alike(logs: Path) -> None:
    """Inspect's own table of samples."""
    columns = {"label": "metadata_human", "prediction": "score_judge", "cluster": "id"}
    counts = tc.count_table(logs / "samples.parquet", **columns)
    assert numbers(counts) == by_hand(repeats=2)
    assert counts.clusters.number == len(ITEMS)


TOOLS_OF_OTHERS = (
    "inspect_ai",
    "lm_eval",
    "deepeval",
    "evals",
    "mlflow",
    "langsmith",
    "phoenix",
    "pandas",
    "polars",
    "quapy",
)
READ = """
import sys
from pathlib import Path
import truecount as tc
tc.infer(tc.count_log(sys.argv[1], label="metadata.human", prediction="scores.judge"))
stored = Path(sys.argv[2])
read = {tc.read_log(path).tool.name for path in [*stored.glob("*.json"), *stored.glob("[os]*.jsonl")]}
assert len(read) == 5, read
tc.count_table(stored / "langsmith.jsonl", label="reference.human", prediction="feedback.judge")
tc.count_table(stored / "phoenix.parquet", label="human", prediction="judge_score.label")
print({name.partition(".")[0] for name in sys.modules} & set(sys.argv[3:]) or "none")
"""


def test_a_log_is_read_without_the_tools_that_are_installed(logs: Path, tmp_path: Path) -> None:
    script = tmp_path / "read.py"
    script.write_text(READ)
    assert run_tool(script, logs / "archive", TUTORIALS / "log", *TOOLS_OF_OTHERS).strip() == "none"
    script.write_text(f"import inspect_ai\n{READ}")
    assert "inspect_ai" in run_tool(script, logs / "archive", TUTORIALS / "log", *TOOLS_OF_OTHERS)


def test_several_logs_and_groups_from_the_command(logs: Path, tmp_path: Path) -> None:
    """The shell names every file; all are one table, and groups are fields of samples."""
    files = [str(next((logs / kind).iterdir())) for kind in ("archive", "json")]
    columns = ("--label", "scores.human", "--prediction", "scores.judge")
    done = run("counts", *files, *columns, "--by", "metadata.topic", "-o", "-", folder=tmp_path)
    told = json.loads(done.stdout)
    unlabeled = Counter((item.topic, item.verdict) for item in ITEMS if item.human is None)
    expected = [[4 * unlabeled[topic, output] for output in told["outputs"]] for topic in "ab"]
    assert told["unlabeled"] == expected
    assert sum(map(sum, told["labeled"])) == 4 * sum(item.human is not None for item in ITEMS)
    answered = run("estimate", *files, *columns, "--json", "-", folder=tmp_path)
    assert json.loads(answered.stdout)["corrected"] is True


def test_the_standard_input_may_be_an_archive(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with next((logs / "one_scorer").iterdir()).open("rb") as archive:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=archive))
        copy = source._copied(tmp_path / "stdin")
    assert copy.suffix == ".eval"
    assert numbers(tc.count_log(copy, label="metadata.human")) == by_hand()


def test_a_sample_that_failed_has_the_output_error(logs: Path) -> None:
    counts = tc.count_log(logs / "with_error", label="metadata.human", prediction="scores.judge")
    broken = next(item for item in ITEMS if item.name == "item 20")
    expected = by_hand() - Counter([(None, broken.verdict)]) + Counter([(None, "error")])
    assert numbers(counts) == expected


def test_a_repeated_evaluation_is_not_counted_twice(logs: Path) -> None:
    """The log of a retry holds the samples of the run before, which ended early and says so."""
    first, second = sorted((logs / "retried").iterdir())
    columns = {"label": "metadata.human", "prediction": "scores.judge"}
    with pytest.raises(InputError) as caught:
        tc.count_log(logs / "retried", **columns)
    assert str(first) in str(caught.value)
    assert str(second) in str(caught.value)
    assert "each item is counted once" in str(caught.value)
    assert numbers(tc.count_log(second, **columns)) == by_hand()
    with pytest.warns(TruecountWarning, match="ended with status 'error'"):
        assert numbers(tc.count_log(first, **columns)).total() < len(ITEMS)


def test_a_printed_log_says_what_it_holds(logs: Path) -> None:
    log = tc.read_log(logs / "archive")
    assert (log.fields.cluster, log.fields.group) == ("item", "model")
    assert {"scores.judge", "scores.human", "metadata.topic", "model", "epoch", "id"} <= set(log.columns)
    assert "Log of Inspect" in repr(log)
    assert "scores.judge" in repr(log)
    items = Counter(record.values["id"] for record in log.records())
    assert set(items.values()) == {2}


def test_columns_that_are_not_named_are_asked_for(logs: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no field for the true class: its columns are 'id'.* Pass label='COLUMN'"):
        tc.count_log(logs / "one_scorer")
    with pytest.raises(InputError, match=r"has no column 'score'.*'scores.judge'"):
        tc.count_log(logs / "archive", label="scores.human")
    done = run("estimate", str(logs / "one_scorer"), folder=tmp_path)
    assert done.returncode == 1
    assert "Pass --label 'COLUMN'" in done.stderr


def other(logs: Path, tmp_path: Path, **changed: object) -> Path:
    """A log that Inspect wrote, in which something was changed."""
    told = json.loads(next((logs / "json").iterdir()).read_text())
    path = tmp_path / "changed.json"
    path.write_text(json.dumps({**told, **changed}))
    return path


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"version": 3}, "is a log of Inspect of version 3: version '2' is read. Write it with another version"),
        ({"eval": None}, "is a log of Inspect without an entry 'eval'"),
        ({"samples": None}, "is a log without samples: samples are what is counted"),
    ],
)
def test_another_version_or_shape_is_refused(logs: Path, tmp_path: Path, changed: dict, words: str) -> None:
    with pytest.raises(InputError) as caught:
        tc.count_log(other(logs, tmp_path, **changed), label="metadata.human", prediction="scores.judge")
    assert words in str(caught.value)


def test_an_archive_that_is_cut_off_or_has_not_ended_is_refused(logs: Path, tmp_path: Path) -> None:
    whole = next((logs / "archive").iterdir())
    cut = tmp_path / "cut.eval"
    cut.write_bytes(whole.read_bytes()[:3000])
    with pytest.raises(InputError, match=r"cannot be read .*: Inspect writes a zip archive"):
        tc.read_log(cut)
    running = tmp_path / "running.eval"
    shutil.copy(whole, running)
    with zipfile.ZipFile(whole) as archive, zipfile.ZipFile(running, "w") as begun:
        begun.writestr("_journal/start.json", "{}")
        assert "header.json" in archive.namelist()
    with pytest.raises(InputError, match="has not ended: a log is read when its evaluation has ended"):
        tc.read_log(running)


def test_logs_of_two_tools_are_no_table(logs: Path, tmp_path: Path) -> None:
    table = tmp_path / "logged.json"
    table.write_text(json.dumps({"columns": ["a"], "data": [["b"]]}))
    with pytest.raises(InputError, match="is no log of Inspect"):
        tc.count_log([next((logs / "archive").iterdir()), table], label="metadata.human", prediction="scores.judge")


def test_a_log_is_not_taken_for_counts(logs: Path, tmp_path: Path) -> None:
    counts = tmp_path / "counts.json"
    counts.write_text(tc.Counts([[3, 1], [1, 3]], [5, 5]).to_json())
    assert holds_counts(counts)
    assert not holds_counts(next((logs / "json").iterdir()))


def test_what_is_no_log_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text('{"human": "a", "verdict": "b"}\n')
    with pytest.raises(InputError, match="is no log that is known: logs of Inspect, lm-evaluation-harness"):
        tc.read_log(path)


ROLES = ("label", "prediction", "group", "cluster")
PAGE = (Path(__file__).parents[3] / "docs" / "guides" / "logs.md").read_text(encoding="utf-8")


def test_the_page_s_block_runs(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "logs").symlink_to(logs / "archive")
    monkeypatch.chdir(tmp_path)
    [block] = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(block, "logs.md", "exec"), {})  # noqa: S102
    assert "true share" in capsys.readouterr().out


def test_the_page_states_the_fields_of_every_tool() -> None:
    told = re.findall(r"^\| ([^|]+) \| [^|]+ \| (.*) \|$", PAGE, flags=re.MULTILINE)
    rows = {name: tuple(cell.strip(" `") for cell in cells.split("|")) for name, cells in told if cells.count("|") == 3}
    fields = {tool.name: tuple(getattr(tool.fields, role) or "–" for role in ROLES) for tool in TOOLS}
    assert fields.items() <= rows.items()


def test_epochs_are_clusters_unless_they_are_groups(logs: Path) -> None:
    """An item of one log is a cluster; where its runs are in two groups it cannot be one, and another may be named."""
    both = [logs / "archive", logs / "json"]
    columns = {"label": "metadata.human", "prediction": "scores.judge"}
    assert tc.count_log(both, **columns).clusters.number == 2 * len(ITEMS)
    assert tc.count_log(both, **columns, by="metadata.topic").clusters is not None
    assert tc.count_log(both, **columns, cluster="id").clusters.number == len(ITEMS)
    assert tc.count_log(logs / "archive", **columns, by="epoch").clusters is None
    repeated = tc.infer(tc.count_log(logs / "archive", **columns), seed=1).sd
    independent = tc.infer(tc.count_table(logs / "archive", **columns), seed=1).sd
    assert (repeated > independent).all()
