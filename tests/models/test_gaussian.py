"""The density of real-valued scores: against its items one by one, and its gradient against differences."""

import numpy as np
import pytest
from scipy.stats import dirichlet, halfnorm, norm

from truecount.errors import InputError
from truecount.models import GaussianPrior, gaussian_density

PRIOR = GaussianPrior(prevalence=1.5, mean_sd=2.0, sd_scale=0.7)


def made(seed: int, classes: int):
    """Scores, labels and the density that they make."""
    rng = np.random.default_rng(seed)
    labels, values, new = rng.integers(classes, size=30), rng.normal(size=30), rng.normal(0.5, 2, size=40)
    return labels, values, new, gaussian_density(labels, values, new, classes=range(classes), prior=PRIOR)


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
    swapped = gaussian_density(1 - labels, values, new, prior=PRIOR)
    point = np.array([0.4, -0.2, 0.9, -0.5, 0.1])
    mirrored = np.array([-0.4, 0.9, -0.2, 0.1, -0.5])
    assert density.evaluate(point)[0] == pytest.approx(swapped.evaluate(mirrored)[0])


def test_a_class_without_labels_has_its_prior_and_a_start(seed):
    density = gaussian_density([0, 0, 1], [0.1, 0.2, 1.0], [0.5], classes=[0, 1, 2])
    assert np.isfinite(density.evaluate(density.start(np.random.default_rng(seed)))[0])
    assert density.sizes.tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0.1], [0.2]), "labels has 2 rows but values has 1"),
        (([0, 1], [0.1, np.nan], [0.2]), "values holds NaN"),
        (([0, 1], [0.1, 0.2], [[0.2]]), "new_values has shape"),
        (([0, 1], ["x", "y"], [0.2]), "values holds what is no number"),
        (([0, 0], [0.1, 0.2], [0.2]), "classes names 1"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        gaussian_density(*arguments)


def test_a_label_that_is_no_class_and_a_prior_of_zero_are_refused():
    with pytest.raises(InputError, match="labels holds 2"):
        gaussian_density([0, 2], [0.1, 0.2], [0.2], classes=[0, 1])
    with pytest.raises(InputError, match="sd_scale is 0"):
        GaussianPrior(sd_scale=0.0)
