"""What the ranges of a number are called, and how to know such names, and numbers that no range was made of."""

from collections.abc import Sequence
from itertools import pairwise

from truecount._types import Name
from truecount._wording import is_number

MANY = 20
"""Different numbers, from which on they are scores rather than names of classes."""


def range_names(edges: Sequence[float]) -> tuple[str, ...]:
    """Give the ranges between rising edges in words, with as many digits as tell the edges apart.

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


def are_scores(names: Sequence[Name]) -> bool:
    """Whether these are numbers, more of them than classes would be, and not all whole, as numbers of classes are.

    >>> are_scores([f"0.{digits}" for digits in range(10, 50)]), are_scores([0.5, 1]), are_scores(range(50))
    (True, False, False)
    """
    return len(names) >= MANY and all(map(is_number, names)) and not all(float(name).is_integer() for name in names)
