"""The least value of a smooth convex function over the simplex, by Newton steps from inside."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from truecount._types import FloatArray

Slopes: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""From a point, shape (classes,), to the gradient, (classes,), and the second derivatives, (classes, classes)."""

_BARRIERS = tuple(np.geomspace(1.0, 1e-12, 13))
_MOST_STEPS = 30
_CONVERGED = 1e-6
"""Squared Newton decrement, in units of the barrier, after which one more full step is exact to rounding."""


def minimize_on_simplex(slopes: Slopes, classes: int) -> FloatArray:
    """Find the point of the simplex where a convex function is least.

    Follow the minimum of ``f(x) − b Σ log x`` from the middle of the simplex as the barrier ``b`` falls to 1e-12.

    Parameters
    ----------
    slopes
        Gradient and second derivatives of ``f``, asked for only where every share is above zero; the gradient may
        grow without bound towards the edge.
    classes
        How many shares the point has.

    Returns
    -------
    Shape (classes,), summing to one. In directions where ``f`` is flat it stays in the middle, so that classes which
    nothing tells apart get equal shares.

    Examples
    --------
    >>> target = np.array([0.7, 0.5, -0.4])
    >>> minimize_on_simplex(lambda point: (point - target, np.eye(3)), 3).round(6)
    array([0.6, 0.4, 0. ])
    """
    point = np.full(classes, 1 / classes)
    for barrier in _BARRIERS:
        point = _follow(slopes, point, barrier)
    shares: FloatArray = point / point.sum()
    return shares


def _follow(slopes: Slopes, point: FloatArray, barrier: float) -> FloatArray:
    """Take Newton steps until the minimum for this barrier is reached."""
    gradient, curvature = slopes(point)
    for _ in range(_MOST_STEPS):
        relative = _newton_step(point, gradient, curvature, barrier)
        slope = float((gradient * point - barrier) @ relative)
        if -slope <= _CONVERGED * barrier:
            return point * (1 + relative)
        point, gradient, curvature = _move(slopes, point, relative, barrier, -0.5 * slope)
    return point


def _newton_step(point: FloatArray, gradient: FloatArray, curvature: FloatArray, barrier: float) -> FloatArray:
    """Return the step as a share of each coordinate; the sum of the coordinates stays."""
    classes = len(point)
    system = np.zeros((classes + 1, classes + 1))
    system[:classes, :classes] = point[:, None] * curvature * point + barrier * np.eye(classes)
    system[classes, :classes] = system[:classes, classes] = point
    step: FloatArray = np.linalg.solve(system, np.append(barrier - point * gradient, 0.0))[:classes]
    return step


def _move(
    slopes: Slopes, point: FloatArray, relative: FloatArray, barrier: float, steepest: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Halve the step until every share is above zero and the function does not rise too steeply where it ends."""
    size = min(1.0, 0.99 / max(-relative.min(), 0.99))
    for _ in range(_MOST_STEPS):
        there: FloatArray = point * (1 + size * relative)
        gradient, curvature = slopes(there)
        if (gradient * there - barrier) @ (relative / (1 + size * relative)) <= steepest:
            break
        size /= 2
    return there, gradient, curvature
