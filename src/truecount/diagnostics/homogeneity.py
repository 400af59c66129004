"""Do samples come from one distribution? Exact tests on counts, by drawing tables with the same margins."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truecount import _check
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import listed, percent
from truecount.counts import Counts
from truecount.diagnostics.shift import CAUTION, CHEAP_LEVEL, SERIOUS, chi_square_quantile
from truecount.results.finding import Finding

POWER = 0.8
MOST_ITEMS = 9e8
"""Of a class in all samples, where tables are drawn: NumPy takes less than a billion. More are taken for fewer."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HomogeneityTest:
    """Whether each class has the same outputs in several labelled samples.

    Parameters
    ----------
    deviance, p_value
        G² summed over classes, and how often it is as large in tables with the same margins: an exact test.
    by_class
        Shape (classes,): p-value of each class alone.
    replicates
        How many tables were drawn.
    visible
        Total variation that, in every row at once, would have been seen four times in five; None where none would.
    """

    deviance: float
    p_value: float
    by_class: FloatArray
    replicates: int
    visible: float | None


def homogeneity_test(tables: FloatArray, *, replicates: int = 1999, seed: int = 0) -> HomogeneityTest:
    """Test that P(output | class) is the same in several samples.

    Parameters
    ----------
    tables
        Shape (samples, classes, outputs): counts; what is not whole is rounded, and hundreds of millions of items of a
        class are taken for fewer.
    replicates, seed
        How many tables to draw, and from which seed.

    Examples
    --------
    >>> test = homogeneity_test(np.array([[[40, 10], [10, 40]], [[8, 2], [2, 8]]]))
    >>> test.p_value, bool(test.visible > 0.2)
    (1.0, True)
    """
    rng = np.random.default_rng(_check.whole_number("seed", seed, least=0))
    whole = np.rint(_fewer(tables)).astype(np.int64)
    seen = np.array([_deviance(whole[None, :, row])[0] for row in range(whole.shape[1])])
    drawn = np.array([_deviance(_redrawn(whole[:, row], replicates, rng)) for row in range(whole.shape[1])])
    return HomogeneityTest(
        deviance=float(seen.sum()),
        p_value=_share_as_large(drawn.sum(axis=0), float(seen.sum())),
        by_class=np.array([_share_as_large(each, own) for each, own in zip(drawn, seen, strict=True)]),
        replicates=replicates,
        visible=visible_drift(tables) if len(tables) == 2 else None,
    )


def _fewer(tables: FloatArray) -> FloatArray:
    """Scale down the samples of a class that are too large to be drawn; the smaller ones decide."""
    sizes = tables.sum(axis=2, keepdims=True)
    fewer: FloatArray = tables * np.minimum(1.0, MOST_ITEMS / len(tables) / np.maximum(sizes, 1))
    return fewer


def _share_as_large(drawn: FloatArray, seen: float) -> float:
    return float((1 + (drawn >= seen - 1e-9).sum()) / (1 + len(drawn)))


def _deviance(tables: IntArray) -> FloatArray:
    """Shape (tables,): G² of each (samples, outputs) against samples that differ in size alone."""
    expected = tables.sum(axis=2, keepdims=True) * tables.sum(axis=1, keepdims=True, dtype=np.float64)
    expected = expected / np.maximum(tables.sum(axis=(1, 2), keepdims=True), 1)
    ratio = np.divide(tables, expected, out=np.ones(tables.shape), where=tables > 0)
    total: FloatArray = 2 * (tables * np.log(ratio)).sum(axis=(1, 2))
    return total


def _redrawn(table: IntArray, size: int, rng: np.random.Generator) -> IntArray:
    """Shape (size, samples, outputs): tables with the margins of this one."""
    left = np.repeat(table.sum(axis=0)[None], size, axis=0)
    samples = []
    for items in table.sum(axis=1)[:-1]:
        sample = np.zeros_like(left)
        wanted = np.full(size, items)
        for output in range(left.shape[1] - 1):
            others = left[:, output + 1 :].sum(axis=1)
            sample[:, output] = rng.hypergeometric(left[:, output], others, wanted)
            wanted = wanted - sample[:, output]
        sample[:, -1] = wanted
        left = left - sample
        samples.append(sample)
    return np.stack([*samples, left], axis=1)


