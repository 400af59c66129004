"""What is planned: splits, sizes, goals, groups, and answers in words where a goal cannot be reached."""

import numpy as np
import pytest
from scipy.stats import beta, norm

import truecount as tc
from truecount.planning.normal import large_sample_deviations
from truecount.planning.reading import items_to_read
from truecount.planning.scenario import Sizes, assumed_scenario
from truecount.results.plan import points

TEST = tc.Assumed.test(prevalence=0.15, sensitivity=0.93, specificity=0.98)
PILOT = tc.Counts([[140, 60], [20, 180]], [6000, 4000], classes=["fail", "pass"])
GROUPS = tc.Groups(
    [[140, 60], [20, 180]], {"A": [700, 300], "B": [500, 500]}, classes=["fail", "pass"], outputs=["fail", "pass"]
)


def test_a_budget_is_spent_and_no_other_split_is_clearly_better():
    found = tc.plan(TEST, budget=600, level=0.9)
    assert found.cost == 600 == sum(found.labels.values()) + found.items
    for labels, items in (([100, 100], 400), ([250, 50], 300), ([50, 50], 500)):
        assert tc.plan(TEST, labels=labels, items=items, level=0.9).width > 0.98 * found.width


def test_plain_values_hold_what_was_planned_from():
    assumed, pilot = (tc.plan(data, labels=[5, 5], items=9, costs=tc.Costs(item=2)).to_dict() for data in (TEST, PILOT))
    assert assumed["assumed"] == {"prevalence": TEST.prevalence.tolist(), "confusion": TEST.confusion.tolist()}
    assert assumed["pilot"] is None
    assert pilot["assumed"] is None
    assert pilot["pilot"]["labeled"] == PILOT.labeled.tolist()
    assert pilot["pilot"]["items"] == [{"group": None, "unlabeled": PILOT.unlabeled.tolist()}]
    assert pilot["costs"] == {"label": 1.0, "item": 2}


def test_costs_change_the_split():
    cheap = tc.plan(TEST, budget=600, costs=tc.Costs(item=0.1))
    dear = tc.plan(TEST, budget=600, costs=tc.Costs(label={"negative": 1, "positive": 20}))
    plain = tc.plan(TEST, budget=600)
    assert cheap.items > plain.items
    assert dear.labels["positive"] < plain.labels["positive"]
    assert dear.cost <= 600
    assert cheap.cost <= 600


def test_given_items_are_part_of_the_cost():
    prices = tc.Costs(label={"fail": 2, "pass": 3}, item=0.5)
    assert tc.plan(PILOT, labels=100, items=400).cost == 500
    found = tc.plan(PILOT, labels=100, items=400, costs=prices)
    assert found.cost == 2 * found.labels["fail"] + 3 * found.labels["pass"] + 200
    assert tc.plan(GROUPS, labels=[10, 10], items=50).cost == 20 + 2 * 50


def test_items_that_cost_nothing_are_gathered_without_limit():
    found = tc.plan(PILOT, goal=tc.Goal.narrow(0.05), costs=tc.Costs(item=0))
    assert found.cost == sum(found.labels.values()) < tc.plan(PILOT, goal=tc.Goal.narrow(0.05), items=0).cost
    assert "as many unlabelled items as there are" in str(found)


def test_nothing_is_gathered_where_the_pilot_reaches_the_goal():
    found = tc.plan(PILOT, goal=tc.Goal.narrow(0.2))
    assert found.cost == 0
    assert found.is_reached
    assert "assurance" not in str(found)


def test_a_width_that_is_met_on_average_points_to_the_assurance():
    assert "pass Goal.narrow(..., assurance=0.8)." in str(tc.plan(PILOT, goal=tc.Goal.narrow(0.05)))


def test_reading_more_items_than_there_will_be_is_said():
    pilot = tc.Counts([[140, 60], [20, 180]], [120, 80], classes=["fail", "pass"])
    assert "more than the 250 that there will be" in str(tc.plan(pilot, labels=[100, 100], items=50))
    assert "more than" not in str(tc.plan(PILOT, labels=[100, 100]))


