"""Counts on their way from a cluster to a laptop: JSON that can be merged.

A shard may hold one class or none, so it is read as a `Tally`; only what is to be inferred from must be `Counts` or
`Groups`. With groups, the schema is ``truecount.groups/1``: the labelled table once, and the unlabelled counts of each
group. Groups with studies or times are complete as they are, and are read as `Groups`.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from truecount import _check
from truecount._json import JsonError, read_json
from truecount._types import Name
from truecount.counts.clusters import Clusters, read_clusters
from truecount.counts.combinations import Combinations
from truecount.counts.group_parts import written_keys
from truecount.counts.groups import SCHEMA as GROUPS
from truecount.counts.groups import Groups
from truecount.counts.label_groups import LabelGroups, read_label_groups
from truecount.counts.ratings import SCHEMA as RATINGS
from truecount.counts.ratings import Ratings
from truecount.counts.table import SCHEMA, Counts, document_entries, require_both_squares, whole_numbers
from truecount.counts.tally import Tally, merged
from truecount.errors import InputError
from truecount.reading.locate import existing_file
from truecount.reading.names import written

FORM = (
    f'Write {{"schema": "{SCHEMA}", "classes": [...], "outputs": [...], "labeled": [[...], ...], "unlabeled": [...]}}, '
    "where labeled has a row for each class"
)


def to_document(tally: Tally) -> dict[str, Any]:
    """Return plain lists and names, ready for JSON."""
    classes, outputs, groups = tally.class_names(), tally.output_names(), tally.groups()
    document: dict[str, Any] = {"schema": GROUPS, "by": list(tally.by)} if tally.by else {"schema": SCHEMA}
    document |= {"classes": classes, "outputs": outputs}
    document["labeled"] = [[tally.labeled[name, output] for output in outputs] for name in classes]
    new = [[tally.unlabeled[group, output] for output in outputs] for group in groups]
    document |= {"groups": [list(map(written, group)) for group in groups]} if tally.by else {}
    document["unlabeled"] = new if tally.by else new[0]
    if tally.is_weighted:
        squares = [[tally.unlabeled_squares[group, output] for output in outputs] for group in groups]
        document["labeled_squares"] = [[tally.labeled_squares[name, output] for output in outputs] for name in classes]
        document["unlabeled_squares"] = squares if tally.by else squares[0]
    if (clusters := tally.binned(classes, outputs, groups if tally.by else None)) is not None:
        binned = clusters.to_dict()
        document["clusters"] = {**binned, "labeled": [each[0] for each in binned["labeled"]]} if tally.by else binned
    if (combinations := tally.combinations()) is not None:
        document["combinations"] = combinations.to_dict()
    if (own := tally.labels_by_group(classes, outputs)) is not None:
        document["label_groups"] = own.to_dict()
    return _rated(tally, document) if tally.raters else document


def _rated(tally: Tally, counts: dict[str, Any]) -> dict[str, Any]:
    """Return a document of what several raters said, in which each row of the counts is a pattern."""
    patterns = {
        "columns": list(tally.raters),
        "parts": [list(tally.label_parts[name]) for name in tally.class_names()],
    }
    return {"schema": RATINGS, "classes": list(tally.rated_classes()), "patterns": patterns, "counts": counts}


def from_document(values: Any) -> Tally:
    """Read what `to_document` or `Counts.to_dict` returned."""
    if isinstance(values, Mapping) and values.get("schema") == RATINGS:
        return _rated_tally(values)
    is_grouped = isinstance(values, Mapping) and values.get("schema") == GROUPS
    needed, more = (("by", "groups"), ("label_groups",)) if is_grouped else ((), ())
    entries = document_entries(values, GROUPS if is_grouped else SCHEMA, needed, more)
    classes, outputs = (_check.names(side, entries[side]) for side in ("classes", "outputs"))
    by = tuple(map(str, _check.names("by", entries["by"]))) if is_grouped else ()
    groups = written_keys(by, entries["groups"]) if is_grouped else [()]
    tally = Tally(
        by=by,
        classes=classes,
        outputs=outputs,
        is_weighted=_is_weighted(entries),
    )
    for suffix, source in (("", ""), ("_squares", "_squares" if tally.is_weighted else "")):
        sides = (("labeled", classes, True), ("unlabeled", groups, is_grouped))
        for side, rows, is_matrix in sides:
            numbers = entries[side + source] if is_matrix else [entries[side + source]]
            cells = _cells(side + source, numbers, len(rows), len(outputs), whole=not tally.is_weighted)
            getattr(tally, side + suffix).update(_sums(rows, outputs, cells))
    if entries.get("clusters") is not None:
        known, new = (_array(tally, side, rows) for side, rows in (("labeled", classes), ("unlabeled", groups)))
        _put_clusters(tally, read_clusters(entries["clusters"], known, new if is_grouped else new[0]), groups)
    if entries.get("label_groups") is not None:
        whole = _array(tally, "labeled", classes)[None]
        _put_label_groups(tally, read_label_groups(entries["label_groups"], whole))
    if "combinations" in entries:
        _put_parts(tally, Combinations.read("combinations", entries["combinations"], len(outputs)))
    return tally


def _rated_tally(values: Mapping[str, Any]) -> Tally:
    """Read a document of what several raters said, of which a shard may hold one pattern or none."""
    for name in ("classes", "patterns", "counts"):
        if name not in values:
            raise InputError("ratings", f"lack {name!r}", f"{RATINGS} has it", "Count the data again")
    tally = from_document(values["counts"])
    patterns = Combinations.read("patterns", values["patterns"], len(tally.class_names()))
    return _with_raters(tally, patterns, _check.names("classes", values["classes"]))


def _with_raters(tally: Tally, patterns: Combinations, classes: tuple[Name, ...]) -> Tally:
    tally.label_parts = dict(zip(tally.class_names(), patterns.parts, strict=True))
    tally.raters, tally.classes = patterns.columns, classes
    return tally


def _array(tally: Tally, side: str, rows: Sequence[Any]) -> Any:
    sums = getattr(tally, side)
    return np.array([[sums[row, output] for output in tally.output_names()] for row in rows]).reshape(len(rows), -1)


def _put_clusters(tally: Tally, clusters: Clusters, groups: Sequence[Any]) -> None:
    """Put bins of clusters into sums that add; labels are those of one study."""
    tally.is_clustered, tally.n_clusters, tally.has_single_clusters = True, clusters.number, clusters.is_single
    classes, outputs = tally.class_names(), tally.output_names()
    known = clusters.labeled.reshape(len(clusters.bins), len(classes), len(outputs))
    new = clusters.unlabeled.reshape(len(clusters.bins), len(groups), len(outputs))
    for row, bin_ in enumerate(clusters.bins.tolist()):
        for label, column in np.argwhere(known[row]):
            tally.clusters[bin_, (), classes[label], outputs[column]] += known[row, label, column].item()
        for group, column in np.argwhere(new[row]):
            tally.clusters[bin_, groups[group], None, outputs[column]] += new[row, group, column].item()


def _put_label_groups(tally: Tally, own: LabelGroups | None) -> None:
    """Put the labels of single groups into sums that add."""
    for key, table in zip(own.keys, own.labeled, strict=True) if own is not None else ():
        group = key if isinstance(key, tuple) else (key,)
        cells = _sums(tally.class_names(), tally.output_names(), table.tolist())
        tally.label_groups.update({(group, *cell): number for cell, number in cells.items()})


def _put_parts(tally: Tally, combinations: Combinations) -> None:
    tally.output_parts = dict(zip(tally.output_names(), combinations.parts, strict=True))
    merged = zip(tally.output_names(), combinations.merged, strict=False)  # which are none where nothing is merged
    tally.rare = {name: number for name, number in merged if number}
    tally.classifiers, tally.outputs = combinations.columns, None


def tally_of(data: Counts | Groups | Ratings) -> Tally:
    """Return counts as sums that add; those of groups must come from one study."""
    if isinstance(data, Ratings):
        return _with_raters(tally_of(data.counts), data.patterns, data.classes)
    if isinstance(data, Groups) and data.studies:
        found, needed = f"come from {len(data.studies)} studies", "here labels serve all groups alike"
        raise InputError("counts", found, needed, "Add them to groups with the same studies: first + second")
    squares: tuple[Any, Any] = (data.labeled_squares, data.unlabeled_squares) if data.is_weighted else (None, None)
    is_grouped = isinstance(data, Groups)
    by = data.by if isinstance(data, Groups) else ()
    groups = [key if len(by) > 1 else (key,) for key in data.groups] if isinstance(data, Groups) else [()]
    tally = Tally(by=by, classes=data.classes, outputs=data.outputs, is_weighted=data.is_weighted)
    for suffix, (known, new) in (("", (data.labeled, data.unlabeled)), ("_squares", squares)):
        if known is None:
            known, new = data.labeled, data.unlabeled
        known, new = (known[0], new) if is_grouped else (known, [new])
        getattr(tally, f"labeled{suffix}").update(_sums(data.classes, data.outputs, np.asarray(known).tolist()))
        getattr(tally, f"unlabeled{suffix}").update(_sums(groups, data.outputs, np.asarray(new).tolist()))
    if data.clusters is not None:
        _put_clusters(tally, data.clusters, groups)
    _put_label_groups(tally, data.label_groups if isinstance(data, Groups) else None)
    if data.combinations is not None:
        _put_parts(tally, data.combinations)
    return tally


def _is_weighted(entries: Mapping[str, Any]) -> bool:
    squares = [entries.get(f"{side}_squares") for side in ("labeled", "unlabeled")]
    if squares == [None, None]:
        return False
    require_both_squares(*squares)
    return True


def _cells(argument: str, numbers: Any, n_rows: int, n_columns: int, *, whole: bool) -> Any:
    array: Any = _check.finite_numbers(argument, numbers, dimensions=2) if numbers != [] else np.zeros((0, n_columns))
    if array.shape != (n_rows, n_columns):
        needed = f"there are names for {(n_rows, n_columns)}"
        raise InputError(argument, f"has shape {array.shape}", needed, "Count the data again")
    return whole_numbers(argument, array).tolist() if whole else array.tolist()


def _sums(rows: Sequence[Any], outputs: Sequence[Name], cells: Sequence[Sequence[float]]) -> dict[Any, Any]:
    return {
        (row, output): number
        for row, numbers in zip(rows, cells, strict=True)
        for output, number in zip(outputs, numbers, strict=True)
    }


def read_counts(path: str | PathLike[str]) -> Tally | Groups:
    """Read counts from JSON: what can still be merged, or groups with studies or times, which are complete."""
    file = existing_file(path)
    try:
        values = read_json(Path(file).read_text(encoding="utf-8-sig"))
        return Groups.from_dict(values) if _is_complete(values) else from_document(values)
    except UnicodeDecodeError as error:
        raise InputError(str(file), "is not text", "counts are written in JSON", FORM) from error
    except JsonError as error:
        raise InputError(f"{file}: counts", f"are not JSON ({error})", "they must be one JSON object", FORM) from error
    except InputError as error:
        remedy = error.remedy if error.argument == "groups" else FORM
        raise InputError(f"{file}: {error.argument}", error.found, error.needed, remedy) from error


def _is_complete(values: Any) -> bool:
    return isinstance(values, Mapping) and values.get("schema") == GROUPS and bool({"studies", "times"} & values.keys())


def merged_parts(parts: Sequence[Tally | Groups], *, strict_classes: bool = False) -> Tally | Groups:
    """Add up shards, aligned by name; all are groups with studies or times, or none is."""
    whole = [part for part in parts if isinstance(part, Groups)]
    if not whole:
        return merged([part for part in parts if isinstance(part, Tally)], strict_classes=strict_classes)
    if len(whole) < len(parts):
        number = next(number for number, part in enumerate(parts) if isinstance(part, Tally)) + 1
        found, needed = "has neither studies nor times", "another shard has, and all must be made alike"
        raise InputError(f"shard {number}", found, needed, "Make all shards with the same studies and times, or none")
    return reduce(add, whole)


def merge_counts(*counts: Counts | Groups | Ratings, strict_classes: bool = False) -> Counts | Groups | Ratings:
    """Add up the counts of shards that each have labels and population of their own, aligned by name.

    Parameters
    ----------
    counts
        At least one: all `Counts`, all `Ratings`, or all `Groups`, of which groups with one name add up, as studies
        with one name do.
    strict_classes
        Refuse shards whose classes or outputs differ. Else a name that a shard lacks has zeros there.

    Examples
    --------
    >>> first = Counts([[3, 1], [0, 2]], [5, 5], ["cat", "dog"])
    >>> second = Counts([[1, 0], [1, 1]], [2, 0], ["cat", "fox"])
    >>> merge_counts(first, second).classes
    ('cat', 'dog', 'fox')
    """
    if not counts:
        raise InputError("counts", "are none", "at least one is needed", "Pass the counts of every shard")
    for each in counts:
        _check.instance_of("counts", each, (Counts, Groups, Ratings), "Pass what count() or count_table() returned")
    are_complete = any(isinstance(each, Groups) and (each.studies or each.has_times_of_its_own) for each in counts)
    parts = [each if are_complete and isinstance(each, Groups) else tally_of(each) for each in counts]
    total = merged_parts(parts, strict_classes=strict_classes)
    return total if isinstance(total, Groups) else total.to_data()
