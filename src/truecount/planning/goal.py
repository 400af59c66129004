"""What a plan is to reach, and what gathering data costs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard, get_args

import numpy as np

from truecount import _check
from truecount._types import FloatArray, Name
from truecount.errors import InputError

Kind = Literal["narrow", "above", "below", "apart"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What is to be reached; made by `narrow`, `above`, `below` or `apart`.

    Parameters
    ----------
    kind
        Which of the four.
    share
        Half the width, or the threshold; for `apart` nothing.
    of
        The class; None is all of them, of which the widest decides.
    groups
        The two groups to be told apart.
    assurance
        Probability that the goal is met, over what the pilot leaves open and over the data to come. None, for a width
        alone, asks that the width is met on average, or by the data that are expected where the truth is assumed.
    """

    kind: Kind
    share: float = 0.0
    of: Name | None = None
    groups: tuple[Any, Any] | None = None
    assurance: float | None = None

    def __post_init__(self) -> None:
        _check.one_of("kind", self.kind, get_args(Kind))
        if self.assurance is not None and not (_is_number(self.assurance) and 0 < self.assurance < 1):
            raise InputError(
                "assurance", f"is {self.assurance!r}", "it must lie above 0 and below 1", "Write 0.8 for 80 %"
            )
        limits = {"narrow": (0.0, 0.5), "above": (0.0, 1.0), "below": (0.0, 1.0), "apart": (-1.0, 1.0)}[self.kind]
        if not (_is_number(self.share) and limits[0] < self.share < limits[1]):
            argument = "half_width" if self.kind == "narrow" else self.kind
            needed = f"it must lie above {limits[0]:g} and below {limits[1]:g}"
            raise InputError(argument, f"is {self.share!r}", needed, "Write 0.03 for three points")

    @classmethod
    def narrow(cls, half_width: float, *, of: Any = None, assurance: float | None = None) -> "Goal":
        """An interval of at most ± `half_width`, of one class or of all."""
        return cls(kind="narrow", share=half_width, of=of, assurance=assurance)

    @classmethod
    def above(cls, share: float, *, of: Any, assurance: float = 0.8) -> "Goal":
        """An interval of class `of` that lies above `share`."""
        return cls(kind="above", share=share, of=of, assurance=assurance)

    @classmethod
    def below(cls, share: float, *, of: Any, assurance: float = 0.8) -> "Goal":
        """An interval of class `of` that lies below `share`."""
        return cls(kind="below", share=share, of=of, assurance=assurance)

    @classmethod
    def apart(cls, first: Any, second: Any, *, of: Any, assurance: float = 0.8) -> "Goal":
        """An interval of the difference of two groups' shares of class `of` that does not hold zero."""
        return cls(kind="apart", of=of, groups=(first, second), assurance=assurance)

    def places(self, classes: tuple[Name, ...]) -> list[int]:
        """Return the positions of the classes that matter."""
        return list(range(len(classes))) if self.of is None else [place_of("of", self.of, classes)]


def place_of(argument: str, name: Any, classes: tuple[Name, ...]) -> int:
    """Return the position of a class."""
    if name not in classes:
        raise InputError(argument, f"is {name!r}", f"the classes are {', '.join(map(repr, classes))}", "Name one")
    return classes.index(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What a label and an unlabelled item cost, in any unit.

    Parameters
    ----------
    label
        One number for every label, or a number for each stratum by name: a class, or an output where labels are
        stratified by output.
    item
        For an unlabelled item.

    Notes
    -----
    Where labelled items are among the population, the label of an item that has to be gathered costs both.
    """

    label: float | Mapping[Any, float] = 1.0
    item: float = 1.0

    def __post_init__(self) -> None:
        numbers = list(self.label.values()) if isinstance(self.label, Mapping) else [self.label]
        for argument, number in [("label", number) for number in numbers] + [("item", self.item)]:
            if not _is_number(number) or number < 0:
                raise InputError(argument, f"costs {number!r}", "a cost is a number, 0 or more", "Write 1 or 0.1")

    def vector(self, strata: tuple[Name, ...]) -> FloatArray:
        """Return the cost of a label of each stratum and of an item, shape (strata + 1,)."""
        if not isinstance(self.label, Mapping):
            return np.append(np.full(len(strata), float(self.label)), self.item)
        unknown = [name for name in self.label if name not in strata]
        lacking = [name for name in strata if name not in self.label]
        if unknown or lacking:
            found = f"names {unknown[0]!r}" if unknown else f"does not name {lacking[0]!r}"
            needed = f"it must name {', '.join(map(repr, strata))}"
            raise InputError("label", found, needed, "Give each a cost, or one number for all")
        return np.array([*(float(self.label[name]) for name in strata), self.item])


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and bool(np.isfinite(value))


def checked_budget(budget: Any) -> float:
    """Return a budget, which is a number, 0 or more."""
    if not _is_number(budget) or budget < 0:
        raise InputError("budget", f"is {budget!r:.60}", "it must be a number, 0 or more", "Write 1000")
    return float(budget)
