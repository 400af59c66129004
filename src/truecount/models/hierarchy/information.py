"""What items and labels of units tell of log-ratios: their expected information."""

import numpy as np

from truecount._log_sum import SMALLEST
from truecount._types import BoolArray, FloatArray

MANY_RATIOS = 12
"""Log-ratios beyond which a product of matrices for each unit is faster than a loop over pairs of them."""


def information_of_items(shares: FloatArray, common: FloatArray, items: FloatArray, basis: FloatArray) -> FloatArray:
    """Return what items say of log-ratios of prevalences under common rows, shape (chain, log-ratio, log-ratio, unit).

    Parameters
    ----------
    shares, common
        Shapes (chain, class, unit) and (chain, class, output).
    items
        Shape (units,): how many there are.
    basis
        The map from log-ratios to logarithms of shares.
    """
    confusion, n_ratios = common.transpose(0, 2, 1), basis.shape[1]
    mean = np.matmul(basis.T, shares)
    weight = items / np.maximum(np.matmul(confusion, shares), SMALLEST)
    slopes = [np.matmul(confusion, shares * (column[:, None] - mean[:, None, at])) for at, column in enumerate(basis.T)]
    if n_ratios > MANY_RATIOS:
        each = np.stack(slopes, axis=1).transpose(0, 3, 1, 2)
        weighted = each * weight.transpose(0, 2, 1)[:, :, None]
        return np.asarray(np.matmul(weighted, each.swapaxes(2, 3)).transpose(0, 2, 3, 1))
    information = np.empty((len(shares), n_ratios, n_ratios, shares.shape[2]))
    for first in range(n_ratios):
        for second in range(first + 1):
            cell = (weight * slopes[first] * slopes[second]).sum(axis=1)
            information[:, first, second] = information[:, second, first] = cell
    return information


def information_of_units(
    shares: FloatArray,
    rows: FloatArray,
    *,
    items: FloatArray,
    labels: FloatArray,
    free: BoolArray,
    basis: FloatArray,
    row_basis: FloatArray,
) -> FloatArray:
    """Return what items and labels say of log-ratios of prevalences and of rows that vary.

    Parameters
    ----------
    shares, rows
        Shapes (chain, class, unit) and (chain, class, output, unit).
    items, labels
        Shapes (units,) and (classes, units): how many there are.
    free
        Shape (classes,): which rows are learned.
    basis, row_basis
        Maps from log-ratios to logarithms of shares and of rows.
    """
    n_ratios, width = basis.shape[1], row_basis.shape[1]
    joint = shares[:, :, None] * rows
    mean = np.matmul(basis.T, shares)
    by_ratios = np.einsum("clku,lj->cjku", joint, basis) - mean[:, :, None] * joint.sum(axis=1)[:, None]
    own = rows[:, free]
    tilted = row_basis[None, None, :, :, None] - np.einsum("clku,km->clmu", own, row_basis)[:, :, None]
    by_rows = (joint[:, free][:, :, :, None] * tilted).transpose(0, 1, 3, 2, 4)
    slopes = np.concatenate([by_ratios, by_rows.reshape(len(shares), -1, *joint.shape[2:])], axis=1)
    weight = items / np.maximum(joint.sum(axis=1), SMALLEST)
    result: FloatArray = np.einsum("caku,cku,cbku->cabu", slopes, weight, slopes)
    of_labels = np.einsum("clkmu,clku,clknu->clmnu", tilted, own, tilted)
    of_labels *= labels[free][None, :, None, None]
    for row in range(of_labels.shape[1]):
        block = slice(n_ratios + row * width, n_ratios + (row + 1) * width)
        result[:, block, block] += of_labels[:, row]
    return result
