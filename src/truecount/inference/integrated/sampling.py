"""Draws from the posterior of groups of two classes, whose prevalences are integrated over.

Only what groups have in common is left, a few numbers:

1. Propose them from a mixture of t distributions, which is fitted to weighted draws of itself, a few times.
2. Let chains walk through independent proposals, each of which brings shares of all groups with it.
"""

from dataclasses import dataclass, field

import numpy as np

from truecount._types import BoolArray, FloatArray
from truecount.inference import convergence
from truecount.inference.group_draws import GroupDraws, Kept, attainable
from truecount.inference.importance.resample import normalised
from truecount.inference.integrated.coordinates import CommonCoordinates
from truecount.inference.integrated.integral import Common, integrate_groups
from truecount.inference.integrated.mixture import TMixture
from truecount.models.hierarchy import GroupDensity

MOST_COORDINATES = 24
"""Beyond which proposals from a mixture are seldom accepted."""
ROUND, ROUND_BY_COORDINATE = 300, 50
"""Proposals of each round of fitting."""
FEWEST_ROUNDS, MOST_ROUNDS = 5, 16
PARTS, POINTS_OF_PART = 5, 5
"""Most parts of the mixture, and effective points that each needs for each coordinate."""
GOOD, LEAST = 0.35, 0.05
"""Effective share of the proposals, twice in a row, at which fitting ends; and below which it failed."""
FLATTER = 0.7
"""Power of the density that the mixture is fitted to: its tails are longer, so that no weight is large."""
TEMPERED = 60.0
"""Weights are flattened until so many points are effective."""
CHAINS, START_BY_CHAIN = 32, 4
"""How many there are; each starts at one of so many proposals."""
BLOCK, MOST_BLOCKS = 50, 120
AT_ONCE = 400_000
"""Shares of groups that are drawn at once."""


def can_integrate(density: GroupDensity) -> bool:
    """Whether there are two classes, one confusion, groups that are independent given the rest, and little to learn."""
    is_simple = density.n_ratios == 1 and density.labeled is None and density.loadings is None
    return is_simple and density.rows.known.ndim == 2 and 0 < _size(density) <= MOST_COORDINATES


def _size(density: GroupDensity) -> int:
    rows = int(density.rows.free.sum()) * (len(density.unlabeled) - 1)
    return rows + len(density.centre.design) + density.n_spreads


def sample_integrated(
    density: GroupDensity, start: FloatArray, *, effective_draws: int, rng: np.random.Generator
) -> GroupDraws | None:
    """Draw until the least known quantity has this effective sample size; None where proposals cannot be fitted.

    Parameters
    ----------
    density
        What to draw from.
    start
        Shape (points, hyperparameters): roughly where to look, as coordinates of the density.
    effective_draws
        The least effective sample size that is wanted.
    rng
        What randomness comes from.
    """
    row_points, coefficients, scores = density.parts(start)
    common = Common(density.rows.natural(row_points)[0], coefficients, scores)
    target = CommonCoordinates(density)
    points = target.points(common)
    factor = np.linalg.cholesky(np.atleast_2d(np.cov(points.T)) + 1e-9 * np.eye(points.shape[1]))
    mixture = _fitted(target, TMixture(np.ones(1), points.mean(axis=0)[None], np.asarray(factor)[None]), rng)
    return None if mixture is None else _drawn(target, mixture, effective_draws, rng)


