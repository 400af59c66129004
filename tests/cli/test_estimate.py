"""Every option changes the answer, and only as it says."""

import ast
import json
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import truecount as tc
from command import run
from truecount.cli.app import app, in_options
from truecount.errors import InputError, MissingExtraError
from truecount.examples import JUDGE
from truecount.results.finding import CODES

SURVEY = ["--positive", "50/3330", "--sensitivity", "103/122", "--specificity", "399/401"]
JUDGED = [str(JUDGE), "--label", "human", "--prediction", "verdict"]
MATRIX = "class\\output,fail,pass,abstain\nfail,140,60,5\npass,20,180,5\n"


def estimate(*arguments: str) -> dict[str, Any]:
    """Run the verb in this process and give its JSON."""
    done = CliRunner().invoke(app, ["estimate", *arguments, "--json", "-"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def usage_error(*arguments: str) -> str:
    done = CliRunner().invoke(app, ["estimate", *arguments], catch_exceptions=False)
    assert done.exit_code == 2
    assert done.stdout == ""
    return done.stderr


@pytest.fixture
def matrix(tmp_path: Path) -> list[str]:
    (tmp_path / "f.csv").write_text(MATRIX)
    (tmp_path / "n.csv").write_text("fail,pass,abstain\n600,400,20\n")
    return ["--confusion", str(tmp_path / "f.csv"), "--unlabeled", str(tmp_path / "n.csv")]


def test_answer_is_that_of_the_library() -> None:
    summary = estimate(*SURVEY, "--seed", "5", "--level", "0.8")
    counts = tc.Counts([[399, 2], [19, 103]], [3280, 50], ["negative", "positive"])
    assert summary == json.loads(json.dumps(tc.infer(counts, seed=5).to_dict(level=0.8)))


@pytest.mark.parametrize("level", ["80%", "80 %", ".8", " 0.80"])
def test_level_may_be_a_percentage(level: str) -> None:
    assert estimate(*SURVEY, "--level", level)["level"] == 0.8


def test_defaults_are_the_library_s() -> None:
    summary = estimate(*JUDGED)
    assert (summary["level"], summary["interval"], summary["target"], summary["seed"]) == (
        0.95,
        "equal-tailed",
        "population",
        0,
    )
    assert summary["model"] == tc.LabelShift(tc.Prior(1.0, 1.0)).to_dict()


CHANGES = {
    "level": ["--level", "0.5"],
    "interval": ["--interval", "hdi"],
    "target": ["--target", "realized"],
    "prior": ["--prior", "5"],
    "prior by class": ["--prior", "fail=3,pass=1"],
    "prior of the confusion": ["--prior-confusion", "4"],
    "sparse": ["--prior-confusion", "sparse"],
    "diagonal": ["--prior-confusion", "diagonal:20"],
    "draws": ["--draws", "500"],
    "engine": ["--engine", "gibbs"],
    "seed": ["--seed", "7"],
}


@pytest.mark.parametrize("change", CHANGES)
def test_option_changes_the_answer(change: str) -> None:
    assert estimate(*JUDGED, *CHANGES[change])["classes"] != estimate(*JUDGED)["classes"]


def test_prior_is_recorded_as_given() -> None:
    assert estimate(*JUDGED, "--prior", "pass=1, fail=3")["prior"]["prevalence"] == {"pass": 1.0, "fail": 3.0}
    assert estimate(*JUDGED, "--prior-confusion", "diagonal:2")["prior"]["confusion"] == {"diagonal": 2.0}
    assert estimate(*JUDGED, "--prior-confusion", "0.5")["prior"]["confusion"] == 0.5
    assert estimate(*JUDGED, "--engine", "gibbs")["engine"]["name"] == "Gibbs"


def test_engine_whose_extra_is_missing_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nutpie", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'truecount\[nuts\]'"):
        estimate(*SURVEY, "--engine", "nuts")


def test_json_lines_named_json_are_a_table(tmp_path: Path) -> None:
    rows = [line.split(",")[2:] for line in JUDGE.read_text().splitlines()[1:]]
    lines = [json.dumps({"human": human or None, "verdict": verdict}) for human, verdict in rows]
    (tmp_path / "runs.json").write_text("\n".join(lines))
    assert estimate(str(tmp_path / "runs.json"), *JUDGED[1:]) == estimate(*JUDGED)
    assert "needs --label and --prediction" in usage_error(str(tmp_path / "runs.json"))


def test_two_files(tmp_path: Path) -> None:
    header, *rows = JUDGE.read_text().splitlines()
    for name, kept in (("labeled.csv", rows[:300]), ("unlabeled.csv", rows[300:])):
        (tmp_path / name).write_text("\n".join([header, *kept]))
    assert estimate(str(tmp_path / "labeled.csv"), str(tmp_path / "unlabeled.csv"), *JUDGED[1:]) == estimate(*JUDGED)


def test_matrix_with_more_outputs_than_classes(matrix: list[str]) -> None:
    summary = estimate(*matrix)
    assert summary["counts"]["outputs"] == ["fail", "pass", "abstain"]
    seen = np.array(summary["counts"]["unlabeled"])
    assert [row["counted"] for row in summary["classes"]] == pytest.approx((seen / seen.sum())[:2].tolist())


def test_counts_from_json(tmp_path: Path) -> None:
    counts = tc.Counts([[399, 2], [19, 103]], [3280, 50], ["negative", "positive"])
    (tmp_path / "counts.json").write_text(counts.to_json())
    assert estimate(str(tmp_path / "counts.json")) == estimate(*SURVEY)


@pytest.mark.parametrize(("text", "known"), [("0.84", 0.84), ("84%", 0.84), ("1", 1.0), ("100%", 1.0)])
def test_decimals_and_percentages_are_known(text: str, known: float) -> None:
    summary = estimate("--positive", "50/3330", "--sensitivity", text, "--specificity", "399/401")
    assert summary["prior"]["known"] == [None, [pytest.approx(1 - known), pytest.approx(known)]]
    assert summary["counts"]["labeled"] == [[399, 2], [0, 0]]


def test_known_rates_leave_less_uncertainty() -> None:
    counted = estimate(*SURVEY)["classes"][1]["sd"]
    known = estimate("--positive", "50/3330", "--sensitivity", "0.844", "--specificity", "99.5%")["classes"][1]["sd"]
    assert known < 0.8 * counted


def test_missing_word(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("h,v\n" + "a,a\nb,b\nb,a\n" * 9 + "NA,a\n")
    columns = [str(tmp_path / "t.csv"), "--label", "h", "--prediction", "v"]
    assert estimate(*columns, "--missing", "NA")["counts"]["unlabeled"] == [1, 0]
    with pytest.raises(InputError) as error:
        estimate(*columns)
    assert (
        in_options(error.value, "estimate").remedy == "Pass --missing 'NA' if it is missing, or --missing '' for a name"
    )


def test_missing_words(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("h,v\n" + "a,a\nb,b\nb,a\n" * 9 + "NA,a\nNaN,b\n")
    columns = [str(tmp_path / "t.csv"), "--label", "h", "--prediction", "v"]
    assert estimate(*columns, "--missing", "NA", "--missing", "NaN")["counts"]["unlabeled"] == [1, 1]
    with pytest.raises(InputError, match="1 row labelled 'NA'") as error:
        estimate(*columns, "--missing", "NaN")
    remedy = "Pass --missing 'NaN' --missing 'NA' if it is missing, or --missing 'NaN' --missing '' for a name"
    assert in_options(error.value, "estimate").remedy == remedy
    assert estimate(*columns, "--missing", "NaN", "--missing", "")["counts"]["classes"] == ["NA", "a", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prior", "-1"], "--prior holds -1.0"),
        (["--prior", "nan"], "--prior holds nan"),
        (["--prior", "many"], "--prior is 'many'"),
        (["--prior", "fail=1"], "--prior does not name 'pass'"),
        (["--prior", "fail=1,pass=1,x=1"], "--prior names 'x', which is no class"),
        (
            ["--prior", "faill=2,pass=1"],
            "--prior names 'faill', which is no class: it must name every class: 'fail', 'pass'. Perhaps you meant",
        ),
        (["--prior", "fail=1,fail=2,pass=1"], "--prior is 'fail=1,fail=2,pass=1'"),
        (["--prior", "fail=a,pass=1"], "--prior is 'a'"),
        (["--prior-confusion", "0"], "--prior-confusion holds 0.0"),
        (["--prior-confusion", "dense"], "--prior-confusion is 'dense': it must be a number. Or write flat"),
        (
            ["--prior-confusion", "sparce"],
            "--prior-confusion is 'sparce': it must be a number. Perhaps you meant sparse",
        ),
        (["--prior-confusion", "diagnal:3"], "Perhaps you meant diagonal:3"),
        (["--prior-confusion", "diagonal"], "--prior-confusion is ''"),
        (["--prior-confusion", "diagonal:-2"], "--prior-confusion holds -2.0"),
        (["--level", "0"], "--level is '0': it must lie above 0 and below 1. Write 0.95 or 95%"),
        (["--level", "nan"], "--level is 'nan': it must lie"),
        (["--level", "95"], "--level is '95': it must lie above 0 and below 1. Write 0.95 or 95%"),
        (["--level", "100%"], "--level is '100%': it must lie"),
        (["--level", "high"], "--level is 'high': it must be a number. Write 0.95 or 95%"),
        (["--draws", "1"], "--draws is '1': it must be a whole number from 2 to 10,000,000. Write --draws 4000"),
        (["--draws", "many"], "--draws is 'many': it must be a whole number"),
        (
            ["--seed", "1.5"],
            "--seed is '1.5': it must be a whole number from 0 to 9,223,372,036,854,775,807. Write --seed 0",
        ),
        (["--seed", "-1"], "--seed is '-1': it must be"),
    ],
)
def test_bad_values_are_named_by_their_option(arguments: list[str], message: str) -> None:
    with pytest.raises(InputError) as error:
        estimate(*JUDGED, *arguments)
    assert message in str(error.value)


def test_diagonal_prior_needs_outputs_that_are_classes(matrix: list[str]) -> None:
    with pytest.raises(InputError, match="--prior-confusion leans towards the diagonal"):
        estimate(*matrix, "--prior-confusion", "diagonal:2")


@pytest.mark.parametrize(
    "survey",
    [
        {"--positive": "50"},
        {"--positive": "0.015"},
        {"--positive": "50/40"},
        {"--positive": "-1/40"},
        {"--sensitivity": "96"},
        {"--sensitivity": "0,96"},
        {"--sensitivity": "1/2/3"},
        {"--specificity": "960%"},
        {"--specificity": "nan"},
    ],
    ids=str,
)
def test_bad_rates_are_named_by_their_option(survey: dict[str, str]) -> None:
    given = {"--positive": "50/3330", "--sensitivity": "0.9", "--specificity": "0.9", **survey}
    with pytest.raises(InputError, match=next(iter(survey)).removeprefix("--")):
        estimate(*(word for pair in given.items() for word in pair))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no data"),
        (JUDGED[:3], "A file also needs --prediction"),
        ([*JUDGED, *SURVEY], "A file does not go with --positive and --sensitivity and --specificity"),
        (["lab.csv", "--positive", "3/5"], "A file does not go with --positive"),
        ([*JUDGED, "--confusion", "f.csv"], "A file does not go with --confusion"),
        (["--confusion", "f.csv", "n.csv"], "Put --unlabeled before n.csv"),
        (["--unlabeled", "n.csv", "f.csv"], "Put --confusion before f.csv"),
        (
            ["--confusion", "f.csv", "--unlabeled", "n.csv", "a.csv"],
            "A file does not go with --confusion and --unlabeled",
        ),
        (["--confusion", "f.csv"], "also needs --unlabeled"),
        (["--unlabeled", "n.csv"], "also needs --confusion"),
        (["--confusion", "f.csv", "--unlabeled", "n.csv", "--label", "x"], "does not go with --label"),
        (SURVEY[:4], "A survey also needs --specificity"),
        ([*SURVEY, "--missing", "NA"], "A survey does not go with --missing"),
        (["a.csv", "b.csv", "c.csv", "--label", "x", "--prediction", "y"], "3 files"),
        (["counts.json", "--missing", "NA"], "does not go with --missing"),
        ([*SURVEY, "--interval", "central"], "'central' is not one of equal-tailed, hdi"),
        ([*SURVEY, "--target", "items"], "'items' is not one of population, realized"),
        ([*SURVEY, "--json", "-", "--csv", "-"], "cannot both go to '-'"),
    ],
)
def test_bad_usage_says_what_is_missing_or_too_much(arguments: list[str], message: str) -> None:
    assert message in " ".join(usage_error(*arguments).split())


