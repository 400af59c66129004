"""Weighted counts, shrunk to the number of equally weighted items that would say as much."""

import numpy as np

from truecount._types import FloatArray
from truecount.counts.groups import Groups
from truecount.counts.table import Counts


def effective_counts(counts: Counts) -> tuple[FloatArray, FloatArray]:
    """Return labelled and unlabelled counts of Kish's effective size, ``(sum w)² / sum w²``.

    Each class row and the unlabelled side are samples of their own, so each is scaled by itself. Unweighted counts
    come back as they are.

    Examples
    --------
    Four items of weight 2 say as much as four items:

    >>> heavy = Counts([[8, 0], [0, 3]], [5, 5], labeled_squares=[[16, 0], [0, 3]], unlabeled_squares=[5, 5])
    >>> effective_counts(heavy)[0]
    array([[4., 0.],
           [0., 3.]])
    """
    labeled, unlabeled = counts.labeled.astype(np.float64), counts.unlabeled.astype(np.float64)
    if counts.labeled_squares is None or counts.unlabeled_squares is None:
        return labeled, unlabeled
    rows = _shrinkage(labeled.sum(axis=1), counts.labeled_squares.sum(axis=1))
    return labeled * rows[:, None], unlabeled * _shrinkage(unlabeled.sum(), counts.unlabeled_squares.sum())


def effective_groups(groups: Groups) -> tuple[FloatArray, FloatArray]:
    """Return labels (study, class, output) and items (group, output) at Kish's effective size.

    Each class's row of each study and each group's items are samples of their own.
    """
    labeled, unlabeled = groups.labeled.astype(np.float64), groups.unlabeled.astype(np.float64)
    if groups.labeled_squares is None or groups.unlabeled_squares is None:
        return labeled, unlabeled
    rows = _shrinkage(labeled.sum(axis=2), groups.labeled_squares.sum(axis=2))
    items = _shrinkage(unlabeled.sum(axis=1), groups.unlabeled_squares.sum(axis=1))
    return labeled * rows[:, :, None], unlabeled * items[:, None]


def effective_by_output(counts: Counts) -> tuple[FloatArray, FloatArray]:
    """Return counts of Kish's effective size, labelled and unlabelled, where each output's labels are a sample.

    Examples
    --------
    >>> heavy = Counts([[8, 0], [0, 3]], [5, 5], labeled_squares=[[16, 0], [0, 3]], unlabeled_squares=[5, 5])
    >>> effective_by_output(heavy)[0]
    array([[4., 0.],
           [0., 3.]])
    """
    labeled, unlabeled = counts.labeled.astype(np.float64), counts.unlabeled.astype(np.float64)
    if counts.labeled_squares is None or counts.unlabeled_squares is None:
        return labeled, unlabeled
    columns = _shrinkage(labeled.sum(axis=0), counts.labeled_squares.sum(axis=0))
    return labeled * columns, unlabeled * _shrinkage(unlabeled.sum(), counts.unlabeled_squares.sum())


def effective_outputs(counts: Counts) -> FloatArray:
    """Shape (outputs,): outputs of the labelled items, at Kish's effective size of all of them as one sample.

    The shares of the outputs stay those of the weights, whatever the size that each output has by itself.

    Examples
    --------
    >>> heavy = Counts([[8, 0], [0, 2]], [5, 5], labeled_squares=[[32, 0], [0, 2]], unlabeled_squares=[5, 5])
    >>> effective_outputs(heavy).round(3)
    array([2.353, 0.588])
    """
    outputs: FloatArray = counts.labeled.sum(axis=0) * _as_one_sample(counts)
    return outputs


def effective_items(counts: Counts) -> FloatArray:
    """Shape (classes,): labelled items of each class, at Kish's effective size of all of them as one sample.

    Examples
    --------
    >>> heavy = Counts([[8, 0], [0, 2]], [5, 5], labeled_squares=[[32, 0], [0, 2]], unlabeled_squares=[5, 5])
    >>> effective_items(heavy).round(3)
    array([2.353, 0.588])
    """
    items: FloatArray = counts.labeled.sum(axis=1) * _as_one_sample(counts)
    return items


def _as_one_sample(counts: Counts) -> FloatArray | float:
    if counts.labeled_squares is None:
        return 1.0
    return _shrinkage(counts.labeled.sum(), counts.labeled_squares.sum())


def _shrinkage(weight: FloatArray, squares: FloatArray) -> FloatArray:
    return np.divide(weight, squares, out=np.zeros_like(np.asarray(weight)), where=np.asarray(squares) > 0)
