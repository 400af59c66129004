"""One visual language: colours that stay apart for every kind of eye, on paper and in the dark."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from truecount import _check

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vPX"
"""Shapes that tell classes apart where colours do not: in grey print, and beyond the last colour."""


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
