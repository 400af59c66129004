"""Gradients against differences, and both coordinate systems against the density on the simplex."""

import numpy as np
import pytest

from truecount.inference.chains.coordinates import ByClass, ByOutput
from truecount.inference.chains.warp import Warped
from truecount.inference.modes.landscape import survey
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
    point = coordinates.point(*survey(density).starting_points(2, np.random.default_rng(0))) * 0.5
    gradient, width = coordinates.gradient(point), 1e-5
    for column in range(point.shape[1]):
        step = np.zeros(point.shape[1])
        step[column] = width
        slope = (coordinates.log_density(point + step) - coordinates.log_density(point - step)) / (2 * width)
        np.testing.assert_allclose(gradient[:, column], slope, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("system", "density"), list(cases()))
def test_point_and_natural_agree_on_what_a_point_is(system, density):
    starts, coordinates = survey(density).starting_points(4, np.random.default_rng(1)), built(system, density)
    prevalence, confusion = coordinates.natural(coordinates.point(*starts))
    np.testing.assert_allclose(prevalence.sum(axis=1), 1)
    np.testing.assert_allclose(confusion.sum(axis=2), 1)
    if system is ByClass:
        np.testing.assert_allclose(prevalence, starts[0])
        np.testing.assert_allclose(confusion, starts[1])
    known = density.is_known
    np.testing.assert_allclose(confusion[:, known], np.broadcast_to(density.known[known], confusion[:, known].shape))


@pytest.mark.parametrize("system", [ByClass, ByOutput])
def test_density_differs_from_the_simplex_one_by_the_jacobian(system):
    """Between two points, log-densities differ by the log-determinant of the map, taken numerically, and by what the
    coordinates carry along: the sums of their gammas and, in `ByOutput`, the shares r."""
    density = made_density(5, (2, 3))
    coordinates = system(density)
    points = coordinates.point(*survey(density).starting_points(2, np.random.default_rng(2)))
    by_coordinates = np.subtract(*coordinates.log_density(points))
    on_simplex = np.subtract(*(density.log_joint(*coordinates.natural(points)) + carried_along(coordinates, points)))
    np.testing.assert_allclose(by_coordinates, on_simplex, rtol=1e-6, atol=1e-6)


def carried_along(coordinates, points):
    """log|d(everything)/d(point)| and the log-density of all that is not prevalence or confusion."""
    values = []
    for point in points:
        width, columns = 1e-5, np.eye(len(point))
        slopes = [
            (everything(coordinates, point + width * column) - everything(coordinates, point - width * column))
            / (2 * width)
            for column in columns
        ]
        sums, totals, implied = extra(coordinates, point)
        few = 0.0 if implied is None else (coordinates.few - 1) @ np.log(implied)
        values.append(np.linalg.slogdet(np.array(slopes))[1] + ((totals - 1) * np.log(sums) - sums).sum() + few)
    return np.array(values)


def everything(coordinates, point):
    """Prevalence, confusion, sums of gammas, and r where there is one: as many numbers as coordinates."""
    prevalence, confusion = coordinates.natural(point[None])
    sums, _, implied = extra(coordinates, point)
    rest = [] if implied is None else implied[:-1]
    return np.concatenate([prevalence[0, :-1], confusion[0, :, :-1].ravel(), sums, rest])


def extra(coordinates, point):
    """The sums of gammas, their shapes, and r."""
    n_classes, n_outputs = coordinates.rows.shape
    gammas = np.exp(point)
    cells = gammas[n_classes : n_classes + n_classes * n_outputs].reshape(n_classes, n_outputs)
    sums = np.append(cells.sum(axis=1), gammas[:n_classes].sum())
    totals = np.append(coordinates.row_totals, coordinates.total)
    if isinstance(coordinates, ByClass):
        return sums, totals, None
    weights, rows = gammas[:n_classes] / gammas[:n_classes].sum(), cells / cells.sum(axis=1, keepdims=True)
    sums = np.append(sums, gammas[-n_outputs:].sum())
    return sums, np.append(totals, coordinates.output_total), weights @ rows


@pytest.mark.parametrize(("system", "density"), list(cases()))
def test_a_moved_point_stands_for_what_it_was_moved_to_and_keeps_the_rest(system, density):
    """Between points that differ in prevalence and confusion alone, log-densities differ as they do on the simplex."""
    coordinates, rng = built(system, density), np.random.default_rng(3)
    points = coordinates.point(*survey(density).starting_points(2, rng))
    prevalence, confusion = survey(density).starting_points(2, rng)
    moved = coordinates.moved(points, prevalence, confusion)
    for found, wanted in zip(coordinates.natural(moved), (prevalence, confusion), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-8)
    raised = Density(density.prevalence + 1, density.rows + 1, density.unlabeled, density.known)
    gain = raised.log_joint(prevalence, confusion) - raised.log_joint(*coordinates.natural(points))
    if not isinstance(coordinates, Warped):
        found = coordinates.log_density(moved) - coordinates.log_density(points)
        np.testing.assert_allclose(found, gain, rtol=1e-8, atol=1e-8)
