"""Shapes that more than one figure needs."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes

from truecount.plots.smooth import smooth_density


def half_violin(axes: Axes, draws: np.ndarray, place: float, color: str, *, width: float = 0.42) -> None:
    """Draw a density to the right of `place`."""
    grid, height = smooth_density(draws, 200)
    axes.fill_betweenx(grid, place, place + width * height / height.max(), color=color, alpha=0.55, linewidth=0)


def ternary(axes: Axes, corners: list[str]) -> Callable[[np.ndarray], np.ndarray]:
    """Draw the simplex of three classes, and give what takes shares (…, 3) to its plane."""
    vertices = np.array([[0.5, np.sqrt(0.75)], [0.0, 0.0], [1.0, 0.0]])
    axes.fill(*vertices.T, facecolor="none", edgecolor="black", linewidth=0.8)
    places = [("center", "bottom"), ("center", "top"), ("center", "top")]
    for vertex, corner, (horizontal, vertical) in zip(vertices, corners, places, strict=True):
        shift = 0.03 if vertical == "bottom" else -0.03
        axes.text(vertex[0], vertex[1] + shift, corner, ha=horizontal, va=vertical)
    axes.set_aspect("equal")
    axes.axis("off")
    return lambda shares: shares @ vertices
