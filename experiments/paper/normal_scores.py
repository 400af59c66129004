"""Real-valued scores that are normal within each class, as in section 3.4: the model in full, drawn by nutpie."""

from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.inference import NUTS, convergence
from truecount.inference.chains.nuts import draw_points


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianPrior:
    """Of prevalence, means and standard deviations; the defaults are the paper's.

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
    """

    sizes: FloatArray
    averages: FloatArray
    squares: FloatArray
    unlabeled: FloatArray
    prior: GaussianPrior

    @property
    def dimensions(self) -> int:
        """How many coordinates a point has."""
        return 3 * len(self.sizes) - 1

    def natural(self, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Shape (..., dimensions) becomes prevalence, means and standard deviations, each of shape (..., classes)."""
        n_classes = len(self.sizes)
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
        n_classes = len(self.sizes)
        enough = self.sizes > 1
        sds = np.where(enough, np.sqrt(self.squares / np.maximum(self.sizes - 1, 1)), self.prior.sd_scale)
        logs = np.log(np.maximum(sds, 1e-3 * self.prior.sd_scale))
        means = self.averages + np.exp(logs) * rng.normal(size=n_classes) / np.sqrt(self.sizes + 1)
        return np.concatenate([0.3 * rng.normal(size=n_classes - 1), means, logs + 0.05 * rng.normal(size=n_classes)])


def gaussian_density(
    labels: IntArray, values: FloatArray, new_values: FloatArray, prior: GaussianPrior = GaussianPrior()
) -> GaussianDensity:
    """Put real-valued scores and a prior together; classes are numbered from 0."""
    sizes = np.bincount(labels).astype(float)
    averages = np.bincount(labels, values) / np.maximum(sizes, 1)
    squares = np.bincount(labels, (values - averages[labels]) ** 2)
    return GaussianDensity(sizes, averages, squares, new_values, prior)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GaussianDraws:
    """Equally weighted draws, chain after chain; what is said of each class has shape (classes,).

    Parameters
    ----------
    prevalence, means, sds
        Shape (draws, classes).
    chains
        How many chains there are.
    effective, rhat
        Effective draws and rank-normalised split R-hat of the prevalence of each class.
    divergences
        How many moves went astray: more than a few, and the draws are not to be trusted.
    """

    prevalence: FloatArray
    means: FloatArray
    sds: FloatArray
    chains: int
    effective: FloatArray
    rhat: FloatArray
    divergences: int


def sample_gaussian(density: GaussianDensity, *, engine: NUTS, seed: int = 0) -> GaussianDraws:
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
        prevalence=prevalence,
        means=means,
        sds=sds,
        chains=engine.chains,
        effective=convergence.effective_draws(prevalence, engine.chains),
        rhat=convergence.rhat(prevalence, engine.chains),
        divergences=divergences,
    )
