"""One rule for names: what a value of any table or array is called, and when it is missing.

None, NaN, null and nothing but blanks are missing. Blanks around a string are not part of it. Whole numbers are whole
however they are stored or written: 1.0 is 1, and "1.0" is "1". The words NA, N/A, NaN, null and None, in any case, are
refused as labels and predictions until someone says what they mean: ``missing="NA"`` that this word stands for a
missing value, ``missing=["NA", "NaN"]`` that these do, ``missing=""`` that none does, ``missing=["NA", ""]`` that no
other does, or ``classes=`` and ``outputs=`` that it is a name.

What several classifiers put out for one item, or several raters said of it, is a combination of such names.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, date, datetime
from decimal import Decimal
from math import isfinite
from typing import Any, TypeAlias

from truecount import _check
from truecount._advice import Advice, keyword
from truecount._types import Name
from truecount.errors import InputError

Key: TypeAlias = Name | date | None
"""What a group may be called; `datetime.datetime` is a `date` too."""
Group: TypeAlias = tuple[Key, ...]
"""The group of a row: a key for each column that groups are made by."""
Combination: TypeAlias = tuple[Name | None, ...]
"""A name for each of several columns, None where it is missing."""
Value: TypeAlias = Name | Combination | None
"""What a row holds: a name, or one for each of several columns; None where nothing is there."""
Missing: TypeAlias = str | Collection[str] | None
"""A word that means a missing value, or several; "" says that no other word does, and None that nobody has said."""
MISSING_WORDS = frozenset({"na", "n/a", "nan", "null", "none"})
SUSPECT_WORDS = MISSING_WORDS | {"unknown", "?", "-", "--", ".", "missing", "unlabeled", "unlabelled", "tbd"}
"""What may mean that a label is missing where there is nothing else to estimate."""
MISSING = "missing"
"""What stands in the name of a combination for a missing part."""
WHOLE_IN_TEXT = re.compile(r"(-?\d+)\.0")
"""A whole number as spreadsheets and pandas write it in a column with gaps."""


def as_name(value: Any, *, table: str, column: str | None = None) -> Name | None:
    """Return the name that a value is for a class or an output; None where it is missing.

    Parameters
    ----------
    value
        Anything that a table or an array holds.
    table, column
        Where it was found, for errors; an array has no column beside itself.

    Examples
    --------
    >>> [as_name(value, table="table") for value in (" yes ", " ", 2.0, "2.0", float("nan"), True)]
    ['yes', None, 2, '2', None, True]
    """
    plain = plain_value(value)
    if isinstance(plain, str):
        whole = WHOLE_IN_TEXT.fullmatch(plain)
        return whole[1] if whole else plain
    if plain is None or isinstance(plain, bool):
        return plain
    if isinstance(plain, int):
        return int(plain)
    if isinstance(plain, float | Decimal) and isfinite(plain):
        return int(plain) if plain == int(plain) else float(plain)
    found = f"holds {value!r:.60}" + ("" if column is None else f" in column {column!r}")
    raise InputError(table, found, "names must be strings, numbers or booleans", "Convert them to text")


def as_key(value: Any, *, table: str, column: str | None = None) -> Key:
    """Return the key that a value is for a group: a name, a date or a time."""
    plain = plain_value(value)
    if isinstance(plain, date):
        return plain
    return as_name(plain, table=table, column=column)


def combined(columns: str | tuple[str, ...] | None, values: Sequence[Name | None]) -> Value:
    """Return the value of one column, or the combination of several; None where nothing is there."""
    if columns is None or isinstance(columns, str):
        return values[0] if values else None
    return None if all(value is None for value in values) else tuple(values)


def parts_of(value: Value) -> Combination:
    """Return the values of all columns; that of one column where it is no combination."""
    return value if isinstance(value, tuple) else (value,)


def each_part(value: Value, change: Callable[[Name | None], Name | None]) -> Value:
    """Change the value of every column; a combination of which nothing is left is None."""
    if not isinstance(value, tuple):
        return change(value)
    changed = tuple(map(change, value))
    return None if all(part is None for part in changed) else changed


def combination_name(parts: Combination) -> str:
    """Return the name of a combination, from which its parts can be told.

    >>> combination_name(("yes", None, 1)), combination_name(("missing", "a, b"))
    ('yes, missing, 1', '"missing", "a, b"')
    """
    return ", ".join(MISSING if part is None else _written(part) for part in parts)


def cluster_name(parts: Sequence[Name | None]) -> Name | None:
    """Return the name of the cluster that an item belongs to by one column or several; None where one is empty.

    >>> cluster_name(["q1"]), cluster_name(["A", "q1"]), cluster_name(["A", None])
    ('q1', 'A, q1', None)
    """
    if len(parts) < 2:
        return parts[0] if parts else None
    return None if None in parts else combination_name(tuple(parts))


def _written(part: Name) -> str:
    is_clear = not isinstance(part, str) or (part != MISSING and not set(part) & {",", '"'})
    return str(part) if is_clear else json.dumps(part, ensure_ascii=False)


def named_or_found(argument: str, names: Iterable[Any] | None) -> tuple[Name, ...] | None:
    """Return the names that the caller wants, in order, by the rule for names; None for those that will be found.

    >>> named_or_found("classes", [" fail", "pass", 1.0]), named_or_found("classes", {"b", "a"})
    (('fail', 'pass', 1), ('a', 'b'))
    """
    if names is None:
        return None
    given = _check.names(argument, names)
    checked = [as_name(name, table=argument) for name in given]
    for name, original in zip(checked, given, strict=True):
        if name is None:
            needed = "blanks alone mean that a value is missing"
            raise InputError(argument, f"holds {original!r}", needed, "Give it a name")
    result = _check.names(argument, checked)
    return tuple(_check.sorted_names(result)) if isinstance(names, AbstractSet) else result


def missing_words(missing: Missing) -> tuple[str, ...]:
    """Return the words that mean a missing value, in their order.

    >>> missing_words("NA"), missing_words(["NA", "NaN"]), missing_words(None)
    (('NA',), ('NA', 'NaN'), ())
    """
    words = () if missing is None else (missing,) if isinstance(missing, str) else missing
    if not isinstance(words, Collection) or not all(isinstance(word, str) for word in words):
        needed = "it must be a word that means a missing value, or a list of them"
        raise InputError(
            "missing",
            f"is {missing!r:.60}",
            needed,
            Advice("Pass {} or {}", keyword("missing", "NA"), keyword("missing", ["NA", "NaN"])),
        )
    return tuple(str(as_name(word, table="missing") or "") for word in words)


def plain_value(value: Any) -> Any:
    """Return None for whatever is missing, Python's own kinds for NumPy's and pandas', and strings without blanks.

    NaN and NaT are unequal to themselves; pandas' NA is neither equal nor unequal. Times with a zone are returned
    in UTC, without it.
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
    """Return the key of a group in a mapping: that of its column, or one for each of several."""
    return group[0] if len(group) == 1 else group


def written(key: Name | date | None) -> Name | None:
    """Return a key as JSON can hold it: dates and times in ISO 8601."""
    return key.isoformat() if isinstance(key, date) else key


def group_name(key: Any) -> str:
    """Return the name of a group, which may be made by several columns.

    >>> group_name(("north", None)), group_name(3)
    ('north (none)', '3')
    """
    keys = key if isinstance(key, tuple) else (key,)
    return " ".join("(none)" if each is None else str(written(each)) for each in keys)
