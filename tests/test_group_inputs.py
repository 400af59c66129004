"""Groups that ask for caution, from Python and from the command: both answer, with the same finding."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import truecount as tc
from truecount.cli.app import app
from truecount.inference.hierarchical import GroupDraws
from truecount.models.hierarchy import GroupDensity

LABELED = [[30, 10], [8, 42]]
ITEMS = {"day": [30, 20], "noon": [30, 35], "night": [30, 40]}
ONE_CLASS = [[30, 10], [0, 0]]
OTHER_CLASS = [[0, 0], [8, 42]]
CAUTIONS = {
    "an empty group": (LABELED, ITEMS | {"dusk": [0, 0]}, "group-without-items"),
    "all groups empty": (LABELED, {group: [0, 0] for group in ITEMS}, "group-without-items"),
    "an output without labels": (
        [[30, 10, 0], [8, 42, 0]],
        {group: [*counts, 7] for group, counts in ITEMS.items()},
        "unseen-output",
    ),
    "one group": (LABELED, {"day": [30, 20]}, "one-group"),
    "a study without a class": ({"x": LABELED, "y": LABELED, "z": ONE_CLASS}, ITEMS, "few-studies"),
    "each class in one study": ({"x": ONE_CLASS, "y": OTHER_CLASS}, ITEMS, "few-studies"),
    "no study with a class": ({"x": ONE_CLASS, "y": ONE_CLASS}, ITEMS, "unlabeled-class"),
    "a class without labels": (ONE_CLASS, ITEMS, "unlabeled-class"),
}


@pytest.fixture(autouse=True)
def drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw from the prior: here only findings are looked at, and those that the data alone raise."""

    def sample(density: GroupDensity, *, groups: int, **_: Any) -> GroupDraws:
        rng = np.random.default_rng(1)
        shape = density.rows.shapes.shape
        confusion = rng.dirichlet(np.ones(shape[1]), (400, shape[0]))
        varies = density.labeled is not None
        return GroupDraws(
            prevalence=rng.dirichlet(np.ones(shape[0]), (400, groups)),
            confusion=np.repeat(confusion[:, None], groups, axis=1) if varies else confusion,
            centre=rng.standard_normal((400, 1, density.n_ratios)),
            spread=np.abs(rng.standard_normal((400, density.n_prevalence_spreads))),
            common_rows=confusion if varies else None,
            row_spread=np.abs(rng.standard_normal((400, density.n_row_spreads))),
            chains=4,
            iterations=100,
            gradients=100,
            acceptance=0.8,
        )

    monkeypatch.setattr("truecount.api.groups.sample_groups", sample)


