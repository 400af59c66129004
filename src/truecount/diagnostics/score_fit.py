"""Whether a calibration map fits the labelled scores, and what an answer from scores should tell."""

import numpy as np

from truecount._types import FloatArray, IntArray, Name
from truecount._wording import listed_classes
from truecount.counts import Counts
from truecount.diagnostics.findings import no_unlabeled
from truecount.diagnostics.identify import edge_not_excluded, kept_uncertainty, prior_dominated
from truecount.inference.draws import Draws
from truecount.models import LabelShift
from truecount.models.score_map import FittedMap, information
from truecount.results.finding import Finding, gravest_first

LEAST_LABELS = 5
"""Labels of every class below which no map is fitted."""
LEVEL = 0.001
"""A map that fits is left for cells once in so many data sets."""
LABELS_A_RANGE, MOST_RANGES = 10, 5
"""Expected labels of a class in each range of its scores that is looked at, and how many ranges there are at most."""
ALMOST_ZERO = 1e-9


def too_few_labels(labels: IntArray, classes: tuple[Name, ...]) -> Finding | None:
    """Say that some class has too few labels for a map."""
    items = np.bincount(labels, minlength=len(classes))
    few = [name for name, number in zip(classes, items, strict=True) if number < LEAST_LABELS]
    if not few:
        return None
    return Finding(
        "scores-in-cells",
        "info",
        f"The scores were sorted into cells, because {listed_classes(few)} has fewer than {LEAST_LABELS} labels: too "
        "few to learn how scores of that class are distributed.",
        {"classes": few, "labels": [int(items[classes.index(name)]) for name in few]},
        "Label more items of every class.",
    )


def map_misfit(fitted: FittedMap, scores: FloatArray, labels: IntArray) -> Finding | None:
    """Say that the map does not fit the labelled items."""
    statistic, freedom, p_value = fit_test(fitted, scores, labels)
    if p_value >= LEVEL:
        return None
    return Finding(
        "scores-in-cells",
        "caution",
        "The scores were sorted into cells, because no smooth calibration of them fits the labelled items "
        f"(p = {p_value:.2g}): a class is more frequent at some scores, and less at others, than the scores can say.",
        {"statistic": statistic, "freedom": freedom, "p_value": p_value},
        "The answer stands, from counts by cell. Look at how the scores were made; probabilities make it sharper.",
    )


def fit_test(fitted: FittedMap, scores: FloatArray, labels: IntArray) -> tuple[float, int, float]:
    """Test a map against one that may be off by a constant in each range of each class's probability.

    A score test: the differences between labels and expectation, range by range, in terms of their covariance given
    that the map was fitted to the same labels (Hosmer & Lemeshow's idea, with Rao's statistic).

    Returns
    -------
    The statistic, its degrees of freedom and its p-value.
    """
    from scipy.special import chdtrc

    predicted, moved = fitted.probabilities(scores), fitted.map.moved
    extra = _ranges(predicted[:, moved])
    if not extra.shape[2]:
        return 0.0, 0, 1.0
    gap = ((np.eye(predicted.shape[1])[labels] - predicted).T[moved, None] @ extra).ravel()
    features = np.concatenate([fitted.map.own_features(scores), extra], axis=2)
    both = information(features, predicted.T[moved], _with_own(fitted.map.mixing, extra.shape[2]))
    known = fitted.map.mixing.shape[2]
    across = both[:known, known:]
    covariance = both[known:, known:] - across.T @ np.linalg.solve(fitted.precision, across)
    values, vectors = np.linalg.eigh(covariance)
    kept = values > ALMOST_ZERO * max(float(values.max()), 1.0)
    statistic, freedom = float(((vectors.T @ gap)[kept] ** 2 / values[kept]).sum()), int(kept.sum())
    return statistic, freedom, float(chdtrc(freedom, statistic)) if freedom else 1.0


def _with_own(mixing: FloatArray, number: int) -> FloatArray:
    """Shape (classes, own features, parameters): with so many more features of each class, and parameters for them."""
    classes, own, parameters = mixing.shape
    found = np.zeros((classes, own + number, parameters + classes * number))
    found[:, :own, :parameters] = mixing
    found[:, own:, parameters:] = np.eye(classes * number).reshape(classes, number, -1)
    return found


def _ranges(predicted: FloatArray) -> FloatArray:
    """Shape (classes, items, ranges): in which range of its probability each class has each item.

    Ranges of one class tell about as much each, and equal probabilities are in the same one. There are none where a
    class has few items, and the first is left out, because constants are part of the map. Columns of classes that have
    fewer ranges than others are zero.
    """
    items, classes = predicted.shape
    found = np.zeros((classes, items, MOST_RANGES - 1))
    for place in range(classes):
        own = predicted[:, place]
        rare = min(own.sum(), items - own.sum())
        number = int(np.clip(rare // LABELS_A_RANGE, 1, MOST_RANGES))
        order = np.argsort(own, kind="stable")
        weight = (own * (1 - own) + ALMOST_ZERO)[order]
        reached = np.searchsorted(np.cumsum(weight), weight.sum() * np.arange(1, number) / number)
        edges = np.unique(own[order][reached])
        of_item = np.searchsorted(edges[edges > own.min()], own, side="right")
        found[place] = of_item[:, None] == np.arange(1, MOST_RANGES)
    return found[..., : int(found.any(axis=(0, 1)).sum())]


def of_scores(counts: Counts, model: LabelShift, draws: Draws) -> tuple[Finding, ...]:
    """Return what is cheap to find out about draws from scores, the gravest first."""
    if not counts.unlabeled.sum():
        return gravest_first([no_unlabeled(counts)])
    density = model.density(counts)
    kept = kept_uncertainty(density, draws)
    return gravest_first([prior_dominated(counts, density, kept, said=set()), edge_not_excluded(counts, draws, kept)])
