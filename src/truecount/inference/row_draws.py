"""Rows drawn anew given the class of every item, where rows are sparse.

A cell of a prior far below 1 is mostly empty, and occasionally is not: of such cells trajectories mix slowly. Given
prevalences and rows, the class of each item is imputed; given these classes and the prior's concentrations, rows are
Dirichlet distributed, and all of them are drawn at once, prevalences as they are.
"""

import numpy as np

from truecount._types import FloatArray
from truecount.models.hierarchy import GroupDensity

HIGHEST_AT_ZERO = 1.0
"""Concentration, labels included, below which the density of a cell is highest at zero; most cells of sparse rows."""


def can_draw_rows(density: GroupDensity) -> bool:
    """Whether all groups have the same rows, some cells or most of them are sparse, and items are whole."""
    rows, items = density.rows, density.unlabeled
    is_sparse = rows.is_sparse.any() or (rows.size and np.median(rows.shapes[rows.free]) < HIGHEST_AT_ZERO)
    return bool(density.labeled is None and is_sparse and (items % 1 == 0).all())


def redraw_rows(
    density: GroupDensity, hyper: FloatArray, prevalence: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return hyperparameters (chain, hyper) with other rows, given prevalences (chain, class, group)."""
    rows, size = density.rows, density.rows.size
    common, logs, _, _ = rows.natural(hyper[:, :size])
    joint = prevalence.transpose(0, 2, 1)[:, :, None] * common.transpose(0, 2, 1)[:, None]
    joint /= joint.sum(axis=3, keepdims=True)
    items = rng.multinomial(density.unlabeled.T.astype(np.int64), joint).sum(axis=1).transpose(0, 2, 1)
    shapes = rows.shapes + rows.drawn_surplus(logs, rng) + items
    return np.concatenate([rows.with_other_shares(logs, shapes, rng), hyper[:, size:]], axis=1)
