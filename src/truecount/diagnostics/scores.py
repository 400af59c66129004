"""Label shift on scores: more outputs than classes, where there is something to test, and a test on the scores."""

import numpy as np

from truecount import _check
from truecount._simplex import project_to_simplex
from truecount._types import FloatArray, IntArray
from truecount._wording import percent
from truecount.counts import Counts
from truecount.diagnostics.significance import severity_of
from truecount.results.finding import Finding
from truecount.scores import Scores

LABELS_A_CELL = 5
MOST_LEVELS = 4
GRID = 20
"""Thresholds at which distributions of scores are compared, for each class."""


def by_confidence(scores: Scores) -> Counts:
    """Count each item for its most probable class and for how confident the classifier was of it.

    Levels of confidence hold as many items each, of both sides together, and there are two to four of them: as many as
    leave five labels to a cell.
    """
    n_classes = len(scores.classes)
    levels = int(np.clip(len(scores.labels) / (LABELS_A_CELL * n_classes**2), 2, MOST_LEVELS))
    pooled = np.concatenate([scores.labeled, scores.unlabeled])
    cells = np.zeros(len(pooled), np.int64)
    best, confidence = pooled.argmax(axis=1), pooled.max(axis=1)
    for place in range(n_classes):
        own = best == place
        if own.any():
            edges = np.quantile(confidence[own], np.arange(1, levels) / levels)
            cells[own] = place * levels + np.searchsorted(edges, confidence[own], side="left")
    known, new = cells[: len(scores.labels)], cells[len(scores.labels) :]
    size = n_classes * levels
    labeled = np.bincount(scores.labels * size + known, minlength=n_classes * size).reshape(n_classes, size)
    names = [f"{name}, confidence {level + 1} of {levels}" for name in scores.classes for level in range(levels)]
    return Counts(labeled, np.bincount(new, minlength=size), scores.classes, names)


def scores_test(scores: Scores, *, replicates: int = 199, seed: int = 0) -> tuple[float, float]:
    """Test label shift by the largest distance between distribution functions, after the best mix.

    The scores of each class are compared at a grid of thresholds: their distribution among the unlabelled items with
    the mix of the labelled classes' distributions that comes closest. How often the distance is as large under label
    shift is found by drawing both samples anew from the labelled items, mixed so. After Vaz, Izbicki & Stern (JMLR
    2019).

    Returns
    -------
    The distance and its p-value.
    """
    rng = np.random.default_rng(_check.whole_number("seed", seed, least=0))
    pooled = np.concatenate([scores.labeled, scores.unlabeled])
    edges = np.quantile(pooled, np.arange(1, GRID) / GRID, axis=0)
    bins = np.stack([np.searchsorted(edges[:, c], pooled[:, c], side="right") for c in range(pooled.shape[1])], axis=1)
    known, new = bins[: len(scores.labels)], bins[len(scores.labels) :]
    members = [known[scores.labels == row] for row in range(len(scores.classes))]
    if any(len(each) == 0 for each in members) or not len(new):
        return 0.0, 1.0
    rows, target = np.stack([_histogram(each) for each in members]), _histogram(new)
    shares, distance = _distance(rows, target)
    drawn = [_redrawn(members, shares, len(new), rng) for _ in range(replicates)]
    as_large = sum(_distance(*each)[1] >= distance for each in drawn)
    return distance, (1 + as_large) / (1 + replicates)


def scores_findings(distance: float, p_value: float) -> tuple[Finding, ...]:
    """Say that scores are no mix of the classes' scores."""
    if (severity := severity_of(p_value)) is None:
        return ()
    return (
        Finding(
            "label-shift-violated",
            severity,
            f"No mix of the classes explains the scores of the unlabelled items (p = {p_value:.2g}): "
            f"{percent(distance)} of them lie elsewhere on the scale than in the nearest mix of what was labelled.",
            {"distance": distance, "p_value": p_value},
            "The classifier seems to score some class differently here. Label some items of the population itself, "
            "and check that both sides were scored by the same version of it.",
        ),
    )


def _histogram(bins: IntArray) -> FloatArray:
    """Shape (classes, bins): how many items have each class's score in each bin."""
    return np.stack([np.bincount(column, minlength=GRID) for column in bins.T]).astype(np.float64)


def _distance(rows: FloatArray, target: FloatArray) -> tuple[FloatArray, float]:
    """Return the best mix, by least squares, and the largest distance between distribution functions that it leaves."""
    of_class = np.cumsum(rows / rows.sum(axis=2, keepdims=True), axis=2)
    seen = np.cumsum(target / target.sum(axis=1, keepdims=True), axis=1)
    shares = project_to_simplex(seen.ravel() @ np.linalg.pinv(of_class.reshape(len(rows), -1)))
    gap = np.tensordot(shares, of_class, axes=1) - seen
    return shares, float(np.abs(gap).max())


def _redrawn(
    members: list[IntArray], shares: FloatArray, size: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    rows = np.stack([_histogram(each[rng.integers(len(each), size=len(each))]) for each in members])
    items = rng.multinomial(size, shares / shares.sum())
    drawn = [each[rng.integers(len(each), size=count)] for each, count in zip(members, items, strict=True)]
    return rows, _histogram(np.concatenate(drawn))
