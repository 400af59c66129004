"""Groups that ask for caution, from Python and from the command: both answer, with the same finding."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

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
