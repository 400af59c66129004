"""Groups against each other: the probability of every rank, and differences of pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truecount._types import FloatArray, Name
from truecount._wording import labels
from truecount.errors import InputError
from truecount.plots.canvas import FONT, FRAME, ROW, Theme, ThemeLike, drawn, label_rows, spans
from truecount.plots.groups import LONGEST_NAME, MOST_NAMED, TIGHT_ROW, Answer, summary_of
from truecount.reading.names import group_name
from truecount.results.groups.summary import PairSummary
from truecount.results.groups.table import probability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN_ENDS = 20
"""Of more groups than have a row each, so many at both ends."""
BINS = 40
"""Ranks of many groups are joined to so many columns."""
LEAST = 0.02
"""Of the most probable cell, below which one stays empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RanksData:
    """What `ranks` draws: the probability of each rank, shape (rows, columns), the best group on top.

    `edges` are the ranks at which columns begin and the last one ends; `left_out` says how many groups have no row.
    """

    names: tuple[str, ...]
    of: Name
    probability: FloatArray
    edges: FloatArray
    left_out: int

    @property
    def caption(self) -> tuple[str, ...]:
        """The axis, then the marks."""
        hidden = f" {self.left_out:,} groups between are not shown." if self.left_out else ""
        of = labels([self.of], LONGEST_NAME)[0]
        return "rank; 1 is the largest", f"The fuller a cell, the more probable the rank by the share of {of}.{hidden}"

    @property
    def height(self) -> float:
        """Inches."""
        return FRAME + (ROW if len(self.names) <= 12 else TIGHT_ROW) * max(len(self.names), 2)


def ranks_data(answer: Answer) -> RanksData:
    """Return what `ranks` draws."""
    summary = summary_of(answer)
    if summary.ranks is None or summary.ranks.probability is None:
        found = "has no ranks of groups"
        needed = "ranks are of two groups or more without times, and of 400 or fewer"
        raise InputError("answer", found, needed, "Use plots.groups, or select groups")
    order = np.argsort(summary.ranks.mean, kind="stable")
    number = len(order)
    left_out = 0 if number <= MOST_NAMED else number - 2 * SHOWN_ENDS
    rows = order if not left_out else np.concatenate([order[:SHOWN_ENDS], order[-SHOWN_ENDS:]])
    edges = np.unique(np.linspace(0, number, min(number, BINS) + 1).round().astype(int))
    joined = np.add.reduceat(summary.ranks.probability, edges[:-1], axis=1)
    return RanksData(
        names=tuple(summary.names[at] for at in rows),
        of=summary.of,
        probability=joined[rows],
        edges=edges + 0.5,
        left_out=left_out,
    )


def ranks(answer: Answer, *, ax: "Axes | None" = None, theme: ThemeLike = None) -> "Axes":
    """Draw the probability of every rank of every group as a heat map.

    Parameters
    ----------
    answer, ax, theme
        As in `groups`.

    Notes
    -----
    Means of groups that borrow from each other must not be ranked: ranks are taken draw by draw.
    """
    return drawn(draw_ranks, ranks_data(answer), ax, theme)


