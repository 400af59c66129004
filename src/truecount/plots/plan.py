"""Width against cost, for several ways to split what is spent."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truecount import _check
from truecount._types import FloatArray
from truecount.errors import InputError
from truecount.planning.goal import Goal
from truecount.plots.canvas import FONT, Theme, ThemeLike, drawn, marker, percent_axis, write_legend
from truecount.results.plan import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanData:
    """What `plan` draws: costs, half the width for each split, shape (splits, costs), and the plan itself."""

    costs: FloatArray
    splits: tuple[str, ...]
    half_widths: FloatArray
    floor: float | None
    cost: float
    half_width: float
    target: float | None
    compared: str
    chance: str

    @property
    def caption(self) -> tuple[str, ...]:
        """The axis and its unit, then the marks."""
        floor = " Dashed: the floor of these labels, with unlimited unlabelled items." if self.floor is not None else ""
        goal = f" Dotted: the goal{self.chance}." if self.target is not None else ""
        ring = " Ring: this plan." if self.has_ring else ""
        return ("cost", f"Lines: half the width of the {self.compared}, on average.{ring}{floor}{goal}")

    @property
    def has_ring(self) -> bool:
        """Whether the plan lies between the costs that are drawn; one that gathers nothing does not."""
        return bool(self.costs[0] <= self.cost <= self.costs[-1])

    @property
    def height(self) -> float:
        """Inches."""
        return 4.4


def plan_data(found: Plan) -> PlanData:
    """Return what `plan` draws."""
    _check.instance_of("found", found, Plan, "Pass what truecount.plan() gives")
    curve = found.curve
    if curve is None:
        needed = "there is nothing to draw where nothing is labelled, or by the formula for large samples"
        raise InputError("found", "has no curve", needed, "Plan with labels, and without large_sample")
    floors = [each.width / 2 for each in found.alternatives if each.what == "unlimited items"]
    goal = found.goal
    return PlanData(
        costs=curve.costs,
        splits=tuple(curve.splits),
        half_widths=np.array(list(curve.splits.values())) / 2,
        floor=floors[0] if floors else None,
        cost=found.cost,
        half_width=found.compared_width / 2,
        target=goal.share if goal is not None and goal.kind == "narrow" else None,
        compared=found.compared,
        chance=_chance(goal),
    )


def _chance(goal: Goal | None) -> str:
    """Say that a goal with an assurance is not for the average, which lines show."""
    if goal is None or goal.assurance is None:
        return ""
    return f", which {100 * goal.assurance:.4g} % of the intervals are to reach"


def plan(found: Plan, *, ax: "Axes | None" = None, theme: ThemeLike = None) -> "Axes":
    """Draw how narrow intervals become with what is spent; a line for each way to split it.

    Parameters
    ----------
    found
        What `truecount.plan` gave.
    ax, theme
        As in `prevalence`.
    """
    return drawn(draw_plan, plan_data(found), ax, theme)


def draw_plan(ax: "Axes", data: PlanData, theme: Theme) -> None:
    """Draw a line for each split, the plan as a ring, the floor and the goal as lines across."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    marks: list[Any] = []
    for place, (name, half) in enumerate(zip(data.splits, data.half_widths, strict=True)):
        style: dict[str, Any] = {"marker": marker(place), "markersize": 5, "linewidth": 1.4, "clip_on": False}
        marks += ax.plot(data.costs, half, color=theme.color(place), label=name, **style)
    if data.has_ring:
        ring: dict[str, Any] = {"markersize": 13, "markerfacecolor": "none", "clip_on": False}
        ax.plot([data.cost], [data.half_width], "o", color=theme.ink, **ring)
    for height, dashes in ((data.floor, "--"), (data.target, ":")):
        if height is not None:
            ax.axhline(height, color=theme.soft, linestyle=dashes, linewidth=1.2)
    write_legend(ax, marks, data.splits, theme)
    ax.grid(color=theme.grid, linewidth=0.7)
    ax.set_xscale("log")
    ax.set_xticks(data.costs)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda cost, _: f"{cost:,.0f}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.set_ylabel("interval, ± points of share", color=theme.soft, fontsize=FONT)
    percent_axis(ax, 0.0, float(data.half_widths.max()), axis="y")
