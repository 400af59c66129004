import warnings

import numpy as np
import pytest
from scipy.optimize import brentq

from made_scores import shifted_scores
from truecount import Counts, Prior
from truecount.errors import ConvergenceWarning, InputError
from truecount.estimators import CC, EM, MAP
from truecount.estimators.likelihood import expectation_maximization
from truecount.scores.scores import Scores


def step(scores: np.ndarray, labeled: np.ndarray, prevalence: np.ndarray) -> np.ndarray:
    """The iteration as Saerens et al. write it."""
    posterior = scores * (prevalence / labeled)
    posterior /= posterior.sum(axis=1, keepdims=True)
    return posterior.mean(axis=0)


def random_problem(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    n_classes = int(rng.integers(2, 9))
    concentration = 10 ** rng.uniform(-1.5, 1) * rng.dirichlet(np.ones(n_classes)) * n_classes
    scores = rng.dirichlet(concentration + 1e-2, int(10 ** rng.uniform(0, 3)))
    labeled = rng.dirichlet(np.ones(n_classes)) + 1e-4
    return scores, labeled / labeled.sum()


def test_two_classes_where_the_slope_vanishes() -> None:
    scores, labeled = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8], [0.3, 0.7]]), np.array([0.4, 0.6])
    ratios = scores / labeled
    root = brentq(lambda x: ((ratios[:, 0] - ratios[:, 1]) / (ratios @ [x, 1 - x])).mean(), 1e-9, 1 - 1e-9, xtol=1e-14)
    found = expectation_maximization(scores, labeled)
    np.testing.assert_allclose(found, [root, 1 - root], atol=1e-8)


def test_the_answer_is_a_fixed_point_and_no_point_is_likelier(seed: int) -> None:
    """The log-likelihood is concave: where no vertex is uphill, the average slope towards it is at most one."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        scores, labeled = random_problem(rng)
        found = expectation_maximization(scores, labeled)
        np.testing.assert_allclose(found.sum(), 1)
        np.testing.assert_allclose(step(scores, labeled, found), found, atol=1e-7)
        slopes = (scores / labeled / (scores @ (found / labeled))[:, None]).mean(axis=0)
        assert slopes.max() <= 1 + 1e-6


def test_it_does_not_stop_where_steps_are_merely_small() -> None:
    """Classes half a standard deviation apart: the plain iteration is far away when it moves by less than 1e-4."""
    shares = {"labeled_prevalence": [0.5, 0.5], "prevalence": [0.05, 0.95]}
    scores = shifted_scores(np.random.default_rng(0), **shares, items=2000, distance=0.5)
    labeled = scores.items / len(scores.labels)
    here, there = np.ones(2), labeled
    while np.abs(here - there).max() > 1e-4:
        here, there = there, step(scores.unlabeled, labeled, there)
    found = EM().prevalence(scores)
    assert abs(there[0] - found[0]) > 0.01
    np.testing.assert_allclose(step(scores.unlabeled, labeled, found), found, atol=1e-9)


def test_certain_scores_are_counted() -> None:
    hard = Scores(np.eye(3), [0, 1, 2], np.eye(3)[[0, 0, 1, 2, 2, 2]])
    np.testing.assert_allclose(EM().prevalence(hard), CC().prevalence(hard), atol=1e-12)


def test_scores_that_say_nothing_leave_the_labelled_prevalence() -> None:
    scores = Scores([[0.4, 0.6]] * 5, [0, 0, 1, 1, 1], [[0.4, 0.6]] * 7)
    np.testing.assert_allclose(EM().prevalence(scores), [0.4, 0.6])


def test_classes_that_look_alike_share_evenly() -> None:
    rng = np.random.default_rng(2)
    twice = np.repeat(rng.dirichlet(np.ones(2), 300), [1, 2], axis=1) / [1, 2, 2]
    found = expectation_maximization(twice, np.full(3, 1 / 3))
    np.testing.assert_allclose(found[1], found[2], atol=1e-7)


def test_a_class_that_no_score_allows_gets_nothing() -> None:
    found = expectation_maximization(np.array([[0.5, 0.5, 0.0], [0.1, 0.9, 0.0]]), np.full(3, 1 / 3))
    assert found[2] == 0


def test_too_few_steps_are_a_warning() -> None:
    scores, labeled = random_problem(np.random.default_rng(3))
    with pytest.warns(ConvergenceWarning, match="after 0 steps"):
        expectation_maximization(scores, labeled, most_steps=0)


def test_calibration_mends_scores_that_are_too_sharp() -> None:
    shares = {"labeled_prevalence": [0.5, 0.5], "prevalence": [0.2, 0.8]}
    honest = shifted_scores(np.random.default_rng(4), **shares, items=20_000)

    def sharpen(scores: np.ndarray) -> np.ndarray:
        return scores**3 / (scores**3).sum(axis=1, keepdims=True)

    sharp = Scores(sharpen(honest.labeled), honest.labels, sharpen(honest.unlabeled))
    errors = [abs(EM(kind).prevalence(sharp)[0] - EM().prevalence(honest)[0]) for kind in (None, "temperature")]
    assert errors[1] < 0.005 < errors[0]
    assert EM("bias-corrected").prevalence(sharp)[0] != EM("temperature").prevalence(sharp)[0]


def test_a_tolerance_is_a_promise() -> None:
    scores, labeled = random_problem(np.random.default_rng(8))
    exact = expectation_maximization(scores, labeled, tolerance=1e-13)
    for tolerance in (1e-2, 1e-4, 1e-6):
        np.testing.assert_allclose(
            expectation_maximization(scores, labeled, tolerance=tolerance), exact, atol=tolerance
        )


@pytest.mark.parametrize("settings", [{"calibration": "platt"}, {"tolerance": 0.0}, {"tolerance": np.nan}])
def test_bad_settings_are_refused(settings: dict) -> None:
    with pytest.raises(InputError, match=next(iter(settings))):
        EM(**settings)


def test_a_class_without_labels_is_refused_by_name() -> None:
    scores = Scores([[0.9, 0.1]], ["cat"], [[0.5, 0.5]], classes=["cat", "dog"])
    with pytest.raises(InputError, match="no item of class 'dog': em needs"):
        EM().prevalence(scores)


def test_the_mode_takes_a_prior() -> None:
    counts = Counts([[9, 1], [2, 8]], [10, 0])
    flat, weak = MAP().prevalence(counts), MAP(Prior(2.0)).prevalence(counts)
    assert flat[1] < 1e-6 < weak[1]


def test_the_mode_answers_for_an_empty_class_and_for_fewer_outputs() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for counts in (Counts([[9, 1], [0, 0]], [5, 5]), Counts([[9, 1], [2, 8], [5, 5]], [5, 5])):
            np.testing.assert_allclose(MAP().prevalence(counts).sum(), 1)