@pytest.mark.parametrize(("labeled", "items", "code"), CAUTIONS.values(), ids=CAUTIONS)
def test_the_answer_comes_with_a_finding(labeled: Any, items: Any, code: str, tmp_path: Path) -> None:
    outputs = ["a", "b", "odd"][: len(items["day"])]
    groups = tc.Groups(labeled, items, ["a", "b"], outputs)
    model = tc.LabelShift(confusion=tc.Varying() if groups.studies else None)
    assert code in {finding.code for finding in tc.infer(groups, model).findings}

    path = tmp_path / "groups.json"
    path.write_text(groups.to_json(), encoding="utf-8")
    done = CliRunner().invoke(app, ["estimate", str(path), "--json", "-"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert code in {finding["code"] for finding in json.loads(done.stdout)["findings"]}


def test_sound_groups_come_without_these_findings() -> None:
    labeled = dict.fromkeys("uvwxy", LABELED)
    groups = tc.Groups(labeled, ITEMS, ["a", "b"])
    found = {finding.code for finding in tc.infer(groups, tc.LabelShift(confusion=tc.Varying())).findings}
    assert not found & {code for *_, code in CAUTIONS.values()}


ROWS = "human,verdict,region,day,size\n" + "\n".join(
    [
        *[f"{'ab'[at % 2]},{'ab'[at % 3 == 0]},,," for at in range(40)],
        *[f",{'ab'[at % 2]},north,noon,1" for at in range(20)],
        *[f",{'ab'[at % 3 == 0]},south,night,2" for at in range(20)],
        *[f",{'ab'[at % 3 == 0]},west,dusk," for at in range(20)],
    ]
)
PLACES = {"north": [10, 10], "south": [7, 13], "west": [7, 13]}
REFUSALS: dict[str, tuple[Any, Any, str, list[str], str]] = {
    "no groups": ({}, tc.Pooled(), "unlabeled is empty", ["--by", "region", "--baseline", "east"], "is 'east'"),
    "times that cannot be ordered": (
        {"times": ["noon", "night", "dusk"]},
        tc.Walk(),
        "times hold 'noon': times must be all numbers or all dates",
        ["--trend", "day"],
        "--trend finds the groups 'dusk', 'night', 'noon': a trend needs times that can be ordered",
    ),
    "periods of what is no time": ({}, tc.Walk(), "have no times", ["--trend", "region:week"], "cut from times"),
    "one time twice": (
        {"times": [1, 1, 2]},
        tc.Walk(),
        "times hold one time twice",
        ["--trend", "size"],
        "--trend finds the groups",
    ),
    "times of another length": ({"times": [1, 2]}, tc.Walk(), "times are 2: there are 3", ["--trend", "x"], "'x'"),
    "covariates with missing values": (
        {},
        tc.Pooled(covariates={"size": [1, 2, np.nan]}),
        r"covariates\['size'\] is missing for 'west'",
        ["--by", "region", "--covariate", "size"],
        "--covariate 'size' is missing for 'west'",
    ),
    "covariates of another length": (
        {},
        tc.Pooled(covariates={"size": [1, 2]}),
        r"covariates\['size'\] has shape \(2,\): there are 3 groups",
        ["--by", "region", "--covariate", "absent"],
        "no column 'absent'",
    ),
}


@pytest.mark.parametrize(("options", "variation", "said", "typed", "shown"), REFUSALS.values(), ids=REFUSALS)
def test_what_cannot_be_answered_is_refused_before_anything_is_computed(
    options: dict[str, Any],
    variation: Any,
    said: str,
    typed: list[str],
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*_: Any, **__: Any) -> None:
        pytest.fail("something was computed")

    monkeypatch.setattr("truecount.api.groups.sample_groups", never)
    with pytest.raises(tc.InputError, match=said) as caught:
        tc.infer(tc.Groups(LABELED, {} if "empty" in said else PLACES, **options), tc.LabelShift(groups=variation))
    path = tmp_path / "runs.csv"
    path.write_text(ROWS, encoding="utf-8")
    with pytest.raises(tc.InputError) as refused:
        CliRunner().invoke(
            app, ["estimate", str(path), "--label", "human", "--prediction", "verdict", *typed], catch_exceptions=False
        )
    assert shown in str(refused.value)
    for error in (caught.value, refused.value):
        assert all((error.argument, error.found, error.needed, error.remedy))


def judged(folder: Path, lenient: float) -> str:
    """Two models, half of whose answers pass; the judge lets a share of B's failures pass."""
    lines = ["model,human,verdict"]
    for model, wrong in (("A", 0.1), ("B", lenient)):
        let_pass = round(100 * wrong)
        lines += [f"{model},fail,pass"] * let_pass + [f"{model},fail,fail"] * (100 - let_pass)
        lines += [f"{model},pass,pass"] * 90 + [f"{model},pass,fail"] * 10
        lines += [f"{model},,pass"] * (180 + 2 * let_pass) + [f"{model},,fail"] * (220 - 2 * let_pass)
    path = folder / "judged.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("lenient", "is_told"), [(0.1, False), (0.5, True)])
def test_labels_that_show_that_a_judge_favours_a_model_are_told(lenient: float, is_told: bool, tmp_path: Path) -> None:
    path, columns = judged(tmp_path, lenient), {"label": "human", "prediction": "verdict", "by": "model"}
    found = {finding.code: finding for finding in tc.infer(tc.count_table(path, **columns)).findings}
    assert ("confusion-drifted" in found) == is_told
    typed = ["estimate", path, "--label", "human", "--prediction", "verdict", "--by", "model"]
    done = CliRunner().invoke(app, [*typed, "--json", "-"], catch_exceptions=False)
    shown = {each["code"]: each for each in json.loads(done.stdout)["findings"]}
    assert ("confusion-drifted" in shown) == is_told
    if is_told:
        assert "fail gets the output" in shown["confusion-drifted"]["message"]
        assert "--study model" in shown["confusion-drifted"]["advice"]
        assert CliRunner().invoke(app, [*typed, "--strict"]).exit_code == 3
    with_study = CliRunner().invoke(app, [*typed, "--study", "model", "--json", "-"], catch_exceptions=False)
    assert "confusion-drifted" not in {each["code"] for each in json.loads(with_study.stdout)["findings"]}


def test_check_compares_the_labels_of_groups(tmp_path: Path) -> None:
    columns = {"label": "human", "prediction": "verdict", "by": "model"}
    tests = {}
    for lenient in (0.1, 0.5):
        found = tc.check(tc.count_table(judged(tmp_path, lenient), **columns), replicates=99)
        (row,) = [row for row in found.tables["tests"] if row["test"] == "the same by labels of groups"]
        tests[lenient] = row["p_value"] <= 0.05, "confusion-drifted" in {each.code for each in found.findings}
    assert tests == {0.1: (False, False), 0.5: (True, True)}


@pytest.mark.parametrize("lenient", [0.1, 0.5])
def test_check_compares_the_labels_of_studies(lenient: float, tmp_path: Path) -> None:
    path = Path(judged(tmp_path, lenient))
    first, *rows = path.read_text(encoding="utf-8").splitlines()
    sites = {"A": "north", "B": "south"}
    path.write_text("\n".join([f"{first},site", *(f"{row},{sites[row[0]]}" for row in rows)]), encoding="utf-8")
    typed = ["check", str(path), "--label", "human", "--prediction", "verdict", "--by", "model", "--json", "-"]
    for study in ("site", "model"):
        done = CliRunner().invoke(app, [*typed, "--study", study], catch_exceptions=False)
        codes = {each["code"] for each in json.loads(done.stdout)["findings"]}
        assert ("confusion-drifted" in codes) == (lenient == 0.5)
