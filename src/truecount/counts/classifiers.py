"""Counts of several classifiers: those of some of them alone, and rare combinations merged with the nearest."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from truecount._types import FloatArray, IntArray, Name
from truecount._wording import listed_quoted
from truecount.counts.combinations import Combinations
from truecount.counts.groups import Groups
from truecount.counts.table import Counts
from truecount.errors import InputError
from truecount.reading.names import MISSING, Combination

Data = TypeVar("Data", Counts, Groups)
FEWEST_LABELS = 2
"""Labelled items, of all classes together, below which a combination is too rare to learn from."""


def merge_rare(data: Data, fewest: int = FEWEST_LABELS) -> Data:
    """Merge combinations with fewer labelled items than this, all classes together, with the nearest other one.

    The nearest is the one that agrees in most classifiers; among these, the one with most labelled items, then with
    most unlabelled ones, then the first. No true class is looked at, so that merged outputs are as good as any others.
    Where fewer than two combinations would be left, nothing is merged.
    """
    found = data.combinations
    if found is None or len(found.parts) <= 2:
        return data
    whole = data.total if isinstance(data, Groups) else data
    labels, items = whole.labeled.sum(axis=0).astype(np.float64), whole.unlabeled.astype(np.float64)
    kept = np.flatnonzero(labels >= fewest)
    if len(kept) < 2 or len(kept) == len(labels):
        return data
    targets = np.array([_nearest(place, kept, found.parts, labels, items) for place in range(len(labels))])
    merged = tuple(int((targets == place).sum()) - 1 for place in kept)
    outputs = [data.outputs[place] for place in kept]
    names = [f"{name} (and {others} rare)" if others else name for name, others in zip(outputs, merged, strict=True)]
    return sum_outputs(data, np.searchsorted(kept, targets), names, replace(found.taken(kept), merged=merged))


def _nearest(place: int, kept: IntArray, parts: Sequence[Combination], labels: FloatArray, items: FloatArray) -> int:
    """Return which of the kept combinations one is counted with; itself, if it is kept."""

    def nearness(other: int) -> tuple[bool, int, float, float, int]:
        agree = sum(mine == theirs for mine, theirs in zip(parts[place], parts[other], strict=True))
        return (other == place, agree, float(labels[other]), float(items[other]), -other)

    return int(max(kept.tolist(), key=nearness))


def of_classifiers(data: Data, names: Sequence[str]) -> Data:
    """Return the counts that some of the classifiers alone would give.

    Items without an output of any of these have one called missing.

    Examples
    --------
    >>> from truecount.counts import count
    >>> both = count(["a", "b"], {"x": ["a", "b"], "y": ["a", "a"]}, {"x": ["a", "b"], "y": ["a", "b"]})
    >>> of_classifiers(both, ["x"]).outputs, of_classifiers(both, ["x"]).unlabeled
    (('a', 'b'), array([1, 1]))
    """
    found = data.combinations
    if found is None:
        needed = "they are told apart where counts are of several classifiers"
        raise InputError("counts", "are of one classifier", needed, "Count with prediction=[...]")
    for name in names:
        if name not in found.columns:
            needed = f"the classifiers are {listed_quoted(found.columns)}"
            raise InputError("classifiers", f"hold {name!r}", needed, "Name some of them")
    places = [found.columns.index(name) for name in names]
    parts = [tuple(each[place] for place in places) for each in found.parts]
    if len(names) == 1:
        single = [MISSING if part is None else part for (part,) in parts]
        outputs: list[Name] = list(dict.fromkeys(single))
        return sum_outputs(data, np.array([outputs.index(each) for each in single]), outputs, None)
    shown = [tuple(MISSING if part is None else part for part in each) for each in parts]
    chosen = list(dict.fromkeys(shown))
    kept = Combinations(tuple(names), tuple(_parts(each) for each in chosen))
    return sum_outputs(data, np.array([chosen.index(each) for each in shown]), list(kept.names), kept)


def _parts(shown: Combination) -> Combination:
    """Return the parts of a combination, None for what is missing; of one without any, the word for it."""
    if all(part is MISSING for part in shown):
        return shown
    return tuple(None if part is MISSING else part for part in shown)


def sum_outputs(data: Data, targets: IntArray, outputs: Sequence[Name], combinations: Combinations | None) -> Data:
    """Add up outputs by where they go among others; those that nothing goes to are empty."""
    into = np.zeros((len(targets), len(outputs)), np.int64)
    into[np.arange(len(targets)), targets] = 1
    sides = ("labeled", "unlabeled", "labeled_squares", "unlabeled_squares")
    sums: dict[str, Any] = {side: None if (values := getattr(data, side)) is None else values @ into for side in sides}
    if data.clusters is not None:
        sums["clusters"] = data.clusters.changed(lambda each: each @ into, lambda each: each @ into)
    if isinstance(data, Groups) and data.label_groups is not None:
        sums["label_groups"] = data.label_groups.merged_outputs(into)
    if isinstance(data, Groups):
        return data.with_outputs(outputs, combinations, **sums)
    return replace(data, **sums, outputs=tuple(outputs), combinations=combinations)