def visible_drift(tables: FloatArray) -> float | None:
    """Total variation from the first sample's rows that a test at 5 % would see four times in five.

    The rows move alike: so much of the most common output goes to the others, in their proportions. By the noncentral
    chi-square distribution.
    """
    from scipy.special import chdtri, chndtr

    first, second = tables.sum(axis=2)
    used = np.flatnonzero((first > 0) & (second > 0))
    freedom = sum(max(int((tables[:, row].sum(axis=0) > 0).sum()) - 1, 0) for row in used)
    if not freedom:
        return None
    rows = (tables[0, used] + 0.5) / (tables[0, used] + 0.5).sum(axis=1, keepdims=True)
    items = first[used] * second[used] / (first[used] + second[used])
    grid = np.linspace(0.005, 1.0, 200)
    distance = np.array([items @ _moved(rows, drift) for drift in grid])
    seen = np.flatnonzero(1 - chndtr(chdtri(freedom, CAUTION), freedom, distance) >= POWER)
    return float(grid[seen[0]]) if len(seen) else None


def _moved(rows: FloatArray, drift: float) -> FloatArray:
    """Shape (rows,): chi-square distance between each row and itself after the drift."""
    top = rows.max(axis=1)
    taken = np.minimum(drift, top)
    distance: FloatArray = taken**2 * (1 / top + 1 / np.maximum(1 - top, 1e-12))
    return distance


def drift_finding(counts: Counts, test: HomogeneityTest, what: str) -> Finding | None:
    """Say which class the box treats differently, by labels."""
    if test.p_value > CAUTION:
        return None
    names = _apart(test, counts.classes)
    return Finding(
        "confusion-drifted",
        "serious" if test.p_value <= SERIOUS else "caution",
        f"Labels show that the box treats {listed(names)} differently {what} (p = {test.p_value:.2g}): the shares are "
        "biased.",
        {"classes": names, "p_value": test.p_value, "deviance": test.deviance, "by_class": test.by_class.tolist()},
        "Use labels of the population itself: as a random sample of it, with design='same_population'.",
    )


def meaning_finding(counts: Counts, test: HomogeneityTest) -> Finding | None:
    """Say which output has other classes behind it in the population, by labels; the test has outputs for classes."""
    if test.p_value > CAUTION:
        return None
    names = _apart(test, counts.outputs)
    return Finding(
        "confusion-drifted",
        "serious" if test.p_value <= SERIOUS else "caution",
        f"Labels show that items with the output {listed(names)} have other classes in the population "
        f"(p = {test.p_value:.2g}): the shares are biased.",
        {"outputs": names, "p_value": test.p_value, "deviance": test.deviance, "by_output": test.by_class.tolist()},
        "Use labels of the population itself, such as those of the audit, in place of the others.",
    )


def _apart(test: HomogeneityTest, names: Sequence[Name]) -> list[Name]:
    rows = np.flatnonzero(test.by_class <= CAUTION).tolist() or [int(test.by_class.argmin())]
    return [names[row] for row in rows]


def not_random(counts: Counts) -> Finding | None:
    """Notice labels said to be a random sample whose outputs differ from the population's, by a chi-square bound."""
    table = np.array([counts.labeled.sum(axis=0), counts.unlabeled], dtype=np.float64)
    whole = np.rint(table).astype(np.int64)
    if counts.is_weighted or not table.sum(axis=1).all() or len(counts.outputs) < 2:
        return None
    deviance = float(_deviance(whole[None])[0])
    if deviance <= chi_square_quantile(len(counts.outputs) - 1, 1 - CHEAP_LEVEL):
        return None
    shares = table / table.sum(axis=1, keepdims=True)
    worst = int(np.abs(shares[0] - shares[1]).argmax())
    name: Name = counts.outputs[worst]
    return Finding(
        "not-a-random-sample",
        "serious",
        f"The labelled items are no random sample of this population: {percent(shares[0, worst])} of them have the "
        f"output {name!s:.60}, and {percent(shares[1, worst])} of the unlabelled items.",
        {"output": name, "shares": shares[:, worst].tolist(), "deviance": deviance},
        "If labels were sampled by output use design='by_prediction'; if they come from elsewhere "
        "design='label_shift'.",
    )
