"""Rows become sums that add: what was seen so far of one data set, in whatever pieces it came."""

from collections import Counter as Sums
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from truecount import _check
from truecount._types import Name
from truecount.counts.clusters import Clusters, bin_of
from truecount.counts.combinations import Combinations, in_order, merged_parts
from truecount.counts.groups import Groups
from truecount.counts.label_groups import LabelGroups
from truecount.counts.ratings import Ratings
from truecount.counts.table import Counts, require_few_cells, require_shared_outputs
from truecount.errors import InputError
from truecount.reading.names import Combination, Group, Value, combination_name, mapping_key, sorted_groups
from truecount.reading.rows import (
    Reading,
    Row,
    Table,
    require_clusters,
    require_few_names,
    require_full_groups,
    require_named,
)

ALL = "all"
"""The name of the one group of a population that several studies have labels for."""


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
    classifiers, raters
        The columns that outputs, or labels, are combinations of; empty where there is one column.
    """

    by: tuple[str, ...] = ()
    classes: tuple[Name, ...] | None = None
    outputs: tuple[Name, ...] | None = None
    is_weighted: bool = False
    classifiers: tuple[str, ...] = ()
    raters: tuple[str, ...] = ()
    output_parts: dict[Name, Combination] = field(default_factory=dict)
    """What each output consists of, where there are several classifiers."""
    label_parts: dict[Name, Combination] = field(default_factory=dict)
    """What each label consists of, where there are several raters."""
    rare: dict[Name, int] = field(default_factory=dict)
    """How many rare combinations are counted with an output, where some are."""
    labeled: Sums[tuple[Name, Name]] = field(default_factory=Sums)
    unlabeled: Sums[tuple[Group, Name]] = field(default_factory=Sums)
    labeled_squares: Sums[tuple[Name, Name]] = field(default_factory=Sums)
    unlabeled_squares: Sums[tuple[Group, Name]] = field(default_factory=Sums)
    is_clustered: bool = False
    clusters: Sums[tuple[int, Group, Name | None, Name]] = field(default_factory=Sums)
    """Items by bin of clusters, group or study, class (None without a label) and output."""
    n_clusters: int = 0
    has_single_clusters: bool = False
    """Whether every item of one table is a cluster of its own; shards may share clusters."""
    studies: "dict[Group, Tally]" = field(default_factory=dict)
    """Labelled items of each study by itself, where labels come from several."""
    label_groups: Sums[tuple[Group, Name, Name]] = field(default_factory=Sums)
    """Labelled items by group, class and output, where it is known which group a label came from."""

    def add(self, rows: Iterable[Row]) -> None:
        """Count rows, of which every one has an output; those without a label are the unlabelled population.

        The key of a labelled row, if it has one, is its study. Combinations are counted under their names.
        """
        for row in rows:
            output: Any = _named(row.output, self.output_parts)
            label: Any = _named(row.label, self.label_parts)
            if self.is_clustered:
                self.clusters[bin_of(row.cluster), row.group, label, output] += row.weight
            if label is None:
                self.unlabeled[row.group, output] += row.weight
                self.unlabeled_squares[row.group, output] += row.squares
            else:
                self.labeled[label, output] += row.weight
                self.labeled_squares[label, output] += row.squares
                if row.label_group:
                    self.label_groups[row.label_group, label, output] += row.weight
                if row.group:
                    study = self.studies.setdefault(row.group, Tally(is_weighted=self.is_weighted))
                    study.add([row._replace(group=())])

    def class_names(self) -> list[Name]:
        """Return the classes in their order: the caller's, or sorted."""
        if self.raters:
            return in_order(self.label_parts)
        return self._names("classes", self.classes, (label for label, _ in self.labeled))

    def take_outputs_for_classes(self) -> None:
        """Add a class for every output that is named like none, without a labelled item."""
        self.classes = tuple(self._names("classes", None, [*self.class_names(), *self.output_names()]))

    def rated_classes(self) -> tuple[Name, ...]:
        """Return the classes that labels of several raters name: the caller's, or sorted."""
        seen = (part for each in self.label_parts.values() for part in each if part is not None)
        return tuple(self._names("classes", self.classes, seen))

    def output_names(self) -> list[Name]:
        """Return the outputs in their order: the caller's, or sorted."""
        if self.classifiers:
            return in_order(self.output_parts)
        seen = [output for _, output in self.labeled] + [output for _, output in self.unlabeled]
        return self._names("outputs", self.outputs, seen)

    def require_names(self, reading: Reading, table: str | None) -> None:
        """Take the names that the caller wants and refuse others; where none are wanted, refuse too many."""
        columns, sums = reading.columns, (*self.labeled, *self.unlabeled)
        sides: Sequence[tuple[str, Sequence[str], Any, Iterable[Name], Mapping[Name, Combination]]] = (
            ("classes", columns.labels, reading.classes, (label for label, _ in self.labeled), self.label_parts),
            ("outputs", columns.predictions, reading.outputs, (output for _, output in sums), self.output_parts),
        )
        for argument, read, wanted, seen, parts in sides:
            setattr(self, argument, wanted)
            found = self._names(argument, None, seen) if wanted is None else list(dict.fromkeys(seen))
            if wanted is None:
                require_few_names(table, read, argument, found)
                require_alike(argument, parts.values())
            else:
                names = [part for each in parts.values() for part in each if part is not None] or found
                require_named(table, read, argument, wanted, names)

    def require_shared_outputs(self, argument: str) -> None:
        """Refuse labels that tell nothing, because no output of theirs occurs among the unlabelled items."""
        sides: tuple[Sums[Any], ...] = (self.labeled, self.unlabeled)
        known, new = ([output for (_, output), items in side.items() if items] for side in sides)
        require_shared_outputs(argument, known, new)

    def groups(self) -> list[Group]:
        """Return the groups of the unlabelled population in their order; one without columns to make more by."""
        return sorted_groups({group for group, _ in self.unlabeled} | (set() if self.by else {()}))

    def to_counts(self) -> Counts:
        """Return all of it as one table; groups are taken together."""
        classes, outputs = self._table_names()
        groups = self.groups()
        rows = {
            side: [sum(sums[group, output] for group in groups) for output in outputs] for side, sums in self._new()
        }
        return Counts(
            **self._known(classes, outputs),
            **rows,
            classes=classes,
            outputs=outputs,
            combinations=self.combinations(),
            clusters=self.binned(classes, outputs),
        )

    def to_groups(self) -> Groups:
        """Return the labelled table, which all groups share, and the unlabelled items of each group."""
        classes, outputs = self._table_names()
        groups = self.groups()
        if not groups:
            needed, remedy = "groups are made of unlabelled rows", "Merge them with counts that have some"
            raise InputError("counts", "hold no groups", needed, f"{remedy}: truecount counts merge")
        rows = {
            side: {mapping_key(group or (ALL,)): [sums[group, output] for output in outputs] for group in groups}
            for side, sums in self._new()
        }
        known = self._known(classes, outputs)
        if self.studies:
            studies = sorted_groups(self.studies)
            tables = {mapping_key(study): self.studies[study]._known(classes, outputs) for study in studies}
            known = {side: {study: table[side] for study, table in tables.items()} for side in known}
        return Groups(
            **known,
            **rows,
            classes=classes,
            outputs=outputs,
            by=self.by,
            combinations=self.combinations(),
            clusters=self.binned(classes, outputs, groups),
            label_groups=None if self.studies else self.labels_by_group(classes, outputs),
        )

    def labels_by_group(self, classes: Sequence[Name], outputs: Sequence[Name]) -> LabelGroups | None:
        """Return the labelled items of each group, where labels are known to come from some."""
        keys = sorted_groups({key for key, _, _ in self.label_groups})
        if not keys or self.raters:
            return None
        tables = [[[self.label_groups[key, name, each] for each in outputs] for name in classes] for key in keys]
        return LabelGroups(tuple(map(mapping_key, keys)), np.array(tables))

    def binned(
        self, classes: Sequence[Name], outputs: Sequence[Name], groups: Sequence[Group] | None = None
    ) -> Clusters | None:
        """Return the counts of each bin of clusters, with studies and groups where there are groups."""
        if not self.is_clustered:
            return None
        row_of, column_of = ({name: place for place, name in enumerate(names)} for names in (classes, outputs))
        studies: list[Group] = sorted_groups(self.studies) or [()]
        study_of, group_of = ({key: place for place, key in enumerate(keys)} for keys in (studies, groups or [()]))
        shapes: tuple[tuple[int, ...], ...] = ((len(classes), len(outputs)), (len(outputs),))
        if groups is not None:
            shapes = ((len(studies), *shapes[0]), (len(groups), *shapes[1]))

        def cell(key: tuple[int, Group, Name | None, Name], items: Any) -> tuple[Any, ...]:
            bin_, group, label, output = key
            place = (column_of[output],) if label is None else (row_of[label], column_of[output])
            if groups is not None:
                place = (group_of[group] if label is None else study_of[group], *place)
            return bin_, int(label is None), place, items

        return Clusters.of_cells(
            shapes, [cell(*each) for each in self.clusters.items()], self.n_clusters, is_single=self.has_single_clusters
        )

    def to_data(self) -> "Counts | Groups | Ratings":
        """Return `Groups` where there are columns to make groups by, or several studies, else `Counts`.

        Where labels are those of several raters, these are the items by pattern of labels, in `Ratings`.
        """
        counted = self.to_groups() if self.by or self.studies else self.to_counts()
        if not self.raters:
            return counted
        patterns = Combinations(self.raters, tuple(self.label_parts[name] for name in self.class_names()))
        return Ratings(counted, patterns, self.rated_classes())

    def combinations(self) -> Combinations | None:
        """Return what the outputs consist of, where there are several classifiers."""
        if not self.classifiers:
            return None
        names = self.output_names()
        merged = tuple(self.rare.get(name, 0) for name in names) if self.rare else ()
        return Combinations(self.classifiers, tuple(self.output_parts[name] for name in names), merged)

    def _table_names(self) -> tuple[list[Name], list[Name]]:
        classes, outputs = self.class_names(), self.output_names()
        if not classes:
            needed = "the classes are learned from labelled items"
            remedy = "Add such items, name the classes, or merge with a labelled shard: truecount counts merge"
            raise InputError("counts", "hold no labels yet", needed, remedy)
        require_few_cells(classes, outputs)
        return classes, outputs

    def _known(self, classes: Sequence[Name], outputs: Sequence[Name]) -> dict[str, Any]:
        sides = {"labeled": self.labeled} | ({"labeled_squares": self.labeled_squares} if self.is_weighted else {})
        return {side: [[sums[name, output] for output in outputs] for name in classes] for side, sums in sides.items()}

    def _new(self) -> Iterable[tuple[str, Sums[tuple[Group, Name]]]]:
        yield "unlabeled", self.unlabeled
        if self.is_weighted:
            yield "unlabeled_squares", self.unlabeled_squares

    @staticmethod
    def _names(argument: str, given: tuple[Name, ...] | None, seen: Iterable[Name]) -> list[Name]:
        if given is not None:
            return list(given)
        names = _check.sorted_names(dict.fromkeys(seen))
        _check.distinguishable(argument, names)
        return names


