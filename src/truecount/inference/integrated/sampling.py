"""Draws from the posterior of groups of two classes, whose prevalences are integrated over.

Only what groups have in common is left, a few numbers:

1. Propose them from a mixture of t distributions, which is fitted to weighted draws of itself, a few times.
2. Let chains walk through independent proposals, each of which brings shares of all groups with it.
"""

from dataclasses import dataclass, field

import numpy as np

from truecount._log_sum import softmax
from truecount._types import BoolArray, FloatArray
from truecount.inference import convergence
from truecount.inference.group_draws import GroupDraws, Kept, attainable
from truecount.inference.integrated.coordinates import CommonCoordinates
from truecount.inference.integrated.integral import Common, integrate_groups
from truecount.inference.integrated.mixture import TMixture
from truecount.inference.integrated.studies import MOST_OUTPUTS
from truecount.models.hierarchy import GroupDensity

MOST_COORDINATES = 24
"""Beyond which proposals from a mixture are seldom accepted."""
ROUND, ROUND_BY_COORDINATE = 300, 50
"""Proposals of each round of fitting."""
FEWEST_ROUNDS, MOST_ROUNDS = 5, 16
PARTS, POINTS_OF_PART = 8, 5
"""Most parts of the mixture, and effective points that each needs for each coordinate."""
GOOD, LEAST = 0.35, 0.05
"""Effective share of the proposals, twice in a row, at which fitting ends; and below which it failed."""
FLATTER = 0.7
"""Power of the density that the mixture is fitted to: its tails are longer, so that no weight is large."""
MOST_FITTED = 6000
"""Points that a mixture is fitted to; of more, so many are drawn by their weights."""
TEMPERED = 60.0
"""Weights are flattened until so many points are effective."""
CHAINS, START_BY_CHAIN = 32, 4
"""How many there are; each starts at one of so many proposals."""
BLOCK, MOST_BLOCKS = 50, 120
PATIENCE, DUE, MOST_REFITS = 14, 0.3, 3
"""Blocks after which so much of what is wanted must be there; else proposals are fitted anew, and chains restart."""
MORE = 1.2
"""Times as many blocks before convergence is looked at again."""
AT_ONCE = 400_000
"""Shares of groups that are drawn at once."""


def can_integrate(density: GroupDensity) -> bool:
    """Whether there are two classes, one confusion of all groups, which are independent given it, and few numbers.

    The confusion may be that of one study among several, if a row has few outputs.
    """
    is_simple = density.n_ratios == 1 and density.loadings is None and density.rows.known.ndim == 2
    is_simple = is_simple and density.random_labels is None
    if density.labeled is not None:
        is_one = density.is_one_study or (density.is_group is not None and density.is_group.sum() == 1)
        is_simple = is_simple and is_one and len(density.unlabeled) <= MOST_OUTPUTS
        is_simple = is_simple and not (density.is_one_study and density.labeled[:, :, density.is_group].any())
    return is_simple and 0 < _size(density) <= MOST_COORDINATES


def _size(density: GroupDensity) -> int:
    rows = int(density.rows.free.sum()) * (len(density.unlabeled) - 1)
    return rows + len(density.centre.design) + density.n_spreads + density.n_row_ratios


def sample_integrated(
    density: GroupDensity, start: Common, *, effective_draws: int, rng: np.random.Generator
) -> GroupDraws | None:
    """Draw until the least known quantity has this effective sample size; None where proposals cannot be fitted.

    Groups that are one study have no other engine: they are drawn all the same, and R-hat tells of it.

    Parameters
    ----------
    density
        What to draw from.
    start
        Points that show roughly where to look.
    effective_draws
        The least effective sample size that is wanted.
    rng
        What randomness comes from.
    """
    target = CommonCoordinates(density)
    points = target.points(start)
    factor = np.linalg.cholesky(np.atleast_2d(np.cov(points.T)) + 1e-9 * np.eye(points.shape[1]))
    first = TMixture(np.ones(1), points.mean(axis=0)[None], np.asarray(factor)[None])
    pool = _Pool()
    share = _fill(pool, target, first, rng)
    if share < LEAST and not density.is_one_study:
        return None
    wanted = attainable(effective_draws, 2 * target.groups.n_groups + points.shape[1])
    for _ in range(MOST_REFITS):
        draws = _drawn(target, pool, wanted, rng)
        if draws is not None:
            return draws
    return _drawn(target, pool, wanted, rng, is_last=True)


