"""Whether the confusion is the same across groups."""

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from truecount.counts import Counts
from truecount.counts.weights import effective_counts
from truecount.diagnostics.fit import MOST_TIMES, Tables
from truecount.diagnostics.homogeneity import HomogeneityTest, homogeneity_test
from truecount.diagnostics.shift import CAUTION, SERIOUS, bootstrap
from truecount.errors import InputError
from truecount.models import Density
from truecount.results.finding import Finding


def pooled(groups: Mapping[Any, Counts]) -> Counts:
    """Put all groups together: the unlabelled sides of groups that share labels, both sides of others.

    No group is left that would share these labels, so that they are no longer marked as shared.
    """
    if not groups:
        raise InputError("data", "has no groups", "a check needs counts", "Pass Counts, or a mapping to them")
    first, *others = groups.values()
    return replace(first.pool(*others), tables=frozenset()) if share_labels(groups) else reduce(add, others, first)


def share_labels(groups: Mapping[Any, Counts]) -> bool:
    """Whether all groups were split off one labelled table."""
    tables = [counts.tables for counts in groups.values()]
    return bool(tables[0]) and all(each == tables[0] for each in tables)


def rows_test(groups: Mapping[Any, Counts], *, seed: int) -> HomogeneityTest:
    """Test that each class has the same outputs in every group, by the groups' own labels."""
    reference = next(iter(groups.values()))
    tables = [effective_counts(counts.ordered_like(reference))[0] for counts in groups.values()]
    return homogeneity_test(np.array(tables), seed=seed)


def joint_test(groups: Mapping[Any, Counts], model: Density, *, replicates: int, seed: int) -> tuple[float, float]:
    """Test that one confusion explains the unlabelled outputs of every group; gives the deviance and its p-value."""
    reference = next(iter(groups.values()))
    labeled = np.where(model.is_known[:, None], 0.0, effective_counts(reference)[0])
    unlabeled = np.array([effective_counts(counts.ordered_like(reference))[1] for counts in groups.values()])
    unlabeled = unlabeled[unlabeled.any(axis=1)]
    if not len(unlabeled):
        return 0.0, 1.0
    sizes = unlabeled.sum(axis=1)
    most = MOST_TIMES * max(labeled.sum(), 1.0) if labeled.any() else np.inf
    scale = np.minimum(1.0, most / np.maximum(sizes, 1.0))
    tables = Tables(labeled=labeled[None], unlabeled=(unlabeled * scale[:, None])[None], known=model.known)
    return bootstrap(tables, sizes, replicates, np.random.default_rng(seed))


def joint_findings(deviance: float, p_value: float) -> tuple[Finding, ...]:
    """Say that no one confusion explains all groups."""
    if p_value > CAUTION:
        return ()
    return (
        Finding(
            "label-shift-violated",
            "serious" if p_value <= SERIOUS else "caution",
            f"No one way of treating the classes explains the outputs of all groups (p = {p_value:.2g}): the box "
            "treats some class differently from group to group.",
            {"deviance": deviance, "p_value": p_value},
            "Label some items of each group, and pass the groups with labels of their own.",
        ),
    )
