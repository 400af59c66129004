"""A survey becomes the counts that it means."""

from typing import Any

import numpy as np
import pytest

from truecount import Counts
from truecount.counts.survey import survey
from truecount.counts.weights import effective_counts
from truecount.errors import InputError


def test_counted_rates_become_labeled_counts() -> None:
    counts, known = survey((50, 3330), sensitivity=(103, 122), specificity=(399, 401))
    assert counts == Counts([[399, 2], [19, 103]], [3280, 50], ["negative", "positive"])
    assert known is None


def test_known_rates_become_known_rows() -> None:
    counts, known = survey((50, 3330), sensitivity=0.84, specificity=0.995)
    assert not counts.labeled.any()
    np.testing.assert_allclose(known, [[0.995, 0.005], [0.16, 0.84]], rtol=1e-14)


def test_one_rate_may_be_known_and_the_other_counted() -> None:
    counts, known = survey((50, 3330), sensitivity=(103, 122), specificity=1.0)
    assert counts.labeled.tolist() == [[0, 0], [19, 103]]
    np.testing.assert_array_equal(known, [[1, 0], [np.nan, np.nan]])
    counts, known = survey((50, 3330), sensitivity=0.9, specificity=(399, 401))
    assert counts.labeled.tolist() == [[399, 2], [0, 0]]
    np.testing.assert_allclose(known, [[np.nan, np.nan], [0.1, 0.9]])


@pytest.mark.parametrize(
    "wrong",
    [
        {"positive": (51, 50)},
        {"positive": (-1, 50)},
        {"positive": (0, 0)},
        {"positive": (50.5, 50)},
        {"positive": (1.5, float("inf"))},
        {"positive": (float("nan"), 50)},
        {"sensitivity": (123, 122)},
        {"sensitivity": 1.2},
        {"sensitivity": float("nan")},
        {"specificity": -0.1},
        {"specificity": (0, 0)},
    ],
    ids=str,
)
def test_impossible_rates_are_refused_by_name(wrong: dict[str, Any]) -> None:
    sound = {"positive": (50, 3330), "sensitivity": 0.9, "specificity": 0.9}
    with pytest.raises(InputError, match=next(iter(wrong))):
        survey(**{**sound, **wrong})


def test_weighted_numbers_are_of_an_effective_size() -> None:
    counts, _ = survey((50.5, 1200), sensitivity=(103, 122), specificity=(399, 401))
    assert counts.is_weighted
    labeled, unlabeled = effective_counts(counts)
    assert labeled.tolist() == [[399, 2], [19, 103]]
    assert unlabeled.tolist() == [1149.5, 50.5]
