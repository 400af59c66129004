"""Partitions that are shaped by scores: `Clusters`, and `Tree`, which looks at labels too.

Clusters are found by scipy, which is there anyway; a tree needs scikit-learn.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from truecount import _check
from truecount._optional import load
from truecount._types import FloatArray
from truecount.errors import InputError
from truecount.reading.arrays import encode
from truecount.scores.cells import CenterCells, LeafCells, LineCells, Response, log_ratios, table
from truecount.scores.partition import given

_MOST_POINTS = 10_000
"""Items that clusters are looked for among; more would move the centers little."""


@dataclass(frozen=True, slots=True)
class Clusters:
    """Clusters of scores: `k` means in log-ratio coordinates.

    Parameters
    ----------
    k
        How many, two or more; fewer come out where fewer different scores went in.
    smallest
        Added to each probability before its logarithm is taken: differences between smaller ones do not count.
    restarts
        How many times to start again; the tightest clusters are kept.
    seed
        Of where to begin.

    Notes
    -----
    Distances are Aitchison's, in which a score of 0.001 is as far from 0.01 as 0.01 is from 0.1. Of more than 10,000
    items that many are drawn.

    Examples
    --------
    >>> scores = [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8]]
    >>> cells = Clusters(2).fit(scores)
    >>> cells.assign(scores) == cells.assign([[0.7, 0.3], [0.7, 0.3], [0.3, 0.7], [0.3, 0.7]])
    array([ True,  True,  True,  True])
    """

    k: int
    smallest: float = field(default=1e-3, kw_only=True)
    restarts: int = field(default=10, kw_only=True)
    seed: int = field(default=0, kw_only=True)
    takes: ClassVar[Response] = "probabilities"
    needs_labels: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check.whole_number("k", self.k, least=2)
        _check.whole_number("restarts", self.restarts, least=1)
        _check.whole_number("seed", self.seed, least=0)
        if not 0 < self.smallest < 1:
            raise InputError("smallest", f"is {self.smallest!r}", "it must lie above 0 and below 1", "Pass 0.001")

    def fit(self, scores: Any, labels: Any = None) -> CenterCells:
        """Find the centers, sorted by their coordinates, so that cells do not depend on where the search began."""
        from scipy.cluster.vq import kmeans

        rng, points = np.random.default_rng(self.seed), log_ratios(table(given(scores)), self.smallest)
        if len(points) > _MOST_POINTS:
            points = points[rng.choice(len(points), _MOST_POINTS, replace=False)]
        found = (kmeans(points, _spread(points, self.k, rng)) for _ in range(self.restarts))
        centers, _ = min(found, key=lambda each: float(each[1]))
        return CenterCells(tuple(sorted(tuple(row) for row in centers.tolist())), self.smallest)


@dataclass(frozen=True, slots=True)
class Tree:
    """The leaves of a decision tree of at most `k` leaves, grown on the scores (extra ``sklearn``).

    Parameters
    ----------
    k
        Most leaves, two or more.
    least
        Items that a leaf must hold.

    Notes
    -----
    Classes weigh alike in growing it, whatever their shares: the shares are what will change. It sees labels, and
    leaves look purer on the items that it was grown on, so those must not be counted afterwards.

    Examples
    --------
    >>> scores, labels = [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8]], ["no", "no", "yes", "yes"]
    >>> Tree(2, least=1).fit(scores, labels).assign(scores)
    array([0, 0, 1, 1])
    """

    k: int
    least: int = field(default=5, kw_only=True)
    takes: ClassVar[Response] = "probabilities"
    needs_labels: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check.whole_number("k", self.k, least=2)
        _check.whole_number("least", self.least, least=1)

    def fit(self, scores: Any, labels: Any = None) -> LeafCells | LineCells:
        """Grow the tree; every leaf is a cell. Of two classes the leaves are intervals of the second one's score."""
        if labels is None:
            raise InputError("labels", "are missing", "a tree is grown on labels", "Pass labels, or choose Bins(k)")
        rows, column = table(given(scores)), encode("labels", labels)
        codes = column.positions(column.names)
        if len(rows) != len(codes):
            found = f"has {len(codes)} rows but scores has {len(rows)}"
            raise InputError("labels", found, "each item needs both", "Pass labels and scores of the same items")
        tree = load("sklearn.tree", feature="Tree", extra="sklearn")
        grown = tree.DecisionTreeClassifier(
            max_leaf_nodes=self.k, min_samples_leaf=self.least, class_weight="balanced", random_state=0
        )
        if rows.shape[1] == 2:
            nodes = grown.fit(rows[:, 1:], codes).tree_
            return LineCells(tuple(np.unique(nodes.threshold[nodes.feature >= 0]).tolist()), "probabilities")
        return _leaves(grown.fit(rows, codes).tree_, rows.shape[1])


def _leaves(tree: Any, n_classes: int) -> LeafCells:
    """Read the nodes off scikit-learn's tree, and number its leaves."""
    is_leaf = tree.children_left < 0
    return LeafCells(
        column=tuple(np.where(is_leaf, -1, tree.feature).tolist()),
        threshold=tuple(np.where(is_leaf, 0.0, tree.threshold).tolist()),
        left=tuple(np.where(is_leaf, is_leaf.cumsum() - 1, tree.children_left).tolist()),
        right=tuple(tree.children_right.tolist()),
        n_classes=n_classes,
    )


def _spread(points: FloatArray, k: int, rng: np.random.Generator) -> FloatArray:
    """Choose points to begin from, each with a chance that grows with the square of its distance from those chosen."""
    chosen = [points[rng.integers(len(points))]]
    for _ in range(1, k):
        distances = np.min([((points - center) ** 2).sum(axis=1) for center in chosen], axis=0)
        if not distances.any():
            break
        chosen.append(points[rng.choice(len(points), p=distances / distances.sum())])
    return np.array(chosen)
