"""A value of a table becomes the name of a class or an output, or the key of a group; None where it is missing."""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any, TypeAlias

from truecount import _check
from truecount._types import Name
from truecount.errors import InputError

Key: TypeAlias = Name | date | None
"""What a group may be called; `datetime.datetime` is a `date` too."""
Group: TypeAlias = tuple[Key, ...]
"""The group of a row: a key for each column that groups are made by."""


def as_name(value: Any, *, table: str, column: str) -> Name | None:
    """Give a value as the name of a class or an output.

    Blanks around a string are not part of it, and nothing but blanks is a missing value. Whole numbers are whole
    however they are stored.

    Examples
    --------
    >>> [as_name(value, table="table", column="label") for value in (" yes ", " ", 2.0, float("nan"), True)]
    ['yes', None, 2, None, True]
    """
    plain = plain_value(value)
    if plain is None or isinstance(plain, str | bool | int):
        return plain
    if isinstance(plain, float | Decimal) and isfinite(plain):
        return int(plain) if plain == int(plain) else float(plain)
    found = f"holds {value!r:.60} in column {column!r}"
    raise InputError(table, found, "names are strings, numbers or booleans", "Write the names as text")


def as_key(value: Any, *, table: str, column: str) -> Key:
    """Give a value as the key of a group: a name, a date or a time."""
    plain = plain_value(value)
    if isinstance(plain, date):
        return plain
    return as_name(plain, table=table, column=column)


def plain_value(value: Any) -> Any:
    """Give None for whatever is missing, Python's own kinds for NumPy's and pandas', and strings without blanks.

    NaN and NaT are unequal to themselves; pandas' NA is neither equal nor unequal. Times with a zone are given in UTC,
    without it.
    """
    value = _check.plain_name(value)
    if isinstance(value, str):
        return str.__str__(value).strip() or None
    if value is None or (value == value) is not True:
        return None
    value = value.to_pydatetime() if hasattr(value, "to_pydatetime") else value
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def sorted_groups(groups: Iterable[Group]) -> list[Group]:
    """Sort groups by their first key, then by the next: numbers, strings, dates, and what is missing last.

    Text that holds whole numbers only, as in a column of a CSV file, is sorted as numbers.

    >>> sorted_groups([("10", "x"), ("9", "y"), ("9", "10"), (None, "9")])
    [('9', '10'), ('9', 'y'), ('10', 'x'), (None, '9')]
    """
    found = list(groups)
    ranks = [_rank_of_number if all(map(_is_number_or_none, keys)) else _rank for keys in zip(*found, strict=True)]
    return sorted(found, key=lambda group: [rank(key) for rank, key in zip(ranks, group, strict=True)])


def _is_number_or_none(key: Key) -> bool:
    return key is None or (isinstance(key, str) and re.fullmatch(r"-?[0-9]{1,300}", key) is not None)


def _rank_of_number(key: Key) -> tuple[int, Any]:
    return _rank(key) if key is None else (1, (int(str(key)), key))


def _rank(key: Key) -> tuple[int, Any]:
    if key is None:
        return 3, 0
    if isinstance(key, date):
        return 2, (isinstance(key, datetime), key)
    return int(isinstance(key, str)), key


def mapping_key(group: Group) -> Any:
    """Give the key of a group in a mapping: that of its column, or one for each of several."""
    return group[0] if len(group) == 1 else group


def written(key: Name | date | None) -> Name | None:
    """Give a key as JSON can hold it: dates and times in ISO 8601."""
    return key.isoformat() if isinstance(key, date) else key


def group_name(key: Any) -> str:
    """Give the name of a group, which may be made by several columns.

    >>> group_name(("north", None)), group_name(3)
    ('north (none)', '3')
    """
    keys = key if isinstance(key, tuple) else (key,)
    return " ".join("(none)" if each is None else str(written(each)) for each in keys)
