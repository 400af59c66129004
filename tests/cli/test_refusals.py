"""What the command refuses, when, and by which exit code; and what it does where streams are closed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click import Option
from click.testing import CliRunner

import truecount as tc
from command import COMMAND, run
from truecount.cli.app import app
from truecount.cli.source import Source

SURVEY = ["--positive", "50/3330", "--sensitivity", "103/122", "--specificity", "399/401"]
STUCK = tc.Counts([[30, 10], [10, 30]], [500, 500])
"""Counts that Gibbs chains cross so slowly that a hundred draws do not agree."""


def invoke(*arguments: str, code: int) -> str:
    done = CliRunner().invoke(app, list(arguments), catch_exceptions=True)
    assert done.exit_code == code, done.output
    return " ".join(done.stderr.split())


def single_options() -> list[tuple[str, str, int]]:
    """Every option of every verb that is given once, and how many words follow it."""
    verbs = app.commands.items()
    options = [(verb, each) for verb, command in verbs for each in command.params if isinstance(each, Option)]
    return [(verb, each.opts[0], each.nargs) for verb, each in options if not (each.multiple or each.is_flag)]


@pytest.mark.parametrize(("verb", "option", "words"), single_options())
def test_an_option_that_takes_one_value_is_refused_twice(verb: str, option: str, words: int) -> None:
    said = invoke(verb, "a.csv", option, *"xz"[:words], option, *"yw"[:words], code=2)
    assert f"{option} is given 2 times: it takes one value" in said
    assert f"Write {option} once." in said


def test_short_and_long_names_are_one_option() -> None:
    assert "--output is given 2 times" in invoke("counts", "a.csv", "-o", "x.json", "--output", "y.json", code=2)


def test_many_verbs_have_such_options() -> None:
    assert {"estimate", "check", "counts"} <= {verb for verb, _, _ in single_options()}


def test_options_for_several_values_are_taken_twice(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("h,v\na,a\nb,b\n,a\nNA,b\n-,a\n")
    columns = ["--label", "h", "--prediction", "v", "--missing", "NA", "--missing", "-"]
    assert run("estimate", "t.csv", *columns, "--all-pairs", folder=tmp_path).returncode == 2
    assert run("estimate", "t.csv", *columns, folder=tmp_path).returncode == 0


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where data are read."""
    monkeypatch.setattr(Source, "read", lambda _: pytest.fail("the data were read"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["--prior", "0"],
        ["--prior", "x"],
        ["--prior-confusion", "spare"],
        ["--draws", "1"],
        ["--seed", "-1"],
        ["--all-pairs"],
        ["--by", "c", "--design", "same-population"],
        ["--by", "c", "--method", "acc"],
        ["--by", "c", "--all-methods"],
        ["--csv", "a.parquet"],
        ["--json", "nowhere/a.json"],
        ["--plot", "a.gif"],
    ],
)
@pytest.mark.usefixtures("unread")
def test_what_can_be_refused_before_reading_is(arguments: list[str]) -> None:
    done = CliRunner().invoke(app, ["estimate", "a.csv", "--label", "h", "--prediction", "v", *arguments])
    assert done.exit_code in (1, 2)
    assert isinstance(done.exception, SystemExit | tc.InputError)


