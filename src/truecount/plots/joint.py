"""Shares of several classes together: where the data fix their sum but not which is which, only this shows it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truecount._types import FloatArray, Name
from truecount._wording import labels
from truecount.errors import InputError
from truecount.inference.draws import dirichlet
from truecount.models import LabelShift
from truecount.plots.canvas import FONT, WIDTH, Theme, ThemeLike, drawn, percent_axis, places
from truecount.results import Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 1500
"""Draws in a picture."""
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


@dataclass(frozen=True, slots=True, kw_only=True)
class JointData:
    """What `pair` and `ternary` draw.

    Parameters
    ----------
    names, position
        Of the classes shown, the last of three perhaps being the rest together; and where the first stands.
    draws, prior
        Shapes (points, classes shown): draws of their shares, after and before the data.
    correlation
        Of the first two, in the posterior.
    """

    names: tuple[Name, ...]
    position: int
    draws: FloatArray
    prior: FloatArray
    correlation: float

    @property
    def caption(self) -> tuple[str, ...]:
        """The axis and its unit, then the marks."""
        marks = f"Colour: {len(self.draws):,} posterior draws." + (" Grey: the prior." if len(self.prior) else "")
        if len(self.names) == 3:
            return ("shares of the population, %; a corner is 100 %, lines are 20 % apart", marks)
        name = labels(self.names[:1], 24)[0]
        return (f"share of {name} in the population, %", f"{marks} Correlation {self.correlation:.2f}.")

    @property
    def height(self) -> float:
        """Inches."""
        return 0.75 * WIDTH


def pair_data(posterior: Posterior, *, classes: Sequence[Any] | None = None) -> JointData:
    """Return what `pair` draws; by default, of the two classes that are hardest to tell from each other."""
    chosen = places(posterior.classes, classes) if classes is not None else _entangled(posterior)
    if len(chosen) != 2 or len(set(chosen)) != 2:
        raise InputError("classes", f"name {len(set(chosen))}", "a pair is two classes", "Pass classes=[one, other]")
    return _joint(posterior, chosen, posterior.classes)


def pair(
    posterior: Posterior,
    *,
    ax: "Axes | None" = None,
    classes: Sequence[Any] | None = None,
    theme: ThemeLike = None,
) -> "Axes":
    """Draw the shares of two classes against each other: draws of the posterior, and of the prior behind them.

    Parameters
    ----------
    posterior, ax, theme
        As in `prevalence`.
    classes
        Two of them; by default, those whose shares trade off most.
    """
    return drawn(draw_pair, pair_data(posterior, classes=classes), ax, theme)


def ternary_data(posterior: Posterior, *, classes: Sequence[Any] | None = None) -> JointData:
    """Return what `ternary` draws; of more than three classes two and the rest together."""
    if len(posterior.classes) < 3:
        raise InputError(
            "posterior", f"has {len(posterior.classes)} classes", "a triangle shows three", "Use plots.pair"
        )
    if len(posterior.classes) == 3 and classes is None:
        return _joint(posterior, [0, 1, 2], posterior.classes)
    chosen = places(posterior.classes, classes) if classes is not None else _entangled(posterior)
    if len(set(chosen)) != len(chosen) or len(chosen) not in (2, 3) or (len(chosen) == 3 != len(posterior.classes)):
        needed = "a triangle shows two classes and the rest"
        raise InputError("classes", f"name {len(set(chosen))}", needed, "Pass classes=[one, other]")
    return _joint(posterior, chosen, posterior.classes, rest=len(chosen) == 2)


def ternary(
    posterior: Posterior,
    *,
    ax: "Axes | None" = None,
    classes: Sequence[Any] | None = None,
    theme: ThemeLike = None,
) -> "Axes":
    """Draw the shares of three classes in a triangle, whose corners are one class alone.

    Parameters
    ----------
    posterior, ax, theme
        As in `prevalence`.
    classes
        Two of them, the third corner being all others together; by default, the two whose shares trade off most. Of
        three classes all.
    """
    return drawn(draw_ternary, ternary_data(posterior, classes=classes), ax, theme)


def _entangled(posterior: Posterior) -> list[int]:
    """Return the two classes whose shares vary most against each other, by covariance."""
    n_classes = len(posterior.classes)
    if n_classes < 2:
        raise InputError("posterior", "has one class", "two are needed", "Use plots.density")
    together = np.triu(-np.cov(posterior.prevalence.T), 1) + np.tril(np.full((n_classes, n_classes), -np.inf))
    first, second = np.unravel_index(int(together.argmax()), together.shape)
    return [int(first), int(second)]


def _joint(posterior: Posterior, chosen: list[int], classes: tuple[Name, ...], *, rest: bool = False) -> JointData:
    step = -(-len(posterior.prevalence) // MOST_POINTS)
    rng = np.random.default_rng([posterior.origin.seed, *b"joint"])
    prior = np.empty((0, len(posterior.classes)))
    if isinstance(posterior.model, LabelShift):
        prior = dirichlet(rng, posterior.model.prior.prevalence_for(posterior.counts), (MOST_POINTS,))
    sides = [shares[:, chosen] for shares in (posterior.prevalence[::step], prior)]
    if rest:
        sides = [np.column_stack([side, 1 - side.sum(axis=1)]) for side in sides]
    spread = posterior.prevalence[:, chosen[:2]].std(axis=0)
    both = np.atleast_2d(np.corrcoef(posterior.prevalence[:, chosen[:2]].T))[0, 1] if spread.all() else 0.0
    return JointData(
        names=(*(classes[place] for place in chosen), *(["all others"] if rest else [])),
        position=chosen[0],
        draws=sides[0],
        prior=sides[1],
        correlation=float(both),
    )


def draw_pair(ax: "Axes", data: JointData, theme: Theme) -> None:
    """Draw points, the posterior's on top, and say of which class each axis is."""
    _scatter(ax, data.prior, data.draws, data.position, theme)
    ax.grid(color=theme.grid, linewidth=0.7)
    words = f"share of {labels(data.names[1:], 24)[0]}, %"
    ax.set_ylabel(words, color=theme.soft, fontsize=FONT, parse_math=False)
    for axis, values in zip("xy", data.draws.T, strict=True):
        room = 0.25 * float(np.ptp(values)) or 0.1
        percent_axis(ax, max(0.0, values.min() - room), min(1.0, values.max() + room), axis=axis)


