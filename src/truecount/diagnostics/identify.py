"""What data leave open: classes that outputs cannot tell apart, shares left to the prior, several answers, edges."""

from collections.abc import Sequence

import numpy as np

from truecount._advice import SHORTEST, Advice
from truecount._chi_square import chi_square_quantile
from truecount._types import FloatArray, Name
from truecount._wording import alike, called, listed, listed_classes, listed_quoted, percent, span
from truecount.counts import Counts
from truecount.diagnostics.blind_spots import BARELY, BlindSpots, of_groups, of_point, of_posterior
from truecount.inference.draws import Draws
from truecount.models import Density
from truecount.results.finding import Finding

LEVEL = 0.95
"""How often classes whose rows are really equal are found to be alike."""
HARDLY = 0.8
"""Posterior over prior standard deviation, above which little was learned of a class."""
WORSE = 3.0
"""Standard errors below chance, beyond which outputs are thought to be swapped."""
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


def blind_spots(model: Density, labeled: FloatArray) -> BlindSpots:
    """Merge classes whose labels look alike, and find the trades between the rest that no output shows.

    Two rows are alike where their chi-square distance is what sampling makes of equal ones, 19 times in 20. Classes
    without labels are left out: nothing is known of them.
    """
    rows, weights = model.mean_confusion, np.where(model.is_known, np.inf, model.rows.sum(axis=1))
    has_labels = np.flatnonzero((labeled.sum(axis=1) > 0) | model.is_known)
    groups = [[int(row)] for row in has_labels]
    rows, weights = rows[has_labels], weights[has_labels]
    apart = np.full((len(rows), len(rows)), np.inf)
    for row in range(len(rows)):
        apart[row, row + 1 :] = _distances(rows[row:], weights[row:], 0)[1:]
    while len(groups) > 1 and (pair := _most_alike(apart, rows.shape[1])) is not None:
        kept, gone = pair
        share = 0.5 if np.isinf(weights[kept]) else weights[kept] / (weights[kept] + weights[gone])
        rows[kept], weights[kept] = share * rows[kept] + (1 - share) * rows[gone], weights[kept] + weights[gone]
        groups[kept] += groups.pop(gone)
        rows, weights = np.delete(rows, gone, axis=0), np.delete(weights, gone)
        apart = np.delete(np.delete(apart, gone, axis=0), gone, axis=1)
        new = _distances(rows, weights, kept)
        apart[kept, kept + 1 :], apart[:kept, kept] = new[kept + 1 :], new[:kept]
    hidden, faint = (_over_classes(found, groups, model.n_classes) for found in _trades(rows, weights))
    alike = tuple(tuple(sorted(group)) for group in groups if len(group) > 1)
    return BlindSpots(groups=alike, directions=hidden, faint=faint)


def _over_classes(found: FloatArray, groups: list[list[int]], n_classes: int) -> FloatArray:
    """Share what is traded of a group among its classes."""
    directions = np.zeros((len(found), n_classes))
    for place, group in enumerate(groups):
        directions[:, group] = found[:, [place]] / len(group)
    return directions


def _distances(rows: FloatArray, weights: FloatArray, own: int) -> FloatArray:
    """Shape (rows,): chi-square distance of one row from each, for their noise."""
    heavy = np.where(np.isinf(weights), 1e12, weights)
    share = (heavy[own] / (heavy[own] + heavy))[:, None]
    pooled = np.maximum(share * rows[own] + (1 - share) * rows, 1e-12)
    return np.asarray(((rows[own] - rows) ** 2 / pooled).sum(axis=1) / (1 / heavy[own] + 1 / heavy))


def _most_alike(apart: FloatArray, n_outputs: int) -> tuple[int, int] | None:
    """The pair of rows that are closest, by their distances; None where every pair can be told apart."""
    first, second = np.unravel_index(apart.argmin(), apart.shape)
    if n_outputs > 1 and apart[first, second] > chi_square_quantile(n_outputs - 1, LEVEL):
        return None
    return int(first), int(second)


def _trades(rows: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shapes (directions, rows): trades without any effect on the outputs, and with a faint one; parts sum to one."""
    n_rows, n_outputs = rows.shape
    if n_rows < 2:
        return np.zeros((0, n_rows)), np.zeros((0, n_rows))
    mixed = np.maximum(rows.mean(axis=0), 1e-12)
    sum_zero = np.linalg.qr(np.column_stack([np.ones(n_rows), np.eye(n_rows)[:, 1:]]))[0][:, 1:]
    turned, sizes, _ = np.linalg.svd(sum_zero.T @ (rows / np.sqrt(mixed)))
    vectors = (sum_zero @ turned).T
    lengths = np.abs(vectors).sum(axis=1) / 2
    vectors /= lengths[:, None]
    seen = np.zeros(len(vectors))
    seen[: len(sizes)] = (sizes / lengths[: len(sizes)]) ** 2
    noise = vectors**2 @ ((rows * (1 - rows) / mixed).sum(axis=1) / weights) / max(n_outputs - 1, 1)
    hidden = seen <= noise * chi_square_quantile(max(n_outputs - n_rows + 1, 1), LEVEL) + 1e-20
    if n_rows < 3:
        hidden[:] = False  # a pair is merged where nothing tells it apart
    faint = ~hidden & (noise > BARELY**2 * seen)
    return vectors[hidden], vectors[faint]


def not_identified(counts: Counts, model: Density, draws: Draws) -> tuple[Finding, ...]:
    """Name the classes that these outputs cannot tell apart, and what is known of them together."""
    spots = blind_spots(model, counts.effective.labeled)
    return of_posterior(spots, counts, model, draws.prevalence) if _is_any(spots) else ()


def indistinct_in_groups(whole: Counts, model: Density, prevalence: FloatArray) -> tuple[Finding, ...]:
    """Name the classes whose shares are not to be read one by one in some group; draws by group and class."""
    spots = blind_spots(model, whole.effective.labeled)
    return of_groups(spots, whole, model, prevalence) if _is_any(spots) else ()


def indistinct(counts: Counts, model: Density, prevalence: FloatArray) -> tuple[Finding, ...]:
    """Name the classes whose shares in a point, which has no width to show it, should not be read one by one."""
    spots = blind_spots(model, counts.effective.labeled)
    return of_point(spots, counts, model, prevalence) if _is_any(spots) else ()


def _is_any(spots: BlindSpots) -> bool:
    return bool(spots.groups or len(spots.directions) or len(spots.faint))


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
    if not len(near):
        return None
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
