"""Clusters of rated items: the design effect, by the classes that labels and outputs make likely, divides all items.

The true class of a rated item is not known, so each has a part in every class: its probability given the item's labels
and output, by a fit of shares, rows and error rates (EM: Dawid & Skene 1979). Counts of classes by output, and those
of each bin of clusters, are sums of these parts, and their design effect is that of any counts.
"""

from dataclasses import replace

import numpy as np

from truecount._log_sum import finite_log, softmax
from truecount._types import FloatArray, IntArray
from truecount.counts import Groups, Ratings, design_effect
from truecount.counts.clusters import Clusters
from truecount.models.erring_labels import RatedDensity

MOST_ROUNDS, STILL = 200, 1e-6
"""Rounds of EM at most, and what no part moves by where it has converged."""


def effective_ratings(density: RatedDensity, ratings: Ratings) -> tuple[RatedDensity, Clusters | None]:
    """Divide items by the design effect of their clusters, which come back with classes for patterns."""
    if ratings.counts.clusters is None:
        return density, None
    parts = class_parts(density)
    clusters = ratings.counts.clusters.changed(lambda own: np.einsum("...pk,lpk->...lk", own, parts), lambda own: own)
    table = np.einsum("pk,lpk->lk", density.labeled, parts)
    of_labels, of_items = _divisors(clusters, table, density.unlabeled, has_groups=isinstance(ratings.counts, Groups))
    return replace(density, labeled=density.labeled / of_labels, unlabeled=density.unlabeled / of_items), clusters


def _divisors(
    clusters: Clusters, table: FloatArray, unlabeled: FloatArray, *, has_groups: bool
) -> tuple[float, FloatArray]:
    """Return what labels are divided by, and shape (groups, 1): what unlabelled items are."""
    whole = unlabeled.sum(axis=0)
    if not has_groups:
        divisor = design_effect.under_label_shift(clusters, (table, whole), (table, whole)).divisor
        return divisor, np.array([[divisor]])
    labels = clusters.changed(lambda own: own.sum(axis=1), lambda own: own)
    of_labels = design_effect.of_labels(labels, table, (table, whole))
    of_groups = design_effect.of_groups(clusters, unlabeled, unlabeled.sum(axis=1), table)
    return of_labels.divisor, np.array([[each.divisor] for each in of_groups])


def scaled_to(clusters: Clusters, table: FloatArray | IntArray) -> Clusters:
    """Return clusters of true classes with parts that add up to this table, shape (classes, outputs)."""

    def scaled(own: FloatArray) -> FloatArray:
        total = own.sum(axis=0)
        parts = own * np.divide(table, total, out=np.zeros_like(total), where=total > 0)
        lost: FloatArray = np.where(total > 0, 0.0, np.broadcast_to(table, total.shape))
        return np.asarray(parts + lost / len(own))

    return clusters.changed(scaled, lambda own: own)


def class_parts(density: RatedDensity) -> FloatArray:
    """Shape (classes, patterns, outputs): probability of each class given labels and output, by EM."""
    n_classes = len(density.rows)
    right = density.raters / density.raters.sum(axis=2, keepdims=True)
    raters = np.where(np.isnan(density.known), right, density.known)
    shares, rows = np.full(n_classes, 1 / n_classes), density.rows / density.rows.sum(axis=1, keepdims=True)
    pattern, column = np.nonzero(density.labels >= 0)
    rater, label = density.rater_of[column], density.labels[pattern, column]
    parts = np.zeros((n_classes, *density.labeled.shape))
    for _ in range(MOST_ROUNDS):
        before, said = parts, np.zeros((len(density.labels), n_classes))
        np.add.at(said, pattern, finite_log(raters)[rater, :, label])
        heights = finite_log(shares)[:, None, None] + said.T[:, :, None]
        heights = heights + finite_log(rows)[:, None, :]
        parts = softmax(heights, axis=0)
        if np.abs(parts - before).max() < STILL:
            break
        items = parts * density.labeled
        shares, rows = density.shares + items.sum(axis=(1, 2)), density.rows + items.sum(axis=1)
        learned = density.raters.copy()
        np.add.at(learned.swapaxes(1, 2), (rater, label), items.sum(axis=2).T[pattern])
        shares, rows = shares / shares.sum(), rows / rows.sum(axis=1, keepdims=True)
        learned /= learned.sum(axis=2, keepdims=True)
        raters = np.where(np.isnan(density.known), learned, density.known)
    return np.asarray(parts)
