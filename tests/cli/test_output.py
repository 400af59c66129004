"""Very many groups by one command: to a file, by several processes, and on where a run was killed."""

import os
import signal
import subprocess
import time

import duckdb
import pytest

from command import COMMAND, run, run_process
from truecount.cli import separate

COLUMNS = ["items", "class", "counted", "mean", "median", "sd", "lower", "upper", "effective_draws", "rhat"]
WORDS = ["status", "findings", "serious", "error", "corrected"]
TABLE = ["runs.csv", "--label", "y", "--prediction", "c", "--by", "store,week"]


def write_runs(folder, stores: int, weeks: int = 2) -> None:
    lines = ["store,week,y,c"]
    for at in range(stores * weeks):
        place = f"s{at // weeks},{at % weeks}"
        lines += [f"{place},{label},{output}" for label, output in (("no", "no"), ("yes", "yes")) for _ in range(2)]
        lines += [f"{place},no,yes"] * (at % 3 == 0)
        lines += [f"{place},,no"] * (10 + at % 7) + [f"{place},,yes"] * (15 - at % 5)
    (folder / "runs.csv").write_text("\n".join(lines) + "\n")


@pytest.fixture
def runs(tmp_path):
    write_runs(tmp_path, 4)
    return tmp_path


def test_few_groups_are_pooled_and_written_with_the_same_columns(runs):
    done = run("estimate", *TABLE, "--output", "joint.parquet", folder=runs)
    assert (done.returncode, done.stdout) == (0, "")
    assert "Wrote joint.parquet." in done.stderr
    apart = run("estimate", *TABLE, "--separate", "-o", "apart.parquet", folder=runs)
    assert (apart.returncode, apart.stdout) == (0, "")
    assert "8 groups inferred one by one, seed 0. Findings: shared-labels in 8" in apart.stderr
    for name in ("joint", "apart"):
        found = duckdb.read_parquet(str(runs / f"{name}.parquet"))
        assert found.columns == ["store", "week", *COLUMNS, *WORDS]
        assert len(found.fetchall()) == 16
    assert sorted(path.name for path in runs.iterdir()) == ["apart.parquet", "joint.parquet", "runs.csv"]


def test_a_column_called_like_one_of_the_answer_has_the_same_name_in_every_file(runs):
    text = (runs / "runs.csv").read_text().replace("store,week", "store,time", 1)
    (runs / "runs.csv").write_text(text)
    table = [*TABLE[:-1], "store,time"]
    for name, more in (("joint", ()), ("apart", ("--separate",))):
        done = run("estimate", *table, "-o", name, "--partition", "group_time", *more, folder=runs)
        assert done.returncode == 0, done.stderr
        assert sorted(path.name for path in (runs / name).iterdir()) == ["group_time=0", "group_time=1"]


def test_workers_are_refused_where_there_is_one_population(runs):
    done = run(
        "estimate", "runs.csv", "--label", "y", "--prediction", "c", "-o", "one.csv", "--workers", "2", folder=runs
    )
    assert done.returncode == 2
    assert "--workers is given, and the answer is drawn jointly" in " ".join(done.stderr.split())


@pytest.mark.parametrize("asked", [["--class", "yes"], ["--sort", "size"]])
def test_what_a_file_of_all_classes_does_not_show_is_refused(runs, asked):
    done = run("estimate", *TABLE, "-o", "joint.csv", *asked, folder=runs)
    assert done.returncode == 2
    assert f"{asked[0]} is given with --output alone" in " ".join(done.stderr.split())
    done = run("estimate", *TABLE, "-o", "joint.csv", *asked, "--table", "--draws", "100", folder=runs)
    assert done.returncode == 0


@pytest.mark.parametrize(("asked", "started"), [([], 1), (["--workers", "2"], 2)])
def test_as_many_workers_as_asked_for_infer_few_groups(runs, asked, started, monkeypatch):
    numbers, made = [], separate.workers_here
    monkeypatch.setattr(separate, "workers_here", lambda number: numbers.append(number) or made(1))
    assert run("estimate", *TABLE, "--separate", "-o", "few.csv", *asked, folder=runs).returncode == 0
    assert numbers == [started]


def test_one_population_is_written_too(runs):
    done = run("estimate", "runs.csv", "--label", "y", "--prediction", "c", "-o", "one.csv", folder=runs)
    assert done.returncode == 0, done.stderr
    header, *rows = (runs / "one.csv").read_text().splitlines()
    assert header.split(",") == [*COLUMNS, *WORDS]
    assert len(rows) == 2


