"""The classifier: what it does with each class, and whether the model explains the outputs that were seen."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truecount import _check
from truecount._types import FloatArray, Name
from truecount._wording import display_width, labels
from truecount.plots.canvas import (
    FONT,
    SMALLEST_FONT,
    Theme,
    ThemeLike,
    drawn,
    inches,
    label_rows,
    marker,
    rows_height,
    spans,
)
from truecount.results import Posterior
from truecount.results.summary import MOST_ROWS, SHOWN, interval_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FULL = 0.55
"""How much of the heat colour a cell of probability 1 gets, so that ink stays readable on every cell."""
MOST_WITH_ENDS, MOST_WITH_NUMBERS = 6, 14
"""Outputs; where there are more, the cells do without the ends of intervals, and then without numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionData:
    """What `confusion` draws: shapes (classes, outputs), of the interval (classes, outputs, 2)."""

    classes: tuple[Name, ...]
    outputs: tuple[Name, ...]
    mean: FloatArray
    interval: FloatArray
    level: float

    @property
    def caption(self) -> tuple[str, ...]:
        """The axis, then the marks."""
        numbers = "Number: posterior mean of P(output | class), %. " if len(self.outputs) <= MOST_WITH_NUMBERS else ""
        line = f"line in a cell: {100 * self.level:.6g} % interval on a scale from 0 to 100 % of the cell's width."
        return ("output of the classifier", f"Rows are true classes. {numbers}The fuller, the likelier; {line}")

    @property
    def height(self) -> float:
        """Inches."""
        return 1.3 + min(0.6, 4.0 / len(self.outputs) + 0.14) * len(self.classes)


def confusion_data(posterior: Posterior, *, level: float = 0.95) -> ConfusionData:
    """Return what `confusion` draws: means and equal-tailed intervals of the draws.

    Of more than 40 classes the 30 largest have a row, and all others one together, mixed by their shares in each draw;
    of as many outputs those called like these classes, or else the most frequent, have a column.
    """
    level, rows = _check.level(level), posterior.confusion
    classes, outputs = posterior.classes, posterior.counts.outputs
    order = np.argsort(-posterior.mean, kind="stable")
    if len(classes) > MOST_ROWS:
        shares = posterior.prevalence[:: posterior.draws.stride, order[SHOWN:]]
        others = np.einsum("dl,dlk->dk", shares / shares.sum(axis=1, keepdims=True), rows[:, order[SHOWN:]])
        rows = np.concatenate([rows[:, order[:SHOWN]], others[:, None]], axis=1)
        classes = (*(classes[place] for place in order[:SHOWN]), f"{len(order) - SHOWN} others")
    if len(outputs) > MOST_ROWS:
        columns = np.argsort(-posterior.counts.unlabeled - posterior.counts.labeled.sum(axis=0), kind="stable")
        if posterior.counts.outputs_are_classes:
            columns = np.array([outputs.index(posterior.classes[place]) for place in order])
        others = rows[:, :, columns[SHOWN:]].sum(axis=2, keepdims=True)
        rows = np.concatenate([rows[:, :, columns[:SHOWN]], others], axis=2)
        outputs = (*(outputs[place] for place in columns[:SHOWN]), f"{len(columns) - SHOWN} others")
    return ConfusionData(
        classes=classes, outputs=outputs, mean=rows.mean(axis=0), interval=interval_of(rows, level), level=level
    )


def confusion(
    posterior: Posterior, *, ax: "Axes | None" = None, level: float = 0.95, theme: ThemeLike = None
) -> "Axes":
    """Draw P(output | class) with its uncertainty: a row for each class, a column for each output.

    Parameters
    ----------
    posterior, ax, theme
        As in `prevalence`.
    level
        Of the equal-tailed interval in each cell.
    """
    return drawn(draw_confusion, confusion_data(posterior, level=level), ax, theme)