def test_labels_of_the_second_table_are_named_on_the_side(tmp_path: Path) -> None:
    (tmp_path / "read.csv").write_text("human,verdict\nfail,fail\npass,pass\n")
    (tmp_path / "unread.csv").write_text("human,verdict\nfail,fail\n,pass\n")
    done = run("estimate", "read.csv", "unread.csv", *JUDGED[1:], "--json", "-", folder=tmp_path)
    assert done.stderr == (
        "The second table has a label, which is not used: truecount check --audit FILE shows by such labels whether "
        "the classifier drifted.\n"
    )
    assert json.loads(done.stdout)["classes"]


def test_the_shortest_interval_is_not_advised_where_it_is_shown(tmp_path: Path) -> None:
    (tmp_path / "counts.json").write_text(tc.Counts([[14, 6], [6, 14]], [75, 125]).to_json())
    given = "estimate", "counts.json", "--json", "-"
    assert "edge-not-excluded" in run(*given, folder=tmp_path).stdout
    assert "edge-not-excluded" not in run(*given, "--interval", "hdi", folder=tmp_path).stdout


@pytest.fixture
def serious(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tc.Posterior]:
    """Let every answer carry a serious finding."""
    from truecount.cli import estimate as verb

    def infer(*arguments: Any, **options: Any) -> tc.Posterior:
        posterior = tc.infer(*arguments, **options)
        finding = tc.Finding("not-converged", "serious", "The draws have not converged.")
        return tc.Posterior(**{**posterior.__dict__, "findings": (finding,)})

    monkeypatch.setattr(verb, "infer", infer)
    return infer


