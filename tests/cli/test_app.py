"""The command from outside: exit codes, what goes to which stream, what is left in the folder."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

import pytest

from command import COMMAND, interruptible, run
from truecount.cli.app import app, main
from truecount.examples import JUDGE

TABLE = ["--label", "human", "--prediction", "verdict"]
SURVEY = ["estimate", "--positive", "50/3330", "--sensitivity", "103/122", "--specificity", "399/401"]


def test_table_to_standard_output(tmp_path: Path) -> None:
    done = run("estimate", str(JUDGE), *TABLE, folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    header, fail, passed, how = done.stdout.splitlines()
    assert header.split() == ["class", "counted", "true", "share", "95", "%", "interval"]
    assert fail.startswith("fail    35.5 %")
    assert passed.startswith("pass    64.5 %")
    assert "effective sample size" in how
    assert os.listdir(tmp_path) == []


def test_json_alone_on_standard_output(tmp_path: Path) -> None:
    done = run(*SURVEY, "--json", "-", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    summary = json.loads(done.stdout, parse_constant=pytest.fail)
    assert summary["schema"] == "truecount.estimate/1"
    assert [row["class"] for row in summary["classes"]] == ["negative", "positive"]
    assert summary["counts"]["labeled"] == [[399, 2], [19, 103]]


def test_files_and_the_table_together(tmp_path: Path) -> None:
    done = run(*SURVEY, "--json", "a.json", "--csv", "b.csv", "--table", folder=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("class")
    assert sorted(os.listdir(tmp_path)) == ["a.json", "b.csv"]
    rows = json.loads((tmp_path / "a.json").read_text())["classes"]
    written = list(csv.DictReader(io.StringIO((tmp_path / "b.csv").read_text())))
    assert [float(row["mean"]) for row in written] == [row["mean"] for row in rows]
    assert list(written[0]) == [*rows[0], "status", "corrected"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["estimate", "nowhere.csv", *TABLE], 1, "nowhere.csv does not exist"),
        (["estimate", str(JUDGE), "--label", "humn", "--prediction", "verdict"], 1, "Perhaps you meant 'human'"),
        ([*SURVEY, "--level", "1.5"], 1, "--level is '1.5'"),
        ([*SURVEY, "--prior", "0"], 1, "--prior holds 0.0"),
        ([*SURVEY, "--seed", "-1"], 1, "--seed is '-1'"),
        ([*SURVEY, "--draws", "1"], 1, "--draws is '1'"),
        ([*SURVEY[:-1], "1.2"], 1, "--specificity is 1.2"),
        (["estimate", "--positive", "50000/3330000", *SURVEY[3:], "--engine", "gibbs"], 1, "Use --engine auto"),
        (["estimate", "-", *TABLE], 1, "standard input is empty"),
        ([*SURVEY, "--json", "nowhere/a.json"], 1, "no folder that exists"),
        (["estimate", str(JUDGE)], 2, "needs --label and --prediction"),
        (["estimate"], 2, "no data"),
        ([*SURVEY, "--engine", "magic"], 2, "'magic' is not one of auto, exact"),
        ([*SURVEY, "--engine", "gibs"], 2, "Did you mean 'gibbs'?"),
        ([*SURVEY, "--methd", "acc"], 2, "--method"),
        ([*SURVEY, "--colour"], 2, "No such option"),
        (["estimte"], 2, "Did you mean 'estimate'?"),
        (["guess"], 2, "No such command"),
    ],
)
def test_mistakes_have_their_code_and_leave_nothing(
    arguments: list[str], code: int, words: str, tmp_path: Path
) -> None:
    wanted = ["--json", "out.json"] if "estimate" in arguments and "--json" not in arguments else []
    done = run(*arguments, *wanted, folder=tmp_path)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert os.listdir(tmp_path) == []
    if code == 1:
        assert len(done.stderr.splitlines()) == 1


def test_version(tmp_path: Path) -> None:
    assert run("--version", folder=tmp_path).stdout == f"truecount {version('truecount')}\n"


VERBS = list(app.commands)


@pytest.mark.parametrize("verb", [[], *([verb] for verb in VERBS)], ids=str)
def test_help_shows_an_example(verb: list[str], tmp_path: Path) -> None:
    done = run(*verb, "--help", folder=tmp_path)
    assert done.returncode == 0
    assert f"  truecount {' '.join(verb)}".rstrip() in done.stdout


def test_no_heavy_import_on_the_exact_path(tmp_path: Path) -> None:
    code = (
        "import sys; from truecount.cli.app import app\n"
        f"app({SURVEY!r}, standalone_mode=False)\n"
        "heavy = {'scipy', 'arviz_stats', 'matplotlib', 'rich', 'duckdb', 'narwhals', 'jinja2'}\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_names_of_any_kind_survive_to_json(tmp_path: Path) -> None:
    names = ["<script>alert(1)</script>", "日本語 – Straße", "x" * 200, "[red]", "new\nline"]
    lines = [json.dumps({"human": name, "verdict": name}) for name in names for _ in range(9)]
    lines += [json.dumps({"verdict": name}) for name in names]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    done = run("estimate", "t.jsonl", *TABLE, "--json", "a.json", "--csv", "b.csv", "--table", folder=tmp_path)
    assert done.returncode == 0
    assert [row["class"] for row in json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["classes"]] == sorted(
        names
    )
    with (tmp_path / "b.csv").open(encoding="utf-8", newline="") as stream:
        shown = [name.replace("\n", "\\n") for name in sorted(names)]
        assert [row["class"] for row in csv.DictReader(stream)] == shown
    assert "new\\nline" in done.stdout


def test_output_that_cannot_show_a_name_still_answers(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("human,verdict\n日本,日本\nb,b\n,b\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    arguments = [*COMMAND, "estimate", "t.csv", *TABLE]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, env=environment, check=True)
    assert b"\\u65e5\\u672c" in done.stdout


def open_when_read(pipe: Path, process: subprocess.Popen[bytes]) -> int:
    """Open a pipe for writing as soon as the process reads from it."""
    while process.poll() is None:
        with suppress(OSError):
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.01)
    raise AssertionError(process.communicate()[1])


def test_interrupt_while_loading_leaves_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*names: str) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr("truecount.cli.app.build", interrupted)
    with pytest.raises(SystemExit, match="130"):
        main()


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is another thing there")
def test_interrupt_leaves_no_file_and_no_traceback(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "slow.csv")
    arguments = [*COMMAND, "estimate", "slow.csv", *TABLE, "--json", "out.json"]
    with interruptible():
        process = subprocess.Popen(arguments, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    writer = open_when_read(tmp_path / "slow.csv", process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    os.close(writer)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert os.listdir(tmp_path) == ["slow.csv"]
