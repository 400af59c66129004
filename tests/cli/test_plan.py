"""`truecount plan`, as it is typed."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from truecount import Varying
from truecount.cli.app import app

STUDIES = ["--positive", "50/3330", "--sensitivity", "78/85", "--sensitivity", "27/37", "--specificity", "399/401"]
TEST = ["--prevalence", "15%", "--sensitivity", "93%", "--specificity", "98%"]
SIZES = ["--positives", "120", "--negatives", "220", "--items", "660"]
COUNTS = {
    "schema": "truecount.counts/1",
    "classes": ["fail", "pass"],
    "outputs": ["fail", "pass"],
    "labeled": [[140, 60], [20, 180]],
    "unlabeled": [6000, 4000],
}


def typed(*words: str) -> dict:
    done = CliRunner().invoke(app, ["plan", *words, "--json", "-"])
    assert done.exit_code == 0, done.output
    found: dict = json.loads(done.stdout)
    assert found["schema"] == "truecount.plan/1"
    return found


@pytest.fixture
def counts(tmp_path: Path) -> str:
    path = tmp_path / "counts.json"
    path.write_text(json.dumps(COUNTS))
    return str(path)


def test_one_allocation_is_forecast():
    found = typed(*TEST, *SIZES, "--level", "0.9")
    assert found["allocation"] == {"positives": 120, "negatives": 220, "items": 660}
    assert found["width"] == pytest.approx(0.0617, rel=0.03)


def test_a_budget_is_divided():
    found = typed(*TEST, "--budget", "1000", "--level", "0.9")
    assert set(found["allocation"]) == {"positives", "negatives", "items"}
    assert sum(found["allocation"].values()) == 1000


def test_sizes_for_a_half_width_are_found():
    found = typed(*TEST, "--half-width", "3%")
    assert found["half_width"] == pytest.approx(0.03, rel=0.03)
    assert found["is_reached"]
    some = typed(*TEST, "--half-width", "3%", "--items", "2000")
    assert some["allocation"]["items"] == 2000


def test_known_rates_need_the_size_that_calculators_print():
    rates = ["--prevalence", "15%", "--sensitivity", "94%", "--specificity", "88%"]
    assert typed(*rates, "--half-width", "3%", "--known-rates", "--large-sample")["allocation"]["items"] == 1168


def test_a_pilot_in_a_file_of_counts(counts: str):
    found = typed(counts, "--labels", "fail=100", "--labels", "pass=50")
    assert found["allocation"] == {"labels": {"fail": 100, "pass": 50}, "items": 0}
    assert found["truth"] == "pilot"
    goal = typed(counts, "--half-width", "5%", "--assurance", "90%")["goal"]
    assert goal["assurance"] == 0.9
    assert goal["probability"] == pytest.approx(0.9, abs=0.1)


def test_a_survey_as_a_pilot_with_costs():
    survey = ["--positive", "50/3330", "--sensitivity", "103/122", "--specificity", "399/401"]
    found = typed(
        *survey, "--budget", "500", "--item-cost", "0.1", "--label-cost", "positive=2", "--label-cost", "negative=1"
    )
    assert found["cost"] <= 500
    assert found["allocation"]["items"] > 0


def test_several_studies_of_a_test_are_studies_of_a_pilot_too(monkeypatch: pytest.MonkeyPatch):
    asked = []
    monkeypatch.setattr("truecount.api.plan.plan", lambda data, model, **_: asked.append((data, model)))
    CliRunner().invoke(app, ["plan", *STUDIES])
    ((data, model),) = asked
    assert data.studies == ("sensitivity 1", "sensitivity 2", "specificity 1")
    assert isinstance(model.confusion, Varying)


def test_a_threshold(counts: str):
    found = typed(counts, "--above", "fail=70%", "--assurance", "50%")
    assert found["goal"]["kind"] == "above"


def test_the_next_batch(counts: str):
    found = typed(counts, "--next", "50")
    assert sum(found["next_batch"].values()) == 50


@pytest.mark.parametrize(("design", "model"), [("label-shift", ""), ("by-prediction", ", truecount.ByPrediction()")])
def test_the_next_batch_says_how_to_infer_afterwards(counts: str, design: str, model: str):
    done = CliRunner().invoke(app, ["plan", counts, "--next", "50", "--design", design])
    assert f"truecount.infer(*truecount.with_target_labels(counts, target{model}))" in done.stdout


def test_a_width_that_is_met_on_average_points_to_the_assurance(counts: str):
    done = CliRunner().invoke(app, ["plan", counts, "--half-width", "5%"])
    assert "add --assurance 80%." in done.stdout
    sure = CliRunner().invoke(app, ["plan", counts, "--half-width", "5%", "--assurance", "80%"])
    assert "--assurance" not in sure.stdout


def test_it_prints_tables_and_sentences():
    done = CliRunner().invoke(app, ["plan", *TEST, "--budget", "1000"])
    assert "Gather labels" in done.stdout
    assert "best split" in done.stdout
    assert "audit" in done.stdout


def test_impossible_goals_have_an_answer():
    done = CliRunner().invoke(app, ["plan", *TEST, "--half-width", "3%", "--positives", "100", "--negatives", "20"])
    assert done.exit_code == 0
    assert "Not reachable" in done.stdout
    assert "Needed" in done.stdout


def test_a_picture_and_a_page_are_written(tmp_path: Path):
    picture, page = tmp_path / "plan.png", tmp_path / "plan.html"
    done = CliRunner().invoke(app, ["plan", *TEST, *SIZES, "--plot", str(picture), "--html", str(page)])
    assert done.exit_code == 0, done.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    written = page.read_text(encoding="utf-8")
    assert "<svg" in written
    assert "Level of the intervals</dt><dd>95 %" in written
    assert "What was assumed" in written
    assert "<td>93 %</td>" in written


def test_a_page_has_the_pilot_the_goal_and_the_costs(counts: str, tmp_path: Path):
    page = tmp_path / "plan.html"
    words = [counts, "--above", "fail=60%", "--item-cost", "0.1", "--level", "0.9", "--html", str(page)]
    assert CliRunner().invoke(app, ["plan", *words]).exit_code == 0
    written = page.read_text(encoding="utf-8")
    for part in (
        "The pilot",
        "<td>140</td><td>60</td>",
        "<td>6,000</td><td>4,000</td>",
        "the interval of fail lies above 60 %, with a probability of 80 %",
        "Level of the intervals</dt><dd>90 %",
        "Cost of an unlabelled item</dt><dd>0.1",
    ):
        assert part in written


def test_a_survey_with_several_studies_is_one_population():
    done = CliRunner().invoke(app, ["plan", *STUDIES, "--positives", "10", "--negatives", "0"])
    assert "group" not in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (TEST, "--budget"),
        (["--prevalence", "15%"], "--sensitivity"),
        ([*TEST, "--sensitivity", "90%"], "Write --sensitivity once"),
        (["--prevalence", "15%", "--sensitivity", "184/205", "--specificity", "98%"], "--positives 205; or, for what"),
        (
            ["--prevalence", "15%", "--sensitivity", "9%", "--specificity", "9/10"],
            "validate on, --negatives",
        ),
        ([*TEST, "--positives", "x"], "--positives"),
        ([*TEST, *SIZES, "--labels", "3"], "exclude each other"),
        ([*TEST, "--half-width", "3%", "--above", "positive=3%"], "two goals"),
        ([*TEST, "--assurance", "80%", "--budget", "10"], "goes with a goal"),
        ([*TEST, "--budget", "-3"], "--budget"),
        (["--prevalence", "150%", "--sensitivity", "93%", "--specificity", "98%", "--budget", "3"], "prevalence"),
        ([*TEST, "--positive", "3/10", "--budget", "3"], "does not go with data"),
        ([*TEST, "--apart", "A", "--budget", "3"], "--class"),
        ([*TEST, "--half-width", "60%"], "below 0.5"),
        ([*STUDIES, "--large-sample"], "3 validation studies (1 study of specificity and 2 of sensitivity)"),
        ([*STUDIES, "--half-width", "1%"], "--half-width is given"),
        ([*STUDIES, "--budget", "9"], "labels={'negative': 100, 'positive': 100}, items=0"),
        ([*TEST, "--above", "12%"], "Write positive=80%"),
        (["--half-width", "3%"], "no data"),
        ([*TEST, "--next", "50"], "--next needs data"),
        ([*TEST, "--budget", "10", "--plot", "plan.xyz"], "must end in"),
    ],
)
def test_what_cannot_be_planned_is_refused(words: list[str], said: str):
    done = CliRunner().invoke(app, ["plan", *words])
    assert done.exit_code != 0
    assert said in f"{done.output}{done.exception}".replace("\n", " ")


def test_sizes_of_a_test_do_not_go_with_other_classes(counts: str):
    done = CliRunner().invoke(app, ["plan", counts, "--positives", "10"])
    assert "--labels fail=100" in done.output
