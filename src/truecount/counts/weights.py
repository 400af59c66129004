"""Weighted and clustered counts, shrunk to the number of equally weighted, independent items that would say as much."""

import numpy as np

from truecount._types import FloatArray
from truecount.counts import design_effect as effects
from truecount.counts.design_effect import DesignEffect
from truecount.counts.groups import Groups
from truecount.counts.table import Counts, EffectiveCounts


def effective_counts(counts: Counts) -> EffectiveCounts:
    """Return labelled and unlabelled counts of Kish's effective size, ``(sum w)² / sum w²``, over the design effect.

    Each class row and the unlabelled side are samples of their own, so each is scaled by itself. Ask for it by
    `Counts.effective`.
    """
    labeled, unlabeled = _unclustered(counts)
    if counts.clusters is None:
        return EffectiveCounts(labeled, unlabeled)
    divisor = design_effect(counts).divisor
    return EffectiveCounts(labeled / divisor, unlabeled / divisor)


def design_effect(counts: Counts) -> DesignEffect:
    """Return how many times larger clusters make the variance of the shares under label shift."""
    return effects.under_label_shift(counts.clusters, (counts.labeled, counts.unlabeled), _unclustered(counts))


def output_design_effect(counts: Counts, *, labels_tell_outputs: bool) -> DesignEffect:
    """Return the same where labels tell P(class | output)."""
    return effects.given_output(counts, *_by_output(counts), labels_tell_outputs=labels_tell_outputs)


def group_design_effects(groups: Groups) -> tuple[DesignEffect, list[DesignEffect]]:
    """Return the design effect of the labels, which groups share, and that of each group's items."""
    if groups.clusters is None:
        return effects.NONE, [effects.NONE] * len(groups)
    sizes = _unclustered_groups(groups)[1].sum(axis=1)
    total = groups.total
    whole = _unclustered(total)
    of_groups = effects.of_groups(groups.clusters, groups.unlabeled, sizes, whole[0])
    return effects.of_labels(total.clusters, total.labeled, whole), of_groups


def effective_groups(groups: Groups) -> tuple[FloatArray, FloatArray]:
    """Return labels (study, class, output) and items (group, output) at Kish's effective size over design effects.

    Each class's row of each study and each group's items are samples of their own.
    """
    labeled, unlabeled = _unclustered_groups(groups)
    of_labels, of_groups = group_design_effects(groups)
    return labeled / of_labels.divisor, unlabeled / np.array([each.divisor for each in of_groups])[:, None]


def own_design_effects(groups: Groups) -> list[DesignEffect]:
    """Return the design effect of the class shares of each group's own labels, those of the study of its name."""
    if groups.clusters is None or groups.clusters.is_single:
        return [effects.NONE] * len(groups)
    return effects.of_own_labels(*_own_classes(groups))


def effective_random_samples(groups: Groups) -> tuple[FloatArray, FloatArray]:
    """Return labels (group, class) and items (group, output) of effective size, where labels tell a group's shares.

    The labels of a group are one sample of it, so that their classes have the shares of the weights, and the design
    effect of these shares, which is not that of outputs given classes.
    """
    classes, whole, sizes = _own_classes(groups)
    labels = whole * np.divide(sizes, whole.sum(axis=1), out=np.ones(len(groups)), where=whole.sum(axis=1) > 0)[:, None]
    items = effective_groups(groups)[1]
    if groups.clusters is None or groups.clusters.is_single:
        return labels, items
    total = groups.total.labeled.astype(np.float64)
    shared = effects.overlap(groups.clusters, classes, (whole, groups.unlabeled), total)[:, None]
    divisors = np.array([each.divisor for each in effects.of_own_labels(classes, whole, sizes)])[:, None]
    return labels / divisors / shared, items / shared


def effective_label_outputs(groups: Groups) -> FloatArray:
    """Shape (studies, outputs): outputs of labelled items of effective size, each study's as one sample."""
    whole = np.asarray(groups.labeled.sum(axis=1), np.float64)
    if groups.clusters is None or groups.clusters.is_single:
        return whole
    divisors = effects.of_own_labels(groups.clusters.labeled.sum(axis=2), whole, whole.sum(axis=1))
    return np.asarray(whole / np.array([each.divisor for each in divisors])[:, None])


def effective_by_output(counts: Counts, *, labels_tell_outputs: bool = False) -> tuple[FloatArray, FloatArray]:
    """Return counts of effective size, labelled and unlabelled, where each output's labels are a sample.

    Examples
    --------
    >>> heavy = Counts([[8, 0], [0, 3]], [5, 5], labeled_squares=[[16, 0], [0, 3]], unlabeled_squares=[5, 5])
    >>> effective_by_output(heavy)[0]
    array([[4., 0.],
           [0., 3.]])
    """
    labeled, unlabeled = _by_output(counts)
    if counts.clusters is None:
        return labeled, unlabeled
    divisor = output_design_effect(counts, labels_tell_outputs=labels_tell_outputs).divisor
    return labeled / divisor, unlabeled / divisor


