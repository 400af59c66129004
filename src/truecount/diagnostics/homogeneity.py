"""Do samples come from one distribution? Exact tests on counts; groups compared, and sampling designs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from truecount import _check
from truecount._advice import BOTH_LABELS, Advice
from truecount._chi_square import chi_square_quantile
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import called, listed, listed_classes, percent
from truecount.counts import Counts, Groups
from truecount.counts.weights import effective_counts
from truecount.diagnostics.shift import CAUTION, CHEAP_LEVEL, MOST_TIMES, SERIOUS, Tables, bootstrap
from truecount.models import ByPrediction, Density, LabelShift, SamePopulation
from truecount.results.finding import Finding
from truecount.results.posterior import Posterior

POWER, SIMULATED, CLOSE = 0.8, 1000, 0.005
"""How often a drift is to be seen, in so many simulated samples, and how exactly the smallest one is found."""
SKETCHED = 200
"""Simulated samples that tell where to look for it."""
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
    """

    deviance: float
    p_value: float
    by_class: FloatArray
    replicates: int


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
    >>> test.p_value
    1.0
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


def visible_drift(tables: FloatArray, *, seed: int = 0) -> float | None:
    """Total variation from the first sample's rows that a test at 5 % would see four times in five; None where none is.

    The rows move alike: so much of the most common output goes to the others, in their proportions. By simulation,
    because samples are too small for the chi-square distribution: it would promise more than they can see. A few
    simulated samples tell where to look, and many confirm what is said.

    >>> drift = visible_drift(np.array([[[40, 10], [10, 40]], [[8, 2], [2, 8]]]))
    >>> 0.25 < drift < 0.45
    True
    """
    sizes = np.rint(_fewer(tables).sum(axis=2)).astype(np.int64)
    used = np.flatnonzero(sizes.all(axis=0))
    rows = (tables[0, used] + 0.5) / (tables[0, used] + 0.5).sum(axis=1, keepdims=True)
    return _smallest_seen(rows, sizes[:, used], np.random.default_rng([seed, 1])) if rows.size else None


def _smallest_seen(rows: FloatArray, sizes: IntArray, rng: np.random.Generator) -> float | None:
    """Halve the way to the smallest drift that is seen, and go up or down from there by small steps."""
    low, high = 0.0, 1.0
    while high - low > CLOSE:
        middle = (low + high) / 2
        low, high = (low, middle) if _is_seen(rows, sizes, middle, SKETCHED, rng) else (middle, high)
    step = high - low
    if _is_seen(rows, sizes, high, SIMULATED, rng):
        while high > step and _is_seen(rows, sizes, high - step, SIMULATED, rng):
            high -= step
        return high
    while high < 1:
        high += step
        if _is_seen(rows, sizes, high, SIMULATED, rng):
            return high
    return None


def _is_seen(rows: FloatArray, sizes: IntArray, drift: float, sets: int, rng: np.random.Generator) -> bool:
    """Whether a drift of the second sample is found four times in five, against samples of the mix of both."""
    both = np.stack([rows, _moved(rows, drift)])
    weights = (sizes / sizes.sum(axis=0))[..., None]
    mixed = np.broadcast_to((weights * both).sum(axis=0), both.shape)
    none, moved = (rng.multinomial(sizes, each, (sets, *sizes.shape)) for each in (mixed, both))
    bound = np.quantile(_total_deviance(none), 1 - CAUTION)
    return bool(np.mean(_total_deviance(moved) > bound + 1e-9) >= POWER)


def _total_deviance(tables: IntArray) -> FloatArray:
    """Shape (sets,): G² of tables (sets, samples, classes, outputs), summed over classes."""
    total: FloatArray = np.sum([_deviance(tables[:, :, row]) for row in range(tables.shape[2])], axis=0)
    return total


def _moved(rows: FloatArray, drift: float) -> FloatArray:
    """Take so much from the most common output of each row, and give it to the others in their proportions."""
    top = rows.argmax(axis=1)[:, None]
    most = np.take_along_axis(rows, top, axis=1)
    taken = np.minimum(drift, most)
    moved = rows * (1 + taken / np.maximum(1 - most, 1e-12))
    np.put_along_axis(moved, top, most - taken, axis=1)
    shares: FloatArray = moved / moved.sum(axis=1, keepdims=True)
    return shares


