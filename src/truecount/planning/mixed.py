"""Labels of several designs in one answer: from elsewhere, of random items, and of items chosen by their output.

Items of the population that were labelled, at random or by their output, are items whose class is not missing: whether
it is depends on the output alone, which is seen for all. With T[l,k] of them, F[l,k] labels from elsewhere and n[k]
items in all, the likelihood is

    Π φ_lk^F_lk · Π (π_l φ_lk)^T_lk · Π_k q_k^(n_k − Σ_l T_lk)

so that under label shift the posterior is that of ``F + T`` labels and ``n − T`` unlabelled items, where the prior of
the shares has T's classes added. Without label shift (F is nothing) only P(class | output) is learned from T.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from truecount import _check
from truecount._types import IntArray
from truecount.counts import Counts
from truecount.errors import InputError
from truecount.models import ByPrediction, LabelShift, Model, Prior
from truecount.models.priors import LEARNED
from truecount.models.register import require_plain_label_shift


def with_target_labels(counts: Counts, target: Any, model: Model = LabelShift()) -> tuple[Counts, Model]:
    """Return counts and model of a posterior that also knows labels of the population itself.

    Parameters
    ----------
    counts
        Labels from elsewhere (none at all for `ByPrediction`), and all items of the population by output, those of
        `target` among them.
    target
        Shape (classes, outputs): items of the population that were labelled, at random or chosen by their output.
    model
        `LabelShift`, or `ByPrediction`, which learns from `target` alone.

    Returns
    -------
    What to pass to `infer`: ``infer(*with_target_labels(counts, target))``.

    Examples
    --------
    >>> counts = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
    >>> both, model = with_target_labels(counts, [[8, 1], [2, 9]])
    >>> both.unlabeled, model.prior.prevalence
    (array([590, 390]), (10.0, 12.0))
    """
    table = _target_table(counts, target)
    if isinstance(model, ByPrediction):
        return replace_counts(counts, table, counts.unlabeled), model
    require_plain_label_shift(model, "with_target_labels")
    if not isinstance(model, LabelShift):
        needed = "labels of the population are combined under label shift, or stratified by output"
        raise InputError("model", f"is {model!r:.60}", needed, "Pass LabelShift() or ByPrediction()")
    both = replace_counts(counts, counts.labeled + table, counts.unlabeled - table.sum(axis=0))
    if model.prior.prevalence == LEARNED:
        needed = "classes of the labelled items are added to a concentration that is fixed"
        raise InputError("model", "has Prior(prevalence='learned')", needed, "Pass a number, such as prevalence=1")
    shares = model.prior.prevalence_for(counts) + table.sum(axis=1)
    prior = Prior(shares.tolist(), model.prior.confusion, known=model.prior.known)
    return both, replace(model, prior=prior)


def replace_counts(counts: Counts, labeled: Any, unlabeled: Any) -> Counts:
    """Return counts with the same names."""
    return Counts(labeled, unlabeled, counts.classes, counts.outputs, combinations=counts.combinations)


def _target_table(counts: Counts, target: Any) -> IntArray:
    """Check labels of the population: as many classes and outputs, and no more items than there are."""
    if counts.is_weighted or counts.clusters is not None:
        what = "are weighted" if counts.is_weighted else "have clusters"
        needed = "labelled items of the population are taken from the unlabelled ones, whole and independent"
        raise InputError("counts", what, needed, "Count without weights and clusters")
    found = target.ordered_like(counts).labeled if isinstance(target, Counts) else target
    table = np.asarray(_check.finite_numbers("target", found, dimensions=2))
    if table.shape != counts.labeled.shape:
        needed = f"it must have a row for each class and a column for each output, {counts.labeled.shape}"
        raise InputError("target", f"has shape {table.shape}", needed, "Count it with the same classes and outputs")
    if (table < 0).any() or (table != np.rint(table)).any():
        needed = "it must hold whole numbers of items, 0 or more"
        raise InputError(
            "target", f"holds {table[(table < 0) | (table != np.rint(table))][0]:g}", needed, "Count items"
        )
    whole: IntArray = table.astype(np.int64)
    beyond = whole.sum(axis=0) > counts.unlabeled
    if beyond.any():
        name = counts.outputs[int(np.argmax(beyond))]
        needed = "labelled items of the population are among its items"
        raise InputError("target", f"has more items of output {name!r} than there are", needed, "Count all items")
    return whole
