"""A guest of QuaPy: its protocols, its model selection and its regions of confidence, and its outputs as input."""

import re
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

import truecount as tc
from as_printed import run_page
from truecount.errors import InputError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    quapy = pytest.importorskip("quapy")
    pytest.importorskip("quapy.data")
    from quapy.data import LabelledCollection
    from quapy.method.aggregative import ACC, CC, PACC
    from quapy.method.confidence import AggregativeBootstrap, ConfidenceRegionABC
    from quapy.method.non_aggregative import MaximumLikelihoodPrevalenceEstimation
    from quapy.model_selection import GridSearchQ
    from quapy.protocol import APP, UPP

    from truecount.quapy import Quantifier, data_of

LEVEL = 0.9


@pytest.fixture(autouse=True)
def usual_settings() -> Iterator[None]:
    """Set QuaPy's global settings, and put back what was there."""
    before = dict(quapy.environ)
    quapy.environ["SAMPLE_SIZE"] = 100
    yield
    quapy.environ.update(before)


@pytest.fixture(scope="module")
def halves() -> tuple[LabelledCollection, LabelledCollection]:
    """Three classes that a classifier confuses, to train on and to sample from."""
    items, y = make_classification(6000, n_features=8, n_informative=4, n_classes=3, class_sep=0.7, random_state=3)
    return LabelledCollection(items[:1500], y[:1500]), LabelledCollection(items[1500:], y[1500:])


@pytest.fixture(scope="module")
def fitted(halves: tuple[LabelledCollection, LabelledCollection]) -> Quantifier:
    return Quantifier(LogisticRegression()).fit(*halves[0].Xy)


def test_counts_are_those_made_by_hand(halves: tuple, fitted: Quantifier) -> None:
    train, test = halves
    predictions, labels = Quantifier(LogisticRegression()).classifier_fit_predict(*train.Xy)
    counts = tc.count(labels, predictions, fitted.classify(test.X))
    posterior = fitted.posterior(test.X)
    np.testing.assert_array_equal(posterior.counts.labeled, counts.labeled)
    np.testing.assert_array_equal(posterior.counts.unlabeled, counts.unlabeled)
    by_hand = tc.infer(counts, seed=0).shares("realized").mean(axis=0)
    np.testing.assert_allclose(fitted.predict(test.X), by_hand)


def test_it_wins_over_plain_counting_under_the_protocol_of_quapy(halves: tuple, fitted: Quantifier) -> None:
    """Both see the same predictions of the same samples; errors are QuaPy's own."""
    protocol = APP(halves[1], sample_size=100, n_prevalences=6, repeats=1, random_state=0)
    plain = CC(LogisticRegression()).fit(*halves[0].Xy)
    true, ours = quapy.evaluation.prediction(fitted, protocol)
    _, counted = quapy.evaluation.prediction(plain, protocol)
    gain = quapy.error.ae(true, counted) - quapy.error.ae(true, ours)
    assert gain.mean() > 2 * gain.std() / np.sqrt(len(gain))
    np.testing.assert_allclose(ours.sum(axis=1), 1)


def test_predictions_made_once_are_those_made_for_every_sample(halves: tuple, fitted: Quantifier) -> None:
    """QuaPy classifies a collection once, and hands parts of the predictions to `aggregate`."""
    protocol = UPP(halves[1], sample_size=50, repeats=4, random_state=1)
    quick, slow = (quapy.evaluation.prediction(fitted, protocol, aggr_speedup=choice)[1] for choice in ("force", False))
    np.testing.assert_allclose(quick, slow)


def test_regions_hold_the_truth_at_their_level(halves: tuple, fitted: Quantifier) -> None:
    """Intervals of one class each, in samples whose shares are drawn from the prior; a narrow one fails."""
    protocol = UPP(halves[1], sample_size=200, repeats=80, random_state=2)
    held, narrow = [], []
    for sample, shares in protocol():
        point, region = fitted.predict_conf(sample, confidence_level=LEVEL)
        assert isinstance(region, ConfidenceRegionABC)
        np.testing.assert_allclose(point, region.point_estimate(), atol=0.05)
        lower, upper = region.I_low, region.I_high
        held.append(lower[0] <= shares[0] <= upper[0])
        narrow.append(abs(shares[0] - point[0]) <= (upper[0] - lower[0]) / 8)
    fewest, most = binom.ppf([5e-4, 1 - 5e-4], len(held), LEVEL)
    assert fewest <= sum(held) <= most
    assert sum(narrow) < fewest


