"""Claims about one population: `estimate` says how probable they are, `check` whether the interval shows them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import truecount as tc
from truecount.cli.app import app
from truecount.results.claim import ShareClaim, claim_columns, share_claims

COUNTS = tc.Counts([[140, 60], [20, 180]], [400, 600], classes=["fail", "pass"])
DESIGNS = ("label-shift", "same-population", "by-prediction")


@pytest.fixture
def counts(tmp_path: Path) -> str:
    path = tmp_path / "counts.json"
    path.write_text(json.dumps(COUNTS.to_dict()))
    return str(path)


def run(verb: str, *words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(app, [verb, *words], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done


def share_of_pass(counts: str, design: str) -> tuple[float, float, float]:
    told = json.loads(run("estimate", counts, "--design", design, "--json", "-").stdout)["classes"][1]
    return told["lower"], told["median"], told["upper"]


@pytest.mark.parametrize("design", DESIGNS)
def test_one_population_is_told_how_probable_a_claim_is(counts: str, design: str) -> None:
    lower, median, upper = share_of_pass(counts, design)
    bounds = [f"pass={lower}", f"fail={1 - median}"]
    asked = (counts, "--design", design, "--above", bounds[0], "--below", bounds[1])
    told = json.loads(run("estimate", *asked, "--json", "-", "--strict").stdout)
    fail, passed = told["classes"]
    assert (passed["threshold_above"], passed["threshold_below"], fail["threshold_above"]) == (lower, None, None)
    assert passed["probability_above"] == pytest.approx(0.975, abs=0.001)
    assert fail["probability_below"] == pytest.approx(0.5, abs=0.001)
    assert told["alerts"] == []
    said = run("estimate", *asked).stdout
    assert f"P(pass above {100 * lower:.6g} %) = 0.975" in said
    assert f"P(fail below {100 - 100 * median:.6g} %) = 0.50" in said
    too_high = run("estimate", counts, "--design", design, "--above", f"pass={upper}", "--strict", code=3)
    assert "Alert: The share of pass does not lie above" in too_high.stdout
    assert "Alert: not-above (pass)." in too_high.stderr


@pytest.mark.parametrize("design", DESIGNS)
def test_the_two_gates_demand_what_they_say(counts: str, design: str) -> None:
    """At the median the claim is neither improbable nor shown: one gate passes and the other does not."""
    lower, median, upper = share_of_pass(counts, design)

    def codes(verb: str) -> list[int]:
        bounds = [f"pass={bound}" for bound in (lower - 0.02, median, upper + 0.02)]
        asked = [[verb, counts, "--design", design, "--above", bound, "--strict"] for bound in bounds]
        return [CliRunner().invoke(app, words).exit_code for words in asked]

    assert (codes("estimate"), codes("check")) == ([0, 0, 3], [0, 3, 3])


@pytest.mark.parametrize("design", DESIGNS[1:])
def test_a_design_has_conclusions_without_a_drift(counts: str, design: str, tmp_path: Path) -> None:
    lower, _, upper = share_of_pass(counts, design)
    asked = ("--design", design, "--above", f"pass={lower - 0.01}", "--below", f"pass={upper - 0.01}")
    found, xml = run("check", counts, *asked, "--json", "-"), tmp_path / "gate.xml"
    rows = json.loads(found.stdout)["tables"]["conclusions"]
    assert [row["shown"] for row in rows] == [True, False]
    assert {name for row in rows for name in row} == {"conclusion", "shown", "verdict"}
    run("check", counts, *asked, "--junit", str(xml))
    assert 'failures="1"' in xml.read_text()
    said = run("check", counts, *asked).stdout
    assert "Whether the interval shows a conclusion" in said
    assert "drift" not in said.partition("Whether the interval shows a conclusion")[2].partition("\n\n")[0]
    assert "--drift and --calibration" in run("check", counts, "--design", design, "--drift", "5%", code=2).stderr


def test_claims_go_to_files_and_the_page(counts: str, tmp_path: Path) -> None:
    rows, page = tmp_path / "a.csv", tmp_path / "a.html"
    asked = ("--above", "pass=30%", "--below", "pass=10%")
    done = run("estimate", counts, *asked, "--csv", str(rows), "--html", str(page), "--strict", code=3)
    assert done.stderr.count("Alert: The share of pass does not lie below 10.0 %") == 1
    head, of_fail, of_pass = rows.read_text().splitlines()
    assert head.endswith("threshold_above,probability_above,threshold_below,probability_below")
    assert of_fail.endswith(",,,,")
    assert of_pass.split(",")[-4] == "0.3"
    html = page.read_text()
    assert "Posterior probability: P(pass above 30 %)" in html
    assert "Alert: The share of pass does not lie below 10.0 %" in html


def test_a_claim_about_a_class_that_is_left_out_is_refused(counts: str) -> None:
    asked = ("estimate", counts, "--above", "pass=30%", "--csv", "-")
    assert "asks about pass" in run(*asked, "--class", "fail", code=2).stderr
    assert run(*asked, "--class", "pass").stdout.splitlines()[1].split(",")[-2] == "0.3"


@pytest.mark.parametrize(("bound", "code"), [("pss=80%", 1), ("80%", 1), ("pass=80", 1), ("pass=-1%", 1)])
def test_claims_that_are_none_are_refused(counts: str, bound: str, code: int) -> None:
    done = CliRunner().invoke(app, ["estimate", counts, "--above", bound])
    assert done.exit_code == code
    assert "--above" in f"{done.output}{done.exception}"


def test_claims_are_about_the_shares_that_are_asked_for() -> None:
    posterior = tc.infer(COUNTS, seed=1)
    thresholds = {"above": {"pass": 0.55}, "below": {}}
    population, realized = (share_claims(posterior, thresholds, target)[0] for target in ("population", "realized"))
    assert population.probability == posterior.probability(lambda share: share["pass"] > 0.55)
    assert realized.probability == float((posterior.realized[:, 1] > 0.55).mean()) != population.probability


@pytest.mark.parametrize(
    ("probability", "said"),
    [(0.83, "= 0.83"), (0.0512, "= 0.051"), (0.0002, "< 0.001"), (1.0, "> 0.999"), (None, "is not known")],
)
def test_a_probability_in_words(probability: float | None, said: str) -> None:
    claim = ShareClaim(name="pass", side="above", threshold=0.7, probability=probability)
    assert str(claim) == f"P(pass above 70 %) {said}"
    assert claim.is_improbable == (probability == 0.0002)
    assert claim_columns([claim], "fail") == {"threshold_above": None, "probability_above": None}
