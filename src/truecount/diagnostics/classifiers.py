"""Whether several classifiers err independently of each other, given the true class."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from truecount._advice import Action, Advice
from truecount._types import FloatArray, IntArray, Name
from truecount.counts import Counts
from truecount.diagnostics.significance import CAUTION, SERIOUS
from truecount.results.finding import Finding

REPLICATES = 199
LABEL_SHIFT = Action("model=LabelShift()", "the command without --independent-classifiers", page="the plain model")


@dataclass(frozen=True, slots=True)
class IndependenceTest:
    """A test that outputs are independent of each other, given the true class.

    Parameters
    ----------
    deviance
        ``2 Σ n log(n / expected)`` of labelled items, class by class, against the products of the classifiers' shares.
    p_value, replicates
        By simulation from these products.
    correlation
        Of two classifiers being right about one item, given its class, the largest of all pairs; NaN where outputs are
        not the classes.
    pair
        Which pair that is.
    """

    deviance: float
    p_value: float
    replicates: int
    correlation: float
    pair: tuple[str, str] | None


def independence_test(counts: Counts, *, replicates: int = REPLICATES, seed: int = 0) -> IndependenceTest | None:
    """Test on the labelled items whether classifiers err independently; None where there is nothing to test."""
    found = counts.combinations
    if found is None or not counts.labeled.sum():
        return None
    rng = np.random.default_rng(seed)
    labeled = np.rint(counts.effective.labeled).astype(np.int64)
    columns = range(len(found.columns))
    values = np.column_stack([[found.values_of(at).index(each[at]) for each in found.parts] for at in columns])
    observed, simulated = 0.0, np.zeros(replicates)
    for row in labeled:
        items = np.repeat(values, row, axis=0)
        if len(items):
            observed += _deviance(items[None])[0]
            shuffled = np.stack(
                [rng.permuted(np.broadcast_to(column, (replicates, len(items))), axis=1) for column in items.T]
            )
            simulated += _deviance(shuffled.transpose(1, 2, 0))
    p_value = float((1 + (simulated >= observed - 1e-9).sum()) / (replicates + 1))
    correlation, pair = _largest_correlation(counts, labeled)
    return IndependenceTest(observed, p_value, replicates, correlation, pair)


def _deviance(items: IntArray) -> FloatArray:
    """Shape (sets,): deviance of combinations from the products of shares; items have shape (sets, items, columns)."""
    sizes = items.max(axis=(0, 1)) + 1
    number, total = items.shape[1], np.zeros(len(items))
    for column, size in enumerate(sizes):
        shares = np.stack([np.bincount(each, minlength=size) for each in items[:, :, column]])
        total -= _entropy_terms(shares)
    codes = np.zeros(items.shape[:2], np.int64)
    for column, size in enumerate(sizes):
        codes = codes * size + items[:, :, column]
    cells = np.stack([np.bincount(each, minlength=int(np.prod(sizes))) for each in codes])
    together = _entropy_terms(cells) + (len(sizes) - 1) * number * np.log(number)
    return np.asarray(2 * (together + total))


def _entropy_terms(cells: IntArray) -> FloatArray:
    numbers = cells.astype(np.float64)
    return np.asarray((numbers * np.log(np.maximum(numbers, 1))).sum(axis=1))


def _largest_correlation(counts: Counts, labeled: IntArray) -> tuple[float, tuple[str, str] | None]:
    """Return the largest correlation, given the class, of two classifiers being right."""
    found = counts.combinations
    if found is None or not set(counts.classes) <= set(found.values):
        return float("nan"), None
    best: tuple[float, tuple[str, str] | None] = (-2.0, None)
    for one, two in combinations(range(len(found.columns)), 2):
        sums = np.zeros(3)
        for name, row in zip(counts.classes, labeled, strict=True):
            sums += _covariances(name, row, [(each[one], each[two]) for each in found.parts])
        if sums[1] > 0 and sums[2] > 0:
            best = max(best, (float(sums[0] / np.sqrt(sums[1] * sums[2])), (found.columns[one], found.columns[two])))
    return best if best[1] is not None else (float("nan"), None)


def _covariances(name: Name, row: IntArray, pairs: list[tuple[Name | None, Name | None]]) -> FloatArray:
    """Return covariance and both variances of being right, times the items of one class."""
    number = row.sum()
    if not number:
        return np.zeros(3)
    first, second = (np.array([pair[side] == name for pair in pairs], np.float64) for side in (0, 1))
    means = row @ first / number, row @ second / number
    return np.array(
        [
            row @ (first * second) - number * means[0] * means[1],
            number * means[0] * (1 - means[0]),
            number * means[1] * (1 - means[1]),
        ]
    )


def dependence_finding(test: IndependenceTest | None, *, is_assumed: bool) -> Finding | None:
    """Say that classifiers err on the same items: of an answer that assumes otherwise it is serious."""
    if test is None or test.p_value > (SERIOUS if is_assumed else CAUTION):
        return None
    whose = (
        ""
        if test.pair is None
        else f" (most of all {test.pair[0]} and {test.pair[1]}, correlation {test.correlation:.2f})"
    )
    meaning = (
        "The answer takes them for independent, so its interval is too narrow."
        if is_assumed
        else "The answer takes that into account; one that assumed independence would be overconfident."
    )
    advice: str = Advice("Use {}, which learns how they err together.", LABEL_SHIFT) if is_assumed else ""
    return Finding(
        "classifiers-dependent",
        "serious" if is_assumed else "info",
        f"Given the true class, the classifiers err on the same items more often than by chance{whose}. {meaning}",
        {"deviance": test.deviance, "p_value": test.p_value, "correlation": test.correlation, "pair": test.pair},
        advice,
    )
