import numpy as np
import pytest

from truecount.estimators.adjusted import (
    adjusted_count,
    black_box_shift,
    indistinct_classes,
    invariant_ratio,
    left_inverse,
)

EVERY = {
    "adjusted": adjusted_count,
    "invariant ratio": invariant_ratio,
    "black-box shift": lambda confusion: black_box_shift(confusion, np.arange(1.0, confusion.shape[-2] + 1) / 10),
}


def confusions(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.dirichlet(np.ones(shape[-1]), shape[:-1])


@pytest.mark.parametrize("inverse", EVERY.values(), ids=EVERY.keys())
@pytest.mark.parametrize("n_outputs", [3, 4, 7])
def test_the_prevalence_comes_back_when_outputs_are_its_mixture(inverse, n_outputs: int, seed: int) -> None:
    confusion = confusions(np.random.default_rng(seed), 3, n_outputs)
    prevalence = np.array([0.2, 0.7, 0.1])
    np.testing.assert_allclose(inverse(confusion) @ (prevalence @ confusion), prevalence, atol=1e-8)


@pytest.mark.parametrize("inverse", EVERY.values(), ids=EVERY.keys())
def test_many_at_once_are_each_alone(inverse) -> None:
    confusion = confusions(np.random.default_rng(3), 6, 3, 4)
    for one, many in zip(confusion, inverse(confusion), strict=True):
        np.testing.assert_allclose(many, inverse(one), atol=1e-12)


def test_two_classes_by_the_closed_form() -> None:
    """Row 1 of B q is (q₊ − FPR) / (TPR − FPR)."""
    false_positive, true_positive, positive = 0.15, 0.8, 0.4
    confusion = np.array([[1 - false_positive, false_positive], [1 - true_positive, true_positive]])
    expected = (positive - false_positive) / (true_positive - false_positive)
    for inverse in EVERY.values():
        np.testing.assert_allclose(inverse(confusion) @ [1 - positive, positive], [1 - expected, expected])


def test_all_three_are_one_when_square(seed: int) -> None:
    rng = np.random.default_rng(seed)
    confusion, observed = confusions(rng, 4, 4) + 2 * np.eye(4), rng.dirichlet(np.ones(4))
    confusion /= confusion.sum(axis=1, keepdims=True)
    answers = [inverse(confusion) @ observed for inverse in EVERY.values()]
    np.testing.assert_allclose(answers[1:], [answers[0]] * 2, atol=1e-12)
    np.testing.assert_allclose(answers[0].sum(), 1)


def test_the_invariant_ratio_solves_the_papers_system() -> None:
    """Two classes, three outputs: rows 1 and 2 of φᵀ and a row of ones, by the normal equations."""
    confusion = np.array([[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]])
    observed = np.array([0.5, 0.2, 0.3])
    system = np.array([[0.6, 0.1], [0.3, 0.3], [1.0, 1.0]])
    expected = np.linalg.solve(system.T @ system, system.T @ [0.5, 0.2, 1.0])
    np.testing.assert_allclose(invariant_ratio(confusion) @ observed, expected)
    assert not np.allclose(adjusted_count(confusion) @ observed, expected)


def test_black_box_shift_goes_by_the_ratio() -> None:
    """Fewer outputs than classes: the ratio of least norm solves the joint system, and not the prevalence."""
    confusion, labeled = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]]), np.array([0.5, 0.3, 0.2])
    observed = np.array([0.4, 0.6])
    joint = (confusion * labeled[:, None]).T
    ratio = joint.T @ np.linalg.solve(joint @ joint.T, observed)
    np.testing.assert_allclose(black_box_shift(confusion, labeled) @ observed, labeled * ratio)


@pytest.mark.parametrize("matrix", [np.ones((3, 3)) / 3, np.array([[0.5, 0.5], [0.5 + 1e-13, 0.5 - 1e-13]])])
def test_a_singular_matrix_has_its_left_inverse_of_least_norm(matrix: np.ndarray) -> None:
    inverse = left_inverse(matrix)
    assert np.abs(inverse).max() < 10
    np.testing.assert_allclose(matrix @ inverse @ matrix, matrix, atol=1e-8)


def test_one_singular_matrix_does_not_spoil_the_others() -> None:
    sound = np.array([[0.9, 0.2], [0.1, 0.8]])
    inverse = left_inverse(np.array([sound, np.full((2, 2), 0.5), sound + 0.0]))
    np.testing.assert_allclose(inverse[0], np.linalg.inv(sound))
    np.testing.assert_allclose(inverse[1], np.full((2, 2), 0.5))


INDISTINCT = {
    "two alike": ([[0.9, 0.1, 0.0], [0.2, 0.4, 0.4], [0.2, 0.4, 0.4]], [1, 2]),
    "all alike": ([[0.5, 0.5], [0.5, 0.5]], [0, 1]),
    "one a mixture": ([[0.8, 0.1, 0.1], [0.0, 0.5, 0.5], [0.4, 0.3, 0.3]], [0, 1, 2]),
    "a mixture of others": ([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0.5, 0.5], [0, 0.5, 0.25, 0.25]], [1, 2, 3]),
    "fewer outputs": ([[0.9, 0.1], [0.2, 0.8], [0.2, 0.8]], [1, 2]),
    "none": ([[0.9, 0.1], [0.2, 0.8]], []),
    "more outputs": ([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]], []),
}


@pytest.mark.parametrize(("confusion", "expected"), INDISTINCT.values(), ids=INDISTINCT.keys())
def test_classes_that_cannot_be_told_apart_are_named(confusion: list, expected: list[int]) -> None:
    assert indistinct_classes(np.array(confusion, dtype=float)) == expected
