"""What each model knows of itself."""

import json
from html import unescape

import pytest

import truecount as tc
from command import run
from truecount.api.bayesian import chosen_model
from truecount.cli.options import DESIGNS
from truecount.errors import InputError
from truecount.models.register import KINDS, MODELS

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


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_goes_all_the_way(kind, tmp_path):
    """A draw, a saved file, the page, and the command, which must not take one design for another."""
    posterior = tc.infer(COUNTS, kind(), seed=1)
    posterior.save(tmp_path / "answer.npz")
    assert tc.Posterior.load(tmp_path / "answer.npz").model == posterior.model
    assert type(posterior.model) is kind
    tc.report(posterior, tmp_path / "answer.html")
    page = unescape((tmp_path / "answer.html").read_text(encoding="utf-8"))
    assert all(assumption.claim in page for assumption in kind.assumptions)
    (tmp_path / "counts.json").write_text(COUNTS.to_json(), encoding="utf-8")
    options = ["--design", kind.option(), "--seed", "1", "--json", "-"]
    answer = json.loads(run("estimate", "counts.json", *options, folder=tmp_path).stdout)
    assert answer["model"]["name"] == kind.name


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


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: tc.Walk(noise=0.3), "noise is 0.3"),
        (lambda: tc.Pooled(covariates=5), "covariates is 5"),
        (lambda: tc.Pooled(covariates=[[1], [1, 2]]), "covariates is"),
    ],
)
def test_variations_of_groups_refuse_what_they_cannot_read(made, words):
    with pytest.raises(InputError, match=words):
        made()


def test_covariates_of_pandas_are_read_by_the_names_of_groups():
    pandas = pytest.importorskip("pandas")
    by_name = {"age": {"c": 3, "b": 2, "a": 1}}
    for given in ({"age": pandas.Series(by_name["age"])}, pandas.DataFrame(by_name)):
        assert tc.Pooled(covariates=given) == tc.Pooled(covariates=by_name)
