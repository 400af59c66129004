"""Truths that a pilot leaves open: rates are what the labels of each class say, and nothing else moves them."""

import numpy as np
import pytest

import truecount as tc
from truecount.planning.groups import group_scenarios
from truecount.planning.pilot import believed, pilot_scenario, posterior_draws

LABELED = [[15, 5], [5, 15]]
COUNTS = tc.Counts(LABELED, [100, 100])
MODEL = tc.LabelShift()


def determinants(scenario) -> np.ndarray:
    return np.linalg.det(scenario.confusion)


def test_items_between_the_rows_leave_the_rates_to_the_labels():
    """Five standard errors of two means. As the posterior has it, items take 3.6 points off the determinant."""
    without, both = (determinants(pilot_scenario(each, MODEL, 1)) for each in (tc.Counts(LABELED, [0, 0]), COUNTS))
    error = 5 * np.hypot(without.std(), both.std()) / np.sqrt(len(both))
    assert both.mean() == pytest.approx(without.mean(), abs=error)
    posterior = posterior_draws(COUNTS, believed(MODEL, COUNTS), 1).confusion
    assert np.linalg.det(posterior).mean() < without.mean() - error


def test_a_class_that_is_often_wrong_is_not_taken_for_one_like_the_others():
    """Learned rows, the default of six classes, raise its rate of right outputs by more than these five errors."""
    labeled = np.full((6, 6), 1) + 54 * np.eye(6, dtype=int)
    labeled[3] = [1, 2, 25, 28, 3, 1]
    counts = tc.Counts(labeled, np.full(6, 100))
    right = pilot_scenario(counts, MODEL, 1).confusion[:, 3, 3]
    expected = (28 + 1 / 6) / (60 + 1)
    error = 5 * right.std() / np.sqrt(len(right))
    assert right.mean() == pytest.approx(expected, abs=error)
    assert MODEL.density(counts).mean_confusion[3, 3] > expected + error


def test_a_prior_of_the_users_own_and_known_rows_are_kept():
    own = tc.LabelShift(tc.Prior(confusion={0: 3, 1: 2}))
    assert believed(own, COUNTS) is own
    known = tc.LabelShift(tc.Prior.known_confusion([[0.9, 0.1], [np.nan, np.nan]]))
    assert pilot_scenario(COUNTS, known, 1).confusion[:, 0] == pytest.approx(np.tile([0.9, 0.1], (1024, 1)))


def test_a_class_without_labels_has_any_rates():
    """The variance of a uniform distribution is 1/12; five standard errors."""
    rates = pilot_scenario(tc.Counts([[15, 5], [0, 0]], [100, 100]), MODEL, 1).confusion[:, 1, 1]
    assert rates.var() == pytest.approx(1 / 12, abs=5 * np.sqrt(1 / 180 / len(rates)))


@pytest.mark.parametrize("number", [2, 4])
def test_groups_believe_of_the_rates_what_one_population_does(number):
    """Two groups are independent and four are pooled; five standard errors, by half as many effective draws."""
    groups = tc.Groups(LABELED, {f"{place}": [50 + 5 * place, 50] for place in range(number)})
    found, one = determinants(group_scenarios(groups, MODEL, 1)["0"]), determinants(pilot_scenario(COUNTS, MODEL, 1))
    error = 5 * np.sqrt(one.var() / len(one) + found.var() / (len(found) / 2))
    assert found.mean() == pytest.approx(one.mean(), abs=error)