@dataclass(slots=True)
class _Pool:
    """Weighted points of all rounds, and the mixtures that they were proposed from."""

    points: list[FloatArray] = field(default_factory=list)
    values: list[FloatArray] = field(default_factory=list)
    mixtures: list[TMixture] = field(default_factory=list)

    def add(self, target: CommonCoordinates, mixture: TMixture, size: int, rng: np.random.Generator) -> float:
        """Propose so many points; return their effective share."""
        points, values, _ = _proposed(target, mixture, size, rng)
        self.keep(points, values, mixture)
        return float(1 / (softmax(values - mixture.log_density(points)) ** 2).sum() / size)

    def keep(self, points: FloatArray, values: FloatArray, mixture: TMixture) -> None:
        """Keep points that a mixture proposed, with their log-density."""
        if self.mixtures and self.mixtures[-1] is mixture:
            self.points[-1] = np.concatenate([self.points[-1], points])
            self.values[-1] = np.concatenate([self.values[-1], values])
        else:
            self.points.append(points)
            self.values.append(values)
            self.mixtures.append(mixture)

    def log_weights(self, power: float = 1.0) -> FloatArray:
        """Return log-weights, to this power of the density, as if all mixtures together had proposed all points."""
        points, sizes = np.concatenate(self.points), [len(each) for each in self.points]
        logs = [np.log(size) + each.log_density(points) for size, each in zip(sizes, self.mixtures, strict=True)]
        return np.asarray(power * np.concatenate(self.values) - np.logaddexp.reduce(logs, axis=0))

    def fitted(self, rng: np.random.Generator) -> TMixture:
        """Fit a mixture to all points, whose target is flattened, and then weights until enough are effective."""
        points, logs, power = np.concatenate(self.points), self.log_weights(FLATTER), 1.0
        while (effective := 1 / (softmax(power * logs) ** 2).sum()) < TEMPERED and power > 1e-3:
            power *= 0.8
        parts = int(np.clip(effective // (POINTS_OF_PART * points.shape[1]), 1, PARTS))
        weights = softmax(power * logs)
        if len(points) > MOST_FITTED:
            points = points[rng.choice(len(points), MOST_FITTED, p=weights)]
            weights = np.full(MOST_FITTED, 1 / MOST_FITTED)
        return TMixture.fitted(points, weights, parts, rng)


def _proposed(
    target: CommonCoordinates, mixture: TMixture, size: int, rng: np.random.Generator, *, with_shares: bool = False
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Propose points; return them, their log-density, and perhaps shares of all groups drawn with them."""
    points = mixture.draw(size, rng)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        common, prior = target.natural(points)
        likelihood, shares = integrate_groups(target.groups, common, rng if with_shares else None)
        value = prior + likelihood
    return points, np.where(np.isfinite(value), value, -np.inf), shares


def _fill(pool: _Pool, target: CommonCoordinates, mixture: TMixture, rng: np.random.Generator) -> float:
    """Propose until what is fitted to proposals follows the density; return the effective share of the last ones."""
    size, share = max(ROUND, ROUND_BY_COORDINATE * mixture.means.shape[1]), 0.0
    for number in range(1, MOST_ROUNDS + 1):
        before, share = share, pool.add(target, mixture, size, rng)
        mixture = pool.fitted(rng)
        if number < FEWEST_ROUNDS or min(before, share) < GOOD:
            continue
        if convergence.pareto_k(pool.log_weights()) < convergence.PARETO_K_LIMIT:
            break
    return share


def _drawn(
    target: CommonCoordinates, pool: _Pool, wanted: int, rng: np.random.Generator, *, is_last: bool = False
) -> GroupDraws | None:
    """Let chains walk through proposals fitted to the pool until enough is known; add the proposals to the pool.

    None where chains hardly move, because proposals missed a part of the density; but for the last time.
    """
    n_groups, kept, accepted, mixture = target.groups.n_groups, Kept(), [], pool.fitted(rng)
    points, values, shares = _proposed(target, mixture, START_BY_CHAIN * CHAINS, rng, with_shares=True)
    weights = values - mixture.log_density(points)
    chosen = rng.choice(len(points), CHAINS, p=softmax(weights))
    points, weights, shares = points[chosen], weights[chosen], shares[chosen]
    ahead = int(np.clip(AT_ONCE // (CHAINS * n_groups), 1, BLOCK))
    block, check = 0, 1
    while True:
        for at in range(0, BLOCK, ahead):
            number = min(ahead, BLOCK - at)
            proposed, values, anew = _proposed(target, mixture, number * CHAINS, rng, with_shares=True)
            pool.keep(proposed, values, mixture)
            gains = (values - mixture.log_density(proposed)).reshape(number, CHAINS)
            accept, weights = _accepted(gains, weights, rng)
            for each in range(number):
                new, here = slice(each * CHAINS, (each + 1) * CHAINS), accept[each, :, None]
                points, shares = np.where(here, proposed[new], points), np.where(here, anew[new], shares)
                kept.add(points, np.stack([shares, 1 - shares], axis=2))
            accepted.append(accept.mean())
        block += 1
        if block < check and block < MOST_BLOCKS:
            continue
        check = int(np.ceil(MORE * block))
        draws = _gathered(target, kept, block * BLOCK, float(np.mean(accepted)))
        if draws.is_enough(wanted) or block == MOST_BLOCKS:
            return draws
        if block >= PATIENCE and not is_last and not draws.is_enough(int(DUE * wanted)):
            return None
        del draws


def _accepted(gains: FloatArray, weights: FloatArray, rng: np.random.Generator) -> tuple[BoolArray, FloatArray]:
    """Return which proposals each chain accepts (iteration, chain), given their log-weights; and its last weight."""
    accept = np.zeros(gains.shape, bool)
    for at, gain in enumerate(gains):
        accept[at] = np.log(rng.random(len(weights))) < gain - weights
        weights = np.where(accept[at], gain, weights)
    return accept, weights


def _gathered(target: CommonCoordinates, kept: Kept, iterations: int, acceptance: float) -> GroupDraws:
    stacked, density = kept.stacked(), target.density
    common, _ = target.placed(stacked.hyper)
    spread, confusion = density.spread(common.scores), common.rows
    if common.middle is not None:
        shape = (len(confusion), target.groups.n_groups, *confusion.shape[1:])
        confusion = np.broadcast_to(confusion[:, None], shape)
    return GroupDraws(
        prevalence=stacked.prevalence,
        confusion=confusion,
        centre=common.coefficients,
        spread=spread[:, : density.n_prevalence_spreads],
        common_rows=common.middle,
        row_spread=spread[:, density.n_prevalence_spreads :],
        chains=CHAINS,
        iterations=iterations,
        gradients=0,
        acceptance=acceptance,
    )
