"""What groups are made of, checked: their names, their items, their times, and the columns they come from."""

from collections import Counter as Sums
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from truecount import _check
from truecount.counts.table import checked_cells
from truecount.errors import InputError


def group_keys(mapping: Mapping[Any, Any], argument: str = "unlabeled") -> tuple[Any, ...]:
    """Return the names of groups or studies: names, dates, or tuples of them; two that look alike are refused."""
    keys = tuple(_plain_key(key) for key in mapping)
    for part in (part for key in keys for part in (key if isinstance(key, tuple) else (key,))):
        if not isinstance(part, str | int | float | date | None) or part != part:
            needed = "groups and studies are named by strings, numbers or dates"
            raise InputError(argument, f"names {part!r:.60}", needed, "Rename it, for instance with str()")
    _check.distinguishable(argument, keys, remedy="Rename one of them")
    return keys


def _plain_key(key: Any) -> Any:
    return tuple(map(_check.plain_name, key)) if isinstance(key, tuple) else _check.plain_name(key)


def written_keys(by: Sequence[str], groups: Any) -> list[tuple[Any, ...]]:
    """Return the groups of a document, each of which has a key for every column and stands once."""
    if not isinstance(groups, list) or any(not isinstance(group, list) or len(group) != len(by) for group in groups):
        raise InputError("groups", "do not match by", "each has a key for every column", "Count the data again")
    for key in chain.from_iterable(groups):
        if not isinstance(key, str | int | float | None) or key != key:
            raise InputError("groups", f"hold {key!r:.60}", "keys are names, or null", "Count the data again")
    found = [tuple(group) for group in groups]
    for group, often in Sums(found).items():
        if often > 1:
            needed = "each stands once"
            raise InputError("groups", f"hold {list(group)} {often} times", needed, "Add up its counts, or count again")
    return found


def group_row(group: Any, row: Any) -> Any:
    """Return the items of a group; an error names it."""
    try:
        return _check.finite_numbers("unlabeled", row, dimensions=1)
    except InputError as error:
        raise error.about(f"unlabeled[{group!r}]") from error


def rectangular(
    tables: Sequence[Any], rows: Sequence[NDArray[Any]], groups: Sequence[Any], studies: Sequence[Any] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return labels (study, class, output) and items (group, output), all of the same classes and outputs."""
    for group, row in zip(groups, rows, strict=True):
        if len(row) != len(rows[0]):
            found = f"counts {len(row)} outputs and unlabeled[{groups[0]!r}] {len(rows[0])}"
            raise InputError(f"unlabeled[{group!r}]", found, "all groups have the same outputs", "Write 0 for none")
    labeled = []
    for number, table in enumerate(tables):
        which = f"labeled[{studies[number]!r}]" if studies else "labeled"
        try:
            labeled.append(checked_cells(table, rows[0])[0])
        except InputError as error:
            raise error.about(which) from error
        if labeled[-1].shape != labeled[0].shape:
            found = f"has shape {labeled[-1].shape} and the first study {labeled[0].shape}"
            raise InputError(which, found, "all studies have the same classes and outputs", "Write 0 for none")
    if not labeled:
        raise InputError("labeled", "is empty", "at least one study is needed", "Pass a table, or {study: table}")
    return np.stack(labeled), np.stack(rows)


def aligned_squares(argument: str, squares: Any, counts: Any) -> Any:
    """Return squared weights as one array, in the order of the counts that they belong to."""
    if squares is None:
        return None
    if not isinstance(counts, Mapping):
        return np.asarray([squares])
    if not isinstance(squares, Mapping) or set(squares) != set(counts):
        raise InputError(argument, "does not match the counts", "it must name the same groups", "Give a table for each")
    return np.asarray([squares[name] for name in counts])


def group_times(times: Any, groups: Sequence[Any]) -> NDArray[Any]:
    """Return the time of each group: floats, or datetime64 for dates."""
    if isinstance(times, Mapping):
        for group in groups:
            if group not in times:
                raise InputError("times", f"lack the group {group!r}", "every group needs a time", "Add it")
        times = [times[group] for group in groups]
    values = [_check.plain_name(value) for value in times]
    if len(values) != len(groups):
        raise InputError("times", f"are {len(values)}", f"there are {len(groups)} groups", "Give one for each group")
    try:
        are_numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        result = np.array(values, dtype=np.float64 if are_numbers else "datetime64[s]")
    except (TypeError, ValueError) as error:
        needed = "times must be all numbers or all dates, so that they can be ordered"
        raise InputError("times", f"hold {values[0]!r:.60}", needed, "Write dates as 2024-05-27") from error
    if not np.isfinite(result.astype(np.float64)).all() or (result != result).any():
        raise InputError("times", "have gaps", "every group needs a time", "Leave out groups without one")
    result.flags.writeable = False
    return result


def group_columns(by: Sequence[str], groups: Sequence[Any]) -> tuple[str, ...]:
    """Return a name for each part of the groups' keys."""
    parts = {len(group) if isinstance(group, tuple) else 1 for group in groups}
    if len(parts) > 1:
        found = f"has keys of {' and of '.join(map(str, sorted(parts)))} parts"
        raise InputError("unlabeled", found, "all groups are made alike", "Use as many parts in every key")
    (number,) = parts
    columns = (by,) if isinstance(by, str) else tuple(by)
    columns = columns or (("group",) if number == 1 else tuple(f"group {part}" for part in range(1, number + 1)))
    if len(columns) != number:
        found, needed = f"names {len(columns)}", f"the key {groups[0]!r} has {number} part{'s' * (number > 1)}"
        raise InputError("by", found, needed, "Name a column for each part of a group's key")
    return columns


def merged_times(first: Any, second: Any, groups: Sequence[Any]) -> NDArray[Any] | None:
    """Return the times of these groups, which two `Groups` have, once or alike."""
    if first.times is None and second.times is None:
        return None
    known: dict[Any, Any] = {}
    for each in (first, second):
        for group, time in zip(each.groups, each.times if each.times is not None else (), strict=False):
            if known.setdefault(group, time) != time:
                needed = "a group has one time"
                raise InputError("times", f"of the group {group!r} differ", needed, "Make it two groups")
    if len(known) < len(groups):
        raise InputError("times", "are missing on one side", "every group needs a time", "Give times to both")
    return np.array([known[group] for group in groups])
