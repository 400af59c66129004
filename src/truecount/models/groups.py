"""Groups, a prior and a choice of how groups vary become a density."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from truecount._types import FloatArray
from truecount._wording import quoted
from truecount.counts.groups import Groups
from truecount.counts.weights import effective_groups
from truecount.errors import InputError
from truecount.models.hierarchy.pooled import PooledDensity, pooled_density
from truecount.models.hierarchy.rows import Rows
from truecount.models.priors import Prior
from truecount.models.variation import Pooled, Walk


def group_density(groups: Groups, prior: Prior, variation: Pooled | Walk) -> PooledDensity:
    """Put groups, prior and a choice of how groups vary together."""
    labeled, unlabeled = effective_groups(groups)
    whole = groups.total
    rows = Rows(prior.confusion_for(whole) + labeled.sum(axis=0), prior.known_for(whole))
    intercept = np.ones((1, len(groups)))
    if isinstance(variation, Walk):
        loadings = (walk_loading(groups), np.eye(len(groups)))[: 1 + variation.noise]
        return pooled_density(
            rows, unlabeled.T, prior.prevalence_for(whole), intercept, loadings=loadings, spread_scale=variation.spread
        )
    design = np.vstack([intercept, _covariates(groups, variation.covariates)])
    concentration = prior.prevalence_for(whole)
    return pooled_density(
        rows, unlabeled.T, concentration, design, spread_scale=variation.spread, effect=variation.effect
    )


def walk_loading(groups: Groups) -> FloatArray:
    """Return how much each step of the walk counts at each group, shape (groups, steps), typical steps having length 1.

    >>> walk_loading(Groups([[9, 1], [1, 9]], {"a": [1, 1], "b": [2, 2], "c": [3, 3]}, times=[0, 1, 5])).round(2)
    array([[0.  , 0.  ],
           [0.63, 0.  ],
           [0.63, 1.26]])
    """
    if groups.times is None:
        needed = "a walk needs the time of every group"
        raise InputError("groups", "have no times", needed, "Pass Groups(..., times=...), or count by={'time': 'week'}")
    times = (groups.times - groups.times.min()).astype(np.float64)
    order = np.argsort(times, kind="stable")
    gaps = np.diff(times[order])
    if len(times) < 2 or (gaps <= 0).any():
        found = "are fewer than two" if len(times) < 2 else "hold one time twice"
        raise InputError("times", found, "a walk goes from one time to the next", "Use Pooled(), or merge such groups")
    after = np.tril(np.ones((len(times), len(times))))[:, 1:] * np.sqrt(gaps / np.median(gaps))
    loading: FloatArray = np.empty_like(after)
    loading[order] = after
    return loading


def _covariates(groups: Groups, given: Any) -> FloatArray:
    """Return standardised columns, shape (columns, groups)."""
    if given is None:
        return np.empty((0, len(groups)))
    if isinstance(given, Mapping):
        columns = {str(name): _by_group(str(name), values, groups) for name, values in given.items()}
    else:
        matrix = np.atleast_2d(np.asarray(given).T)
        columns = {str(number): column for number, column in enumerate(matrix)}
    result = []
    for name, values in columns.items():
        argument = f"covariates[{name!r}]"
        try:
            column = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            needed = "a covariate has a number for each group"
            raise InputError(argument, "holds other things than numbers", needed, "Code it as numbers") from error
        if column.shape != (len(groups),):
            found, needed = f"has shape {column.shape}", f"there are {len(groups)} groups"
            raise InputError(argument, found, needed, "Give one number for each group")
        if not np.isfinite(column).all():
            missing = quoted([groups.groups[at] for at in np.flatnonzero(~np.isfinite(column))])
            raise InputError(
                argument, f"is missing for {missing}", "every group needs it", "Fill it in, or leave it out"
            )
        if not column.std():
            raise InputError(argument, "is the same in all groups", "it must tell groups apart", "Leave it out")
        result.append((column - column.mean()) / column.std())
    return np.array(result)


def _by_group(name: str, values: Any, groups: Groups) -> Any:
    if not isinstance(values, Mapping):
        return values
    for group in groups.groups:
        if group not in values:
            raise InputError(f"covariates[{name!r}]", f"lacks the group {group!r}", "every group needs it", "Add it")
    return [values[group] for group in groups.groups]
