"""Labels in batches: which items to label next, and when to stop."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from truecount import _check
from truecount._types import FloatArray, IntArray, Name
from truecount.counts import Counts, Groups
from truecount.errors import InputError
from truecount.models import LabelShift, Model
from truecount.models.given_output import OutputModel
from truecount.planning.batch import OutputKnowledge, drop_most, exact_knowledge, knowledge, of_groups
from truecount.planning.goal import Goal
from truecount.planning.mixed import with_target_labels
from truecount.planning.pilot import posterior_draws
from truecount.scores import Scores

DRAWS = 4000
"""Of which the ends of intervals are found, before labelling is stopped."""
FEW_DRAWS, CLEARLY = 500, 1.25
"""A few draws are enough where intervals are wider by so many times: five standard errors of a width by so few."""
CLEARLY_BY_FORM = 1.1
"""By how many times intervals must be wider by their standard deviations, which are exact, for draws to be spared."""

BY_CELLS = "Sort scores into cells: scores.to_counts(truecount.scores.Bins(5).fit(scores.unlabeled))"


def next_batch(
    counts: Counts | Groups,
    number: int,
    *,
    target: Any = None,
    model: Model = LabelShift(),
    of: Any = None,
    seed: int = 0,
) -> dict[Any, Any]:
    """Say how many items of each output to label next, so that intervals are expected to narrow most.

    Parameters
    ----------
    counts
        Labels from elsewhere, and all items of the population by output; the next labels are of these items. Outputs
        may be predictions, or predictions by confidence (cells): ``scores.to_counts(Bins(5).fit(scores.unlabeled))``.
        Of `Groups`, items are chosen by group too.
    number
        How many to label.
    target
        Shape (classes, outputs): items of the population that are labelled already, at random or by output; of groups
        a mapping from group to such a table.
    model
        `LabelShift` where labels from elsewhere carry over; `ByPrediction` where only labels of the population count.
    of
        The class that matters; all by default, of which the one with the widest interval matters most.
    seed
        Of the draws.

    Returns
    -------
    How many of each output; for groups, that for each group. Within an output they must be chosen at random.

    Notes
    -----
    Afterwards infer from ``with_target_labels(counts, target, model)``, whatever was random and what was chosen: which
    items were labelled depends on their outputs alone, so that the posterior stays valid. `may_stop` says when the
    answer is narrow enough. Groups are inferred from each by itself: ``for group, own in groups.apart()``.

    Examples
    --------
    >>> counts = Counts([[140, 60], [20, 180]], [6000, 4000], classes=["fail", "pass"])
    >>> sum(next_batch(counts, 100).values())
    100
    """
    number, seed = _check.whole_number("number", number, least=1), _check.whole_number("seed", seed, least=0)
    if isinstance(counts, Groups):
        parts = dict(counts.apart())
        targets = _targets_of_groups(target, counts)
        states = [_state(own, targets.get(group), model, of, seed) for group, own in parts.items()]
        shares = np.split(_divided(states, number), len(states))
        return {group: _named(counts.outputs, own) for group, own in zip(parts, shares, strict=True)}
    _check.instance_of("counts", counts, Counts, BY_CELLS if isinstance(counts, Scores) else "Count first")
    return _named(counts.outputs, _divided([_state(counts, target, model, of, seed)], number))


def _named(outputs: tuple[Name, ...], numbers: IntArray) -> dict[Any, int]:
    return {name: int(many) for name, many in zip(outputs, numbers, strict=True)}


def _targets_of_groups(target: Any, groups: Groups) -> Mapping[Any, Any]:
    """Return the labelled items of the groups that have any."""
    if target is None:
        return {}
    if not isinstance(target, Mapping) or any(group not in groups for group in target):
        needed = "of groups it maps a group to its table (class × output)"
        raise InputError("target", f"is {target!r:.60}", needed, f"Pass {{{groups.groups[0]!r}: [[...], [...]]}}")
    return target


def _state(counts: Counts, target: Any, model: Model, of: Any, seed: int) -> tuple[OutputKnowledge, IntArray]:
    """Return what is known of the classes of each output, and how many items of it are left."""
    none = np.zeros(counts.labeled.shape, int)
    both, combined = with_target_labels(counts, none if target is None else target, model)
    elsewhere = counts.labeled if isinstance(combined, LabelShift) else none
    labeled = none if target is None else np.asarray(both.labeled) - elsewhere
    left = np.asarray(counts.unlabeled - labeled.sum(axis=0), dtype=np.int64)
    places = Goal.narrow(0.25, of=of).places(counts.classes)
    if isinstance(combined, LabelShift):
        return knowledge(posterior_draws(both, combined, seed), places), left
    if labeled.sum():
        return exact_knowledge(cast("OutputModel", combined).closed_form(both), places), left
    shares = counts.unlabeled / counts.unlabeled.sum()
    return OutputKnowledge(shares**2, np.ones(len(shares))), left


def _divided(states: Sequence[tuple[OutputKnowledge, IntArray]], number: int) -> IntArray:
    """Return how many of each output of each state to label, one after the other."""
    left = np.concatenate([each for _, each in states])
    if left.sum() < number:
        needed = f"{left.sum():,} items of the population are left"
        raise InputError("number", f"is {number:,}", needed, f"Ask for at most {left.sum():,}")
    return drop_most(of_groups([known for known, _ in states]), number, left)


def may_stop(
    counts: Counts,
    half_width: float,
    *,
    target: Any,
    model: Model = LabelShift(),
    of: Any = None,
    level: float = 0.95,
    seed: int = 0,
) -> bool:
    """Whether the answer is narrow enough to stop labelling in batches.

    Parameters
    ----------
    counts, target, model, of, seed
        As of `next_batch`; the labels of the batches so far are in `target`.
    half_width
        What the intervals of all classes, or of the class `of`, must not exceed: half of their width.
    level
        Of the intervals.

    Notes
    -----
    A posterior does not depend on why one stopped, but how often its interval holds the truth does: one stops where
    the interval is narrow, which it is more often where rare classes were missed. ``benchmarks/plan.py batches``
    measures how often intervals hold with this rule.

    Examples
    --------
    >>> from truecount import ByPrediction
    >>> counts = Counts([[0, 0], [0, 0]], [6000, 4000], classes=["fail", "pass"])
    >>> [may_stop(counts, 0.02, target=[[n, 0], [0, n]], model=ByPrediction()) for n in (20, 400)]
    [False, True]
    """
    _check.instance_of("counts", counts, Counts, "Count first")
    goal = Goal.narrow(half_width, of=of)
    tail, seed = (1 - _check.level(level)) / 2, _check.whole_number("seed", seed, least=0)
    both, combined = with_target_labels(counts, target, model)
    places, widest = goal.places(counts.classes), 2 * goal.share
    if isinstance(combined, LabelShift):
        few = posterior_draws(both, combined, seed, FEW_DRAWS).prevalence[:, places]
        if _width(few, tail) > CLEARLY * widest:
            return False
    elif _normal_width(cast("OutputModel", combined).closed_form(both).sd[places], tail) > CLEARLY_BY_FORM * widest:
        return False
    return bool(_width(posterior_draws(both, combined, seed, DRAWS).prevalence[:, places], tail) <= widest)


def _width(shares: FloatArray, tail: float) -> float:
    """Return the width of the widest interval; `shares` has shape (draws, classes)."""
    return float(np.ptp(np.quantile(shares, [tail, 1 - tail], axis=0), axis=0).max())


def _normal_width(deviations: FloatArray, tail: float) -> float:
    """Return the same for normal distributions with these standard deviations."""
    from scipy.special import ndtri

    return float(2 * ndtri(1 - tail) * deviations.max())
