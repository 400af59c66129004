"""Adjusted counting: the choices of `truecount.estimators.linear`, on counts and on scores."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from truecount._simplex import project_to_simplex
from truecount._types import FloatArray
from truecount.counts.table import Counts
from truecount.estimators.linear import adjusted_count, black_box_shift, invariant_ratio, invariant_rows
from truecount.estimators.rates import Rates, rates_of
from truecount.scores.scores import Scores


@dataclass(frozen=True, slots=True)
class ACC:
    """Adjusted classify and count, on counts: `adjusted_count`.

    Parameters
    ----------
    restricted
        Whether to go to the nearest point of the simplex; left out of it, shares may be negative or above one.

    Examples
    --------
    >>> ACC().prevalence(Counts([[90, 10], [20, 80]], [55, 45]))
    array([0.5, 0.5])
    """

    restricted: bool = True
    name: ClassVar[str] = "acc"
    needs: ClassVar[Literal["counts"]] = "counts"
    caution: ClassVar[str] = ""
    soft: ClassVar[bool] = False
    is_adjusted: ClassVar[bool] = True

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class in the unlabelled population."""
        return self.solve(rates_of(data, self, self.name))

    def solve(self, rates: Rates) -> FloatArray:
        """Shape (..., classes): the share of each class, for each set of averages."""
        return _apply(self.inverse(rates), rates.observed, self.restricted)

    def inverse(self, rates: Rates) -> FloatArray:
        """Shape (..., classes, outputs): the left inverse that takes outputs to classes."""
        return adjusted_count(rates.confusion)

    def rows(self, n_outputs: int) -> FloatArray:
        """Shape (rows, outputs): what of the outputs the squared errors are summed over."""
        return np.eye(n_outputs)


@dataclass(frozen=True, slots=True)
class PACC:
    """Adjusted classify and count, on scores: `adjusted_count`.

    Parameters
    ----------
    restricted
        Whether to go to the nearest point of the simplex; left out of it, shares may be negative or above one.
    """

    restricted: bool = True
    name: ClassVar[str] = "pacc"
    needs: ClassVar[Literal["scores"]] = "scores"
    caution: ClassVar[str] = ""
    soft: ClassVar[bool] = True
    is_adjusted: ClassVar[bool] = True

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class in the unlabelled population."""
        return self.solve(rates_of(data, self, self.name))

    def solve(self, rates: Rates) -> FloatArray:
        """Shape (..., classes): the share of each class, for each set of averages."""
        return _apply(self.inverse(rates), rates.observed, self.restricted)

    def inverse(self, rates: Rates) -> FloatArray:
        """Shape (..., classes, outputs): the left inverse that takes outputs to classes."""
        return adjusted_count(rates.confusion)

    def rows(self, n_outputs: int) -> FloatArray:
        """Shape (rows, outputs): what of the outputs the squared errors are summed over."""
        return np.eye(n_outputs)


@dataclass(frozen=True, slots=True)
class InvariantRatio:
    """The invariant ratio estimator: `invariant_ratio`.

    Parameters
    ----------
    restricted
        Whether to go to the nearest point of the simplex; left out of it, shares may be negative or above one.
    soft
        Whether to average scores, and not to count the most probable classes.
    """

    restricted: bool = True
    soft: bool = False
    caution: ClassVar[str] = ""
    is_adjusted: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Lower case, as it is registered."""
        return "invariantratio-soft" if self.soft else "invariantratio"

    @property
    def needs(self) -> Literal["counts", "scores"]:
        """What it works on."""
        return "scores" if self.soft else "counts"

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class in the unlabelled population."""
        return self.solve(rates_of(data, self, self.name))

    def solve(self, rates: Rates) -> FloatArray:
        """Shape (..., classes): the share of each class, for each set of averages."""
        return _apply(self.inverse(rates), rates.observed, self.restricted)

    def inverse(self, rates: Rates) -> FloatArray:
        """Shape (..., classes, outputs): the left inverse that takes outputs to classes."""
        return invariant_ratio(rates.confusion)

    def rows(self, n_outputs: int) -> FloatArray:
        """Shape (rows, outputs): what of the outputs the squared errors are summed over."""
        return invariant_rows(n_outputs)


@dataclass(frozen=True, slots=True)
class BBSE:
    """The black-box shift estimator: `black_box_shift`.

    Parameters
    ----------
    restricted
        Whether to go to the nearest point of the simplex; as published it does not, and shares may be negative.
    soft
        Whether to average scores, and not to count the most probable classes.
    """

    restricted: bool = False
    soft: bool = False
    caution: ClassVar[str] = ""
    is_adjusted: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Lower case, as it is registered."""
        return "bbse-soft" if self.soft else "bbse"

    @property
    def needs(self) -> Literal["counts", "scores"]:
        """What it works on."""
        return "scores" if self.soft else "counts"

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class in the unlabelled population."""
        return self.solve(rates_of(data, self, self.name))

    def solve(self, rates: Rates) -> FloatArray:
        """Shape (..., classes): the share of each class, for each set of averages."""
        return _apply(self.inverse(rates), rates.observed, self.restricted)

    def inverse(self, rates: Rates) -> FloatArray:
        """Shape (..., classes, outputs): the left inverse that takes outputs to classes."""
        return black_box_shift(rates.confusion, rates.labeled_prevalence)

    def rows(self, n_outputs: int) -> FloatArray:
        """Shape (rows, outputs): what of the outputs the squared errors are summed over."""
        return np.eye(n_outputs)


def _apply(inverse: FloatArray, observed: FloatArray, restricted: bool) -> FloatArray:
    shares: FloatArray = (inverse @ observed[..., None])[..., 0]
    return project_to_simplex(shares) if restricted else shares
