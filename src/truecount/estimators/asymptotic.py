"""The delta method: how an adjusted estimate would vary, by its slope, as if both samples were large."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Protocol, runtime_checkable

import numpy as np

from truecount import _check
from truecount._types import FloatArray
from truecount.counts.table import Counts
from truecount.errors import InputError
from truecount.estimators.adjusted import RANK_TOLERANCE
from truecount.estimators.rates import FromRates, Rates, counts_or_scores, harden, rates_of, require_scores
from truecount.estimators.register import Method, find_method
from truecount.scores.scores import Scores


@runtime_checkable
class HasInverse(FromRates, Protocol):
    """A method that applies a left inverse of the confusion."""

    def inverse(self, rates: Rates) -> FloatArray:
        """Shape (..., classes, outputs): the left inverse that takes outputs to classes."""

    def rows(self, n_outputs: int) -> FloatArray:
        """Shape (rows, outputs): what of the outputs the squared errors are summed over."""


@dataclass(frozen=True, slots=True, eq=False)
class Asymptotic:
    """An unrestricted estimate and its covariance in the limit of large samples.

    Parameters
    ----------
    prevalence
        Shape (classes,); it may leave the simplex.
    covariance
        Shape (classes, classes).
    """

    prevalence: FloatArray
    covariance: FloatArray

    def interval(self, level: float = 0.95) -> FloatArray:
        """Shape (classes, 2): so many standard errors to each side, not cut at 0 and 1."""
        half = NormalDist().inv_cdf((1 + _check.level(level)) / 2) * np.sqrt(self.covariance.diagonal())
        return np.column_stack([self.prevalence - half, self.prevalence + half])


def asymptotic(data: Counts | Scores, method: Method | str) -> Asymptotic:
    """Return the covariance of an adjusted estimate by the delta method.

    With ``π = B q`` of least ``‖R (q − φᵀπ)‖``, ``G = (φRᵀRφᵀ)⁺`` and the residual ``e = q − φᵀπ``,

        dπ = B dq − Σ_l J_l dφ_l,      J_l = π_l B − G_l (RᵀR e)ᵀ
        Cov π = B (Cov q) Bᵀ + Σ_l J_l (Cov φ_l) J_lᵀ

    where q is an average over the unlabelled items and each row φ_l over the labelled items of its class.

    Parameters
    ----------
    data
        Counts or scores, as the method needs.
    method
        `ACC`, `PACC`, `InvariantRatio` or `BBSE`, or its name in lower case; whether it is restricted makes no
        difference.

    Notes
    -----
    **Not for small samples, rare classes or a confusion near singular**: errors are taken to be small and normal, a
    class whose few labels are all right is taken never to err, and nothing keeps the interval inside 0 to 1.

    Examples
    --------
    >>> counts = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
    >>> asymptotic(counts, "acc").interval().round(3)
    array([[0.731, 0.936],
           [0.064, 0.269]])
    """
    chosen, data = find_method(method), counts_or_scores(data)
    if not isinstance(chosen, HasInverse):
        raise InputError(
            "method",
            f"is {chosen.name!r}",
            "the delta method is for those that apply a left inverse: acc, pacc, invariantratio, bbse",
            "Use bootstrap(), which takes every method",
        )
    rates = rates_of(data, chosen, chosen.name)
    inverse = chosen.inverse(rates)
    prevalence = inverse @ rates.observed
    if chosen.soft:
        rows, observed = _of_scores(require_scores(chosen.name, data))
    else:
        rows, observed = _of_counts(harden(data), rates)
    slopes = _slopes(rates, chosen.rows(len(rates.observed)), inverse, prevalence)
    covariance = inverse @ observed @ inverse.T + np.einsum("lai,lij,lbj->ab", slopes, rows, slopes)
    return Asymptotic(prevalence, covariance)


def _slopes(rates: Rates, rows: FloatArray, inverse: FloatArray, prevalence: FloatArray) -> FloatArray:
    """Shape (classes, classes, outputs): J_l for each class l, what the estimate loses as its row of φ grows."""
    weight = rows.T @ rows
    normal = np.linalg.pinv(rates.confusion @ weight @ rates.confusion.T, rtol=RANK_TOLERANCE)
    residual = weight @ (rates.observed - prevalence @ rates.confusion)
    slopes: FloatArray = prevalence[:, None, None] * inverse - normal.T[:, :, None] * residual
    return slopes


def _of_counts(counts: Counts, rates: Rates) -> tuple[FloatArray, FloatArray]:
    """Covariances of each row of shares, shape (classes, outputs, outputs), and of the observed ones."""
    labeled, unlabeled = counts.effective
    rows = _multinomial(rates.confusion) / labeled.sum(axis=1)[:, None, None]
    return rows, _multinomial(rates.observed) / unlabeled.sum()


def _multinomial(shares: FloatArray) -> FloatArray:
    covariance: FloatArray = shares[..., None] * (np.eye(shares.shape[-1]) - shares[..., None, :])
    return covariance


def _of_scores(scores: Scores) -> tuple[FloatArray, FloatArray]:
    """Covariances of each row of average scores, shape (classes, classes, classes), and of the observed ones."""
    rows = [_of_average(scores.labeled[scores.labels == position]) for position in range(len(scores.classes))]
    return np.array(rows), _of_average(scores.unlabeled)


def _of_average(rows: FloatArray) -> FloatArray:
    away = rows - rows.mean(axis=0)
    covariance: FloatArray = away.T @ away / len(rows) ** 2
    return covariance
