"""Findings of many groups say what one of them alone would say."""

from dataclasses import replace

import numpy as np
import pytest

from made_groups import findings_of, made_answer
from truecount import Auto, Cut, Groups, Independent, InputError, LabelShift, Pooled, Prior, infer
from truecount.diagnostics import hierarchy
from truecount.diagnostics.hierarchy import group_findings

LABELED = [[16_000, 2000, 2000], [2000, 16_000, 2000]]
WELL = {"B": [100, 125, 25], "C": [90, 136, 24], "D": [110, 114, 26]}


@pytest.mark.parametrize("confusion", [None, Cut()])
def test_a_group_that_no_mix_explains_is_named(confusion):
    """Many labels, or a confusion that is cut off from the items, hide one bad group from the confusion itself."""
    model = LabelShift(groups=Pooled(), confusion=confusion)
    found = findings_of(Groups(LABELED, {"A": [77, 88, 85], **WELL}), model)["label-shift-violated"]
    assert (found.severity, found.numbers["groups"]) == ("serious", ["A"])
    assert "output 2" in found.message
    assert "label-shift-violated" not in findings_of(Groups(LABELED, {"A": [103, 122, 25], **WELL}), model)


def test_a_class_without_labels_is_named():
    groups = Groups([[150, 50], [0, 0]], {"a": [40, 60], "b": [30, 70], "c": [50, 50]})
    assert "unlabeled-class" in findings_of(groups)


def test_a_concentration_of_the_prevalence_is_not_learned_beside_a_centre():
    groups = Groups(LABELED, WELL)
    with pytest.raises(InputError, match="prior has prevalence='learned': groups learn a common centre"):
        infer(groups, LabelShift(Prior(prevalence="learned")))


def test_groups_of_weighted_items_are_said_to_be_weighted():
    squares = {
        "labeled_squares": [[16_000, 2000, 2000]] * 2,
        "unlabeled_squares": {name: [400, 400, 100] for name in "ABC"},
    }
    groups = Groups([[16_000, 2000, 2000]] * 2, {name: [100, 125, 25] for name in "ABC"}, **squares)
    assert "weighted-counts" in {finding.code for finding in infer(groups, engine=Auto(100)).findings}


def test_an_output_that_no_class_has_and_no_item_changes_nothing():
    rows = [[0.9, 0.1, 0.0, 0.0], [0.1, 0.9, 0.0, 0.0], [0.0, 0.1, 0.9, 0.0]]
    groups = Groups(np.zeros((3, 4), int), {at: [30, 30, 30, 0] for at in range(3)})
    assert infer(groups, LabelShift(Prior(known=rows), groups=Pooled()), engine=Auto(100), seed=1).has_answer


def test_known_rates_need_no_labels():
    """Two groups, both rates known: nothing but the shares is drawn."""
    groups = Groups([[0, 0], [0, 0]], {"north": [3280, 50], "south": [2829, 71]})
    answer = infer(groups, LabelShift(Prior.known_confusion([[0.995, 0.005], [0.16, 0.84]])), seed=1)
    assert "unseen-output" not in {finding.code for finding in answer.findings}
    alone = [infer(groups[name], LabelShift(answer.model.prior), seed=1) for name in groups.groups]
    for at, each in enumerate(alone):
        error = np.hypot(each.mcse, answer.sd[at] / np.sqrt(answer.effective_draws[at]))
        assert (np.abs(answer.mean[at] - each.mean) < 5 * error).all()


@pytest.mark.parametrize(
    ("items", "spread", "model", "named"),
    [
        (5, 0.1, Pooled(), True),
        (5, 0.1, Independent(), False),
        (5, 10.0, Pooled(), False),
        (5000, 0.1, Pooled(), False),
    ],
)
def test_a_group_of_which_the_others_say_more_is_named(items, spread, model, named):
    """Groups that are alike say much of one with five items; groups that differ, or one with 5,000, leave it alone."""
    data = Groups(
        [[900, 100], [100, 900]], {"small": [items, items], **{at: [50_000, 50_000] for at in range(4)}}, ["a", "b"]
    )
    answer = made_answer({name: [0.5, 0.5] for name in data.groups}, data=data, model=LabelShift(groups=model))
    draws = replace(answer.draws, spread=np.full_like(answer.draws.spread, spread))
    found = [each for each in group_findings(data, answer.model, draws) if each.code == "mostly-borrowed"]
    assert [(each.severity, each.numbers["groups"]) for each in found] == [("info", ["small"])] * named


def test_groups_without_items_are_told_what_their_answer_is():
    groups = Groups([[90, 10], [20, 80]], {"a": [40, 60], "b": [0, 0]})
    found = findings_of(groups, LabelShift(groups=Independent()))["group-without-items"]
    assert "the answer is the prior" in found.message
    nothing = Groups([[90, 10], [20, 80]], {"a": [0, 0], "b": [0, 0]})
    assert findings_of(nothing)["no-unlabeled"].severity == "serious"


def test_many_rates_move_further_by_chance_than_few():
    """Groups that know the confusion exactly move each rate by a standard deviation; some of 90 move by two."""
    rng, classes = np.random.default_rng(5), 10
    labeled = np.full((classes, classes), 2) + 80 * np.eye(classes, dtype=int)
    false = 0
    for _ in range(40):
        answer = made_answer({name: np.full(classes, 0.1) for name in "abc"}, classes=range(classes))
        data = Groups(labeled, {name: np.full(classes, 100) for name in "abc"}, range(classes))
        truth = np.stack([rng.dirichlet(row + 1) for row in labeled])
        model = LabelShift(Prior(confusion=1), groups=Pooled())
        draws = replace(answer.draws, confusion=np.broadcast_to(truth, answer.draws.confusion.shape))
        false += any(each.code == "labels-outweighed" for each in group_findings(data, model, draws))
    assert false <= 8


def test_an_end_that_another_seed_would_move_is_told_and_others_are_not() -> None:
    rng = np.random.default_rng(3)
    made = made_answer({"a": [0.9, 0.1], "b": [0.5, 0.5]}, strength=50)
    usual = rng.beta(20, 80, (4000, 2))
    heavy = np.where(rng.random((4000, 2)) < 0.05, rng.random((4000, 2)), usual)

    def found(share):
        shares = np.stack([1 - share, share], axis=2)
        return hierarchy._rough_ends(made.data, replace(made.draws, prevalence=shares))

    assert found(usual) is None
    told = found(np.stack([usual[:, 0], heavy[:, 1]], axis=1))
    assert told is not None
    assert (told.code, told.severity, told.numbers["group"]) == ("ends-rough", "info", "b")
