"""Sums of numbers that are known by their logarithms."""

import numpy as np

from truecount._log_sum import finite_log, log_sum, softmax


def test_logarithms_far_from_zero_neither_overflow_nor_vanish() -> None:
    logs = np.array([[-1e4, -1e4], [1e4, 1e4 + np.log(3)], [0.0, -1e4]])
    np.testing.assert_allclose(log_sum(logs, axis=1), [[-1e4 + np.log(2)], [1e4 + np.log(4)], [0.0]], rtol=1e-15)


def test_along_any_axis() -> None:
    logs = np.random.default_rng(0).normal(size=(2, 3, 4))
    for axis in (0, 1, 2, -1):
        np.testing.assert_allclose(log_sum(logs, axis=axis), np.logaddexp.reduce(logs, axis=axis, keepdims=True))


def test_shares_of_logarithms_far_from_zero_sum_to_one() -> None:
    logs = np.array([[-1e4, -1e4], [1e4, 1e4 + np.log(3)], [0.0, -1e4]])
    np.testing.assert_allclose(softmax(logs), [[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]], rtol=1e-11)
    np.testing.assert_allclose(softmax(logs.T, axis=0), softmax(logs).T, rtol=1e-15)


def test_the_logarithm_of_no_share_is_finite_and_times_no_items_nothing() -> None:
    logs = finite_log(np.array([0.0, 1e-310, 0.5, 1.0]))
    assert np.isfinite(logs).all()
    np.testing.assert_array_equal(logs[2:], np.log([0.5, 1.0]))
    assert 0.0 * logs[0] == 0.0
