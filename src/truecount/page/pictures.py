"""Pictures for the page: drawings whose colours and letters are the page's own."""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Any

from truecount.page.look import variables
from truecount.page.words import described
from truecount.plots.box import confusion_data, draw_confusion, draw_predictive, predictive_data
from truecount.plots.canvas import FONT, Picture, dress, find_letters, new_axes
from truecount.plots.shares import draw_prevalence, prevalence_data
from truecount.plots.theme import LIGHT, Theme
from truecount.results import Posterior
from truecount.results.posterior import Kind, Target

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, COLUMN = 3.6, 0.45
"""Inches, and for each output of the confusion: letters keep a readable size on a telephone."""
MOST_CELLS = 400
"""Of the confusion; a larger one would weigh more than the rest of the page, and its cells be too small to read."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture in the page.

    Parameters
    ----------
    name
        Of the drawing, once in the page.
    title, description
        For those who cannot see it.
    caption
        Below it.
    svg
        What stands within the ``svg`` element, and its `view`.
    """

    name: str
    title: str
    description: str
    caption: str
    view: str
    svg: Any


def pictures(posterior: Posterior, *, level: float, kind: Kind, target: Target) -> dict[str, Drawing]:
    """Give the drawings by name: the shares, what the box does, and whether the outputs fit."""
    shares = prevalence_data(posterior, level=level, kind=kind, target=target)
    drawn = {
        "shares": _drawing(
            "shares",
            "True share of every class",
            f"A row for each class: {described(shares.classes)}. The numbers are in the table.",
            shares,
            lambda ax, data, theme: draw_prevalence(ax, data, theme, numbers=False),
        )
    }
    if posterior.counts.labeled.size <= MOST_CELLS:
        rows = "A row for each class, a column for each output. The labelled counts behind it are in the last table."
        box = confusion_data(posterior, level=level)
        width = max(WIDTH, COLUMN * len(box.outputs) + 1)
        drawn["box"] = _drawing("box", "What the box does with each class", rows, box, draw_confusion, width)
    if posterior.counts.unlabeled.sum():
        fit = predictive_data(posterior, level=level)
        seen = f"A row for each output: {described(fit.outputs)}. The counts seen are in the last table."
        drawn["fit"] = _drawing("fit", "Outputs seen and outputs expected", seen, fit, draw_predictive)
    return drawn


def _drawing(
    name: str,
    title: str,
    description: str,
    data: Picture,
    draw: "Callable[[Axes, Any, Theme], None]",
    width: float = WIDTH,
) -> Drawing:
    axis, *sentences = data.caption
    ax = new_axes(width, data.height, LIGHT)
    dress(ax, LIGHT)
    draw(ax, data, LIGHT)
    ax.set_xlabel(axis, loc="left", color=LIGHT.soft, fontsize=FONT, parse_math=False)
    find_letters(ax)
    view, svg = _inline(name, _svg(ax))
    return Drawing(name, title, description, " ".join(sentences), view, svg)


def _svg(ax: "Axes") -> str:
    """Give the drawing with its letters as letters, which the browser draws in its own font."""
    from matplotlib import rc_context

    stream = StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "truecount"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        ax.figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})  # type: ignore[union-attr]
    return stream.getvalue()


def _inline(name: str, svg: str) -> tuple[str, Any]:
    """Give the view box and the content, with names of their own and the colours of the page."""
    from markupsafe import Markup

    view = re.search(r'viewBox="([^"]*)"', svg)
    content = svg[svg.index("<defs>") : svg.rindex("</svg>")]
    content = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", content).replace("xlink:href", "href")
    for color, variable in variables(LIGHT).items():
        content = content.replace(color, f"var({variable})")
    return view.group(1) if view else "", Markup(content)  # noqa: S704 - matplotlib has escaped every name
