"""What a monitoring job should stop for: a share that changed, a claim about a share that does not hold."""

from dataclasses import dataclass
from math import erfc, sqrt
from typing import Any, Literal

import numpy as np

from truecount._types import FloatArray, Name

WINDOW = 2
"""The last so many periods are compared with all before."""
FEWEST_BEFORE = 3
"""Periods with items before those that are tested."""
MOST_FALSE = 0.05 / 22
"""P-value of a change; a stream of 26 periods is looked at 22 times, and where nothing changes 5 % or less of them
raise an alert."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """Something that happened to a group.

    Parameters
    ----------
    kind
        ``"changed"``: the share is not what it was before; ``"not-above"``, ``"not-below"``: a claim does not hold.
    group, name
        Where, and of which class.
    probability
        Of such a difference where nothing changed; or of the claim.
    message
        A sentence.
    """

    kind: Literal["changed", "not-above", "not-below"]
    group: Any
    name: Name
    probability: float
    message: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; the group is added by those who know how its key is written."""
        return {"kind": self.kind, "class": self.name, "probability": self.probability, "message": self.message}


def change_p_value(unlabeled: FloatArray, confusion: FloatArray, place: int) -> float:
    """Test whether the share of a class in the last two periods is that of all periods before.

    As long as neither shares nor confusion change, outputs have one distribution in all periods. So the statistic, the
    difference of the corrected shares ``w·q``, has mean zero under the hypothesis even where `confusion` is wrong,
    which only costs power. Its variance is that of outputs drawn from the pooled distribution (a score test).

    Parameters
    ----------
    unlabeled
        Shape (periods, outputs): items of periods that have some, in the order of time.
    confusion
        Shape (classes, outputs): the posterior mean.
    place
        Of the class.

    Examples
    --------
    >>> weeks = [[60, 40], [58, 42], [61, 39], [59, 41], [35, 65], [40, 60]]
    >>> change_p_value(np.array(weeks), np.array([[0.9, 0.1], [0.2, 0.8]]), 0) < MOST_FALSE
    True
    """
    if len(unlabeled) < WINDOW + FEWEST_BEFORE:
        return 1.0
    before, after = unlabeled[:-WINDOW].sum(axis=0), unlabeled[-WINDOW:].sum(axis=0)
    pooled = (before + after) / (before.sum() + after.sum())
    weights = _weights(confusion, pooled, place)
    variance = float(pooled @ weights**2 - (pooled @ weights) ** 2) * (1 / before.sum() + 1 / after.sum())
    if not variance > 0:
        return 1.0
    difference = float(weights @ (after / after.sum() - before / before.sum()))
    return erfc(abs(difference) / sqrt(2 * variance))


def _weights(confusion: FloatArray, outputs: FloatArray, place: int) -> FloatArray:
    """Return weights of the outputs whose sum is the share of a class, those of least variance."""
    inverse = 1 / np.maximum(outputs, 1e-6)
    of_class = np.linalg.pinv((confusion * inverse) @ confusion.T)[place]
    weights: FloatArray = of_class @ (confusion * inverse)
    return weights
