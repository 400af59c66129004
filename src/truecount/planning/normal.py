"""Widths by Fisher information: fast and smooth, right for many items; what is simulated corrects them."""

import numpy as np

from truecount._types import BoolArray, FloatArray
from truecount.counts import Counts
from truecount.models import ByPrediction, LabelShift, SamePopulation
from truecount.models.information import expected_covariance
from truecount.models.priors import LEARNED
from truecount.planning.scenario import Scenario, Sizes

LEAST = 1e-9
"""Items where there are none, so that nothing is divided by zero."""


def standard_deviations(scenario: Scenario, sizes: Sizes) -> FloatArray:
    """Return what the posterior's standard deviation of each class will be, shape (truths, classes)."""
    if isinstance(scenario.model, LabelShift):
        return _under_label_shift(scenario, sizes)
    return _given_output(scenario, sizes)


def _under_label_shift(scenario: Scenario, sizes: Sizes) -> FloatArray:
    """Read the rates off the rows that labels and prior make of them: no error in 20 labels is not no error at all."""
    rows, known, prevalence = prior_of(scenario)
    labels = np.where(known, np.inf, scenario.counted_labels + sizes.labels)
    weight = np.where(known, 0.0, rows.sum(axis=1) / (labels + rows.sum(axis=1)))[:, None]
    confusion = (1 - weight) * scenario.confusion + weight * rows / rows.sum(axis=1, keepdims=True)
    covariance = expected_covariance(
        np.maximum(confusion, LEAST),
        scenario.prevalence,
        labeled=labels + rows.sum(axis=1),
        unlabeled=max(scenario.counted_items + sizes.items, LEAST),
        prior=prevalence,
    )
    return np.sqrt(np.maximum(np.diagonal(covariance, axis1=-2, axis2=-1), 0.0))


def prior_of(scenario: Scenario) -> tuple[FloatArray, BoolArray, FloatArray]:
    """Return the concentration of the rows, which rows are known, and the concentration of the shares.

    Rows whose prior is learned count as sparse ones: what simulation corrects is little then.
    """
    shape = scenario.labeled.shape
    if not isinstance(scenario.model, LabelShift):
        return np.ones(shape), np.zeros(shape[0], bool), np.ones(shape[0])
    none = np.zeros(shape, int)
    blank = Counts(none, none[0], scenario.classes, scenario.outputs)
    prior = scenario.model.prior.resolved(blank)
    is_learned = prior.confusion == LEARNED
    rows = np.full(shape, 1 / shape[1]) if is_learned else prior.confusion_for(blank)
    return rows, ~np.isnan(prior.known_for(blank)[:, 0]), prior.prevalence_for(blank)


def _given_output(scenario: Scenario, sizes: Sizes) -> FloatArray:
    """Return ``√(Σ_k q_k² ρ(1−ρ)/m_k + Var_q(ρ)/N′)``: labels tell the classes of each output, items the outputs."""
    outputs, given = scenario.output_shares, scenario.given_output
    labels = labels_by_output(scenario, sizes)
    items = scenario.counted_items + sizes.items
    if isinstance(scenario.model, SamePopulation):
        items += float(scenario.counted_labels.sum() + sizes.labels.sum())
    within = (outputs**2 / (labels + 1))[:, None, :] * given * (1 - given)
    mean = np.einsum("sk,slk->sl", outputs, given)
    between = np.einsum("sk,slk->sl", outputs, given**2) - mean**2
    total: FloatArray = np.sqrt(np.maximum(within.sum(axis=2) + between / max(items, LEAST), 0.0))
    return total


def labels_by_output(scenario: Scenario, sizes: Sizes) -> FloatArray:
    """Return how many labels each output will have, shape (truths, outputs)."""
    counted = scenario.labeled.sum(axis=0)
    if isinstance(scenario.model, ByPrediction):
        return np.broadcast_to(counted + sizes.labels, scenario.output_shares.shape)
    labels: FloatArray = counted + scenario.output_shares * sizes.labels.sum()
    return labels


