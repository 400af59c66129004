"""The reference engine agrees with the exact one (extra ``nuts``)."""

import warnings

import numpy as np
import pytest

import truecount as tc

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pytest.importorskip("nutpie")


@pytest.mark.parametrize("coordinates", ["class", "output"])
def test_it_agrees_with_exact_draws(coordinates):
    counts = tc.Counts([[70, 30, 5], [10, 90, 4], [6, 8, 60]], [300, 200, 100])
    exact = tc.infer(counts, engine=tc.Exact(20_000))
    nuts = tc.infer(counts, engine=tc.NUTS(4000, coordinates=coordinates))
    assert np.abs((exact.mean - nuts.mean) / np.hypot(exact.mcse, nuts.mcse)).max() < 5
    np.testing.assert_allclose(exact.sd, nuts.sd, rtol=5 * np.sqrt(1 / (2 * nuts.effective_draws.min())))
    assert nuts.chains == 4
    assert nuts.run.divergences == 0


@pytest.mark.filterwarnings("ignore::truecount.errors.ConvergenceWarning")
def test_it_begins_where_a_slope_is_zero():
    """The starts explain these outputs exactly, so the density is level in two directions, which nutpie refuses."""
    prior = tc.Prior([1, 2.5], [[5, 1], [0.8, 3]])
    counts, engine = tc.Counts([[6, 0], [0, 8]], [12, 13]), tc.NUTS(2, chains=1, warmup=50)
    assert len(tc.infer(counts, prior=prior, engine=engine, seed=3).prevalence) == 2
