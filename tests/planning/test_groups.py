"""Groups are planned for as they are inferred from: together, with what pools them."""

import numpy as np
import pytest

import truecount as tc

LABELED = [[52, 8], [5, 55]]
FOUR = tc.Groups(LABELED, {"A": [60, 40], "B": [55, 45], "C": [58, 42], "D": [62, 38]}, classes=["fail", "pass"])


@pytest.mark.slow
def test_pooled_groups_are_forecast_narrower_than_independent_ones_as_they_are_inferred():
    """Without new data the forecast is of data like the pilot's; mean widths by eight data sets have errors of 4 %."""
    widths = {}
    for name, model in (("pooled", tc.LabelShift()), ("independent", tc.LabelShift(groups=tc.Independent()))):
        found = tc.plan(FOUR, model, labels=[0, 0], items=100)
        twice = tc.Groups(LABELED, {group: 2 * FOUR[group].unlabeled for group in FOUR}, classes=["fail", "pass"])
        answer = tc.infer(twice, model).interval()
        widths[name] = np.mean(list(found.groups.values()))
        assert widths[name] == pytest.approx(np.diff(answer, axis=2).max(axis=1).mean(), rel=0.2)
    assert widths["pooled"] < 0.97 * widths["independent"]


@pytest.mark.slow
def test_two_groups_far_apart_are_told_apart_and_two_alike_are_not():
    far = tc.Groups(LABELED, {"A": [80, 20], "B": [30, 70]}, classes=["fail", "pass"])
    like = tc.Groups(LABELED, {"A": [50, 50], "B": [50, 50]}, classes=["fail", "pass"])
    goal = tc.Goal.apart("A", "B", of="pass")
    promised = [tc.plan(groups, labels=[0, 0], items=0, goal=goal).probability for groups in (far, like)]
    assert promised[0] > 0.95
    assert promised[1] < 0.4


@pytest.mark.slow
def test_a_survey_with_several_studies_may_be_audited_for_its_goal() -> None:
    studies = {"n0": [[395, 5], [0, 0]], "n1": [[298, 2], [0, 0]], "p0": [[0, 0], [15, 70]], "p1": [[0, 0], [10, 40]]}
    survey = tc.Groups(studies, {"survey": [4104, 96]}, classes=["negative", "positive"])
    planned = tc.plan(survey, tc.LabelShift(confusion=tc.Varying()), goal=tc.Goal.narrow(0.01))
    assert "audit for the goal" in [each.what for each in planned.alternatives]


@pytest.mark.slow
def test_a_survey_with_several_studies_is_forecast_as_it_is_inferred_from() -> None:
    """Widths of 1,000 draws with long tails have errors of 6 %; by labels of one study it would be twice as wide."""
    studies = {"n0": [[395, 5], [0, 0]], "n1": [[298, 2], [0, 0]], "p0": [[0, 0], [15, 70]], "p1": [[0, 0], [10, 40]]}
    survey = tc.Groups(studies, {"survey": [3700, 500]}, classes=["negative", "positive"])
    model = tc.LabelShift(confusion=tc.Varying())
    inferred = float(np.diff(tc.infer(survey, model).interval()[0, 1])[0])
    assert tc.plan(survey, model).width == pytest.approx(inferred, rel=0.25)
