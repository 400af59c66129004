"""The picture in the page: a drawing whose colours and letters are the page's own."""

import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import StringIO
from textwrap import fill
from typing import TYPE_CHECKING, Any

from truecount._types import Name
from truecount._wording import labels
from truecount.page.style import variables
from truecount.page.text import LONGEST_NAME
from truecount.plots.canvas import FONT, Shown, dress, find_letters, new_axes
from truecount.plots.shares import draw_prevalence, prevalence_data
from truecount.plots.theme import LIGHT, Theme
from truecount.results import Posterior
from truecount.results.summary import Kind, Target

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 3.6
"""Inches: letters keep a readable size on a telephone."""
LONGEST_LINE = 36
"""Letters below the horizontal axis, which begins behind the names of the rows."""


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


def shares_drawing(
    posterior: Posterior, *, level: float, kind: Kind, target: Target, classes: Sequence[Name] | None = None
) -> Drawing:
    """Draw the shares."""
    data = prevalence_data(posterior, level=level, kind=kind, target=target, classes=classes)
    axis, *sentences = data.caption
    ax = new_axes(WIDTH, data.height, LIGHT)
    dress(ax, LIGHT)
    draw_prevalence(ax, data, LIGHT, numbers=False)
    about = f"A row for each class: {', '.join(labels(data.classes, LONGEST_NAME))}. The numbers are in the table."
    return drawing(ax, axis, "True share of every class", about, " ".join(sentences))


def drawing_of(name: str, draw: "Callable[[Axes, Shown, Theme], None]", data: Shown, title: str, about: str) -> Drawing:
    """Draw what a picture of many groups draws; its first caption names the axis, the others stand below."""
    axis, *sentences = data.caption
    ax = new_axes(WIDTH, data.height, LIGHT)
    dress(ax, LIGHT)
    draw(ax, data, LIGHT)
    return drawing(ax, axis, title, about, " ".join(sentences), name)


def drawing(ax: "Axes", axis: str, title: str, about: str, caption: str, name: str = "shares") -> Drawing:
    """Return a picture for the page, with the name of its horizontal axis."""
    ax.set_xlabel(fill(axis, LONGEST_LINE), loc="left", color=LIGHT.soft, fontsize=FONT, parse_math=False)
    find_letters(ax)
    view, svg = _inline(name, _svg(ax))
    return Drawing(name, title, about, caption, view, svg)


def _svg(ax: "Axes") -> str:
    """Return the drawing with its letters as letters, which the browser draws in its own font."""
    from matplotlib import rc_context

    stream = StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "truecount"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        ax.figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})  # type: ignore[union-attr]
    return stream.getvalue()


def _inline(name: str, svg: str) -> tuple[str, Any]:
    """Return the view box and the content, with names of their own and the colours of the page."""
    from markupsafe import Markup

    view = re.search(r'viewBox="([^"]*)"', svg)
    content = svg[svg.index("<defs>") : svg.rindex("</svg>")]
    content = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", content).replace("xlink:href", "href")
    for color, variable in variables(LIGHT).items():
        content = content.replace(color, f"var({variable})")
    return view.group(1) if view else "", Markup(content)  # noqa: S704 - matplotlib has escaped every name
