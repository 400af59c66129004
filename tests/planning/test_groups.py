"""Groups are planned for as they are inferred from: together, with what pools them."""

from typing import Any

import numpy as np
import pytest

import truecount as tc
from truecount.planning import groups as planned_groups
from truecount.planning.data_sets import drawn_data
from truecount.planning.scenario import Sizes
from truecount.results.plan import points

LABELED = [[52, 8], [5, 55]]
FOUR = tc.Groups(LABELED, {"A": [60, 40], "B": [55, 45], "C": [58, 42], "D": [62, 38]}, classes=["fail", "pass"])
VARYING = tc.LabelShift(confusion=tc.Varying())
SMALL = {"n0": [[18, 2], [0, 0]], "n1": [[19, 1], [0, 0]], "p0": [[0, 0], [4, 16]], "p1": [[0, 0], [2, 18]]}
SURVEY = tc.Groups(SMALL, {"survey": [370, 130]}, classes=["negative", "positive"])


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


def test_groups_to_be_told_apart_are_compared_by_the_width_of_their_difference():
    """Beside shared labels of a classifier with errors, a difference is known better than shares are."""
    sizes = {"A": [800, 200], "B": [700, 300]}
    groups = tc.Groups(LABELED, {group: np.array(each) // 2 for group, each in sizes.items()}, classes=["fail", "pass"])
    found = tc.plan(groups, labels=[0, 0], items=500, goal=tc.Goal.apart("A", "B", of="pass"))
    answer = tc.infer(tc.Groups(LABELED, sizes, classes=["fail", "pass"]))
    low, high = answer.difference("A", "B").interval()[-1]
    assert found.difference == pytest.approx(high - low, rel=0.2)
    assert found.width > 1.3 * found.difference
    worth = {each.what: each.width for each in found.alternatives}
    assert worth["unlimited items"] < worth["half the errors"] < found.difference
    assert found.curve.splits["this split"][2] == pytest.approx(found.difference, rel=1e-6)
    assert "interval of the difference" in str(found)
    assert f"difference of A and B  {points(found.difference):>15}" in str(found)
    assert found.to_dict()["difference"] == found.difference


def test_the_difference_of_groups_with_labels_of_their_own_has_the_errors_of_both():
    data = {"A": ([[52, 8], [5, 55]], [80, 20]), "B": ([[50, 10], [9, 51]], [30, 70])}
    groups = tc.Groups.of({group: tc.Counts(*each, classes=["fail", "pass"]) for group, each in data.items()})
    found = tc.plan(groups, labels=[0, 0], items=0, goal=tc.Goal.apart("A", "B", of="pass"))
    assert found.difference == pytest.approx(np.hypot(*found.groups.values()), rel=0.15)
    assert found.alternatives[0].width < found.difference


@pytest.mark.slow
def test_a_survey_with_several_studies_is_forecast_as_it_is_inferred_from() -> None:
    """Widths of 1,000 draws with long tails have errors of 6 %; by labels of one study it would be twice as wide."""
    studies = {"n0": [[395, 5], [0, 0]], "n1": [[298, 2], [0, 0]], "p0": [[0, 0], [15, 70]], "p1": [[0, 0], [10, 40]]}
    survey = tc.Groups(studies, {"survey": [3700, 500]}, classes=["negative", "positive"])
    model = tc.LabelShift(confusion=tc.Varying())
    inferred = float(np.diff(tc.infer(survey, model).interval()[0, 1])[0])
    assert tc.plan(survey, model).width == pytest.approx(inferred, rel=0.25)


@pytest.mark.parametrize("asked", [{"large_sample": True}, {"goal": tc.Goal.narrow(0.01)}, {"budget": 500}])
def test_what_the_formula_for_large_samples_decides_is_refused_where_studies_differ(asked: dict[str, Any]) -> None:
    with pytest.raises(tc.InputError, match=r"error rates vary between 4 validation studies \(2 studies of") as caught:
        tc.plan(SURVEY, VARYING, **asked)
    assert caught.value.argument == next(iter(asked))


def test_new_labels_come_by_rows_of_another_study_that_is_like_the_population_but_not_it() -> None:
    """Logits of both vary around the same rows by the same spread; 400 independent draws have correlations ± 0.05."""
    scenario = planned_groups.group_scenarios(SURVEY, VARYING, 0)["survey"]
    assert scenario.of_new_labels is not None
    for row in range(2):
        logits = [np.log(rows[:, row, 1] / rows[:, row, 0]) for rows in (scenario.confusion, scenario.of_new_labels)]
        assert 0.2 < np.corrcoef(logits)[0, 1] < 0.9
    many = drawn_data(scenario, Sizes(np.full(2, 1e6), 0.0), np.random.default_rng(0)).new
    np.testing.assert_allclose(many / 1e6, scenario.of_new_labels, atol=6 * 0.0005)


@pytest.mark.parametrize("new", [0, 40])
def test_new_labels_are_one_more_study_and_none_are_no_study(new: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three studies of 10.4 labels at their effective size are rounded to 10 each, and their sum to 31."""
    seen, sample = [], planned_groups.sample_groups

    def sample_few(density, *, effective_draws, **options):
        seen.append(density.labeled.sum(axis=1))
        return sample(density, effective_draws=10, **options)

    monkeypatch.setattr(planned_groups, "sample_groups", sample_few)
    monkeypatch.setattr(planned_groups, "INFERRED_OF_STUDIES", 1)
    weighted = {name: np.diag([20.8, 20.8]) for name in "abc"}
    squares = {name: 2 * table for name, table in weighted.items()}
    groups = tc.Groups(weighted, {"all": [50, 50]}, labeled_squares=squares, unlabeled_squares={"all": [50, 50]})
    tc.plan(groups, VARYING, labels=[0, new])
    of_units = [[0, 0], *[[10, 10]] * 3, *[[0, new]] * bool(new)]
    _, inferred = seen
    assert inferred.T.tolist() == of_units


@pytest.mark.slow
def test_many_labels_of_one_more_study_tell_less_than_labels_of_the_same_study() -> None:
    """Over four seeds the ratios were 2.9 ± 0.25 and 0.72 ± 0.07: bounds lie three standard errors away."""
    whole = tc.Groups(sum(map(np.array, SMALL.values())), {"survey": [370, 130]}, classes=["negative", "positive"])
    many = [10_000, 10_000]
    none, another = (tc.plan(SURVEY, VARYING, labels=labels, items=0).width for labels in ([0, 0], many))
    same = tc.plan(whole, labels=many, items=0).width
    assert 2.1 * same < another < 0.93 * none


def test_rows_that_are_known_are_those_of_another_study_too() -> None:
    known = np.array([[0.95, 0.05], [0.1, 0.9]])
    model = tc.LabelShift(tc.Prior.known_confusion(known), confusion=tc.Varying())
    rows = planned_groups.group_scenarios(SURVEY, model, 0)["survey"].of_new_labels
    assert rows is not None
    np.testing.assert_allclose(rows, np.broadcast_to(known, rows.shape))
