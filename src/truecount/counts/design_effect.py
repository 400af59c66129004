"""How much less clustered items tell than as many independent ones: the design effect, learned from the clusters.

An estimate of the shares solves an equation in the counts. By each cluster's part in it, the variance of the shares is
a sum over clusters of squares, which holds whatever the items of a cluster have in common, on either side and between
them (the variance of a ratio of cluster totals: Cochran, *Sampling Techniques*, chapter 11; Binder 1983). Over the
variance that independent items would have it is the design effect, and counts are divided by it. It is never taken to
be below 1. Parts are those in the share of each class, so that outputs which tell nothing of the classes have none, and
of the classes' design effects the largest is taken: too wide an interval for the others rather than one too short.

With few clusters the design effect is uncertain itself. Counts are divided by ``(t / z)²`` more, the squared ratio of
the 97.5 % quantiles of Student's t with as many degrees of freedom as the clusters tell and of the normal distribution,
as Korn & Graubard (1998) do.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.counts.clusters import Clusters
from truecount.counts.table import Counts

Sides = tuple[FloatArray | IntArray, FloatArray | IntArray]
"""Labelled items, shape (classes, outputs), and unlabelled ones, shape (outputs,)."""
QUANTILE, NORMAL = 0.975, 1.959963984540054
LEAST_TOLD, TINY = 1e-6, 1e-12
"""What the outputs tell of a contrast of classes, over what they tell of the clearest, below which it is nothing."""
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


def under_label_shift(clusters: Clusters | None, whole: Sides, sizes: tuple[FloatArray, FloatArray]) -> DesignEffect:
    """Return the design effect of shares that solve ``q = φᵀπ``; sizes are those of weighted items, if they are.

    Parameters
    ----------
    clusters
        Those of the items; None where items are independent.
    whole
        Sums of items, or of weights; items may count in parts, where their classes are not known.
    sizes
        The same at their effective size, before clusters.
    """
    if clusters is None or clusters.is_single:
        return NONE
    labeled, unlabeled = sizes
    shares, rows, outputs = rough_shares(labeled, unlabeled), _shares_of(whole[0]), _shares_of(whole[1])
    influence = _influence(_smoothed(labeled), shares)
    known = _own_parts(clusters.labeled, whole[0], rows, influence).swapaxes(0, 1)
    new = _own_parts(clusters.unlabeled[:, None], whole[1][None], outputs[None], influence)[:, 0]
    covariances = [*(shares**2 * _over(1.0, labeled.sum(axis=1)))[:, None, None] * _covariances(rows)]
    covariances.append(_over(1.0, unlabeled.sum()) * _covariances(outputs[None])[0])
    return _effect([*(-shares[:, None, None] * known), new], _variances(influence, covariances))


def of_labels(
    clusters: Clusters | None, whole: FloatArray | IntArray, sizes: tuple[FloatArray, FloatArray]
) -> DesignEffect:
    """Return the design effect of the labels alone, by the mix of rows that explains the unlabelled items.

    Parameters
    ----------
    clusters
        Those of the items; None where items are independent.
    whole
        Shape (classes, outputs): sums of labelled items, or of weights.
    sizes
        Labelled and unlabelled items at their effective size, before clusters.
    """
    if clusters is None or clusters.is_single:
        return NONE
    labeled, unlabeled = sizes
    shares, rows = rough_shares(labeled, unlabeled), _shares_of(whole)
    influence = _influence(_smoothed(labeled), shares)
    known = _own_parts(clusters.labeled, whole, rows, influence).swapaxes(0, 1)
    covariances = [*(shares**2 * _over(1.0, labeled.sum(axis=1)))[:, None, None] * _covariances(rows)]
    return _effect([*(shares[:, None, None] * known)], _variances(influence, covariances))


def given_output(
    counts: Counts, labeled: FloatArray, unlabeled: FloatArray, *, labels_tell_outputs: bool
) -> DesignEffect:
    """Return the design effect of ``π = Σ_k q_k ρ[·|k]``, where labels may tell q as well."""
    if counts.clusters is None or counts.clusters.is_single:
        return NONE
    clusters, rows = counts.clusters, _shares_of(counts.labeled.T)
    seen, parts, size = counts.unlabeled, clusters.unlabeled, unlabeled.sum()
    if labels_tell_outputs:
        seen, parts = seen + counts.labeled.sum(axis=0), parts + clusters.labeled.sum(axis=1)
        size = size + labeled.sum()
    outputs = _shares_of(seen)
    of_outputs = _own_parts(parts[:, None], seen[None], outputs[None], rows.T)[:, 0]
    itself = np.eye(rows.shape[1])
    by_output = _own_parts(clusters.labeled.transpose(0, 2, 1), counts.labeled.T, rows, itself).swapaxes(0, 1)
    of_classes = outputs[:, None, None] * by_output
    spread = outputs @ rows**2 - (outputs @ rows) ** 2
    alone = spread * _over(1.0, size) + (outputs**2 * _over(1.0, labeled.sum(axis=0))) @ (rows * (1 - rows))
    return _effect([of_outputs, *of_classes], alone)


def of_groups(
    clusters: Clusters, whole: FloatArray | IntArray, sizes: FloatArray, labeled: FloatArray
) -> list[DesignEffect]:
    """Return the design effect of each group's items, drawn towards that of all groups where its clusters are few.

    Parameters
    ----------
    clusters
        Their `unlabeled` has the shape (bins, groups, outputs).
    whole
        Shape (groups, outputs): the items of each group.
    sizes
        Shape (groups,): how many independent items they would be worth, before clusters.
    labeled
        Shape (classes, outputs): the labels, which say what outputs tell of the classes.
    """
    if clusters.is_single:
        return [NONE] * len(whole)
    influence = _influence(_smoothed(labeled), rough_shares(labeled, np.asarray(whole.sum(axis=0), np.float64)))
    return _of_samples(clusters.unlabeled, whole, sizes, influence)


def of_own_labels(classes: FloatArray, whole: FloatArray | IntArray, sizes: FloatArray) -> list[DesignEffect]:
    """Return the design effect of the class shares of each group's labels, where these are a random sample of it.

    It is that of the classes themselves, whatever the outputs are: five labels of a question that has one true class
    tell as much of the shares as one. Labels that are all of one cluster count as one item at most, and those that are
    all of one class, which do not vary, as one item for each cluster (or bin of clusters).

    Parameters
    ----------
    classes
        Shape (bins, groups, classes): labels of the groups in each bin of clusters.
    whole
        Shape (groups, classes): labels of each group.
    sizes
        Shape (groups,): how many independent items they would be worth, before clusters.
    """
    every = _of_samples(classes, whole, sizes, np.eye(whole.shape[1]))
    bins = (classes.sum(axis=2) > 0).sum(axis=0)
    is_even = (bins == 1) | ((np.asarray(whole) > 0).sum(axis=1) == 1)
    return [
        DesignEffect(max(each.value, float(size) / number), each.freedom) if even and number else each
        for each, size, number, even in zip(every, sizes, bins.tolist(), is_even, strict=True)
    ]


def overlap(clusters: Clusters, classes: FloatArray, sides: Sides, labeled: FloatArray) -> FloatArray:
    """Shape (groups,): how many times larger both sides' variances count, because clusters have items on both.

    Two estimates of a group's shares, by the classes of its labels and by the outputs of its items, are correlated
    where the same clusters tell both. However they are weighted, the variance of their mean is at most ``1 + r`` times
    that of independent ones, where r is their correlation, here the largest of the classes'.

    Parameters
    ----------
    clusters, classes
        Those of the items; labels of the groups in each bin, shape (bins, groups, classes).
    sides
        Shape (groups, classes), the labels of each group, and (groups, outputs), its items.
    labeled
        Shape (classes, outputs): all labels, which say what outputs tell of the classes.
    """
    known, new = sides
    influence = _influence(_smoothed(labeled), rough_shares(labeled, np.asarray(new.sum(axis=0), np.float64)))
    of_labels = _own_parts(classes, known, _shares_of(known), np.eye(known.shape[1]))
    of_items = _own_parts(clusters.unlabeled, new, _shares_of(new), influence)
    sizes = np.sqrt((of_labels**2).sum(axis=0) * (of_items**2).sum(axis=0))
    correlation = _over((of_labels * of_items).sum(axis=0), sizes).max(axis=1)
    return np.asarray(1 + np.clip(correlation, 0.0, 1.0))


def _of_samples(
    clusters: FloatArray, whole: FloatArray | IntArray, sizes: FloatArray, influence: FloatArray
) -> list[DesignEffect]:
    """Return the design effect of each of several samples, shape (bins, samples, values), towards that of all."""
    values_of = _shares_of(whole)
    parts = _own_parts(clusters, whole, values_of, influence)
    seen = (parts**2).sum(axis=0)
    alone = _over(1.0, sizes)[:, None] * np.einsum("lk,gkj,lj->gl", influence, _covariances(values_of), influence)
    freedom = np.maximum((clusters.sum(axis=2) > 0).sum(axis=0) - 1.0, 0.0)[:, None]
    own = np.where((freedom > 0) & (alone > 0), freedom, 0.0)
    total = own.sum(axis=0)
    common = np.where(total > 0, _over((own * _over(seen, alone)).sum(axis=0), total), 1.0)
    borrowed = np.minimum(BORROWED, total - own)
    values = _over(own * _over(seen, alone) + borrowed * common, own + borrowed)
    worst = values.argmax(axis=1)[:, None]
    chosen = (np.take_along_axis(each, worst, axis=1)[:, 0] for each in (values, own + borrowed))
    return [
        DesignEffect(max(1.0, float(value)), max(1.0, float(degrees))) for value, degrees in zip(*chosen, strict=True)
    ]


def rough_shares(labeled: FloatArray, unlabeled: FloatArray) -> FloatArray:
    """Shape (classes,): a rough fit of the shares, for weights that need no better."""
    rows = _smoothed(labeled)
    shares = np.full(len(rows), 1 / len(rows))
    for _ in range(ROUNDS):
        joint = shares[:, None] * rows
        shares = (joint * _over(unlabeled, joint.sum(axis=0))).sum(axis=1) + 1 / len(rows)
        shares = shares / shares.sum()
    return shares


def _smoothed(labeled: FloatArray) -> FloatArray:
    """Return rows of which none is without an output, and none empty."""
    return _shares_of(labeled + 1 / labeled.shape[1])


def _influence(rows: FloatArray, shares: FloatArray) -> FloatArray:
    """Shape (classes, outputs): how the shares that solve ``q = φᵀπ`` follow a change of q, by weighted least squares.

    Outputs that tell nothing of the classes have no influence. Where some classes have the same rows, a change is taken
    to be as small as it may.
    """
    weights, contrasts = 1 / (shares @ rows), rows - shares @ rows
    information = (contrasts * weights) @ contrasts.T
    changes = np.linalg.pinv(information, rcond=LEAST_TOLD, hermitian=True) @ (contrasts * weights)
    return np.asarray(changes - shares[:, None] * changes.sum(axis=0))


def _covariances(rows: FloatArray) -> FloatArray:
    """Shape (rows, outputs, outputs): the covariance of one item's output in each row."""
    return np.asarray(rows[:, :, None] * np.eye(rows.shape[1]) - rows[:, :, None] * rows[:, None, :])


