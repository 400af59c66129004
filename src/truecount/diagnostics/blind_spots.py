"""What is said of classes, or mixes of classes, that outputs cannot tell apart, as far as the posterior shows it."""

from dataclasses import dataclass, replace

import numpy as np

from truecount._advice import USE_POSTERIOR, Advice
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import called, listed, listed_classes, span
from truecount.counts import Counts
from truecount.models import Density
from truecount.results.finding import Finding

BARELY = 0.2
"""Standard error of a traded share, from which on classes are said to be barely told apart."""
WIDE = 0.05
"""Width of a share's 95 % interval from which on it matters that classes are not told apart."""
TRADED = 0.3
"""By how much the others of a set fall, on the average, as the share of one rises by one, from which on they trade.

With `OPEN` it is measured by `benchmarks/not_identified.py`: of pairs of equal rows with 20 labels each, 0.5 and 0.5
found 87 % (three classes) and 75 % (five), 0.3 and 0.7 find 95 and 93 %, without false alarms; with 5 labels each,
88 % with 60 % false alarms became 95 % with 55 %. `WIDE` changes nothing there.
"""
NARROW = 0.5
"""Variance of the sum of both sides of a trade, over that of independent sides, up to which it is one."""
OPEN = 0.7
"""Standard deviation of how a sum is divided, over that of a division by chance, from which on it is not known."""
MOST_SETS = 3
"""Sets of classes that are named; of the others only how many there are."""
MINOR = 0.1
"""A class with a smaller part in a mix is not named."""
NO_POINT = Advice("{}, which shows how far they may go, or use a classifier with more outputs.", USE_POSTERIOR)
READ_SUM = "Read the sum of their shares, label more items of them, or use a classifier with more outputs."
OF_ALL = "Label more items of them, or use a classifier with more outputs."
"""Where every class is meant, whose shares sum to one."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BlindSpots:
    """What these outputs cannot see, as far as the labels show.

    Parameters
    ----------
    groups
        Positions of classes whose rows of the confusion may as well be equal, group by group.
    directions
        Shape (directions, classes): trades of classes that leave the outputs as they are, up to the labels' noise. What
        is added sums to one, and so does what is removed.
    faint
        Shape (directions, classes): trades that leave so faint a trace that with these labels what was traded is known
        to 20 points at best, one standard error, however many items are counted.
    """

    groups: tuple[tuple[int, ...], ...]
    directions: FloatArray
    faint: FloatArray


def of_posterior(spots: BlindSpots, counts: Counts, model: Density, prevalence: FloatArray) -> tuple[Finding, ...]:
    """Name the classes that draws, shape (draws, classes), cannot tell apart, and what is known of them together."""
    found = in_draws(spots, model, prevalence[:, None])
    together = tuple(_alike(counts, prevalence, group) for group in found.groups[:MOST_SETS])
    more = (_more_alike(counts, found.groups[MOST_SETS:]),) if len(found.groups) > MOST_SETS else ()
    hidden = (_hidden(counts.classes, found.directions, counts.labeled.shape),) if len(found.directions) else ()
    faint = (_barely(counts.classes, found.faint),) if len(found.faint) else ()
    return (*together, *more, *hidden, *faint)


def of_groups(spots: BlindSpots, whole: Counts, model: Density, prevalence: FloatArray) -> tuple[Finding, ...]:
    """Name the classes that draws of some group, shape (draws, groups, classes), cannot tell apart."""
    found = in_draws(spots, model, prevalence)
    alike = [
        replace(
            cannot_tell([whole.classes[row] for row in rows]),
            severity="caution",
            advice=READ_SUM if len(rows) < len(whole.classes) else OF_ALL,
        )
        for rows in _sets(found)
    ]
    return (*alike, *(replace(_barely(whole.classes, each[None]), advice=READ_SUM) for each in found.faint))


def of_point(spots: BlindSpots, counts: Counts, model: Density, prevalence: FloatArray) -> tuple[Finding, ...]:
    """Name the classes whose shares in a point, shape (classes,), should not be read one by one."""
    exact, classes = _exactly_alike(counts, model), counts.classes
    one_of_many = [alike for rows in _sets(spots) if len(alike := [row for row in rows if row in exact]) > 1]
    if not set(exact) <= {row for rows in one_of_many for row in rows}:
        one_of_many = [exact]
    wide = replace(spots, groups=tuple(group for group in spots.groups if prevalence[list(group)].sum() >= WIDE))
    by_chance = [rows for rows in _sets(wide) if not set(rows) <= set(exact)]
    return (
        *(cannot_tell([classes[row] for row in rows]) for rows in one_of_many),
        *(_by_chance([classes[row] for row in rows]) for rows in by_chance),
        *(replace(_barely(classes, each[None]), advice=NO_POINT) for each in spots.faint),
    )


def _sets(spots: BlindSpots) -> list[list[int]]:
    """Positions of the classes that look alike, set by set; those that look like mixes of each other are one set."""
    traded = np.flatnonzero((np.abs(spots.directions) > MINOR).any(axis=0)).tolist()
    return [*map(list, spots.groups), *([traded] if traded else [])]


def _exactly_alike(counts: Counts, model: Density) -> list[int]:
    """Positions of the classes between which the rates themselves, as a point takes them, leave the choice open."""
    from truecount.estimators.adjusted import indistinct_classes
    from truecount.estimators.rates import averages

    labeled = averages(counts.labeled, counts.labeled.sum(axis=1))
    rates = np.where(model.is_known[:, None], model.mean_confusion, labeled)
    has_rates = np.flatnonzero(rates.any(axis=1))
    return [int(has_rates[place]) for place in indistinct_classes(rates[has_rates])]


def in_draws(spots: BlindSpots, model: Density, prevalence: FloatArray) -> BlindSpots:
    """Keep what the posterior shows too: wide shares whose sum is narrower than they are, and its division unknown.

    Labels that are few make rows look alike which the posterior tells apart well enough: where classes are rare, or
    where what all classes have in common says how the classifier treats them. Rows that are known and equal, and
    directions that fewer outputs than classes leave open, are kept whatever the draws say.

    Parameters
    ----------
    prevalence
        Shape (draws, populations, classes); what one population shows is kept.
    """
    populations = prevalence.swapaxes(0, 1)
    groups = [
        group
        if model.is_known[list(group)].all()
        else sorted({row for shares in populations for row in _traders(group, shares, model.prevalence)})
        for group in spots.groups
    ]
    groups.sort(key=lambda group: -prevalence[..., list(group)].std(axis=0).max(initial=0.0))
    is_open = model.n_outputs < model.n_classes
    hidden = [is_open or _is_seen(each, prevalence, WIDE) for each in spots.directions]
    faint = [_is_seen(each, prevalence, BARELY) for each in spots.faint]
    return BlindSpots(
        groups=tuple(tuple(group) for group in groups if group),
        directions=spots.directions[np.array(hidden, dtype=bool)],
        faint=spots.faint[np.array(faint, dtype=bool)],
    )


def _traders(group: tuple[int, ...], shares: FloatArray, prior: FloatArray) -> list[int]:
    """The classes of a group whose shares are wide and traded for one another; none where the posterior tells them."""
    rows = np.array([row for row in group if _width(shares[:, row]) >= WIDE], dtype=np.int64)
    while len(rows) > 1:
        spread = np.cov(shares[:, rows], rowvar=False)
        fall = 1 - spread.sum(axis=1) / np.diag(spread)
        if fall.min() >= TRADED:
            return rows.tolist() if _split_is_open(shares[:, rows], prior[rows]) else []
        rows = np.delete(rows, int(fall.argmin()))
    return []


def _split_is_open(shares: FloatArray, prior: FloatArray) -> bool:
    """Whether little more is known of how the sum of these shares is divided than the prior's concentrations say.

    A prior that is sharper at the edges than a flat one counts as flat.
    """
    split = shares / np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    concentration = np.maximum(prior, 1.0)
    total = concentration.sum()
    by_chance = concentration * (total - concentration) / total**2 / (total + 1)
    return bool(split.var(axis=0).mean() >= OPEN**2 * by_chance.mean())


def _width(draws: FloatArray) -> FloatArray:
    """Width of the 95 % interval."""
    width: FloatArray = np.subtract(*np.quantile(draws, [0.975, 0.025], axis=0))
    return width


def _is_seen(direction: FloatArray, prevalence: FloatArray, least: float) -> bool:
    """Whether one side of a trade rises as the other falls, over at least so much, in one of the populations."""
    sides = (np.maximum(direction, 0.0), np.maximum(-direction, 0.0))
    rises, falls = (prevalence @ side / (side @ side) for side in sides)
    is_trade = np.var(rises + falls, axis=0) <= NARROW * (np.var(rises, axis=0) + np.var(falls, axis=0))
    return bool((is_trade & (_width((rises - falls) / 2) >= least)).any())


def cannot_tell(names: list[Name]) -> Finding:
    """Say that the shares of a point are one of many."""
    return Finding(
        "not-identified",
        "serious",
        f"The outputs cannot tell {listed_classes(names)} apart: their shares are one of many that fit equally well.",
        {"classes": names},
        NO_POINT,
    )


def _by_chance(names: list[Name]) -> Finding:
    """Say that a point is the only one that fits, and yet not to be relied on."""
    return Finding(
        "not-identified",
        "serious",
        f"The labels do not show that the classifier treats {listed_classes(names)} differently: one point fits, but "
        "another sample of as many labels could give a very different point.",
        {"classes": names},
        NO_POINT,
    )


def _alike(counts: Counts, prevalence: FloatArray, group: tuple[int, ...]) -> Finding:
    names = [counts.classes[row] for row in group]
    sums = prevalence[:, group].sum(axis=1)
    lower, upper = (float(end) for end in np.quantile(sums, [0.025, 0.975]))
    known = f"only their sum, {span(lower, upper)}, is known"
    if len(group) == len(counts.classes):
        known = "the labels do not show that the classifier treats them differently"
    return Finding(
        "not-identified",
        "caution",
        f"{listed_classes(names)} cannot be told apart by these outputs: {known}.",
        {"classes": names, "sum": [lower, upper]},
        "Do not read their shares one by one. A classifier with other outputs, or more labels of these classes, may "
        "tell them apart.",
    )


def _more_alike(counts: Counts, groups: tuple[tuple[int, ...], ...]) -> Finding:
    """Say how many sets are not named."""
    sets = [[counts.classes[row] for row in group] for group in groups]
    more = "1 more set of classes" if len(sets) == 1 else f"{len(sets)} more sets of classes"
    return Finding(
        "not-identified",
        "caution",
        f"{more} cannot be told apart either; their shares are known better than the ones above.",
        {"classes": [name for each in sets for name in each], "sets": sets},
        "Of classes whose intervals are wide, read the sum.",
    )


def _involved(classes: tuple[Name, ...], directions: FloatArray) -> list[Name]:
    """Classes that have the larger part in a trade, and not those that only mix with others."""
    return [name for name, part in zip(classes, np.abs(directions).max(axis=0), strict=True) if part > 1 - MINOR]


def _barely(classes: tuple[Name, ...], directions: FloatArray) -> Finding:
    said = _in_words(classes, directions, "hardly differ")
    return Finding(
        "barely-identified",
        "caution",
        f"{said}: with these labels, shares 20 points apart explain the counts about as well.",
        {"classes": _involved(classes, directions), "directions": directions.tolist()},
        "Read the whole interval and not its middle. More labels, or a classifier with other outputs, would help.",
    )


def _hidden(classes: tuple[Name, ...], directions: FloatArray, shape: tuple[int, ...]) -> Finding:
    said = _in_words(classes, directions, "look")
    few = f" {shape[1]} outputs cannot tell {shape[0]} classes apart." if shape[1] < shape[0] else ""
    return Finding(
        "not-identified",
        "caution",
        f"{said}, so their shares are not identifiable: trading one for the other leaves the expected counts as they "
        f"are.{few}",
        {"classes": _involved(classes, directions), "directions": directions.tolist()},
        "Do not read these shares one by one. Use a classifier with more outputs, for instance by keeping its scores, "
        "or label more items of these classes.",
    )


def trade_in_words(classes: tuple[Name, ...], direction: FloatArray) -> str:
    """Say which classes or mixes of classes one trade confuses, the side with fewer classes first."""
    one, other = sorted((np.flatnonzero(sign * direction > MINOR) for sign in (1, -1)), key=len)
    return f"{_mixed(classes, direction, one)} and {_mixed(classes, direction, other)}"


def _in_words(classes: tuple[Name, ...], directions: FloatArray, verb: str) -> str:
    """Say that one side of a trade looks like the other, the side with fewer classes first."""
    link = "like" if verb == "look" else "from"
    if len(directions) > 1:
        involved = np.flatnonzero(np.abs(directions).max(axis=0) > MINOR)
        return (
            f"To the classifier {listed([called(classes[row]) for row in involved])} {verb} {link} mixes of each other"
        )
    one, other = sorted((np.flatnonzero(sign * directions[0] > MINOR) for sign in (1, -1)), key=len)
    first, second = (_mixed(classes, directions[0], side) for side in (one, other))
    return f"To the classifier {first} {verb}s {link} {second}"


def _mixed(classes: tuple[Name, ...], direction: FloatArray, side: IntArray) -> str:
    if len(side) == 1:
        return called(classes[side[0]])
    parts = np.abs(direction[side]) / np.abs(direction[side]).sum()
    words = [f"{100 * part:.0f} % {called(classes[row])}" for row, part in zip(side, parts, strict=True)]
    return f"a mix of {listed(words)}"
