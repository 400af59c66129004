"""What every engine draws with."""

import numpy as np

from truecount.inference.draws import dirichlet


def test_no_rows_no_draws() -> None:
    """A part of a mixture may happen to get no proposals at all."""
    assert dirichlet(np.random.default_rng(0), np.ones((0, 3)), ()).shape == (0, 3)


def test_tiny_concentrations_still_sum_to_one(seed: int) -> None:
    shares = dirichlet(np.random.default_rng(seed), np.full(4, 1e-4), (200,))
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
