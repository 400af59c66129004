"""What every table yields: rows that are alike, counted."""

from typing import Any, NamedTuple

from truecount._types import Name
from truecount.reading.values import Group


class Row(NamedTuple):
    """Rows of a table that are alike, counted."""

    group: Group
    label: Name | None
    output: Name | None
    rows: int
    weight: Any
    squares: Any
