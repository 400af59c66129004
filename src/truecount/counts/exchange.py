"""Counts on their way from a cluster to a laptop: JSON that can be merged.

A shard may hold one class or none, so it is read as a `Tally`; only what is to be inferred from must be `Counts`. With
groups, the schema is ``truecount.groups/1``: the labelled table once, and the unlabelled counts of each group.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from truecount import _check
from truecount._json import JsonError, read_json
from truecount._types import Name
from truecount.counts import validation
from truecount.counts.table import SCHEMA, Counts
from truecount.counts.tally import Tally, merged
from truecount.errors import InputError
from truecount.reading.paths import existing_file
from truecount.reading.values import written

GROUPS = "truecount.groups/1"
FORM = (
    f'Write {{"schema": "{SCHEMA}", "classes": [...], "outputs": [...], "labeled": [[...], ...], "unlabeled": [...]}}, '
    "where labeled has a row for each class"
)


def to_document(tally: Tally) -> dict[str, Any]:
    """Give plain lists and names, ready for JSON."""
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
    return document | ({"tables": sorted(tally.tables)} if tally.tables else {})


def from_document(values: Any) -> Tally:
    """Read what `to_document` or `Counts.to_dict` gave."""
    is_grouped = isinstance(values, Mapping) and values.get("schema") == GROUPS
    entries = validation.entries(values, GROUPS if is_grouped else SCHEMA, ("by", "groups") if is_grouped else ())
    classes, outputs = (_check.names(side, entries[side]) for side in ("classes", "outputs"))
    by = _by(entries["by"]) if is_grouped else ()
    groups = validation.group_keys(by, entries["groups"]) if is_grouped else [()]
    tally = Tally(
        by=by,
        classes=classes,
        outputs=outputs,
        is_weighted=_is_weighted(entries),
        tables=validation.tables(entries.get("tables", ())),
    )
    for suffix, source in (("", ""), ("_squares", "_squares" if tally.is_weighted else "")):
        sides = (("labeled", classes, True), ("unlabeled", groups, is_grouped))
        for side, rows, is_matrix in sides:
            numbers = entries[side + source] if is_matrix else [entries[side + source]]
            cells = _cells(side + source, numbers, len(rows), len(outputs), whole=not tally.is_weighted)
            getattr(tally, side + suffix).update(_sums(rows, outputs, cells))
    return tally


def _by(columns: Any) -> tuple[str, ...]:
    return tuple(map(str, _check.names("by", columns)))


def _is_weighted(entries: Mapping[str, Any]) -> bool:
    squares = [entries.get(f"{side}_squares") for side in ("labeled", "unlabeled")]
    if squares == [None, None]:
        return False
    validation.require_both(*squares)
    return True


def _cells(argument: str, numbers: Any, n_rows: int, n_columns: int, *, whole: bool) -> Any:
    array: Any = _check.finite_numbers(argument, numbers, dimensions=2) if numbers != [] else np.zeros((0, n_columns))
    if array.shape != (n_rows, n_columns):
        needed = f"there are names for {(n_rows, n_columns)}"
        raise InputError(argument, f"has shape {array.shape}", needed, "Count the data anew")
    return validation.whole(argument, array).tolist() if whole else array.tolist()


def _sums(rows: Sequence[Any], outputs: Sequence[Name], cells: Sequence[Sequence[float]]) -> dict[Any, Any]:
    return {
        (row, output): number
        for row, numbers in zip(rows, cells, strict=True)
        for output, number in zip(outputs, numbers, strict=True)
    }


def read_tally(path: str | PathLike[str]) -> Tally:
    """Read counts, with or without groups, from JSON."""
    file = existing_file(path)
    try:
        return from_document(read_json(Path(file).read_text(encoding="utf-8-sig")))
    except UnicodeDecodeError as error:
        raise InputError(str(file), "is not text", "counts are written in JSON", FORM) from error
    except JsonError as error:
        raise InputError(f"{file}: counts", f"are not JSON ({error})", "they must be one JSON object", FORM) from error
    except InputError as error:
        remedy = error.remedy if error.argument == "groups" else FORM
        raise InputError(f"{file}: {error.argument}", error.found, error.needed, remedy) from error


def as_counts(path: str | PathLike[str], tally: Tally) -> Counts:
    """Give a tally as counts; an error names the file that it came from."""
    try:
        return tally.counts()
    except InputError as error:
        raise InputError(f"{path}: {error.argument}", error.found, error.needed, error.remedy) from error


def merge_counts(*counts: Counts, strict_classes: bool = False) -> Counts:
    """Add up the counts of shards that each have labels and population of their own, aligned by name.

    Parameters
    ----------
    counts
        At least one.
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
    return merged([from_document(each.to_dict()) for each in counts], strict_classes=strict_classes).counts()
