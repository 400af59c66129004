"""The posterior of two classes and two outputs, without chance: no engine shares a line with it.

Given how many items of each output belong to class 0, its share has a Beta posterior, and the probability of each such
allocation is a product of Beta functions: for as many allocations as can be listed, the posterior is an exact sum.

Beyond, it is integrated by the trapezoidal rule over the whole real line, in coordinates where the integrand is
analytic and has no walls; there the rule converges faster than any power of its step. The first coordinate is logit π,
so that integrating the other two out leaves the density of π. Which other two depends on what is narrow:

* few unlabelled items: logit a and logit b, where a = P(output 0 | class 0) and b = P(output 0 | class 1);
* many: logit q and the log odds ratio θ = logit a - logit b of the table T = P(class, output), where q = P(output 0):
  the unlabelled items hold q still, and θ is free to move along what they leave open.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq
from scipy.special import betaincinv, expit, gammaln, log_expit, logit, logsumexp, sici, xlogy
from scipy.stats import beta

from truecount.models import Density

NEGLIGIBLE = 36.0
"""What lies so many nats below the peak is left out."""

MOST_ALLOCATIONS = 5_000_000

LogDensity = Callable[..., np.ndarray]


class Marginal:
    """The posterior of one class's share."""

    mean: float
    sd: float

    def below(self, share: float) -> float:
        """Probability that the share is at most `share`."""
        raise NotImplementedError

    def density(self, share: float) -> float:
        raise NotImplementedError

    def quantile(self, probability: float) -> float:
        ends = logit(np.finfo(float).tiny), 36.0
        return float(expit(brentq(lambda x: self.below(expit(x)) - probability, *ends, xtol=1e-13)))


def first_share(density: Density) -> Marginal:
    """Return the posterior of the first class's share, by the sum where that is short enough."""
    return by_sum(density) if (density.unlabeled + 1).prod() <= MOST_ALLOCATIONS else by_quadrature(density)


@dataclass(frozen=True)
class Mixture(Marginal):
    """A mixture of Beta distributions."""

    weights: np.ndarray
    first: np.ndarray
    second: np.ndarray

    @cached_property
    def mean(self) -> float:
        return float(self.weights @ beta.mean(self.first, self.second))

    @cached_property
    def sd(self) -> float:
        off = beta.mean(self.first, self.second) - self.mean
        return float(np.sqrt(self.weights @ (beta.var(self.first, self.second) + off**2)))

    def below(self, share: float) -> float:
        return float(self.weights @ beta.cdf(share, self.first, self.second))

    def density(self, share: float) -> float:
        return float(self.weights @ beta.pdf(share, self.first, self.second))


def by_sum(density: Density) -> Mixture:
    """Sum over all allocations (i of the items with output 0, j of those with output 1) to class 0."""
    n = density.unlabeled.astype(int)
    i, j, both = np.arange(n[0] + 1), np.arange(n[1] + 1), np.arange(n.sum() + 1)
    of_output_0, of_output_1 = -gammaln(i + 1) - gammaln(n[0] - i + 1), -gammaln(j + 1) - gammaln(n[1] - j + 1)
    of_class_0 = _log_beta(density.prevalence[0] + both, density.prevalence[1] + n.sum() - both)
    for row, (k_0, k_1, size) in enumerate([(i, j, both), (n[0] - i, n[1] - j, n.sum() - both)]):
        if density.is_known[row]:
            of_output_0, of_output_1 = (
                of_output_0 + xlogy(k_0, density.known[row, 0]),
                of_output_1 + xlogy(k_1, density.known[row, 1]),
            )
        else:
            of_output_0, of_output_1 = (
                of_output_0 + gammaln(density.rows[row, 0] + k_0),
                of_output_1 + gammaln(density.rows[row, 1] + k_1),
            )
            of_class_0 = of_class_0 - gammaln(density.rows[row].sum() + size)
    logs = of_output_0[:, None] + of_output_1 + of_class_0[i[:, None] + j]
    weights = np.bincount((i[:, None] + j).ravel(), np.exp(logs - logs.max()).ravel(), n.sum() + 1)
    kept = np.flatnonzero(weights > 1e-20 * weights.sum())
    first, second = density.prevalence[0] + kept, density.prevalence[1] + n.sum() - kept
    return Mixture(weights[kept] / weights[kept].sum(), first, second)


