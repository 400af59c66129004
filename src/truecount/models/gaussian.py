"""Real-valued scores that are normal within each class: the model in full, where counts would lose something."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from truecount._types import FloatArray, Name
from truecount.errors import InputError
from truecount.reading.arrays import encode
from truecount.reading.names import named_or_found


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianPrior:
    """What is believed of prevalence, means and standard deviations before; the defaults are the paper's.

    Parameters
    ----------
    prevalence
        Dirichlet concentration of every class.
    mean_sd
        Standard deviation of the normal prior of each class's mean, around zero.
    sd_scale
        Scale of the half-normal prior of each class's standard deviation.
    """

    prevalence: float = 2.0
    mean_sd: float = 1.0
    sd_scale: float = 0.5

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not 0 < value < np.inf:
                raise InputError(name, f"is {value!r}", "it must be a finite number above 0", "Pass 1.0")


@dataclass(frozen=True, slots=True, eq=False)
class GaussianDensity:
    """The posterior of prevalence π, means μ and standard deviations σ, up to a constant.

    ``Dir(π) · Π_l N(μ_l) N⁺(σ_l) Π_{labelled i of class l} N(x_i; μ_l, σ_l) · Π_j Σ_l π_l N(x′_j; μ_l, σ_l)``

    A point is ``log(π_l / π_L)`` for all classes but the last, the means, and the logarithms of the standard
    deviations; the density is that of the point, Jacobian included.

    Parameters
    ----------
    sizes, averages, squares
        Shape (classes,): labelled items of each class, their mean, and the sum of squared distances from it.
    unlabeled
        Shape (unlabelled items,).
    classes
        Names of the classes.
    prior
        What is believed before.
    """

    sizes: FloatArray
    averages: FloatArray
    squares: FloatArray
    unlabeled: FloatArray
    classes: tuple[Name, ...]
    prior: GaussianPrior

    @property
    def dimensions(self) -> int:
        """How many coordinates a point has."""
        return 3 * len(self.classes) - 1

    def natural(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Shape (..., dimensions) becomes prevalence, means and standard deviations, each of shape (..., classes)."""
        n_classes = len(self.classes)
        ratios, means, logs = np.split(points, [n_classes - 1, 2 * n_classes - 1], axis=-1)
        logits = np.concatenate([ratios, np.zeros((*points.shape[:-1], 1))], axis=-1)
        shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return shares / shares.sum(axis=-1, keepdims=True), means, np.exp(logs)

    def evaluate(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Return the log-density at one point and its gradient, shape (dimensions,)."""
        prevalence, means, sds = self.natural(point)
        log_likelihood, items, sums, powers = self._allocate(prevalence, means, sds)
        alpha, prior = self.prior.prevalence, self.prior
        totals = self.sizes + items
        spread = self.squares + self.sizes * (self.averages - means) ** 2
        pull = self.sizes * (self.averages - means) + sums - items * means
        spread_new = powers - 2 * means * sums + items * means**2
        value = alpha * np.log(prevalence).sum() + np.log(sds).sum() - (self.sizes * np.log(sds)).sum()
        value -= 0.5 * ((means / prior.mean_sd) ** 2 + (sds / prior.sd_scale) ** 2 + spread / sds**2).sum()
        by_share = alpha + items - prevalence * (len(items) * alpha + len(self.unlabeled))
        by_mean = pull / sds**2 - means / prior.mean_sd**2
        by_sd = 1 - totals + (spread + spread_new) / sds**2 - (sds / prior.sd_scale) ** 2
        return float(value + log_likelihood), np.concatenate([by_share[:-1], by_mean, by_sd])

    def _allocate(
        self, prevalence: FloatArray, means: FloatArray, sds: FloatArray
    ) -> tuple[float, FloatArray, FloatArray, FloatArray]:
        """Log-likelihood of the unlabelled items; number, sum and squares of those expected in each class."""
        distance = (self.unlabeled - means[:, None]) / sds[:, None]
        logs = np.log(prevalence / sds)[:, None] - 0.5 * distance**2
        highest = logs.max(axis=0)
        given_item = np.exp(logs - highest)
        total = given_item.sum(axis=0)
        given_item /= total
        sums = given_item @ self.unlabeled
        powers = given_item @ (self.unlabeled * self.unlabeled)
        return float((highest + np.log(total)).sum()), given_item.sum(axis=1), sums, powers

    def start(self, rng: np.random.Generator) -> FloatArray:
        """Return a point near what the labels alone say."""
        n_classes = len(self.classes)
        enough = self.sizes > 1
        sds = np.where(enough, np.sqrt(self.squares / np.maximum(self.sizes - 1, 1)), self.prior.sd_scale)
        logs = np.log(np.maximum(sds, 1e-3 * self.prior.sd_scale))
        means = self.averages + np.exp(logs) * rng.normal(size=n_classes) / np.sqrt(self.sizes + 1)
        return np.concatenate([0.3 * rng.normal(size=n_classes - 1), means, logs + 0.05 * rng.normal(size=n_classes)])


def gaussian_density(
    labels: Any,
    values: Any,
    new_values: Any,
    *,
    classes: Iterable[Any] | None = None,
    prior: GaussianPrior = GaussianPrior(),
) -> GaussianDensity:
    """Put real-valued scores and a prior together.

    Parameters
    ----------
    labels, values
        The true class of every labelled item, and its score: a temperature, a titre, a decision function.
    new_values
        The score of every unlabelled item.
    classes
        Names of the classes; those that occur, sorted, by default.
    prior
        What is believed before.

    Notes
    -----
    It learns more from the same items than counts of intervals do, as long as scores are normal within each class.
    Where they are not, its intervals are narrow and wrong, and more data does not fix that: cut the scores into
    `Intervals`, count, and use `infer`. Ziegler & Czyż (TMLR 2024), section 3.4.

    Examples
    --------
    >>> gaussian_density(["a", "a", "b", "b"], [0.1, 0.3, 1.0, 1.2], [0.2, 0.9, 1.1]).averages.round(6)
    array([0.2, 1.1])
    """
    numbers, new_numbers = _numbers("values", values), _numbers("new_values", new_values)
    column = encode("labels", labels)
    names = named_or_found("classes", set(column.names) if classes is None else classes) or ()
    codes = np.array([_place(name, names) for name in column.names], np.int64)[column.codes]
    if len(codes) != len(numbers):
        found = f"has {len(codes)} rows but values has {len(numbers)}"
        raise InputError("labels", found, "each labelled item needs both", "Pass labels and values of the same rows")
    if len(names) < 2:
        raise InputError("classes", f"names {len(names)}", "a mixture has two classes or more", "Name the others too")
    sizes = np.bincount(codes, minlength=len(names)).astype(np.float64)
    averages = np.bincount(codes, numbers, len(names)) / np.maximum(sizes, 1)
    squares: FloatArray = np.bincount(codes, (numbers - averages[codes]) ** 2, len(names)).astype(np.float64)
    return GaussianDensity(sizes, averages, squares, new_numbers, names, prior)


def _place(name: Name, names: tuple[Name, ...]) -> int:
    if name not in names:
        raise InputError("labels", f"holds {name!r}", f"the classes are {', '.join(map(repr, names))}", "Name it too")
    return names.index(name)


def _numbers(argument: str, values: Any) -> FloatArray:
    try:
        array = np.array(values, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(argument, "holds what is no number", "scores are numbers", "Pass a list of numbers") from error
    if array.ndim != 1 or not np.isfinite(array).all():
        found = f"has shape {array.shape}" if array.ndim != 1 else "holds NaN or infinity"
        raise InputError(argument, found, "it must be one row of finite numbers", "Drop rows without a score")
    return array