@pytest.mark.parametrize(
    ("verb", "arguments", "said"),
    [
        ("estimate", ["--class", "positve"], "--class is 'positve': the classes are 'negative', 'positive'. Perhaps"),
        ("estimate", ["--positive", "50.5/3330", "--target", "realized"], "target is 'realized'"),
        ("check", ["--above", "positve=0.1"], "--above is 'positve'"),
        ("check", ["--drift", "2"], "drift is 2"),
    ],
)
def test_what_can_be_refused_before_inferring_is(
    verb: str, arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truecount.inference.Auto.sample", lambda *_: pytest.fail("it was inferred"))
    data = SURVEY[2:] if "--positive" in arguments else SURVEY
    done = CliRunner().invoke(app, [verb, *data, *arguments])
    assert said in str(done.exception)


def test_an_audit_of_other_classes_is_refused_before_inferring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truecount.inference.Auto.sample", lambda *_: pytest.fail("it was inferred"))
    audit = tc.Counts([[1, 0], [0, 1]], [0, 0], classes=["a", "b"])
    with pytest.raises(tc.InputError, match="audit has 'a'"):
        tc.check(tc.Counts([[9, 1], [2, 8]], [5, 5], classes=["no", "yes"]), audit=audit)


DIGITS = "9" * 5000


@pytest.mark.parametrize(
    "arguments",
    [
        ["--seed", DIGITS],
        ["--draws", DIGITS],
        ["--prior", "1e308"],
        ["--prior", "1e-320"],
        ["--prior", "1e-30"],
        ["--prior", "negative=1e300,positive=1"],
        ["--prior-confusion", "1e308"],
        ["--prior-confusion", "diagonal:1e300"],
        ["--positive", f"1/{DIGITS}"],
    ],
    ids=lambda arguments: " ".join(arguments)[:30],
)
def test_numbers_beyond_all_measure_are_refused_in_words(arguments: list[str], tmp_path: Path) -> None:
    data = SURVEY[2:] if "--positive" in arguments else SURVEY
    done = run("estimate", *data, *arguments, folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"Error: {arguments[0]} ")
    assert len(done.stderr) < 400


@pytest.mark.parametrize("number", [DIGITS, "1000000000000000000"])
def test_counts_of_too_many_digits_are_refused_in_words(number: str, tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("class\\output,a,b\na,9,1\nb,2,8\n")
    (tmp_path / "u.csv").write_text(f"a,b\n5,{number}\n")
    done = run("estimate", "--confusion", "c.csv", "--unlabeled", "u.csv", folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: u.csv has a count of {len(number):,} digits: counts have at most 18 digits.")


@pytest.fixture
def stuck(tmp_path: Path) -> list[str]:
    (tmp_path / "stuck.json").write_text(STUCK.to_json())
    return [str(tmp_path / "stuck.json"), "--engine", "gibbs", "--draws", "100"]


def test_no_answer_has_an_exit_code_of_its_own(stuck: list[str], tmp_path: Path) -> None:
    done = run("estimate", *stuck, folder=tmp_path)
    assert done.returncode == 3
    assert done.stdout.startswith("No answer: R-hat is ")
    assert "serious: There is no answer: " in done.stdout
    assert done.stderr.endswith("No answer: not-converged.\n")
    found = run("estimate", *stuck, "--json", "-", folder=tmp_path)
    assert found.returncode == 3
    assert json.loads(found.stdout)["status"] == "no-answer"


def test_a_check_of_no_answer_leaves_out_what_rests_on_it() -> None:
    with pytest.warns(tc.errors.ConvergenceWarning):
        found = tc.check(STUCK, engine=tc.Gibbs(100), drift=0.05, replicates=19)
    assert not found.posterior.has_answer
    assert set(found.tables) <= {"identifiability", "tests"}
    assert str(found).startswith("No answer: R-hat is ")
    assert not {"prior-sensitive", "designs-disagree"} & {finding.code for finding in found.findings}


def closed(redirection: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command with a stream closed by the shell."""
    words = " ".join(["exec", '"$@"', redirection])
    shell = ["bash", "-c", words, "bash", *COMMAND, *arguments]
    environment = {**os.environ, "PYTHONUTF8": "1"}
    return subprocess.run(shell, cwd=folder, capture_output=True, encoding="utf-8", env=environment, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a Unix shell")
@pytest.mark.parametrize(
    ("redirection", "arguments", "code", "said"),
    [
        ("2>&-", [], 0, ""),
        ("<&-", [], 0, ""),
        (">&-", [], 1, "Error: standard output is closed"),
        (">&-", ["--json", "-"], 1, "Error: standard output is closed"),
        (">&-", ["--json", "a.json"], 0, "Wrote a.json."),
        ("<&- >&- 2>&-", ["--json", "a.json"], 0, ""),
    ],
)
def test_closed_streams(redirection: str, arguments: list[str], code: int, said: str, tmp_path: Path) -> None:
    done = closed(redirection, "estimate", *SURVEY, *arguments, folder=tmp_path)
    assert done.returncode == code
    assert done.stderr.startswith(said)
    assert "Traceback" not in done.stderr
    if "a.json" in arguments:
        assert json.loads((tmp_path / "a.json").read_text())["status"] == "ok"


def test_a_closed_standard_input_is_empty(tmp_path: Path) -> None:
    done = closed("<&-", "estimate", "-", "--label", "a", "--prediction", "b", folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: standard input is empty")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
def test_a_full_standard_output_is_told(tmp_path: Path) -> None:
    done = closed(">/dev/full", "estimate", *SURVEY, folder=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: standard output cannot be written (No space left on device)")


def test_weighted_surveys_are_worth_their_effective_size(tmp_path: Path) -> None:
    data = ["--positive", "50.5/3330", *SURVEY[2:], "--json", "-"]
    summary = json.loads(run("estimate", *data, folder=tmp_path).stdout)
    assert summary["counts"]["unlabeled"] == [3279.5, 50.5]
    assert [finding["code"] for finding in summary["findings"]] == ["weighted-counts"]
    whole = json.loads(run("estimate", *SURVEY, "--json", "-", folder=tmp_path).stdout)
    mean, sd = ([row["mean"] for row in each["classes"]][1] for each in (summary, whole)), whole["classes"][1]["sd"]
    assert abs(np.subtract(*mean)) < 0.5 / 3330 / 0.8 + 5 * sd / np.sqrt(2000)


def test_several_populations_share_the_validation_of_their_test(tmp_path: Path) -> None:
    north, south = "north=50/3330", "south=71/2900"
    data = ["--positive", north, "--positive", south, *SURVEY[2:], "--json", "-"]
    summary = json.loads(run("estimate", *data, folder=tmp_path).stdout)
    assert summary["by"] == ["population"]
    assert [group["group"] for group in summary["groups"]] == [["north"], ["south"]]
    assert np.array(summary["counts"]["labeled"]).sum() == 122 + 401
    assert len(summary["comparisons"]) == 2


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (["50/3330", "7/900"], "--positive is given 2 times: each of several populations has a name"),
        (["a=50/3330", "7/900"], "--positive is given 2 times"),
        (["a=50/3330", "a=7/900"], "--positive names 'a' twice"),
        (["a=50"], "--positive is '50': it must be a count and a total"),
        (["5.5.5/10"], "--positive is '5.5.5/10'"),
        (["-1/10"], "--positive is '-1/10'"),
        (["12.5/10"], "--positive is 12.5 of 10"),
    ],
)
def test_populations_that_are_none_are_refused(entries: list[str], said: str, tmp_path: Path) -> None:
    data = [word for entry in entries for word in ("--positive", entry)]
    done = run("estimate", *data, *SURVEY[2:], folder=tmp_path)
    assert done.returncode == 1
    assert said in done.stderr


def test_rogan_gladen_has_the_interval_of_lang_and_reiczigel(tmp_path: Path) -> None:
    summary = json.loads(
        run("estimate", *SURVEY, "--method", "rogan-gladen", "--level", "90%", "--json", "-", folder=tmp_path).stdout
    )
    rates = (50, 3330), (103, 122), (399, 401)
    _, positive = summary["classes"]
    assert positive["share"] == pytest.approx(tc.estimators.rogan_gladen(*rates))
    assert (positive["lower"], positive["upper"]) == pytest.approx(tc.estimators.lang_reiczigel(*rates, level=0.9))
    known = ["--positive", "50/3330", "--sensitivity", "0.84", "--specificity", "399/401", "--method", "rogan-gladen"]
    summary = json.loads(run("estimate", *known, "--json", "-", folder=tmp_path).stdout)
    wanted = tc.estimators.lang_reiczigel((50, 3330), 0.84, (399, 401))
    assert (summary["classes"][1]["lower"], summary["classes"][1]["upper"]) == pytest.approx(wanted)
    assert "95 % interval" in run("estimate", *known, folder=tmp_path).stdout


def test_several_studies_of_one_rate_are_named_where_one_is_taken(tmp_path: Path) -> None:
    studies = [*SURVEY, "--sensitivity", "27/37"]
    done = run("estimate", *studies, "--method", "rogan-gladen", folder=tmp_path)
    said = " ".join(done.stderr.split())
    assert done.returncode == 2
    assert "--sensitivity is given 2 times: --method takes one study of each rate" in said
    assert "groups" not in said
