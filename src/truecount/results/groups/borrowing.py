"""What a group says on its own, and how much it borrows from the others."""

import numpy as np

from truecount._types import FloatArray
from truecount.counts.groups import Groups
from truecount.counts.weights import effective_groups, effective_random_samples
from truecount.inference.group_draws import GroupDraws
from truecount.models import LabelShift, Pooled, Walk
from truecount.models.groups import random_labels
from truecount.models.hierarchy.log_ratios import log_ratio_basis

MOST_STEPS = 5000
CLOSE = 1e-9
DIFFUSE = 100.0
"""Variance of the level of a walk, which the data determine."""


def own_shares(items: FloatArray, confusion: FloatArray) -> FloatArray:
    """Return the maximum likelihood shares of each group by its own items, given the confusion.

    For two classes this is the adjusted count of Rogan and Gladen, kept between 0 and 1.

    Parameters
    ----------
    items
        Shape (groups, outputs).
    confusion
        Shape (classes, outputs), or (groups, classes, outputs).

    Returns
    -------
    Shape (groups, classes); NaN for a group without items.

    Examples
    --------
    >>> own_shares(np.array([[50, 50], [10, 90]]), np.array([[0.9, 0.1], [0.2, 0.8]])).round(4)
    array([[0.4286, 0.5714],
           [0.    , 1.    ]])
    """
    rows = np.broadcast_to(confusion, (len(items), *confusion.shape[-2:]))
    sizes = items.sum(axis=1, keepdims=True)
    shares = np.full(rows.shape[:2], 1 / rows.shape[1])
    observed = np.divide(items, sizes, out=np.zeros(items.shape), where=sizes > 0)
    for _ in range(MOST_STEPS):
        outputs = np.einsum("gl,glk->gk", shares, rows)
        ratio = np.divide(observed, outputs, out=np.zeros(items.shape), where=outputs > 0)
        moved = shares * np.einsum("glk,gk->gl", rows, ratio)
        change = np.abs(moved - shares)[sizes[:, 0] > 0].max(initial=0)
        shares = moved
        if change < CLOSE:
            break
    return np.where(sizes > 0, shares, np.nan)


def borrowed_shares(groups: Groups, model: LabelShift, draws: GroupDraws) -> FloatArray:
    """Return how much of what is known of each group's prevalence comes from the other groups, shape (groups,).

    0 for a group that its own items determine, 1 for one without items: with I the information of the items, and of
    labels that are a random sample of them, on the log-ratios, and V their variance given the other groups and this, at
    the posterior mean, the share is ``1 − trace(I V) / number of log-ratios``.
    """
    labels = random_labels(groups, model.confusion)
    items = (effective_groups if labels is None else effective_random_samples)(groups)[1]
    shares, rows = draws.prevalence.mean(axis=0), draws.confusion.mean(axis=0)
    n_groups, n_classes = shares.shape
    basis, spread = log_ratio_basis(n_classes), np.median(draws.spread, axis=0)
    information = _information(items, shares, np.broadcast_to(rows, (n_groups, *rows.shape[-2:])), basis)
    if labels is not None:
        information += labels.curvature(shares.T[None])[0].transpose(2, 0, 1)
    if isinstance(model.groups, Walk) and groups.times is not None:
        times = (groups.times - groups.times.min()).astype(np.float64)
        variance = _walk_variance(information, times, spread, with_noise=model.groups.noise)
    elif isinstance(model.groups, Pooled):
        variance = np.asarray(np.linalg.inv(information + _precision(model.groups, spread, shares, basis)))
    else:
        return np.zeros(n_groups)
    known = np.einsum("gij,gji->g", information, variance) / (n_classes - 1)
    return np.asarray(np.clip(1 - known, 0.0, 1.0))


def _information(items: FloatArray, shares: FloatArray, rows: FloatArray, basis: FloatArray) -> FloatArray:
    """Return what the items of each group say of its log-ratios, shape (groups, log-ratios, log-ratios)."""
    outputs = np.einsum("gl,glk->gk", shares, rows)
    slopes = np.einsum("gl,glk,lj->gjk", shares, rows, basis) - (shares @ basis)[:, :, None] * outputs[:, None]
    weight = items.sum(axis=1, keepdims=True) / np.maximum(outputs, 1e-300)
    return np.asarray(np.einsum("gik,gk,gjk->gij", slopes, weight, slopes))


def _precision(variation: Pooled, spread: FloatArray, shares: FloatArray, basis: FloatArray) -> FloatArray:
    """Return the precision of a group's log-ratios around the centre."""
    if variation.kind == "normal":
        return np.asarray(np.diag(1 / spread**2))
    concentration = 2 * len(basis) / spread[0] ** 2
    centre = shares.mean(axis=0)
    covariance = np.diag(centre) - np.outer(centre, centre)
    return np.asarray(concentration * basis.T @ covariance @ basis)


def _walk_variance(information: FloatArray, times: FloatArray, spread: FloatArray, *, with_noise: bool) -> FloatArray:
    """Return the variance of each group's log-ratios given all items, shape (groups, log-ratios, log-ratios)."""
    n_groups, n_ratios = information.shape[:2]
    gaps = np.diff(np.sort(times))
    elapsed = (times - times.min()) / np.median(gaps)
    together = np.minimum(elapsed[:, None], elapsed[None])
    prior = np.zeros((n_groups, n_ratios, n_groups, n_ratios))
    for ratio in range(n_ratios):
        noise = spread[n_ratios + ratio] ** 2 * np.eye(n_groups) if with_noise else 0.0
        prior[:, ratio, :, ratio] = DIFFUSE + spread[ratio] ** 2 * together + noise + 1e-9 * np.eye(n_groups)
    size = n_groups * n_ratios
    precision = np.linalg.inv(prior.reshape(size, size)).reshape(prior.shape)
    for group in range(n_groups):
        precision[group, :, group] += information[group]
    variance = np.linalg.inv(precision.reshape(size, size)).reshape(prior.shape)
    return np.array([variance[group, :, group] for group in range(n_groups)])
