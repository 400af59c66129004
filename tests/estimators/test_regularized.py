import numpy as np
import pytest
from scipy.optimize import minimize

from truecount import Counts
from truecount.errors import InputError
from truecount.estimators import BBSE, RLLS
from truecount.estimators.regularized import _RIDGES, regularized_shift
from truecount.scores.scores import Scores


def objective(theta: np.ndarray, joint: np.ndarray, observed: np.ndarray, penalty: float) -> float:
    return float(np.linalg.norm(joint @ (1 + theta) - observed) + penalty * np.linalg.norm(theta))


@pytest.mark.parametrize("penalty", [1e-3, 0.03, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("shape", [(2, 2), (4, 4), (5, 3), (2, 4)])
def test_no_general_minimiser_goes_lower(shape: tuple[int, int], penalty: float, seed: int) -> None:
    rng = np.random.default_rng([seed, *shape])
    joint = rng.dirichlet(np.ones(shape[0] * shape[1])).reshape(shape)
    observed = rng.dirichlet(np.ones(shape[0]))
    found = regularized_shift(joint, observed, penalty=penalty) - 1
    assert found.min() >= -1
    least = objective(found, joint, observed, penalty)
    for _ in range(3):
        other = minimize(
            objective, rng.uniform(-1, 2, shape[1]), (joint, observed, penalty), bounds=[(-1, None)] * shape[1]
        )
        assert least <= other.fun + 1e-7


def test_no_penalty_solves_the_system_and_much_leaves_the_labelled_prevalence() -> None:
    joint, observed = np.array([[0.45, 0.1], [0.05, 0.4]]), np.array([0.34, 0.66])
    np.testing.assert_allclose(regularized_shift(joint, observed, penalty=0.0), np.linalg.solve(joint, observed))
    np.testing.assert_allclose(regularized_shift(joint, observed, penalty=100.0), [1, 1])


def test_the_unseen_part_of_the_ratio_stays_at_one() -> None:
    """Two classes that look alike share their sum in the labelled proportion.

    Non-negative least squares of scipy before 1.15 solve the normal equations, which rounding moves by itself over the
    ridge, where columns are alike.
    """
    joint = np.array([[0.4, 0.05, 0.05], [0.1, 0.2, 0.2]])
    ratio = regularized_shift(joint, joint @ [0.5, 1.5, 1.5], penalty=1e-9)
    np.testing.assert_allclose(ratio, [0.5, 1.5, 1.5], atol=np.finfo(float).eps / _RIDGES[0])


def test_the_penalty_is_the_published_bound() -> None:
    """3 (2 log(2·5/0.05) / 3N + √(2 log(2·5/0.05) / N)) at N = 1000, by hand."""
    assert RLLS(strength=1.0).penalty(1000, 5) == pytest.approx(3 * (0.0035322116 + 0.1029399569), rel=1e-8)
    assert RLLS().penalty(1000, 5) == pytest.approx(RLLS(strength=1.0).penalty(1000, 5) / 100)


BLURRED = Counts([[90, 5, 5], [5, 50, 45], [5, 45, 50]], [150, 84, 66])
SETTINGS = [(0.01, 0.05), (0.05, 0.05), (0.2, 0.05), (0.2, 0.5)]


def test_each_setting_changes_the_answer() -> None:
    answers = [RLLS(strength=strength, failure=failure).prevalence(BLURRED)[0] for strength, failure in SETTINGS]
    assert len(set(np.round(answers, 6))) == len(SETTINGS)


def test_what_is_hard_to_tell_is_shrunk_first() -> None:
    """The last two classes are nearly alike: the difference between them goes before the share of the first does."""
    loose, shrunk = RLLS(strength=0.01).prevalence(BLURRED), RLLS(strength=0.2).prevalence(BLURRED)
    assert BBSE().prevalence(BLURRED)[2] < 0
    assert loose[2] < 0.01 < 0.2 < shrunk[2]
    assert abs(loose[0] - shrunk[0]) < 0.02


def test_scores_are_averaged() -> None:
    scores = Scores([[0.9, 0.1], [0.7, 0.3], [0.4, 0.6]], [0, 0, 1], [[0.3, 0.7], [0.7, 0.3]])
    np.testing.assert_allclose(RLLS(soft=True, strength=0.0).prevalence(scores), [0.25, 0.75], atol=1e-9)
    assert not np.allclose(RLLS(strength=0.0).prevalence(scores), [0.25, 0.75])


@pytest.mark.parametrize("settings", [{"strength": -1.0}, {"strength": np.nan}, {"failure": 0.0}, {"failure": 1.0}])
def test_bad_settings_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InputError, match=next(iter(settings))):
        RLLS(**settings)


def test_the_unit_of_weights_changes_nothing() -> None:
    labeled, unlabeled = np.array([[12, 8], [9, 11]]), np.array([48, 52])
    found = [
        RLLS(strength=0.1).prevalence(
            Counts(
                unit * labeled,
                unit * unlabeled,
                labeled_squares=unit**2 * labeled,
                unlabeled_squares=unit**2 * unlabeled,
            )
        )
        for unit in (1e-3, 1.0, 1e3)
    ]
    plain = RLLS(strength=0.1).prevalence(Counts(labeled, unlabeled))
    assert 0.45 < plain[0] < 0.55
    np.testing.assert_allclose(found, [plain] * 3, rtol=1e-9)
