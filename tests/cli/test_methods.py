"""Other estimators on the command line: the library's answers, and no option that would change nothing."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import truecount as tc
from truecount.cli.app import app
from truecount.errors import InputError
from truecount.estimators import METHODS

COUNTS = tc.Counts([[90, 10], [20, 80]], [75, 25], classes=["fail", "pass"])
ALIKE = tc.Counts([[5, 5], [5, 5]], [6, 4])


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    found = {"sound": tmp_path / "sound.json", "alike": tmp_path / "alike.json"}
    found["sound"].write_text(COUNTS.to_json())
    found["alike"].write_text(ALIKE.to_json())
    return {name: str(path) for name, path in found.items()}


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["estimate", *arguments], catch_exceptions=False)


def in_shell(words: str) -> str:
    return words.replace("Use infer().", "Leave --method out.")


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.needs == "counts"])
def test_a_method_prints_the_library_s_point(name: str, files: dict[str, str]) -> None:
    done = run(files["sound"], "--method", name)
    assert (done.exit_code, done.stdout) == (0, in_shell(f"{tc.estimate(COUNTS, name)}\n"))


def test_a_point_as_json_and_csv(files: dict[str, str], tmp_path: Path) -> None:
    done = run(files["sound"], "--method", "bbse", "--json", "-", "--csv", str(tmp_path / "point.csv"))
    assert json.loads(done.stdout) == json.loads(json.dumps(tc.estimate(COUNTS, "bbse").to_dict()))
    rows = list(csv.DictReader(io.StringIO((tmp_path / "point.csv").read_text())))
    assert [row["class"] for row in rows] == ["fail", "pass"]
    assert float(rows[0]["share"]) == pytest.approx(tc.estimate(COUNTS, "bbse").prevalence[0])


def test_all_methods_print_the_library_s_table(files: dict[str, str]) -> None:
    done = run(files["sound"], "--all-methods", "--seed", "3", "--level", "0.8")
    assert (done.exit_code, done.stdout) == (0, f"{tc.compare(COUNTS, seed=3, level=0.8)}\n")


def test_all_methods_as_json_and_csv(files: dict[str, str]) -> None:
    expected = in_shell(json.dumps(tc.compare(COUNTS).to_dict()))
    assert json.loads(run(files["sound"], "--all-methods", "--json", "-").stdout) == json.loads(expected)
    rows = list(csv.DictReader(io.StringIO(run(files["sound"], "--all-methods", "--csv", "-").stdout)))
    assert [row["class"] for row in rows[:2]] == ["fail", "pass"]
    assert {row["method"] for row in rows} == {"posterior", *METHODS}
    (acc,) = [row for row in rows if (row["method"], row["class"]) == ("acc", "fail")]
    assert float(acc["lower"]) < float(acc["share"]) < float(acc["upper"])
    assert [row["reason"] for row in rows if row["method"] == "em"] == ["em needs the scores of every item"]


@pytest.mark.parametrize("options", [["--method", "acc"], ["--all-methods"]])
def test_strict_exits_with_three_where_classes_cannot_be_told_apart(options: list[str], files: dict[str, str]) -> None:
    assert run(files["sound"], *options, "--strict").exit_code == 0
    done = run(files["alike"], *options, "--strict")
    assert done.exit_code == 3
    assert "not-identified" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "bbes"], "'bbes' is unknown: the methods are cc, pcc"),
        (["--method", "bbes"], "Perhaps you meant 'bbse'"),
        (["--method", "acc", "--all-methods"], "--method does not go with --all-methods"),
        (["--method", "acc", "--level", "0.95"], "--method acc does not go with --level: it has no interval. "),
        (["--method", "acc", "--engine", "auto", "--seed", "0"], "--method does not go with --engine and --seed"),
        (["--method", "acc", "--all-pairs"], "--method does not go with --all-pairs"),
        (
            ["--method", "acc", "--class", "pass"],
            "--method does not go with --class: it prints a point for every class of one population, with no draws, "
            "prior, picture or page. Leave --class out, or leave --method out and get the posterior.",
        ),
        (
            ["--all-methods", "--class", "pass"],
            "beside the posterior at its defaults, of one population. Leave --class",
        ),
        (["--all-methods", "--trend", "day:week"], "--all-methods does not go with --trend"),
        (["--all-methods", "--prior-confusion", "sparse"], "--all-methods does not go with --prior-confusion"),
    ],
)
def test_what_would_change_nothing_is_bad_usage(options: list[str], message: str, files: dict[str, str]) -> None:
    done = run(files["sound"], *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in " ".join(done.stderr.split())


@pytest.mark.parametrize("options", [["--method", "acc"], ["--all-methods"]])
def test_a_known_test_cannot_be_resampled(options: list[str]) -> None:
    done = run("--positive", "50/3330", "--sensitivity", "0.84", "--specificity", "399/401", *options)
    assert done.exit_code == 2
    assert "needs counts of sensitivity and specificity" in " ".join(done.stderr.split())


def test_a_method_on_scores_is_refused(files: dict[str, str]) -> None:
    with pytest.raises(InputError, match="em needs the scores of every item"):
        run(files["sound"], "--method", "em")


HONOURED = {
    *(
        "label",
        "prediction",
        "weight",
        "cluster",
        "missing",
        "outputs_are_classes",
        "confusion",
        "unlabeled",
        "positive",
        "sensitivity",
    ),
    *("specificity", "level", "json", "csv", "parquet", "openmetrics", "table", "quiet", "strict", "method"),
}
"""Options of `estimate` that say which data are read or where a point goes; every other one is refused."""
VALUES = {"interval": "hdi", "target": "sample", "engine": "exact", "design": "same-population", "sort": "size"}
VALUES |= {"new_study": "one", "output": "rows.parquet", "workers": "2"}
OPTIONS = [each for each in app.commands["estimate"].params if each.param_type_name == "option"]


@pytest.mark.parametrize("method", [["--method", "bbse"], ["--all-methods"]], ids=["one", "all"])
@pytest.mark.parametrize("option", [each for each in OPTIONS if each.name not in HONOURED], ids=lambda each: each.name)
def test_an_option_is_honoured_with_a_method_or_refused(option: Any, method: list[str], files: dict[str, str]) -> None:
    if method == ["--all-methods"] and option.name in ("seed", "plot", "all_methods"):
        pytest.skip("honoured")
    values = [] if getattr(option, "is_flag", False) else [VALUES.get(option.name or "", "2")] * option.nargs
    done = run(files["sound"], *method, option.opts[0], *values)
    assert done.exit_code == 2, option.name
    assert option.opts[0] in done.stderr or "of one population" in done.stderr
