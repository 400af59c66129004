"""Pictures of one row a name: which names, rows, their labels, and intervals in them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from truecount._types import FloatArray, Name
from truecount._wording import labels
from truecount.errors import InputError
from truecount.plots.canvas import FONT, inches
from truecount.plots.theme import Theme
from truecount.results.by_class import unknown_class

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 0.34
"""Inches of a row."""
SMALLEST_FONT = 4.0
LETTERS_AN_INCH = 3.6
"""Of the names, for each inch of the picture's width."""
FRAME = 0.95
"""Inches for the axis and the caption."""


def places(known: Sequence[Name], wanted: Sequence[Any] | None, argument: str = "classes") -> list[int]:
    """Return where the wanted names stand among those known; all of them by default."""
    if wanted is None:
        return list(range(len(known)))
    if isinstance(wanted, str) or not wanted:
        raise InputError(argument, f"is {wanted!r}", "it must list names", f"Pass {argument}=[...]")
    return [_place(known, name, argument) for name in wanted]


def _place(known: Sequence[Name], name: Any, argument: str) -> int:
    if name in known:
        return known.index(name)
    raise unknown_class(argument, f"names {name!r}", name, known, kind="names")


def rows_height(rows: int) -> float:
    """Return the inches that a picture of so many rows likes to be high."""
    return FRAME + ROW * max(rows, 2)


def label_rows(ax: "Axes", names: Sequence[Name], theme: Theme) -> float:
    """Write the names beside their rows, the first on top, and give the size of letters that fits a row."""
    row = 72 * ax.bbox.height / ax.figure.dpi / len(names)
    size = float(np.clip(0.7 * row, SMALLEST_FONT, FONT))
    short = labels(names, max(8, int(inches(ax) * LETTERS_AN_INCH)))
    ax.set_yticks(range(len(names)), short, parse_math=False, fontsize=size, color=theme.ink)
    ax.set_ylim(len(names) - 0.4, -0.6)
    return size


def spans(ax: "Axes", rows: FloatArray, ends: FloatArray, colors: Sequence[str] | str, *, width: float = 2.4) -> None:
    """Draw a line from end to end in each row; shape of `ends` (rows, 2). One of no length is a dot."""
    ax.hlines(rows, ends[:, 0], ends[:, 1], colors=colors, linewidth=width, capstyle="round", clip_on=False, zorder=3)
    dots: dict[str, Any] = {"c": colors, "s": (0.7 * width) ** 2, "linewidths": 0, "clip_on": False, "zorder": 3}
    ax.scatter(ends.mean(axis=1), rows, **dots)
