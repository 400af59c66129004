"""Draws of the model of real-valued scores, in limits that are known otherwise."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from truecount.inference import NUTS, sample_gaussian
from truecount.models import gaussian_density

pytest.importorskip("nutpie")
MEANS, SDS = np.array([0.0, 1.0]), np.array([0.3, 0.4])
ENGINE = NUTS(2000, chains=2, warmup=300)


def limit(seed: int, items: int = 60):
    """So many labelled items that means and standard deviations are known; few unlabelled ones."""
    rng = np.random.default_rng(seed)
    new = rng.normal(MEANS[1], SDS[1], items) if seed % 2 else rng.normal(MEANS[0], SDS[0], items)
    few = gaussian_density([0, 0, 1, 1], [0.0, 0.1, 1.0, 1.1], new)
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
    draws = sample_gaussian(gaussian_density([0, 0, 1, 1], [0.0, 0.1, 1.0, 1.1], []), engine=ENGINE, seed=seed)
    error = np.sqrt(0.05 / draws.effective[0])
    assert abs(draws.prevalence[:, 0].mean() - 0.5) < 4.5 * error
    assert draws.prevalence[:, 0].var() == pytest.approx(0.05, abs=0.01)
    assert draws.rhat.max() < 1.05
    assert draws.sds.min() > 0
    assert draws.means.shape == draws.prevalence.shape == (2000, 2)
