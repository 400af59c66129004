"""Truths that a pilot leaves open: items do not move the rates, and a class may err in a way of its own."""

from math import exp

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import beta

import truecount as tc
from truecount.counts.weights import effective_counts, effective_groups
from truecount.planning.groups import group_scenarios
from truecount.planning.pilot import pilot_scenario, posterior_draws
from truecount.planning.row_belief import RowBelief, believed_prior, believed_rows, weighed

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
    learned = tc.LabelShift(tc.Prior(confusion="learned"))
    assert np.linalg.det(posterior_draws(COUNTS, learned, 1).confusion).mean() < without.mean() - error


def test_a_class_that_is_often_wrong_is_not_taken_for_one_like_the_others():
    """Its labels and one more, spread over six outputs, within five standard errors; learned rows are beyond them."""
    labeled = np.full((6, 6), 1) + 54 * np.eye(6, dtype=int)
    labeled[3] = [1, 2, 25, 28, 3, 1]
    counts = tc.Counts(labeled, np.full(6, 100))
    rates = believed_rows(np.random.default_rng(1), MODEL, counts, 4000)[:, 3, 3]
    expected, error = (28 + 1 / 6) / (60 + 1), 5 * rates.std() / np.sqrt(len(rates))
    assert rates.mean() == pytest.approx(expected, abs=error)
    assert MODEL.density(counts).mean_confusion[3, 3] > expected + error


def test_classes_that_err_alike_are_pulled_towards_each_other():
    labeled = np.full((6, 6), 2) + 48 * np.eye(6, dtype=int)
    belief = RowBelief.of(tc.Prior(), tc.Counts(labeled, np.full(6, 100)))
    assert (belief.probability @ belief.is_common > 0.9).all()
    rates = believed_rows(np.random.default_rng(1), MODEL, tc.Counts(labeled, np.full(6, 100)), 4000)[:, 3, 3]
    by_itself = np.sqrt(beta(50, 10).var())
    assert rates.std() < by_itself * (1 - 5 / np.sqrt(2 * len(rates)))


def test_two_priors_of_a_row_are_weighed_by_bayes_rule():
    """One row, and a grid of one point: by the closed form, the share of draws within five standard errors."""
    labels = np.array([[3.0, 1.0]])
    common, alone = np.array([[[8.0, 2.0]]]), np.array([[0.5, 0.5]])
    evidence = [exp(betaln(*(each + labels[0])) - betaln(*each)) for each in (common[0, 0], alone[0])]
    found = weighed(common, alone, labels, np.zeros(1))
    expected = evidence[0] / sum(evidence)
    assert found.is_common[0, 0] == pytest.approx(expected)
    drawn = (found.draw(np.random.default_rng(1), 4000)[:, 0, 0] == 8).mean()
    assert drawn == pytest.approx(expected, abs=5 * np.sqrt(expected * (1 - expected) / 4000))
    assert found.mean == pytest.approx(expected * common[0] + (1 - expected) * alone)


def test_a_prior_of_the_users_own_and_known_rows_are_kept():
    own = tc.LabelShift(tc.Prior(confusion={0: 3, 1: 2}))
    assert believed_prior(own, COUNTS) is own.prior
    rates = pilot_scenario(COUNTS, own, 1).confusion[:, 0, 0]
    assert rates.mean() == pytest.approx(18 / 26, abs=5 * rates.std() / np.sqrt(len(rates)))
    known = tc.LabelShift(tc.Prior.known_confusion([[0.9, 0.1], [np.nan, np.nan]]))
    assert pilot_scenario(COUNTS, known, 1).confusion[:, 0] == pytest.approx(np.tile([0.9, 0.1], (1024, 1)))


@pytest.mark.parametrize("number", [2, 4])
def test_groups_believe_of_the_rates_what_one_population_does(number):
    """Two groups are independent and four are pooled; five standard errors, by half as many effective draws."""
    groups = tc.Groups(LABELED, {f"{place}": [50 + 5 * place, 50] for place in range(number)})
    found, one = determinants(group_scenarios(groups, MODEL, 1)["0"]), determinants(pilot_scenario(COUNTS, MODEL, 1))
    error = 5 * np.sqrt(one.var() / len(one) + found.var() / (len(found) / 2))
    assert found.mean() == pytest.approx(one.mean(), abs=error)


def clustered_groups() -> tc.Groups:
    """Labels in clusters of four; items of A are independent and those of B come in twenty clusters of items alike."""
    rng, names = np.random.default_rng(0), np.array(["no", "yes"])
    truth = np.tile([0, 1], 30)
    usual = np.where(rng.random(60) < 0.8, truth, 1 - truth)
    verdict = np.where(rng.random((60, 4)) < 0.95, usual[:, None], 1 - usual[:, None]).ravel()
    alone, alike = rng.integers(2, size=400), np.repeat(rng.integers(2, size=20), 20)
    table = {
        "truth": [*names[np.repeat(truth, 4)], *[None] * 800],
        "verdict": names[np.concatenate([verdict, alone, alike])],
        "question": np.concatenate([np.arange(60).repeat(4), 100 + np.arange(400), 500 + np.arange(20).repeat(20)]),
        "model": [None] * 240 + ["A"] * 400 + ["B"] * 400,
    }
    frame = pytest.importorskip("pandas").DataFrame(table)
    return tc.count_table(frame, label="truth", prediction="verdict", cluster="question", by="model")


def test_the_order_of_groups_does_not_matter():
    """By itself, A makes its labels count six times as much as B: rows were those of the first, by its labels.

    Rows and labels are the same to the last digit. Shares have other random numbers: five standard errors of two means.
    """
    groups = clustered_groups()
    sizes = [effective_counts(counts)[0].sum() for _, counts in groups.apart()]
    assert sizes[0] > 5 * sizes[1]
    forth, back = (group_scenarios(groups.select(order), MODEL, 1) for order in ("AB", "BA"))
    for group in "AB":
        one, other = forth[group], back[group]
        np.testing.assert_array_equal(one.confusion, other.confusion)
        np.testing.assert_array_equal(one.labeled, effective_groups(groups)[0][0])
        np.testing.assert_array_equal(one.labeled, other.labeled)
        np.testing.assert_array_equal(one.unlabeled, other.unlabeled)
        error = 5 * one.prevalence.std(axis=0) * np.sqrt(2 / len(one.prevalence))
        assert (np.abs(one.prevalence.mean(axis=0) - other.prevalence.mean(axis=0)) < error).all()


def test_labels_of_pooled_groups_have_one_effective_size():
    groups = clustered_groups()
    found = group_scenarios(groups, tc.LabelShift(groups=tc.Pooled()), 1)
    for group in "AB":
        np.testing.assert_array_equal(found[group].labeled, effective_groups(groups)[0][0])