def test_many_groups_are_inferred_one_by_one_which_is_said(runs, monkeypatch):
    monkeypatch.setattr(separate, "MOST_POOLED", 7)
    done = run("estimate", *TABLE, "--output", "many.jsonl", "--workers", "1", folder=runs)
    assert done.returncode == 0
    assert "8 groups are more than the 7 up to which groups are pooled: each is inferred by itself" in done.stderr
    quiet = run("estimate", *TABLE, "--output", "quiet.jsonl", "--quiet", folder=runs)
    assert (quiet.stdout, quiet.stderr) == ("", "")
    assert (runs / "quiet.jsonl").read_bytes() == (runs / "many.jsonl").read_bytes()
    both = run("estimate", *TABLE, "--output", "both.jsonl", "--json", "both.json", folder=runs)
    assert "inferred by itself" not in both.stderr  # JSON is of joint draws


def test_groups_without_an_answer_end_in_exit_code_3(runs, monkeypatch):
    def fail(*_):
        raise FloatingPointError("no such luck")

    monkeypatch.setattr("truecount.api.separate.rows_of_posterior", fail)
    done = run("estimate", *TABLE, "--separate", "-o", "failed.csv", folder=runs)
    assert done.returncode == 3
    assert "s0 0: FloatingPointError: no such luck" in done.stderr
    assert "No answer for some groups: 8 failed." in done.stderr
    assert (runs / "failed.csv").read_text().count("failed,,,FloatingPointError: no such luck") == 16


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--separate"], "--separate is given without --output"),
        (["--resume"], "--resume is given without --output"),
        (["--partition", "store"], "--partition is given without --output"),
        (["--separate", "-o", "a.csv", "--html", "a.html"], "--separate goes with --output alone"),
        (["--separate", "-o", "a.csv", "--compare", "a", "b"], "--separate is given with --compare"),
        (["--separate", "-o", "a.csv", "--workers", "0"], "--workers is '0'"),
        (["--workers", "2"], "--workers is given without --output"),
        (["-o", "a.csv", "--workers", "2"], "--workers is given, and the answer is drawn jointly, by one process"),
        (["-o", "a.xlsx"], "output ends in '.xlsx'"),
        (["-o", "runs.csv"], "is read and is to be written"),
        (["-o", "a.csv", "--partition", "store"], "partition is given with .csv"),
        (["-o", "a", "--partition", "region"], "partition names 'region'"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_is_written(runs, arguments, said):
    done = run("estimate", *TABLE, *arguments, folder=runs)
    assert done.returncode in (1, 2)
    assert said in " ".join(done.stderr.split())
    assert [path.name for path in runs.iterdir()] == ["runs.csv"]


def test_a_method_has_no_such_rows(runs):
    done = run("estimate", *TABLE[:-2], "--method", "acc", "-o", "a.csv", folder=runs)
    assert done.returncode == 2
    assert "--output holds posteriors" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_a_run_that_was_killed_goes_on_and_ends_with_the_same_bytes(tmp_path):
    write_runs(tmp_path, 400)
    asked = ["estimate", *TABLE, "--separate", "--workers", "2"]
    assert run_process(*asked, "-o", "whole.parquet", folder=tmp_path).returncode == 0
    parts = tmp_path / "killed.parquet.parts"
    with subprocess.Popen(
        [*COMMAND, *asked, "-o", "killed.parquet"], cwd=tmp_path, stderr=subprocess.DEVNULL
    ) as process:
        while process.poll() is None and not list(parts.glob("part-*.jsonl")):
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    there = len(list(parts.glob("part-*.jsonl")))
    assert 1 <= there < 4
    done = run_process(*asked, "-o", "killed.parquet", "--resume", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "killed.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert not parts.exists()


@pytest.mark.skipif(os.name == "nt", reason="SIGTERM ends a process at once there")
def test_a_terminated_run_waits_for_its_workers_and_says_how_to_go_on(runs, monkeypatch):
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr("truecount.api.bayesian.infer", lambda *_, **__: os.kill(os.getpid(), signal.SIGTERM))
    done = run("estimate", *TABLE, "--separate", "-o", "apart.parquet", folder=runs)
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr == "Stopped. Finished groups stand in apart.parquet.parts; --resume goes on.\n"
    assert signal.getsignal(signal.SIGTERM) == before
