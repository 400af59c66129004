"""Does label shift explain the outputs, and does the prior allow it? The best fit, quick looks at it, and a test."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truecount import _check
from truecount._advice import PASS_AUDIT, Action, Advice
from truecount._chi_square import chi_square_quantile
from truecount._simplex import project_to_simplex
from truecount._types import FloatArray, Name
from truecount._wording import percent
from truecount.counts import Counts
from truecount.diagnostics.significance import severity_of
from truecount.inference.draws import Draws
from truecount.inference.modes.ascent import extrapolate
from truecount.models import ByPrediction, Density, Prior
from truecount.results.finding import Finding, Severity

MOST_TIMES = 10.0
"""Unlabelled items count for so many times the labelled ones at most: beyond that the labels' noise decides."""
LEAST_SHARE = 1e-4
MOST_STEPS = 600
"""Steps of a fit from each start; the deviance only falls, so one that ran out of them is too large."""
STEPS_BETWEEN_LOOKS = 4
LONGEST_LEAP = 1e4
CONVERGED = 1e-3
"""A deviance that falls by less between two looks has converged, and one that is smaller counts as none."""
SCORES = Action(", check(scores)", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Counts of many data sets of one shape.

    Parameters
    ----------
    labeled
        Shape (sets, classes, outputs): labelled items; zero in rows that are known.
    unlabeled
        Shape (sets, outputs), or (sets, groups, outputs) where several populations share the labelled items.
    known
        Shape (classes, outputs): rows that are known, NaN elsewhere.
    """

    labeled: FloatArray
    unlabeled: FloatArray
    known: FloatArray

    @property
    def is_known(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Shape (classes,): whether a row is known."""
        return ~np.isnan(self.known[:, 0])

    @property
    def saturated(self) -> FloatArray:
        """Shape (sets,): log-likelihood where every sample has shares of its own."""
        seen = _log_likelihood(self.labeled, self.labeled / _at_least_one(self.labeled))
        return seen + _log_likelihood(self.unlabeled, self.unlabeled / _at_least_one(self.unlabeled))

    def take(self, chosen: Any) -> "Tables":
        """Return some of the data sets."""
        return replace(self, labeled=self.labeled[chosen], unlabeled=self.unlabeled[chosen])


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The best fit of each data set.

    Parameters
    ----------
    deviance
        Shape (sets,): G².
    prevalence
        Shape (sets, groups, classes).
    confusion
        Shape (sets, classes, outputs).
    """

    deviance: FloatArray
    prevalence: FloatArray
    confusion: FloatArray

    @property
    def parts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """All three."""
        return self.deviance, self.prevalence, self.confusion


def tables_of(model: Density, labeled: FloatArray) -> Tables:
    """Return the counts of one data set, where far more unlabelled than labelled items are taken for fewer."""
    seen = np.where(model.is_known[:, None], 0.0, labeled)
    most = MOST_TIMES * max(seen.sum(), 1.0) if not model.is_known.all() else np.inf
    unlabeled = model.unlabeled * min(1.0, most / max(model.unlabeled.sum(), 1.0))
    return Tables(labeled=seen[None], unlabeled=unlabeled[None], known=model.known)


def best_fit(tables: Tables, *, enough: float = 0.0, absent: Sequence[int] = ()) -> Fit:
    """Fit every data set by expectation-maximisation in leaps.

    From the nearest mix of the labelled rows and, where that is not good enough, once more from even shares: rows that
    are hard to tell apart put the nearest mix near a wrong edge, from which the way up may end far below the top.

    Parameters
    ----------
    tables
        The data sets.
    enough
        Stop with a data set once its deviance is below this.
    absent
        Classes that are to have no share.
    """
    grouped = tables.unlabeled if tables.unlabeled.ndim == 3 else tables.unlabeled[:, None]
    tables = replace(tables, unlabeled=grouped)
    fit = _fit_from(_nearest_mix(tables, absent), tables, enough)
    left = np.flatnonzero(fit.deviance > enough)
    if len(left):
        part = tables.take(left)
        other = _fit_from(_even_mix(part, absent), part, enough)
        better = other.deviance < fit.deviance[left]
        for one, two in zip(fit.parts, other.parts, strict=True):
            one[left[better]] = two[better]
    return fit


def _fit_from(point: tuple[FloatArray, FloatArray], tables: Tables, enough: float) -> Fit:
    """Ascend from shares and rows of every data set."""
    saturated = tables.saturated
    deviance = 2 * (saturated - _height(tables, *point))
    going = np.flatnonzero(deviance > enough)
    for _ in range(0, MOST_STEPS, 3 * STEPS_BETWEEN_LOOKS):
        if not len(going):
            break
        part, some = tables.take(going), tuple(each[going] for each in point)
        for _ in range(STEPS_BETWEEN_LOOKS):
            some = _leap(part, *some)
        for whole, each in zip(point, some, strict=True):
            whole[going] = each
        now = 2 * (saturated[going] - _height(part, *some))
        moving = (deviance[going] - now > CONVERGED) & (now > enough)
        deviance[going] = now
        going = going[moving]
    deviance = np.where(deviance > CONVERGED, deviance, 0.0)
    return Fit(deviance=deviance, prevalence=point[0], confusion=point[1])


def deviance_at(tables: Tables, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
    """Shape (points,): the deviance of one data set at shares (points, groups, classes) and rows.

    It is that of the best fit or larger.
    """
    one = replace(tables, unlabeled=tables.unlabeled.reshape(1, -1, tables.unlabeled.shape[-1]))
    return np.asarray(2 * (one.saturated - _height(one, prevalence, confusion)))


def _nearest_mix(tables: Tables, absent: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """The labelled rows with something in every cell, and the shares that mix them best by least squares."""
    rows = _labeled_rows(tables)
    outputs = tables.unlabeled / _at_least_one(tables.unlabeled)
    shares = project_to_simplex(outputs @ np.linalg.pinv(rows))
    return _without(np.maximum(shares, LEAST_SHARE), absent), rows


def _even_mix(tables: Tables, absent: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    shares = np.ones((*tables.unlabeled.shape[:-1], tables.labeled.shape[1]))
    return _without(shares, absent), _labeled_rows(tables)


def _labeled_rows(tables: Tables) -> FloatArray:
    rows = tables.labeled + 1 / tables.labeled.shape[-1]
    return np.where(tables.is_known[:, None], tables.known, rows / rows.sum(axis=-1, keepdims=True))


def _without(shares: FloatArray, absent: Sequence[int]) -> FloatArray:
    shares[..., list(absent)] = 0.0
    summed: FloatArray = shares / shares.sum(axis=-1, keepdims=True)
    return summed


def _step(tables: Tables, prevalence: FloatArray, confusion: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Allocate the unlabelled items to classes as the point says, and go where that leads."""
    outputs = prevalence @ confusion
    per_item = np.divide(tables.unlabeled, outputs, out=np.zeros_like(outputs), where=outputs > 0)
    items = prevalence * (per_item @ confusion.swapaxes(-1, -2))
    seen = tables.labeled + confusion * (prevalence.swapaxes(-1, -2) @ per_item)
    total = seen.sum(axis=-1, keepdims=True)
    rows = np.divide(seen, total, out=confusion.copy(), where=(total > 0) & ~tables.is_known[:, None])
    return items / _at_least_one(items), rows


def _leap(tables: Tables, prevalence: FloatArray, confusion: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Take two steps, extrapolate, take one more; stay with the two where that did not raise it (SQUAREM)."""
    once = _step(tables, prevalence, confusion)
    twice = _step(tables, *once)
    points = (_flat(*each) for each in ((prevalence, confusion), once, twice))
    far = extrapolate(*points, longest=LONGEST_LEAP, axes=(1,))
    split = prevalence[0].size
    there = (far[:, :split].reshape(prevalence.shape), far[:, split:].reshape(confusion.shape))
    there = _step(tables, *(each / _at_least_one(each) for each in there))
    better = _height(tables, *there) >= _height(tables, *twice)
    chosen = better[:, None, None]
    return np.where(chosen, there[0], twice[0]), np.where(chosen, there[1], twice[1])


def _flat(prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
    size = len(prevalence)
    return np.concatenate([prevalence.reshape(size, -1), confusion.reshape(size, -1)], axis=1)


def _height(tables: Tables, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
    return _log_likelihood(tables.labeled, confusion) + _log_likelihood(tables.unlabeled, prevalence @ confusion)


def _log_likelihood(counts: FloatArray, shares: FloatArray) -> FloatArray:
    """``Σ count · log(share)`` of each data set; where a count is zero its share may be too."""
    logs = np.log(np.where(counts > 0, np.maximum(shares, 1e-300), 1.0))
    total: FloatArray = (counts * logs).sum(axis=(1, 2))
    return total


def _at_least_one(counts: FloatArray) -> FloatArray:
    """Sums along the last axis, or one where there is nothing to sum."""
    sums = counts.sum(axis=-1, keepdims=True)
    return np.where(sums > 0, sums, 1.0)


CHEAP_LEVEL = 1e-4
"""How often the cheap look may be wrong at most, by a chi-square bound that holds at edges and in sparse tables."""
NEGLIGIBLE = 4.0
"""A class may as well be absent if that raises the deviance by less."""
LOOKED_AT = 100
"""Draws of which the likeliest is looked at."""
UNLIKELY = 1e-4
"""How seldom a prior may be said by mistake to keep the draws away from the data."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ShiftTest:
    """Whether some mix of the labelled rows explains the unlabelled outputs.

    Parameters
    ----------
    deviance
        G² of the counts against the best fit under label shift; zero where a mix explains them exactly.
    p_value
        How often data for which label shift holds have a deviance as large, by simulation from the best fit.
    replicates
        How many data sets were simulated.
    is_testable
        Whether there are more outputs than classes, and labels of every class: else nearly any outputs are explained.
    outputs, seen, expected
        Shape (outputs,): names, the shares among the unlabelled items, and those of the mix of the labelled rows that
        comes closest.
    """

    deviance: float
    p_value: float
    replicates: int
    is_testable: bool
    outputs: tuple[Name, ...]
    seen: FloatArray
    expected: FloatArray


def misfit(counts: Counts, model: Density) -> Finding | None:
    """Look for outputs that no mix of the classes explains, by a bound on the deviance instead of a simulation."""
    if not model.unlabeled.sum():
        return None
    tables = tables_of(model, counts.effective.labeled)
    bound = chi_square_quantile(model.n_outputs - 1, 1 - CHEAP_LEVEL) if model.n_outputs > 1 else np.inf
    deviance = float(best_fit(tables, enough=bound).deviance[0])
    if deviance <= bound:
        return None
    numbers = {"deviance": deviance, "bound": bound}
    return _violated(counts.outputs, tables, numbers, "serious", "")


def prior_against_data(counts: Counts, prior: Prior, model: Density, draws: Draws) -> Finding | None:
    """Find a prior that keeps every draw away from the shares and rows under which the counts are likely."""
    if prior.fixed == Prior().fixed or not model.unlabeled.sum():
        return None
    tables = tables_of(model, counts.effective.labeled)
    chosen = np.unique(np.linspace(0, len(draws.confusion) - 1, LOOKED_AT).astype(int))
    shares, rows = draws.prevalence[:: draws.stride][chosen], draws.confusion[chosen]
    lost = float(deviance_at(tables, shares[:, None], rows).min() - best_fit(tables).deviance[0])
    freedom = model.n_classes - 1 + int((~model.is_known).sum()) * (model.n_outputs - 1)
    if lost <= chi_square_quantile(freedom, 1 - UNLIKELY):
        return None
    return Finding(
        "prior-against-data",
        "serious",
        "The prior keeps the answer where the counts are extremely unlikely: without it, the answer would differ.",
        {"deviance": lost, "parameters": freedom},
        "Check the concentrations of the prior; a number of 1000 weighs as much as 1000 labelled items.",
    )


def label_shift_test(counts: Counts, model: Density, *, replicates: int = 999, seed: int = 0) -> ShiftTest:
    """Simulate data for which label shift holds, and see how often they fit as badly.

    The labelled items are simulated from the rows, and the unlabelled ones from their mix, under which label shift
    makes the counts most likely. Chi-square tables are not used: near the edge of the simplex they are wrong.

    Parameters
    ----------
    counts, model
        The counts, and the density that they make with a prior; of the prior only the known rows matter.
    replicates, seed
        How many data sets to simulate, and from which seed.
    """
    tables = tables_of(model, counts.effective.labeled)
    rng = np.random.default_rng(_check.whole_number("seed", seed, least=0))
    deviance, p_value = bootstrap(without_rare(tables), model.unlabeled.sum(keepdims=True), replicates, rng)
    has_labels = (tables.labeled[0].sum(axis=1) > 0) | tables.is_known
    return ShiftTest(
        deviance=deviance,
        p_value=p_value,
        replicates=replicates,
        is_testable=bool(model.n_outputs > model.n_classes and has_labels.all()),
        outputs=counts.outputs,
        seen=tables.unlabeled[0] / max(tables.unlabeled.sum(), 1.0),
        expected=closest_mix(tables),
    )


def bootstrap(tables: Tables, unlabeled: FloatArray, replicates: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the deviance of one data set, and how often it is as large in data simulated from its best fit.

    `unlabeled`, shape (groups,), is how many unlabelled items there really are. The deviance counts at most ten times
    the labelled ones, but the fit to simulate from counts all: what fits the few may be refuted by the many, and data
    simulated from there, with the noise of the many, would nearly always fit better than the data at hand.
    """
    deviance = float(best_fit(tables).deviance[0])
    if not deviance or not unlabeled.all():
        return deviance, 1.0
    counted = tables.unlabeled.reshape(len(unlabeled), -1)
    all_items = counted * (unlabeled / counted.sum(axis=1))[:, None]
    full = replace(tables, unlabeled=all_items.reshape(tables.unlabeled.shape))
    simulated = simulate(tables, _at_the_edge(full, best_fit(full)), unlabeled, replicates, rng)
    as_large = (best_fit(simulated, enough=deviance).deviance >= deviance).sum()
    return deviance, float((1 + as_large) / (1 + replicates))


def without_rare(tables: Tables) -> Tables:
    """Merge the rarest outputs where there are more than half as many outputs as labels: they would mostly be empty."""
    kept = int(tables.labeled.sum() / 2)
    n_outputs = tables.labeled.shape[-1]
    if n_outputs <= max(kept, tables.labeled.shape[1] + 1) or tables.is_known.any():
        return tables
    common = np.argsort(-tables.labeled[0].sum(axis=0) - tables.unlabeled[0], kind="stable")
    groups = np.minimum(np.argsort(common, kind="stable"), max(kept, tables.labeled.shape[1] + 1) - 1)
    merge = (groups[:, None] == np.arange(groups.max() + 1)).astype(np.float64)
    return Tables(labeled=tables.labeled @ merge, unlabeled=tables.unlabeled @ merge, known=tables.known @ merge)


def _at_the_edge(tables: Tables, fit: Fit) -> Fit:
    """Leave out the classes that may as well be absent: data from the edge fit worse, so none are called odd there."""
    absent: list[int] = []
    best = fit
    for row in np.argsort(fit.prevalence[0].max(axis=0))[:-1].tolist():
        without = best_fit(tables, absent=[*absent, row])
        if without.deviance[0] > fit.deviance[0] + NEGLIGIBLE:
            break
        absent, best = [*absent, row], without
    return best


def simulate(tables: Tables, fit: Fit, unlabeled: FloatArray, size: int, rng: np.random.Generator) -> Tables:
    """Draw data sets of the same sizes from the best fit; where sizes are not whole, shares of whole ones."""
    items = tables.labeled[0].sum(axis=-1)
    whole = np.maximum(np.rint(items), items > 0).astype(np.int64)
    rows = _with_unseen(tables, fit.confusion[0])
    labeled = rng.multinomial(whole, rows, (size, len(items))) * (items / np.maximum(whole, 1))[:, None]
    outputs = fit.prevalence[0] @ rows
    sizes = np.maximum(np.rint(unlabeled), 1).astype(np.int64)
    drawn = rng.multinomial(sizes, outputs / outputs.sum(axis=-1, keepdims=True), (size, len(sizes)))
    scale = tables.unlabeled.reshape(len(sizes), -1).sum(axis=1) / sizes
    return Tables(labeled=labeled, unlabeled=drawn * scale[:, None], known=tables.known)


def _with_unseen(tables: Tables, confusion: FloatArray) -> FloatArray:
    """Return the chance of outputs that a class has not shown yet: the share of its items alone in their output.

    That is Good and Turing's estimate. Without it simulated tables are less sparse than the real one and fit better.
    """
    labeled = tables.labeled[0]
    alone = np.where((labeled > 0) & (labeled <= 1), labeled, 0.0).sum(axis=1, keepdims=True)
    unseen = np.where(
        tables.is_known[:, None], 0.0, alone / np.maximum(labeled.sum(axis=1, keepdims=True), 2 * alone + 1)
    )
    pooled = labeled.sum(axis=0) + tables.unlabeled[0].reshape(-1, labeled.shape[1]).sum(axis=0)
    rows = (1 - unseen) * confusion + unseen * pooled / pooled.sum()
    shares: FloatArray = rows / rows.sum(axis=1, keepdims=True)
    return shares


def closest_mix(tables: Tables) -> FloatArray:
    """Shape (outputs,): the mix of the labelled rows, taken as they are, that comes closest to the outputs seen."""
    rows = tables.labeled[0] + 1e-9
    rows = np.where(tables.is_known[:, None], tables.known, rows / rows.sum(axis=1, keepdims=True))
    fit = best_fit(Tables(labeled=np.zeros_like(tables.labeled), unlabeled=tables.unlabeled, known=rows))
    mixed: FloatArray = (fit.prevalence[0] @ rows)[0]
    return np.where(mixed > 1e-6, mixed, 0.0)


def shift_findings(test: ShiftTest, tables: Tables, *, is_audited: bool = False) -> tuple[Finding, ...]:
    """Say whether label shift was found violated, or cannot be tested; no audit is advised where there was one."""
    numbers = {"deviance": test.deviance, "p_value": test.p_value, "replicates": test.replicates}
    severity = severity_of(test.p_value)
    if severity is not None:
        return (_violated(test.outputs, tables, numbers, severity, f" (p = {test.p_value:.2g})"),)
    return () if test.is_testable else (_untestable(numbers, is_audited),)


def _untestable(numbers: dict[str, float], is_audited: bool) -> Finding:
    advice = Advice(
        "Label a few items of the population itself and {}, or use a classifier with more outputs, for instance by "
        "keeping its confidence.",
        PASS_AUDIT,
    )
    return Finding(
        "label-shift-untestable",
        "info",
        "Whether the classifier still treats each class as it did when the labels were made cannot be seen in these "
        "counts: with so few outputs some mix of the classes explains nearly anything.",
        numbers,
        "The audit tells more: see its test." if is_audited else advice,
    )


def in_scores(finding: Finding) -> Finding:
    """Return what a test of predicted classes says of an answer from scores, which show more."""
    if finding.code != "label-shift-untestable":
        return finding
    return replace(
        finding,
        message="An answer from scores keeps the predicted classes, and not the scores. Whether the classifier still "
        "treats each class as it did when the labels were made cannot be seen in predicted classes alone.",
        advice=Advice("Test the scores themselves{}, and label a few items of the population.", SCORES),
    )


def _violated(
    outputs: tuple[Name, ...], tables: Tables, numbers: dict[str, float], severity: Severity, proof: str
) -> Finding:
    seen, expected = tables.unlabeled[0] / tables.unlabeled.sum(), closest_mix(tables)
    worst = most_surprising(seen, expected)
    name = outputs[worst]
    return Finding(
        "label-shift-violated",
        severity,
        f"No mix of the classes explains the unlabelled outputs{proof}: {percent(seen[worst])} of the items have the "
        f"output {name!s:.60}, where the nearest mix of what was labelled has {percent(expected[worst])}.",
        {"output": name, "seen": float(seen[worst]), "expected": float(expected[worst]), **numbers},
        Advice(
            "The classifier seems to treat some class differently here: label some items of the population itself. Or "
            "the labelled items were chosen by their output: then use {}.",
            ByPrediction.choice(),
        ),
    )


def most_surprising(seen: FloatArray, expected: FloatArray) -> int:
    """Return the position of the output whose share is furthest from the expected one, by its part of the deviance."""
    ratio = np.log(np.maximum(seen, 1e-12) / np.maximum(expected, 1e-12))
    return int((seen * ratio - seen + expected).argmax())