def large_sample_deviations(scenario: Scenario, sizes: Sizes) -> FloatArray:
    """Return standard deviations of the estimate by its Fisher information alone, without a prior: for many items."""
    if not isinstance(scenario.model, LabelShift):
        return _given_output(scenario, sizes)
    labels = np.maximum(scenario.counted_labels + sizes.labels, LEAST)
    scatter = _scatter(scenario.output_shares) / max(scenario.counted_items + sizes.items, LEAST)
    scatter = scatter + np.einsum("sl,slij->sij", scenario.prevalence**2 / labels, _scatter(scenario.confusion))
    return _solved_deviations(scenario.confusion, scatter)


def difference_deviations(
    first: Scenario, second: Scenario, labels: FloatArray, items: tuple[float, float]
) -> FloatArray:
    """Return the standard deviation of the difference of two groups' shares, shape (truths, classes).

    Both are sorted by the same classifier, so that its rates matter for the difference of the shares alone:
    ``V = Σ(q_A)/N_A + Σ(q_B)/N_B + Σ_l (π_A − π_B)_l² Σ(φ_l)/n_l``.
    """
    rows, known, _ = prior_of(first)
    totals = np.where(known, np.inf, first.counted_labels + labels + rows.sum(axis=1))
    gap = first.prevalence - second.prevalence
    scatter = _scatter(first.output_shares) / max(first.counted_items + items[0], LEAST)
    scatter = scatter + _scatter(second.output_shares) / max(second.counted_items + items[1], LEAST)
    scatter = scatter + np.einsum("sl,slij->sij", gap**2 / totals, _scatter(first.confusion))
    return _solved_deviations(first.confusion, scatter)


def _solved_deviations(confusion: FloatArray, scatter: FloatArray) -> FloatArray:
    """Return standard deviations of shares, from the covariance of the outputs that they are solved from."""
    size = confusion.shape[1]
    precision = np.linalg.pinv(scatter, rcond=1e-12, hermitian=True)
    tangent = np.linalg.qr(np.eye(size) - 1 / size)[0][:, : size - 1]
    slopes = tangent.T @ confusion
    inside = slopes @ precision @ slopes.swapaxes(1, 2)
    covariance: FloatArray = tangent @ np.linalg.inv(inside + 1e-6 * np.eye(size - 1)) @ tangent.T
    return np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))


def _scatter(shares: FloatArray) -> FloatArray:
    scatter: FloatArray = shares[..., None] * (np.eye(shares.shape[-1]) - shares[..., None, :])
    return scatter


def ends(centre: FloatArray, deviation: FloatArray, level: float) -> FloatArray:
    """Return the equal-tailed interval of a normal distribution between 0 and 1; shape (..., 2)."""
    from scipy.special import ndtr, ndtri

    spread = np.maximum(deviation, 1e-12)
    low, high = ndtr(-centre / spread), ndtr((1 - centre) / spread)
    places = [low + part * (high - low) for part in ((1 - level) / 2, (1 + level) / 2)]
    both = np.stack([centre + spread * ndtri(np.clip(place, 1e-300, 1 - 1e-16)) for place in places], axis=-1)
    clipped: FloatArray = np.clip(both, 0.0, 1.0)
    return clipped


def widths(scenario: Scenario, sizes: Sizes, level: float) -> FloatArray:
    """Return the width of each class's interval at every truth, shape (truths, classes)."""
    between = ends(scenario.prevalence, standard_deviations(scenario, sizes), level)
    found: FloatArray = between[..., 1] - between[..., 0]
    return found


def large_sample_widths(scenario: Scenario, sizes: Sizes, level: float) -> FloatArray:
    """Return the same for many items."""
    return width_of(large_sample_deviations(scenario, sizes), level)


def width_of(deviation: FloatArray, level: float) -> FloatArray:
    """Return the width of a normal distribution's interval: twice the quantile times the standard deviation."""
    from scipy.special import ndtri

    found: FloatArray = 2 * ndtri((1 + level) / 2) * deviation
    return found
