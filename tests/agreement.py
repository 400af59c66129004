"""Does an engine draw from the right posterior? Its draws against the oracle, or against another engine's.

Everything compared is an average over draws of a function whose expectation is known: the share, its squared distance
from the mean, and whether it lies below a quantile. Errors are estimated from outside: chains and seeds are replicates,
and nothing that the engine says about its own draws is used.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from oracle import first_share
from problems import Problem
from truecount.inference import Auto, Exact, Gibbs, Hamiltonian, Quadrature
from truecount.inference.draws import Engine
from truecount.models import Density

ENGINES: dict[str, Engine] = {
    "Exact": Exact(200),
    "Gibbs": Gibbs(64 * 1000, chains=64, warmup=1000),
    "Hamiltonian": Hamiltonian(2000, effective_draws=2000),
    "Quadrature": Quadrature(200),
    "Auto": Auto(200),
}
"""Every engine, at a size that makes many replicates cheap."""

REFERENCE = "Hamiltonian"
"""What the others are held against where there is no oracle."""

LEVELS = np.array([[0.025], [0.975]])
MOST_ERROR = np.array([[0.03], [np.inf], [0.08], [0.08]])
"""Standard errors allowed, in posterior sds: of the mean, (the sd,) and the two quantiles."""
LEAST_REPLICATES, MOST_SEEDS = 40, 60


@dataclass(frozen=True)
class Target:
    """What shares should look like; all have a column for each class.

    `errors` are standard errors of the four averages in case the target was itself drawn.
    """

    mean: np.ndarray
    sd: np.ndarray
    quantiles: np.ndarray
    densities: np.ndarray
    errors: np.ndarray

    @property
    def expected(self) -> np.ndarray:
        return np.vstack([self.mean, self.sd**2, np.broadcast_to(LEVELS, self.quantiles.shape)])

    @property
    def scales(self) -> np.ndarray:
        """One posterior sd of mean, sd and quantiles, in units of the four averages."""
        return np.vstack([self.sd, 2 * self.sd**2, self.densities * self.sd])

    def averages(self, shares: np.ndarray) -> np.ndarray:
        below = [(shares <= quantile).mean(axis=0) for quantile in self.quantiles]
        return np.stack([shares.mean(axis=0), ((shares - self.mean) ** 2).mean(axis=0), *below])


def by_oracle(density: Density) -> Target:
    marginal = first_share(density)
    quantiles = [marginal.quantile(level) for level in LEVELS.ravel()]
    densities = [marginal.density(quantile) for quantile in quantiles]
    columns = (np.array(values).reshape(-1, 1) for values in (quantiles, densities))
    return Target(np.array([marginal.mean]), np.array([marginal.sd]), *columns, np.zeros((4, 1)))


def by_engine(engine: Engine, density: Density) -> Target:
    """Take the draws of one engine as the target for the others."""
    chains: list[np.ndarray] = []
    for more in replicates(engine, density, first_seed=1000):
        chains += list(more)
        if len(chains) >= LEAST_REPLICATES and is_precise(target := _drawn(chains), target.errors):
            return target
    raise AssertionError("the reference did not become precise enough")


def _drawn(chains: list[np.ndarray]) -> Target:
    shares, window = np.concatenate(chains), 0.01
    ends = np.quantile(shares, np.hstack([LEVELS - window, LEVELS, LEVELS + window]), axis=0)
    densities = 2 * window / (ends[:, 2] - ends[:, 0])
    target = Target(shares.mean(axis=0), shares.std(axis=0), ends[:, 1], densities, np.zeros((4, shares.shape[1])))
    averages = np.array([target.averages(chain) for chain in chains])
    return Target(target.mean, target.sd, target.quantiles, densities, standard_errors(averages))


def replicates(engine: Engine, density: Density, *, first_seed: int = 0) -> Iterator[np.ndarray]:
    """Draws of one seed after another, shape (chains, draws, classes)."""
    for seed in range(first_seed, first_seed + MOST_SEEDS):
        draws = engine.sample(density, seed)
        yield draws.prevalence.reshape(draws.chains or 1, -1, density.n_classes)


def standard_errors(averages: np.ndarray) -> np.ndarray:
    return averages.std(axis=0, ddof=1) / np.sqrt(len(averages))


def is_precise(target: Target, errors: np.ndarray) -> bool:
    return bool((errors <= MOST_ERROR * target.scales).all())


def assert_agrees(engine: Engine, density: Density, target: Target) -> None:
    """Draw until the errors are small enough, then fail where the engine is off by more than five of them."""
    classes, averages = len(target.mean), []
    for chains in replicates(engine, density):
        averages += [target.averages(shares[:, :classes]) for shares in chains]
        if len(averages) >= LEAST_REPLICATES and is_precise(target, standard_errors(np.array(averages))):
            break
    found, errors = np.mean(averages, axis=0), standard_errors(np.array(averages))
    off = np.abs(found - target.expected) / np.maximum(np.hypot(errors, target.errors), 1e-9 * target.scales)
    assert (off <= 5).all(), f"off by {off.round(1)} errors (rows: mean, variance, below 2.5 %, below 97.5 %)"
    assert is_precise(target, errors), f"errors stay too large: {errors / target.scales} posterior sds"


def target_for(problem: Problem) -> Target:
    if problem.has_oracle:
        return by_oracle(problem.density)
    return by_engine(ENGINES[REFERENCE], problem.density)
