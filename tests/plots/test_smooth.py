"""Smoothed draws keep the shape of what they were drawn from, up to the edges."""

import numpy as np
import pytest

from truecount.plots.smooth import prior_density, smooth_density

SIZE = 40_000


def tolerance(height: float, width: float) -> float:
    """Five standard errors of a smoothed height, ``f / (2 √π n h)``, and a twentieth for the bias."""
    return 5 * np.sqrt(height / (2 * np.sqrt(np.pi) * SIZE * width)) + 0.05 * height


def test_even_draws_give_an_even_density_up_to_both_ends(seed: int) -> None:
    shares, heights = smooth_density(np.random.default_rng(seed).random(SIZE), 256)
    assert shares[0] < 0.01
    assert shares[-1] > 0.99
    assert np.abs(heights - 1).max() < tolerance(1.0, 1.06 * 0.29 * SIZE**-0.2)


def test_a_bell_keeps_its_height(seed: int) -> None:
    draws = np.random.default_rng(seed).beta(20, 30, SIZE)
    shares, heights = smooth_density(draws, 256)
    top = float(np.interp(0.4, shares, heights))
    true = prior_density(np.array([20.0, 30.0]), (0.3999, 0.4001), 1)[1][0, 0]
    assert top == pytest.approx(true, abs=tolerance(true, 1.06 * 0.07 * SIZE**-0.2))


def test_draws_that_are_all_one_give_a_spike() -> None:
    shares, heights = smooth_density(np.zeros(50), 64)
    assert heights.argmax() == 0
    assert np.isfinite(heights).all()
    assert shares.max() < 0.01


def test_prior_is_the_beta_of_each_class() -> None:
    shares, heights = prior_density(np.array([2.0, 1.0, 1.0]), (0.0, 1.0), 1000)
    np.testing.assert_allclose(heights[0], 6 * shares * (1 - shares))
    np.testing.assert_allclose(heights[1], 3 * (1 - shares) ** 2)
