"""Several populations and the labels that serve them: the sufficient statistics of a comparison."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from truecount import _check
from truecount._json import read_document
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import listed_quoted, nearest
from truecount.counts import display
from truecount.counts.clusters import Clusters, clusters_of_groups, read_clusters
from truecount.counts.combinations import Combinations
from truecount.counts.group_parts import (
    aligned_squares,
    group_columns,
    group_keys,
    group_row,
    group_times,
    rectangular,
    written_keys,
)
from truecount.counts.group_sums import added_parts
from truecount.counts.label_groups import LabelGroups, read_label_groups
from truecount.counts.periods import key_times, missing_periods
from truecount.counts.table import Counts, checked_numbers, document_entries, frozen, order_of, table_names
from truecount.errors import InputError
from truecount.reading.columns import FREQUENCIES
from truecount.reading.names import mapping_key, sorted_groups, written

SCHEMA = "truecount.groups/1"


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    r"""Labelled items by class and output, and the unlabelled items of several groups by output.

    Parameters
    ----------
    labeled
        Shape (classes, outputs): labelled items that serve all groups. Or a mapping from study to such a table, where
        labels come from several studies; a study named like a group consists of that group's own labels.
    unlabeled
        Maps each group to its unlabelled items by output.
    classes, outputs
        Their names. Left out, classes are 0, 1, …, and outputs are named like the classes if there are as many.
    times
        When each group was observed: numbers, dates, or text such as ``"2024-05-27"``, in the order of the groups or
        as a mapping from group to time. Left out, they are read off the groups' keys, if one part of every key is a
        date.
    by
        The columns that the groups were made by, one for each part of a group's key; ``group`` if left out.
    labeled_squares, unlabeled_squares
        Sums of squared weights in the form of `labeled` and `unlabeled`, where the counts are sums of weights.
    combinations
        What each output consists of, where several classifiers put out a value for each item.
    clusters
        Counts of bins of clusters, where items belong together: what ``count_table(..., cluster=)`` found.
    label_groups
        Maps groups to those of the labelled items that are known to be theirs, where `labeled` is one table. They show
        whether the classifier treats the groups alike; the model does not use them.

    Examples
    --------
    >>> Groups([[140, 60], [20, 180]], {"A": [600, 400], "B": [300, 200]}, classes=["fail", "pass"])
    Groups: 400 labelled items, 1500 unlabelled items in 2 groups, 2 classes, 2 outputs
    group  fail  pass
    A       600   400
    B       300   200
    """

    labeled: IntArray | FloatArray
    unlabeled: IntArray | FloatArray
    groups: tuple[Any, ...]
    studies: tuple[Any, ...] | None
    classes: tuple[Name, ...]
    outputs: tuple[Name, ...]
    times: NDArray[Any] | None
    by: tuple[str, ...] = field(kw_only=True)
    labeled_squares: FloatArray | None = field(kw_only=True)
    unlabeled_squares: FloatArray | None = field(kw_only=True)
    combinations: Combinations | None = field(kw_only=True)
    clusters: Clusters | None = field(kw_only=True)
    label_groups: LabelGroups | None = field(kw_only=True)

    def __init__(
        self,
        labeled: Any,
        unlabeled: Mapping[Any, Any],
        classes: Iterable[Any] | None = None,
        outputs: Iterable[Any] | None = None,
        times: Any = None,
        *,
        by: Sequence[str] = (),
        labeled_squares: Any = None,
        unlabeled_squares: Any = None,
        combinations: Any = None,
        clusters: Any = None,
        label_groups: Any = None,
    ) -> None:
        _check.instance_of("unlabeled", unlabeled, Mapping, "Pass {group: [items of each output], ...}")
        if not unlabeled:
            raise InputError("unlabeled", "is empty", "at least one group is needed", "Pass {group: [...], ...}")
        keys, rows = group_keys(unlabeled), [np.asarray(group_row(group, row)) for group, row in unlabeled.items()]
        studies = group_keys(labeled, "labeled") if isinstance(labeled, Mapping) else None
        tables = list(labeled.values()) if isinstance(labeled, Mapping) else [labeled]
        squares = (
            aligned_squares("labeled_squares", labeled_squares, labeled),
            aligned_squares("unlabeled_squares", unlabeled_squares, unlabeled),
        )
        tables_and_rows = rectangular(tables, rows, keys, studies)
        class_names, output_names = table_names(tables_and_rows[0].shape[1:], classes, outputs)
        numbers = checked_numbers(*tables_and_rows, *squares)
        for name, value in zip(("labeled", "unlabeled", "labeled_squares", "unlabeled_squares"), numbers, strict=True):
            self._set(name, value)
        self._set("classes", class_names)
        self._set("outputs", output_names)
        if combinations is not None:
            combinations = Combinations.read("combinations", combinations, len(self.outputs))
        self._set("combinations", combinations)
        self._set("clusters", None if clusters is None else read_clusters(clusters, self.labeled, self.unlabeled))
        self._set("label_groups", read_label_groups(label_groups, self.labeled))
        self._set("groups", keys)
        self._set("studies", studies)
        self._set("by", group_columns(by, keys))
        times = key_times(keys) if times is None else times
        self._set("times", None if times is None else group_times(times, keys))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def of(cls, counts: Mapping[Any, Counts]) -> Self:
        """Return groups that each have labels of their own, from a mapping of group to `Counts`.

        >>> Groups.of({"A": Counts([[9, 1], [2, 8]], [30, 20]), "B": Counts([[8, 2], [3, 7]], [10, 40])}).studies
        ('A', 'B')
        """
        if not counts:
            raise InputError("counts", "is empty", "at least one group is needed", "Pass {group: Counts(...), ...}")
        first = next(iter(counts.values()))
        each = {group: one.ordered_like(first) for group, one in counts.items()}
        squares: dict[str, Any] = {}
        if any(one.is_weighted for one in each.values()):
            squares = {
                "labeled_squares": {group: one.squares()[0] for group, one in each.items()},
                "unlabeled_squares": {group: one.squares()[1] for group, one in each.items()},
            }
        return cls(
            {group: one.labeled for group, one in each.items()},
            {group: one.unlabeled for group, one in each.items()},
            first.classes,
            first.outputs,
            combinations=first.combinations,
            clusters=clusters_of_groups([one.clusters for one in each.values()]),
            **squares,
        )

    @property
    def is_weighted(self) -> bool:
        """Whether the counts are sums of weights."""
        return self.labeled_squares is not None

    @property
    def outputs_are_classes(self) -> bool:
        """Whether every output is named like a class and every class like an output."""
        return set(self.outputs) == set(self.classes)

    @property
    def shares_labels(self) -> bool:
        """Whether all groups are inferred from the same labels, because none has a study of its own."""
        return self.studies is None or not set(self.studies) & set(self.groups)

    @property
    def has_times_of_its_own(self) -> bool:
        """Whether the times say more than the groups' keys."""
        told = key_times(self.groups)
        return self.times is not None and (
            told is None or not np.array_equal(self.times, group_times(told, self.groups))
        )

    @property
    def total(self) -> Counts:
        """All groups together, with the labels of all studies."""
        return self._counts(slice(None), slice(None))

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[Any]:
        """Yield the groups in their order."""
        return iter(self.groups)

    def __contains__(self, group: object) -> bool:
        return group in self.groups

    def __getitem__(self, group: Any) -> Counts:
        """Return one group's counts, with the labels of all studies."""
        return self._counts(self.index(group))

    def items(self) -> Iterator[tuple[Any, Counts]]:
        """Yield each group with its counts, with the labels of all studies."""
        return ((group, self._counts(place)) for place, group in enumerate(self.groups))

    def values(self) -> Iterator[Counts]:
        """Yield the counts of each group, with the labels of all studies."""
        return (self._counts(place) for place in range(len(self)))

    def apart(self) -> Iterator[tuple[Any, Counts]]:
        """Yield each group with its counts by itself: with its own labels where a study has its name, else with all.

        >>> both = Groups.of({"A": Counts([[9, 1], [2, 8]], [30, 20]), "B": Counts([[8, 2], [3, 7]], [10, 40])})
        >>> [counts.labeled.sum().item() for _, counts in both.apart()], both["A"].labeled.sum().item()
        ([20, 20], 40)
        """
        own = {study: place for place, study in enumerate(self.studies or ())}
        for place, group in enumerate(self.groups):
            yield group, self._counts(place, slice(own[group], own[group] + 1) if group in own else slice(None))

    def parts(self, size: int) -> Iterator["Groups"]:
        """Yield the groups in their order, so many at a time, each with the labels that serve it in `apart`.

        >>> [part.groups for part in Groups([[9, 1], [2, 8]], {"A": [3, 4], "B": [5, 6], "C": [7, 8]}).parts(2)]
        [('A', 'B'), ('C',)]
        """
        own = {study: place for place, study in enumerate(self.studies or ())}
        for start in range(0, len(self), size):
            chosen = slice(start, start + size)
            groups = self.groups[chosen]
            parts = self._parts() | {"groups": groups, "unlabeled": self.unlabeled[chosen]}
            parts["times"] = None if self.times is None else self.times[chosen]
            parts["unlabeled_squares"] = None if self.unlabeled_squares is None else self.unlabeled_squares[chosen]
            places: Any = slice(None)
            if own and all(group in own for group in groups):
                places = [own[group] for group in groups]
                parts |= {"studies": groups, "labeled": self.labeled[places]}
                parts["labeled_squares"] = None if self.labeled_squares is None else self.labeled_squares[places]
            parts["clusters"] = self._of_clusters(places, chosen)
            yield _rebuilt(parts)

    def index(self, group: Any) -> int:
        """Return where a group stands."""
        if group in self.groups:
            return self.groups.index(group)
        by_text = {str(key): key for key in self.groups}
        meant = nearest(str(group), by_text)
        remedy = f"Perhaps you meant {by_text[meant]!r}" if meant else "Name one of them"
        raise InputError("group", f"is {group!r}", f"the groups are {listed_quoted(self.groups)}", remedy)

    def _counts(self, groups: int | slice, studies: slice = slice(None)) -> Counts:
        """Return the labels of some studies, added up, and the items of some groups."""

        def chosen(items: Any) -> Any:
            return items[groups].sum(axis=0) if isinstance(groups, slice) else items[groups]

        squares: dict[str, Any] = {}
        if self.labeled_squares is not None and self.unlabeled_squares is not None:
            squares["labeled_squares"] = self.labeled_squares[studies].sum(axis=0)
            squares["unlabeled_squares"] = chosen(self.unlabeled_squares)
        labeled = self.labeled[studies].sum(axis=0)
        kept = groups if isinstance(groups, slice) else slice(groups, groups + 1)
        return Counts(
            labeled,
            chosen(self.unlabeled),
            self.classes,
            self.outputs,
            combinations=self.combinations,
            clusters=self._clusters(lambda own: own[:, studies].sum(axis=1), lambda own: own[:, kept].sum(axis=1)),
            **squares,
        )

    def ordered_like(self, other: "Groups | Counts") -> "Groups":
        """Return the same with classes and outputs in the order of others."""
        rows = order_of("classes", self.classes, other.classes)
        columns = order_of("outputs", self.outputs, other.outputs)
        return self._replaced(
            labeled=self.labeled[:, rows][:, :, columns],
            unlabeled=self.unlabeled[:, columns],
            classes=other.classes,
            outputs=other.outputs,
            labeled_squares=None if self.labeled_squares is None else self.labeled_squares[:, rows][:, :, columns],
            unlabeled_squares=None if self.unlabeled_squares is None else self.unlabeled_squares[:, columns],
            combinations=None if self.combinations is None else self.combinations.taken(columns),
            clusters=self._clusters(lambda each: each[:, :, rows][..., columns], lambda each: each[..., columns]),
            label_groups=None if self.label_groups is None else self.label_groups.taken(rows, columns),
        )

    def select(self, groups: Iterable[Any]) -> "Groups":
        """Return some of the groups, in the order given, with all labels."""
        places = {group: place for place, group in enumerate(self.groups)}
        chosen = [places[group] if group in places else self.index(group) for group in groups]
        return self._replaced(
            unlabeled=self.unlabeled[chosen],
            groups=tuple(self.groups[at] for at in chosen),
            times=None if self.times is None else self.times[chosen],
            unlabeled_squares=None if self.unlabeled_squares is None else self.unlabeled_squares[chosen],
            clusters=self._of_clusters(slice(None), chosen),
        )

    def _clusters(self, labeled: Callable[[Any], Any], unlabeled: Callable[[Any], Any]) -> Clusters | None:
        return None if self.clusters is None else self.clusters.changed(labeled, unlabeled)

    def _of_clusters(self, studies: Any, groups: Any) -> Clusters | None:
        return self._clusters(lambda each: each[:, studies], lambda each: each[:, groups])

    def with_outputs(self, outputs: Sequence[Name], combinations: Combinations | None, **sums: Any) -> "Groups":
        """Return the same groups with other outputs, and what was counted of them."""
        return self._replaced(outputs=tuple(outputs), combinations=combinations, **sums)

    def renamed(
        self, groups: Sequence[Any], studies: Sequence[Any] | None = None, *, by: Sequence[str] | None = None
    ) -> "Groups":
        """Return the same with other names of groups, of studies and of what they are made by, in the same order."""
        return self._replaced(
            groups=tuple(groups),
            studies=self.studies if studies is None else tuple(studies),
            by=self.by if by is None else tuple(by),
            label_groups=self.label_groups and self.label_groups.renamed(dict(zip(self.groups, groups, strict=True))),
        )

    def fill_periods(self, frequency: str) -> "Groups":
        """Return the same with groups of no items for periods that nothing was seen in, in the order of time.

        Parameters
        ----------
        frequency
            How long a period is: minute, hour, day, week, month, quarter or year.

        Examples
        --------
        >>> weeks = Groups([[9, 1], [1, 9]], {"2024-05-06": [3, 4], "2024-05-20": [5, 6]}, by=["week"])
        >>> weeks.fill_periods("week").groups
        ('2024-05-06', '2024-05-13', '2024-05-20')
        """
        _check.one_of("frequency", frequency, FREQUENCIES)
        known = set(self.groups)
        empty = [group for group in missing_periods(self.groups, frequency) if group not in known]
        keys = [group if isinstance(group, tuple) else (group,) for group in (*self.groups, *empty)]
        order = [mapping_key(group) for group in sorted_groups(keys)]
        nothing = np.zeros((len(empty), len(self.outputs)), self.unlabeled.dtype)
        squares = self.unlabeled_squares
        return self._replaced(
            groups=(*self.groups, *empty),
            unlabeled=np.vstack([self.unlabeled, nothing]),
            unlabeled_squares=None if squares is None else np.vstack([squares, nothing]),
            clusters=self._clusters(lambda each: each, lambda each: np.pad(each, ((0, 0), (0, len(empty)), (0, 0)))),
            times=None,
        ).select(order)

    def __add__(self, other: object) -> "Groups":
        """Merge the counts of two shards of one data set: labels of the same study and items of the same group add."""
        if not isinstance(other, Groups):
            return NotImplemented
        return self._replaced(**added_parts(self, other.ordered_like(self)))

    def _replaced(self, **changes: Any) -> "Groups":
        values = self._parts() | changes
        studies, groups = values["studies"], values["groups"]
        squares = {
            "labeled_squares": _by_name(values["labeled_squares"], studies),
            "unlabeled_squares": _by_name(values["unlabeled_squares"], groups),
        }
        labeled, unlabeled = _by_name(values["labeled"], studies), dict(zip(groups, values["unlabeled"], strict=True))
        kept = ("classes", "outputs", "times", "by", "combinations", "clusters", "label_groups")
        return Groups(labeled, unlabeled, **{name: values[name] for name in kept}, **squares)

    def _parts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    def __eq__(self, other: object) -> bool:
        """Compare as text, where the names 1 and True differ."""
        return isinstance(other, Groups) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and unpickle through the constructor, so that the arrays stay read-only."""
        return _rebuilt, (self._parts(),)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists and names, ready for JSON."""
        result: dict[str, Any] = {
            "schema": SCHEMA,
            "by": list(self.by),
            "classes": list(self.classes),
            "outputs": list(self.outputs),
            "labeled": (self.labeled if self.studies else self.labeled[0]).tolist(),
            "groups": [[written(part) for part in (group if len(self.by) > 1 else (group,))] for group in self.groups],
            "unlabeled": self.unlabeled.tolist(),
        }
        if self.studies:
            result["studies"] = [
                [*map(written, study)] if isinstance(study, tuple) else written(study) for study in self.studies
            ]
        if self.times is not None and self.has_times_of_its_own:
            result["times"] = [time if isinstance(time, float) else time.isoformat() for time in self.times.tolist()]
        if self.labeled_squares is not None and self.unlabeled_squares is not None:
            result["labeled_squares"] = (self.labeled_squares if self.studies else self.labeled_squares[0]).tolist()
            result["unlabeled_squares"] = self.unlabeled_squares.tolist()
        if self.combinations is not None:
            result["combinations"] = self.combinations.to_dict()
        if self.clusters is not None:
            own = self.clusters if self.studies else self._clusters(lambda each: each[:, 0], lambda each: each)
            result["clusters"] = None if own is None else own.to_dict()
        if self.label_groups is not None:
            result["label_groups"] = self.label_groups.to_dict()
        return result

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read what `to_dict` returned."""
        entries = document_entries(values, SCHEMA, ("by", "groups"), ("studies", "times", "label_groups"))
        by = tuple(map(str, _check.names("by", entries["by"])))
        groups = written_keys(by, entries["groups"])
        keys = [group[0] if len(by) == 1 else group for group in groups]
        studies = [tuple(study) if isinstance(study, list) else study for study in entries.get("studies") or ()]
        squares = {
            "labeled_squares": _by_name(entries.get("labeled_squares"), studies),
            "unlabeled_squares": _by_name(entries.get("unlabeled_squares"), keys),
        }
        return cls(
            _by_name(entries["labeled"], studies),
            _by_name(entries["unlabeled"], keys),
            entries["classes"],
            entries["outputs"],
            entries.get("times"),
            by=by,
            combinations=entries.get("combinations"),
            clusters=entries.get("clusters"),
            label_groups=entries.get("label_groups"),
            **squares,
        )

    def to_json(self) -> str:
        """Return one line of JSON, the exchange format between a cluster and a laptop."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` returned."""
        return cls.from_dict(read_document("groups", text, "Write them with Groups.to_json()"))

    def __repr__(self) -> str:
        return display.groups_text(self)

    def _repr_html_(self) -> str:
        return display.groups_html(self)


def _by_name(rows: Any, names: Sequence[Any] | None) -> Any:
    """Return rows by their names; a single table where there are none."""
    if rows is None:
        return None
    return dict(zip(names, rows, strict=True)) if names else (rows[0] if np.ndim(rows) == 3 else rows)


def _rebuilt(parts: dict[str, Any]) -> Groups:
    groups = object.__new__(Groups)
    for name, value in parts.items():
        groups._set(name, frozen(value) if isinstance(value, np.ndarray) else value)
    return groups
