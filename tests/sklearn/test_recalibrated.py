"""The corrected classifier as a guest of scikit-learn."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from made_items import made_items, probabilities
from truecount import Auto, recalibrate
from truecount.errors import CalibrationWarning, InputError
from truecount.sklearn import Bins, Recalibrated

QUICK = Auto(400)
SHIFTED = [1800, 200]
RARE, EVEN = [1800, 200], [2000, 2000]
BALANCED = LogisticRegression(class_weight="balanced")


@pytest.fixture
def training() -> tuple[np.ndarray, np.ndarray]:
    return made_items(np.random.default_rng(0), [300, 700])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:A column-vector y was passed")
@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("calibration", [None, "temperature"])
def test_it_passes_scikit_learns_own_checks(calibration) -> None:
    checks = check_estimator(Recalibrated(GaussianNB(), calibration=calibration, engine=Auto(100)))
    needs_a_library = {"check_array_api_input", "check_classifier_data_not_an_array"}
    assert {each["check_name"] for each in checks if each["status"] != "passed"} <= needs_a_library
    assert {each["status"] for each in checks} <= {"passed", "skipped"}


class Counted(GaussianNB):
    """Knows how often any of its kind was fitted."""

    fits = 0

    def fit(self, *data):
        Counted.fits += 1
        return super().fit(*data)


@pytest.mark.parametrize("calibration", [None, "temperature"])
def test_the_classifier_is_fitted_once_and_once_for_each_fold(calibration, training, monkeypatch) -> None:
    monkeypatch.setattr(Counted, "fits", 0)
    Recalibrated(Counted(), calibration=calibration).fit(*training)
    assert Counted.fits == 1 + 5


def test_corrected_probabilities_approach_those_of_bayes_rule(training, seed: int) -> None:
    items, labels = made_items(np.random.default_rng(seed), SHIFTED)
    classifier = Recalibrated(LinearDiscriminantAnalysis(), engine=QUICK).fit(*training)
    before = classifier.predict_proba(items)
    after = classifier.adapt(items).predict_proba(items)
    truth = probabilities(items, [0.9, 0.1])
    assert np.abs(after - truth).mean() < np.abs(before - truth).mean() / 4
    assert log_loss(labels, after) < log_loss(labels, before) - 0.1


def test_the_wrong_way_round_would_show(training, seed: int) -> None:
    """Planted: π/π′ in place of π′/π."""
    items, labels = made_items(np.random.default_rng(seed), SHIFTED)
    classifier = Recalibrated(LinearDiscriminantAnalysis(), engine=QUICK).fit(*training).adapt(items)
    corrected = classifier.recalibrate(items)
    wrong = corrected.scores / corrected.ratios.mean(axis=0)
    assert log_loss(labels, wrong / wrong.sum(axis=1, keepdims=True)) > log_loss(labels, corrected.scores)


def test_intervals_hold_the_truth_for_scores_without_fault(training) -> None:
    """P(class | item) by Bayes's rule at the labelled shares, corrected: at the new shares it lies inside, mostly."""
    held = []
    classifier = LinearDiscriminantAnalysis(priors=[0.3, 0.7]).fit(*made_items(np.random.default_rng(1), [3000, 7000]))
    for number in range(40):
        rng = np.random.default_rng([5, number])
        items, _ = made_items(rng, list(rng.multinomial(500, [0.9, 0.1])))
        fitted = Recalibrated(classifier, cv="prefit", trained_on=[0.3, 0.7], engine=QUICK, seed=number)
        posterior = fitted.fit(*made_items(rng, [150, 350])).adapt(items).posterior_
        middle = probabilities(np.zeros((1, 2)), [0.3, 0.7])
        ends = recalibrate(middle, posterior, trained_on=[0.3, 0.7]).interval(0.9)[0, 0]
        held.append(ends[0] <= probabilities(np.zeros((1, 2)), [0.9, 0.1])[0, 0] <= ends[1])
    assert sum(held) >= 29


def test_before_it_is_adapted_it_is_the_classifier_itself(training) -> None:
    classifier = Recalibrated(GaussianNB(), engine=QUICK).fit(*training)
    plain = GaussianNB().fit(*training)
    np.testing.assert_allclose(classifier.predict_proba(training[0]), plain.predict_proba(training[0]))
    np.testing.assert_array_equal(classifier.predict(training[0]), plain.predict(training[0]))


def test_a_new_fit_forgets_the_population(training) -> None:
    items, _ = made_items(np.random.default_rng(2), SHIFTED)
    classifier = Recalibrated(GaussianNB(), engine=QUICK).fit(*training)
    first = classifier.predict_proba(items)
    again = classifier.adapt(items).fit(*training).predict_proba(items)
    np.testing.assert_array_equal(first, again)


def test_probabilities_do_not_depend_on_which_items_are_asked_about_together(training) -> None:
    items, _ = made_items(np.random.default_rng(2), SHIFTED)
    classifier = Recalibrated(GaussianNB(), engine=QUICK).fit(*training).adapt(items)
    np.testing.assert_allclose(classifier.predict_proba(items)[:7], classifier.predict_proba(items[:7]), rtol=1e-12)


def test_the_prevalence_that_a_fitted_classifier_was_trained_on_matters(training) -> None:
    items, labels = made_items(np.random.default_rng(3), SHIFTED)
    fitted = LinearDiscriminantAnalysis().fit(*training)
    audit = made_items(np.random.default_rng(4), [400, 100])
    told = Recalibrated(fitted, cv="prefit", trained_on=[0.3, 0.7], engine=QUICK).fit(*audit).adapt(items)
    with pytest.warns(CalibrationWarning):
        untold = Recalibrated(fitted, cv="prefit", engine=QUICK).fit(*audit).adapt(items)
    assert log_loss(labels, told.predict_proba(items)) < log_loss(labels, untold.predict_proba(items)) - 0.05


