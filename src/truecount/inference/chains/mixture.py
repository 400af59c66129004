"""Draws from the model of real-valued scores, by nutpie's No-U-Turn sampler (extra ``nuts``)."""

from dataclasses import dataclass

from truecount._types import FloatArray, Name
from truecount.inference import convergence
from truecount.inference.chains.nuts import NUTS, draw_points
from truecount.models import GaussianDensity


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GaussianDraws:
    """Equally weighted draws, chain after chain; what is said of each class has shape (classes,).

    Parameters
    ----------
    classes
        Names of the classes.
    prevalence, means, sds
        Shape (draws, classes).
    chains
        How many chains there are.
    effective, rhat
        Effective draws and rank-normalised split R-hat of the prevalence of each class.
    divergences
        How many moves went astray: more than a few, and the draws are not to be trusted.
    """

    classes: tuple[Name, ...]
    prevalence: FloatArray
    means: FloatArray
    sds: FloatArray
    chains: int
    effective: FloatArray
    rhat: FloatArray
    divergences: int


def sample_gaussian(density: GaussianDensity, *, engine: NUTS = NUTS(), seed: int = 0) -> GaussianDraws:
    """Draw from the posterior of `gaussian_density`.

    Parameters
    ----------
    density
        The data and the prior.
    engine
        How many draws and chains; its `coordinates` are not used.
    seed
        Same seed, same data, same version: same draws.
    """
    points, divergences = draw_points(density.evaluate, density.start, density.dimensions, engine=engine, seed=seed)
    prevalence, means, sds = density.natural(points.reshape(-1, density.dimensions))
    return GaussianDraws(
        classes=density.classes,
        prevalence=prevalence,
        means=means,
        sds=sds,
        chains=engine.chains,
        effective=convergence.effective_draws(prevalence, engine.chains),
        rhat=convergence.rhat(prevalence, engine.chains),
        divergences=divergences,
    )
