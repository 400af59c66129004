"""Counting: take the black box at its word, once or again and again at the prevalence just counted."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from truecount import _check
from truecount._types import FloatArray
from truecount.counts.table import Counts
from truecount.errors import InputError
from truecount.estimators.rates import Rates, rates_of, require_scores
from truecount.scores.scores import Scores

_UNCORRECTED = "It does not correct the classifier's errors, and more data does not fix that."


@dataclass(frozen=True, slots=True)
class CC:
    """Classify and count: the share of unlabelled items that got each output.

    Notes
    -----
    Not for data whose prevalence differs from that where the classifier was trained: it stays wrong however many
    items there are. Outputs must be the classes. Forman, Data Mining and Knowledge Discovery 17 (2008).

    Examples
    --------
    >>> CC().prevalence(Counts([[9, 1], [2, 8]], [3, 1]))
    array([0.75, 0.25])
    """

    name: ClassVar[str] = "cc"
    needs: ClassVar[Literal["counts"]] = "counts"
    caution: ClassVar[str] = _UNCORRECTED
    soft: ClassVar[bool] = False
    is_adjusted: ClassVar[bool] = False

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class in the unlabelled population."""
        if isinstance(data, Counts) and not data.outputs_are_classes:
            raise InputError(
                "data",
                f"have {len(data.classes)} classes and {len(data.outputs)} outputs that are not called alike",
                "CC needs outputs that are the classes",
                "Choose a method that corrects for the confusion, such as ACC",
            )
        return self.solve(rates_of(data, self, self.name))

    def solve(self, rates: Rates) -> FloatArray:
        """Shape (..., classes): the share of each class, for each set of averages."""
        return rates.observed


@dataclass(frozen=True, slots=True)
class PCC:
    """Probabilistic classify and count: the average score of the unlabelled items.

    Notes
    -----
    It shares the fault of `CC`. Bella, Ferri, Hernández-Orallo & Ramírez-Quintana, ICDM 2010.

    Examples
    --------
    >>> PCC().prevalence(Scores([[0.9, 0.1], [0.3, 0.7]], [0, 1], [[0.6, 0.4], [0.8, 0.2]]))
    array([0.7, 0.3])
    """

    name: ClassVar[str] = "pcc"
    needs: ClassVar[Literal["scores"]] = "scores"
    caution: ClassVar[str] = _UNCORRECTED
    soft: ClassVar[bool] = True
    is_adjusted: ClassVar[bool] = False

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class in the unlabelled population."""
        return self.solve(rates_of(data, self, self.name))

    def solve(self, rates: Rates) -> FloatArray:
        """Shape (..., classes): the share of each class, for each set of averages."""
        return rates.observed


def class_distribution_iterate(
    unlabeled: FloatArray, labeled_prevalence: FloatArray, *, most_rounds: int = 1000
) -> FloatArray:
    """Count the most probable classes, reweigh the scores by the count, and count again (CDE-Iterate).

    ``π_l ← share of items j where s_jl π_l / p_l is the largest``, from ``π = p``, whose first round is `CC`.

    Parameters
    ----------
    unlabeled
        Shape (items, classes): scores s.
    labeled_prevalence
        Shape (classes,): p, above zero.
    most_rounds
        Stop after so many rounds, if no count has come back by then.

    Returns
    -------
    Shape (classes,): the prevalence.

    Notes
    -----
    **Not consistent**: with calibrated scores and endless data it still misses the prevalence, and a class that gets
    no item in one round never comes back. `EM` differs by averaging probabilities in place of counting winners, and
    is consistent. Xue & Weiss, KDD 2009; Tasche, JMLR 18 (2017), section 3.4.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.8, 0.2], [0.55, 0.45], [0.3, 0.7]])
    >>> class_distribution_iterate(scores, np.array([0.5, 0.5]))
    array([1., 0.])
    """
    prevalence, seen = labeled_prevalence, set[bytes]()
    for _ in range(most_rounds):
        winners = (unlabeled * (prevalence / labeled_prevalence)).argmax(axis=1)
        prevalence = np.bincount(winners, minlength=len(labeled_prevalence)) / len(unlabeled)
        if prevalence.tobytes() in seen:
            break
        seen.add(prevalence.tobytes())
    return prevalence


@dataclass(frozen=True, slots=True)
class CDEIterate:
    """Iterated counting on scores: `class_distribution_iterate`.

    Parameters
    ----------
    most_rounds
        Stop after so many rounds, if no count has come back by then.
    """

    most_rounds: int = 1000
    name: ClassVar[str] = "cdeiterate"
    needs: ClassVar[Literal["scores"]] = "scores"
    caution: ClassVar[str] = "It is not consistent: more data does not bring it to the true shares."

    def __post_init__(self) -> None:
        _check.whole_number("most_rounds", self.most_rounds, least=1)

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class in the unlabelled population."""
        scores = require_scores(self.name, data)
        labeled_prevalence = scores.items / len(scores.labels)
        return class_distribution_iterate(scores.unlabeled, labeled_prevalence, most_rounds=self.most_rounds)
