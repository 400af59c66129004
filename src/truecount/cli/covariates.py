"""Columns that say something of each group: numbers, or names that become one column each."""

from collections.abc import Sequence
from typing import Any

from truecount._wording import is_number, quoted
from truecount.counts import Groups
from truecount.errors import InputError
from truecount.reading.names import group_name, mapping_key, sorted_groups

OPTION = "--covariate"


def without_covariates(
    groups: Groups, columns: Sequence[str], made_by: Sequence[str]
) -> tuple[Groups, dict[str, dict[Any, float]]]:
    """Return groups made by the columns `made_by` alone, and what the others say of each of them.

    Numbers are taken as they are. Of other values the first in order is what all others are compared with, and each
    other has a column of its own, which is 1 in the groups that have it.
    """
    by = list(groups.by)
    for column in columns:
        if column not in by:
            raise InputError(OPTION, f"names {column!r}", f"the groups are made by {quoted(by)}", "Choose one of these")
    kept = [at for at, column in enumerate(by) if column in made_by]
    keys = [group if isinstance(group, tuple) else (group,) for group in groups.groups]
    names = [mapping_key(tuple(key[at] for at in kept)) for key in keys]
    seen: dict[Any, Any] = {}
    for name, key in zip(names, keys, strict=True):
        if name in seen:
            found = f"says two things of {group_name(name)}: {group_name(seen[name])!r} and {group_name(key)!r}"
            needed = "a covariate has one value in each group"
            raise InputError(OPTION, found, needed, "Add it to --by, or choose another column")
        seen[name] = key
    covariates: dict[str, dict[Any, float]] = {}
    for column in columns:
        covariates |= _coded(column, {name: key[by.index(column)] for name, key in seen.items()})
    return groups.renamed(names, by=[by[at] for at in kept]), covariates


def _coded(column: str, values: dict[Any, Any]) -> dict[str, dict[Any, float]]:
    """Return numbers, or a column of 0 and 1 for each name but the first."""
    present = [value for value in values.values() if value is not None]
    if len(present) < len(values):
        lacking = [group_name(group) for group, value in values.items() if value is None]
        found = f"{column!r} is missing for {quoted(lacking)}"
        raise InputError(OPTION, found, "every group needs it", "Fill it in, or leave the covariate out")
    if all(is_number(value) for value in present):
        return {column: {group: float(value) for group, value in values.items()}}
    _, *others = [level for (level,) in sorted_groups({(value,) for value in present})]
    return {
        f"{column}={group_name(level)}": {group: float(value == level) for group, value in values.items()}
        for level in others
    }
