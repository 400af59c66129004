"""The answer: the true share of every class, beside what plain counting says and the prior."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truecount._types import FloatArray, Name
from truecount.errors import InputError
from truecount.models import LabelShift
from truecount.plots.canvas import (
    Theme,
    ThemeLike,
    drawn,
    label_rows,
    marker,
    percent_axis,
    places,
    root_percent_axis,
    rows_height,
    spans,
)
from truecount.plots.smooth import edges_of, prior_density, smooth_density
from truecount.results import Posterior
from truecount.results.summary import Kind, Look, Target, folded_summary, refusal, shares_in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

AXES = {"population": "share of the population", "realized": "share of these items"}
GRID = 256
FEWEST_ON_ROOT_SCALE, RARE = 8, 0.1
"""Classes from which on shares are drawn on a square-root scale if most lie in this part of the axis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrevalenceData:
    """What `prevalence` draws: a row for each class, shapes (rows,); where it is folded, the last is of all others."""

    classes: tuple[Name, ...]
    positions: tuple[int, ...]
    counted: FloatArray | None
    mean: FloatArray
    interval: FloatArray
    numbers: tuple[tuple[str, str], ...]
    axis: str
    interval_name: str
    is_folded: bool = False

    @property
    def caption(self) -> tuple[str, ...]:
        """The axis and its unit, then the marks."""
        marks = f"Filled: true share, posterior mean and {self.interval_name}."
        counted = () if self.counted is None else ("Hollow: counted, the share of outputs.",)
        scale = ("Square-root scale, for rare classes.",) if self.has_root_scale else ()
        beyond = ("Arrow: the others together lie further right.",) if self.has_others_beyond else ()
        return (f"{self.axis}, %", marks, *counted, *scale, *beyond)

    @property
    def range(self) -> tuple[float, float]:
        """The whole range of shares, or where the classes lie if those shown lie close together.

        All others of many classes together do not widen it: they would leave no room for the classes themselves.
        """
        rows = slice(0, -1) if self.is_folded else slice(None)
        shown = [values[rows].ravel() for values in (self.interval, self.mean, self.counted) if values is not None]
        low, high = float(np.concatenate(shown).min()), float(np.concatenate(shown).max())
        room = 0.1 * (high - low)
        return (0.0, max(high + room, 1e-6)) if low < 0.5 * high else (max(low - room, 0.0), min(high + room, 1.0))

    @property
    def has_root_scale(self) -> bool:
        """Whether most classes are so rare that a linear axis from zero would show them at its edge."""
        rows = len(self.mean) - self.is_folded
        low, high = self.range
        return rows >= FEWEST_ON_ROOT_SCALE and low == 0.0 and float(np.median(self.mean[:rows])) < RARE * high

    @property
    def has_others_beyond(self) -> bool:
        """Whether the others together have more than the picture shows."""
        counted = 0.0 if self.counted is None else self.counted[-1]
        return self.is_folded and max(self.interval[-1, 1], counted) > self.range[1]

    @property
    def height(self) -> float:
        """Inches."""
        return rows_height(len(self.classes))


def prevalence_data(
    posterior: Posterior,
    *,
    level: float = 0.95,
    kind: Kind = "equal-tailed",
    target: Target = "population",
    classes: Sequence[Any] | None = None,
) -> PrevalenceData:
    """Return what `prevalence` draws."""
    require_answer("posterior", posterior)
    look = Look(level=level, kind=kind, target=target)
    if classes is None:
        summary, positions = folded_summary(posterior, look)
        chosen = list(range(len(positions)))
    else:
        summary, chosen = look.of(posterior), places(posterior.classes, classes)
        positions = tuple(chosen)
    told = shares_in_words(summary)
    return PrevalenceData(
        classes=tuple(summary.classes[place] for place in chosen),
        positions=positions,
        counted=None if summary.counted is None else summary.counted[chosen],
        mean=summary.mean[chosen],
        interval=summary.interval[chosen],
        numbers=tuple((told[place].share, told[place].span) for place in chosen),
        axis=AXES[target],
        interval_name=summary.interval_name,
        is_folded=classes is None and len(positions) < len(posterior.classes),
    )


def require_answer(argument: str, posterior: Posterior) -> None:
    """Refuse to draw shares that depend on where the chains began."""
    if not posterior.has_answer:
        needed = "there are no shares to draw"
        raise InputError(argument, f"has no answer: {refusal(posterior)[:-1]}", needed, "See plots.trace(posterior)")


def prevalence(
    posterior: Posterior,
    *,
    ax: "Axes | None" = None,
    level: float = 0.95,
    kind: Kind = "equal-tailed",
    target: Target = "population",
    classes: Sequence[Any] | None = None,
    theme: ThemeLike = None,
) -> "Axes":
    """Draw the true share of every class with its interval, and the counted share beside it; one row a class.

    Parameters
    ----------
    posterior
        What `truecount.infer` gave.
    ax
        Where to draw; axes of their own, which a notebook shows and ``ax.figure.savefig`` saves, by default.
    level, kind, target
        Of the interval, as in `Posterior.interval`.
    classes
        Which classes, in this order; by default all, or of more than 40 the 30 largest and the others together.
    theme
        ``"light"``, ``"dark"`` or a `Theme`; by default what suits the axes.

    Returns
    -------
    The axes.

    Examples
    --------
    >>> import truecount as tc
    >>> counts = tc.Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
    >>> ax = prevalence(tc.infer(counts))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['fail', 'pass']
    """
    data = prevalence_data(posterior, level=level, kind=kind, target=target, classes=classes)
    return drawn(draw_prevalence, data, ax, theme)


