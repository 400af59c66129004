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


def outweighed(counts: Counts, model: Density, draws: Draws) -> Finding | None:
    """Find the rate of the confusion that groups drawn together moved furthest from what its labels say."""
    if draws.record.get("joint", 1) < 2 or model.is_known.all():
        return None
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
        "groups": draws.record["joint"],
    }
    return Finding(
        "labels-outweighed",
        "serious" if moved[row, column] >= SERIOUS else "caution",
        f"By its labels, {name} gets the output {output} {percent(said[row, column])} of the time; by the "
        f"{draws.record['joint']} groups taken together, {percent(found[row, column])}: what was believed of each "
        "group's share beforehand outweighs the labels.",
        numbers,
        f"Label more items of {name}, or draw the groups apart, or a few of them together.",
    )
