"""Whether groups that were drawn together say more of the confusion than its labels do.

A prior for the share of each group is also a statement about the box: if shares may be anything and the outputs of
twenty groups hardly differ, the box must be poor. One group says this faintly, many say it louder than few labels can.
"""

import numpy as np

from truecount._wording import called, percent
from truecount.counts import Counts
from truecount.inference.draws import Draws
from truecount.models import Density
from truecount.results.finding import Finding

CAUTION, SERIOUS = 2.0, 3.0
"""Standard deviations of what the labels say, by which a rate was moved."""


PROBABLE, LIKELY = 0.01, 0.1
"""Probability of a box that treats all classes alike, where draws leave that out."""


def outweighed(counts: Counts, model: Density, draws: Draws) -> Finding | None:
    """Find groups drawn together that say more of the confusion than its labels do."""
    joint = draws.run.joint
    if joint is None or joint.groups < 2 or model.is_known.all():
        return None
    left_out = joint.left_out or 0.0
    return _alike(left_out, joint.groups) if left_out > PROBABLE else _moved(counts, model, draws, joint.groups)


def _alike(left_out: float, groups: int) -> Finding:
    """Say that the groups are explained as well by a classifier that tells no class from another."""
    return Finding(
        "labels-outweighed",
        "serious" if left_out > LIKELY else "caution",
        f"The outputs of the {groups} groups are so alike that, if every share is as likely as any other, a box that "
        f"treats all classes alike explains them too (probability {percent(left_out)}), whatever its labels say; the "
        "draws leave that out.",
        {"left_out": left_out, "groups": groups},
        "Draw the groups apart, or a few of them together.",
    )


def _moved(counts: Counts, model: Density, draws: Draws, groups: int) -> Finding | None:
    """Find the rate of the confusion that groups drawn together moved furthest from what its labels say."""
    total = model.rows.sum(axis=1, keepdims=True)
    said = model.rows / total
    sd = np.sqrt(said * (1 - said) / (total + 1))
    found = draws.confusion.mean(axis=0)
    moved = np.where(model.is_known[:, None], 0.0, np.abs(found - said) / sd)
    row, column = np.unravel_index(moved.argmax(), moved.shape)
    if moved[row, column] < CAUTION:
        return None
    name, output = called(counts.classes[row]), str(counts.outputs[column])
    numbers = {
        "class": counts.classes[row],
        "output": counts.outputs[column],
        "by_labels": float(said[row, column]),
        "by_all": float(found[row, column]),
        "standard_deviations": float(moved[row, column]),
        "groups": groups,
    }
    return Finding(
        "labels-outweighed",
        "serious" if moved[row, column] >= SERIOUS else "caution",
        f"By its labels and their prior, {name} gets the output {output} {percent(said[row, column])} of the time; by "
        f"the {groups} groups taken together, {percent(found[row, column])}: what was believed of each "
        "group's share beforehand outweighs the labels.",
        numbers,
        f"Label more items of {name}, or draw the groups apart, or a few of them together.",
    )
