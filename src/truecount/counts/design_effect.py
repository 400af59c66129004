"""How much less clustered items tell than as many independent ones: the design effect, learned from the clusters.

An estimate of the shares solves an equation in the counts. By each cluster's part in it, the variance of the shares is
a sum over clusters of squares, which holds whatever the items of a cluster have in common, on either side and between
them (the variance of a ratio of cluster totals: Cochran, *Sampling Techniques*, chapter 11; Binder 1983). Over the
variance that independent items would have it is the design effect, and counts are divided by it. It is never taken to
be below 1.

With few clusters the design effect is uncertain itself. Counts are divided by ``(t / z)²`` more, the squared ratio of
the 97.5 % quantiles of Student's t with as many degrees of freedom as the clusters tell and of the normal distribution,
as Korn & Graubard (1998) do: 95 % intervals then hold.
"""

from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.counts.clusters import Clusters
from truecount.counts.table import Counts

QUANTILE, NORMAL = 0.975, 1.959963984540054
ROUNDS = 50
"""Of a rough fit of the shares."""
BORROWED = 10.0
"""Degrees of freedom that the design effect of all groups counts as in that of each."""


@dataclass(frozen=True, slots=True)
class DesignEffect:
    """What clusters do to an answer.

    Parameters
    ----------
    value
        How many times larger the variance is than that of independent items; at least 1.
    freedom
        Degrees of freedom of that estimate.
    """

    value: float = 1.0
    freedom: float = np.inf

    @property
    def divisor(self) -> float:
        """What counts are divided by: the design effect, and what is uncertain about it."""
        if not np.isfinite(self.freedom):
            return self.value
        from scipy.special import stdtrit

        return float(self.value * (stdtrit(self.freedom, QUANTILE) / NORMAL) ** 2)


NONE = DesignEffect()


def under_label_shift(counts: Counts, labeled: FloatArray, unlabeled: FloatArray) -> DesignEffect:
    """Return the design effect of shares that solve ``q = φᵀπ``; sizes are those of weighted items, if they are.

    Parameters
    ----------
    counts
        Sums of items, or of weights, with clusters.
    labeled, unlabeled
        The same at their effective size, before clusters.
    """
    if counts.clusters is None:
        return NONE
    shares = rough_shares(labeled, unlabeled)
    rows, outputs = _shares_of(counts.labeled), _shares_of(counts.unlabeled)
    known = _row_parts(counts.clusters.labeled, counts.labeled, rows, shares)
    new = _own_parts(counts.clusters.unlabeled[:, None], counts.unlabeled[None], outputs[None])[:, 0]
    sizes = _over(1.0, labeled.sum(axis=1)), _over(1.0, unlabeled.sum())
    alone = (shares**2 * sizes[0]) @ (rows * (1 - rows)) + sizes[1] * outputs * (1 - outputs)
    return _effect(new - known, alone)


def of_labels(counts: Counts, labeled: FloatArray, unlabeled: FloatArray) -> DesignEffect:
    """Return the design effect of the labels alone, by the mix of rows that explains the unlabelled items."""
    if counts.clusters is None:
        return NONE
    shares, rows = rough_shares(labeled, unlabeled), _shares_of(counts.labeled)
    alone = (shares**2 * _over(1.0, labeled.sum(axis=1))) @ (rows * (1 - rows))
    return _effect(_row_parts(counts.clusters.labeled, counts.labeled, rows, shares), alone)


def given_output(
    counts: Counts, labeled: FloatArray, unlabeled: FloatArray, *, labels_tell_outputs: bool
) -> DesignEffect:
    """Return the design effect of ``π = Σ_k q_k ρ[·|k]``, where labels may tell q as well."""
    if counts.clusters is None:
        return NONE
    clusters, rows = counts.clusters, _shares_of(counts.labeled.T)
    seen, parts, size = counts.unlabeled, clusters.unlabeled, unlabeled.sum()
    if labels_tell_outputs:
        seen, parts = seen + counts.labeled.sum(axis=0), parts + clusters.labeled.sum(axis=1)
        size = size + labeled.sum()
    outputs = _shares_of(seen)
    of_outputs = _own_parts(parts[:, None], seen[None], outputs[None])[:, 0] @ rows
    of_classes = _row_parts(clusters.labeled.transpose(0, 2, 1), counts.labeled.T, rows, outputs)
    spread = outputs @ rows**2 - (outputs @ rows) ** 2
    alone = spread * _over(1.0, size) + (outputs**2 * _over(1.0, labeled.sum(axis=0))) @ (rows * (1 - rows))
    return _effect(of_outputs + of_classes, alone)


