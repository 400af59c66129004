"""Words for names and shares, the same in every sentence that the package says."""

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from itertools import pairwise
from math import isfinite
from typing import Any

from truecount._types import Name

MOST_QUOTED = 30
MOST_LISTED = 10
LONGEST_NAME = 60
SMALLEST = 1e-5
"""Share below which nobody wants its digits."""
NEAR = 0.75
"""How alike two names are, from 0 to 1, from which on one was perhaps meant to be the other."""


def visible(name: Name) -> str:
    """Return a name as text in which nothing moves the cursor or breaks the line."""
    words = str(name)
    if words.isprintable():
        return words
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in words)


def display_width(words: str) -> int:
    """How many columns a terminal needs for this text.

    >>> display_width("41.2 – 46.7 %"), display_width("日本")
    (13, 4)
    """
    if words.isascii() or words.replace("\N{EN DASH}", "-").replace("\N{MINUS SIGN}", "-").isascii():
        return len(words)  # rich need not be loaded for numbers
    from rich.cells import cell_len

    return cell_len(words)


def cut_middle(name: str, longest: int) -> str:
    """Cut the middle out of a name that is wider than so many columns.

    >>> cut_middle("a very long name", 9)
    'a ve…name'
    """
    if display_width(name) <= longest:
        return name
    head = _fitting(name, longest // 2)
    return f"{head}…{_fitting(name[::-1], longest - 1 - longest // 2)[::-1]}"


def _fitting(name: str, columns: int) -> str:
    """Return as much of the beginning as so many columns hold."""
    length = len(name)
    while display_width(name[:length]) > columns:
        length -= 1
    return name[:length]


def labels(names: Sequence[Name], longest: int) -> list[str]:
    """Cut the middle out of names wider than `longest` columns; those that then look alike get a number.

    >>> labels(["cat", "a very long name", "a very lone name"], 9)
    ['cat', 'a v…ame 1', 'a v…ame 2']
    """
    short = [cut_middle(visible(name), longest) for name in names]
    if len(set(short)) == len(short):
        return short
    return [_numbered_label(names, short, place, longest) for place in range(len(short))]


def _numbered_label(names: Sequence[Name], short: Sequence[str], place: int, longest: int) -> str:
    alike = [other for other, label in enumerate(short) if label == short[place]]
    if len(alike) == 1:
        return short[place]
    number = f" {alike.index(place) + 1}"
    return cut_middle(visible(names[place]), longest - len(number)) + number


def nearest(wanted: str, known: Iterable[str]) -> str | None:
    """Return the name that `wanted` was perhaps meant to be, whatever its case."""
    by_folded = {name.casefold(): name for name in known}
    close = get_close_matches(wanted.casefold(), by_folded, n=1, cutoff=NEAR)
    return by_folded[close[0]] if close else None


def twins(names: Iterable[Name], known: Iterable[Name]) -> str:
    """Say which names differ from known ones in case and blanks only; nothing where none does.

    >>> twins(["yes", "no", "n/a"], ["Yes", "No"])
    "perhaps 'yes' is 'Yes' and 'no' is 'No'"
    """
    by_folded = {_folded(name): name for name in known}
    alike = [f"{name!r} is {by_folded[_folded(name)]!r}" for name in names if _folded(name) in by_folded]
    return f"perhaps {listed(alike)}" if alike else ""


def alike(names: Iterable[Name]) -> list[list[Name]]:
    """Return the names that differ from others in case and blanks only, those that are alike together.

    >>> alike(["fail", "Pass", "pass", "FAIL", "unsure"])
    [['fail', 'FAIL'], ['Pass', 'pass']]
    """
    by_folded: dict[str, list[Name]] = {}
    for name in names:
        by_folded.setdefault(_folded(name), []).append(name)
    return [found for found in by_folded.values() if len(found) > 1]


def _folded(name: Name) -> str:
    return "".join(str(name).casefold().split())


def quoted(names: Iterable[Name]) -> str:
    """Return the names in quotes, the first ones of many, for an error."""
    found = [repr(name) for name in names]
    more = len(found) - MOST_QUOTED
    return ", ".join(found[:MOST_QUOTED]) + (f" and {more} more" if more > 0 else "")


def listed(names: Collection[Name], *, most: int = MOST_LISTED) -> str:
    """Return names in a sentence, the first ones of many.

    >>> listed(["fail", "pass", "unsure"])
    'fail, pass and unsure'
    """
    words, more = [f"{name!s:.{LONGEST_NAME}}" for name in names], len(names) - most
    if more > 0:
        words = [*words[:most], f"{more} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def listed_quoted(names: Collection[Name]) -> str:
    """Return names in quotes in a sentence, the first ones of many.

    >>> listed_quoted(["fail", 1])
    "'fail' and 1"
    """
    return listed([repr(name[: LONGEST_NAME - 2] if isinstance(name, str) else name) for name in names], most=5)


def called(name: Name) -> str:
    """Return the name of a class; one that is a number says that it is one of a class.

    >>> called("tie"), called(-1), called("2")
    ('tie', 'class -1', 'class 2')
    """
    words = f"{name!s:.{LONGEST_NAME}}"
    return f"class {words}" if is_number(name) else words


def is_number(name: Name) -> bool:
    """Whether a name is a number, or the text of one.

    >>> is_number("-1.5"), is_number("1.2.3"), is_number(True), is_number("nan")
    (True, False, False, False)
    """
    try:
        return isfinite(float(str(name)))
    except ValueError:
        return False


def listed_classes(names: Collection[Name]) -> str:
    """Return names of classes in a sentence.

    >>> listed_classes([0, 1])
    'class 0 and class 1'
    """
    return listed([called(name) for name in names])


def percent(share: float) -> str:
    """Return a share with one decimal, or with two digits where it is small.

    >>> percent(0.4123), percent(0.000312), percent(0.0), percent(1.8e-11)
    ('41.2 %', '0.031 %', '0 %', '< 0.001 %')
    """
    if 0 < share < SMALLEST:
        return f"< {100 * SMALLEST:g} %"
    return f"{100 * share:.2g} %" if abs(share) < 0.1 else f"{100 * share:.1f} %"


def signed(number: float, decimals: int) -> str:
    """Return a number with its sign, of which minus is longer than a hyphen.

    >>> signed(1.26, 1), signed(-0.4, 1)
    ('+1.3', '\N{MINUS SIGN}0.4')
    """
    return f"{number:+.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def fixed(number: float, decimals: int) -> str:
    """Return a number with so many decimals and, where it is negative, the minus of `signed`; zero has no sign.

    >>> fixed(7.141, 2), fixed(-7.141, 2), fixed(-0.001, 2)
    ('7.14', '\N{MINUS SIGN}7.14', '0.00')
    """
    shown = f"{number:.{decimals}f}"
    return shown.replace("-", "\N{MINUS SIGN}" if shown.strip("-0.") else "")


def span(lower: float, upper: float) -> str:
    """Return an interval of shares.

    >>> span(0.41, 0.4672)
    '41.0 – 46.7 %'
    """
    return f"{percent(lower).removesuffix(' %')} \N{EN DASH} {percent(upper)}"


def range_names(edges: Sequence[float]) -> tuple[str, ...]:
    """Return the ranges between rising edges in words, with as many digits as tell the edges apart.

    >>> range_names((0.25, 0.75))
    ('< 0.25', '0.25 to < 0.75', '≥ 0.75')
    """
    if not edges:
        return ("all",)
    shown = next(s for digits in range(3, 18) if len(set(s := [f"{edge:.{digits}g}" for edge in edges])) == len(s))
    between = [f"{low} to < {high}" for low, high in pairwise(shown)]
    return (f"< {shown[0]}", *between, f"≥ {shown[-1]}")


def are_ranges(names: Sequence[Name]) -> bool:
    """Whether these are names of ranges.

    >>> are_ranges(range_names((0.25, 0.75))), are_ranges(("no", "yes"))
    (True, False)
    """
    return len(names) > 1 and str(names[0]).startswith("< ") and str(names[-1]).startswith("≥ ")


def own_cell(name: Any, part: str) -> str:
    """Name a part of the outputs of one class.

    >>> own_cell("fail", "≥ 0.8")
    'fail: ≥ 0.8'
    """
    return f"{name}: {part}"


def own_outputs(name: Any, outputs: Sequence[Any]) -> list[int]:
    """Return the positions of the outputs that are called like a class, or are parts of those.

    >>> own_outputs("fail", ["fail: < 0.8", "fail: ≥ 0.8", "pass", "fail"])
    [0, 1, 3]
    """
    start = own_cell(name, "")
    return [place for place, output in enumerate(outputs) if output == name or str(output).startswith(start)]
