"""What combinations of several columns consist of: outputs of several classifiers, or labels of several raters."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from truecount import _check
from truecount._types import Name
from truecount.errors import InputError
from truecount.reading.names import Combination, combination_name, sorted_groups


@dataclass(frozen=True, slots=True)
class Combinations:
    """The columns that were read together, and the values of each combination.

    Parameters
    ----------
    columns
        The classifiers, or the raters, by name.
    parts
        The combinations in the order of the outputs that they are: a value for each column, None where it is missing.
    merged
        How many rare combinations are counted with each; empty where none are.

    Examples
    --------
    >>> Combinations(["gpt4", "bem"], [["yes", "no"], ["no", None]]).names
    ('yes, no', 'no, missing')
    """

    columns: tuple[str, ...]
    parts: tuple[Combination, ...]
    merged: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        columns = tuple(map(str, _check.names("columns", self.columns)))
        parts = tuple(tuple(map(_check.plain_name, each)) for each in self.parts)
        for each in parts:
            if len(each) != len(columns) or all(part is None for part in each):
                needed = f"a combination has a value for each of {len(columns)} columns, not all of them missing"
                raise InputError("parts", f"hold {list(each)!r:.60}", needed, "Count the data again")
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "parts", parts)

    @property
    def names(self) -> tuple[str, ...]:
        """What each combination is called."""
        return tuple(map(combination_name, self.parts))

    @property
    def values(self) -> tuple[Name, ...]:
        """All values that occur in some column, sorted."""
        return tuple(_check.sorted_names({part for each in self.parts for part in each if part is not None}))

    def values_of(self, column: int) -> tuple[Name | None, ...]:
        """Return the values that occur in one column, sorted, None last where some are missing."""
        return tuple(value for (value,) in sorted_groups({(each[column],) for each in self.parts}))  # type: ignore[misc]

    def taken(self, positions: Iterable[int]) -> "Combinations":
        """Return the combinations at these positions."""
        chosen = list(positions)
        merged = tuple(self.merged[place] for place in chosen) if self.merged else ()
        return Combinations(self.columns, tuple(self.parts[place] for place in chosen), merged)

    def unanimous(self, value: Name) -> list[int]:
        """Return the positions of the combinations in which every column that is not missing has this value."""
        return [place for place, each in enumerate(self.parts) if {*each} - {None} == {value}]

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and names, ready for JSON."""
        told: dict[str, Any] = {"columns": list(self.columns), "parts": [list(each) for each in self.parts]}
        return told | ({"merged": list(self.merged)} if self.merged else {})

    @classmethod
    def read(cls, argument: str, given: Any, number: int) -> Self:
        """Return what was given or written as a mapping, which must be of so many combinations."""
        if isinstance(given, Mapping):
            if set(given) - {"merged"} != {"columns", "parts"}:
                needed = "it has the columns and the parts of each combination"
                raise InputError(argument, f"holds {sorted(map(str, given))}", needed, "Count the data again")
            given = cls(given["columns"], given["parts"], tuple(given.get("merged", ())))
        _check.instance_of(argument, given, cls, "Pass Combinations(columns, parts)")
        if len(given.parts) != number:
            found, needed = f"has {len(given.parts)} combinations", f"there are {number} outputs"
            raise InputError(argument, found, needed, "Give the parts of each output")
        return given  # type: ignore[no-any-return]


def in_order(parts: Mapping[Name, Combination]) -> list[Name]:
    """Return the names of combinations sorted by their first value, then by the next; what is missing comes last."""
    names = {combination: name for name, combination in parts.items()}
    return [names[combination] for combination in sorted_groups(names)]  # type: ignore[index]


def common_combinations(first: Combinations | None, second: Combinations | None) -> Combinations | None:
    """Return what the outputs of two shards consist of, which have the same names in the same order."""
    if first is not None and second is not None and first != second:
        needed = "an output consists of the same in both"
        remedy = "Merge the counts of all combinations, as they were counted"
        raise InputError("combinations", "differ between outputs of one name", needed, remedy)
    return first


def merged_parts(every: Sequence[Mapping[Name, Combination]]) -> dict[Name, Combination]:
    """Return what the combinations of all shards consist of."""
    return {name: parts for each in every for name, parts in each.items()}