def draw_prevalence(ax: "Axes", data: PrevalenceData, theme: Theme, *, numbers: bool = True) -> None:
    """Draw rows of intervals and points, and the numbers at their right."""
    size = label_rows(ax, data.classes, theme, room=1.0 if numbers else 1.4, may_break=True)
    shown = len(data.classes) - data.has_others_beyond
    rows = np.arange(shown, dtype=float)
    colors = [theme.color(position) for position in data.positions[:shown]]
    below = rows if data.counted is None else rows + 0.12
    spans(ax, below, data.interval[:shown], colors)
    for row, share, color, position in zip(below, data.mean, colors, data.positions, strict=False):
        ax.plot(share, row, marker(position), color=color, markersize=6.5, clip_on=False, zorder=4)
    if data.counted is not None:
        hollow: dict[str, Any] = {"markerfacecolor": theme.paper, "markeredgecolor": theme.soft, "markeredgewidth": 1.3}
        ax.plot(data.counted[:shown], rows - 0.2, "o", markersize=5, clip_on=False, zorder=4, **hollow)
    if data.has_others_beyond:
        ax.plot(data.range[1], shown, ">", color=theme.soft, markersize=6.5, clip_on=False, zorder=4)
    if numbers:
        _write_numbers(ax, data, size, theme.ink)
    (root_percent_axis if data.has_root_scale else percent_axis)(ax, *data.range)


def _write_numbers(ax: "Axes", data: PrevalenceData, size: float, color: str) -> None:
    """Write each share and its interval at the right, their last digits below each other."""
    share, span = (max(map(len, column)) for column in zip(*data.numbers, strict=True))
    widths = (share + 2, share + span + 5)
    for row, cells in enumerate(data.numbers):
        for cell, width in zip(cells, widths, strict=True):
            ax.annotate(
                cell,
                (1, row),
                (0.53 * size * width, 0),
                xycoords=ax.get_yaxis_transform(),
                textcoords="offset points",
                ha="right",
                va="center",
                color=color,
                fontsize=size,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class DensityData:
    """What `density` draws; a curve for each class.

    Parameters
    ----------
    shares, heights
        Shape (rows, points): where each posterior density was computed, and how high it is.
    prior_shares, prior_heights
        Shapes (points,) and (rows, points): the same of the prior, over the whole width of the picture.
    """

    classes: tuple[Name, ...]
    positions: tuple[int, ...]
    shares: FloatArray
    heights: FloatArray
    prior_shares: FloatArray
    prior_heights: FloatArray

    @property
    def caption(self) -> tuple[str, ...]:
        """The axis and its unit, then the marks."""
        behind = ("Grey behind: prior density on the same scale.",) if self.prior_heights.any() else ()
        return ("share of the population, %", "Colour: posterior density, each scaled to its row.", *behind)

    @property
    def height(self) -> float:
        """Inches."""
        return rows_height(len(self.classes)) + 0.2 * len(self.classes)


def density_data(posterior: Posterior, *, classes: Sequence[Any] | None = None) -> DensityData:
    """Return what `density` draws: smoothed draws, and the exact marginal prior."""
    require_answer("posterior", posterior)
    chosen = places(posterior.classes, classes)
    curves = [smooth_density(posterior.prevalence[:, place], GRID) for place in chosen]
    shares, heights = (np.array(part) for part in zip(*curves, strict=True))
    points, before = np.linspace(*edges_of(shares), GRID), np.zeros((len(posterior.classes), GRID))
    if isinstance(posterior.model, LabelShift):
        concentration = posterior.model.prior.prevalence_for(posterior.counts)
        points, before = prior_density(concentration, edges_of(shares), GRID)
    return DensityData(
        classes=tuple(posterior.classes[place] for place in chosen),
        positions=tuple(chosen),
        shares=shares,
        heights=heights,
        prior_shares=points,
        prior_heights=before[chosen],
    )


def density(
    posterior: Posterior,
    *,
    ax: "Axes | None" = None,
    classes: Sequence[Any] | None = None,
    theme: ThemeLike = None,
) -> "Axes":
    """Draw the marginal posterior of every class's share with its prior ghosted behind; one row a class.

    Parameters
    ----------
    posterior, ax, classes, theme
        As in `prevalence`.
    """
    return drawn(draw_density, density_data(posterior, classes=classes), ax, theme)


def draw_density(ax: "Axes", data: DensityData, theme: Theme) -> None:
    """Draw curves that stand on their rows, none higher than its row."""
    label_rows(ax, data.classes, theme)
    for row, position in enumerate(data.positions):
        floor, tallest = row + 0.35, data.heights[row].max() / 0.8
        color, before = theme.color(position), np.minimum(data.prior_heights[row] / tallest, 0.85)
        ax.fill_between(data.prior_shares, floor, floor - before, color=theme.soft, alpha=0.25, linewidth=0)
        curve = floor - data.heights[row] / tallest
        ax.fill_between(data.shares[row], floor, curve, color=color, alpha=0.35, linewidth=0)
        ax.plot(data.shares[row], curve, color=color, linewidth=1.4, clip_on=False)
    ax.set_ylim(len(data.classes) - 0.5, -0.6)
    percent_axis(ax, *edges_of(data.shares))