def draw_ternary(ax: "Axes", data: JointData, theme: Theme) -> None:
    """Draw the triangle with lines at every fifth, the points, and the names at the corners."""
    ax.set_axis_on()
    ax.set(xlim=(-0.14, 1.14), ylim=(-0.1, 0.98), xticks=[], yticks=[], aspect="equal")
    ax.spines["bottom"].set_visible(False)
    ax.fill(*CORNERS.T, facecolor="none", edgecolor=theme.soft, linewidth=1.0)
    for share in (0.2, 0.4, 0.6, 0.8):
        for corner in range(3):
            ends = np.full((2, 3), 0.0)
            ends[:, corner] = share
            ends[0, corner - 1] = ends[1, corner - 2] = 1 - share
            ax.plot(*(ends @ CORNERS).T, color=theme.grid, linewidth=0.7, zorder=1)
    _scatter(ax, data.prior @ CORNERS, data.draws @ CORNERS, data.position, theme)
    offsets = [((-2, -6), "center", "top"), ((2, -6), "center", "top"), ((0, 6), "center", "bottom")]
    for name, corner, (shift, side, end) in zip(labels(data.names, 24), CORNERS, offsets, strict=True):
        style: dict[str, Any] = {"ha": side, "va": end, "color": theme.ink, "fontsize": FONT, "parse_math": False}
        ax.annotate(name, corner, shift, textcoords="offset points", **style)


def _scatter(ax: "Axes", prior: FloatArray, draws: FloatArray, position: int, theme: Theme) -> None:
    dots: dict[str, Any] = {"linestyle": "", "marker": "o", "markeredgewidth": 0, "rasterized": True}
    ax.plot(*prior.T, color=theme.soft, alpha=0.25, markersize=2, zorder=2, **dots)
    ax.plot(*draws.T, color=theme.color(position), alpha=0.4, markersize=3, zorder=3, **dots)
