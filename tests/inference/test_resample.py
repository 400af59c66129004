"""Weighted pools: what is said of their worth is what is seen."""

import numpy as np

from truecount._log_sum import softmax
from truecount.inference.importance.resample import (
    all_draws_needed,
    draws_needed,
    effective_draws,
    effective_share,
    resample,
)


def test_equal_weights_are_all_effective():
    np.testing.assert_allclose(effective_share(np.full(50, 1 / 50)), 1)
    values = np.random.default_rng(0).random((2, 3, 50))
    np.testing.assert_allclose(effective_draws(values, np.full((3, 50), 1 / 50), np.full(3, 20)), 20)


def worth(values, weights, size):
    """The effective number of one class of one problem."""
    return effective_draws(values[None, None], weights[None], np.array([size])).item()


def test_normalised_weights_do_not_overflow():
    np.testing.assert_allclose(softmax(np.array([1000.0, 1000.0 + np.log(3)])), [0.25, 0.75])


def test_each_draw_comes_as_often_as_its_weight_says(seed):
    weights = np.array([0.5, 0.3, 0.2])
    counts = np.bincount(resample(weights, 10, np.random.default_rng(seed)), minlength=3)
    assert np.all(np.abs(counts - 10 * weights) < 1)


def test_the_effective_number_said_is_seen_from_outside(seed):
    """Over 2,000 repeats the mean's variance is the posterior's over the effective number, within 5 standard errors."""
    rng, repeats, size = np.random.default_rng(seed), 2000, 100
    means, said = np.empty(repeats), np.empty(repeats)
    for repeat in range(repeats):
        pool = rng.normal(size=3000)
        weights = softmax(0.8 * pool)
        said[repeat] = worth(pool, weights, size)
        means[repeat] = pool[resample(weights, size, rng)].mean()
    ratio = means.var(ddof=1) * np.mean(said)
    assert abs(ratio - 1) < 5 * np.sqrt(2 / repeats)


def test_that_check_fails_for_resampling_with_replacement(seed):
    rng, repeats, size = np.random.default_rng(seed), 500, 200
    means = np.empty(repeats)
    for repeat in range(repeats):
        pool = rng.normal(size=200)
        means[repeat] = pool[rng.integers(200, size=size)].mean()
    said = worth(rng.normal(size=200), np.full(200, 1 / 200), size)
    assert abs(means.var(ddof=1) * said - 1) > 5 * np.sqrt(2 / repeats)


def test_many_problems_need_what_each_needs_alone(seed):
    rng = np.random.default_rng(seed)
    values, weights = rng.random((2, 3, 400)), softmax(rng.normal(size=(3, 400)) * np.array([[0.1], [0.4], [3.0]]))
    sizes, effective = all_draws_needed(values, weights, 100, 300)
    for number in range(3):
        size, alone = draws_needed(values[:, number].T, weights[number], 100, 300)
        assert size == sizes[number]
        np.testing.assert_allclose(alone, effective[:, number])
    assert len(set(sizes)) == 3
