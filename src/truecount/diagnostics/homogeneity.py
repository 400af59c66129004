"""Do samples come from one distribution? Exact tests on counts; groups compared, and sampling designs."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from truecount import _check
from truecount._advice import BOTH_LABELS, Action, Advice
from truecount._chi_square import chi_square_quantile
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import called, listed, listed_classes, percent
from truecount.counts import Counts, Groups
from truecount.counts.weights import effective_groups
from truecount.diagnostics.shift import CHEAP_LEVEL, MOST_TIMES, Tables, bootstrap
from truecount.diagnostics.significance import CAUTION, severity_of
from truecount.models import ByPrediction, Density, LabelShift, Prior, SamePopulation
from truecount.reading.names import group_name
from truecount.results.finding import Finding
from truecount.results.posterior import Posterior

POWER, SIMULATED, CLOSE = 0.8, 1000, 0.005
"""How often a drift is to be seen, in so many simulated samples, and how exactly the smallest one is found."""
SKETCHED = 200
"""Simulated samples that tell where to look for it."""
ROUNDING = 1e-12
"""By which the deviance of a table may be off, for each of its items."""
AT_ONCE = 1_000_000
"""Items of permuted tables that are held at once."""
MOST_ITEMS = 9e8
"""Of a class in all samples, where tables are drawn: NumPy takes less than a billion. More are taken for fewer."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HomogeneityTest:
    """Whether each class has the same outputs in several labelled samples.

    Parameters
    ----------
    deviance
        G² summed over classes.
    p_value
        How often the sum, or the class that differs most, is as surprising in tables with the same margins: an exact
        test. One class among many that differs adds little to the sum, and many that differ a little stand out in the
        sum alone; each of the two has half of the false alarms.
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
    every = [_redrawn_deviance(whole[:, row], replicates, rng) for row in range(whole.shape[1])]
    drawn = np.array([each for _, each in every])
    seen, rounding = np.array([own for own, _ in every]), ROUNDING * whole.sum(axis=(0, 2))
    together = np.column_stack([seen - rounding, drawn])
    return HomogeneityTest(
        deviance=float(seen.sum()),
        p_value=_share_as_surprising(together),
        by_class=np.array([_share_as_large(*each) for each in zip(drawn, seen - rounding, strict=True)]),
        replicates=replicates,
    )


def _fewer(tables: FloatArray) -> FloatArray:
    """Scale down the samples of a class that are too large to be drawn; the smaller ones decide."""
    sizes = tables.sum(axis=2, keepdims=True)
    return np.asarray(tables * np.minimum(1.0, MOST_ITEMS / len(tables) / np.maximum(sizes, 1)))


def _share_as_large(drawn: FloatArray, seen: float) -> float:
    return float((1 + (drawn >= seen - 1e-9).sum()) / (1 + len(drawn)))


def _share_as_surprising(deviances: FloatArray) -> float:
    """Return how many columns are as surprising as the first, by the class that differs most or by the sum."""
    surprise = _surprise(np.vstack([_surprise(deviances), deviances.sum(axis=0)]))
    return float((surprise >= surprise[0]).mean())


def _surprise(values: FloatArray) -> FloatArray:
    """Shape (columns,): the larger, the smaller is the least p-value of a column, of rows that each rank the columns.

    Of many rows each has a first column, so that many columns tie: the one that stands out most from its row, in
    standard deviations, is the more surprising.
    """
    number = values.shape[1]
    least = np.min([number - np.searchsorted(np.sort(row), row - 1e-9) for row in values], axis=0)
    away, sd = values - values.mean(axis=1, keepdims=True), values.std(axis=1, keepdims=True)
    furthest = np.divide(away, sd, out=np.zeros_like(away), where=sd > 0).max(axis=0)
    furthest = furthest.round(9)
    order = np.lexsort((furthest, -least))
    is_more = (np.diff(least[order]) != 0) | (np.diff(furthest[order]) != 0)
    places = np.zeros(number)
    places[order[1:]] = np.cumsum(is_more)
    return places


def _redrawn_deviance(table: IntArray, size: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
    """Return G² of a table (samples, outputs), and of `size` tables drawn with its margins; none of what is empty."""
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if min(table.shape) < 2:
        return 0.0, np.zeros(size)
    return _with_margins(table, size, rng)


def table_deviance(tables: IntArray) -> FloatArray:
    """Shape (tables,): G² of each (samples, outputs) against samples that differ in size alone."""
    expected = tables.sum(axis=2, keepdims=True) * tables.sum(axis=1, keepdims=True, dtype=np.float64)
    expected = expected / np.maximum(tables.sum(axis=(1, 2), keepdims=True), 1)
    ratio = np.divide(tables, expected, out=np.ones(tables.shape), where=tables > 0)
    total: FloatArray = 2 * (tables * np.log(ratio)).sum(axis=(1, 2))
    return total


def _with_margins(table: IntArray, size: int, rng: np.random.Generator) -> tuple[float, FloatArray]:
    """Return G² of the table and of others with its margins, of which no table is kept: only ``Σ n log n`` differ."""
    from scipy.special import xlogy

    margins = [axis.astype(np.float64) for axis in (table.sum(axis=0), table.sum(axis=1))]
    fixed = sum(float(xlogy(axis, axis).sum()) for axis in margins) - float(xlogy(table.sum(), table.sum()))
    own = max(2 * (float(xlogy(table, table).sum()) - fixed), 0.0)
    drawn = _sums_of_permuted(table, size, rng) if table.sum() < table.size else _sums_of_drawn(table, size, rng)
    return own, 2 * (drawn - fixed)


def _sums_of_permuted(table: IntArray, size: int, rng: np.random.Generator) -> FloatArray:
    """Return ``Σ n log n`` of tables with the margins of a sparse one: the outputs of its items are permuted."""
    from scipy.special import xlogy

    n_outputs, items = table.shape[1], int(table.sum())
    samples, outputs = (np.repeat(np.arange(len(axis)), axis) for axis in (table.sum(axis=1), table.sum(axis=0)))
    total = np.empty(size)
    width = max(1, AT_ONCE // items)
    for at in range(0, size, width):
        permuted = rng.permuted(np.broadcast_to(outputs, (min(width, size - at), items)), axis=1)
        cells = np.sort(samples * n_outputs + permuted, axis=1)
        is_first = np.ones(cells.shape, bool)
        is_first[:, 1:] = cells[:, 1:] != cells[:, :-1]
        number = np.diff(np.append(np.flatnonzero(is_first), cells.size)).astype(np.float64)
        starts = np.append(0, np.cumsum(is_first.sum(axis=1))[:-1])
        total[at : at + width] = np.add.reduceat(xlogy(number, number), starts)
    return total


def _sums_of_drawn(table: IntArray, size: int, rng: np.random.Generator) -> FloatArray:
    """Return ``Σ n log n`` of tables drawn with the margins of this one, sample after sample."""
    from scipy.special import xlogy

    left = np.repeat(table.sum(axis=0)[None], size, axis=0)
    total = np.zeros(size)
    for items in table.sum(axis=1)[:-1]:
        sample = np.zeros_like(left)
        wanted = np.full(size, items)
        for output in range(left.shape[1] - 1):
            others = left[:, output + 1 :].sum(axis=1)
            sample[:, output] = rng.hypergeometric(left[:, output], others, wanted)
            wanted = wanted - sample[:, output]
        sample[:, -1] = wanted
        left = left - sample
        total += xlogy(sample, sample).sum(axis=1)
    return np.asarray(total + xlogy(left, left).sum(axis=1))


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
    none, moved = (_deviances(rng.multinomial(sizes, each, (sets, *sizes.shape))) for each in (mixed, both))
    by_class = [_least_level(none, each) for each in (none, moved)]
    none, moved = (np.stack([-least, each.sum(axis=0)]) for least, each in zip(by_class, (none, moved), strict=True))
    level = np.searchsorted(np.sort(_least_level(none, none)), _least_level(none, moved) + 1e-9) / sets
    return bool(np.mean(level <= CAUTION) >= POWER)


def _least_level(none: FloatArray, values: FloatArray) -> FloatArray:
    """Shape (sets,): the least share, among rows, of what is drawn without a drift that is as large as these values."""
    each = [1 - np.searchsorted(np.sort(own), row - 1e-9) / len(own) for own, row in zip(none, values, strict=True)]
    return np.asarray(np.min(each, axis=0))


def _deviances(tables: IntArray) -> FloatArray:
    """Shape (classes, sets): G² of tables (sets, samples, classes, outputs)."""
    return np.array([table_deviance(tables[:, :, row]) for row in range(tables.shape[2])])


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
    if (severity := severity_of(test.p_value)) is None:
        return None
    names = _apart(test, counts.classes)
    return Finding(
        "confusion-drifted",
        severity,
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
    if (severity := severity_of(test.p_value)) is None:
        return None
    names = _apart(test, counts.outputs)
    return Finding(
        "confusion-drifted",
        severity,
        f"Labels show that items with the output {listed(names)} have other classes in the population "
        f"(p = {test.p_value:.2g}): the shares are biased.",
        {"outputs": names, "p_value": test.p_value, "deviance": test.deviance, "by_output": test.by_class.tolist()},
        "Use labels of the population itself, such as those of the audit, in place of the others.",
    )


def _apart(test: HomogeneityTest, names: Sequence[Name]) -> list[Name]:
    """Return the names whose own p-values stand out among all by Holm's rule, or the one with the least."""
    order = np.argsort(test.by_class, kind="stable")
    stand_out = test.by_class[order] <= CAUTION / np.arange(len(order), 0, -1)
    number = int(np.logical_and.accumulate(stand_out).sum())
    return [names[row] for row in sorted(order[: max(number, 1)].tolist())]