def test_scores_that_are_too_sure_are_calibrated_first(training, seed: int) -> None:
    """Features that come three times over make naive Bayes three times too sure."""
    items, labels = made_items(np.random.default_rng(seed), SHIFTED)
    copies, new = np.hstack([training[0]] * 3), np.hstack([items] * 3)
    losses = {}
    for calibration in (None, "temperature", "bias-corrected"):
        classifier = Recalibrated(GaussianNB(), calibration=calibration, engine=QUICK).fit(copies, training[1])
        losses[calibration] = log_loss(labels, classifier.adapt(new).predict_proba(new))
    assert max(losses["temperature"], losses["bias-corrected"]) < losses[None] - 0.05


def test_decisions_by_cost(training) -> None:
    items, _ = made_items(np.random.default_rng(3), SHIFTED)
    corrected = Recalibrated(GaussianNB(), engine=QUICK).fit(*training).adapt(items).recalibrate(items)
    dear = corrected.decide([[0, 1], [50, 0]])
    assert (dear == 1).sum() > (corrected.decide() == 1).sum()


def test_it_clones_pickles_and_sits_in_a_pipeline(training) -> None:
    items, _ = made_items(np.random.default_rng(2), SHIFTED)
    classifier = Recalibrated(GaussianNB(), Bins(4), trained_on=[0.3, 0.7], engine=QUICK).fit(*training).adapt(items)
    twin = pickle.loads(pickle.dumps(classifier))  # noqa: S301
    np.testing.assert_array_equal(twin.predict_proba(items), classifier.predict_proba(items))
    assert clone(classifier).get_params()["trained_on"] == [0.3, 0.7]
    line = make_pipeline(StandardScaler(), Recalibrated(GaussianNB(), engine=QUICK)).fit(*training)
    line[-1].adapt(line[:-1].transform(items))
    assert (line.predict(items) == 0).mean() > 0.8


def test_corrected_probabilities_need_a_population(training) -> None:
    with pytest.raises(NotFittedError, match="adapt"):
        Recalibrated(GaussianNB(), engine=QUICK).fit(*training).recalibrate(training[0])


def test_an_unknown_calibration_is_refused(training) -> None:
    with pytest.raises(InputError, match="calibration"):
        Recalibrated(GaussianNB(), calibration="isotonic").fit(*training)


def standard_errors_off(classifier: Recalibrated, items: np.ndarray) -> float:
    """How far the average probability is from the share that the items were made with."""
    found = classifier.predict_proba(items)[:, 1]
    return abs(found.mean() - 0.5) / np.hypot(classifier.posterior_.sd[1], found.std() / np.sqrt(len(items)))


def even_odds_classifier(rng: np.random.Generator) -> LogisticRegression:
    return LogisticRegression().fit(*made_items(rng, [1000, 1000]))


@pytest.mark.parametrize("calibration", [None, "temperature"])
@pytest.mark.parametrize("kind", ["balanced", "prefit"])
def test_scores_of_another_prevalence_are_noticed(kind, calibration, seed: int) -> None:
    rng = np.random.default_rng(seed)
    estimator, cv = (BALANCED, 5) if kind == "balanced" else (even_odds_classifier(rng), "prefit")
    classifier = Recalibrated(estimator, cv=cv, calibration=calibration, engine=QUICK).fit(*made_items(rng, RARE))
    items, _ = made_items(rng, EVEN)
    with pytest.warns(CalibrationWarning, match="bias-corrected") as caught:
        classifier.adapt(items)
    (finding,) = classifier.findings_
    assert [each.filename for each in caught] == [__file__]
    assert (finding.code, finding.severity) == ("scores-off-average", "serious")
    assert standard_errors_off(classifier, items) > 5
    assert not hasattr(classifier.fit(*made_items(rng, RARE)), "findings_")


@pytest.mark.parametrize(
    "options",
    [
        {"estimator": LogisticRegression()},
        {"estimator": BALANCED, "calibration": "bias-corrected"},
        {"estimator": BALANCED, "trained_on": [0.5, 0.5]},
        {"cv": "prefit", "calibration": "bias-corrected"},
        {"cv": "prefit", "trained_on": [0.5, 0.5]},
    ],
)
def test_scores_of_the_prevalence_that_they_are_taken_for_are_right_and_quiet(options, seed: int) -> None:
    """Warnings are errors here. Planted: Bayes's rule with even odds divided by the rare class's share."""
    rng = np.random.default_rng(seed)
    options = {"estimator": even_odds_classifier(rng), **options}
    classifier = Recalibrated(engine=QUICK, **options).fit(*made_items(rng, RARE))
    items, labels = made_items(rng, EVEN)
    assert classifier.adapt(items).findings_ == ()
    assert standard_errors_off(classifier, items) < 5
    right, planted = (log_loss(labels, probabilities(items, shares)) for shares in ([0.5, 0.5], [0.1, 0.9]))
    assert log_loss(labels, classifier.predict_proba(items)) < (right + planted) / 2


def test_biases_leave_no_prevalence_to_be_told(training) -> None:
    with pytest.raises(InputError, match=r"trained_on is given: .*bias-corrected.* Leave one of the two out") as caught:
        Recalibrated(GaussianNB(), calibration="bias-corrected", trained_on=[0.5, 0.5]).fit(*training)
    assert caught.value.argument == "trained_on"
