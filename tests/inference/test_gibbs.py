"""Gibbs sampling: what it refuses, and a limit with a closed form."""

import numpy as np
import pytest
from scipy import stats

from truecount.errors import UnsuitableEngineError
from truecount.inference.chains.gibbs import Gibbs
from truecount.models import Density


def density_of(rows, unlabeled, known=None):
    rows = np.asarray(rows, dtype=float)
    fixed = np.full(rows.shape, np.nan) if known is None else np.asarray(known, dtype=float)
    return Density(np.ones(len(rows)), rows, np.asarray(unlabeled, dtype=float), fixed)


def test_it_refuses_many_more_unlabelled_than_labelled_items():
    with pytest.raises(UnsuitableEngineError, match=r"engine is Gibbs: .*hold the confusion still.*Hamiltonian\(\)"):
        Gibbs().sample(density_of([[9, 1], [1, 9]], [5000, 5000]), 0)


def test_it_refuses_fewer_outputs_than_classes():
    with pytest.raises(UnsuitableEngineError, match="crawl"):
        Gibbs().sample(density_of([[9, 1], [1, 9], [5, 5]], [50, 50]), 0)


def test_it_refuses_weighted_items_that_rounding_would_change():
    with pytest.raises(UnsuitableEngineError, match="only whole items can be imputed"):
        Gibbs().sample(density_of([[9, 1], [1, 9]], [2.55, 0.51]), 0)


def test_many_unlabelled_items_are_fine_when_the_confusion_is_known():
    density = density_of([[1, 1], [1, 1]], [30_000, 70_000], known=np.eye(2))
    draws = Gibbs(4000, warmup=5).sample(density, 0).prevalence[:, 0]
    assert stats.kstest(draws, stats.beta(30_001, 70_001).cdf).pvalue > 1e-4


def test_same_seed_same_draws():
    density = density_of([[9, 1], [1, 9]], [5, 5])
    first, again = (Gibbs(80, warmup=5).sample(density, 3).prevalence for _ in range(2))
    np.testing.assert_array_equal(first, again)
