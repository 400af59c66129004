import numpy as np
import pytest

from truecount import Counts
from truecount.estimators import ACC, BBSE, MAP, PACC, RLLS, InvariantRatio
from truecount.scores.scores import Scores

JUDGE = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
OUTSIDE = Counts([[90, 10], [20, 80]], [95, 5])
HARD = [ACC, InvariantRatio, BBSE]


@pytest.mark.parametrize("method", HARD)
def test_two_classes_by_hand(method) -> None:
    """TPR = 0.9 and FPR = 0.3, so the share that passes is (0.4 − 0.3) / (0.9 − 0.3)."""
    np.testing.assert_allclose(method().prevalence(JUDGE), [5 / 6, 1 / 6])


@pytest.mark.parametrize("method", [ACC(), InvariantRatio(), BBSE(), RLLS(), MAP()])
def test_three_classes_by_hand(method) -> None:
    """Rows .8 .1 .1 | .2 .6 .2 | 0 .2 .8 mixed by .5 .25 .25 give .45 .25 .3."""
    counts = Counts([[8, 1, 1], [4, 12, 4], [0, 1, 4]], [45, 25, 30])
    np.testing.assert_allclose(method.prevalence(counts), [0.5, 0.25, 0.25], atol=1e-6)


@pytest.mark.parametrize("method", HARD)
def test_restricted_or_not_outside_the_simplex(method) -> None:
    """(0.95 − 0.2) / (0.9 − 0.2) is above one."""
    np.testing.assert_allclose(method(restricted=False).prevalence(OUTSIDE), [15 / 14, -1 / 14])
    np.testing.assert_allclose(method(restricted=True).prevalence(OUTSIDE), [1, 0], atol=1e-15)


def test_black_box_shift_is_unrestricted_unless_told() -> None:
    assert BBSE().prevalence(OUTSIDE).min() < 0 <= ACC().prevalence(OUTSIDE).min()


def test_flat_mode_is_the_unrestricted_invariant_ratio_inside_the_simplex(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [rng.multinomial(200, 0.7 * np.eye(4)[row] + 0.075) for row in range(4)]
    counts = Counts(rows, rng.multinomial(5000, [0.25, 0.3, 0.2, 0.25]))
    unrestricted = InvariantRatio(restricted=False).prevalence(counts)
    assert unrestricted.min() > 0
    np.testing.assert_allclose(MAP().prevalence(counts), unrestricted, atol=1e-6)


@pytest.mark.parametrize(("hard", "soft"), [(ACC(), PACC()), (BBSE(), BBSE(soft=True))])
def test_one_hot_scores_are_counts(hard, soft) -> None:
    rng = np.random.default_rng(5)
    labels, said = rng.integers(3, size=60), rng.integers(3, size=40)
    right = np.where(rng.random(60) < 0.7, labels, rng.integers(3, size=60))
    scores = Scores(np.eye(3)[right], labels, np.eye(3)[said])
    np.testing.assert_allclose(soft.prevalence(scores), hard.prevalence(scores), atol=1e-12)


@pytest.mark.parametrize("method", [PACC(), InvariantRatio(soft=True), BBSE(soft=True)])
def test_scores_by_hand(method) -> None:
    """Average scores .8 .2 | .4 .6 and .5 overall: the share of class 0 is (0.5 − 0.4) / (0.8 − 0.4)."""
    scores = Scores([[0.9, 0.1], [0.7, 0.3], [0.4, 0.6]], [0, 0, 1], [[0.3, 0.7], [0.7, 0.3]])
    np.testing.assert_allclose(method.prevalence(scores), [0.25, 0.75])


@pytest.mark.parametrize("method", [ACC(), InvariantRatio(), BBSE()])
@pytest.mark.parametrize("n_outputs", [1, 2, 5])
def test_other_numbers_of_outputs_have_an_answer(method, n_outputs: int) -> None:
    rng = np.random.default_rng(n_outputs)
    counts = Counts(rng.integers(1, 50, (3, n_outputs)), rng.integers(1, 50, n_outputs))
    assert np.isfinite(method.prevalence(counts)).all()


def test_names_say_which_version_it_is() -> None:
    assert (BBSE().name, BBSE(soft=True).name) == ("bbse", "bbse-soft")
    assert (BBSE().needs, BBSE(soft=True).needs) == ("counts", "scores")
    assert InvariantRatio(soft=True).name == "invariantratio-soft"


def test_weights_count_as_shares() -> None:
    squares = {"labeled_squares": JUDGE.labeled * 4.0, "unlabeled_squares": JUDGE.unlabeled * 9.0}
    heavy = Counts(2 * JUDGE.labeled, 3 * JUDGE.unlabeled, JUDGE.classes, **squares)
    np.testing.assert_allclose(ACC().prevalence(heavy), ACC().prevalence(JUDGE))
