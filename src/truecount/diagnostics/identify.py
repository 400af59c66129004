"""What data leave open: classes that outputs cannot tell apart, shares left to the prior, several answers, edges."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truecount._advice import SHORTEST, USE_POSTERIOR, Advice
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import alike, called, listed, listed_classes, listed_quoted, percent, span
from truecount.counts import Counts
from truecount.diagnostics.blind_spots import WIDE, BlindSpots, blind_spots, in_draws
from truecount.estimators.adjusted import indistinct_classes
from truecount.estimators.rates import averages
from truecount.inference.draws import Draws
from truecount.models import Density
from truecount.results.finding import Finding

HARDLY = 0.8
"""Posterior over prior standard deviation, above which little was learned of a class."""
WORSE = 3.0
"""Standard errors below chance, beyond which outputs are thought to be swapped."""
MINOR = 0.1
"""A class with a smaller part in a mix is not named."""
NO_POINT = Advice("{}, which shows how far they may go, or use a classifier with more outputs.", USE_POSTERIOR)
READ_SUM = "Read the sum of their shares, label more items of them, or use a classifier with more outputs."
MOST_SETS = 3
"""Sets of classes that are named; of the others only how many there are."""
PROBABILITIES = np.array([0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975])
LIKELY = 0.15
"""Density at an edge over the highest, from which on a 95 % interval of the likelihood would hold the edge."""
LOOKED_AT = 1000
"""Draws that are enough to see an edge."""
NEAR = 3.0
"""Standard deviations between a mean and zero, beyond which zero is ruled out."""
FAR = 0.01
"""The interval's distance from an edge that matters."""
FEWEST = 0.01
"""A mode with a smaller share of the draws is no answer."""
APART = 4.0
"""Standard deviations within a chain between the means of chains that converged on different answers."""


def not_identified(counts: Counts, model: Density, draws: Draws) -> tuple[Finding, ...]:
    """Name the classes that these outputs cannot tell apart, and what is known of them together."""
    found = in_draws(blind_spots(model, counts.effective.labeled), model, draws.prevalence[:, None])
    together = tuple(_alike(counts, draws, group) for group in found.groups[:MOST_SETS])
    more = (_more_alike(counts, found.groups[MOST_SETS:]),) if len(found.groups) > MOST_SETS else ()
    hidden = (_traded(counts.classes, found.directions, counts.labeled.shape),) if len(found.directions) else ()
    faint = (_barely(counts.classes, found.faint),) if len(found.faint) else ()
    return (*together, *more, *hidden, *faint)


def indistinct_in_groups(whole: Counts, model: Density, prevalence: FloatArray) -> tuple[Finding, ...]:
    """Name the classes whose shares are not to be read one by one in some group; draws by group and class."""
    found = in_draws(blind_spots(model, whole.effective.labeled), model, prevalence)
    names = [whole.classes[row] for row in _rows_of(found)]
    alike = (replace(cannot_tell(names), severity="caution", advice=READ_SUM),) if names else ()
    return (*alike, *(replace(_barely(whole.classes, each[None]), advice=READ_SUM) for each in found.faint))


def indistinct(counts: Counts, model: Density, prevalence: FloatArray) -> tuple[Finding, ...]:
    """Name the classes whose shares a point, which has no width to show it, had better not tell one by one."""
    found = blind_spots(model, counts.effective.labeled)
    groups = tuple(group for group in found.groups if prevalence[list(group)].sum() >= WIDE)
    rows, exact = _rows_of(replace(found, groups=groups)), _exactly_alike(counts, model)
    solved = [counts.classes[row] for row in rows if row not in exact]
    faint = tuple(replace(_barely(counts.classes, each[None]), advice=NO_POINT) for each in found.faint)
    one_of_many = (cannot_tell([counts.classes[row] for row in exact]),) if exact else ()
    return (*one_of_many, *((_by_chance(solved),) if solved else ()), *faint)


def _rows_of(spots: BlindSpots) -> list[int]:
    """Positions of the classes that have a part in a blind spot."""
    traded = np.flatnonzero((np.abs(spots.directions) > MINOR).any(axis=0)).tolist()
    return sorted({*traded, *(row for group in spots.groups for row in group)})


def _exactly_alike(counts: Counts, model: Density) -> list[int]:
    """Positions of the classes between which the rates themselves, as a point takes them, leave the choice open."""
    rates = np.where(
        model.is_known[:, None], model.mean_confusion, averages(counts.labeled, counts.labeled.sum(axis=1))
    )
    has_rates = np.flatnonzero(rates.any(axis=1))
    return [int(has_rates[place]) for place in indistinct_classes(rates[has_rates])]


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
        "as many other labels would give quite another.",
        {"classes": names},
        NO_POINT,
    )


