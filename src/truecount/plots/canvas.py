"""What all pictures share: colours, axes with a caption, rows of names, legends."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np

from truecount import _check
from truecount._types import FloatArray, Name
from truecount._wording import display_width, labels, visible
from truecount.errors import InputError
from truecount.results.by_class import unknown_class

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vPX"
"""Shapes that tell classes apart where colours do not: in grey print, and beyond the last colour."""
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
ROW = 0.34
"""Inches of a row."""
SMALLEST_FONT = 4.0
ROW_LETTERS_AN_INCH = 3.6
"""Of the names, for each inch of the picture's width."""
TWO_LINES = 2.4
"""Sizes of letters that a row with a name of two lines is high."""
LONGER_LINES = 1.3
"""How much longer than a name of one line each line of a broken one may be."""
FRAME = 0.95
"""Inches for the axis and the caption."""
MOST_CLASSES = 6
LEGEND_NAME, LEGEND_LETTERS = 16, 9
"""The longest name in a legend, and how many letters fit into an inch of the picture's width."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """Colours of a picture.

    Parameters
    ----------
    paper, ink, soft, grid
        Of the ground, of words and marks, of what stands behind, and of lines to read by.
    heat
        Of cells that are the fuller the more they hold.
    classes
        One after the other for the classes; they repeat, with another marker.
    """

    paper: str
    ink: str
    soft: str
    grid: str
    heat: str
    classes: tuple[str, ...]

    def color(self, position: int) -> str:
        """Return the colour of the class at this position among all classes."""
        return self.classes[position % len(self.classes)]


LIGHT = Theme(
    paper="#ffffff",
    ink="#1b1f24",
    soft="#59636e",
    grid="#d5dae0",
    heat="#3f7fd6",
    classes=("#2743b8", "#c23b0a", "#1a9e8f", "#5a245a", "#b48815", "#8075c4"),
)
DARK = Theme(
    paper="#14171a",
    ink="#e8eaed",
    soft="#a3abb5",
    grid="#343a41",
    heat="#4d8fe8",
    classes=("#7088ff", "#ea6020", "#84f0de", "#a86898", "#f0e058", "#b8b6f2"),
)
ThemeLike: TypeAlias = Theme | Literal["light", "dark"] | None
"""A theme, its name, or None: dark where the axes are."""


def marker(position: int) -> str:
    """Return the marker of the class at this position among all classes."""
    return MARKERS[position % len(MARKERS)]


def find_theme(theme: ThemeLike, ax: "Axes | None") -> Theme:
    """Return the theme that was asked for, or the one that suits the axes."""
    if isinstance(theme, Theme):
        return theme
    if theme is not None:
        _check.one_of("theme", theme, ("light", "dark"))
        return DARK if theme == "dark" else LIGHT
    return LIGHT if ax is None or _brightness(ax) > 0.4 else DARK


def _brightness(ax: "Axes") -> float:
    """Return how bright the ground behind the axes is, from 0 to 1; what nothing fills counts as paper."""
    from matplotlib.colors import to_rgba

    red, green, blue, alpha = to_rgba(ax.get_facecolor())
    return (0.299 * red + 0.587 * green + 0.114 * blue) * alpha + (1 - alpha)


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


def root_percent_axis(ax: "Axes", low: float, high: float) -> None:
    """Do the same from zero on a square-root scale, on which rare classes can be read beside common ones."""
    from matplotlib.ticker import FixedLocator, FuncFormatter

    ax.set_xscale("function", functions=(_signed_root, _signed_square))
    ax.set_xlim(-((0.02 * high**0.5) ** 2), (1.02 * high**0.5) ** 2)
    ax.xaxis.set_major_locator(FixedLocator(_root_ticks(high)))
    ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:.6g} %"))


def _root_ticks(high: float) -> list[float]:
    """Return zero and round shares, as dense as words at them leave room for.

    >>> [f"{100 * tick:g}" for tick in _root_ticks(0.31)]
    ['0', '1', '5', '10', '20', '30']
    """
    top = int(np.floor(np.log10(high)))
    rounded = [digit * 10.0**power for power in (top - 2, top - 1, top) for digit in (1, 2, 3, 5)]
    ticks = [0.0]
    for tick in sorted(rounded):
        if tick <= high and (tick / high) ** 0.5 - (ticks[-1] / high) ** 0.5 >= 0.14:
            ticks.append(float(tick))
    return ticks


def _signed_root(values: Any) -> Any:
    return np.sign(values) * np.sqrt(np.abs(values))


def _signed_square(values: Any) -> Any:
    return np.sign(values) * np.square(values)


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


def places(known: Sequence[Name], wanted: Sequence[Any] | None, argument: str = "classes") -> list[int]:
    """Return where the wanted names stand among those known; all of them by default."""
    if wanted is None:
        return list(range(len(known)))
    if isinstance(wanted, str) or not wanted:
        raise InputError(argument, f"is {wanted!r}", "it must list names", f"Pass {argument}=[...]")
    return [_place(known, name, argument) for name in wanted]


def _place(known: Sequence[Name], name: Any, argument: str) -> int:
    if name in known:
        return known.index(name)
    raise unknown_class(argument, f"names {name!r}", name, known, kind="names")


def rows_height(rows: int) -> float:
    """Return the inches that a picture of so many rows likes to be high."""
    return FRAME + ROW * max(rows, 2)


def label_rows(ax: "Axes", names: Sequence[Name], theme: Theme, *, room: float = 1.0, may_break: bool = False) -> float:
    """Write the names beside their rows, the first on top, and return the size of letters that fits a row.

    Names of two parts take more `room` than others before they are shortened. Where they may break, long ones of
    several words have two lines.
    """
    row = 72 * ax.bbox.height / ax.figure.dpi / len(names)
    size = float(np.clip(0.7 * row, SMALLEST_FONT, FONT))
    most = max(8, int(room * inches(ax) * ROW_LETTERS_AN_INCH))
    short = labels(names, most)
    if may_break and row > TWO_LINES * size:
        line = int(LONGER_LINES * most)
        broken = [
            _in_two_lines(visible(name), line) if "…" in cut else None for name, cut in zip(names, short, strict=True)
        ]
        short = [lines or cut for lines, cut in zip(broken, short, strict=True)]
    ax.set_yticks(range(len(names)), short, parse_math=False, fontsize=size, color=theme.ink)
    ax.set_ylim(len(names) - 0.4, -0.6)
    return size


def _in_two_lines(name: str, most: int) -> str | None:
    r"""Break a long name of several words, such as that of a species, where its lines are the most alike.

    >>> _in_two_lines("Thalassiosira pseudogracilis", 18)
    'Thalassiosira\npseudogracilis'
    """
    parts = name.split(" ")
    broken = [(" ".join(parts[:at]), " ".join(parts[at:])) for at in range(1, len(parts))]
    if not broken:
        return None
    best = min(broken, key=lambda lines: max(map(display_width, lines)))
    return "\n".join(best) if max(map(display_width, best)) <= most else None


def spans(ax: "Axes", rows: FloatArray, ends: FloatArray, colors: Sequence[str] | str, *, width: float = 2.4) -> None:
    """Draw a line from end to end in each row; shape of `ends` (rows, 2). One of no length is a dot."""
    ax.hlines(rows, ends[:, 0], ends[:, 1], colors=colors, linewidth=width, capstyle="round", clip_on=False, zorder=3)
    dots: dict[str, Any] = {"c": colors, "s": (0.7 * width) ** 2, "linewidths": 0, "clip_on": False, "zorder": 3}
    ax.scatter(ends.mean(axis=1), rows, **dots)


def chosen_places(known: Sequence[Name], shares: FloatArray, wanted: Sequence[Any] | None) -> list[int]:
    """Return where the wanted classes stand; by default, those with the largest shares, in their usual order."""
    if wanted is not None:
        return places(known, wanted)
    largest = np.argsort(-shares, kind="stable")[:MOST_CLASSES]
    return [int(place) for place in np.sort(largest)]


def write_legend(ax: "Axes", marks: Sequence[Any], classes: tuple[Name, ...], theme: Theme) -> None:
    """Name the marks of the classes above the rows, whatever their first letter: matplotlib leaves out ``_fail``."""
    columns = legend_columns(classes, inches(ax))
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": columns, "borderpad": 0}
    names = labels(classes, LEGEND_NAME)
    legend = ax.legend(marks, [" "] * len(names), **place, frameon=False, fontsize=8)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set(text=name, color=theme.ink, parse_math=False)


def legend_columns(classes: tuple[Name, ...], width: float) -> int:
    """Return how many names stand side by side in the legend of a picture so many inches wide."""
    longest = max(map(len, labels(classes, LEGEND_NAME)))
    return int(np.clip(0.7 * width * LEGEND_LETTERS // (longest + 6), 1, len(classes)))
