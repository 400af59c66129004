"""Where pictures are drawn: axes in the colours of a theme, with a caption that says what is shown."""

from collections.abc import Callable, Sequence
from functools import cache
from io import BytesIO
from textwrap import fill
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from truecount.errors import InputError
from truecount.plots.theme import Theme, ThemeLike, find_theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 7.0
"""Inches of a picture that is given no axes."""
FONT = 8.5
LETTERS_AN_INCH = 10.5
"""Of a caption."""


class Picture(Protocol):
    """What stands in a picture: arrays, and the words below."""

    @property
    def caption(self) -> Sequence[str]:
        """The name and unit of the horizontal axis, then what the marks mean."""

    @property
    def height(self) -> float:
        """Inches that it likes to be high, at the usual width."""


Shown = TypeVar("Shown", bound=Picture)


def drawn(
    draw: "Callable[[Axes, Shown, Theme], None]", data: Shown, ax: "Axes | None", theme: ThemeLike, *, caption: bool = True
) -> "Axes":
    """Draw `data` into `ax`, or into axes of its own, with its caption below."""
    colors = find_theme(theme, _checked(ax))
    canvas = new_axes(WIDTH, data.height, colors) if ax is None else ax
    dress(canvas, colors)
    draw(canvas, data, colors)
    if caption:
        axis, *sentences = data.caption
        letters = int(canvas.figure.get_figwidth() * LETTERS_AN_INCH)  # type: ignore[union-attr]
        words = [axis, *([fill(" ".join(sentences), letters)] if sentences else [])]
        canvas.set_xlabel("\n".join(words), loc="left", color=colors.soft, fontsize=FONT, parse_math=False)
    return canvas


def new_axes(width: float, height: float, theme: Theme) -> "Axes":
    """Give axes in a figure of their own, which no list of open figures knows; a notebook shows them."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor=theme.paper)
    figure.get_layout_engine().set(w_pad=0.12, h_pad=0.12)  # type: ignore[union-attr,call-arg]
    axes: Axes = figure.add_subplot(axes_class=_shown_axes())
    return axes


def dress(ax: "Axes", theme: Theme) -> None:
    """Give axes the colours of the theme."""
    ax.set_facecolor(theme.paper)
    ax.tick_params(colors=theme.soft, labelcolor=theme.ink, labelsize=FONT, length=0)
    ax.grid(axis="x", color=theme.grid, linewidth=0.7)
    ax.set_axisbelow(True)
    for side, spine in ax.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(theme.grid)


def percent_axis(ax: "Axes", low: float, high: float, *, axis: str = "x") -> None:
    """Let an axis of shares go from `low` to `high` with a little room, and read as percentages."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    room = 0.02 * (high - low) or 0.02
    limits, line = (ax.set_xlim, ax.xaxis) if axis == "x" else (ax.set_ylim, ax.yaxis)
    limits(low - room, high + room)
    line.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    line.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.6g} %" if -1e-9 <= share <= 1 + 1e-9 else ""))


@cache
def _shown_axes() -> Any:
    """Make axes that a notebook shows as their picture, though pyplot knows nothing of them."""
    from matplotlib.axes import Axes

    class ShownAxes(Axes):
        def _repr_png_(self) -> bytes:
            stream = BytesIO()
            self.figure.savefig(stream, format="png", dpi=144)  # type: ignore[union-attr]
            return stream.getvalue()

    return ShownAxes


def _checked(ax: "Axes | None") -> "Axes | None":
    if ax is not None and not hasattr(ax, "set_xlim"):
        needed = "it must be matplotlib axes"
        raise InputError("ax", f"is of type {type(ax).__name__}", needed, "Pass one of plt.subplots()[1], or leave it out")
    return ax
