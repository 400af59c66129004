"""Clusters of rated items: the design effect, by the classes that labels and outputs make likely, divides all items.

The true class of a rated item is not known, so each has a part in every class: its probability given the item's labels
and output, by a fit of shares, rows and error rates (EM: Dawid & Skene 1979). Counts of classes by output, and those
of each bin of clusters, are sums of these parts, and their design effect is that of any counts.
"""

from dataclasses import dataclass, replace

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.counts import Counts, Groups, Ratings
from truecount.counts.clusters import Clusters
from truecount.counts.weights import design_effect, group_design_effects
from truecount.models.erring_labels import RatedDensity

ROUNDS, SMALLEST = 200, 1e-300


@dataclass(frozen=True, slots=True)
class Imputed:
    """Clusters of true classes by output, as far as labels and outputs tell them.

    Parameters
    ----------
    clusters
        Counts of each bin, with classes for patterns of labels.
    """

    clusters: Clusters

    def scaled_to(self, table: FloatArray | IntArray) -> Clusters:
        """Return the clusters with parts that add up to this table, shape (classes, outputs)."""

        def scaled(own: FloatArray) -> FloatArray:
            total = own.sum(axis=0)
            parts = own * np.divide(table, total, out=np.zeros_like(total), where=total > 0)
            lost: FloatArray = np.where(total > 0, 0.0, np.broadcast_to(table, total.shape))
            return np.asarray(parts + lost / len(own))

        return self.clusters.changed(scaled, lambda own: own)


def effective_ratings(density: RatedDensity, ratings: Ratings) -> tuple[RatedDensity, Imputed | None]:
    """Divide items by the design effect of their clusters, which come back with classes for patterns."""
    counts = ratings.counts
    if counts.clusters is None:
        return density, None
    parts = class_parts(density)
    imputed = Imputed(counts.clusters.changed(lambda own: np.einsum("...pk,lpk->...lk", own, parts), lambda own: own))
    table = np.einsum("pk,lpk->lk", density.labeled, parts)
    classes, outputs, bins = ratings.classes, counts.outputs, imputed.clusters
    if isinstance(counts, Groups):
        items = dict(zip(counts.groups, counts.unlabeled, strict=True))
        whole = Groups(
            table,
            items,
            classes,
            outputs,
            labeled_squares=table,
            unlabeled_squares=items,
            clusters=bins,
            combinations=counts.combinations,
        )
        of_labels, of_groups = group_design_effects(whole)
        divisors = of_labels.divisor, np.array([each.divisor for each in of_groups])[:, None]
    else:
        squares = {"labeled_squares": table, "unlabeled_squares": counts.unlabeled}
        both = Counts(table, counts.unlabeled, classes, outputs, **squares, clusters=bins)
        divisors = (divisor := design_effect(both).divisor), np.array([[divisor]])
    return replace(density, labeled=density.labeled / divisors[0], unlabeled=density.unlabeled / divisors[1]), imputed


def class_parts(density: RatedDensity) -> FloatArray:
    """Shape (classes, patterns, outputs): probability of each class given labels and output, by EM."""
    n_classes = len(density.rows)
    right = density.raters / density.raters.sum(axis=2, keepdims=True)
    raters = np.where(np.isnan(density.known), right, density.known)
    shares, rows = np.full(n_classes, 1 / n_classes), density.rows / density.rows.sum(axis=1, keepdims=True)
    has_label, place = density.labels >= 0, np.maximum(density.labels, 0)
    for _ in range(ROUNDS):
        logs = np.log(np.maximum(raters, SMALLEST))
        said = sum(
            np.where(has_label[:, column], logs[rater][:, place[:, column]], 0.0)
            for column, rater in enumerate(density.rater_of)
        )
        heights = np.log(np.maximum(shares, SMALLEST))[:, None, None] + np.asarray(said)[:, :, None]
        heights = heights + np.log(np.maximum(rows, SMALLEST))[:, None, :]
        parts = np.exp(heights - heights.max(axis=0))
        parts /= parts.sum(axis=0)
        items = parts * density.labeled
        shares = density.shares + items.sum(axis=(1, 2))
        rows, of_pattern = density.rows + items.sum(axis=1), items.sum(axis=2)
        learned = density.raters.copy()
        for column, rater in enumerate(density.rater_of):
            for pattern in np.flatnonzero(has_label[:, column]):
                learned[rater][:, place[pattern, column]] += of_pattern[:, pattern]
        shares, rows = shares / shares.sum(), rows / rows.sum(axis=1, keepdims=True)
        learned /= learned.sum(axis=2, keepdims=True)
        raters = np.where(np.isnan(density.known), learned, density.known)
    return np.asarray(parts)
