"""What a method asks of the data. Checked where the data enters, and trusted by the functions on arrays."""

from collections.abc import Sequence

import numpy as np

from truecount import _check
from truecount._advice import POSTERIOR, Advice
from truecount._types import FloatArray, IntArray, Name
from truecount.counts.table import COUNT_FIRST, Counts
from truecount.errors import InputError
from truecount.scores.scores import Scores


def counts_or_scores(data: Counts | Scores) -> Counts | Scores:
    """Return the data, or refuse what is neither counts nor scores."""
    _check.instance_of("data", data, (Counts, Scores), COUNT_FIRST)
    return data


def require_scores(method: str, data: Counts | Scores, *, every_class: bool = True) -> Scores:
    """Return scores that have an unlabelled item and labels of every class, or say what is missing."""
    if not isinstance(data, Scores):
        remedy = "Keep the classifier's probabilities in Scores(...), or choose a method that needs counts"
        raise InputError("data", "are counts", f"{method} needs the scores of every item", remedy)
    require_unlabeled(len(data.unlabeled))
    if every_class:
        require_every_class(method, data.items, data.classes)
    return data


def harden(data: Counts | Scores) -> Counts:
    """Return counts; of scores, count the most probable class of each item."""
    counts = data.to_counts() if isinstance(data, Scores) else data
    require_unlabeled(counts.unlabeled.sum())
    return counts


def require_unlabeled(items: float) -> None:
    """Refuse an empty unlabelled side."""
    if not items:
        raise InputError(
            "unlabeled", "holds no items", "a share is of something", "Pass the outputs of the population in question"
        )


def require_every_class(method: str, items: IntArray | FloatArray, classes: Sequence[Name]) -> None:
    """Refuse a class without labelled items."""
    empty = np.flatnonzero(items == 0)
    if len(empty):
        names = ", ".join(repr(classes[position]) for position in empty[:9]) + (", …" if len(empty) > 9 else "")
        raise InputError(
            "labeled",
            f"has no item of class {names}",
            f"{method} needs labelled items of every class",
            Advice("Label some, leave the class out, or use {}, which answers with the prior there", POSTERIOR),
        )
