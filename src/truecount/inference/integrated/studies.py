"""Studies whose rows vary around a common one: what their labels say of it, each study's own row integrated over.

Row l of a study has the log-ratios ``r_l + spread_l · ε``, ``ε ~ N(0, 1)``. Its labels are multinomial, so that the
integrand has one mode in ε, and Gauss–Hermite quadrature around it is nearly exact.

Arrays are (log-ratio or output, point, study): sums over a short first axis are the fast ones.
"""

from itertools import product

import numpy as np

from truecount._log_sum import log_sum
from truecount._types import FloatArray

MOST_OUTPUTS = 3
"""The integral over a study's row has one dimension less."""
NODES = {1: 20, 2: 12}
"""In each dimension, by how many there are."""
STEPS, LONGEST = 7, 1.5
"""Newton steps to the mode, and how far a log-ratio moves in one of them."""
AT_ONCE = 400_000
"""Numbers in one array."""


def study_evidence(labels: FloatArray, ratios: FloatArray, spread: FloatArray, basis: FloatArray) -> FloatArray:
    """Return the log-probability of all studies' labels of one class, up to a constant, shape (point,).

    Parameters
    ----------
    labels
        Shape (studies, outputs).
    ratios, spread
        Shapes (points, log-ratios) and (points,): of the common row, and how much studies vary around it.
    basis
        The map from log-ratios to logarithms of a row.
    """
    if not len(labels):
        return np.zeros(len(ratios))
    size = max(1, AT_ONCE // labels.size)
    parts = [slice(at, at + size) for at in range(0, len(ratios), size)]
    by_output = labels.T[:, None]
    return np.concatenate([_evidence(by_output, ratios[at].T[..., None], spread[at, None], basis) for at in parts])


def _evidence(labels: FloatArray, ratios: FloatArray, spread: FloatArray, basis: FloatArray) -> FloatArray:
    latent, curvature = _mode(labels, ratios, spread, basis)
    root = _inverse_root(curvature)
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES[len(root)])
    heights = []
    for chosen in map(list, product(range(len(nodes)), repeat=len(root))):
        node = nodes[chosen]
        at = latent + np.tensordot(node, root, axes=([0], [1]))
        height = (labels * _log_rows(ratios, spread, basis, at)).sum(axis=0) - 0.5 * (at * at).sum(axis=0)
        heights.append(height + 0.5 * node @ node + np.log(weights[chosen] / np.sqrt(2 * np.pi)).sum())
    total = log_sum(np.asarray(heights), axis=0)[0] + sum(np.log(root[each, each]) for each in range(len(root)))
    evidence: FloatArray = total.sum(axis=1)
    return evidence


def _log_rows(ratios: FloatArray, spread: FloatArray, basis: FloatArray, latent: FloatArray) -> FloatArray:
    """Return logarithms of the studies' rows."""
    logs = np.tensordot(basis, ratios + spread * latent, axes=1)
    logs -= logs.max(axis=0)
    logs -= np.log(np.exp(logs).sum(axis=0))
    return logs


def _mode(
    labels: FloatArray, ratios: FloatArray, spread: FloatArray, basis: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the latents at the mode, and the curvature there (log-ratio, log-ratio, point, study)."""
    items, size = labels.sum(axis=0), basis.shape[1]
    seen = np.tensordot(np.linalg.pinv(basis), np.log(labels + 0.5), axes=1)
    precision = spread**2 * (items + 1) / 8
    latent = (seen - ratios) / spread * precision / (1 + precision)
    for number in range(STEPS + 1):
        rows = np.exp(_log_rows(ratios, spread, basis, latent))
        mean = np.tensordot(basis.T, rows, axes=1)
        second = np.tensordot(basis.T[:, None] * basis.T, rows, axes=1)
        curvature = spread**2 * items * (second - mean[:, None] * mean) + np.eye(size)[..., None, None]
        if number == STEPS:
            break
        gradient = spread * np.tensordot(basis.T, labels - items * rows, axes=1) - latent
        root = _inverse_root(curvature)
        step = (root * (root * gradient[:, None]).sum(axis=0)).sum(axis=1)
        latent = latent + np.clip(step, -LONGEST / spread, LONGEST / spread)
    return latent, curvature


def _inverse_root(matrix: FloatArray) -> FloatArray:
    """Return R, upper triangular, with ``R Rᵀ`` the inverse of a matrix of one or two rows."""
    root = np.zeros(matrix.shape)
    root[0, 0] = matrix[0, 0] ** -0.5
    if len(matrix) == 2:
        below = matrix[1, 0] * root[0, 0]
        root[1, 1] = (matrix[1, 1] - below**2) ** -0.5
        root[0, 1] = -below * root[0, 0] * root[1, 1]
    return root
