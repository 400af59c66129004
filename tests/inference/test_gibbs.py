"""Gibbs sampling: what it refuses, and a limit with a closed form."""

import numpy as np
import pytest
from scipy import stats

from truecount.errors import UnsuitableEngineError
from truecount.inference.chains import history
from truecount.inference.chains.gibbs import Gibbs
from truecount.models import Density


def density_of(rows, unlabeled, known=None):
    rows = np.asarray(rows, dtype=float)
    fixed = np.full(rows.shape, np.nan) if known is None else np.asarray(known, dtype=float)
    return Density(np.ones(len(rows)), rows, np.asarray(unlabeled, dtype=float), fixed)


def test_it_refuses_many_more_unlabelled_than_labelled_items():
    with pytest.raises(UnsuitableEngineError, match=r"engine is Gibbs: .*from moving the confusion.*Hamiltonian\(\)"):
        Gibbs().sample(density_of([[9, 1], [1, 9]], [5000, 5000]), 0)


def test_it_refuses_fewer_outputs_than_classes():
    with pytest.raises(UnsuitableEngineError, match="mix slowly"):
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


def test_shares_of_the_items_are_those_imputed_where_few_confusions_are_kept(monkeypatch):
    """Given a known confusion of which each output has one class, they are the shares of the outputs in every draw."""
    monkeypatch.setattr(history, "CONFUSION_BYTES", 8 * 8 * 4 * 10)
    known = density_of([[1, 1], [1, 1]], [30, 70], known=np.eye(2))
    few = Gibbs(400, warmup=5).sample(known, 0)
    assert few.stride > 1
    np.testing.assert_array_equal(few.realized, np.tile([0.3, 0.7], (len(few.prevalence), 1)))
    learned = density_of([[90, 10], [20, 80]], [30, 70])
    few = Gibbs(8000, warmup=50).sample(learned, 0)
    monkeypatch.undo()
    every = Gibbs(8000, warmup=50).sample(learned, 0)
    chains = [each.prevalence.reshape(8, -1, 2) for each in (few, every)]
    np.testing.assert_array_equal(chains[0], chains[1][:, : chains[0].shape[1]])
    assert every.realized is None
    of_output = every.prevalence[:, :, None] * every.confusion
    expected = (of_output / of_output.sum(axis=1, keepdims=True)) @ [0.3, 0.7]
    error = expected[:, 0].std() * np.sqrt(2 / every.effective.min())
    assert few.realized[:, 0].mean() == pytest.approx(expected[:, 0].mean(), abs=5 * error)
