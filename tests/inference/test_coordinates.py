"""Gradients against differences, and both coordinate systems against the density on the simplex."""

import numpy as np
import pytest

from truecount.inference.coordinates import ByClass, ByOutput
from truecount.inference.warp import Warped
from truecount.models import Density


def made_density(seed, shape=(3, 4), *, known=False, sparse=False):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(0.1, 0.8, shape) if sparse else rng.uniform(1, 30, shape)
    fixed = np.full(shape, np.nan)
    if known:
        fixed[0] = 1 / shape[1]
    alpha = rng.uniform(0.2, 0.9, shape[0]) if sparse else rng.uniform(1, 3, shape[0])
    return Density(alpha, rows, rng.integers(0, 50, shape[1]).astype(float) + 1, fixed)


def cases():
    for shape in ((2, 2), (3, 4), (4, 2)):
        for sparse in (False, True):
            for system in (ByClass, ByOutput):
                yield pytest.param(
                    system, made_density(3, shape, sparse=sparse), id=f"{system.__name__}-{shape}-{sparse}"
                )
    yield pytest.param(ByClass, made_density(3, known=True), id="known row")


def built(system, density):
    coordinates = system(density)
    return Warped(coordinates) if (coordinates.shapes < 1).any() else coordinates


@pytest.mark.parametrize(("system", "density"), list(cases()))
def test_gradient_is_the_slope(system, density):
    coordinates = built(system, density)
    point = coordinates.start(2, np.random.default_rng(0)) * 0.5
    gradient, width = coordinates.gradient(point), 1e-5
    for column in range(point.shape[1]):
        step = np.zeros(point.shape[1])
        step[column] = width
        slope = (coordinates.log_density(point + step) - coordinates.log_density(point - step)) / (2 * width)
        np.testing.assert_allclose(gradient[:, column], slope, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("system", "density"), list(cases()))
def test_start_and_natural_agree_on_what_a_point_is(system, density):
    prevalence, confusion = built(system, density).natural(built(system, density).start(4, np.random.default_rng(1)))
    np.testing.assert_allclose(prevalence.sum(axis=1), 1)
    np.testing.assert_allclose(confusion.sum(axis=2), 1)
    known = density.is_known
    np.testing.assert_allclose(confusion[:, known], np.broadcast_to(density.known[known], confusion[:, known].shape))


@pytest.mark.parametrize("system", [ByClass, ByOutput])
def test_density_differs_from_the_simplex_one_by_the_jacobian(system):
    """Along a line in the coordinates, log-densities differ by the log-determinant of the map, taken numerically."""
    density = made_density(5, (2, 2))
    coordinates = system(density)
    points = coordinates.start(2, np.random.default_rng(2))
    by_coordinates = np.subtract(*coordinates.log_density(points))
    on_simplex = np.subtract(
        *(density.log_joint(*coordinates.natural(points)) + log_volume(coordinates, points, density))
    )
    np.testing.assert_allclose(by_coordinates, on_simplex, rtol=1e-6, atol=1e-6)


def log_volume(coordinates, points, density):
    """log|d(π, φ, sums)/d(point)| and the log-density of the sums, which the coordinates carry along."""
    values = []
    for point in points:
        size, width = len(point), 1e-5
        jacobian = np.empty((size, size))
        for column in range(size):
            step = np.zeros(size)
            step[column] = width
            jacobian[:, column] = (everything(coordinates, point + step) - everything(coordinates, point - step)) / (
                2 * width
            )
        sums = everything(coordinates, point)[-sums_of(coordinates, density).size :]
        totals = sums_of(coordinates, density)
        values.append(np.linalg.slogdet(jacobian)[1] + ((totals - 1) * np.log(sums) - sums).sum())
    return np.array(values)


def sums_of(coordinates, density):
    if isinstance(coordinates, ByClass):
        return np.append(coordinates.row_totals, coordinates.total)
    return np.append(coordinates.columns, coordinates.total)


def everything(coordinates, point):
    prevalence, confusion = coordinates.natural(point[None])
    gammas = np.exp(point)
    n_classes, n_outputs = confusion.shape[1:]
    if isinstance(coordinates, ByClass):
        sums = np.append(gammas[n_classes:].reshape(n_classes, n_outputs).sum(axis=1), gammas[:n_classes].sum())
    else:
        sums = np.append(gammas[n_outputs:].reshape(n_classes, n_outputs).sum(axis=0), gammas[:n_outputs].sum())
    return np.concatenate([prevalence[0, :-1], confusion[0, :, :-1].ravel(), sums])
