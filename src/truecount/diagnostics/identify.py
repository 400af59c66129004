"""Whether these outputs can tell the classes apart."""

import numpy as np

from truecount._wording import listed
from truecount.counts import Counts
from truecount.inference.draws import Draws
from truecount.models import Density
from truecount.results.finding import Finding

HARDLY = 0.8
"""Posterior over prior standard deviation, above which little was learned of a class."""
WORSE = 3.0
"""Standard errors below chance, beyond which outputs are thought to be swapped."""


def hardly_learned(counts: Counts, model: Density, draws: Draws) -> Finding | None:
    """Name the classes of whose shares the data say hardly anything."""
    n_classes, n_outputs = counts.labeled.shape
    if n_outputs < n_classes or not counts.unlabeled.sum():
        return None  # said by other findings
    concentration = model.prevalence
    share = concentration / concentration.sum()
    before = np.sqrt(share * (1 - share) / (concentration.sum() + 1))
    kept = draws.prevalence.std(axis=0) / before
    little = {name: float(ratio) for name, ratio in zip(counts.classes, kept, strict=True) if ratio > HARDLY}
    if not little:
        return None
    said = listed(list(little))
    return Finding(
        "hardly-learned",
        "caution",
        f"The data say hardly anything about the share of {said}, which is almost as uncertain as before.",
        {"classes": list(little), "kept": list(little.values())},
        "Look at the confusion: a box that gives these classes the same outputs cannot count them. Or use more items.",
    )


def worse_than_chance(counts: Counts, model: Density, draws: Draws) -> Finding | None:
    """Notice a box that is wrong more often than a coin, where outputs are called like the classes."""
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
        f"The box names the right class {right.mean():.0%} of the time, less often than chance would.",
        {"right": right.tolist()},
        "Check whether classes or outputs were swapped; if not, the answer stands.",
    )