def not_random(counts: Counts) -> Finding | None:
    """Notice labels said to be a random sample whose outputs differ from the population's, by a chi-square bound."""
    table = np.array([counts.labeled.sum(axis=0), counts.unlabeled], dtype=np.float64)
    whole = np.rint(table).astype(np.int64)
    if counts.is_weighted or not table.sum(axis=1).all() or len(counts.outputs) < 2:
        return None
    deviance = float(table_deviance(whole[None])[0])
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
    own = [counts.effective.labeled for group, counts in groups.apart() if group in (groups.studies or ())]
    return homogeneity_test(np.array(own), seed=seed)


@dataclass(frozen=True, slots=True, eq=False)
class LabelSamples:
    """Labels of each group as samples of every class; those of no group are not compared.

    Parameters
    ----------
    names
        Of the groups.
    tables
        Shape (samples, classes, outputs): effective counts; none of classes whose rows are known.
    """

    names: tuple[Any, ...]
    tables: FloatArray

    @classmethod
    def of(cls, groups: Groups, prior: Prior) -> "LabelSamples | None":
        """Return the labels group by group; None where fewer than two groups have any, or where weights differ.

        How much weights reduce the effective size of one group's labels is not known: few items of large weight would
        look like many.
        """
        if groups.label_groups is None or groups.is_weighted:
            return None
        whole = groups.labeled.sum(axis=0, dtype=np.float64)
        size = effective_groups(groups)[0].sum(axis=(0, 2))
        worth = np.divide(size, whole.sum(axis=1), out=np.zeros_like(size), where=whole.any(axis=1))
        worth = np.where(np.isnan(prior.known_for(groups.total)).any(axis=1), worth, 0.0)
        every = groups.label_groups.labeled.astype(np.float64) * worth[:, None]
        kept, names = np.flatnonzero(every.sum(axis=(1, 2)) >= 0.5), groups.label_groups.keys
        return cls(tuple(names[at] for at in kept), every[kept]) if len(kept) > 1 else None

    def test(self, *, seed: int) -> HomogeneityTest:
        """Test that each class has the same outputs in all; few tables are drawn where those show no difference."""
        quick = homogeneity_test(self.tables, replicates=SKETCHED - 1, seed=seed)
        return quick if quick.p_value > CAUTION else homogeneity_test(self.tables, seed=seed)

    def furthest(self, row: int) -> tuple[int, int, float, float]:
        """Return a sample and an output that stand out in this class's row: its share there, and in all others."""
        counts = self.tables[:, row]
        items, others = counts.sum(axis=1, keepdims=True), counts.sum(axis=0) - counts
        shares = counts.sum(axis=0) / counts.sum()
        variance = items * shares * (1 - shares) * (1 - items / counts.sum())
        distance = np.divide(
            np.abs(counts - items * shares), np.sqrt(variance), out=np.zeros_like(counts), where=variance > 0
        )
        at, output = np.unravel_index(distance.argmax(), distance.shape)
        there = counts[at, output] / items[at, 0]
        return int(at), int(output), float(there), float(others[at, output] / others[at].sum())


