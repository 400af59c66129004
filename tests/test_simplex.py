import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from truecount._simplex import project_to_simplex

POINTS = st.lists(st.floats(-10, 10), min_size=1, max_size=8)


def test_a_point_of_the_simplex_stays() -> None:
    inside = np.array([[0.2, 0.5, 0.3], [0.0, 1.0, 0.0]])
    np.testing.assert_allclose(project_to_simplex(inside), inside, atol=1e-15)


def test_by_hand() -> None:
    np.testing.assert_allclose(project_to_simplex(np.array([2.0, 0.0])), [1, 0])
    np.testing.assert_allclose(project_to_simplex(np.array([0.9, 0.9, -5.0])), [0.5, 0.5, 0])
    np.testing.assert_allclose(project_to_simplex(np.array([1.2, -0.2])), [1, 0])


def test_many_points_are_projected_one_by_one() -> None:
    points = np.random.default_rng(0).normal(size=(4, 3, 5))
    many = project_to_simplex(points)
    for index in np.ndindex(4, 3):
        np.testing.assert_array_equal(many[index], project_to_simplex(points[index]))


@given(POINTS)
def test_nothing_on_the_simplex_is_nearer(values: list[float]) -> None:
    """At the nearest point y, no vertex v lies on the side of x: (x − y)·(v − y) ≤ 0."""
    point = np.array(values)
    nearest = project_to_simplex(point)
    assert (nearest >= 0).all()
    np.testing.assert_allclose(nearest.sum(), 1, atol=1e-12)
    assert ((point - nearest) - (point - nearest) @ nearest).max() <= 1e-9
