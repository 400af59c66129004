"""Names in a picture: short enough to leave room, and never two alike."""

from collections.abc import Sequence
from typing import Any

from truecount._types import Name
from truecount._wording import cut_middle, visible
from truecount.errors import InputError
from truecount.results.by_class import unknown_class


def labels(names: Sequence[Name], longest: int) -> list[str]:
    """Cut the middle out of names wider than `longest` columns; those that then look alike get a number.

    >>> labels(["cat", "a very long name", "a very lone name"], 9)
    ['cat', 'a v…ame 1', 'a v…ame 2']
    """
    short = [cut_middle(visible(name), longest) for name in names]
    if len(set(short)) == len(short):
        return short
    return [_numbered(names, short, place, longest) for place in range(len(short))]


def _numbered(names: Sequence[Name], short: Sequence[str], place: int, longest: int) -> str:
    alike = [other for other, label in enumerate(short) if label == short[place]]
    if len(alike) == 1:
        return short[place]
    number = f" {alike.index(place) + 1}"
    return cut_middle(visible(names[place]), longest - len(number)) + number


def places(known: Sequence[Name], wanted: Sequence[Any] | None, argument: str = "classes") -> list[int]:
    """Return where the wanted names stand among those known; all of them by default."""
    if wanted is None:
        return list(range(len(known)))
    if isinstance(wanted, str) or not wanted:
        raise InputError(argument, f"is {wanted!r}", "it must list names", f"Pass {argument}=[...]")
    return [_place(known, name, argument) for name in wanted]


def _place(known: Sequence[Name], name: Any, argument: str) -> int:
    if name in known:
        return known.index(name)
    raise unknown_class(argument, f"names {name!r}", name, known, kind="names")