def test_the_audit_for_the_goal_reaches_it():
    found = tc.plan(TEST, goal=tc.Goal.narrow(0.03))
    labels = next(each.labels for each in found.alternatives if each.what == "audit for the goal")
    assert labels < sum(found.labels.values())
    assert found.sentences[-1].endswith(f"(an audit): {labels:,} reach the goal by themselves.")
    audit = tc.plan(TEST, tc.SamePopulation(), labels=[labels], items=found.items)
    assert audit.half_width == pytest.approx(0.03, rel=0.05)
    assert "audit for the goal" not in str(tc.plan(TEST, budget=1000))


def test_labels_that_may_be_of_random_items_already_are_asked_about():
    found = tc.plan(PILOT, goal=tc.Goal.narrow(0.03))
    assert str(found.sentences[-1]).endswith("drawn so too, plan with model=SamePopulation().")
    assert found.sentences[-1].words("plan").endswith("plan with --design same-population.")
    assert not any("an audit" in line for line in tc.plan(PILOT, budget=100).sentences)


def test_sizes_for_a_goal_reach_it_and_hardly_more():
    found = tc.plan(TEST, goal=tc.Goal.narrow(0.03))
    assert found.is_reached
    assert 0.96 * 0.03 <= found.half_width <= 0.0303


def test_more_assurance_costs_more_and_is_what_the_plan_promises():
    costs = []
    for assurance in (0.5, 0.8, 0.95):
        found = tc.plan(PILOT, goal=tc.Goal.narrow(0.05, assurance=assurance))
        assert found.probability == pytest.approx(assurance, abs=0.1)
        costs.append(found.cost)
    assert costs == sorted(costs)


def test_a_share_above_a_threshold_needs_more_labels_the_nearer_it_is():
    near = tc.plan(PILOT, goal=tc.Goal.above(0.78, of="fail", assurance=0.5))
    far = tc.plan(PILOT, goal=tc.Goal.above(0.7, of="fail", assurance=0.5))
    assert far.cost < near.cost
    below = tc.plan(PILOT, goal=tc.Goal.below(0.3, of="pass", assurance=0.5))
    assert below.cost == pytest.approx(far.cost, rel=0.3)


@pytest.mark.slow
def test_two_groups_are_told_apart_with_more_items():
    found = tc.plan(GROUPS, goal=tc.Goal.apart("A", "B", of="pass"))
    assert found.probability > 0.95
    near = tc.Groups([[140, 60], [20, 180]], {"A": [60, 40], "B": [50, 50]})
    more = [tc.plan(near, labels=[0, 0], items=items, goal=tc.Goal.apart("A", "B", of=1)) for items in (0, 1000)]
    assert more[0].probability < more[1].probability
    assert set(found.groups) == {"A", "B"}


def test_labels_are_counted_by_output_or_not_at_all_where_the_design_says_so():
    by_output = tc.plan(PILOT, tc.ByPrediction(), goal=tc.Goal.narrow(0.03))
    at_random = tc.plan(PILOT, tc.SamePopulation(), goal=tc.Goal.narrow(0.03))
    assert set(by_output.labels) == {"fail", "pass"}
    assert by_output.headline.startswith("Gather labels by output: ")
    assert set(at_random.labels) == {"any class"}
    assert by_output.is_reached
    assert at_random.is_reached


def test_one_number_of_labels_is_divided():
    found = tc.plan(PILOT, labels=100)
    assert sum(found.labels.values()) == 100
    assert found.items == 0
    assert found.width < tc.plan(PILOT, labels=[0, 0]).width


def test_ten_classes():
    rows = 0.8 * np.eye(10) + 0.02
    found = tc.plan(tc.Assumed(np.full(10, 0.1), rows), budget=3000)
    assert found.cost == 3000
    assert max(found.labels.values()) - min(found.labels.values()) <= 10
    assert found.width < 0.1


def test_scores_say_what_finer_cells_would_be_worth():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 400)
    second = 1 / (1 + np.exp(-1.5 * rng.normal(1.5 * labels - 0.75)))
    scores = tc.Scores(
        np.column_stack([1 - second, second])[:300], labels[:300], np.column_stack([1 - second, second])[300:]
    )
    found = tc.plan(scores, labels=[50, 50])
    assert [each.what for each in found.alternatives][-1] == "finer cells"
    assert found.alternatives[-1].width <= found.width


