"""Maximum likelihood: the prevalence under which the unlabelled scores, or the counts, are most probable."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from truecount import _check
from truecount._types import FloatArray
from truecount.counts.table import Counts
from truecount.errors import ConvergenceWarning, InputError
from truecount.estimators.calibrate import Calibration, calibrate
from truecount.estimators.rates import harden, require_scores
from truecount.inference.modes.mode import find_mode
from truecount.models import Prior, density
from truecount.models.priors import require_prior
from truecount.scores.scores import Scores

_BLOCK = 1 << 16
"""Scores read at a time: few enough to stay in the processor's cache."""
_ROUNDING = 1e-13
"""What the average log-likelihood may lose to rounding in a step that is not worse."""
_SHORTEST = 1e-9
"""Part of a step below which none is taken."""

_HOLD = 1e-4
"""How firmly shares stay where nothing moves them: it counts where the curvature is below its square."""


def expectation_maximization(
    unlabeled: FloatArray, labeled_prevalence: FloatArray, *, tolerance: float = 1e-8, most_steps: int = 100
) -> FloatArray:
    """Find the prevalence at which expectation and maximisation agree.

    A fixed point of ``π_l ← mean_j s_jl (π_l / p_l) / Σ_m s_jm (π_m / p_m)``, which is where the log-likelihood
    ``mean_j log Σ_l s_jl π_l / p_l`` is largest: it is concave, so all fixed points inside the simplex are as good.

    Parameters
    ----------
    unlabeled
        Shape (items, classes): scores s, calibrated at the labelled prevalence.
    labeled_prevalence
        Shape (classes,): p, above zero.
    tolerance
        How far the answer may be from the fixed point, in any class.
    most_steps
        Give up, with a `ConvergenceWarning`, after so many steps. A dozen is usual.

    Returns
    -------
    Shape (classes,): the prevalence.

    Notes
    -----
    The plain iteration creeps where classes overlap, and stopping it when its step is small stops it far away. So it
    is taken once, and from there each pass over the scores also gathers the second derivatives: the next point is
    where the quadratic through them is largest on the simplex, and its distance says how large the error still is.
    Classes whose scores are proportional stay at the ratio where they begin. Peters & Coberly, Communications in
    Statistics 5 (1976); Saerens, Latinne & Decaestecker, Neural Computation 14 (2002), equation 2.9; the quadratic as
    in Kim, Carbonetto, Stephens & Anitescu, JCGS 29 (2020).

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    >>> expectation_maximization(scores, np.array([0.5, 0.5])).round(6)
    array([0.700864, 0.299136])
    """
    look = partial(_read, unlabeled, labeled_prevalence)
    here = look(unlabeled.mean(axis=0))
    for _ in range(most_steps):
        goal = here.best_of_quadratic()
        if np.abs(goal - here.prevalence).max() <= tolerance:
            return goal
        here = _ascend(here, goal, look)
    message = f"EM is further than {tolerance:g} from its fixed point after {most_steps} steps; check the scores."
    warnings.warn(message, ConvergenceWarning, stacklevel=3)
    return here.prevalence


@dataclass(frozen=True, slots=True)
class _Likelihood:
    """The average log-likelihood at a prevalence, with its first and (negative) second derivatives."""

    prevalence: FloatArray
    log_likelihood: float
    slope: FloatArray
    curvature: FloatArray

    def best_of_quadratic(self) -> FloatArray:
        """Return the point of the simplex where the quadratic with these derivatives is largest.

        As ``slope = curvature · π``, it is the point nearest to 2π in the metric of the curvature: where ``‖M x‖`` is
        least, with ``M = A − 2 A π 1ᵀ`` and ``AᵀA = curvature``. Without the simplex's scale, and with a row of ones
        to set one, that is a problem of non-negative least squares.
        """
        from scipy.optimize import nnls

        sizes, directions = np.linalg.eigh(self.curvature)
        roots = np.sqrt(np.maximum(sizes, 0.0))[:, None] * directions.T
        widths = np.linalg.norm(roots, axis=0)
        stay = _HOLD * widths[:, None] * (np.eye(len(widths)) - self.prevalence[:, None])
        rows = np.vstack([roots - 2 * (roots @ self.prevalence)[:, None], stay, np.ones(len(widths))])
        scale = np.linalg.norm(rows, axis=0)
        target = np.append(np.zeros(len(rows) - 1), 1.0)
        point = nnls(rows / scale, target, maxiter=100 * len(widths))[0] / scale
        shares: FloatArray = point / point.sum()
        return shares