def labels_differ(groups: Groups, prior: Prior) -> Finding | None:
    """Find labels of the groups themselves that show that the classifier treats a class differently between groups."""
    samples = LabelSamples.of(groups, prior)
    return None if samples is None else differing_finding(groups, samples, samples.test(seed=0))


def differing_finding(groups: Groups, samples: LabelSamples, test: HomogeneityTest) -> Finding | None:
    """Say which class the classifier treats differently from group to group, and what to do."""
    if (severity := severity_of(test.p_value)) is None:
        return None
    row, names = int(test.by_class.argmin()), _apart(test, groups.classes)
    at, output, there, elsewhere = samples.furthest(row)
    who = group_name(samples.names[at])
    return Finding(
        "confusion-drifted",
        severity,
        f"Labels show that the classifier treats {listed_classes(names)} differently from group to group "
        f"(p = {test.p_value:.2g}): {called(groups.classes[row])} gets the output {groups.outputs[output]!s:.60} "
        f"{percent(there)} of the time in {who}, and {percent(elsewhere)} elsewhere. One confusion for all groups "
        "biases their shares, and the differences between them.",
        {
            "classes": names,
            "group": who,
            "output": groups.outputs[output],
            "shares": [there, elsewhere],
            "p_value": test.p_value,
            "deviance": test.deviance,
            "by_class": test.by_class.tolist(),
        },
        Advice("Let the confusion vary between groups by their own labels: {}.", _own_labels(groups.by))
        if groups.times is None
        else "If the classifier changed at some time, estimate from the labels since then alone; if not, label more "
        "items of these periods.",
    )


def _own_labels(by: Sequence[str]) -> Action:
    """Return the action of counting each group's labels as a study."""
    return Action(
        f"{counted_apart(by)} and LabelShift(confusion=Varying())",
        study_option(by),
        "estimate",
        page="estimate again, with the labels of each group as a study of their own",
    )


def counted_apart(by: Sequence[str]) -> str:
    """Return how labels are counted group by group in Python."""
    return f"count_table(..., study={by[0] if len(by) == 1 else [*by]!r})"


def study_option(by: Sequence[str]) -> str:
    """Return the same as an option of the command, to be typed in a shell.

    >>> study_option(["Model Name", "language"])
    "--study 'Model Name,language'"
    """
    return f"--study {shlex.quote(','.join(by))}"


def joint_test(groups: Groups, model: Density, *, replicates: int, seed: int) -> tuple[float, float]:
    """Test that one confusion explains the unlabelled outputs of every group; returns the deviance and its p-value."""
    each = [counts.effective for _, counts in groups.items()]
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
    if (severity := severity_of(p_value)) is None:
        return ()
    return (
        Finding(
            "label-shift-violated",
            severity,
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