def draw_confusion(ax: "Axes", data: ConfusionData, theme: Theme) -> None:
    """Draw cells, the fuller the likelier, with a line for the interval and numbers where there is room."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    size = label_rows(ax, data.classes, theme)
    n_classes, n_outputs = data.mean.shape
    cells = [(row, column) for row in range(n_classes) for column in range(n_outputs)]
    boxes = PatchCollection([Rectangle((column - 0.48, row - 0.46), 0.96, 0.92) for row, column in cells])
    boxes.set(facecolor=theme.heat, alpha=(FULL * data.mean).ravel().tolist(), linewidth=0)
    ax.add_collection(boxes)
    frames = PatchCollection([Rectangle((column - 0.48, row - 0.46), 0.96, 0.92) for row, column in cells])
    frames.set(facecolor="none", edgecolor=theme.grid, linewidth=0.5)
    ax.add_collection(frames)
    rows, columns = np.array(cells).T
    ends = columns[:, None] - 0.44 + 0.88 * data.interval.reshape(-1, 2)
    spans(ax, rows + 0.32, ends, theme.ink, width=1.4 if n_outputs <= MOST_WITH_NUMBERS else 0.7)
    _write_cells(ax, data, theme, min(size, FONT))
    _label_columns(ax, data.outputs, theme, size)


def _write_cells(ax: "Axes", data: ConfusionData, theme: Theme, size: float) -> None:
    n_outputs = len(data.outputs)
    if n_outputs > MOST_WITH_NUMBERS:
        return
    with_ends = n_outputs <= MOST_WITH_ENDS
    cell = 72 * 0.75 * inches(ax) / n_outputs
    size = min(size, cell / (4.6 if with_ends else 2.0))
    for (row, column), share in np.ndenumerate(100 * data.mean):
        low, high = 100 * data.interval[row, column]
        ax.text(column, row - (0.22 if with_ends else 0.08), f"{share:.0f}", **_centred(theme.ink, size))
        if with_ends:
            ax.text(column, row + 0.1, f"{low:.0f} \N{EN DASH} {high:.0f}", **_centred(theme.ink, 0.85 * size))


def _centred(color: str, size: float) -> dict[str, Any]:
    return {"ha": "center", "va": "center", "color": color, "fontsize": size}


def _label_columns(ax: "Axes", outputs: tuple[Name, ...], theme: Theme, size: float) -> None:
    """Write the outputs below their columns, upright where they would run into each other."""
    room = 0.75 * inches(ax) / len(outputs)
    size = max(SMALLEST_FONT, min(size, 60 * room))
    letters = int(13 * room) - 1
    short = labels(outputs, max(letters, 16))
    is_long = max(map(display_width, short)) > letters
    ax.set_xticks(
        range(len(outputs)), short, parse_math=False, fontsize=size, color=theme.ink, rotation=90 if is_long else 0
    )
    ax.set_xlim(-0.5, len(outputs) - 0.5)
    ax.grid(visible=False)
    ax.spines["bottom"].set_visible(False)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictiveData:
    """What `predictive` draws: a row for each output, shapes (outputs,), of the interval (outputs, 2), in items.

    `positions` says which class an output is called like, or None.
    """

    outputs: tuple[Name, ...]
    positions: tuple[int | None, ...]
    observed: FloatArray
    mean: FloatArray
    interval: FloatArray
    level: float

    @property
    def caption(self) -> tuple[str, ...]:
        """The axis and its unit, then the marks."""
        return (
            f"unlabelled items with each output, of {self.observed.sum():,.0f}",
            f"Filled: seen. Line: where the model expects it, with {100 * self.level:.6g} % probability.",
        )

    @property
    def height(self) -> float:
        """Inches."""
        return rows_height(len(self.outputs))


def predictive_data(posterior: Posterior, *, level: float = 0.95) -> PredictiveData:
    """Return what `predictive` draws: counts simulated from the posterior, once for each draw of the confusion."""
    level = _check.level(level)
    counts = posterior.counts
    seen = counts.effective.unlabeled
    again = posterior.predicted
    called = {name: place for place, name in enumerate(counts.classes)}
    return PredictiveData(
        outputs=counts.outputs,
        positions=tuple(called.get(name) for name in counts.outputs),
        observed=seen,
        mean=again.mean(axis=0),
        interval=interval_of(again, level),
        level=level,
    )


def predictive(
    posterior: Posterior, *, ax: "Axes | None" = None, level: float = 0.95, theme: ThemeLike = None
) -> "Axes":
    """Draw the unlabelled counts of each output against what the model expects of them.

    Parameters
    ----------
    posterior, ax, theme
        As in `prevalence`.
    level
        Of the interval that new counts would lie in.

    Notes
    -----
    With as many outputs as classes nearly any counts can be explained: a good fit then says little, a bad one much.
    """
    return drawn(draw_predictive, predictive_data(posterior, level=level), ax, theme)


def draw_predictive(ax: "Axes", data: PredictiveData, theme: Theme) -> None:
    """Draw what was seen on top of where it was expected."""
    from matplotlib.ticker import MaxNLocator

    label_rows(ax, data.outputs, theme)
    rows = np.arange(len(data.outputs), dtype=float)
    colors = [theme.soft if place is None else theme.color(place) for place in data.positions]
    spans(ax, rows, data.interval, [theme.grid] * len(rows), width=7)
    for row, (seen, color, place) in enumerate(zip(data.observed, colors, data.positions, strict=True)):
        ax.plot(seen, row, marker(place or 0), color=color, markersize=6.5, clip_on=False, zorder=4)
    largest = max(float(data.interval.max()), float(data.observed.max()), 1.0)
    ax.set_xlim(-0.02 * largest, 1.06 * largest)
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.xaxis.set_major_formatter(lambda items, _: f"{items:,.0f}" if items >= 0 else "")
