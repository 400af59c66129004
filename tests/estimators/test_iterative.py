import numpy as np
import pytest

from truecount.errors import InputError
from truecount.estimators import CC, CDEIterate
from truecount.estimators.counting import class_distribution_iterate
from truecount.scores.scores import Scores

EVEN = np.array([0.5, 0.5])


def test_by_hand_until_the_count_repeats() -> None:
    """From even shares 3 of 4 win; at 3:1 the item at 0.3 has odds 3·0.3/0.7 > 1 and changes sides; then all stay."""
    scores = np.array([[0.9, 0.1], [0.8, 0.2], [0.55, 0.45], [0.3, 0.7]])
    np.testing.assert_allclose(class_distribution_iterate(scores, EVEN, most_rounds=1), [0.75, 0.25])
    np.testing.assert_allclose(class_distribution_iterate(scores, EVEN, most_rounds=2), [1, 0])
    np.testing.assert_allclose(class_distribution_iterate(scores, EVEN), [1, 0])


def test_the_labelled_prevalence_is_taken_out() -> None:
    """After a count of 1:2, odds of 4 stay above one; had the labels 9:1, they are 4/9 · 1/2 and fall below."""
    scores = np.array([[0.8, 0.2], [0.2, 0.8], [0.2, 0.8]])
    np.testing.assert_allclose(class_distribution_iterate(scores, EVEN), [1 / 3, 2 / 3])
    np.testing.assert_allclose(class_distribution_iterate(scores, np.array([0.9, 0.1])), [0, 1])


def test_the_first_round_is_plain_counting() -> None:
    scores = Scores(np.eye(2), [0, 1], np.random.default_rng(0).dirichlet([1, 1], 50))
    np.testing.assert_allclose(CDEIterate(most_rounds=1).prevalence(scores), CC().prevalence(scores))


def test_it_says_that_it_is_not_consistent() -> None:
    assert "not consistent" in CDEIterate().caution


def test_no_rounds_are_refused() -> None:
    with pytest.raises(InputError, match="most_rounds"):
        CDEIterate(most_rounds=0)