def _ascend(here: _Likelihood, goal: FloatArray, look: Callable[[FloatArray], _Likelihood]) -> _Likelihood:
    """Go to the goal, or half of the way, or a quarter, until the likelihood is no smaller."""
    share = 1.0
    while share > _SHORTEST:
        there = look(here.prevalence + share * (goal - here.prevalence))
        if there.log_likelihood >= here.log_likelihood - _ROUNDING:
            return there
        share /= 2
    return here


def _read(scores: FloatArray, labeled_prevalence: FloatArray, prevalence: FloatArray) -> _Likelihood:
    """Read all scores once, block by block."""
    n_items, n_classes = scores.shape
    ratio, rows = prevalence / labeled_prevalence, max(1, _BLOCK // n_classes)
    slope, curvature, total = np.zeros(n_classes), np.zeros((n_classes, n_classes)), 0.0
    for start in range(0, n_items, rows):
        block = scores[start : start + rows]
        mixture = block @ ratio
        if not mixture.all():
            return _Likelihood(prevalence, -np.inf, slope, curvature)
        total += float(np.log(mixture).sum())
        relative = block / mixture[:, None]
        slope += np.ones(len(block)) @ relative
        curvature += relative.T @ relative
    slope /= n_items * labeled_prevalence
    curvature /= n_items * np.outer(labeled_prevalence, labeled_prevalence)
    return _Likelihood(prevalence, total / n_items, slope, curvature)


@dataclass(frozen=True, slots=True)
class EM:
    """Expectation and maximisation on scores: `expectation_maximization`.

    Parameters
    ----------
    calibration
        How to calibrate the scores first, on the labelled items: ``"temperature"``, ``"bias-corrected"``, or None.
    tolerance
        How far the answer may be from the fixed point, in any class.

    Notes
    -----
    Not for scores that are not calibrated: it takes them at their word, and then more data does not help.

    Examples
    --------
    >>> EM().prevalence(Scores([[0.9, 0.1], [0.1, 0.9]], [0, 1], [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])).round(6)
    array([0.700864, 0.299136])
    """

    calibration: Calibration | None = None
    tolerance: float = field(default=1e-8, kw_only=True)
    name: ClassVar[str] = "em"
    needs: ClassVar[Literal["scores"]] = "scores"

    def __post_init__(self) -> None:
        if self.calibration is not None:
            _check.one_of("calibration", self.calibration, ("temperature", "bias-corrected"))
        if not 0 < self.tolerance < 1:
            raise InputError("tolerance", f"is {self.tolerance!r}", "it must lie above 0 and below 1", "Pass 1e-8")

    @property
    def caution(self) -> str:
        """What it takes on trust."""
        return "" if self.calibration else "It trusts the scores to be calibrated at the labelled prevalence."

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class in the unlabelled population."""
        scores = require_scores(self.name, data)
        if self.calibration is not None:
            scores = calibrate(scores, self.calibration)
        labeled_prevalence = scores.items / len(scores.labels)
        return expectation_maximization(scores.unlabeled, labeled_prevalence, tolerance=self.tolerance)


@dataclass(frozen=True, slots=True)
class MAP:
    """The highest point of the posterior of `infer`, on counts: `find_mode`.

    Parameters
    ----------
    prior
        The prior; flat by default (MAP-1 of the paper). ``Prior(2.0)`` is its MAP-2.

    Notes
    -----
    With the flat prior it is the maximum likelihood estimate, and unrestricted `InvariantRatio` wherever that lies
    inside the simplex. Ziegler & Czyż, section 3.1.

    Examples
    --------
    >>> MAP().prevalence(Counts([[90, 10], [20, 80]], [55, 45])).round(6)
    array([0.5, 0.5])
    """

    prior: Prior = Prior()
    name: ClassVar[str] = "map"
    needs: ClassVar[Literal["counts"]] = "counts"
    caution: ClassVar[str] = ""

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class in the unlabelled population."""
        require_prior(self.prior)
        record = find_mode(density(harden(data), self.prior.fixed))
        if not record.is_converged:
            message = f"The mode may be {record.kkt_residual:.2g} nats away; use infer()."
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return record.prevalence