def tallied(rows: Sequence[Row], reading: Reading, table: str | None = None) -> Tally:
    """Add up rows, by the caller's names and in their order, or by those that occur.

    Parameters
    ----------
    rows
        What `reading` made of a table or of two; every row has an output.
    reading
        Which columns were read, and what the caller named.
    table
        What the caller knows the table as; errors say it. None for columns of their own, which errors then name.
    """
    columns = reading.columns
    tally = Tally(
        by=tuple(columns.by),
        is_weighted=columns.weight is not None,
        classifiers=columns.predictions if len(columns.predictions) > 1 else (),
        raters=columns.labels if len(columns.labels) > 1 else (),
        is_clustered=columns.cluster is not None,
    )
    tally.add(rows)
    if columns.cluster is not None:
        tally.n_clusters = require_clusters(table, rows, columns)
        tally.has_single_clusters = tally.n_clusters == sum(row.rows for row in rows)
    tally.require_names(reading, table)
    for position, column in enumerate(columns.by):
        keys = dict.fromkeys(row.group[position] for row in rows if row.label is None and row.group)
        _check.distinguishable(f"groups by {column!r}", keys, remedy="Convert the column to one kind")
    if not reading.is_shard:
        require_full_groups(table, rows, columns)
        require_sound(tally, reading, table)
    return tally


