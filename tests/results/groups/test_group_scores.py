"""Own estimates, borrowing, shares among a group's items, and scores of left-out groups."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from truecount import Auto, Cut, Groups, Independent, InputError, LabelShift, Pooled, Prior, Varying, Walk, infer
from truecount.results.groups.borrowing import own_shares

LABELS = [[45, 5], [10, 40]]
ITEMS = {"a": [30, 20], "b": [10, 40], "c": [2500, 2500], "d": [0, 0], "e": [3, 7]}


@pytest.fixture(scope="module")
def answer():
    return infer(Groups(LABELS, ITEMS), seed=1)


def test_own_shares_are_adjusted_counts_kept_within_bounds():
    rows = np.array([[0.9, 0.1], [0.2, 0.8]])
    items = np.array([[30, 20], [10, 40], [48, 2]])
    adjusted = np.clip((items[:, 0] / 50 - 0.2) / 0.7, 0, 1)
    np.testing.assert_allclose(own_shares(items, rows)[:, 0], adjusted, atol=1e-4)


def test_own_shares_solve_three_classes_exactly():
    rng = np.random.default_rng(1)
    rows, truth = 0.7 * np.eye(3) + 0.1, rng.dirichlet(np.ones(3), 4)
    np.testing.assert_allclose(own_shares(1000 * truth @ rows, rows), truth, atol=1e-6)


def test_known_rates_give_all_published_districts():
    folder = os.environ.get("TRUECOUNT_DATA")
    if folder is None:
        pytest.skip("TRUECOUNT_DATA names no folder")
    data = json.loads((Path(folder) / "published" / "react2_districts_round4.json").read_text())
    positive, total = np.array(data["positive"]), np.array(data["total"])
    rows = np.array([[0.844, 0.156], [0.014, 0.986]])
    found = own_shares(np.stack([positive, total - positive], axis=1), rows)[:, 0]
    published = np.array(data["published_percent"])
    assert np.abs(100 * found - published).max() <= 0.01


def test_groups_with_few_items_borrow_more(answer):
    borrowed = dict(zip(answer.groups, answer.borrowed, strict=True))
    assert borrowed["c"] < borrowed["a"] < borrowed["e"] < borrowed["d"] == 1
    assert (answer.borrowed >= 0).all()
    assert np.isnan(answer.own[3]).all()


@pytest.mark.parametrize(
    "groups",
    [
        Walk(),
        pytest.param(Walk(noise=True), marks=pytest.mark.slow),
        Pooled(kind="dirichlet"),
        Independent(),
    ],
)
def test_every_kind_of_variation_says_how_much_is_borrowed(groups):
    found = infer(Groups(LABELS, ITEMS, times=[0, 1, 2, 4, 5]), LabelShift(groups=groups), engine=Auto(100)).borrowed
    if isinstance(groups, Independent):
        assert (found == 0).all()
    else:
        assert found[2] < found[0] < found[3]
        assert found[3] == pytest.approx(1)


def test_shares_among_a_groups_items_are_whole_items(answer):
    drawn = answer.realized("a") * 50
    np.testing.assert_allclose(drawn, np.round(drawn), atol=1e-9)
    np.testing.assert_allclose(drawn.sum(axis=1), 50)
    with pytest.raises(InputError, match="'d' has no items"):
        answer.realized("d")


def test_shares_among_items_of_a_perfect_classifier_are_counts():
    groups = Groups(LABELS, ITEMS)
    known = infer(groups, prior=Prior.known_confusion([[1.0, 0.0], [0.0, 1.0]]), engine=Auto(100))
    assert (known.realized("a") == [0.6, 0.4]).all()


@pytest.mark.slow
def test_scores_are_those_of_inferring_without_the_group():
    """Of the posterior without group a, draw its share anew from centre and spread, and score its items.

    Scores of 1,000 effective draws vary by .07 from seed to seed, so that the bound is four standard errors here.
    """
    many = Auto(8000)
    answer = infer(Groups(LABELS, ITEMS), engine=many, seed=1)
    others = {name: items for name, items in ITEMS.items() if name != "a"}
    without = infer(Groups(LABELS, others), engine=many, seed=2)
    rng = np.random.default_rng(3)
    size = len(without.prevalence)
    ratios = without.draws.centre[:, 0, 0, None] + without.spread * rng.normal(size=(size, 50))
    share = 1 / (1 + np.exp(-ratios))
    rows = without.confusion
    positive = share * rows[:, 0, :1] + (1 - share) * rows[:, 1, :1]
    expected = np.log(binom.pmf(30, 50, positive).mean())
    scores = answer.leave_one_out()
    assert abs(scores.pooled[0] - expected) < 0.1
    flat = rng.random((size, 50))
    positive = flat * rows[:, 0, :1] + (1 - flat) * rows[:, 1, :1]
    assert abs(scores.independent[0] - np.log(binom.pmf(30, 50, positive).mean())) < 0.1
    assert scores.pooled[3] == pytest.approx(0, abs=1e-2)
    assert scores.tail[[0, 2, 3, 4]].max() < 0.7
    unreliable = replace(scores, tail=np.array([0.1, 0.8, 0.1, 0.0, 0.1]))
    assert not unreliable.is_reliable
    assert unreliable.sentence == "Some scores are not reliable: 1 of 5 groups are too influential to leave out."


@pytest.mark.slow
def test_the_first_period_of_a_walk_is_predicted_by_the_prior_of_the_level_too():
    """Without its items a period is predicted from the others. Five standard errors of both: .006 and .015."""
    items = {0: [12, 8], 1: [25, 75], 2: [30, 70], 3: [25, 75]}
    model = LabelShift(Prior([30, 10]), groups=Walk())
    scores = infer(Groups(LABELS, items, times=range(4)), model, seed=1).leave_one_out()
    predicted = infer(Groups(LABELS, items | {0: [0, 0]}, times=range(4)), model, seed=2)
    outputs = (predicted.prevalence[:, 0] * predicted.confusion[:, :, 0]).sum(axis=1)
    assert scores.pooled[0] == pytest.approx(np.log(binom.pmf(12, 20, outputs).mean()), abs=0.08)


ALIKE = {at: [300 + at, 700 - at] for at in range(8)}


@pytest.mark.parametrize(
    ("groups", "times"),
    [(Pooled(), 1), (Pooled(kind="dirichlet"), 16), pytest.param(Walk(), 1, marks=pytest.mark.slowest)],
    ids=["normal", "dirichlet", "walk"],
)
def test_alike_groups_are_predicted_better_by_pooling(groups, times):
    data = Groups(times * np.array(LABELS), ALIKE, times=range(8))
    scores = infer(data, LabelShift(groups=groups), engine=Auto(300)).leave_one_out()
    assert scores.gain > 2 * scores.gain_error > 0
    assert scores.sentence == "A left-out group is predicted better by pooling than by no pooling."


def test_scores_say_where_weights_have_too_long_a_tail():
    """With few labels a class may be absent from all groups; then the spread is free."""
    answer = infer(Groups(LABELS, ALIKE), LabelShift(groups=Pooled(kind="dirichlet")), engine=Auto(300))
    assert np.quantile(answer.draws.spread[:, 0], 0.9) > 5 * np.median(answer.draws.spread[:, 0])
    scores = answer.leave_one_out()
    assert not scores.is_reliable
    assert "not reliable" in scores.sentence


@pytest.mark.parametrize("model", [LabelShift(groups=Independent()), LabelShift(groups=Pooled(), confusion=Varying())])
def test_scores_that_do_not_exist_are_refused(model, answer):
    with pytest.raises(InputError, match="scores compare"):
        replace(answer, model=model).leave_one_out()


def test_scores_of_a_cut_are_refused_by_name(answer):
    with pytest.raises(InputError, match=r"model has confusion=Cut\(\): scores weigh .* LabelShift\(groups=Pooled"):
        replace(answer, model=LabelShift(groups=Pooled(), confusion=Cut())).leave_one_out()


@pytest.mark.slow
def test_a_cut_leaves_the_confusion_to_the_labels():
    """Items that contradict the labels move the confusion, and not the cut one."""
    data = Groups([[9, 1], [1, 9]], {at: [at * 10, 1000 - at * 10] for at in range(6)})
    full, cut = (infer(data, LabelShift(groups=Pooled(), confusion=each), seed=1) for each in (None, Cut()))
    rows = cut.confusion.mean(axis=0)
    np.testing.assert_allclose(rows, [[10 / 12, 2 / 12], [2 / 12, 10 / 12]], atol=0.02)
    assert full.confusion.mean(axis=0)[1, 0] < 0.06
