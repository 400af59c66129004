"""The least value over the simplex, where it is known."""

import numpy as np
import pytest

from truecount.estimators.interior import minimize_on_simplex


def project(point):
    """The nearest point of the simplex, by sorting."""
    falling = np.sort(point)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(point) + 1)
    return np.maximum(point - excess[np.flatnonzero(falling > excess)[-1]], 0)


@pytest.mark.parametrize("classes", [2, 3, 10, 40])
def test_nearest_point_is_the_projection(classes, seed):
    for target in np.random.default_rng(seed).normal(scale=0.5, size=(5, classes)):
        found = minimize_on_simplex(lambda point, target=target: (point - target, np.eye(classes)), classes)
        np.testing.assert_allclose(found, project(target), atol=1e-6)


def test_the_answer_is_a_prevalence():
    found = minimize_on_simplex(lambda point: (np.array([0.0, 1.0, 2.0]), np.zeros((3, 3))), 3)
    assert found.sum() == pytest.approx(1, abs=1e-15)
    np.testing.assert_allclose(found, [1, 0, 0], atol=1e-11)
    assert (found > 0).all()


def test_flat_directions_stay_in_the_middle():
    """The first two coordinates enter by their sum alone, which should be 0.7."""
    together = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    target = np.array([0.7, 0.7, 0.3])
    found = minimize_on_simplex(lambda point: (together @ point - target, together), 3)
    np.testing.assert_allclose(found, [0.35, 0.35, 0.3], atol=1e-6)


def test_a_gradient_without_bound_keeps_inside():
    """The likelihood of counts 98, 1, 1 is greatest at their shares."""
    counts = np.array([98.0, 1.0, 1.0])
    found = minimize_on_simplex(lambda point: (-counts / point, np.diag(counts / point**2)), 3)
    np.testing.assert_allclose(found, counts / 100, rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_scale_does_not_matter(scale):
    target = np.array([0.5, 0.3, 0.4])
    found = minimize_on_simplex(lambda point: (scale * (point - target), scale * np.eye(3)), 3)
    np.testing.assert_allclose(found, target - 0.2 / 3, atol=1e-8)
