"""Systems of equations: chosen well, solved right."""

import numpy as np
import pytest

from truecount.inference.importance.square import merge_columns, smaller_system, solve, square_system
from truecount.models import Density


def density_of(confusion, *, strength=100.0):
    rows = np.asarray(confusion) * strength
    return Density(np.ones(len(rows)), rows, np.full(rows.shape[1], 10.0), np.full(rows.shape, np.nan))


def test_solve_agrees_with_lapack(seed):
    rng = np.random.default_rng(seed)
    matrix, right = rng.dirichlet(np.ones(4), size=(4, 50)).transpose(0, 2, 1), rng.random((4, 50))
    solution, log_det = solve(matrix, right)
    expected = np.linalg.solve(matrix.transpose(2, 1, 0), right.T[..., None])[..., 0].T
    np.testing.assert_allclose(solution, expected, rtol=1e-6)
    np.testing.assert_allclose(log_det, np.linalg.slogdet(matrix.transpose(2, 0, 1))[1], rtol=1e-6)


def test_solve_survives_a_zero_pivot():
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])[:, :, None]
    solution, log_det = solve(swap, np.array([[0.3], [0.7]]))
    np.testing.assert_allclose(solution[:, 0], [0.7, 0.3])
    assert log_det[0] == 0


def test_a_singular_system_has_no_solution():
    same = np.full((2, 2, 1), 0.5)
    solution, log_det = solve(same, np.array([[0.5], [0.5]]))
    assert log_det[0] == -np.inf
    assert (solution == -np.inf).all()


def test_as_many_outputs_as_classes_leaves_nothing_out():
    system = square_system(density_of(np.eye(3) * 0.9 + 0.1 / 3))
    assert sorted(system.solved) == [0, 1, 2]
    assert sorted(system.groups) == [0, 1, 2]
    assert len(system.free) == 0


def test_surplus_outputs_join_the_class_they_speak_for():
    confusion = [[0.6, 0.0, 0.4], [0.0, 1.0, 0.0]]
    system = square_system(density_of(confusion))
    assert system.groups[0] == system.groups[2] != system.groups[1]


def test_the_class_that_outputs_say_least_of_is_free():
    confusion = [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]
    system = square_system(density_of(confusion))
    assert system.free.tolist() == [1]


def test_a_smaller_system_merges_what_is_hard_to_tell_apart():
    confusion = [[0.96, 0.02, 0.02], [0.02, 0.5, 0.48], [0.02, 0.48, 0.5]]
    density = density_of(confusion)
    smaller = smaller_system(square_system(density), density)
    assert smaller.groups[1] == smaller.groups[2] != smaller.groups[0]
    assert smaller.free.tolist() in ([1], [2])


@pytest.mark.parametrize("groups", [[0, 1, 1], [1, 0, 1], [0, 0, 0]])
def test_merging_adds_columns(groups):
    table = np.arange(6.0).reshape(2, 3)
    merged = merge_columns(table, np.array(groups), max(groups) + 1)
    for group in set(groups):
        np.testing.assert_array_equal(merged[:, group], table[:, np.array(groups) == group].sum(axis=1))
