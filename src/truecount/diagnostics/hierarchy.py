"""What to know of an answer for many groups."""

import numpy as np

from truecount._wording import called, listed, percent
from truecount.counts.groups import Groups
from truecount.counts.weights import effective_groups
from truecount.inference import convergence
from truecount.inference.hierarchical import GroupDraws
from truecount.models.priors import Prior
from truecount.reading.names import group_name
from truecount.results.finding import Finding, Severity, gravest_first

MOVED, MOVED_FAR = 2.0, 3.0
"""Standard deviations of what the labels say, by which groups moved a rate of the confusion."""
FEW_GROUPS = 5
"""Below so many the prior of the spread has a say in the answer."""
MOST_UNSEEN = 0.5
"""Share of the items with outputs without labels, from which on that is serious."""


def group_findings(groups: Groups, prior: Prior, draws: GroupDraws) -> tuple[Finding, ...]:
    """Return what to know before relying on the answer, the gravest first."""
    return gravest_first(
        [
            _not_converged(groups, draws),
            _labels_outweighed(groups, prior, draws),
            _unseen_output(groups),
            _few_groups(groups, draws),
            _empty_groups(groups),
        ]
    )


def _not_converged(groups: Groups, draws: GroupDraws) -> Finding | None:
    flat = draws.prevalence.reshape(len(draws.prevalence), -1)
    rhat = max(float(convergence.rhat_fast(flat, draws.chains).max()), draws.hyper_rhat())
    effective = float(convergence.effective_fast(flat, draws.chains).min())
    if rhat <= convergence.RHAT_LIMIT and effective >= convergence.FEWEST_EFFECTIVE:
        return None
    severity: Severity = "caution" if rhat <= 1.05 and effective >= convergence.FEWEST_EFFECTIVE else "serious"
    return Finding(
        "not-converged",
        severity,
        f"The chains of the {len(groups)} groups have not converged: R-hat is {rhat:.3f} (wanted at most "
        f"{convergence.RHAT_LIMIT}), the least effective sample size {effective:.0f}.",
        {"rhat": rhat, "effective_draws": effective},
        "Draw again with another seed; if that does not help, label more items, or merge small groups.",
    )


def _labels_outweighed(groups: Groups, prior: Prior, draws: GroupDraws) -> Finding | None:
    """Find the rate of the confusion that the groups moved furthest from what its labels say."""
    whole = groups.total
    rows = prior.confusion_for(whole) + effective_groups(groups)[0].sum(axis=0)
    size = rows.sum(axis=1, keepdims=True)
    said = rows / size
    sd = np.sqrt(said * (1 - said) / (size + 1))
    found = draws.confusion.mean(axis=0)
    moved = np.where(np.isnan(prior.known_for(whole)), np.abs(found - said) / sd, 0.0)
    row, column = np.unravel_index(moved.argmax(), moved.shape)
    if moved[row, column] < MOVED:
        return None
    name, output = called(groups.classes[row]), str(groups.outputs[column])
    return Finding(
        "labels-outweighed",
        "serious" if moved[row, column] >= MOVED_FAR else "caution",
        f"By its labels and their prior, {name} gets the output {output} {percent(said[row, column])} of the time; by "
        f"the {len(groups)} groups taken together, {percent(found[row, column])}. Either the classifier treats the "
        "groups differently from the labelled items, or the labels are few.",
        {
            "class": groups.classes[row],
            "output": groups.outputs[column],
            "by_labels": float(said[row, column]),
            "by_all": float(found[row, column]),
            "standard_deviations": float(moved[row, column]),
            "groups": len(groups),
        },
        f"Label more items of {name}, some in each group.",
    )


def _unseen_output(groups: Groups) -> Finding | None:
    unseen = groups.labeled.sum(axis=(0, 1)) == 0
    items = groups.unlabeled[:, unseen].sum()
    if not items:
        return None
    names = [str(name) for name, is_unseen in zip(groups.outputs, unseen, strict=True) if is_unseen]
    share = float(items / groups.unlabeled.sum())
    return Finding(
        "unseen-output",
        "serious" if share >= MOST_UNSEEN else "caution",
        f"{percent(share)} of the unlabelled items have the output {listed(names)}, which no labelled item has.",
        {"share": share, "outputs": names},
        "Label some items with that output.",
    )


def _few_groups(groups: Groups, draws: GroupDraws) -> Finding | None:
    if not draws.spread.shape[1] or len(groups) >= FEW_GROUPS:
        return None
    return Finding(
        "few-groups",
        "info",
        f"{len(groups)} groups say little of how much groups differ: the prior of the spread has a say in how far each "
        "is drawn towards the others.",
        {"groups": len(groups)},
        "Compare with another spread=, or with Independent().",
    )


def _empty_groups(groups: Groups) -> Finding | None:
    empty = np.flatnonzero(groups.unlabeled.sum(axis=1) == 0)
    if not len(empty):
        return None
    names = [group_name(groups.groups[at]) for at in empty]
    return Finding(
        "group-without-items",
        "info",
        f"{listed(names)} {'has' if len(names) == 1 else 'have'} no unlabelled items: the answer is a prediction from "
        "the other groups.",
        {"groups": names},
        "Leave out what is not meant to be predicted.",
    )
