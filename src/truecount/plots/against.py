"""The posterior beside what others say: other methods, other priors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truecount import _check
from truecount._types import FloatArray, Name
from truecount.errors import InputError
from truecount.plots.canvas import (
    WIDTH,
    Theme,
    ThemeLike,
    chosen_places,
    drawn,
    label_rows,
    legend_columns,
    marker,
    percent_axis,
    rows_height,
    spans,
    write_legend,
)
from truecount.results import Comparison, Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySideData:
    """What `methods` and `prior_sensitivity` draw: a row for each method or prior, a mark in it for each class.

    Parameters
    ----------
    rows
        What stands at the left.
    classes, positions, left_out
        Which classes are shown, where they stand among all, and how many are not.
    points, ends
        Shapes (rows, classes) and (rows, classes, 2); NaN where there is none.
    reference
        Shape (classes, 2): the interval that is shaded behind all rows.
    words
        What the marks mean.
    """

    rows: tuple[str, ...]
    classes: tuple[Name, ...]
    positions: tuple[int, ...]
    left_out: int
    points: FloatArray
    ends: FloatArray
    reference: FloatArray
    words: str

    @property
    def caption(self) -> tuple[str, ...]:
        """The axis and its unit, then the marks."""
        hidden = (f"{self.left_out} smaller classes are not shown.",) if self.left_out else ()
        return ("share of the population, %", self.words, *hidden)

    @property
    def height(self) -> float:
        """Inches."""
        lines = -(-len(self.classes) // legend_columns(self.classes, WIDTH))
        return rows_height(len(self.rows)) + 0.2 * lines + 0.08 * len(self.rows) * max(len(self.classes) - 2, 0)


def methods_data(comparison: Comparison, *, classes: Sequence[Any] | None = None) -> SideBySideData:
    """Return what `methods` draws: the posterior, then every method that applies."""
    posterior, chosen = comparison.posterior, chosen_places(comparison.classes, comparison.posterior.mean, classes)
    reference = posterior.interval(comparison.level)
    rows = [row for row in comparison.rows if row.prevalence is not None]
    nothing = np.full(reference.shape, np.nan)
    points = np.array([posterior.mean, *(row.prevalence for row in rows)])
    ends = np.array([reference, *(nothing if row.interval is None else row.interval for row in rows)])
    bars = f"Marks: points of each method, the posterior's mean. Lines: {100 * comparison.level:.6g} % intervals."
    return SideBySideData(
        rows=("posterior", *(row.method for row in rows)),
        classes=tuple(posterior.classes[place] for place in chosen),
        positions=tuple(chosen),
        left_out=0 if classes is not None else len(posterior.classes) - len(chosen),
        points=points[:, chosen],
        ends=ends[:, chosen],
        reference=reference[chosen],
        words=f"{bars} Shaded: the posterior's.",
    )


def methods(
    comparison: Comparison,
    *,
    ax: "Axes | None" = None,
    classes: Sequence[Any] | None = None,
    theme: ThemeLike = None,
) -> "Axes":
    """Draw every point estimate beside the posterior; one row a method, a mark in it for each class.

    Parameters
    ----------
    comparison
        What `truecount.compare` gave; methods that do not apply to its data are left out.
    ax, theme
        As in `prevalence`.
    classes
        Which classes; by default, the six with the largest posterior mean.
    """
    return drawn(draw_side_by_side, methods_data(comparison, classes=classes), ax, theme)


def prior_sensitivity_data(
    posteriors: Mapping[str, Posterior], *, level: float = 0.95, classes: Sequence[Any] | None = None
) -> SideBySideData:
    """Return what `prior_sensitivity` draws; the first posterior is the reference."""
    if not isinstance(posteriors, Mapping) or not posteriors:
        needed = "it must give a posterior for each name of a prior"
        remedy = "Pass {'flat': infer(...), 'sparse': infer(...)}"
        raise InputError("posteriors", f"is {type(posteriors).__name__}", needed, remedy)
    first, *others = posteriors.values()
    if any(other.classes != first.classes for other in others):
        remedy = "Infer all of them from the same counts"
        raise InputError("posteriors", "have different classes", "they must be of one problem", remedy)
    level, chosen = _check.level(level), chosen_places(first.classes, first.mean, classes)
    ends = np.array([posterior.interval(level) for posterior in posteriors.values()])[:, chosen]
    return SideBySideData(
        rows=tuple(map(str, posteriors)),
        classes=tuple(first.classes[place] for place in chosen),
        positions=tuple(chosen),
        left_out=0 if classes is not None else len(first.classes) - len(chosen),
        points=np.array([posterior.mean for posterior in posteriors.values()])[:, chosen],
        ends=ends,
        reference=ends[0],
        words=f"Marks: posterior means by prior. Lines: {100 * level:.6g} % intervals. Shaded: the first row's.",
    )


def prior_sensitivity(
    posteriors: Mapping[str, Posterior],
    *,
    ax: "Axes | None" = None,
    level: float = 0.95,
    classes: Sequence[Any] | None = None,
    theme: ThemeLike = None,
) -> "Axes":
    """Draw how the answer moves with the prior; one row a prior, a mark in it for each class.

    Parameters
    ----------
    posteriors
        What `truecount.infer` gave, by the name of the prior; the first is the one that the others are held against.
    ax, theme
        As in `prevalence`.
    level
        Of the equal-tailed intervals.
    classes
        Which classes; by default, the six with the largest share under the first prior.
    """
    return drawn(draw_side_by_side, prior_sensitivity_data(posteriors, level=level, classes=classes), ax, theme)


def draw_side_by_side(ax: "Axes", data: SideBySideData, theme: Theme) -> None:
    """Draw the marks of each row a little below each other, class by class, and a legend of the classes above."""
    label_rows(ax, data.rows, theme, room=1.15)
    n_classes = len(data.classes)
    shifts = (np.arange(n_classes) - (n_classes - 1) / 2) * min(0.22, 0.8 / n_classes)
    marks: list[Any] = []
    for column, (position, shift) in enumerate(zip(data.positions, shifts, strict=True)):
        color = theme.color(position)
        ax.axvspan(*data.reference[column], color=color, alpha=0.1, linewidth=0, zorder=1)
        rows = np.arange(len(data.rows)) + shift
        has_ends = ~np.isnan(data.ends[:, column, 0])
        spans(ax, rows[has_ends], data.ends[has_ends, column], color, width=1.8)
        style: dict[str, Any] = {"color": color, "markersize": 5.0, "clip_on": False, "zorder": 4}
        marks += ax.plot(data.points[:, column], rows, marker(position), **style)
    write_legend(ax, marks, data.classes, theme)
    shown = np.concatenate([data.points.ravel(), data.ends.ravel()])
    percent_axis(ax, min(0.0, float(np.nanmin(shown))), max(float(np.nanmax(shown)), 1e-6))
