"""Counting files and making groups in one line, as many tests do."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import truecount as tc


def count_files(table: str | PathLike[str], unlabeled: str | PathLike[str] | None = None, **options: Any) -> tc.Counts:
    """Count one table in files, or a labelled and an unlabelled one."""
    if unlabeled is None:
        return tc.count_table(table, **options)
    return tc.count_table(labeled=table, unlabeled=unlabeled, **options)


def groups_of(labeled: tc.Counts, unlabeled: Mapping[Any, Any]) -> tc.Groups:
    """Make groups that share the labels of some counts."""
    return tc.Groups(labeled.labeled, unlabeled, labeled.classes, labeled.outputs)
