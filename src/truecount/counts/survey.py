"""A test and its validation become counts: how many tested positive, and how good the test is."""

import math
from typing import TypeAlias

import numpy as np

from truecount import _check
from truecount._types import FloatArray
from truecount.counts.table import Counts
from truecount.errors import InputError

Rate: TypeAlias = tuple[float, float] | float | None
"""So many of so many; a probability that is known; or None, where nothing was counted."""

NAMES = ("negative", "positive")


def survey(positive: tuple[float, float], *, sensitivity: Rate, specificity: Rate) -> tuple[Counts, FloatArray | None]:
    r"""Turn a survey and the validation of its test into counts, and into the rows of the confusion that are known.

    Parameters
    ----------
    positive
        How many tested positive, of how many tested. Weighted numbers, which are not whole, are of an effective sample
        size: ``(50.5, 1200)`` says as much as 1,200 equally weighted people of whom 4.2 % tested positive.
    sensitivity
        How many tested positive, of how many truly positive; a probability that is known; or None.
    specificity
        How many tested negative, of how many truly negative; a probability that is known; or None.

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
    unlabeled = np.array([tested - tested_positive, tested_positive])
    is_weighted = any(not float(number).is_integer() for number in (*labeled.ravel(), *unlabeled))
    squares = {"labeled_squares": 1.0 * labeled, "unlabeled_squares": 1.0 * unlabeled} if is_weighted else {}
    counts = Counts(labeled, unlabeled, NAMES, NAMES, **squares)
    return counts, None if np.isnan(known).all() else known


def _split(argument: str, rate: Rate) -> tuple[list[float], list[float]]:
    """Return counts of right and wrong results, and their probabilities where those are known."""
    if rate is None:
        return [0, 0], [math.nan, math.nan]
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


def _fraction(argument: str, value: tuple[float, float]) -> tuple[float, float]:
    part, total = (float(number) if isinstance(number, float) else number for number in value)
    for number in value:
        if not isinstance(number, float):
            _check.whole_number(argument, number, least=0)
    if not 0 <= part <= total < math.inf or not total:
        raise InputError(
            argument,
            f"is {part:g} of {total:g}",
            "the part cannot exceed the whole, nor the whole be 0",
            "Write it like 50/3330",
        )
    return part, total