def _alike(counts: Counts, draws: Draws, group: tuple[int, ...]) -> Finding:
    names = [counts.classes[row] for row in group]
    sums = draws.prevalence[:, group].sum(axis=1)
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
        f"{more} cannot be told apart either; their shares are known better than those.",
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


def _traded(classes: tuple[Name, ...], directions: FloatArray, shape: tuple[int, ...]) -> Finding:
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


def contraction(model: Density, draws: Draws) -> tuple[FloatArray, FloatArray]:
    """Shapes (classes,): standard deviation of each share before the data and after."""
    share = model.prevalence / model.prevalence.sum()
    before: FloatArray = np.sqrt(share * (1 - share) / (model.prevalence.sum() + 1))
    away = draws.prevalence - np.ones(len(draws.prevalence)) @ draws.prevalence / len(draws.prevalence)
    after: FloatArray = np.sqrt(np.einsum("dl,dl->l", away, away) / len(away))
    return before, after


def prior_dominated(counts: Counts, model: Density, kept: FloatArray, *, said: set[Name]) -> Finding | None:
    """Name the classes, unless all of them were `said` already, of whose shares the data say hardly anything."""
    little = {name: float(ratio) for name, ratio in zip(counts.classes, kept, strict=True) if ratio > HARDLY}
    if not little.keys() - said:
        return None
    advice = (
        "Look at the confusion: a classifier that gives these classes the same outputs cannot count them. Or "
        "use more items."
    )
    weight, items = float(model.prevalence.sum()), float(model.unlabeled.sum())
    if weight >= items:
        advice = f"The prior of the prevalence weighs {weight:,.0f}, the population's items {items:,.0f}: weaken it."
    return Finding(
        "prior-dominated",
        "caution",
        f"The data say hardly anything about the share of {listed_classes(little)}: it is almost as uncertain as "
        "before.",
        {"classes": list(little), "kept": list(little.values())},
        advice,
    )


def kept_uncertainty(model: Density, draws: Draws) -> FloatArray:
    """Shape (classes,): standard deviation of each share after the data over that before."""
    before, after = contraction(model, draws)
    return np.divide(after, before, out=np.zeros_like(after), where=before > 0)


def worse_than_chance(counts: Counts, model: Density) -> Finding | None:
    """Notice a classifier that is wrong more often than a coin, where outputs are called like the classes."""
    if not counts.outputs_are_classes:
        return None
    own = [counts.outputs.index(name) for name in counts.classes]
    right = model.mean_confusion[np.arange(len(own)), own]
    learned = right * (1 - right) / (model.rows.sum(axis=1) + 1)
    error = np.sqrt(learned[~model.is_known].sum())
    if right.sum() - 1 >= -WORSE * error:
        return None
    return Finding(
        "worse-than-chance",
        "caution",
        f"The classifier names the right class {percent(float(right.mean()))} of the time, less often than chance.",
        {"right": right.tolist()},
        "Check whether classes or outputs were swapped; if not, the answer stands.",
    )


