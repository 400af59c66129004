"""Counting: take the black box at its word."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from truecount._types import FloatArray
from truecount.counts.table import Counts
from truecount.errors import InputError
from truecount.estimators.rates import Rates, rates_of
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