def drift_finding(counts: Counts, test: HomogeneityTest, what: str) -> Finding | None:
    """Say which class the classifier treats differently, by labels."""
    if test.p_value > CAUTION:
        return None
    names = _apart(test, counts.classes)
    return Finding(
        "confusion-drifted",
        "serious" if test.p_value <= SERIOUS else "caution",
        f"Labels show that the classifier treats {listed_classes(names)} differently {what} (p = {test.p_value:.2g}): "
        "the shares are biased.",
        {"classes": names, "p_value": test.p_value, "deviance": test.deviance, "by_class": test.by_class.tolist()},
        Advice(
            "Use labels of the population itself: beside the others, which then count by how they agree, with {}; or "
            "alone, as a random sample of it, with {}.",
            BOTH_LABELS,
            SamePopulation.choice(),
        ),
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
        Advice(
            "If labels were sampled by output use {}; if they come from elsewhere {}.",
            ByPrediction.choice(),
            LabelShift.choice(),
        ),
    )


def rows_test(groups: Groups, *, seed: int) -> HomogeneityTest:
    """Test that each class has the same outputs in every group, by the groups' own labels."""
    own = [effective_counts(counts)[0] for group, counts in groups.apart() if group in (groups.studies or ())]
    return homogeneity_test(np.array(own), seed=seed)


def joint_test(groups: Groups, model: Density, *, replicates: int, seed: int) -> tuple[float, float]:
    """Test that one confusion explains the unlabelled outputs of every group; returns the deviance and its p-value."""
    each = [effective_counts(counts) for _, counts in groups.items()]
    labeled = np.where(model.is_known[:, None], 0.0, each[0][0])
    unlabeled = np.array([items for _, items in each])
    unlabeled = unlabeled[unlabeled.any(axis=1)]
    if not len(unlabeled):
        return 0.0, 1.0
    sizes = unlabeled.sum(axis=1)
    most = MOST_TIMES * max(labeled.sum(), 1.0) if labeled.any() else np.inf
    scale = np.minimum(1.0, most / np.maximum(sizes, 1.0))
    tables = Tables(labeled=labeled[None], unlabeled=(unlabeled * scale[:, None])[None], known=model.known)
    return bootstrap(tables, sizes, replicates, np.random.default_rng(seed))


def joint_findings(deviance: float, p_value: float) -> tuple[Finding, ...]:
    """Say that no one confusion explains all groups."""
    if p_value > CAUTION:
        return ()
    return (
        Finding(
            "label-shift-violated",
            "serious" if p_value <= SERIOUS else "caution",
            f"No one way of treating the classes explains the outputs of all groups (p = {p_value:.2g}): the "
            "classifier treats some class differently from group to group.",
            {"deviance": deviance, "p_value": p_value},
            "Label some items of each group, and pass the groups with labels of their own.",
        ),
    )


LEVEL = 0.999


def design_finding(shift: Posterior, same: Posterior) -> Finding | None:
    """Find a class whose share by label shift and as a random sample of one population differ beyond their errors."""
    variance = np.maximum(shift.sd**2 + same.sd**2, 1e-18)
    distance = (shift.mean - same.mean) ** 2 / variance
    worst = int(distance.argmax())
    if distance[worst] <= chi_square_quantile(1, 1 - (1 - LEVEL) / len(distance)):
        return None
    name, shares = shift.classes[worst], (float(shift.mean[worst]), float(same.mean[worst]))
    return Finding(
        "designs-disagree",
        "info",
        f"It matters how the labels were chosen: {called(name)} has {percent(shares[0])} if they come from another "
        f"population, and {percent(shares[1])} if they were sampled from this one.",
        {"class": name, "shares": list(shares), "standard_errors_apart": float(distance[worst]) ** 0.5},
        Advice(
            "If the labelled items come from this population use {}, or {} if they are stratified by output; if they "
            "come from elsewhere, nothing is wrong.",
            SamePopulation.choice(),
            ByPrediction.choice(),
        ),
    )
