"""Counts as a table to read, in text and in HTML."""

from typing import TYPE_CHECKING, Any

from truecount._table import aligned, html_table
from truecount.reading.names import group_name

if TYPE_CHECKING:
    from truecount.counts.groups import Groups
    from truecount.counts.table import Counts

MOST_GROUPS = 20
"""Shown of many groups."""
LARGEST_SHOWN = 1000
"""Cells; a larger table shows as its first line alone."""


def text(counts: "Counts") -> str:
    """Return what the counts are worth in a line, and the table below it."""
    if counts.labeled.size > LARGEST_SHOWN:
        return _title(counts)
    return "\n".join([_title(counts), *aligned(_rows(counts))])


def html(counts: "Counts") -> str:
    """Return the same for a notebook."""
    if counts.labeled.size > LARGEST_SHOWN:
        return f"<p>{_title(counts)}</p>"
    return html_table(_rows(counts), caption=_title(counts))


def _title(counts: "Counts") -> str:
    labeled, unlabeled = _number(counts.labeled.sum()), _number(counts.unlabeled.sum())
    size = f"{labeled} labelled and {unlabeled} unlabelled items"
    if counts.is_weighted:
        size = f"labelled weight {labeled} and unlabelled weight {unlabeled}"
    return f"Counts: {size}, {len(counts.classes)} classes, {len(counts.outputs)} outputs"


def groups_text(groups: "Groups") -> str:
    """Return what the groups hold in a line, and the first of them in a table below it."""
    return "\n".join([_groups_title(groups), *aligned(_group_rows(groups)), *_unshown(groups)])


def groups_html(groups: "Groups") -> str:
    """Return the same for a notebook."""
    return html_table(_group_rows(groups), caption=" ".join([_groups_title(groups), *_unshown(groups)]))


def _groups_title(groups: "Groups") -> str:
    kind = "weight of items" if groups.is_weighted else "items"
    labels = f"{_number(groups.labeled.sum())} labelled {kind}"
    labels += f" in {len(groups.studies)} studies" if groups.studies else ""
    size = f"{_number(groups.unlabeled.sum())} unlabelled {kind} in {len(groups)} groups"
    return f"Groups: {labels}, {size}, {len(groups.classes)} classes, {len(groups.outputs)} outputs"


def _group_rows(groups: "Groups") -> list[list[str]]:
    rows = [[", ".join(groups.by), *map(str, groups.outputs)]]
    shown = zip(groups.groups[:MOST_GROUPS], groups.unlabeled, strict=False)
    return rows + [[group_name(group), *map(_number, row)] for group, row in shown]


def _unshown(groups: "Groups") -> list[str]:
    more = len(groups) - MOST_GROUPS
    return [f"… and {more} more groups"] if more > 0 else []


def _rows(counts: "Counts") -> list[list[str]]:
    """Return the header, a row for each class, and the unlabelled counts."""
    rows = [["class\\output", *map(str, counts.outputs)]]
    rows += [[str(name), *map(_number, row)] for name, row in zip(counts.classes, counts.labeled, strict=True)]
    return [*rows, ["unlabelled", *map(_number, counts.unlabeled)]]


def _number(value: Any) -> str:
    return str(int(value)) if float(value).is_integer() else f"{value:.1f}"