def _log_beta(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return gammaln(first) + gammaln(second) - gammaln(first + second)


@dataclass(frozen=True)
class Grid(Marginal):
    """Masses on an even grid of the share's logit, which stand for their sinc interpolant."""

    logits: np.ndarray
    masses: np.ndarray

    @cached_property
    def mean(self) -> float:
        return float(self.masses @ expit(self.logits))

    @cached_property
    def sd(self) -> float:
        return float(np.sqrt(self.masses @ (expit(self.logits) - self.mean) ** 2))

    def below(self, share: float) -> float:
        return float(self.masses @ (0.5 + sici(np.pi * self._steps(share))[0] / np.pi))

    def density(self, share: float) -> float:
        step = self.logits[1] - self.logits[0]
        return float(self.masses @ np.sinc(self._steps(share))) / step / (share * (1 - share))

    def _steps(self, share: float) -> np.ndarray:
        return (logit(share) - self.logits) / (self.logits[1] - self.logits[0])


def by_quadrature(density: Density, *, narrow: str | None = None, fineness: float = 1.0) -> Grid:
    """Integrate the rows out.

    `narrow` says which coordinates to use, "rows" or "outputs"; left out, it is decided by the counts.
    """
    if narrow is None:
        few = density.unlabeled.sum() <= 10 * density.rows.sum(axis=1).min()
        narrow = "rows" if few or density.is_known.any() else "outputs"
    function, box, sizes = _in_rows(density) if narrow == "rows" else _in_outputs(density)
    inner = [int(fineness * size) for size in sizes]

    def log_marginal(logits: np.ndarray) -> np.ndarray:
        parts = np.array_split(logits, -(-len(logits) // 50))
        return np.concatenate([_slices(function, part, box, inner) for part in parts])

    items = density.unlabeled.sum()
    start = np.array([[_beta_box(density.prevalence, (items, items))]])
    ends = _shrink(lambda logits: log_marginal(logits[0])[None], start, size=65)[0, 0]
    logits = np.linspace(*ends, int(fineness * 801))
    levels = log_marginal(logits)
    masses = np.exp(levels - levels.max())
    return Grid(logits, masses / masses.sum())


def _in_rows(density: Density) -> tuple[LogDensity, np.ndarray, Sequence[int]]:
    """Log density over logit π and the logit of each learned row's first entry; their box; points needed."""
    learned = ~density.is_known

    def function(x: np.ndarray, *free: np.ndarray) -> np.ndarray:
        coordinates = iter(free)
        rows = [_log_pair(next(coordinates)) if learned[row] else _logs(density.known[row]) for row in (0, 1)]
        shares = _log_pair(x)
        outputs = [np.logaddexp(shares[0] + rows[0][k], shares[1] + rows[1][k]) for k in (0, 1)]
        total = _dot(density.prevalence, shares) + _dot(density.unlabeled, outputs)
        return total + sum(_dot(density.rows[row], rows[row]) for row in np.flatnonzero(learned))

    boxes = [_beta_box(density.rows[row], density.unlabeled) for row in np.flatnonzero(learned)]
    return function, np.array(boxes).reshape(-1, 2), {0: (), 1: (1001,), 2: (121, 121)}[len(boxes)]


def _in_outputs(density: Density) -> tuple[LogDensity, np.ndarray, Sequence[int]]:
    """Log density over (logit π, logit q, θ); dπ da db = dπ dq dθ / (π (1 - π) Σ 1/T)."""

    def function(x: np.ndarray, y: np.ndarray, theta: np.ndarray) -> np.ndarray:
        shares, table = _log_pair(x), _table(x, y, theta)
        total = _dot(density.prevalence - 1, shares) + _dot(density.unlabeled + 1, _log_pair(y))
        rows = sum(_dot(density.rows[row] - 1, np.log(table[row]) - shares[row]) for row in (0, 1))
        return total + rows - np.log((1 / table).sum(axis=(0, 1)))

    labels = density.rows.sum()
    low, high = zip(*(_beta_box(row, density.unlabeled) for row in density.rows), strict=True)
    outputs = _beta_box(density.unlabeled + density.rows.min(), (labels, labels))
    return function, np.array([outputs, (low[0] - high[1], high[0] - low[1])]), (49, 161)


def _table(x: np.ndarray, y: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Solve for the table with margins π and q and odds ratio exp(θ), without loss of digits; shape (2, 2, ...)."""
    flip = theta < 0
    y, odds = np.where(flip, -y, y), np.exp(np.abs(theta))
    p, p_not, q, q_not = expit(x), expit(-x), expit(y), expit(-y)
    gap = np.where(p + q < 1, p - q, q_not - p_not)
    root = np.sqrt(1 + 2 * (odds - 1) * (p * q_not + p_not * q) + ((odds - 1) * gap) ** 2)
    both = 2 * odds * p * q / (1 + (p + q) * (odds - 1) + root)
    neither = 2 * odds * p_not * q_not / (1 + (p_not + q_not) * (odds - 1) + root)
    product = both * neither / odds
    large = (np.abs(gap) + np.sqrt(gap**2 + 4 * product)) / 2
    small = product / large
    first, second = np.where(gap >= 0, large, small), np.where(gap >= 0, small, large)
    table = np.array([[both, first], [second, neither]])
    return np.where(flip, table[:, ::-1], table)


def _slices(function: LogDensity, logits: np.ndarray, box: np.ndarray, sizes: Sequence[int]) -> np.ndarray:
    """Log of the integral over all but the first coordinate, for each logit of π, in a box of its own."""
    if not len(box):
        return function(logits)

    def evaluate(*axes: np.ndarray) -> np.ndarray:
        return function(*_open(logits[:, None], *axes))

    boxes = _shrink(evaluate, np.tile(box, (len(logits), 1, 1)), size=33)
    grids = [_grids(boxes, size)[axis] for axis, size in enumerate(sizes)]
    levels = evaluate(*grids).reshape(len(logits), -1)
    return logsumexp(levels, axis=1) + np.log(np.diff(boxes)).sum(axis=(1, 2))


def _shrink(evaluate: LogDensity, boxes: np.ndarray, *, size: int) -> np.ndarray:
    """Shrink boxes of shape (boxes, axes, 2) until what is left out lies far below the peak.

    What is kept narrows step by step, so that a thin ridge between the points of a coarse grid is not lost.
    """
    depth = np.inf
    while True:
        grids = _grids(boxes, size)
        levels = evaluate(*grids)
        depth = max(NEGLIGIBLE, min(depth, np.ptp(levels)) / 10)
        smaller = np.stack([_kept(grid, _profile(levels, axis), depth) for axis, grid in enumerate(grids)], axis=1)
        if depth == NEGLIGIBLE and (np.diff(smaller) > 0.9 * np.diff(boxes)).all():
            return smaller
        boxes = smaller


def _profile(levels: np.ndarray, axis: int) -> np.ndarray:
    return levels.max(axis=tuple(other for other in range(1, levels.ndim) if other != axis + 1))


def _kept(grid: np.ndarray, profile: np.ndarray, depth: float) -> np.ndarray:
    """Ends of the part of each row that lies less than `depth` below its peak, one step added."""
    inside = profile > profile.max(axis=1, keepdims=True) - depth
    first = np.maximum(inside.argmax(axis=1) - 1, 0)
    last = grid.shape[1] - 1 - np.maximum(inside[:, ::-1].argmax(axis=1) - 1, 0)
    return np.take_along_axis(grid, np.stack([first, last], axis=1), axis=1)


def _grids(boxes: np.ndarray, size: int) -> list[np.ndarray]:
    """For each axis, an even grid in each box; shape (boxes, size)."""
    return list(np.linspace(boxes[..., 0], boxes[..., 1], size).transpose(2, 1, 0))


def _open(first: np.ndarray, *axes: np.ndarray) -> list[np.ndarray]:
    """Grids of shape (boxes, size), so that they broadcast to (boxes, size, size, ...)."""
    shapes = [[-1, *(grid.shape[1] if i == j else 1 for j in range(len(axes)))] for i, grid in enumerate(axes)]
    return [
        first.reshape(-1, *[1] * len(axes)),
        *(grid.reshape(shape) for grid, shape in zip(axes, shapes, strict=True)),
    ]


def _beta_box(concentration: Sequence[float], more: Sequence[float]) -> tuple[float, float]:
    """Where the logit of a share can lie whose first and second concentration may each grow by up to `more`."""
    (first, second), tail = concentration, np.exp(-NEGLIGIBLE)
    return float(logit(betaincinv(first, second + more[1], tail))), -float(
        logit(betaincinv(second, first + more[0], tail))
    )


def _dot(exponents: np.ndarray, logs: Sequence[np.ndarray]) -> np.ndarray | float:
    """``Σ exponent · log``, where an exponent of zero leaves its log out."""
    return sum(exponent * log for exponent, log in zip(exponents, logs, strict=True) if exponent)


def _log_pair(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return log_expit(x), log_expit(-x)


def _logs(row: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(row)
