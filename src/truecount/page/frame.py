"""The frame of every page: templates, a style sheet in the colours of the pictures, and drawings in it."""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from truecount._wording import visible
from truecount.plots.canvas import DARK, FONT, LIGHT, Shown, Theme, dress, find_letters, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
LONGEST_NAME = 40
"""Letters of a name in a sentence or beside a row; the table of shares has all of them."""
WIDTH = 3.6
"""Inches: letters keep a readable size on a telephone."""
LONGEST_LINE = 36
"""Letters below the horizontal axis, which begins behind the names of the rows."""


def variables(theme: Theme) -> dict[str, str]:
    """Return the page's name of each colour of a theme."""
    plain = {getattr(theme, name): f"--{name}" for name in ("paper", "ink", "soft", "grid", "heat")}
    return plain | {color: f"--class-{place}" for place, color in enumerate(theme.classes)}


def rendered(template: str, *, title: str, **content: Any) -> str:
    """Return the page of that template, which extends ``base.html``, with its style sheet."""
    text: str = _machine().get_template(template).render(title=visible(title), style=style(), **content)
    return text


@cache
def _machine() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = FileSystemLoader(Path(__file__).parent)
    return Environment(loader=folder, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)


def style() -> Any:
    """Return the style sheet: light, dark where the reader prefers it, light again on paper."""
    from markupsafe import Markup

    sheet = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    light, dark = _rule(LIGHT), _rule(DARK)
    return Markup(  # noqa: S704 - all of it is ours
        f"{light}\n@media screen and (prefers-color-scheme: dark) {{ {dark} }}\n{sheet}"
    )


def _rule(theme: Theme) -> str:
    return ":root { " + " ".join(f"{name}: {color};" for color, name in variables(theme).items()) + " }"


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


def drawing_of(name: str, draw: "Callable[[Axes, Shown, Theme], None]", data: Shown, title: str, about: str) -> Drawing:
    """Draw a picture for the page; its first caption names the horizontal axis, the others stand below."""
    axis, *sentences = data.caption
    ax = new_axes(WIDTH, data.height, LIGHT)
    dress(ax, LIGHT)
    draw(ax, data, LIGHT)
    ax.set_xlabel(fill(axis, LONGEST_LINE), loc="left", color=LIGHT.soft, fontsize=FONT, parse_math=False)
    find_letters(ax)
    view, svg = _inline(name, _svg(ax))
    return Drawing(name, title, about, " ".join(sentences), view, svg)


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