def _variances(influence: FloatArray, covariances: Sequence[FloatArray]) -> FloatArray:
    """Shape (classes,): the variance of each share, if items were independent."""
    return np.asarray(np.einsum("lk,kj,lj->l", influence, np.sum(covariances, axis=0), influence))


def _effect(samples: Sequence[FloatArray], alone: FloatArray) -> DesignEffect:
    """Compare the squares of the clusters' parts with the variance of independent items; take the worst class.

    Parameters
    ----------
    samples
        Of each sample, a class's labels or the unlabelled items, the bins' parts in the shares: shape (bins, classes).
    alone
        Shape (classes,): the variance that independent items would have.
    """
    parts = np.sum(samples, axis=0)
    squares = parts**2
    ratio = _over(squares.sum(axis=0), np.where(alone > TINY, alone, 0.0))
    worst = int(ratio.argmax())
    if not ratio[worst]:
        return NONE
    own = squares[:, worst]
    spread = 3 * own.sum() ** 2 / (own**2).sum()
    each = [(sample[:, worst] ** 2).sum() for sample in samples]
    degrees = [max(np.count_nonzero(sample[:, worst]) - 1, 1) for sample in samples]
    most = sum(each) ** 2 / max(sum(one**2 / free for one, free in zip(each, degrees, strict=True)), 1e-300)
    return DesignEffect(max(1.0, float(ratio[worst])), float(np.clip(spread, 1.0, max(most, 1.0))))


