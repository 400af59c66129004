"""The bootstrap: how an estimate would vary if both data sets were drawn again."""

from dataclasses import dataclass

import numpy as np

from truecount import _check
from truecount._types import FloatArray, IntArray
from truecount.counts.table import Counts
from truecount.estimators.rates import FromRates, Rates, averages, class_order, counts_or_scores, harden
from truecount.estimators.register import Method, find_method
from truecount.scores.scores import Scores

BLOCK_CELLS = 1_000_000
"""Cells of resampled tables in memory at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
    """Estimates from data drawn again.

    Parameters
    ----------
    prevalence
        Shape (resamples, classes).
    """

    prevalence: FloatArray

    def interval(self, level: float = 0.95) -> FloatArray:
        """Shape (classes, 2): the percentile interval of each class, taken alone."""
        tail = (1 - _check.level(level)) / 2
        return np.quantile(self.prevalence, [tail, 1 - tail], axis=0).T


def bootstrap(data: Counts | Scores, method: Method | str, *, resamples: int = 1000, seed: int = 0) -> Resampled:
    """Estimate again from data drawn with replacement, of both sets.

    Parameters
    ----------
    data
        Counts or scores, as the method needs.
    method
        The estimator, or its name in lower case.
    resamples
        How many times to draw, 1 or more.
    seed
        Same seed, same data, same version: same resamples.

    Notes
    -----
    Labelled items are drawn within their class, so each class keeps as many as it has; a class without labelled items
    stays without, and methods that need some refuse the data before anything is drawn. Counts are drawn as counts,
    and no row is touched; weighted counts at their effective size, rounded. Scores are drawn row by row, and a method
    that works on counts is given the counts of their most probable classes.

    Not for small samples: with few labels the interval is too narrow (a class of 3 labels, all right, never errs in
    a resample), and a restricted estimate at the edge of the simplex stays there. `infer` answers both.

    Examples
    --------
    >>> counts = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
    >>> bootstrap(counts, "acc", seed=1).interval().round(2)
    array([[0.74, 0.94],
           [0.06, 0.26]])
    """
    _check.whole_number("resamples", resamples, least=1)
    rng = np.random.default_rng(_check.whole_number("seed", seed, least=0))
    chosen = find_method(method)
    chosen.prevalence(counts_or_scores(data))
    if isinstance(data, Scores) and chosen.needs == "scores":
        return Resampled(np.array([chosen.prevalence(_drawn_again(data, rng)) for _ in range(resamples)]))
    return Resampled(_from_counts(harden(data), chosen, resamples, rng))


def _from_counts(counts: Counts, method: Method, resamples: int, rng: np.random.Generator) -> FloatArray:
    block = max(1, BLOCK_CELLS // counts.labeled.size)
    sizes = [min(block, resamples - start) for start in range(0, resamples, block)]
    return np.concatenate([_block(counts, method, size, rng) for size in sizes])


def _block(counts: Counts, method: Method, resamples: int, rng: np.random.Generator) -> FloatArray:
    labeled, unlabeled = counts.effective
    rows, others = _multinomial(labeled, resamples, rng), _multinomial(unlabeled[None], resamples, rng)[:, 0]
    if isinstance(method, FromRates):
        order, items = class_order(counts), rows[0].sum(axis=-1)
        return method.solve(Rates(averages(rows[..., order], items), others[:, order] / others[0].sum(), items))
    again = (Counts(*pair, counts.classes, counts.outputs) for pair in zip(rows, others, strict=True))
    return np.array([method.prevalence(each) for each in again])


def _multinomial(rows: FloatArray, resamples: int, rng: np.random.Generator) -> IntArray:
    """Draw each row of counts again; shape (resamples, rows, outputs)."""
    totals = np.rint(rows.sum(axis=1)).astype(np.int64)
    shares = np.where(totals[:, None] > 0, averages(rows, rows.sum(axis=1)), 1 / rows.shape[1])
    return rng.multinomial(totals, shares, size=(resamples, len(rows)))


def _drawn_again(scores: Scores, rng: np.random.Generator) -> Scores:
    """Draw labelled rows within each class, and unlabelled rows."""
    by_class = [np.flatnonzero(scores.labels == position) for position in range(len(scores.classes))]
    labeled = np.concatenate([rng.choice(rows, len(rows)) for rows in by_class if len(rows)])
    return scores.take(labeled, rng.integers(len(scores.unlabeled), size=len(scores.unlabeled)))
