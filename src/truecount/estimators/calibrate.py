"""Calibrating scores: make them mean what they say, on the labelled items, before a method takes them at their word."""

from typing import Literal, TypeAlias

import numpy as np

from truecount import _check
from truecount._types import FloatArray, IntArray
from truecount.scores.scores import Scores

Calibration: TypeAlias = Literal["temperature", "bias-corrected"]
KINDS: tuple[Calibration, ...] = ("temperature", "bias-corrected")
SMALLEST = 1e-12
"""Scores below are read as this: a score of zero for the true class would outweigh all other items."""
_STEEPEST = 100.0
_LARGEST_BIAS = 20.0


def calibrate(scores: Scores, kind: Calibration) -> Scores:
    """Fit a calibration to the labelled scores and apply it to labelled and unlabelled ones.

    Parameters
    ----------
    scores
        As the classifier gave them.
    kind
        ``"temperature"`` (one number) or ``"bias-corrected"`` (one number, and one for each class).

    Returns
    -------
    The same items with calibrated scores.

    Notes
    -----
    After ``"bias-corrected"`` the labelled scores average to the labelled share of each class, which the maximum
    likelihood estimate under label shift relies on; after ``"temperature"`` they need not. Not for a handful of labels:
    the numbers are fitted to them. Alexandari, Kundaje & Shrikumar, ICML 2020; Garg, Wu, Balakrishnan & Lipton,
    NeurIPS 2020.

    Examples
    --------
    >>> sharp = np.repeat([[0.99, 0.01], [0.01, 0.99]], 10, axis=0)
    >>> labels = [0] * 8 + [1] * 2 + [0] * 1 + [1] * 9
    >>> calibrate(Scores(sharp, labels, [[0.99, 0.01]]), "temperature").unlabeled.round(3)
    array([[0.85, 0.15]])
    """
    _check.one_of("calibration", kind, KINDS)
    steepness, bias = fit(scores.labeled, scores.labels, with_bias=kind == "bias-corrected")
    return Scores(
        rescale(scores.labeled, steepness, bias),
        np.array(scores.classes, dtype=object)[scores.labels],
        rescale(scores.unlabeled, steepness, bias),
        scores.classes,
    )


def fit(labeled: FloatArray, labels: IntArray, *, with_bias: bool) -> tuple[float, FloatArray]:
    """Find the inverse temperature and the biases under which the labels are most probable.

    Maximise ``Σ_i log softmax(s log x_i + b)[y_i]`` over ``s`` and, `with_bias`, ``b``: a concave function.

    Parameters
    ----------
    labeled
        Shape (labelled items, classes): scores, each row summing to one.
    labels
        Shape (labelled items,): the class of each, as a position.
    with_bias
        Whether to fit a bias for each class; they are zero otherwise.

    Returns
    -------
    The inverse temperature, from 0 (nothing is learned from the scores) to 100, and the biases, shape (classes,),
    from −20 to 20: labels that the scores tell apart without a fault have no best temperature, and a class without
    labels no best bias, so both stop there.
    """
    from scipy.optimize import minimize

    logs = np.log(np.maximum(labeled, SMALLEST))
    classes = labeled.shape[1]
    free = classes if with_bias else 0
    bounds = [(0.0, _STEEPEST)] + [(-_LARGEST_BIAS, _LARGEST_BIAS)] * free
    start = np.append(1.0, np.zeros(free))
    options = {"ftol": 1e-15, "gtol": 1e-9, "maxiter": 1000}
    found = minimize(_loss, start, (logs, labels), "L-BFGS-B", jac=True, bounds=bounds, options=options).x
    return float(found[0]), _biases(found, classes)


def rescale(scores: FloatArray, steepness: float, bias: FloatArray) -> FloatArray:
    """Return ``softmax(steepness · log scores + bias)``, row by row.

    >>> rescale(np.array([[0.8, 0.2]]), 0.5, np.zeros(2)).round(3)
    array([[0.667, 0.333]])
    """
    from scipy.special import softmax

    shares: FloatArray = softmax(steepness * np.log(np.maximum(scores, SMALLEST)) + bias, axis=1)
    return shares


def _biases(parameters: FloatArray, classes: int) -> FloatArray:
    bias = parameters[1:]
    return bias - bias.mean() if bias.size else np.zeros(classes)


def _loss(parameters: FloatArray, logs: FloatArray, labels: IntArray) -> tuple[float, FloatArray]:
    """Return the mean negative log-likelihood of the labels, and its gradient."""
    from scipy.special import log_softmax

    items = np.arange(len(labels))
    predicted = log_softmax(parameters[0] * logs + (parameters[1:] if len(parameters) > 1 else 0.0), axis=1)
    excess = np.exp(predicted)
    excess[items, labels] -= 1
    gradient = np.append((excess * logs).sum(), excess.sum(axis=0) if len(parameters) > 1 else []) / len(labels)
    return -float(predicted[items, labels].mean()), gradient
