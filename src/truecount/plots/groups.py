"""Many groups: a caterpillar of their shares, how shares go in time, and both in panels for two grouping columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from truecount import _check
from truecount._types import FloatArray, Name
from truecount._wording import labels, listed, visible
from truecount.counts.periods import time_place
from truecount.errors import InputError
from truecount.plots.canvas import (
    FONT,
    FRAME,
    ROW,
    WIDTH,
    Theme,
    ThemeLike,
    drawn,
    dress,
    find_letters,
    find_theme,
    inches,
    new_axes,
    percent_axis,
)
from truecount.reading.names import group_name
from truecount.results.groups.posterior import GroupPosterior
from truecount.results.groups.summary import GroupSummary
from truecount.results.summary import SHARE_NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMED = 72
"""Groups that have a row with a name; of more, those at both ends have one."""
ENDS = 4
"""Groups named at each end of a picture of more."""
TIGHT_ROW, LOWEST = 0.19, 7.5
"""Inches of a row where there are many, and of all rows where they have no names."""
LONGEST_NAME = 26
TICK_LETTER, TICK_GAP = 0.085, 0.2
"""Inches of a letter of a date below the axis, and between two dates."""
MOST_PANELS = 24
Answer: TypeAlias = GroupPosterior | GroupSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsData:
    """What `caterpillar` and `trend` draw of one class: shapes (groups,), of the interval (groups, 2).

    Parameters
    ----------
    names, times
        Of the groups, in the order drawn; times are floats or datetime64, None where groups have none.
    date_format
        How dates are written, as in ``strftime``; without a year where all groups are of one. None without dates.
    position
        Of the class among all classes, which has its colour.
    counted
        NaN where there is none.
    has_items
        Whether a group has items; the others are predicted.
    total
        The share in all groups together.
    thresholds
        Shares that it is claimed to lie above or below.
    """

    names: tuple[str, ...]
    times: NDArray[Any] | None
    date_format: str | None
    of: Name
    position: int
    mean: FloatArray
    interval: FloatArray
    counted: FloatArray
    has_items: NDArray[np.bool_]
    total: float
    thresholds: tuple[float, ...]
    axis: str
    interval_name: str

    @property
    def is_named(self) -> bool:
        """Whether every row has its name."""
        return len(self.names) <= MOST_NAMED

    @property
    def caption(self) -> tuple[str, ...]:
        """The axis and its unit, then the marks."""
        lines = "Band" if self.times is not None else "Lines"
        is_counted = np.isfinite(self.counted).any() and (self.is_named or self.times is not None)
        counted = " Hollow: counted share." if is_counted else ""
        predicted = " Without a mark: predicted." if self.times is not None and not self.has_items.all() else ""
        together = "" if self.times is not None else " Dashed: all groups together."
        number = "" if self.is_named or self.times is not None else f" {len(self.names):,} groups, by size."
        asked = f" Dotted: {listed([f'{100 * each:g} %' for each in self.thresholds])}." if self.thresholds else ""
        marks = f"Marks: posterior mean. {lines}: {self.interval_name}s.{counted}{predicted}{together}{asked}{number}"
        year = ""
        if self.times is not None and self.date_format is not None and "%Y" not in self.date_format:
            year = f" in {self.times[0].astype('M8[Y]')}"
        return (f"{self.axis} of {labels([self.of], LONGEST_NAME)[0]}{year}, %", marks)

    @property
    def height(self) -> float:
        """Inches."""
        if self.times is not None:
            return 3.8
        if not self.is_named:
            return LOWEST
        return FRAME + (ROW if len(self.names) <= 12 else TIGHT_ROW) * max(len(self.names), 2)

    @property
    def limits(self) -> tuple[float, float]:
        """The shares from the lowest to the highest that are shown; from 0 where that wastes little room."""
        shown = [self.interval.ravel(), self.counted, np.array(self.thresholds)]
        low, high = (float(end(np.concatenate(shown))) for end in (np.nanmin, np.nanmax))
        return (0.0 if low < 0.4 * high else low), high


def summary_of(answer: Answer) -> GroupSummary:
    """Return the numbers of an answer, or those that are given; refuse an answer that is none."""
    _check.instance_of("answer", answer, (GroupPosterior, GroupSummary), "Pass what infer(groups) returned")
    summary = answer if isinstance(answer, GroupSummary) else answer.summary()
    if not summary.has_answer:
        needed = "there are no shares to draw"
        raise InputError("answer", "has not converged", needed, "Draw again with another seed, or merge groups")
    return summary


def groups_data(summary: GroupSummary, *, in_time: bool, chosen: Sequence[int] | None = None) -> GroupsData:
    """Return what `caterpillar` or `trend` draws: groups by the size of their share, or in the order of time.

    Those `chosen`, for a panel, keep their order, and are called by what tells them apart within it.
    """
    place = summary.place
    if in_time and summary.times is None:
        needed, remedy = "a trend goes from time to time", "Count by={'time': 'week'}, or use plots.caterpillar"
        raise InputError("answer", "has groups without times", needed, remedy)
    order = summary.by_size() if chosen is None else list(chosen)
    written: str | None = None
    if in_time:
        times = np.asarray(summary.times)
        order = sorted(order, key=lambda at: times[at])
        written = _date_format(times) if times.dtype.kind == "M" else None
    names = summary.names
    if chosen is not None:
        panel = panel_place(summary)
        names = tuple(group_name((*group[:panel], *group[panel + 1 :])) for group in summary.groups)
    counted = np.full(len(order), np.nan) if summary.counted is None else summary.counted[order, place]
    return GroupsData(
        names=tuple(names[at] for at in order),
        times=np.asarray(summary.times)[order] if in_time else None,
        date_format=written,
        of=summary.of,
        position=place,
        mean=summary.mean[order, place],
        interval=summary.interval[order, place],
        counted=counted,
        has_items=summary.items[order] > 0,
        total=float(summary.total[place, 0]),
        thresholds=tuple(claim.threshold for claim in summary.claims if claim.name == summary.of),
        axis=SHARE_NAMES[summary.target],
        interval_name=summary.interval_name,
    )


def groups(answer: Answer, *, ax: "Axes | None" = None, theme: ThemeLike = None) -> "Axes":
    """Draw the shares of all groups: in the order of time where they have one, else by size.

    Parameters
    ----------
    answer
        What `truecount.infer` returned for groups, or its ``summary(...)``, of which the class of interest is drawn.
    ax, theme
        As in `prevalence`.

    Examples
    --------
    >>> import truecount as tc
    >>> regions = tc.Groups([[140, 60], [20, 180]], {"north": [600, 400], "south": [300, 700]})
    >>> ax = groups(tc.infer(regions))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['south', 'north']
    """
    summary = summary_of(answer)
    is_one_series = summary.in_time and len(summary.by) == 1
    return trend(summary, ax=ax, theme=theme) if is_one_series else caterpillar(summary, ax=ax, theme=theme)


def caterpillar(answer: Answer, *, ax: "Axes | None" = None, theme: ThemeLike = None) -> "Axes":
    """Draw a row for each group with its share, its interval and its counted share, the largest on top.

    Parameters
    ----------
    answer, ax, theme
        As in `groups`.

    Notes
    -----
    Two groups may differ though their intervals overlap, since errors that they share cancel: see `pairs`.
    """
    return drawn(draw_caterpillar, groups_data(summary_of(answer), in_time=False), ax, theme)


def trend(answer: Answer, *, ax: "Axes | None" = None, theme: ThemeLike = None) -> "Axes":
    """Draw how the share goes in time, with the band of its intervals, on an axis of dates.

    Parameters
    ----------
    answer, ax, theme
        As in `groups`.
    """
    return drawn(draw_trend, groups_data(summary_of(answer), in_time=True), ax, theme)


def facets(answer: Answer, *, theme: ThemeLike = None) -> "list[Axes]":
    """Draw a panel for each value of the first of two grouping columns, and in it the groups of the second.

    Parameters
    ----------
    answer, theme
        As in `groups`. Groups that have times are drawn as trends, others as caterpillars.
    """
    summary = summary_of(answer)
    if len(summary.by) < 2:
        needed = "panels are made of groups by two columns"
        raise InputError("answer", f"has groups by {summary.by[0]!r}", needed, "Use plots.groups")
    panels = panels_of(summary)
    if len(panels) > MOST_PANELS:
        found, needed = f"has {len(panels)} values of {summary.by[0]!r}", f"at most {MOST_PANELS} panels are drawn"
        raise InputError("answer", found, needed, "Put the column with fewer values first, or select groups")
    colors = find_theme(theme, None)
    data = {name: groups_data(summary, in_time=summary.in_time, chosen=each) for name, each in panels.items()}
    return _drawn_panels(data, summary.by[panel_place(summary)], colors)


def panels_of(summary: GroupSummary) -> dict[str, list[int]]:
    """Return groups by the part of their key that makes the panel."""
    panel = panel_place(summary)
    panels: dict[str, list[int]] = {}
    for at, group in enumerate(summary.groups):
        panels.setdefault(group_name(group[panel]), []).append(at)
    return panels


def panel_place(summary: GroupSummary) -> int:
    """Return which part of the keys makes the panels: the first, or the second where the first is a time."""
    return 1 if summary.in_time and time_place(summary.groups) == 0 else 0


def _drawn_panels(panels: dict[str, GroupsData], column: str, theme: Theme) -> "list[Axes]":
    """Draw panels of one size beside and below each other, with one axis of shares."""
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    first = next(iter(panels.values()))
    most = max(len(data.names) for data in panels.values())
    height = 2.0 if first.times is not None else 0.6 + TIGHT_ROW * max(most, 3)
    ax = new_axes(WIDTH * 1.25, rows * height + 0.6, theme)
    figure: Any = ax.figure
    ax.remove()
    axes = [figure.add_subplot(rows, columns, at + 1) for at in range(len(panels))]
    low = min(data.limits[0] for data in panels.values())
    high = max(data.limits[1] for data in panels.values())
    for each, (name, data) in zip(axes, panels.items(), strict=True):
        dress(each, theme)
        (draw_trend if data.times is not None else draw_caterpillar)(each, data, theme)
        percent_axis(each, low, high, axis="y" if data.times is not None else "x")
        each.set_title(labels([name], 24)[0], loc="left", fontsize=FONT + 1, color=theme.ink, parse_math=False)
        find_letters(each)
    axis, *sentences = first.caption
    figure.supxlabel(
        f"{axis}; panels: {visible(column)}. {' '.join(sentences)}",
        x=0.01,
        ha="left",
        fontsize=FONT,
        color=theme.soft,
        parse_math=False,
        wrap=True,
    )
    return axes


def draw_caterpillar(ax: "Axes", data: GroupsData, theme: Theme, *, font: float = FONT) -> None:
    """Draw rows from the largest share on top to the smallest; of very many, only those at both ends are named."""
    number, color = len(data.names), theme.color(data.position)
    rows = np.arange(number, dtype=float)
    width = 2.4 if number <= 12 else float(np.clip(110 / number, 0.5, 2.0))
    lower, upper = data.interval.T
    ax.hlines(rows, lower, upper, colors=color, linewidth=width, alpha=1.0 if data.is_named else 0.55, zorder=3)
    size = 6.0 if number <= 12 else float(np.clip(160 / number, 1.4, 5.0))
    hollow: dict[str, Any] = {"markerfacecolor": theme.paper, "markeredgecolor": theme.soft, "linestyle": ""}
    if data.is_named:
        ax.plot(data.counted, rows, "o", markersize=0.8 * size, markeredgewidth=1.1, zorder=4, **hollow)
    ax.plot(data.mean, rows, "o", color=color, markersize=size, linestyle="", zorder=5)
    ax.axvline(data.total, color=theme.soft, linewidth=1.0, linestyle=(0, (4, 3)), zorder=2)
    _draw_thresholds(ax.axvline, data, theme)
    named = range(number) if data.is_named else [*range(ENDS), *range(number - ENDS, number)]
    short = labels(data.names, LONGEST_NAME)
    marked = list(named)
    places = rows[marked] if data.is_named else np.concatenate([_spread(0, number), _spread(1, number)])
    ax.set_yticks(places, [short[at] for at in marked], parse_math=False, fontsize=min(font, 8.0), color=theme.ink)
    ax.set_ylim(number - 0.4, -0.6)
    percent_axis(ax, *data.limits)


def _spread(end: int, number: int) -> FloatArray:
    """Return where the names of the groups at one end stand, far enough apart to be read."""
    steps: FloatArray = number / 36 * np.arange(ENDS, dtype=np.float64)
    return number - 1 - steps[::-1] if end else steps


def draw_trend(ax: "Axes", data: GroupsData, theme: Theme) -> None:
    """Draw a line through the means with its band; marks where there are items, hollow ones for counted shares."""
    color, times = theme.color(data.position), np.asarray(data.times)
    ax.fill_between(times, *data.interval.T, color=color, alpha=0.22, linewidth=0, zorder=2)
    ax.plot(times, data.mean, color=color, linewidth=1.6, zorder=4)
    seen = data.has_items
    size = float(np.clip(150 / len(times), 2.0, 5.0))
    hollow: dict[str, Any] = {"markerfacecolor": theme.paper, "markeredgecolor": theme.soft, "linestyle": ""}
    ax.plot(times, data.counted, "o", markersize=0.8 * size, markeredgewidth=0.9, zorder=3, **hollow)
    ax.plot(times[seen], data.mean[seen], "o", color=color, markersize=size, linestyle="", zorder=5)
    _draw_thresholds(ax.axhline, data, theme)
    ax.grid(visible=False, axis="x")
    ax.grid(axis="y", color=theme.grid, linewidth=0.7)
    percent_axis(ax, *data.limits, axis="y")
    if data.date_format is not None:
        _date_axis(ax, times, data.date_format)


def _draw_thresholds(line: Any, data: GroupsData, theme: Theme) -> None:
    for threshold in data.thresholds:
        line(threshold, color=theme.ink, linewidth=1.0, linestyle=":", zorder=2)


def _date_format(times: NDArray[Any]) -> str:
    """Return how to write these dates, as briefly as tells them apart; the year is left out where it is one."""
    days, months, years = (times.astype(f"M8[{unit}]") for unit in "DMY")
    if (times == years).all():
        return "%Y"
    if (times == months).all():
        return "%Y-%m"
    day = "%m-%d" if (years == years[0]).all() else "%Y-%m-%d"
    return day if (times == days).all() else f"{day} %H:%M"


def _date_axis(ax: "Axes", times: NDArray[Any], date_format: str) -> None:
    """Put ticks at the times, or at every n-th of them; at other dates where times crowd."""
    from matplotlib.dates import AutoDateLocator, date2num, num2date

    letters = len(np.datetime64("2000-01-01", "s").item().strftime(date_format))
    most = max(2, int(inches(ax) / (TICK_GAP + TICK_LETTER * letters)))
    places = date2num(times[:: -ceil(len(times) / most)][::-1])  # type: ignore[no-untyped-call]
    if len(places) > 2 and np.diff(places).min() < (places[-1] - places[0]) / most:
        locator = AutoDateLocator(minticks=2, maxticks=most)  # type: ignore[no-untyped-call]
        low, high = times[[0, -1]].astype("M8[s]").tolist()
        places = np.asarray(locator.tick_values(low, high))  # type: ignore[no-untyped-call]
        ends = date2num(times[[0, -1]])  # type: ignore[no-untyped-call]
        places = places[(places >= ends[0]) & (places <= ends[1])]
    ax.set_xticks(places, [f"{num2date(place):{date_format}}" for place in places])  # type: ignore[no-untyped-call]