def test_alternatives_are_narrower():
    found = tc.plan(PILOT, labels=[100, 100])
    worth = {each.what: each.width for each in found.alternatives}
    assert {"unlimited items", "unlimited labels", "audit", "half the errors"} <= set(worth)
    assert all(width < found.width for width in worth.values())


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (tc.LabelShift(), "unlimited labels: rates known"),
        (tc.ByPrediction(), "unlimited labels: P(class|output) known"),
        (tc.SamePopulation(), None),
    ],
)
def test_unlimited_labels_say_what_is_then_known_and_are_no_alternative_of_a_random_sample(model, words):
    said = str(tc.plan(PILOT, model, labels=20))
    assert said.count("unlimited labels") == (words is not None)
    assert words is None or words in said


def test_the_floor_is_not_gone_under_by_any_number_of_items():
    floor = next(each.width for each in tc.plan(PILOT, labels=[0, 0]).alternatives if each.what == "unlimited items")
    assert tc.plan(PILOT, labels=[0, 0], items=10**7).width == pytest.approx(floor, rel=0.05)


def test_the_curve_falls_with_the_cost_and_the_best_split_is_best():
    curve = tc.plan(TEST, budget=800).curve
    assert (np.diff(curve.splits["best split"]) < 0).all()
    assert (curve.splits["best split"] <= 1.001 * curve.splits["equal split"]).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"labels": {"positive": 100, "negative": 20}, "goal": tc.Goal.narrow(0.03)}, "no number of unlabelled items"),
        ({"items": 50, "goal": tc.Goal.narrow(0.03)}, "no number of labels"),
        ({"budget": 0}, "Nothing is labelled"),
        ({"budget": 100, "goal": tc.Goal.narrow(0.03)}, "Not reached"),
    ],
)
def test_goals_that_cannot_be_reached_are_answered_in_words(options, words):
    found = tc.plan(TEST, **options)
    assert words in str(found)
    assert "eeded: about these labels" in str(found)
    assert found.is_reached == ("goal" not in options)


def test_the_least_width_that_is_told_is_that_of_the_prior_where_outputs_tell_nothing():
    blind = tc.Assumed.test(prevalence=0.15, sensitivity=0.5, specificity=0.5)
    found = tc.plan(blind, goal=tc.Goal.narrow(0.03))
    assert found.width == pytest.approx(0.95, abs=0.01)  # of a flat prior
    assert f"gets below {points(found.width)}" in found.words[0]


def test_classes_that_the_outputs_cannot_tell_apart_are_named():
    assumed = tc.Assumed([0.3, 0.3, 0.4], [[0.5, 0.5], [0.5, 0.5], [0.1, 0.9]], classes=["tie", "win", "loss"])
    found = tc.plan(assumed, goal=tc.Goal.narrow(0.03))
    assert not found.is_reached
    assert "do not tell tie and win apart" in str(found)


def test_a_threshold_that_the_pilot_speaks_against_is_answered_in_words():
    found = tc.plan(PILOT, goal=tc.Goal.above(0.95, of="fail"))
    assert "probability of at most" in str(found)


def test_a_goal_within_reach_is_not_called_unreachable():
    assert "Not reach" not in str(tc.plan(TEST, goal=tc.Goal.narrow(0.05)))


