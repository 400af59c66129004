"""One look for every figure: a colour and a marker for each method, the same everywhere.

The colours are those of Okabe and Ito, and one of Tol's, which colour-blind readers can tell apart.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

COLORS = {
    "CC": "#7F7F7F",
    "BBSE": "#E69F00",
    "IR": "#56B4E9",
    "soft IR": "#882255",
    "EM": "#CC79A7",
    "calibrated EM": "#CC79A7",
    "MAP-1": "#009E73",
    "MAP-2": "#0072B2",
    "posterior": "#D55E00",
    "Gaussian": "#000000",
}
MARKERS = {
    "CC": "s",
    "BBSE": "^",
    "IR": "v",
    "soft IR": "<",
    "EM": "P",
    "calibrated EM": "H",
    "MAP-1": "D",
    "MAP-2": "X",
    "posterior": "o",
    "Gaussian": "*",
}
TRUTH = {"color": "black", "linestyle": (0, (4, 2)), "linewidth": 1.0}
SETTINGS = {
    "figure.dpi": 150,
    "figure.constrained_layout.use": True,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "legend.frameon": False,
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw without a screen, in the look of these figures."""
    matplotlib.use("Agg")
    with plt.rc_context(SETTINGS):
        yield


def truth(axes: Axes, value: float, *, vertical: bool = False, label: str | None = "truth") -> None:
    """Draw a dashed line at the truth."""
    (axes.axvline if vertical else axes.axhline)(value, zorder=0, label=label, **TRUTH)


def points(axes: Axes, x: object, y: object, method: str, **options: object) -> None:
    """Draw a method's points with its colour and marker."""
    chosen = {"color": COLORS[method], "marker": MARKERS[method], "markeredgecolor": "black", "markeredgewidth": 0.4}
    axes.plot(x, y, **{**chosen, "label": method, **options})


def legend(figure: Figure, methods: list[str]) -> None:
    """Draw one legend of methods below all panels."""
    handles = [
        Line2D([], [], color=COLORS[name], marker=MARKERS[name], linestyle="", markeredgecolor="black", label=name)
        for name in methods
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(methods))
