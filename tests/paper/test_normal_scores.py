"""Real-valued scores: the density item by item and by differences, draws in limits that are known otherwise."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import dirichlet, halfnorm, norm

from truecount.inference import NUTS

pytest.importorskip("nutpie")
from experiments.paper.normal_scores import GaussianPrior, gaussian_density, sample_gaussian

MEANS, SDS = np.array([0.0, 1.0]), np.array([0.3, 0.4])
ENGINE = NUTS(2000, chains=2, warmup=300)
FEW = np.array([0, 0, 1, 1]), np.array([0.0, 0.1, 1.0, 1.1])
PRIOR = GaussianPrior(prevalence=1.5, mean_sd=2.0, sd_scale=0.7)


def made(seed: int, classes: int):
    """Scores, labels and the density that they make."""
    rng = np.random.default_rng(seed)
    labels, values, new = rng.integers(classes, size=30), rng.normal(size=30), rng.normal(0.5, 2, size=40)
    return labels, values, new, gaussian_density(labels, values, new, PRIOR)


def by_items(labels, values, new, prevalence, means, sds):
    """The log-density with respect to prevalence, means and standard deviations, item by item."""
    prior = dirichlet.logpdf(prevalence, np.full(len(means), PRIOR.prevalence))
    prior += norm.logpdf(means, 0, PRIOR.mean_sd).sum() + halfnorm.logpdf(sds, scale=PRIOR.sd_scale).sum()
    labeled = norm.logpdf(values, means[labels], sds[labels]).sum()
    return prior + labeled + np.log(norm.pdf(new[:, None], means, sds) @ prevalence).sum()


@pytest.mark.parametrize("classes", [2, 4])
def test_it_is_the_density_of_the_items_and_of_the_coordinates(seed, classes):
    labels, values, new, density = made(seed, classes)
    differences = []
    for point in np.random.default_rng(seed).normal(size=(5, density.dimensions)):
        natural = density.natural(point)
        jacobian = np.log(natural[0]).sum() + np.log(natural[2]).sum()
        differences.append(density.evaluate(point)[0] - jacobian - by_items(labels, values, new, *natural))
    np.testing.assert_allclose(differences, differences[0], rtol=0, atol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
def test_its_gradient_is_that_of_differences(seed, classes):
    density = made(seed, classes)[-1]
    point, step = np.random.default_rng(seed).normal(size=density.dimensions), 1e-5
    steps = step * np.eye(density.dimensions)
    slopes = [(density.evaluate(point + by)[0] - density.evaluate(point - by)[0]) / (2 * step) for by in steps]
    np.testing.assert_allclose(density.evaluate(point)[1], slopes, rtol=1e-5, atol=1e-5)


def test_swapping_the_classes_swaps_the_answer(seed):
    labels, values, new, density = made(seed, 2)
    swapped = gaussian_density(1 - labels, values, new, PRIOR)
    point = np.array([0.4, -0.2, 0.9, -0.5, 0.1])
    mirrored = np.array([-0.4, 0.9, -0.2, 0.1, -0.5])
    assert density.evaluate(point)[0] == pytest.approx(swapped.evaluate(mirrored)[0])


def limit(seed: int, items: int = 60):
    """So many labelled items that means and standard deviations are known; few unlabelled ones."""
    rng = np.random.default_rng(seed)
    new = rng.normal(MEANS[1], SDS[1], items) if seed % 2 else rng.normal(MEANS[0], SDS[0], items)
    few = gaussian_density(*FEW, new)
    return replace(few, sizes=np.full(2, 1e7), averages=MEANS, squares=1e7 * SDS**2), new


def known_rows(new: np.ndarray) -> tuple[float, float]:
    """Mean and sd of the first share under Beta(2, 2), by quadrature."""
    grid = (np.arange(20_000) + 0.5) / 20_000
    likelihood = norm.pdf(new[:, None], MEANS, SDS)
    logs = np.log(grid * (1 - grid)) + np.log(
        np.outer(likelihood[:, 0], grid) + np.outer(likelihood[:, 1], 1 - grid)
    ).sum(axis=0)
    weights = np.exp(logs - logs.max())
    mean = np.average(grid, weights=weights)
    return mean, np.sqrt(np.average((grid - mean) ** 2, weights=weights))


def distance(density, new: np.ndarray, seed: int) -> float:
    """Standard errors between the draws' mean and that of the quadrature."""
    draws = sample_gaussian(density, engine=ENGINE, seed=seed)
    mean, sd = known_rows(new)
    return abs(draws.prevalence[:, 0].mean() - mean) / (sd / np.sqrt(draws.effective[0]))


def test_with_endless_labels_it_is_the_posterior_of_the_share_alone(seed):
    density, new = limit(seed)
    assert distance(density, new, seed) < 4.5


def test_classes_in_the_wrong_order_are_seen(seed):
    density, new = limit(seed)
    assert distance(replace(density, averages=density.averages[::-1]), new, seed) > 10


def test_without_unlabelled_items_the_shares_keep_their_prior(seed):
    draws = sample_gaussian(gaussian_density(*FEW, np.array([])), engine=ENGINE, seed=seed)
    error = np.sqrt(0.05 / draws.effective[0])
    assert abs(draws.prevalence[:, 0].mean() - 0.5) < 4.5 * error
    assert draws.prevalence[:, 0].var() == pytest.approx(0.05, abs=0.01)
    assert draws.rhat.max() < 1.05
    assert draws.sds.min() > 0
    assert draws.means.shape == draws.prevalence.shape == (2000, 2)
