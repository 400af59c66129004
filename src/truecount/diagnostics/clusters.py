"""Items that belong together: how much less they tell, and whether their clusters are enough to say so."""

from collections.abc import Sequence

import numpy as np

from truecount._types import FloatArray
from truecount.counts import Counts, Groups
from truecount.counts.clusters import Clusters
from truecount.counts.design_effect import DesignEffect
from truecount.results.finding import Finding

ALIKE, FEW_CLUSTERS = 1.05, 10
"""Design effect from which on items of a cluster are said to be alike; degrees of freedom that are few."""
MOST_OF_ONE, FEW_ITEMS = 0.5, 10
"""Share of one cluster that leaves too little to compare it with; items of a class or an output that are few anyway."""


def clustered(
    counts: Counts | Groups,
    effect: DesignEffect,
    more: Sequence[DesignEffect] = (),
    *,
    worth: tuple[FloatArray, FloatArray],
    classes: Sequence[DesignEffect] = (),
    by_output: bool = False,
) -> Finding | None:
    """Say how much less clustered items tell than as many independent ones.

    Parameters
    ----------
    counts, effect
        The data, and their design effect; of groups that of the labels.
    more
        The design effect of each group.
    worth
        How many equally weighted, independent items labelled and unlabelled ones are worth.
    classes
        That of the class shares of each group's labels, where these are a random sample of it.
    by_output
        Whether labels tell P(class | output), and not P(output | class).
    """
    if counts.clusters is None:
        return None
    if counts.clusters.is_single:
        said = "Every item is a cluster of its own, so items count as independent, as they do without clusters."
        advice = "If several rows belong together, name the column that they have in common."
        return Finding("clustered", "info", said, {"clusters": counts.clusters.number, "design_effect": 1.0}, advice)
    every, number = [effect, *more, *classes], counts.clusters.number
    least, most, freedom = (
        min(each.value for each in every),
        max(each.value for each in every),
        min(each.freedom for each in every),
    )
    told = f"{effect.value:.1f} times" if not more else f"{least:.1f} to {most:.1f} times"
    labeled, unlabeled = (float(side.sum()) for side in worth)
    message = (
        f"Items belong to {number:,} clusters, and those of one are alike: shares vary {told} as much as those of as "
        f"many independent items (design effect). They count as {labeled:,.0f} labelled and {unlabeled:,.0f} "
        "unlabelled items."
    )
    if classes:
        message += f" Classes of a group's labels, which tell its shares, have {_range(classes)}."
    if most < ALIKE:
        message = f"Items belong to {number:,} clusters; those of one are hardly more alike than others."
    is_few = freedom < FEW_CLUSTERS
    few = f" So few clusters tell little of that: about {freedom:.0f} degrees of freedom." if is_few else ""
    largest = _largest(counts.clusters, by_output=by_output)
    is_large = largest > MOST_OF_ONE
    large = (
        f" One cluster holds {largest:.0%} of the labels of {'an output' if by_output else 'a class'}, or of the "
        "unlabelled items: hardly any others show how far clusters differ, so its items are taken to be all alike. "
        "Where they are not, the interval is too wide."
    )
    return Finding(
        "clustered",
        "caution" if is_few or is_large else "info",
        message + few + (large if is_large else ""),
        {
            "clusters": number,
            "design_effect": effect.value,
            "degrees_of_freedom": freedom,
            "labeled": labeled,
            "unlabeled": unlabeled,
            "largest_cluster": largest,
            **({"design_effects_of_groups": [each.value for each in more]} if more else {}),
            **({"design_effects_of_classes": [each.value for each in classes]} if classes else {}),
        },
        "More clusters tell more than more items of each." if is_few or is_large or most >= ALIKE else "",
    )


def _range(effects: Sequence[DesignEffect]) -> str:
    values = [each.value for each in effects]
    least, most = f"{min(values):.1f}", f"{max(values):.1f}"
    return f"a design effect of {least}" if least == most else f"design effects of {least} to {most}"


def _largest(clusters: Clusters, *, by_output: bool) -> float:
    """Return the largest share of a cluster in the labels of a class or an output, or in the items of a population.

    What has fewer than `FEW_ITEMS` is left out: its labels are few, whatever their clusters are.
    """
    labels = clusters.labeled.swapaxes(-1, -2) if by_output else clusters.labeled
    sides = [side.sum(axis=-1).reshape(len(clusters.bins), -1) for side in (labels, clusters.unlabeled)]
    items = np.concatenate(sides, axis=1)
    items = items[:, items.sum(axis=0) >= FEW_ITEMS]
    return float((items.max(axis=0) / items.sum(axis=0)).max()) if items.size else 0.0
