import numpy as np
import pytest

from truecount import Counts
from truecount.errors import InputError
from truecount.estimators import CC, PCC
from truecount.scores.scores import Scores

SCORES = Scores([[0.9, 0.1], [0.3, 0.7]], [0, 1], [[0.6, 0.4], [0.9, 0.1], [0.3, 0.7]])


def test_counting_gives_the_shares_of_the_outputs() -> None:
    counts = Counts([[9, 1], [2, 8]], [30, 10], classes=["a", "b"])
    np.testing.assert_allclose(CC().prevalence(counts), [0.75, 0.25])


def test_counting_matches_outputs_to_classes_by_name() -> None:
    counts = Counts([[9, 1], [2, 8]], [30, 10], classes=["a", "b"], outputs=["b", "a"])
    np.testing.assert_allclose(CC().prevalence(counts), [0.25, 0.75])


def test_counting_scores_counts_the_most_probable_class() -> None:
    np.testing.assert_allclose(CC().prevalence(SCORES), [2 / 3, 1 / 3])


def test_probabilities_are_averaged() -> None:
    np.testing.assert_allclose(PCC().prevalence(SCORES), [0.6, 0.4])


def test_one_hot_scores_make_both_the_same() -> None:
    hard = Scores(np.eye(3), [0, 1, 2], np.eye(3)[[0, 0, 1, 2, 2, 2]])
    np.testing.assert_allclose(PCC().prevalence(hard), CC().prevalence(hard))


@pytest.mark.parametrize(
    "counts",
    [
        Counts([[9, 1, 0], [2, 8, 0]], [30, 10, 5]),
        Counts([[9, 1], [2, 8]], [30, 10], classes=["cat", "dog"], outputs=["yes", "no"]),
    ],
    ids=["more outputs", "other names"],
)
def test_counting_needs_outputs_that_are_the_classes(counts: Counts) -> None:
    with pytest.raises(InputError, match="CC needs outputs that are the classes"):
        CC().prevalence(counts)


def test_a_class_without_labels_does_not_matter() -> None:
    np.testing.assert_allclose(CC().prevalence(Counts([[9, 1], [0, 0]], [3, 1])), [0.75, 0.25])
