"""How much was learned, and whether intervals hold as often as their level says."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truecount import _check
from truecount._types import FloatArray, Name
from truecount.diagnostics import identify
from truecount.diagnostics.calibration import Coverage
from truecount.errors import InputError
from truecount.models import LabelShift
from truecount.plots.canvas import (
    FONT,
    Theme,
    ThemeLike,
    chosen_places,
    drawn,
    label_rows,
    marker,
    percent_axis,
    places,
    rows_height,
    spans,
    write_legend,
)
from truecount.results import Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SURE = 0.99
"""Probability with which the share of intervals that hold lies in the band, if they are right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractionData:
    """What `contraction` draws: a row for each class, shapes (rows,).

    `before` and `after` are the standard deviations of the prior and the posterior.
    """

    classes: tuple[Name, ...]
    positions: tuple[int, ...]
    before: FloatArray
    after: FloatArray

    @property
    def kept(self) -> FloatArray:
        """How much of the prior's width is left."""
        kept: FloatArray = self.after / self.before
        return kept

    @property
    def caption(self) -> tuple[str, ...]:
        """The axis and its unit, then the marks."""
        return (
            "standard deviation of the posterior, % of the prior's",
            "At 100 % nothing was learned of a class; at 0 % all was.",
        )

    @property
    def height(self) -> float:
        """Inches."""
        return rows_height(len(self.classes))


def contraction_data(posterior: Posterior, *, classes: Sequence[Any] | None = None) -> ContractionData:
    """Return what `contraction` draws."""
    if not isinstance(posterior.model, LabelShift):
        found, remedy = f"has the model {posterior.model!r:.60}", "Use model=LabelShift(), or plots.density"
        raise InputError("posterior", found, "only label shift has a prior of the shares", remedy)
    chosen = places(posterior.classes, classes)
    before, after = identify.contraction(posterior.model.density(posterior.counts), posterior.draws)
    return ContractionData(
        classes=tuple(posterior.classes[place] for place in chosen),
        positions=tuple(chosen),
        before=before[chosen],
        after=after[chosen],
    )


def contraction(
    posterior: Posterior,
    *,
    ax: "Axes | None" = None,
    classes: Sequence[Any] | None = None,
    theme: ThemeLike = None,
) -> "Axes":
    """Draw how much narrower the posterior of each class is than its prior; one row a class.

    Parameters
    ----------
    posterior, ax, classes, theme
        As in `prevalence`.
    """
    return drawn(draw_contraction, contraction_data(posterior, classes=classes), ax, theme)


def draw_contraction(ax: "Axes", data: ContractionData, theme: Theme) -> None:
    """Draw a line from nothing learned to where each class stands."""
    label_rows(ax, data.classes, theme)
    rows = np.arange(len(data.classes), dtype=float)
    spans(ax, rows, np.column_stack([data.kept, np.ones(len(rows))]), theme.grid, width=3)
    for row, kept, position in zip(rows, data.kept, data.positions, strict=True):
        ax.plot(kept, row, marker(position), color=theme.color(position), markersize=6.5, clip_on=False, zorder=4)
    percent_axis(ax, 0.0, max(1.0, float(data.kept.max())))


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageData:
    """What `coverage` draws: shapes (levels,), of what held (levels, classes shown), of the band (levels, 2)."""

    classes: tuple[Name, ...]
    positions: tuple[int, ...]
    left_out: int
    levels: FloatArray
    held: FloatArray
    band: FloatArray
    data_sets: int

    @property
    def caption(self) -> tuple[str, ...]:
        """The axis and its unit, then the marks."""
        chance = f"Shaded: where {100 * SURE:.0f} % of such studies find them, if the intervals are right."
        hidden = (f"{self.left_out} smaller classes are not shown.",) if self.left_out else ()
        return ("nominal level of the intervals, %", f"Marks: {self.data_sets:,} data sets. {chance}", *hidden)

    @property
    def height(self) -> float:
        """Inches."""
        return 4.8


def coverage_data(found: Coverage, *, classes: Sequence[Any] | None = None) -> CoverageData:
    """Return what `coverage` draws, and the binomial band around the nominal level."""
    from scipy.special import bdtrik

    _check.instance_of("found", found, Coverage, "Pass what coverage() gives")
    chosen = chosen_places(found.classes, found.truth, classes)
    order, size = np.argsort(found.levels), found.data_sets
    levels = found.levels[order]
    ends = [bdtrik(tail, size, levels) for tail in ((1 - SURE) / 2, (1 + SURE) / 2)]
    return CoverageData(
        classes=tuple(found.classes[place] for place in chosen),
        positions=tuple(chosen),
        left_out=0 if classes is not None else len(found.classes) - len(chosen),
        levels=levels,
        held=found.held[order][:, chosen],
        band=np.clip(np.ceil(np.column_stack(ends)), 0, size) / size,
        data_sets=size,
    )


def coverage(
    found: Coverage, *, ax: "Axes | None" = None, classes: Sequence[Any] | None = None, theme: ThemeLike = None
) -> "Axes":
    """Draw how often intervals held the truth against their nominal level; a line for each class.

    Parameters
    ----------
    found
        What `truecount.coverage` measured.
    ax, theme
        As in `prevalence`.
    classes
        Which classes; by default, the six with the largest shares.
    """
    return drawn(draw_coverage, coverage_data(found, classes=classes), ax, theme)


def draw_coverage(ax: "Axes", data: CoverageData, theme: Theme) -> None:
    """Draw marks, the band of chance, and the line on which coverage equals the nominal level."""
    ax.fill_between(data.levels, *data.band.T, color=theme.soft, alpha=0.25, linewidth=0)
    ax.plot([0, 1], [0, 1], color=theme.soft, linewidth=1)
    marks: list[Any] = []
    for held, position in zip(data.held.T, data.positions, strict=True):
        style: dict[str, Any] = {"marker": marker(position), "markersize": 5, "linewidth": 1, "clip_on": False}
        marks += ax.plot(data.levels, held, color=theme.color(position), **style)
    write_legend(ax, marks, data.classes, theme)
    ax.grid(color=theme.grid, linewidth=0.7)
    ax.set_ylabel("intervals that hold the truth, %", color=theme.soft, fontsize=FONT)
    for axis in "xy":
        percent_axis(ax, 0.0, 1.0, axis=axis)
