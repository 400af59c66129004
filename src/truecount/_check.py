"""Checks on what comes in. Each input is checked once, where it enters, and trusted afterwards."""

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from truecount._advice import Action, Advice
from truecount._types import FloatArray, Name
from truecount._wording import nearest
from truecount.errors import InputError


def whole_number(argument: str, value: object, *, least: int) -> int:
    """Return `value` as an int, at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise InputError(
            argument, f"is {value!r}", f"it must be a whole number, {least} or more", f"Pass {argument}={least} or more"
        )
    return int(value)


def instance_of(argument: str, value: object, kinds: type | tuple[type, ...], remedy: str) -> None:
    """Refuse a value of another kind."""
    if not isinstance(value, kinds):
        names = " or ".join(kind.__name__ for kind in (kinds if isinstance(kinds, tuple) else (kinds,)))
        raise InputError(argument, f"is of type {type(value).__name__}", f"it must be {names}", remedy)


def level(value: object) -> float:
    """Return the level of an interval, strictly between 0 and 1."""
    if not isinstance(value, Real) or not 0 < float(value) < 1:
        raise InputError("level", f"is {value!r}", "it must lie above 0 and below 1", "Write 0.95 for 95 %")
    return float(value)


def plain_name(value: Any) -> Name:
    """Turn NumPy scalars into Python ones; leave the rest."""
    return value.item() if isinstance(value, np.generic) else value  # type: ignore[no-any-return]


def names(argument: str, values: Iterable[Any]) -> tuple[Name, ...]:
    """Return the names of classes or outputs: strings, numbers or booleans, each one once."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(argument, f"is {values!r}", "it must list a name for each", f"Pass {argument}=[...]")
    result = tuple(plain_name(value) for value in values)
    for name in result:
        if not isinstance(name, (str, int, float)) or name != name:
            raise InputError(
                argument,
                f"holds {name!r}",
                "names are strings, numbers or booleans",
                "Rename it, for instance with str()",
            )
    if len(set(result)) < len(result):
        duplicate = next(name for position, name in enumerate(result) if name in result[:position])
        raise InputError(
            argument, f"names {duplicate!r} twice", "each name must stand for one thing", "Rename or merge one of them"
        )
    return result


def distinguishable(argument: str, names: Iterable[object], *, remedy: str | None = None) -> None:
    """Refuse the number 1 beside the string "1": one thing, read in two ways, would be counted apart."""
    seen: dict[str, object] = {}
    named = f"{argument.replace(' and ', '=[...] and ')}=[...]"
    for name in names:
        twin = seen.setdefault(str(name), name)
        if twin is not name:
            raise InputError(
                argument,
                f"hold both {twin!r} and {name!r}",
                "a number and a string that look alike would be counted apart",
                remedy or Advice("Convert the columns to one kind{}", Action(f", or name both with {named}", "")),
            )


def sorted_names(values: Iterable[Name]) -> list[Name]:
    """Sort names of mixed kinds: numbers first, then strings."""
    return sorted(values, key=lambda name: (isinstance(name, str), name))


def finite_numbers(argument: str, values: object, *, dimensions: int) -> FloatArray | np.ndarray[Any, Any]:
    """Return `values` as a numeric array of so many dimensions, without NaN, infinity or anything negative."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(
            argument, "has rows of different lengths", "it must be rectangular", "Fill the missing cells with 0"
        ) from error
    if array.dtype == object or array.dtype.kind not in "iuf":
        raise InputError(
            argument, f"holds {array.dtype.name} values", "it must hold numbers", "Count first, with truecount.count()"
        )
    if array.ndim != dimensions:
        shape = {1: "one row of numbers", 2: "a table: a row for each class, a column for each output"}[dimensions]
        raise InputError(argument, f"has shape {array.shape}", f"it must be {shape}", "Reshape it")
    bad = ~np.isfinite(array) if array.dtype.kind == "f" else np.zeros(array.shape, bool)
    refuse(argument, array, bad, "it must hold finite numbers", "Write 0 where nothing was seen")
    refuse(argument, array, array < 0, "it must not be negative", "Check how it was counted")
    return array


def refuse(argument: str, array: np.ndarray[Any, Any], bad: np.ndarray[Any, Any], needed: str, remedy: str) -> None:
    """Refuse an array of which some elements are bad, and name the first of them."""
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        where = first[0] if len(first) == 1 else first
        raise InputError(argument, f"has {array[first]} at {where}", needed, remedy)


def one_of(argument: str, value: object, choices: Sequence[str]) -> str:
    """Return `value`, which must be one of `choices`."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        by_word = {str(choice): choice for choice in choices}
        meant = by_word.get(nearest(str(value), by_word) or "", choices[0])
        raise InputError(argument, f"is {value!r}", f"it must be one of {listed}", f"Pass {argument}={meant!r}")
    return str(value)
