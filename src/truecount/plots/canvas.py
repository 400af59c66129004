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
FIRST_BEYOND = 0x0700
"""Signs from here on are mostly not in DejaVu Sans, which comes with matplotlib."""
WIDE_FONTS = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Hiragino Sans",
    "PingFang SC",
    "Yu Gothic",
    "Microsoft YaHei",
    "Malgun Gothic",
    "WenQuanYi Zen Hei",
    "Arial Unicode MS",
    "Noto Sans",
)


class Picture(Protocol):
    """What stands in a picture: arrays, and the words below."""

    @property
    def caption(self) -> Sequence[str]:
        """The name and unit of the horizontal axis, then what the marks mean."""

    @property
    def height(self) -> float:
        """Inches that it likes to be high, at the usual width."""


Shown = TypeVar("Shown", bound=Picture)


def drawn(draw: "Callable[[Axes, Shown, Theme], None]", data: Shown, ax: "Axes | None", theme: ThemeLike) -> "Axes":
    """Draw `data` into `ax`, or into axes of its own, with its caption below."""
    colors = find_theme(theme, _checked(ax))
    canvas = new_axes(WIDTH, data.height, colors) if ax is None else ax
    dress(canvas, colors)
    draw(canvas, data, colors)
    axis, *sentences = data.caption
    words = "\n".join([axis, fill(" ".join(sentences), int(inches(canvas) * LETTERS_AN_INCH))])
    canvas.set_xlabel(words, loc="left", color=colors.soft, fontsize=FONT, parse_math=False)
    find_letters(canvas)
    return canvas


def inches(ax: "Axes") -> float:
    """Return the width of the figure that the axes are in, or, where others stand beside them, of their own part."""
    width = float(ax.figure.bbox.width) / ax.figure.dpi
    spec = ax.get_subplotspec()
    return width if spec is None else width * len(spec.colspan) / spec.get_gridspec().ncols


def new_axes(width: float, height: float, theme: Theme) -> "Axes":
    """Return axes in a figure of their own, which no list of open figures knows; a notebook shows them."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(
        figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12), facecolor=theme.paper
    )
    axes: Axes = figure.add_subplot(axes_class=_shown_axes())
    return axes


def dress(ax: "Axes", theme: Theme) -> None:
    """Return axes the colours of the theme."""
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
    line.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.6g} %"))


def find_letters(ax: "Axes") -> None:
    """Let names in scripts that matplotlib's own font lacks use a font of this machine, where there is one."""
    from matplotlib.text import Text

    for text in ax.findobj(Text):
        if isinstance(text, Text) and any(ord(sign) >= FIRST_BEYOND for sign in text.get_text()):
            text.set_fontfamily([*text.get_fontfamily(), *_wide_fonts()])


@cache
def _wide_fonts() -> list[str]:
    from matplotlib.font_manager import get_font_names

    installed = get_font_names()
    return [name for name in WIDE_FONTS if name in installed]


@cache
def _shown_axes() -> Any:
    """Make axes that a notebook shows as their picture, though pyplot knows nothing of them."""
    from matplotlib.axes import Axes

    class ShownAxes(Axes):
        def _repr_png_(self) -> bytes:
            stream = BytesIO()
            self.figure.savefig(stream, format="png", dpi=144)  # type: ignore[union-attr]  # no subfigure
            return stream.getvalue()

    return ShownAxes


def _checked(ax: "Axes | None") -> "Axes | None":
    if ax is not None and not hasattr(ax, "set_xlim"):
        needed, remedy = "it must be matplotlib axes", "Pass what plt.subplots()[1] gives, or leave it out"
        raise InputError("ax", f"is of type {type(ax).__name__}", needed, remedy)
    return ax
