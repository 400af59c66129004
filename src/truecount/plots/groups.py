"""Groups side by side: how the true shares go from week to week, or differ between regions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from math import ceil
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from truecount import _check
from truecount._types import FloatArray, Name
from truecount._wording import display_width
from truecount.errors import InputError
from truecount.plots.canvas import FONT, WIDTH, drawn, inches, percent_axis
from truecount.plots.labels import labels
from truecount.plots.legend import chosen_places, legend_columns, write_legend
from truecount.plots.shares import AXES, require_answer
from truecount.plots.theme import Theme, ThemeLike, marker
from truecount.reading.names import group_name
from truecount.results import Posterior
from truecount.results.summary import Kind, Target, interval_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LONGEST_NAME = 16
LETTER, LINE = 0.65, 1.3
"""Of the size of the letters: how wide one is at most, and how far lines of them stand apart."""
SPREAD, STEP = 0.7, 0.12
"""Of the room of a group, what its classes share at most, and how far one is from the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupsData:
    """What `groups` draws: shapes (groups, classes shown), of the interval (groups, classes shown, 2).

    `in_order` says whether the groups are times or numbers that rise, whose marks a line may join.
    """

    groups: tuple[str, ...]
    in_order: bool
    classes: tuple[Name, ...]
    positions: tuple[int, ...]
    left_out: int
    mean: FloatArray
    interval: FloatArray
    axis: str
    interval_name: str

    @property
    def caption(self) -> tuple[str, ...]:
        """The groups, then the marks and their unit."""
        number = "1 group" if len(self.groups) == 1 else f"{len(self.groups):,} groups"
        marks = f"Marks: {self.axis}, %, posterior mean. Lines: {self.interval_name}."
        hidden = (f"{self.left_out} smaller classes are not shown.",) if self.left_out else ()
        return (number, marks, *hidden)

    @property
    def height(self) -> float:
        """Inches."""
        return 3.6 + 0.2 * -(-len(self.classes) // legend_columns(self.classes, WIDTH))


def groups_data(
    posteriors: Mapping[Any, Posterior],
    *,
    level: float = 0.95,
    kind: Kind = "equal-tailed",
    target: Target = "population",
    classes: Sequence[Any] | None = None,
) -> GroupsData:
    """Return what `groups` draws."""
    first = first_of(posteriors)
    for group, posterior in posteriors.items():
        require_answer(f"posteriors[{group!r}]", posterior)
    mean = np.array([posterior.shares(target).mean(axis=0) for posterior in posteriors.values()])
    ends = np.array([posterior.interval(level, kind=kind, target=target) for posterior in posteriors.values()])
    chosen = chosen_places(first.classes, mean.mean(axis=0), classes)
    return GroupsData(
        groups=tuple(map(group_name, posteriors)),
        in_order=is_course(posteriors),
        classes=tuple(first.classes[place] for place in chosen),
        positions=tuple(chosen),
        left_out=0 if classes is not None else len(first.classes) - len(chosen),
        mean=mean[:, chosen],
        interval=ends[:, chosen],
        axis=AXES[target],
        interval_name=f"{interval_name(level, kind)}s",
    )


def is_course(groups: Iterable[Any]) -> bool:
    """Whether groups are times or numbers, each later or larger than the one before.

    >>> is_course([1, 2.5, 4]), is_course([3, 1, 2]), is_course([False, True]), is_course([1, date(2026, 1, 5)])
    (True, False, False, False)
    """
    keys = list(groups)
    if any(isinstance(key, bool) or not isinstance(key, date | Real) for key in keys):
        return False
    try:
        return all(bool(earlier < later) for earlier, later in pairwise(keys))
    except TypeError:  # a day beside a time or a number
        return False


def first_of(posteriors: Mapping[Any, Posterior], argument: str = "posteriors") -> Posterior:
    """Return the posterior of the first group; refuse none, and groups that cannot stand beside each other."""
    remedy = "Pass what infer_many() returns for Groups"
    if not isinstance(posteriors, Mapping) or not posteriors:
        found = "is empty" if isinstance(posteriors, Mapping) else f"is of type {type(posteriors).__name__}"
        raise InputError(argument, found, "it must give a posterior for each group", remedy)
    for group, each in posteriors.items():
        _check.instance_of(f"{argument}[{group!r}]", each, Posterior, remedy)
    first, *others = posteriors.values()
    if any(other.classes != first.classes for other in others):
        remedy = "Count all groups together, as with count_table(..., by=...)"
        raise InputError(argument, "has groups of different classes", "groups are compared class by class", remedy)
    return first


def groups(
    posteriors: Mapping[Any, Posterior],
    *,
    ax: "Axes | None" = None,
    level: float = 0.95,
    kind: Kind = "equal-tailed",
    target: Target = "population",
    classes: Sequence[Any] | None = None,
    theme: ThemeLike = None,
) -> "Axes":
    """Draw the true shares of every group with their intervals, the groups beside each other in their order.

    Parameters
    ----------
    posteriors
        What `truecount.infer_many` returned for groups; times and numbers that rise are joined by lines.
    ax, theme, level, kind, target
        As in `prevalence`.
    classes
        Which classes; by default, the six that are largest on average.

    Notes
    -----
    Groups that share their labels are wrong together: whether two of them differ is read off joint draws,
    ``infer_many(..., joint=True)``, not off intervals that overlap.

    Examples
    --------
    >>> import truecount as tc
    >>> regions = tc.Groups([[140, 60], [20, 180]], {"north": [600, 400], "south": [300, 700]})
    >>> ax = groups(tc.infer_many(regions))
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['north', 'south']
    """
    data = groups_data(posteriors, level=level, kind=kind, target=target, classes=classes)
    return drawn(draw_groups, data, ax, theme)


def draw_groups(ax: "Axes", data: GroupsData, theme: Theme) -> None:
    """Draw the marks of a group a little beside each other, class by class, and a legend of the classes above."""
    number = len(data.classes)
    shifts = min(STEP, SPREAD / number) * (np.arange(number) - (number - 1) / 2)
    width = float(np.clip(60 / data.mean.size, 0.7, 2.4))
    marks: list[Any] = []
    for column, (position, shift) in enumerate(zip(data.positions, shifts, strict=True)):
        color, places = theme.color(position), np.arange(len(data.groups)) + shift
        lower, upper = data.interval[:, column].T
        ax.vlines(places, lower, upper, colors=color, linewidth=width, capstyle="round", clip_on=False)
        if data.in_order:
            ax.plot(places, data.mean[:, column], color=color, linewidth=0.8, alpha=0.6)
        style: dict[str, Any] = {"color": color, "markersize": 2.6 + 1.4 * width, "clip_on": False, "zorder": 4}
        marks += ax.plot(places, data.mean[:, column], marker(position), **style)
    write_legend(ax, marks, data.classes, theme)
    _label_groups(ax, data.groups, theme)
    ax.grid(visible=False, axis="x")
    ax.grid(axis="y", color=theme.grid, linewidth=0.7)
    percent_axis(ax, min(0.0, float(data.interval.min())), float(data.interval.max()), axis="y")


def _label_groups(ax: "Axes", groups: tuple[str, ...], theme: Theme) -> None:
    """Write the groups below their marks: upright where they would run into each other, and not all of too many."""
    short = labels(groups, LONGEST_NAME)
    room = 72 * 0.8 * inches(ax) / len(groups)
    is_upright = LETTER * FONT * (1 + max(map(display_width, short))) > room
    step = ceil(LINE * FONT / room) if is_upright else 1
    ax.set_xticks(range(0, len(groups), step), short[::step], parse_math=False, rotation=90 if is_upright else 0)
    ax.set_xlim(-0.5, len(groups) - 0.5)
