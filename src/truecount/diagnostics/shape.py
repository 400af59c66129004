"""What the draws themselves show: several answers, an edge that was not ruled out."""

import numpy as np

from truecount._advice import SHORTEST, Advice
from truecount._types import FloatArray
from truecount._wording import called, listed, listed_classes, percent, span
from truecount.counts import Counts
from truecount.diagnostics.identify import HARDLY
from truecount.inference.draws import Draws
from truecount.results.finding import Finding

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