def edge_not_excluded(counts: Counts, draws: Draws, kept: FloatArray) -> Finding | None:
    """Find classes that may be absent, though the equal-tailed interval begins well above zero.

    Those of which nothing was learned, by the uncertainty that they kept, are left out.

    An equal-tailed interval leaves 2.5 % of the draws on either side, also where the density is highest at the edge:
    a share of zero is then always outside, however little the data say against it.
    """
    if not counts.unlabeled.sum():
        return None
    some = draws.prevalence[:: max(1, len(draws.prevalence) // LOOKED_AT)]
    mean, spread = some.mean(axis=0), some.std(axis=0)
    near = np.flatnonzero((mean < NEAR * spread) & (spread > FAR) & (kept <= HARDLY))
    ends = np.quantile(some[:, near], PROBABILITIES, axis=0)
    missed = (_edge_density(ends) >= LIKELY) & (ends[0] >= FAR)
    rows = near[missed]
    if not len(rows):
        return None
    ends = np.quantile(draws.prevalence[:, rows], PROBABILITIES[[0, -1]], axis=0)
    names = [counts.classes[row] for row in rows]
    return Finding(
        "edge-not-excluded",
        "caution",
        f"Nothing rules out that {'' if len(names) == 1 else 'one of '}{listed_classes(names)} is absent; an "
        "equal-tailed interval never reaches zero, and cannot show it.",
        {"classes": names, "lower": ends[0].tolist(), "upper": ends[-1].tolist()},
        Advice("Where a class may be absent, the shortest interval, {}, is the one to read.", SHORTEST),
    )


def _edge_density(ends: FloatArray) -> FloatArray:
    """Shape (classes,): density below the lowest quantile over the highest density between two of them."""
    with np.errstate(divide="ignore", invalid="ignore"):
        below = PROBABILITIES[0] / ends[0]
        between = (np.diff(PROBABILITIES)[:, None] / np.diff(ends, axis=0)).max(axis=0)
        ratio: FloatArray = below / np.maximum(between, below)
    return np.nan_to_num(ratio)


def several_answers(counts: Counts, draws: Draws) -> Finding | None:
    """Find different answers that the posterior allows, and say what each says."""
    return _unreconciled(counts, draws) or _weighed(counts, draws)


def _weighed(counts: Counts, draws: Draws) -> Finding | None:
    """Find modes that draws lie about, and the probability of each."""
    modes = np.array(draws.run.modes)
    if not len(modes):
        return None
    nearest = np.abs(draws.prevalence[:, None] - modes).max(axis=2).argmin(axis=1)
    weights = np.bincount(nearest, minlength=len(modes)) / len(nearest)
    answers = [int(answer) for answer in np.argsort(-weights, kind="stable") if weights[answer] >= FEWEST]
    if len(answers) < 2:
        return None
    row = int(np.ptp(modes[answers], axis=0).argmax())
    ends = [np.quantile(draws.prevalence[nearest == answer, row], [0.025, 0.975]) for answer in answers]
    said = [f"{span(*end)} ({percent(weights[answer])})" for answer, end in zip(answers, ends, strict=True)]
    return Finding(
        "several-answers",
        "caution",
        f"The counts allow {len(answers)} different answers. {called(counts.classes[row])} is {' or '.join(said)}; in "
        "brackets how probable each is.",
        {
            "class": counts.classes[row],
            "probabilities": weights[answers].tolist(),
            "means": [draws.prevalence[nearest == answer].mean(axis=0).tolist() for answer in answers],
            "intervals": [end.tolist() for end in ends],
        },
        "A mean between them is no answer. Give a prior that favours what you know, or label more items.",
    )


def _unreconciled(counts: Counts, draws: Draws) -> Finding | None:
    """Find chains that converged on different answers."""
    if draws.chains is None or draws.chains < 2:
        return None
    chains = draws.prevalence.reshape(draws.chains, -1, draws.prevalence.shape[1])
    camps = _camps(chains.mean(axis=1), np.median(chains.std(axis=1), axis=0))
    if len(camps) < 2:
        return None
    row = int(np.ptp([chains[camp].mean(axis=(0, 1)) for camp in camps], axis=0).argmax())
    ends = [np.quantile(chains[camp][..., row], [0.025, 0.975]) for camp in camps]
    said = [f"{len(camp)} of {draws.chains} say {span(*end)}" for camp, end in zip(camps, ends, strict=True)]
    return Finding(
        "several-answers",
        "serious",
        f"The chains converged on {len(camps)} different answers. Of {called(counts.classes[row])}, {listed(said)}.",
        {
            "class": counts.classes[row],
            "chains": [len(camp) for camp in camps],
            "means": [chains[camp].mean(axis=(0, 1)).tolist() for camp in camps],
            "intervals": [end.tolist() for end in ends],
        },
        "Both explain the counts; how many chains found each says little. Give a prior that favours what you know, or "
        "label more items.",
    )


def _camps(means: FloatArray, within: FloatArray) -> list[list[int]]:
    """Put chains together that are linked by small steps, the largest camp first; a camp of one is no answer."""
    distance = (np.abs(means[:, None] - means[None]) / np.maximum(within, 1e-12)).max(axis=2)
    camps: list[list[int]] = []
    for chain in range(len(means)):
        near = [camp for camp in camps if distance[chain, camp].min() <= APART]
        camps = [camp for camp in camps if camp not in near]
        camps.append([chain, *(member for camp in near for member in camp)])
    least = 2 if len(means) >= 4 else 1
    return sorted((sorted(camp) for camp in camps if len(camp) >= least), key=len, reverse=True)


def names_alike(**names: Sequence[Name]) -> Finding | None:
    """Find names that were perhaps meant to be one; `names` has those of each kind."""
    found = {kind: alike(each) for kind, each in names.items()}
    told = [f"the {kind} {listed_quoted(each)}" for kind, sets in found.items() for each in sets]
    if not told:
        return None
    message = f"Names differ in case or blanks only, and are counted apart: {'; '.join(told)}."
    advice = "If they mean the same, write them alike and count again."
    return Finding("names-alike", "caution", message, {kind: sets for kind, sets in found.items() if sets}, advice)
