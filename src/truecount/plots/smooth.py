"""Densities of shares, from draws and from the prior, that know that a share ends at 0 and at 1."""

from math import lgamma

import numpy as np

from truecount._types import FloatArray

REACH = 4.0
"""Bandwidths that a curve goes on beyond the outermost draw."""


def smooth_density(draws: FloatArray, points: int) -> tuple[FloatArray, FloatArray]:
    """Return where the density of these draws was computed and how high it is, shapes (points,).

    Draws are counted in narrow cells and smoothed by a Gaussian of Scott's bandwidth; what would fall beyond 0 or 1
    is folded back, so that a density that ends there is not halved.
    """
    width = _bandwidth(draws)
    low, high = max(0.0, draws.min() - REACH * width), min(1.0, draws.max() + REACH * width)
    counts, edges = np.histogram(draws, bins=points, range=(low, high))
    cell = edges[1] - edges[0]
    steps = np.arange(-points, points + 1) * cell
    kernel = np.exp(-0.5 * (steps / max(width, 0.5 * cell)) ** 2)
    below, above = (counts[::-1] if is_end else 0 * counts for is_end in (low == 0, high == 1))
    folded = np.concatenate([below, counts, above])
    smooth = np.convolve(folded, kernel, mode="same")[points : 2 * points]
    middles: FloatArray = (edges[1:] + edges[:-1]) / 2
    return middles, smooth / (smooth.sum() * cell)


def _bandwidth(draws: FloatArray) -> float:
    """Scott's rule with a spread that outliers do not widen; where all draws are one, a thousandth."""
    quarter, three_quarters = np.quantile(draws, [0.25, 0.75])
    spread = min(float(draws.std()), (three_quarters - quarter) / 1.34) or float(draws.std())
    return max(1.06 * spread * len(draws) ** -0.2, 1e-9) if spread else 1e-3


def edges_of(shares: FloatArray) -> tuple[float, float]:
    """Return the range that holds all of these shares."""
    return float(shares.min()), float(shares.max())


def prior_density(concentration: FloatArray, edges: tuple[float, float], points: int) -> tuple[FloatArray, FloatArray]:
    """Return points between the edges and the Dirichlet's marginal densities, shapes (points,), (classes, points).

    The share of class l is ``Beta(a_l, Σa − a_l)`` before any data.
    """
    cells = np.linspace(*edges, points + 1)
    shares = np.clip((cells[1:] + cells[:-1]) / 2, 1e-12, 1 - 1e-12)
    rest = concentration.sum() - concentration
    constant = np.array([lgamma(a + b) - lgamma(a) - lgamma(b) for a, b in zip(concentration, rest, strict=True)])
    logs = (concentration[:, None] - 1) * np.log(shares) + (rest[:, None] - 1) * np.log1p(-shares) + constant[:, None]
    heights: FloatArray = np.exp(logs)
    return shares, heights