def _own_parts(
    clusters: FloatArray, whole: FloatArray | IntArray, rows: FloatArray, influence: FloatArray
) -> FloatArray:
    """Shape (bins, rows, shares): each bin's part in the shares by way of each row, with a row's mean taken out.

    A large bin draws the mean towards itself, so that its part looks smaller than it is. Where bins have the shares h
    of the items of a row, and the items of a bin are all alike, the square of a part is smaller by ``1 − 2h + Σh²`` on
    the average, by which it is divided (Bell & McCaffrey 2002): with B bins of one size, ``(B − 1)/B``. A row that a
    single bin tells of has nothing to compare it with: its items then count as one.
    """
    totals = clusters.sum(axis=2)
    parts = (clusters - totals[:, :, None] * rows) @ influence.T / np.maximum(whole.sum(axis=1), 1e-300)[:, None]
    number, size = (totals > 0).sum(axis=0), _over(totals, totals.sum(axis=0))
    left = np.where(number > 1, 1 - 2 * size + (size**2).sum(axis=0), 1.0)
    parts = parts / np.sqrt(np.maximum(left, TINY))[:, :, None]
    for row in np.flatnonzero(number == 1):
        parts[totals[:, row] > 0, row] = np.sqrt(_variances(influence, [*_covariances(rows[row][None])]))
    return np.asarray(parts)


def _shares_of(items: FloatArray | IntArray) -> FloatArray:
    return np.asarray(items / np.maximum(items.sum(axis=-1, keepdims=True), 1e-300), np.float64)


def _over(number: FloatArray | float, divisor: FloatArray | float) -> FloatArray:
    """Divide, with 0 where the divisor is."""
    above, below = np.broadcast_arrays(np.asarray(number, np.float64), np.asarray(divisor, np.float64))
    return np.asarray(np.divide(above, below, out=np.zeros(below.shape), where=below > 0))
