"""Best splits: none of a grid at the same cost is better, also where a pilot has labels and items already."""

from itertools import product

import numpy as np
import pytest

import truecount as tc
from truecount.planning.pilot import pilot_scenario
from truecount.planning.problem import Problem
from truecount.planning.scenario import Sizes
from truecount.planning.search import Choice, best_shares, enough_budget, rounded_up

SMALL = tc.Counts([[80, 30], [17, 123]], [1150, 1400], classes=["fail", "pass"])
MANY_ITEMS = tc.Counts([[30, 10], [5, 40]], [60_000, 40_000], classes=["fail", "pass"])
THREE = tc.Counts([[60, 10, 5], [8, 70, 9], [3, 12, 50]], [300, 200, 100], classes=["a", "b", "c"])
PILOTS = [SMALL, MANY_ITEMS, THREE]
PARTS = 12
"""Each part of a budget that a grid has is a multiple of one in so many."""
SLACK = 1.003
"""Rounding to whole sizes, and parts too small to be worth it, may widen an interval by so much."""


def question(pilot: tc.Counts, model: tc.LabelShift | tc.ByPrediction | tc.SamePopulation, goal: tc.Goal) -> Problem:
    scenarios = {None: pilot_scenario(pilot, model, 0)}
    return Problem(scenarios=scenarios, goal=goal, level=0.95, is_large_sample=False, seed=0)


def grid(prices: np.ndarray, budget: float) -> list[Sizes]:
    parts = [each for each in product(range(PARTS + 1), repeat=len(prices)) if sum(each) == PARTS]
    return [Sizes.of(np.array(each) / PARTS * budget / prices) for each in parts]


@pytest.mark.parametrize("item", [1.0, 0.1])
@pytest.mark.parametrize("pilot", PILOTS)
def test_no_split_of_a_budget_is_better_than_the_one_found_from_a_pilot(pilot: tc.Counts, item: float):
    found = tc.plan(pilot, budget=900, costs=tc.Costs(item=item))
    problem = question(pilot, tc.LabelShift(), tc.Goal.narrow(0.25))
    prices = np.append(np.ones(len(pilot.classes)), item)
    assert 900 - item < found.cost <= 900 + 1e-9
    assert found.cost == pytest.approx(prices @ found.sizes.vector)
    assert problem.loss(found.sizes) <= SLACK * min(problem.loss(sizes) for sizes in grid(prices, 900))


@pytest.mark.parametrize("model", [tc.LabelShift(), tc.ByPrediction(), tc.SamePopulation()])
@pytest.mark.parametrize("item", [1.0, 0.1])
def test_no_split_at_the_same_cost_is_better_than_the_one_found_for_a_goal(item: float, model: tc.LabelShift):
    goal = tc.Goal.narrow(0.04)
    found = tc.plan(SMALL, model, goal=goal, costs=tc.Costs(item=item))
    problem = question(SMALL, model, goal)
    prices = np.append(np.ones(len(found.strata)), item)
    assert found.is_reached
    assert problem.loss(found.sizes) <= SLACK * min(problem.loss(sizes) for sizes in grid(prices, found.cost))


def test_new_items_are_gathered_where_they_are_worth_their_cost():
    assert tc.plan(SMALL, budget=900, costs=tc.Costs(item=0.1)).items > tc.plan(SMALL, budget=4000).items > 0
    assert tc.plan(MANY_ITEMS, budget=900).items == 0
    assert tc.plan(SMALL, budget=900, items=0).items == 0


def test_a_search_that_starts_where_one_size_is_not_bought_leaves_that_corner():
    problem = question(SMALL, tc.LabelShift(), tc.Goal.narrow(0.25))
    choice = Choice(np.full(3, np.nan), np.array([1.0, 1.0, 0.1]))
    stuck, free = (best_shares(problem.loss, choice, 4000.0, start) for start in (np.array([1.0, 0.0, 0.0]), None))
    np.testing.assert_allclose(stuck, free, atol=0.02)


def test_sizes_of_nothing_are_written_as_nothing():
    nothing = rounded_up(Choice(np.array([np.nan, np.nan, 5.0]), np.ones(3)), 5.0, np.array([1.0, 0.0]))
    assert [f"{size:.0f}" for size in nothing.vector] == ["0", "0", "5"]


@pytest.mark.parametrize(("at_nothing", "budget"), [(0.1, 50.0), (0.9, 51.0)])
def test_nothing_is_spent_where_nothing_suffices(at_nothing: float, budget: float):
    choice = Choice(np.array([50.0, np.nan, np.nan]), np.ones(3))

    def loss(sizes: Sizes) -> float:
        return at_nothing if sizes.vector.sum() == 50 else 0.1

    assert enough_budget(loss, choice, np.full(2, 0.5), 0.2) == budget
