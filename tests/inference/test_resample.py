"""Weighted pools: what is said of their worth is what is seen."""

import numpy as np

from truecount.inference.resample import effective_draws, effective_share, normalised, resample


def test_equal_weights_are_all_effective():
    np.testing.assert_allclose(effective_share(np.full(50, 1 / 50)), 1)
    values = np.random.default_rng(0).random((50, 2))
    np.testing.assert_allclose(effective_draws(values, np.full(50, 1 / 50), 20), 20)


def test_normalised_weights_do_not_overflow():
    np.testing.assert_allclose(normalised(np.array([1000.0, 1000.0 + np.log(3)])), [0.25, 0.75])


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
        weights = normalised(0.8 * pool)
        said[repeat] = effective_draws(pool[:, None], weights, size)[0]
        means[repeat] = pool[resample(weights, size, rng)].mean()
    ratio = means.var(ddof=1) * np.mean(said)
    assert abs(ratio - 1) < 5 * np.sqrt(2 / repeats)


def test_that_check_fails_for_resampling_with_replacement(seed):
    rng, repeats, size = np.random.default_rng(seed), 500, 200
    means = np.empty(repeats)
    for repeat in range(repeats):
        pool = rng.normal(size=200)
        means[repeat] = pool[rng.integers(200, size=size)].mean()
    said = effective_draws(rng.normal(size=(200, 1)), np.full(200, 1 / 200), size)[0]
    assert abs(means.var(ddof=1) * said - 1) > 5 * np.sqrt(2 / repeats)