@pytest.mark.parametrize("region", ["intervals", "ellipse", "ellipse-clr", "ellipse-ilr"])
def test_every_region_of_quapy_is_made_of_the_draws(halves: tuple, fitted: Quantifier, region: str) -> None:
    model = fitted.set_params(region=region)
    point, found = model.predict_conf(halves[1].X[:300], confidence_level=LEVEL)
    fitted.set_params(region="intervals")
    assert found.ndim() == 3
    assert point in found
    assert 0 < found.simplex_portion() < 1
    assert len(found.samples) >= 4000


def test_models_are_selected_by_quapy(halves: tuple) -> None:
    """Both settings of the classifier and of truecount; the best one is used from then on."""
    train, _ = halves
    fit, validation = train.split_stratified(0.6, random_state=0)
    grid = {"classifier__C": [1e-4, 1.0], "prior": [None, tc.Prior(prevalence=50.0)]}
    protocol = UPP(validation, sample_size=100, repeats=10, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=RuntimeWarning)
        search = GridSearchQ(Quantifier(LogisticRegression()), grid, protocol, error="mae", refit=False, n_jobs=1)
        search.fit(*fit.Xy)
    assert set(search.best_params_) == set(grid)
    assert search.best_params_["classifier__C"] == 1.0
    assert search.best_params_["prior"] is None
    assert len(search.param_scores_) == 4


def test_quapy_bootstraps_it(halves: tuple) -> None:
    model = AggregativeBootstrap(Quantifier(LogisticRegression()), n_train_samples=1, n_test_samples=8, random_state=0)
    model.fit(*halves[0].Xy)
    point, region = model.predict_conf(halves[1].X[:200])
    assert point in region


def test_crisp_outputs_of_a_quantifier_are_counted(halves: tuple) -> None:
    train, test = halves
    fit, validation = train.split_stratified(0.5, random_state=0)
    model = ACC(LogisticRegression()).fit(*fit.Xy)
    counts = data_of(model, validation, test.X)
    by_hand = tc.count(validation.y, model.classifier.predict(validation.X), model.classifier.predict(test.X))
    np.testing.assert_array_equal(counts.labeled, by_hand.labeled)
    np.testing.assert_array_equal(counts.unlabeled, by_hand.unlabeled)


def test_probabilities_of_a_quantifier_are_scores(halves: tuple) -> None:
    train, test = halves
    fit, validation = train.split_stratified(0.5, random_state=0)
    model = PACC(LogisticRegression()).fit(*fit.Xy)
    scores = data_of(model, validation, test.X[:400])
    np.testing.assert_allclose(scores.labeled, model.classifier.predict_proba(validation.X))
    np.testing.assert_allclose(scores.unlabeled, model.classifier.predict_proba(test.X[:400]))
    assert tc.infer(scores, seed=1).has_answer


def test_what_has_no_classifier_is_refused(halves: tuple) -> None:
    model = MaximumLikelihoodPrevalenceEstimation().fit(*halves[0].Xy)
    with pytest.raises(InputError, match="an aggregative quantifier has a classifier"):
        data_of(model, halves[0], halves[1].X)


def test_predictions_of_fitted_items_are_refused(halves: tuple) -> None:
    with pytest.raises(InputError, match="val_split is None"):
        Quantifier(LogisticRegression(), val_split=None).fit(*halves[0].Xy)


def test_an_unknown_region_is_refused(halves: tuple) -> None:
    with pytest.raises(InputError, match="region"):
        Quantifier(LogisticRegression(), region="ball").fit(*halves[0].Xy)


@pytest.mark.slow
def test_the_tutorial_prints_what_it_shows(capsys: pytest.CaptureFixture[str]) -> None:
    run_page("quapy", capsys)


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[1] / "docs" / "guides" / "quapy.md").read_text(encoding="utf-8")
    names: dict = {}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(compile(block, "quapy.md", "exec"), names)  # noqa: S102
    assert names["point"] in names["region"]
    assert isinstance(names["scores"], tc.Scores)
    assert "posterior" in capsys.readouterr().out
