"""What more data does: the error of a consistent method falls as 1/√N, and that of the others does not."""

import numpy as np
import pytest

from made_scores import shifted_scores
from truecount.estimators import KMM, METHODS, Method

SHARES = {"labeled_prevalence": [0.5, 0.3, 0.2], "prevalence": [0.2, 0.2, 0.6]}
TIMES, REPEATS = 16, 30
INCONSISTENT = {"cc", "pcc", "cdeiterate"}
WITH_ALL_ROWS = {**METHODS, "kmm": KMM(rows=10**6)}
SMALL = {"kmm": 60}
"""Items of the smaller samples, where 250 would take long."""


def squared_errors(method: Method, items: int, seed: int) -> np.ndarray:
    data = (shifted_scores(np.random.default_rng([seed, i]), **SHARES, items=items, distance=2) for i in range(REPEATS))
    return np.array([((method.prevalence(scores) - SHARES["prevalence"]) ** 2).sum() for scores in data])


def gain(method: Method, seed: int) -> tuple[float, float]:
    """By how much larger samples divide the mean squared error, as a logarithm, and the standard error of that."""
    items = SMALL.get(method.name, 250)
    small, large = squared_errors(method, items, seed), squared_errors(method, TIMES * items, seed + 1000)
    relative = [errors.std(ddof=1) / errors.mean() / np.sqrt(REPEATS) for errors in (small, large)]
    return float(np.log(small.mean() / large.mean())), float(np.hypot(*relative))


@pytest.mark.parametrize("name", sorted(set(METHODS) - INCONSISTENT))
def test_the_squared_error_of_consistent_methods_falls_as_the_data_grow(name: str, seed: int) -> None:
    found, error = gain(WITH_ALL_ROWS[name], seed)
    assert abs(found - np.log(TIMES)) < 5 * error


@pytest.mark.parametrize("name", sorted(INCONSISTENT))
def test_the_others_stay_wrong(name: str, seed: int) -> None:
    found, error = gain(METHODS[name], seed)
    assert found < np.log(TIMES) - 5 * error


@pytest.mark.parametrize("name", sorted(INCONSISTENT))
def test_their_error_is_not_chance(name: str, seed: int) -> None:
    """At 100,000 items the sampling error is below 0.01; theirs is several times that."""
    data = shifted_scores(np.random.default_rng(seed), **SHARES, items=100_000, distance=2)
    assert np.abs(METHODS[name].prevalence(data) - SHARES["prevalence"]).max() > 0.03
    assert np.abs(METHODS["em"].prevalence(data) - SHARES["prevalence"]).max() < 0.02