def tally_tables(reading: Reading, table: Table, unlabeled: Table | None = None) -> Tally:
    """Count one table or two, and keep what can still be merged."""
    rows = reading.of_one(table) if unlabeled is None else reading.of_two(table, unlabeled)
    return tallied(rows, reading, table.name)


def require_sound(tally: Tally, reading: Reading, table: str | None = None) -> None:
    """Refuse a single class, names that look alike, and labels that tell nothing of the unlabelled items."""
    classes, outputs = _single_names(tally.class_names(), tally.label_parts), tally.output_names()
    if len(classes) == 1:
        found, needed = f"has only the label {classes[0]!r}", "a share needs at least two classes"
        remedy = "Label some items of another class, or name every class in classes=[...]"
        raise InputError(table or "labels", found, needed, remedy)
    if not reading.named:  # the class 1 beside the output "1"
        parts = _single_names(outputs, tally.output_parts)
        _check.distinguishable("classes and outputs", dict.fromkeys([*classes, *parts]))
    if reading.outputs is None:
        tally.require_shared_outputs(table or "predictions")


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
    total = Tally(
        by=first.by,
        is_weighted=any(tally.is_weighted for tally in tallies),
        classifiers=first.classifiers,
        raters=next((tally.raters for tally in tallies if tally.raters), ()),
        output_parts=merged_parts([tally.output_parts for tally in tallies]),
        label_parts=merged_parts([tally.label_parts for tally in tallies]),
        rare=dict(first.rare),
        is_clustered=first.is_clustered,
        has_single_clusters=first.has_single_clusters and len(tallies) == 1,  # shards may share clusters
    )
    for number, tally in enumerate(tallies):
        _require_mergeable(number, first, tally, strict_classes)
        total.clusters.update(tally.clusters)
        total.n_clusters += tally.n_clusters
        total.labeled.update(tally.labeled)
        total.unlabeled.update(tally.unlabeled)
        total.labeled_squares.update(tally.labeled_squares)
        total.unlabeled_squares.update(tally.unlabeled_squares)
        total.label_groups.update(tally.label_groups)
        for study, own in tally.studies.items():
            so_far = total.studies.setdefault(study, Tally(is_weighted=total.is_weighted))
            so_far.labeled.update(own.labeled)
            so_far.labeled_squares.update(own.labeled_squares)
    if total.raters:
        total.classes = _common("classes", [tally.rated_classes() for tally in tallies if tally.raters])
    else:
        total.classes = _common("classes", [tally.class_names() for tally in tallies])
    if not total.classifiers:
        total.outputs = _common("outputs", [tally.output_names() for tally in tallies])
    return total


