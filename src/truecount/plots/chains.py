"""Chains, and whether they have converged on the same shares."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from truecount._types import FloatArray, Name
from truecount._wording import labels
from truecount.errors import InputError
from truecount.inference.convergence import by_chain
from truecount.plots.canvas import FONT, Theme, ThemeLike, drawn, label_rows, percent_axis, places, rows_height
from truecount.results import Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_STEPS = 500
"""Points of a line."""
MOST_CHAINS = 8
"""Lines in a picture of traces."""
BINS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceData:
    """What `trace` draws of one class: `steps` of shape (steps,), `shares` of shape (chains shown, steps)."""

    name: Name
    position: int
    chains: int
    steps: FloatArray
    shares: FloatArray
    rhat: float

    @property
    def caption(self) -> tuple[str, ...]:
        """The axis and its unit, then the marks."""
        some = "" if len(self.shares) == self.chains else f", {len(self.shares)} of them drawn"
        whose = f"Share of {labels([self.name], 24)[0]} in the population, %."
        return ("draw of each chain", f"{whose} {self.chains} chains{some}, a line each. R-hat {self.rhat:.3f}.")

    @property
    def height(self) -> float:
        """Inches."""
        return 2.8


def trace_data(posterior: Posterior, *, name: Any = None) -> TraceData:
    """Return what `trace` draws: evenly spaced draws of each chain."""
    place, values, rhat = _one_class(posterior, name)
    step = -(-values.shape[1] // MOST_STEPS)
    return TraceData(
        name=posterior.classes[place],
        position=place,
        chains=len(values),
        steps=np.arange(0, values.shape[1], step, dtype=float),
        shares=values[:MOST_CHAINS, ::step],
        rhat=rhat,
    )


def trace(posterior: Posterior, *, name: Any = None, ax: "Axes | None" = None, theme: ThemeLike = None) -> "Axes":
    """Draw the share of one class, draw after draw, a line for each chain.

    Parameters
    ----------
    posterior, ax, theme
        As in `prevalence`; the posterior must come from chains.
    name
        The class; by default, the one whose chains agree least.
    """
    return drawn(draw_trace, trace_data(posterior, name=name), ax, theme)


def draw_trace(ax: "Axes", data: TraceData, theme: Theme) -> None:
    """Draw lines from the class's colour to the ink's, chain by chain."""
    for number, line in enumerate(data.shares):
        ax.plot(data.steps, line, color=_shade(theme, data.position, number, len(data.shares)), linewidth=0.7)
    ax.grid(visible=False, axis="x")
    ax.grid(axis="y", color=theme.grid, linewidth=0.7)
    ax.set_ylabel("share, %", color=theme.soft, fontsize=FONT)
    percent_axis(ax, float(data.shares.min()), float(data.shares.max()), axis="y")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankData:
    """What `rank` draws of one class: how often the draws of each chain (a row) fall into each twentieth of all.

    `heights` has shape (chains, bins); chains that have converged all have about `expected` in every bin, give or take
    `error` if their draws were independent.
    """

    name: Name
    position: int
    heights: FloatArray
    expected: float
    error: float

    @property
    def caption(self) -> tuple[str, ...]:
        """The axis and its unit, then the marks."""
        name = labels([self.name], 24)[0]
        marks = "Bars: how many draws of a chain fall into each twentieth. Line: as many as in every other."
        return (f"rank of the share of {name} among all draws, from lowest to highest", marks)

    @property
    def height(self) -> float:
        """Inches."""
        return rows_height(len(self.heights)) + 0.15 * len(self.heights)


def rank_data(posterior: Posterior, *, name: Any = None) -> RankData:
    """Return what `rank` draws."""
    place, values, _ = _one_class(posterior, name)
    ranks = values.ravel().argsort(kind="stable").argsort(kind="stable").reshape(values.shape)
    bins = min(BINS, values.shape[1])
    heights = np.array([np.bincount(row * bins // values.size, minlength=bins) for row in ranks], dtype=float)
    expected = values.shape[1] / bins
    error = np.sqrt(expected * (1 - 1 / bins))
    return RankData(
        name=posterior.classes[place], position=place, heights=heights, expected=expected, error=float(error)
    )


def rank(posterior: Posterior, *, name: Any = None, ax: "Axes | None" = None, theme: ThemeLike = None) -> "Axes":
    """Draw where the draws of each chain stand among all draws of one class; converged chains are flat.

    Parameters
    ----------
    posterior, ax, theme
        As in `prevalence`; the posterior must come from chains.
    name
        The class; by default, the one whose chains agree least.

    Notes
    -----
    Vehtari, Gelman, Simpson, Carpenter & Bürkner, *Bayesian Analysis* 16 (2021).
    """
    return drawn(draw_rank, rank_data(posterior, name=name), ax, theme)


def draw_rank(ax: "Axes", data: RankData, theme: Theme) -> None:
    """Draw a row of bars for each chain, and the line that all of them should reach."""
    chains, bins = data.heights.shape
    label_rows(ax, [f"chain {number + 1}" for number in range(chains)], theme)
    tallest = max(float(data.heights.max()), data.expected) / 0.85
    places_of_bins = (np.arange(bins) + 0.5) / bins
    for row, heights in enumerate(data.heights):
        color = _shade(theme, data.position, row, chains)
        ax.bar(places_of_bins, -heights / tallest, 0.9 / bins, row + 0.42, color=color, alpha=0.75)
        ax.axhline(row + 0.42 - data.expected / tallest, color=theme.ink, linewidth=0.8)
    ax.set_ylim(chains - 0.5, -0.6)
    percent_axis(ax, 0.0, 1.0)
    ax.grid(visible=False)


def _one_class(posterior: Posterior, name: Any) -> tuple[int, FloatArray, float]:
    """Return where the class stands, its draws of shape (chains, draws), and its R-hat."""
    if posterior.is_independent or posterior.rhat is None:
        remedy = "Use plots.density, or draw with engine=Gibbs()"
        raise InputError("posterior", "has independent draws", "only chains have a trace", remedy)
    place = int(posterior.rhat.argmax()) if name is None else places(posterior.classes, [name], "name")[0]
    return place, by_chain(posterior.prevalence[:, place], posterior.chains), float(posterior.rhat[place])


def _shade(theme: Theme, position: int, number: int, total: int) -> tuple[float, float, float]:
    """Mix the class's colour with the ink, more of it from chain to chain."""
    from matplotlib.colors import to_rgb

    part = 0.65 * number / max(total - 1, 1)
    red, green, blue = (
        (1 - part) * mine + part * other
        for mine, other in zip(to_rgb(theme.color(position)), to_rgb(theme.soft), strict=True)
    )
    return red, green, blue
