"""One-dimensional meshes on which a log density is taken to be linear between nodes, many at once.

A cell's mass and a draw from it are then closed forms, exponential tails are exact however long, and nothing
underflows. The first axis counts meshes, the second nodes.
"""

import numpy as np

from truecount._types import FloatArray, IntArray

TEMPER = 1 / 3
"""Nodes are placed in proportion to this power of the density, which makes the error of linear pieces least."""
IN_TAILS, TAIL = 0.4, 10.0
"""Part of the nodes that are spread evenly over how far the log density falls, and how far down (times the power)."""
RESOLVED = 3.0
"""A maximum whose neighbouring nodes lie less than so many nats below it is resolved."""
IN_REACH = 40.0
"""Maxima so many nats below the highest are left out once they are resolved."""


def log_mean_exp_linear(slope: FloatArray) -> FloatArray:
    """Return ``log ∫₀¹ exp(slope (u − ½)) du``."""
    size = np.maximum(np.abs(slope), 1e-4)
    return 0.5 * size + np.log(-np.expm1(-size)) - np.log(size)


def draw_exp_linear(slope: FloatArray, uniform: FloatArray) -> FloatArray:
    """Draw from the density ``exp(slope · u)`` on [0, 1] by inverse transform."""
    size = np.abs(slope)
    safe = np.maximum(size, 1e-6)
    with np.errstate(divide="ignore"):
        from_top = -np.log1p(uniform * np.expm1(-safe)) / safe
    drawn = np.where(size < 1e-6, uniform, np.minimum(from_top, 1.0))
    return np.where(slope > 0, 1 - drawn, drawn)


def log_cell_masses(widths: FloatArray, logs: FloatArray) -> FloatArray:
    """Return the log mass of every cell; shapes (meshes, nodes − 1) and (meshes, nodes) give that of the first."""
    flat = np.log(np.maximum(widths, 1e-300)) + 0.5 * (logs[:, 1:] + logs[:, :-1])
    return flat + log_mean_exp_linear(np.diff(logs)) + bulge(widths, logs)


def cell_shares(widths: FloatArray, logs: FloatArray) -> FloatArray:
    """Return the mass of every cell, as a share of its mesh's."""
    masses = log_cell_masses(widths, logs)
    masses = np.exp(masses - masses.max(axis=1, keepdims=True))
    shares: FloatArray = masses / masses.sum(axis=1, keepdims=True)
    return shares


def bulge(widths: FloatArray, logs: FloatArray) -> FloatArray:
    """Return by how much a cell's log mass exceeds that of linear pieces, by the change of slope at its nodes."""
    if logs.shape[1] < 3:
        return np.zeros_like(logs[:, 1:])
    rise, wide = np.diff(logs), np.maximum(widths, 1e-300)
    slopes = rise / wide
    bends = (slopes[:, :-1] - slopes[:, 1:]) / (0.5 * (wide[:, :-1] + wide[:, 1:]))
    bends = np.concatenate([bends[:, :1], bends, bends[:, -1:]], axis=1)
    bulges: FloatArray = 0.25 * (bends[:, 1:] + bends[:, :-1]) * wide**2 / (6 + np.abs(rise))
    return np.clip(bulges, -0.3, 0.3)


def log_sum(logs: FloatArray, axis: int = -1) -> FloatArray:
    """Return ``log Σ exp`` along an axis."""
    top = logs.max(axis=axis, keepdims=True)
    total: FloatArray = np.log(np.exp(logs - top).sum(axis=axis)) + top.squeeze(axis)
    return total


def sharpness(logs: FloatArray) -> FloatArray:
    """Return how far the neighbours of a maximum lie below it, for the least resolved one that may matter."""
    rise, edge = np.diff(logs), np.zeros((len(logs), 1))
    above_left, above_right = np.concatenate([edge, rise], axis=1), np.concatenate([-rise, edge], axis=1)
    drops, least = np.maximum(above_left, above_right), np.minimum(above_left, above_right)
    top = logs.max(axis=1, keepdims=True)
    may_matter = (least >= 0) & ((logs == top) | (logs + least > top - IN_REACH))
    worst: FloatArray = np.where(may_matter, drops, 0.0).max(axis=1)
    return worst


def remesh(nodes: FloatArray, logs: FloatArray, size: int) -> FloatArray:
    """Place `size` nodes where the density calls for them; widely around a maximum that is not yet resolved."""
    temper = np.minimum(TEMPER, 2 / np.maximum(sharpness(logs), 1e-9))[:, None]
    masses = log_cell_masses(np.diff(nodes), temper * logs)
    masses = np.exp(masses - masses.max(axis=1, keepdims=True))
    falls = np.abs(np.diff(np.maximum(temper * (logs - logs.max(axis=1, keepdims=True)), -TAIL)))
    falls /= np.maximum(falls.sum(axis=1, keepdims=True), 1e-300)
    masses = masses / masses.sum(axis=1, keepdims=True) + IN_TAILS * falls + 1e-12
    sums = np.concatenate([np.zeros((len(nodes), 1)), np.cumsum(masses, axis=1)], axis=1)
    sums /= sums[:, -1:]
    wanted = np.linspace(0, 1, size)[None, :]
    cell, row = find(sums, np.broadcast_to(wanted, (len(nodes), size))), np.arange(len(nodes))[:, None]
    inside = np.clip((wanted - sums[row, cell]) / (sums[row, cell + 1] - sums[row, cell]), 0, 1)
    slope = (temper * np.diff(logs))[row, cell]
    placed = nodes[row, cell] + draw_exp_linear(slope, np.where(slope > 0, 1 - inside, inside)) * (
        nodes[row, cell + 1] - nodes[row, cell]
    )
    placed[:, 0], placed[:, -1] = nodes[:, 0], nodes[:, -1]
    return np.sort(placed, axis=1)


def find(sums: FloatArray, wanted: FloatArray) -> IntArray:
    """Return the cell of each mesh in which each wanted sum lies; `sums` rise from 0 to 1 along the second axis."""
    rows, size = sums.shape
    first = 2.0 * np.arange(rows)[:, None]
    found = np.searchsorted((sums + first).ravel(), (wanted + first).ravel(), side="right").reshape(wanted.shape)
    cells: IntArray = np.clip(found - 1 - size * np.arange(rows)[:, None], 0, size - 2)
    return cells
