"""Sums that add: what was seen so far of one data set, in whatever pieces it came."""

from collections import Counter as Sums
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from truecount import _check
from truecount._types import Name
from truecount.counts import validation
from truecount.counts.table import Counts, sharing
from truecount.errors import InputError
from truecount.reading.rows import Row
from truecount.reading.values import Group, mapping_key, sorted_groups


@dataclass(slots=True, kw_only=True)
class Tally:
    """Labelled items by class and output, unlabelled ones by group and output, with any number of classes.

    Unlike `Counts` it may hold a single class or none, as a small shard of a data set does.

    Parameters
    ----------
    by
        Columns that groups are made by.
    classes, outputs
        Their names in the order wanted; None where they are those that occur, sorted.
    is_weighted
        Whether the sums are of weights.
    tables
        Identities of labelled tables that went in, which must not go in again.
    """

    by: tuple[str, ...] = ()
    classes: tuple[Name, ...] | None = None
    outputs: tuple[Name, ...] | None = None
    is_weighted: bool = False
    tables: frozenset[str] = frozenset()
    labeled: Sums[tuple[Name, Name]] = field(default_factory=Sums)
    unlabeled: Sums[tuple[Group, Name]] = field(default_factory=Sums)
    labeled_squares: Sums[tuple[Name, Name]] = field(default_factory=Sums)
    unlabeled_squares: Sums[tuple[Group, Name]] = field(default_factory=Sums)

    def add(self, rows: Iterable[Row]) -> None:
        """Count rows, of which every one has an output; those without a label are the unlabelled population."""
        for row in rows:
            output: Any = row.output
            if row.label is None:
                self.unlabeled[row.group, output] += row.weight
                self.unlabeled_squares[row.group, output] += row.squares
            else:
                self.labeled[row.label, output] += row.weight
                self.labeled_squares[row.label, output] += row.squares

    def class_names(self) -> list[Name]:
        """Give the classes in their order: the caller's, or sorted."""
        return self._names("classes", self.classes, (label for label, _ in self.labeled))

    def output_names(self) -> list[Name]:
        """Give the outputs in their order: the caller's, or sorted."""
        seen = [output for _, output in self.labeled] + [output for _, output in self.unlabeled]
        return self._names("outputs", self.outputs, seen)

    def require_one_kind(self) -> None:
        """Refuse the class 1 beside the output "1", unless someone named them."""
        if self.classes is None and self.outputs is None:
            _check.distinguishable("classes and outputs", dict.fromkeys([*self.class_names(), *self.output_names()]))

    def require_shared_outputs(self, argument: str) -> None:
        """Refuse labels that tell nothing, because no output of theirs occurs among the unlabelled items."""
        sides: tuple[Sums[Any], ...] = (self.labeled, self.unlabeled)
        known, new = ([output for (_, output), items in side.items() if items] for side in sides)
        validation.shared_outputs(argument, known, new)

    def groups(self) -> list[Group]:
        """Give the groups of the unlabelled population in their order; one without columns to make more by."""
        return sorted_groups({group for group, _ in self.unlabeled} | (set() if self.by else {()}))

    def counts(self) -> Counts:
        """Give all of it as one table; groups are taken together."""
        return next(self._tables([self.groups()]))

    def by_group(self) -> dict[Any, Counts]:
        """Give a table for each group; all share the labelled one and know it."""
        groups = self.groups()
        return sharing(dict(zip(map(mapping_key, groups), self._tables([[group] for group in groups]), strict=False)))

    def _tables(self, parts: Iterable[Sequence[Group]]) -> Iterator[Counts]:
        """Give a table for each part of the groups; names and labelled items, which all share, are gathered once."""
        classes, outputs = self.class_names(), self.output_names()
        if not classes:
            needed = "the classes are learned from labelled items"
            remedy = "Add such items, or merge with a labelled shard: truecount counts merge"
            raise InputError("counts", "hold no labels yet", needed, remedy)
        labeled, squares = _matrix(self.labeled, classes, outputs), _matrix(self.labeled_squares, classes, outputs)
        for groups in parts:
            weighted: dict[str, Any] = {}
            if self.is_weighted:
                unlabeled_squares = _row(self.unlabeled_squares, groups, outputs)
                weighted = {"labeled_squares": squares, "unlabeled_squares": unlabeled_squares}
            unlabeled = _row(self.unlabeled, groups, outputs)
            yield Counts(labeled, unlabeled, classes, outputs, **weighted, tables=self.tables)

    @staticmethod
    def _names(argument: str, given: tuple[Name, ...] | None, seen: Iterable[Name]) -> list[Name]:
        if given is not None:
            return list(given)
        names = _check.sorted_names(dict.fromkeys(seen))
        _check.distinguishable(argument, names)
        return names


def merged(tallies: Sequence[Tally], *, strict_classes: bool = False) -> Tally:
    """Add up the tallies of shards, aligned by name.

    Parameters
    ----------
    tallies
        At least one.
    strict_classes
        Refuse shards whose classes or outputs differ. Else a name that a shard lacks has zeros there.
    """
    first = tallies[0]
    total = Tally(by=first.by, is_weighted=any(tally.is_weighted for tally in tallies))
    for number, tally in enumerate(tallies):
        _require_mergeable(number, first, tally, total.tables, strict_classes)
        total.labeled.update(tally.labeled)
        total.unlabeled.update(tally.unlabeled)
        total.labeled_squares.update(tally.labeled_squares)
        total.unlabeled_squares.update(tally.unlabeled_squares)
        total.tables |= tally.tables
    total.classes = _common("classes", [tally.class_names() for tally in tallies])
    total.outputs = _common("outputs", [tally.output_names() for tally in tallies])
    return total


def _common(argument: str, lists: Sequence[Sequence[Name]]) -> tuple[Name, ...]:
    """Keep the order that all agree on; sort what differs."""
    if all(list(names) == list(lists[0]) for names in lists):
        return tuple(lists[0])
    names = _check.sorted_names(dict.fromkeys(chain.from_iterable(lists)))
    _check.distinguishable(argument, names)
    return tuple(names)


def _require_mergeable(number: int, first: Tally, other: Tally, seen: frozenset[str], strict: bool) -> None:
    argument = f"shard {number + 1}"
    if other.by != first.by:
        found, needed = f"is grouped by {list(other.by)}", f"the first is grouped by {list(first.by)}"
        raise InputError(argument, found, needed, "Count all shards with the same --by")
    if other.tables & seen:
        found, needed = "shares its labelled table with an earlier one", "adding it would count its labels twice"
        raise InputError(argument, found, needed, "Name each shard once")
    if strict:
        _require_same(argument, "classes", first.class_names(), other.class_names())
        _require_same(argument, "outputs", first.output_names(), other.output_names())


def _require_same(argument: str, what: str, wanted: Sequence[Name], found: Sequence[Name]) -> None:
    odd = set(wanted) ^ set(found)
    if odd:
        name = _check.sorted_names(odd)[0]
        raise InputError(
            argument,
            f"{'has' if name in found else 'lacks'} {name!r} among its {what}",
            f"those of the first are {', '.join(map(repr, wanted))}",
            f"Name all {what} when counting, or allow differences",
        )


def _matrix(sums: Sums[tuple[Name, Name]], classes: Sequence[Name], outputs: Sequence[Name]) -> list[list[float]]:
    return [[sums[name, output] for output in outputs] for name in classes]


def _row(sums: Sums[tuple[Group, Name]], groups: Sequence[Group], outputs: Sequence[Name]) -> list[float]:
    return [sum(sums[group, output] for group in groups) for output in outputs]
