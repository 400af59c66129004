"""The command that checks: one page, JSON on request, exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import truecount as tc
from truecount.cli.app import app, in_options

COUNTS = tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])


@pytest.fixture
def counts_file(tmp_path: Path) -> str:
    path = tmp_path / "counts.json"
    path.write_text(COUNTS.to_json())
    return str(path)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["check", *arguments])


def test_the_page_speaks_the_shell(counts_file: str) -> None:
    done = run(counts_file)
    assert done.exit_code == 0
    assert "What was learned of each class" in done.stdout
    assert "--audit FILE" in done.stdout
    assert "--design same-population" in done.stdout
    assert "design=" not in done.stdout


def test_json_stands_alone(counts_file: str) -> None:
    told = json.loads(run(counts_file, "--json", "-", "--seed", "3").stdout)
    assert told["schema"] == "truecount.check/1"
    expected = json.loads(json.dumps(tc.check(COUNTS, seed=3).to_dict()["tables"]))
    assert told["tables"] == expected


def test_drift_and_calibration_add_tables(counts_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truecount.cli.check.SETS", 20)
    told = json.loads(run(counts_file, "--drift", "5%", "--drift", "0.1", "--calibration", "--json", "-").stdout)
    assert {"drift", "coverage", "calibration"} <= set(told["tables"])
    assert {"drift up to 5 %", "drift up to 10.0 %"} <= {row["assumed"] for row in told["tables"]["drift"]}


def test_an_audit_of_rows_and_strict(tmp_path: Path) -> None:
    rows = ["human,verdict", *["fail,fail"] * 40, *["fail,pass"] * 10, *["pass,pass"] * 40, *["pass,fail"] * 10]
    (tmp_path / "runs.csv").write_text("\n".join([*rows, *[",fail"] * 50, *[",pass"] * 60]))
    (tmp_path / "audit.csv").write_text("\n".join(["human,verdict", *["fail,pass"] * 20, *["pass,pass"] * 9]))
    given = (str(tmp_path / "runs.csv"), "--label", "human", "--prediction", "verdict")
    assert run(*given, "--strict").exit_code == 0
    done = run(*given, "--audit", str(tmp_path / "audit.csv"), "--strict")
    assert done.exit_code == 3
    assert "serious: Labels show that the classifier treats fail differently in the population" in done.stdout
    assert "Not to be trusted: confusion-drifted." in done.stderr


@pytest.fixture
def audit_file(tmp_path: Path) -> str:
    path = tmp_path / "audit.csv"
    path.write_text("\n".join(["human,verdict", *["fail,pass"] * 20, *["pass,pass"] * 9]))
    return str(path)


def test_an_audit_of_rows_beside_counts(counts_file: str, audit_file: str) -> None:
    given = (counts_file, "--audit", audit_file)
    told = json.loads(run(*given, "--label", "human", "--prediction", "verdict", "--json", "-").stdout)
    assert [row["audited"] for row in told["tables"]["audit"]] == [20, 9]
    assert "confusion-drifted" in [finding["code"] for finding in told["findings"]]
    unnamed = run(*given)
    assert unnamed.exit_code == 2
    assert "name its columns with --label and --prediction" in " ".join(unnamed.stderr.replace("│", " ").split())


def test_an_audit_of_counts_beside_rows(tmp_path: Path) -> None:
    rows = ["human,verdict", *["fail,fail"] * 40, *["fail,pass"] * 10, *["pass,pass"] * 40, *["pass,fail"] * 10]
    (tmp_path / "runs.csv").write_text("\n".join([*rows, *[",fail"] * 50, *[",pass"] * 60]))
    (tmp_path / "audit.json").write_text(tc.Counts([[0, 20], [0, 9]], [0, 0], classes=["fail", "pass"]).to_json())
    given = (str(tmp_path / "runs.csv"), "--label", "human", "--prediction", "verdict")
    done = run(*given, "--audit", str(tmp_path / "audit.json"), "--json", "-")
    assert [row["audited"] for row in json.loads(done.stdout)["tables"]["audit"]] == [20, 9]


def test_an_audit_may_be_a_table_of_counts(counts_file: str, tmp_path: Path) -> None:
    (tmp_path / "audit.csv").write_text("class\\output,fail,pass\nfail,0,20\npass,0,9\n")
    told = json.loads(run(counts_file, "--audit", str(tmp_path / "audit.csv"), "--json", "-").stdout)
    assert [row["audited"] for row in told["tables"]["audit"]] == [20, 9]


def test_how_labels_of_a_study_were_chosen_is_no_question() -> None:
    told = json.loads(
        run(*["--positive", "50/3330", "--sensitivity", "103/122", "--specificity", "399/401", "--json", "-"]).stdout
    )
    assert "designs-disagree" not in [finding["code"] for finding in told["findings"]]
    assert "designs" not in told["tables"]


def test_a_level_is_that_of_every_interval(counts_file: str) -> None:
    asked = ("--drift", "2%", "--label-error", "2%", "--above", "pass=10%", "--json", "-")
    usual, narrow = (json.loads(run(counts_file, *asked, "--level", level).stdout) for level in ("95%", "50%"))

    def widths(told: dict[str, Any], table: str, ends: str = "") -> list[float]:
        return [row[f"{ends}upper"] - row[f"{ends}lower"] for row in told["tables"][table]]

    for table, ends in (("designs", ""), ("drift", ""), ("label_error", ""), ("outputs", "predicted_")):
        assert all(
            few < many for few, many in zip(widths(narrow, table, ends), widths(usual, table, ends), strict=True)
        )
    assert (usual["answer"]["level"], narrow["answer"]["level"]) == (0.95, 0.5)
    assert narrow["tables"]["conclusions"] != usual["tables"]["conclusions"]


def test_an_audit_that_was_given_is_not_asked_for(counts_file: str) -> None:
    asked, done = run(counts_file).stdout, run(counts_file, "--audit", counts_file).stdout
    assert "pass them as --audit FILE" in asked
    assert "--audit" not in done


def test_advice_names_the_command_that_has_the_option(counts_file: str) -> None:
    assert "use --design same-population, or --design" in run(counts_file).stdout


@pytest.mark.parametrize(
    ("option", "code"), [(("--drift", "5"), 1), (("--seed", "x"), 1), (("--prior-confusion", "odd"), 1)]
)
def test_bad_options_end_in_an_error(counts_file: str, option: tuple[str, str], code: int) -> None:
    done = run(counts_file, *option)
    assert done.exit_code == code
    assert isinstance(done.exception, tc.InputError)


@pytest.fixture
def runs_file(tmp_path: Path) -> str:
    """Rows with a group and a weight; the classifier of the second group gives most items another output."""
    rows = ["human,verdict,region,w"]
    rows += [*["fail,no,a,1"] * 60, *["fail,maybe,a,1"] * 20, *["pass,yes,a,1"] * 60, *["pass,maybe,a,1"] * 20]
    rows += [*[",no,a,2"] * 90, *[",yes,a,2"] * 80, *[",maybe,a,2"] * 60]
    path = tmp_path / "runs.csv"
    path.write_text("\n".join([*rows, *[",no,b,2"] * 30, *[",yes,b,2"] * 30, *[",maybe,b,2"] * 150]))
    return str(path)


def test_groups_and_weights_are_checked_as_they_are_estimated(runs_file: str) -> None:
    given = (runs_file, "--label", "human", "--prediction", "verdict")
    told = json.loads(run(*given, "--by", "region", "--json", "-").stdout)
    assert "one confusion in all groups" in [row["test"] for row in told["tables"]["tests"]]
    done = run(*given, "--by", "region", "--strict")
    assert (done.exit_code, "label-shift-violated" in done.stderr) == (3, True)
    assert "worth 160 labelled and 440 unlabelled items" in run(*given, "--weight", "w").stdout


def test_a_conclusion_is_put_to_the_test(counts_file: str) -> None:
    told = json.loads(run(counts_file, "--above", "fail=60%", "--below", "pass=0.5", "--json", "-").stdout)
    assert [row["conclusion"] for row in told["tables"]["conclusions"]] == ["fail above 60.0 %", "pass below 50.0 %"]
    assert told["tables"]["conclusions"] == list(
        tc.check(COUNTS, above={"fail": 0.6}, below={"pass": 0.5}).tables["conclusions"]
    )


def test_a_design_is_checked(counts_file: str) -> None:
    told = json.loads(run(counts_file, "--design", "same-population", "--json", "-").stdout)
    expected = tc.infer(COUNTS, tc.SamePopulation())
    assert told["answer"]["classes"][0]["mean"] == expected.to_dict()["classes"][0]["mean"]
    done = run(counts_file, "--design", "same-population", "--strict")
    assert (done.exit_code, "not-a-random-sample" in done.stderr) == (3, True)


@pytest.mark.parametrize(
    ("option", "code"),
    [
        (("--above", "fail"), 1),
        (("--above", "odd=0.2"), 1),
        (("--above", "fail=60"), 1),
        (("--design", "by-prediction", "--drift", "5%"), 2),
    ],
)
def test_questions_that_cannot_be_asked(counts_file: str, option: tuple[str, ...], code: int) -> None:
    assert run(counts_file, *option).exit_code == code


def test_a_design_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "map.json").write_text(COUNTS.to_json())
    done = CliRunner().invoke(app, ["estimate", str(tmp_path / "map.json"), "--design", "by-prediction"])
    assert done.stdout.splitlines()[1:-1] == str(tc.infer(COUNTS, tc.ByPrediction())).splitlines()[1:-1]
    wrong = CliRunner().invoke(app, ["estimate", str(tmp_path / "map.json"), "--design", "odd"])
    assert wrong.exit_code == 2


def test_wrong_labels_are_asked_about_in_the_shell(counts_file: str) -> None:
    told = json.loads(run(counts_file, "--label-error", "5%", "--json", "-").stdout)
    expected = tc.check(COUNTS, label_error=0.05).to_dict()
    assert told["tables"]["label_error"] == json.loads(json.dumps(expected["tables"]["label_error"]))
    assert "labels-may-err" in [finding["code"] for finding in told["findings"]]
    assert str(in_options(run(counts_file, "--label-error", "90%").exception, "check")).startswith(
        "--label-error is 0.9"
    )


def test_the_prior_of_each_outputs_classes_is_given_in_the_shell(counts_file: str) -> None:
    design = ("--design", "by-prediction")
    told = json.loads(run(counts_file, *design, "--prior-output", "fail=0.1,pass=2", "--json", "-").stdout)
    assert told["answer"]["prior"]["given_output"] == {"fail": 0.1, "pass": 2.0}
    assert [row["output_prior"] for row in told["tables"]["given_output"]] == [0.2, 4.0]
    refused = in_options(run(counts_file, "--prior-output", "1").exception, "check")
    assert refused.remedy == "Leave --prior-output out, or say --design by-prediction"
