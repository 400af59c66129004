"""A test and its validation become counts: how many tested positive, and how good the test is."""

import math
from typing import TypeAlias

import numpy as np

from truecount import _check
from truecount._types import FloatArray
from truecount.counts.table import Counts
from truecount.errors import InputError

Rate: TypeAlias = tuple[int, int] | float
"""So many of so many; or a probability that is known."""

NAMES = ("negative", "positive")


def survey(positive: tuple[int, int], *, sensitivity: Rate, specificity: Rate) -> tuple[Counts, FloatArray | None]:
    r"""Turn a survey and the validation of its test into counts, and into the rows of the confusion that are known.

    Parameters
    ----------
    positive
        How many tested positive, of how many tested.
    sensitivity
        How many tested positive, of how many truly positive; or a probability that is known.
    specificity
        How many tested negative, of how many truly negative; or a probability that is known.

    Returns
    -------
    The counts, classes ``negative`` and ``positive``; and the known rows for ``Prior.known_confusion``, NaN in those to
    be learned, or None where both are to be learned.

    Examples
    --------
    >>> counts, known = survey((50, 3330), sensitivity=(103, 122), specificity=0.995)
    >>> counts
    Counts: 122 labelled and 3330 unlabelled items, 2 classes, 2 outputs
    class\output  negative  positive
    negative             0         0
    positive            19       103
    unlabelled        3280        50
    >>> known
    array([[0.995, 0.005],
           [  nan,   nan]])
    """
    tested_positive, tested = _fraction("positive", positive)
    right = [_split("specificity", specificity), _split("sensitivity", sensitivity)]
    labeled = np.array([right[0][0], right[1][0][::-1]])
    known = np.array([right[0][1], right[1][1][::-1]])
    counts = Counts(labeled, [tested - tested_positive, tested_positive], NAMES, NAMES)
    return counts, None if np.isnan(known).all() else known


def _split(argument: str, rate: Rate) -> tuple[list[int], list[float]]:
    """Give counts of right and wrong results, and their probabilities where those are known."""
    if isinstance(rate, tuple):
        right, total = _fraction(argument, rate)
        return [right, total - right], [math.nan, math.nan]
    if not 0 <= rate <= 1:
        raise InputError(
            argument,
            f"is {rate!r}",
            "a known probability lies between 0 and 1",
            "Write 0.96 or 96%, or counts such as 103/122",
        )
    return [0, 0], [rate, round(1 - rate, 15)]


def _fraction(argument: str, value: tuple[int, int]) -> tuple[int, int]:
    part, total = (_check.whole_number(argument, number, least=0) for number in value)
    if not part <= total or not total:
        raise InputError(
            argument,
            f"is {part} of {total}",
            "the part cannot exceed the whole, nor the whole be 0",
            "Write it like 50/3330",
        )
    return part, total
