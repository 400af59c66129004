"""What each model knows of itself."""

import json

import pytest

import truecount as tc
from truecount.cli.options import DESIGNS
from truecount.errors import InputError
from truecount.models.register import KINDS, MODELS, chosen_model

COUNTS = tc.Counts([[8, 2], [1, 9]], [30, 20], classes=["fail", "pass"])


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_says_what_it_assumes_and_has_a_name(kind):
    assert MODELS[kind.name] is DESIGNS[kind.option()] is kind
    assert kind.carries_over in ("P(output | class)", "P(class | output)")
    for claim, meaning in kind.assumptions:
        assert claim.endswith(".")
        assert claim.count(". ") == 0
        assert meaning.endswith(".")
    assert json.loads(json.dumps(kind().to_dict()))["name"] == kind.name


def test_a_prior_stands_for_label_shift():
    prior = tc.Prior(2)
    assert chosen_model(tc.LabelShift(), prior) == tc.LabelShift(prior) == chosen_model(tc.LabelShift(prior), None)
    one, other = tc.infer(COUNTS, prior=prior, seed=1), tc.infer(COUNTS, tc.LabelShift(prior), seed=1)
    assert (one.prevalence == other.prevalence).all()
    assert one.model == other.model
    assert one.prior == prior.resolved(COUNTS) == tc.Prior(2, 1.0)


def test_a_prior_is_there_only_where_the_model_has_one():
    posterior = tc.infer(COUNTS, tc.ByPrediction())
    assert posterior.to_dict()["model"] == {"name": "by_prediction", "given_output": None}
    assert set(posterior.to_dict()["prior"].values()) == {None}
    with pytest.raises(InputError, match="only label shift has a prior of prevalence and confusion"):
        _ = posterior.prior


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: tc.LabelShift("sparse"), r"prior is of type str: .*Pass Prior\(confusion='sparse'\)"),
        (lambda: tc.ByPrediction(-1), "given_output holds -1"),
        (lambda: tc.SamePopulation({"fail": 1}).closed_form(COUNTS), "given_output does not name 'pass'"),
        (lambda: tc.SamePopulation([[1, 2]]).closed_form(COUNTS), "given_output has shape"),
    ],
)
def test_a_model_refuses_what_it_cannot_use(made, words):
    with pytest.raises(InputError, match=words):
        made()