def draw_ranks(ax: "Axes", data: RanksData, theme: Theme) -> None:
    """Draw cells that are the fuller the more probable the rank; few ranks have their probability written."""
    from matplotlib.patches import Rectangle

    number, most = len(data.names), float(data.probability.max())
    widths = np.diff(data.edges)
    for row, column in zip(*np.nonzero(data.probability >= LEAST * most), strict=True):
        share = float(data.probability[row, column]) / most
        corner = (float(data.edges[column]), row - 0.5)
        ax.add_patch(Rectangle(corner, float(widths[column]), 1.0, color=theme.heat, alpha=share, linewidth=0))
    ax.set_xlim(data.edges[0], data.edges[-1])
    ax.grid(visible=False)
    if data.probability.shape[1] <= 12:
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": FONT - 1, "color": theme.ink}
        for row, column in zip(*np.nonzero(data.probability >= 0.005), strict=True):
            ax.text(column + 1, row, f"{100 * data.probability[row, column]:.0f}", **style)
        ax.set_xticks(range(1, data.probability.shape[1] + 1))
    ax.set_yticks(
        range(number), labels(data.names, LONGEST_NAME), parse_math=False, fontsize=min(FONT, 8.0), color=theme.ink
    )
    if data.left_out:
        ax.axhline(SHOWN_ENDS - 0.5, color=theme.soft, linewidth=0.8, linestyle=(0, (4, 3)))
    ax.set_ylim(number - 0.5, -0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairsData:
    """What `pairs` draws: shapes (pairs,), of the interval (pairs, 2); differences in percentage points."""

    names: tuple[str, ...]
    of: Name
    position: int
    difference: FloatArray
    interval: FloatArray
    larger: FloatArray
    left_out: int
    interval_name: str

    @property
    def caption(self) -> tuple[str, ...]:
        """The axis and its unit, then the marks."""
        hidden = f" {self.left_out:,} more pairs are not shown." if self.left_out else ""
        axis = f"difference of the share of {labels([self.of], LONGEST_NAME)[0]}, percentage points"
        return (axis, f"Lines: {self.interval_name}s. At the right: probability that the first is larger.{hidden}")

    @property
    def height(self) -> float:
        """Inches."""
        return FRAME + (ROW if len(self.names) <= 12 else TIGHT_ROW) * max(len(self.names), 2)


def pairs_data(answer: Answer) -> PairsData:
    """Return what `pairs` draws: the comparisons of an answer, or the changes from period to period."""
    summary = summary_of(answer)
    found: Sequence[PairSummary] = summary.pairs or summary.changes
    if not found:
        needed, remedy = "nothing was compared", "Pass answer.summary(questions=Questions(baseline=...))"
        raise InputError("answer", "has no pairs of groups", needed, remedy)
    place, shown = summary.place, found[-MOST_NAMED:]
    return PairsData(
        names=tuple(f"{group_name(pair.first)} \N{MINUS SIGN} {group_name(pair.second)}" for pair in shown),
        of=summary.of,
        position=place,
        difference=100 * np.array([pair.difference[place] for pair in shown]),
        interval=100 * np.array([pair.interval[place] for pair in shown]),
        larger=np.array([pair.larger[place] for pair in shown]),
        left_out=len(found) - len(shown),
        interval_name=summary.interval_name,
    )


def pairs(answer: Answer, *, ax: "Axes | None" = None, theme: ThemeLike = None) -> "Axes":
    """Draw the differences of pairs of groups with their intervals, and how probable it is that the first is larger.

    Parameters
    ----------
    answer, ax, theme
        As in `groups`. Pairs are those of the summary: of few groups all, else those that were asked for.
    """
    return drawn(draw_pairs, pairs_data(answer), ax, theme)


def draw_pairs(ax: "Axes", data: PairsData, theme: Theme) -> None:
    """Draw rows of differences beside a line at zero."""
    size = label_rows(ax, data.names, theme, room=1.6, may_break=True)
    rows = np.arange(len(data.names), dtype=float)
    color = theme.color(data.position)
    spans(ax, rows, data.interval, color)
    ax.plot(data.difference, rows, "o", color=color, markersize=5.5, linestyle="", zorder=4)
    ax.axvline(0.0, color=theme.soft, linewidth=1.0, zorder=2)
    style: dict[str, Any] = {"ha": "right", "va": "center", "color": theme.ink, "fontsize": size}
    for row, larger in enumerate(data.larger):
        ax.annotate(
            probability(float(larger)),
            (1, row),
            (0.53 * size * 7, 0),
            xycoords=ax.get_yaxis_transform(),
            textcoords="offset points",
            **style,
        )
    low, high = min(float(data.interval.min()), 0.0), max(float(data.interval.max()), 0.0)
    room = 0.04 * (high - low) or 1.0
    ax.set_xlim(low - room, high + room)
