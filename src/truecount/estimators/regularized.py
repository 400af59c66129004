"""Regularised shift estimation: correct the counts no further than the labels can vouch for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from truecount._types import FloatArray
from truecount.counts.table import Counts
from truecount.errors import InputError
from truecount.estimators.rates import Rates, rates_of
from truecount.scores.scores import Scores

_RIDGES = (1e-11, 1e12)
"""In units of the largest singular value squared: below nothing is shrunk, above everything."""


def regularized_shift(joint: FloatArray, observed: FloatArray, *, penalty: float) -> FloatArray:
    """Estimate the ratio of prevalences, shrunk towards one.

    ``r = 1 + θ``, where θ minimises ``‖C θ − (q − C 1)‖ + penalty · ‖θ‖`` over ``θ ≥ −1``.

    Parameters
    ----------
    joint
        Shape (outputs, classes): C, the joint shares of output and class among labelled items.
    observed
        Shape (outputs,): q, the shares of the outputs among unlabelled items.
    penalty
        What a unit of shift costs, not negative.

    Returns
    -------
    Shape (classes,): r, the unlabelled prevalence over the labelled one, not negative.

    Notes
    -----
    Norms are not squared, so a small penalty changes nothing where the system has an exact solution, and a large one
    leaves r = 1. The minimum is where the least squares with ridge ``λ ‖θ‖²`` have ``λ ‖θ‖ = penalty · ‖residual‖``;
    ``λ ‖θ‖ / ‖residual‖`` rises with λ, because the least residual is convex in ``‖θ‖``. Azizzadenesheli, Liu, Yang
    & Anandkumar, ICLR 2019, section 2.1; the bound on θ is from their code.

    Examples
    --------
    >>> joint = np.array([[0.45, 0.1], [0.05, 0.4]])
    >>> regularized_shift(joint, np.array([0.34, 0.66]), penalty=1e-6)
    array([0.4, 1.6])
    >>> regularized_shift(joint, np.array([0.34, 0.66]), penalty=10)
    array([1., 1.])
    """
    from scipy.optimize import brentq

    scale = float(np.linalg.norm(joint, 2)) ** 2
    low, high = (float(np.log(bound * scale)) for bound in _RIDGES)
    shift = _ridge_path(joint, observed)

    def excess(log_ridge: float) -> float:
        theta = shift(np.exp(log_ridge))
        residual = joint @ (1 + theta) - observed
        return float(np.exp(log_ridge) * np.linalg.norm(theta) - penalty * np.linalg.norm(residual))

    if excess(low) >= 0:
        is_full = np.linalg.matrix_rank(joint) == joint.shape[1]
        return 1 + shift(0.0 if is_full else float(np.exp(low)))
    if excess(high) <= 0:
        return np.ones(joint.shape[1])
    return 1 + shift(float(np.exp(brentq(excess, low, high, xtol=1e-12))))


def _ridge_path(joint: FloatArray, observed: FloatArray) -> Callable[[float], FloatArray]:
    """Return the function from a ridge λ to the θ ≥ −1 of least ``‖C θ − b‖² + λ ‖θ‖²``."""
    from scipy.optimize import nnls

    n_classes = joint.shape[1]

    def theta(ridge: float) -> FloatArray:
        root = np.sqrt(ridge)
        rows = np.vstack([joint, root * np.eye(n_classes)])
        shift: FloatArray = nnls(rows, np.append(observed, np.full(n_classes, root)))[0] - 1
        return shift

    return theta


@dataclass(frozen=True, slots=True)
class RLLS:
    """Regularised learning under label shift: `regularized_shift`, scaled to shares that sum to one.

    Parameters
    ----------
    strength
        How much of the bound on the error of the joint shares becomes the penalty; the authors' code takes 0.01.
    failure
        Probability with which that bound may fail, above 0 and below 1.
    soft
        Whether to average scores, and not to count the most probable classes.

    Notes
    -----
    The penalty is ``strength · 3 (2 g / 3N + √(2 g / N))``, with ``g = log(2 L / failure)`` for L classes and N
    labelled items; weighted ones have their effective size. It vanishes as N grows, so the estimate is consistent.

    Examples
    --------
    >>> RLLS().prevalence(Counts([[90, 10], [20, 80]], [34, 66])).round(6)
    array([0.2, 0.8])
    """

    strength: float = 0.01
    failure: float = 0.05
    soft: bool = False
    caution: ClassVar[str] = ""
    is_adjusted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.strength >= 0:
            raise InputError("strength", f"is {self.strength!r}", "it must not be negative", "Leave it at 0.01")
        if not 0 < self.failure < 1:
            raise InputError("failure", f"is {self.failure!r}", "it must lie above 0 and below 1", "Leave it at 0.05")

    @property
    def name(self) -> str:
        """Lower case, as it is registered."""
        return "rlls-soft" if self.soft else "rlls"

    @property
    def needs(self) -> Literal["counts", "scores"]:
        """What it works on."""
        return "scores" if self.soft else "counts"

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class in the unlabelled population."""
        return self.solve(rates_of(data, self, self.name))

    def solve(self, rates: Rates) -> FloatArray:
        """Shape (..., classes): the share of each class, for each set of averages."""
        penalty, labeled = self.penalty(float(rates.items.sum()), len(rates.items)), rates.labeled_prevalence
        *many, n_classes, n_outputs = rates.confusion.shape
        joints = np.swapaxes(rates.confusion * labeled[:, None], -1, -2).reshape(-1, n_outputs, n_classes)
        pairs = zip(joints, rates.observed.reshape(-1, n_outputs), strict=True)
        shares = labeled * [regularized_shift(joint, observed, penalty=penalty) for joint, observed in pairs]
        shares /= shares.sum(axis=-1, keepdims=True)
        return shares.reshape(*many, n_classes)

    def penalty(self, items: float, n_classes: int) -> float:
        """What a unit of shift costs, for so many labelled items."""
        bound = np.log(2 * n_classes / self.failure) / items
        return float(self.strength * 3 * (2 * bound / 3 + np.sqrt(2 * bound)))