def test_items_to_read_hold_as_many_as_wanted_nine_times_out_of_ten():
    wanted, shares = np.array([30.0, 5.0]), np.array([[0.4, 0.03]])
    found = items_to_read(wanted, shares)
    drawn = np.random.default_rng(0).binomial(found.astype(int)[:, None], shares.T, (2, 20_000))
    assert (drawn >= wanted[:, None]).mean(axis=1) == pytest.approx([0.9, 0.9], abs=0.03)
    assert np.isinf(items_to_read(np.array([1.0]), np.array([[0.0]])))[0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tc.plan(TEST), "budget"),
        (lambda: tc.plan(TEST, labels=[1, 2, 3], items=1), "has 3 numbers"),
        (lambda: tc.plan(TEST, labels={"maybe": 3}, items=1), "'maybe'"),
        (lambda: tc.plan(TEST, labels=[-1, 2], items=1), "0 or more"),
        (lambda: tc.plan(TEST, labels=50), "items"),
        (lambda: tc.plan(TEST, labels=50, items=10, budget=3), "Leave one out"),
        (lambda: tc.plan(TEST, labels=[50, 50], budget=3), "cost 100 already"),
        (lambda: tc.plan(PILOT, goal=tc.Goal.apart("A", "B", of="pass")), "one population"),
        (lambda: tc.plan(PILOT, goal=tc.Goal.narrow(0.03, of="maybe")), "'maybe'"),
        (lambda: tc.plan(PILOT, goal="narrow"), "Goal.narrow"),
        (lambda: tc.plan([[1, 2], [3, 4]]), "Assumed"),
        (lambda: tc.plan(GROUPS, tc.ByPrediction(), labels=[1, 1]), "each group by itself"),
        (lambda: tc.Goal.narrow(0.6), "below 0.5"),
        (lambda: tc.Goal.narrow(0.1, assurance=1.0), "below 1"),
        (lambda: tc.Costs(label=-1), "0 or more"),
        (lambda: tc.plan(TEST, budget=10, costs=tc.Costs(label={"positive": 1})), "does not name"),
        (lambda: tc.Assumed([0.5, 0.6], [[1, 0], [0, 1]]), "sum to 1"),
        (lambda: tc.Assumed([0.5, 0.5], [[1, 0]]), "a row for each class"),
        (lambda: tc.Assumed.test(prevalence=1.5, sensitivity=0.9, specificity=0.9), "between 0 and 1"),
    ],
)
def test_what_cannot_be_planned_is_refused_with_a_remedy(call, words):
    with pytest.raises(tc.InputError) as refusal:
        call()
    assert words in str(refusal.value)


def test_without_labels_the_forecast_is_the_priors_own():
    test = tc.Assumed.test(prevalence=0.9, sensitivity=0.9, specificity=0.9)
    model = tc.LabelShift(tc.Prior(prevalence=[900, 100]))
    found = tc.plan(test, model, labels=[0, 0], items=500)
    low, high = beta(900, 100).interval(0.95)
    assert found.width == pytest.approx(high - low, rel=0.05)


def test_the_class_asked_for_beside_a_goal_is_the_goals():
    test = tc.Assumed([0.5, 0.4, 0.1], np.eye(3) * 0.7 + 0.1)
    asked = {"labels": [100, 100, 100], "items": 500}
    of_one = tc.plan(test, goal=tc.Goal.narrow(0.2), of=2, **asked)
    assert of_one.goal.of == 2
    for wrong in ({"of": "nonsense"}, {"of": 1, "goal": tc.Goal.narrow(0.2, of=2)}):
        with pytest.raises(tc.InputError, match="of is"):
            tc.plan(test, **{"goal": tc.Goal.narrow(0.2), **asked, **wrong})


def test_the_formula_for_large_samples_knows_sampling_error():
    """A share of .55 to be told from .5 with a standard error of .05 or so: neither never nor always."""
    test = tc.Assumed.test(prevalence=0.55, sensitivity=0.9, specificity=0.9)
    goal = tc.Goal.above(0.5, of="positive")
    found = tc.plan(test, goal=goal, labels=[400, 400], items=400, large_sample=True)
    deviation = large_sample_deviations(assumed_scenario(test, tc.LabelShift()), Sizes(np.array([400.0, 400.0]), 400.0))
    place = found.classes[1].name == "positive"
    assert found.probability == pytest.approx(norm.cdf(0.05 / deviation[0, int(place)] - 1.96), abs=0.01)
    assert 0.01 < found.probability < 0.99


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tc.Goal.narrow("3%"), "half_width is '3%'"),
        (lambda: tc.Goal(kind="bogus"), "kind"),
        (lambda: tc.Goal.narrow(0.1, assurance="0.8"), "assurance is '0.8'"),
        (lambda: tc.Costs(label="1"), "label costs '1'"),
    ],
)
def test_what_is_no_number_is_refused(call, words):
    with pytest.raises(tc.InputError, match=words):
        call()