def effective_outputs(counts: Counts) -> FloatArray:
    """Shape (outputs,): outputs of the labelled items, at the effective size of all of them as one sample.

    The shares of the outputs stay those of the weights, whatever the size that each output has by itself.

    Examples
    --------
    >>> heavy = Counts([[8, 0], [0, 2]], [5, 5], labeled_squares=[[32, 0], [0, 2]], unlabeled_squares=[5, 5])
    >>> effective_outputs(heavy).round(3)
    array([2.353, 0.588])
    """
    divisor = output_design_effect(counts, labels_tell_outputs=True).divisor
    outputs: FloatArray = counts.labeled.sum(axis=0) * _as_one_sample(counts) / divisor
    return outputs


def effective_items(counts: Counts) -> FloatArray:
    """Shape (classes,): labelled items of each class, at the effective size of all of them as one sample.

    Examples
    --------
    >>> heavy = Counts([[8, 0], [0, 2]], [5, 5], labeled_squares=[[32, 0], [0, 2]], unlabeled_squares=[5, 5])
    >>> effective_items(heavy).round(3)
    array([2.353, 0.588])
    """
    divisor = effects.of_labels(counts.clusters, counts.labeled, _unclustered(counts)).divisor
    items: FloatArray = counts.labeled.sum(axis=1) * _as_one_sample(counts) / divisor
    return items


def _unclustered(counts: Counts) -> tuple[FloatArray, FloatArray]:
    """Return counts of Kish's effective size, as if all items were independent."""
    labeled, unlabeled = counts.labeled.astype(np.float64), counts.unlabeled.astype(np.float64)
    if counts.labeled_squares is None or counts.unlabeled_squares is None:
        return labeled, unlabeled
    rows = _shrinkage(labeled.sum(axis=1), counts.labeled_squares.sum(axis=1))
    return labeled * rows[:, None], unlabeled * _shrinkage(unlabeled.sum(), counts.unlabeled_squares.sum())


def _unclustered_groups(groups: Groups) -> tuple[FloatArray, FloatArray]:
    labeled, unlabeled = groups.labeled.astype(np.float64), groups.unlabeled.astype(np.float64)
    if groups.labeled_squares is None or groups.unlabeled_squares is None:
        return labeled, unlabeled
    rows = _shrinkage(labeled.sum(axis=2), groups.labeled_squares.sum(axis=2))
    items = _shrinkage(unlabeled.sum(axis=1), groups.unlabeled_squares.sum(axis=1))
    return labeled * rows[:, :, None], unlabeled * items[:, None]


def _own_classes(groups: Groups) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return labels of the studies named like groups: of each bin of clusters, of each group, and their Kish size."""
    studies = {name: at for at, name in enumerate(groups.studies or ())}
    pairs = [(at, studies[name]) for at, name in enumerate(groups.groups) if name in studies]
    own, of = [at for at, _ in pairs], [at for _, at in pairs]
    whole = np.zeros((len(groups), len(groups.classes)))
    whole[own] = groups.labeled[of].sum(axis=2)
    sizes = whole.sum(axis=1)
    if groups.labeled_squares is not None:
        sizes[own] = sizes[own] * _shrinkage(sizes[own], groups.labeled_squares[of].sum(axis=(1, 2)))
    clusters = groups.clusters
    classes = np.zeros((0 if clusters is None else len(clusters.bins), *whole.shape))
    if clusters is not None:
        classes[:, own] = clusters.labeled[:, of].sum(axis=3)
    return classes, whole, sizes


def _by_output(counts: Counts) -> tuple[FloatArray, FloatArray]:
    labeled, unlabeled = counts.labeled.astype(np.float64), counts.unlabeled.astype(np.float64)
    if counts.labeled_squares is None or counts.unlabeled_squares is None:
        return labeled, unlabeled
    columns = _shrinkage(labeled.sum(axis=0), counts.labeled_squares.sum(axis=0))
    return labeled * columns, unlabeled * _shrinkage(unlabeled.sum(), counts.unlabeled_squares.sum())


def _as_one_sample(counts: Counts) -> FloatArray | float:
    if counts.labeled_squares is None:
        return 1.0
    return _shrinkage(counts.labeled.sum(), counts.labeled_squares.sum())


def _shrinkage(weight: FloatArray, squares: FloatArray) -> FloatArray:
    return np.divide(weight, squares, out=np.zeros_like(np.asarray(weight)), where=np.asarray(squares) > 0)
