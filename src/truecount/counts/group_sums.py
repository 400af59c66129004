"""Shards of one data set become one: labels of the same study and items of the same group add."""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from truecount.counts.clusters import add_clusters
from truecount.counts.combinations import common_combinations
from truecount.counts.group_parts import merged_times
from truecount.errors import InputError

if TYPE_CHECKING:
    from truecount.counts.groups import Groups


def added_parts(first: "Groups", second: "Groups") -> dict[str, Any]:
    """Return what the sum of two has in place of the first: labels of each study and items of each group added."""
    if (first.studies is None) != (second.studies is None) or first.by != second.by:
        found = "are made in different ways"
        raise InputError("groups", found, "both need the same by columns, and studies or none", "Count both alike")
    groups = tuple(dict.fromkeys(first.groups + second.groups))
    studies = tuple(dict.fromkeys((first.studies or (None,)) + (second.studies or (None,))))
    weighted = first.is_weighted or second.is_weighted

    def added(side: str, names: Sequence[Any], own: "Callable[[Groups], Sequence[Any]]") -> NDArray[Any]:
        total = np.zeros((len(names), *getattr(first, side.removesuffix("_squares")).shape[1:]))
        for each in (first, second):
            values = getattr(each, side)
            values = getattr(each, side.removesuffix("_squares")) if values is None else values
            np.add.at(total, [names.index(name) for name in own(each)], values)
        return total if weighted else total.astype(np.int64)

    def own_studies(each: "Groups") -> Sequence[Any]:
        return each.studies or (None,)

    changes: dict[str, Any] = {
        "groups": groups,
        "studies": None if first.studies is None else studies,
        "labeled": added("labeled", studies, own_studies),
        "unlabeled": added("unlabeled", groups, lambda each: each.groups),
        "times": merged_times(first, second, groups),
    }
    shape = (len(studies), len(groups))
    own = [
        None
        if each.clusters is None
        else each.clusters.placed(_at(studies, own_studies(each)), _at(groups, each.groups), shape)
        for each in (first, second)
    ]
    changes["clusters"] = add_clusters(*own)
    changes["combinations"] = common_combinations(first.combinations, second.combinations)
    both = [each.label_groups for each in (first, second) if each.label_groups is not None]
    changes["label_groups"] = reduce(add, both) if both else None
    if weighted:
        changes["labeled_squares"] = added("labeled_squares", studies, own_studies)
        changes["unlabeled_squares"] = added("unlabeled_squares", groups, lambda each: each.groups)
    return changes


def _at(names: Sequence[Any], own: Sequence[Any]) -> list[int]:
    return [names.index(name) for name in own]
