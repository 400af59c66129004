"""Pictures in which classes share the rows: which of them are shown, and which mark is whose."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from truecount._types import FloatArray, Name
from truecount._wording import labels
from truecount.plots.canvas import inches
from truecount.plots.rows import places
from truecount.plots.theme import Theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CLASSES = 6
LEGEND_NAME, LEGEND_LETTERS = 16, 9
"""The longest name in a legend, and how many letters fit into an inch of the picture's width."""


def chosen_places(known: Sequence[Name], shares: FloatArray, wanted: Sequence[Any] | None) -> list[int]:
    """Return where the wanted classes stand; by default, those with the largest shares, in their usual order."""
    if wanted is not None:
        return places(known, wanted)
    largest = np.argsort(-shares, kind="stable")[:MOST_CLASSES]
    return [int(place) for place in np.sort(largest)]


def write_legend(ax: "Axes", marks: Sequence[Any], classes: tuple[Name, ...], theme: Theme) -> None:
    """Name the marks of the classes above the rows, whatever their first letter: matplotlib leaves out ``_fail``."""
    columns = legend_columns(classes, inches(ax))
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": columns, "borderpad": 0}
    names = labels(classes, LEGEND_NAME)
    legend = ax.legend(marks, [" "] * len(names), **place, frameon=False, fontsize=8)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set(text=name, color=theme.ink, parse_math=False)


def legend_columns(classes: tuple[Name, ...], width: float) -> int:
    """Return how many names stand side by side in the legend of a picture so many inches wide."""
    longest = max(map(len, labels(classes, LEGEND_NAME)))
    return int(np.clip(0.7 * width * LEGEND_LETTERS // (longest + 6), 1, len(classes)))