def require_alike(argument: str, parts: Iterable[Combination]) -> None:
    """Refuse a number beside a string that looks like it, in one column of several."""
    for values in zip(*parts, strict=True):
        _check.distinguishable(argument, dict.fromkeys(value for value in values if value is not None))


def _named(value: Value, parts: dict[Name, Combination]) -> Name | None:
    """Return the name of a value, and keep what it consists of where it is a combination."""
    if not isinstance(value, tuple):
        return value
    name = combination_name(value)
    parts[name] = value
    return name


def _single_names(names: Sequence[Name], parts: Mapping[Name, Combination]) -> list[Name]:
    """Return the names, or the values of single columns where these are combinations."""
    return list(dict.fromkeys(part for each in parts.values() for part in each if part is not None)) or list(names)


def _common(argument: str, lists: Sequence[Sequence[Name]]) -> tuple[Name, ...]:
    """Keep the order that all agree on; sort what differs."""
    if all(list(names) == list(lists[0]) for names in lists):
        return tuple(lists[0])
    names = _check.sorted_names(dict.fromkeys(chain.from_iterable(lists)))
    _check.distinguishable(argument, names)
    return tuple(names)


def _require_mergeable(number: int, first: Tally, other: Tally, strict: bool) -> None:
    argument = f"shard {number + 1}"
    if other.by != first.by:
        found, needed = f"is grouped by {list(other.by)}", f"the first is grouped by {list(first.by)}"
        raise InputError(argument, found, needed, "Count all shards with the same --by")
    if other.is_clustered != first.is_clustered:
        found, needed = f"has {'' if other.is_clustered else 'no '}clusters, unlike the first", "all have some or none"
        raise InputError(argument, found, needed, "Count all shards with the same --cluster")
    for what in ("classifiers", "raters"):
        mine, theirs = getattr(other, what), getattr(first, what)
        has_labels = what == "classifiers" or (other.labeled and first.labeled)  # a shard without labels has no raters
        if mine != theirs and has_labels:
            found, needed = f"has the {what} {list(mine)}", f"the first has {list(theirs)}"
            raise InputError(argument, found, needed, "Count all shards with the same columns, in the same order")
    if other.rare != first.rare:
        found, needed = "has other rare combinations merged than the first", "an output is the same in all shards"
        raise InputError(argument, found, needed, "Merge the counts of all combinations, as they were counted")
    sides = (
        ("classes", first.class_names(), other.class_names()),
        ("outputs", first.output_names(), other.output_names()),
    )
    for what, wanted, found_names in sides if strict else ():
        odd = _check.sorted_names(set(wanted) ^ set(found_names))
        if odd:
            raise InputError(
                argument,
                f"{'has' if odd[0] in found_names else 'lacks'} {odd[0]!r} among its {what}",
                f"those of the first are {', '.join(map(repr, wanted))}",
                f"Name all {what} when counting, or allow differences",
            )