def of_groups(clusters: Clusters, whole: FloatArray | IntArray, sizes: FloatArray) -> list[DesignEffect]:
    """Return the design effect of each group's outputs, drawn towards that of all groups where its clusters are few.

    Parameters
    ----------
    clusters
        Their `unlabeled` has the shape (bins, groups, outputs).
    whole
        Shape (groups, outputs): the items of each group.
    sizes
        Shape (groups,): how many independent items they would be worth, before clusters.
    """
    outputs = _shares_of(whole)
    parts = _own_parts(clusters.unlabeled, whole, outputs)
    seen, alone = (parts**2).sum(axis=(0, 2)), _over(1.0, sizes) * (outputs * (1 - outputs)).sum(axis=1)
    freedom = np.maximum((clusters.unlabeled.sum(axis=2) > 0).sum(axis=0) - 1.0, 0.0)
    ratio = _over(seen, alone)
    is_told = (freedom > 0) & (alone > 0)
    total = float(freedom[is_told].sum())
    common = float((freedom * ratio)[is_told].sum() / total) if total else 1.0
    own = np.where(is_told, freedom, 0.0)
    borrowed = np.minimum(BORROWED, total - own)
    values = (own * ratio + borrowed * common) / np.maximum(own + borrowed, 1e-300)
    return [
        DesignEffect(max(1.0, float(value)), max(1.0, float(degrees)))
        for value, degrees in zip(values, own + borrowed, strict=True)
    ]


def rough_shares(labeled: FloatArray, unlabeled: FloatArray) -> FloatArray:
    """Shape (classes,): a rough fit of the shares, for weights that need no better."""
    rows = labeled + 1 / labeled.shape[1]
    rows = rows / rows.sum(axis=1, keepdims=True)
    shares = np.full(len(rows), 1 / len(rows))
    for _ in range(ROUNDS):
        joint = shares[:, None] * rows
        shares = (joint * _over(unlabeled, joint.sum(axis=0))).sum(axis=1) + 1 / len(rows)
        shares = shares / shares.sum()
    return shares


def _effect(parts: FloatArray, alone: FloatArray) -> DesignEffect:
    """Compare the squares of the clusters' parts, shape (bins, entries), with the variance of independent items."""
    squares = (parts**2).sum(axis=1)
    seen, expected = float(squares.sum()), float(alone.sum())
    if not seen or not expected:
        return NONE
    entries = max(int((alone > 0).sum()) - 1, 1)
    spread = (1 + 2 / entries) * seen**2 / float((squares**2).sum())
    return DesignEffect(max(1.0, seen / expected), float(np.clip(spread, 1.0, max(int((squares > 0).sum()) - 1, 1))))


def _row_parts(clusters: FloatArray, whole: FloatArray | IntArray, rows: FloatArray, weights: FloatArray) -> FloatArray:
    """Shape (bins, entries): each bin's part in ``Σ_l weights_l rows_l``."""
    parts: FloatArray = np.einsum("l,rlk->rk", weights, _own_parts(clusters, whole, rows))
    return parts


def _own_parts(clusters: FloatArray, whole: FloatArray | IntArray, rows: FloatArray) -> FloatArray:
    """Shape (bins, rows, entries): each bin's part in the shares of each row, with a row's mean taken out.

    A row that a single bin tells of has nothing to compare it with: its items then count as one.
    """
    totals = clusters.sum(axis=2)
    parts = (clusters - totals[:, :, None] * rows) / np.maximum(whole.sum(axis=1), 1e-300)[:, None]
    number = (totals > 0).sum(axis=0)
    parts = parts * np.sqrt(number / np.maximum(number - 1, 1))[:, None]
    for row in np.flatnonzero(number == 1):
        parts[totals[:, row] > 0, row] = np.sqrt(rows[row] * (1 - rows[row]))
    return np.asarray(parts)


def _shares_of(items: FloatArray | IntArray) -> FloatArray:
    return np.asarray(items / np.maximum(items.sum(axis=-1, keepdims=True), 1e-300), np.float64)


def _over(number: FloatArray | float, divisor: FloatArray | float) -> FloatArray:
    """Divide, with 0 where the divisor is."""
    above, below = np.broadcast_arrays(np.asarray(number, np.float64), np.asarray(divisor, np.float64))
    return np.asarray(np.divide(above, below, out=np.zeros(below.shape), where=below > 0))
