"""The picture of a plan: its arrays, and that it can be drawn."""

import numpy as np
import pytest

import truecount as tc
from truecount.plots.plan import plan, plan_data

TEST = tc.Assumed.test(prevalence=0.15, sensitivity=0.93, specificity=0.98)


def test_the_arrays_are_those_of_the_curve():
    found = tc.plan(TEST, budget=500, goal=tc.Goal.narrow(0.04))
    data = plan_data(found)
    assert data.splits == ("best split", "equal split", "this split")
    assert data.half_widths[0] == pytest.approx(found.curve.splits["best split"] / 2)
    assert data.cost == 500
    assert data.target == 0.04
    assert data.caption[1].endswith("Dotted: the goal.")
    assert data.costs == pytest.approx(500 * np.array([0.25, 0.5, 1, 2, 4]))


def test_a_goal_with_an_assurance_is_not_for_the_average():
    data = plan_data(tc.plan(TEST, budget=500, goal=tc.Goal.narrow(0.04, assurance=0.9)))
    assert "Dotted: the goal, which 90 % of the intervals are to reach." in data.caption[1]
    assert "widest interval, on average" in data.caption[1]


def test_it_is_drawn():
    ax = plan(tc.plan(TEST, budget=500))
    assert len(ax.lines) == 5


def test_a_plan_that_gathers_nothing_has_no_ring():
    pilot = tc.Counts([[140, 60], [20, 180]], [6000, 4000])
    data = plan_data(tc.plan(pilot, goal=tc.Goal.narrow(0.2)))
    assert not data.has_ring
    assert "Ring" not in data.caption[1]
    assert "Ring" in plan_data(tc.plan(TEST, budget=500)).caption[1]


def test_without_a_curve_there_is_no_picture():
    with pytest.raises(tc.InputError, match="no curve"):
        plan(tc.plan(TEST, budget=500, large_sample=True))
