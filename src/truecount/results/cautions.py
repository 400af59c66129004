"""The findings that cost nothing: read off the counts, the prior and the record of the draws."""

import numpy as np

from truecount.counts import Counts
from truecount.counts.weights import effective_counts
from truecount.inference.draws import Draws
from truecount.models import Prior
from truecount.results.finding import Finding


def cautions(counts: Counts, prior: Prior, draws: Draws) -> tuple[Finding, ...]:
    """Say what a reader should know about this answer."""
    found = [_no_unlabeled(counts), _weighted(counts), _unlabeled_class(counts, prior), _fewer_outputs(counts), _not_converged(draws)]
    return tuple(finding for finding in found if finding is not None)


def _no_unlabeled(counts: Counts) -> Finding | None:
    if counts.unlabeled.sum():
        return None
    return Finding(
        "no-unlabeled",
        "serious",
        "There are no unlabelled items, so this is only what was believed before.",
        advice="Count the outputs of the population in question.",
    )


def _weighted(counts: Counts) -> Finding | None:
    if not counts.is_weighted:
        return None
    labeled, unlabeled = effective_counts(counts)
    return Finding(
        "weighted-counts",
        "info",
        f"The counts are sums of weights; they were taken to be worth {labeled.sum():.0f} labelled and {unlabeled.sum():.0f} unlabelled items.",
        {"labeled": float(labeled.sum()), "unlabeled": float(unlabeled.sum())},
        "Use the unweighted rows where the weights do not correct how items were sampled.",
    )


def _unlabeled_class(counts: Counts, prior: Prior) -> Finding | None:
    learned = np.isnan(prior.known_for(counts)[:, 0])
    empty = [name for name, row, free in zip(counts.classes, counts.labeled, learned, strict=True) if free and not row.sum()]
    if not empty:
        return None
    listed = ", ".join(map(str, empty))
    return Finding(
        "unlabeled-class",
        "caution",
        f"No labelled item belongs to {listed}: what the box does with {'it' if len(empty) == 1 else 'them'} is only assumed.",
        {"classes": empty},
        f"Label some items of {listed}.",
    )


def _fewer_outputs(counts: Counts) -> Finding | None:
    n_classes, n_outputs = counts.labeled.shape
    if n_outputs >= n_classes:
        return None
    return Finding(
        "not-identified",
        "caution",
        f"{n_outputs} output{'' if n_outputs == 1 else 's'} cannot tell {n_classes} classes apart: some shares stay as uncertain as the prior, however many items there are.",
        {"outputs": n_outputs, "classes": n_classes},
        "Use a box with as many outputs as classes, for instance by keeping its scores.",
    )


def _not_converged(draws: Draws) -> Finding | None:
    reason = draws.record.get("not_converged")
    if not reason:
        return None
    return Finding(
        "not-converged",
        "serious",
        f"The draws have not settled: {reason}.",
        {},
        "Draw longer, for instance with Auto(budget=...), or use a stronger prior.",
    )