@dataclass(slots=True)
class _Pool:
    """Weighted points of all rounds, and the mixtures that they were proposed from."""

    points: list[FloatArray] = field(default_factory=list)
    values: list[FloatArray] = field(default_factory=list)
    mixtures: list[TMixture] = field(default_factory=list)

    def add(self, target: CommonCoordinates, mixture: TMixture, size: int, rng: np.random.Generator) -> float:
        """Propose so many points; return their effective share."""
        points, values, _ = _proposed(target, mixture, size, rng)
        self.points.append(points)
        self.values.append(values)
        self.mixtures.append(mixture)
        return float(1 / (normalised(values - mixture.log_density(points)) ** 2).sum() / size)

    def log_weights(self, power: float = 1.0) -> FloatArray:
        """Return log-weights, to this power of the density, as if all mixtures together had proposed all points."""
        points, sizes = np.concatenate(self.points), [len(each) for each in self.points]
        logs = [np.log(size) + each.log_density(points) for size, each in zip(sizes, self.mixtures, strict=True)]
        return np.asarray(power * np.concatenate(self.values) - np.logaddexp.reduce(logs, axis=0))

    def fitted(self, rng: np.random.Generator) -> TMixture:
        """Fit a mixture to all points, whose target is flattened, and then weights until enough are effective."""
        points, logs, power = np.concatenate(self.points), self.log_weights(FLATTER), 1.0
        while (effective := 1 / (normalised(power * logs) ** 2).sum()) < TEMPERED and power > 1e-3:
            power *= 0.8
        parts = int(np.clip(effective // (POINTS_OF_PART * points.shape[1]), 1, PARTS))
        return TMixture.fitted(points, normalised(power * logs), parts, rng)


def _proposed(
    target: CommonCoordinates, mixture: TMixture, size: int, rng: np.random.Generator, *, with_shares: bool = False
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Propose points; return them, their log-density, and perhaps shares of all groups drawn with them."""
    points = mixture.draw(size, rng)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        common, prior = target.natural(points)
        likelihood, shares = integrate_groups(target.density, common, rng if with_shares else None)
        value = prior + likelihood
    return points, np.where(np.isfinite(value), value, -np.inf), shares


def _fitted(target: CommonCoordinates, mixture: TMixture, rng: np.random.Generator) -> TMixture | None:
    """Return proposals that follow the density of what groups have in common; None where they do not."""
    pool, size, share = _Pool(), max(ROUND, ROUND_BY_COORDINATE * mixture.means.shape[1]), 0.0
    for number in range(1, MOST_ROUNDS + 1):
        before, share = share, pool.add(target, mixture, size, rng)
        mixture = pool.fitted(rng)
        if number < FEWEST_ROUNDS or min(before, share) < GOOD:
            continue
        if convergence.pareto_k(pool.log_weights()) < convergence.PARETO_K_LIMIT:
            break
    return mixture if share >= LEAST else None


def _drawn(target: CommonCoordinates, mixture: TMixture, wanted: int, rng: np.random.Generator) -> GroupDraws:
    """Let chains walk through proposals until enough is known."""
    density, kept, accepted = target.density, Kept(), []
    points, values, shares = _proposed(target, mixture, START_BY_CHAIN * CHAINS, rng, with_shares=True)
    weights = values - mixture.log_density(points)
    chosen = rng.choice(len(points), CHAINS, p=normalised(weights))
    points, weights, shares = points[chosen], weights[chosen], shares[chosen]
    ahead = int(np.clip(AT_ONCE // (CHAINS * density.n_groups), 1, BLOCK))
    wanted, block = attainable(wanted, 2 * density.n_groups + points.shape[1]), 0
    while True:
        for at in range(0, BLOCK, ahead):
            number = min(ahead, BLOCK - at)
            proposed, values, anew = _proposed(target, mixture, number * CHAINS, rng, with_shares=True)
            gains = (values - mixture.log_density(proposed)).reshape(number, CHAINS)
            accept, weights = _accepted(gains, weights, rng)
            for each in range(number):
                new, here = slice(each * CHAINS, (each + 1) * CHAINS), accept[each, :, None]
                points, shares = np.where(here, proposed[new], points), np.where(here, anew[new], shares)
                kept.add(points, np.stack([shares, 1 - shares], axis=2))
            accepted.append(accept.mean())
        block += 1
        draws = _gathered(target, kept, block * BLOCK, float(np.mean(accepted)))
        if draws.is_enough(wanted) or block == MOST_BLOCKS:
            return draws
        del draws


def _accepted(gains: FloatArray, weights: FloatArray, rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
    """Return which proposals each chain accepts (iteration, chain), given their log-weights; and its last weight."""
    accept = np.zeros(gains.shape, bool)
    for at, gain in enumerate(gains):
        accept[at] = np.log(rng.random(len(weights))) < gain - weights
        weights = np.where(accept[at], gain, weights)
    return accept, weights


def _gathered(target: CommonCoordinates, kept: Kept, iterations: int, acceptance: float) -> GroupDraws:
    stacked = kept.stacked()
    common, _ = target.natural(stacked.hyper)
    return GroupDraws(
        prevalence=stacked.prevalence,
        confusion=common.rows,
        centre=common.coefficients,
        spread=target.density.spread(common.scores),
        common_rows=None,
        row_spread=np.empty((len(stacked.hyper), 0)),
        chains=CHAINS,
        iterations=iterations,
        gradients=0,
        acceptance=acceptance,
    )
