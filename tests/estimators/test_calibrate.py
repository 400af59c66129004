"""Calibration of scores, on labels whose best fit is known."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from truecount.errors import InputError
from truecount.estimators.calibrate import KINDS, calibrate, fit, rescale
from truecount.scores.scores import Scores

PROFILES = np.array([[0.7, 0.2, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [0.4, 0.4, 0.2]])


def truthful():
    """Ten items for each profile of scores, whose labels come exactly as often as the scores say."""
    scores = np.repeat(PROFILES, 10, axis=0)
    labels = np.concatenate([np.repeat(np.arange(3), np.rint(10 * row).astype(int)) for row in PROFILES])
    return scores, labels


def log_likelihood(scores, labels):
    return np.log(scores[np.arange(len(labels)), labels]).mean()


@pytest.mark.parametrize("with_bias", [False, True])
def test_truthful_scores_stay(with_bias):
    scores, labels = truthful()
    steepness, bias = fit(scores, labels, with_bias=with_bias)
    assert steepness == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(bias, 0, atol=1e-6)


@pytest.mark.parametrize("power", [0.3, 1.0, 4.0])
def test_a_known_temperature_is_undone(power):
    scores, labels = truthful()
    distorted = rescale(scores, power, np.zeros(3))
    steepness, bias = fit(distorted, labels, with_bias=False)
    assert steepness == pytest.approx(1 / power, rel=1e-6)
    np.testing.assert_allclose(rescale(distorted, steepness, bias), scores, atol=1e-6)


def test_a_known_bias_is_undone_only_by_the_second_kind():
    scores, labels = truthful()
    names = ["low", "middle", "high"]
    distorted = rescale(scores, 2.0, np.array([1.0, -0.5, 0.3]))
    data = Scores(distorted, [names[label] for label in labels], distorted[:5], classes=names)
    np.testing.assert_allclose(calibrate(data, "bias-corrected").labeled, scores, atol=1e-6)
    np.testing.assert_allclose(calibrate(data, "bias-corrected").unlabeled, scores[:5], atol=1e-6)
    assert np.abs(calibrate(data, "temperature").labeled - scores).max() > 0.05


def noisy(seed, classes=4, items=400):
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.ones(classes), items)
    labels = np.array([rng.choice(classes, p=row) for row in scores])
    return Scores(rescale(scores, 3.0, rng.normal(size=classes)), labels, rescale(scores[:50], 3.0, np.zeros(classes)))


@pytest.mark.parametrize("kind", KINDS)
def test_labels_become_more_probable(kind, seed):
    data = noisy(seed)
    calibrated = calibrate(data, kind)
    assert log_likelihood(calibrated.labeled, data.labels) > log_likelihood(data.labeled, data.labels)
    np.testing.assert_array_equal(calibrated.labels, data.labels)
    assert calibrated.unlabeled.shape == data.unlabeled.shape


def test_bias_correction_makes_the_average_score_the_labelled_share(seed):
    data = noisy(seed)
    shares = data.items / data.items.sum()
    np.testing.assert_allclose(calibrate(data, "bias-corrected").labeled.mean(axis=0), shares, atol=1e-6)
    assert np.abs(calibrate(data, "temperature").labeled.mean(axis=0) - shares).max() > 1e-3


def test_a_temperature_keeps_the_most_probable_class(seed):
    data = noisy(seed)
    calibrated = calibrate(data, "temperature")
    np.testing.assert_array_equal(calibrated.unlabeled.argmax(axis=1), data.unlabeled.argmax(axis=1))


def test_two_classes_are_logistic_regression(seed):
    """With two classes, bias correction is Platt's scaling of the log odds."""
    data = noisy(seed, classes=2)
    odds = np.log(data.labeled[:, 1] / data.labeled[:, 0])
    platt = LogisticRegression(C=np.inf, tol=1e-10).fit(odds[:, None], data.labels)
    steepness, bias = fit(data.labeled, data.labels, with_bias=True)
    assert steepness == pytest.approx(platt.coef_[0, 0], rel=1e-4)
    assert bias[1] - bias[0] == pytest.approx(platt.intercept_[0], abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_without_a_fault_stop_at_the_bound(kind):
    data = Scores([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [0, 0, 1], [[0.6, 0.4]])
    calibrated = calibrate(data, kind)
    assert np.isfinite(calibrated.unlabeled).all()
    np.testing.assert_allclose(calibrated.labeled, np.eye(2)[[0, 0, 1]], atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_without_labels(kind):
    data = Scores([[0.6, 0.2, 0.2], [0.3, 0.5, 0.2], [0.4, 0.3, 0.3]], [0, 1, 1], [[0.2, 0.2, 0.6]])
    calibrated = calibrate(data, kind)
    assert np.isfinite(calibrated.labeled).all()
    if kind == "bias-corrected":
        assert calibrated.labeled[:, 2].max() < 1e-6


def test_a_score_of_zero_for_the_true_class_does_not_decide_alone():
    scores, labels = np.repeat([[1.0, 0.0], [0.0, 1.0]], 50, axis=0), np.repeat([0, 1], 50)
    labels[0] = 1
    steepness, _ = fit(scores, labels, with_bias=False)
    np.testing.assert_allclose(rescale(scores, steepness, np.zeros(2))[0], [0.99, 0.01], atol=1e-5)


def test_names_of_any_kind_survive():
    data = Scores([[0.9, 0.1], [0.4, 0.6], [0.7, 0.3]], [True, False, True], [[0.5, 0.5]], classes=[True, False])
    assert calibrate(data, "temperature").classes == (True, False)


def test_unknown_kind():
    with pytest.raises(InputError, match="calibration is 'platt'"):
        calibrate(noisy(0), "platt")