@pytest.mark.usefixtures("serious")
def test_strict_exits_with_three_after_the_answer() -> None:
    strict = CliRunner().invoke(app, ["estimate", *SURVEY, "--strict"])
    assert strict.exit_code == 3
    assert strict.stderr == "Not to be trusted: not-converged.\n"
    assert "serious: The draws have not converged." in strict.stdout
    assert CliRunner().invoke(app, ["estimate", *SURVEY]).exit_code == 0


@cache
def codes_that_can_be_serious() -> set[str]:
    """Findings made with this severity, be it under a condition."""
    texts = [file.read_text(encoding="utf-8") for file in Path(tc.__file__).parent.rglob("*.py")]
    trees = [ast.parse(text) for text in texts if "serious" in text]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and len(node.args) > 1]
    made = [
        call for call in calls if "'serious'" in ast.unparse(call.args[1]) and isinstance(call.args[0], ast.Constant)
    ]
    return {str(call.args[0].value) for call in made if isinstance(call.args[0], ast.Constant)}


@pytest.mark.parametrize(
    ("command", "of_others"),
    [
        ("estimate", {"scores-off-average"}),
        ("check", {"scores-off-average", "not-identified", "labels-outweighed"}),
    ],
)
def test_help_lists_what_is_serious(command: str, of_others: set[str]) -> None:
    shown = CliRunner().invoke(app, [command, "--help"]).stdout.partition("Serious findings:")[2]
    shown = shown.partition("Others are")[0]
    assert CODES.keys() & re.findall(r"[\w-]+", shown) == codes_that_can_be_serious() - of_others


def test_strict_is_content_with_a_sound_answer() -> None:
    assert CliRunner().invoke(app, ["estimate", *SURVEY, "--strict"]).exit_code == 0
