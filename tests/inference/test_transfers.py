"""Transfers leave the outputs' shares and the posterior as they are, and let chains of many classes mix."""

import numpy as np
import pytest

import truecount as tc
from deviations import deviations
from truecount import simulate
from truecount.errors import UnsuitableEngineError
from truecount.inference.chains import gibbs, transfers
from truecount.inference.chains.gibbs import Gibbs
from truecount.inference.draws import dirichlet
from truecount.inference.modes.landscape import survey
from truecount.models import density

ALPHA = np.array([0.4, 1.0, 2.5])
ROWS = np.array([[3.0, 1.0, 0.6, 2.0], [0.7, 4.0, 1.0, 1.0], [1.5, 0.8, 5.0, 1.0]])
CHAINS = 40_000


def from_the_prior(rng):
    return dirichlet(rng, ALPHA, (CHAINS,)), dirichlet(rng, ROWS, (CHAINS,))


def moved(rng, prevalence, confusion, absorbing):
    after = prevalence.copy(), confusion.copy()
    alpha, rows = np.tile(ALPHA, (CHAINS, 1)), np.tile(ROWS[absorbing], (CHAINS, 1))
    transfers.transfer(*after, absorbing=absorbing, alpha=alpha, rows=rows, rng=rng)
    return after


@pytest.mark.parametrize("absorbing", range(3))
def test_draws_from_the_prior_stay_draws_from_the_prior(absorbing, seed):
    rng = np.random.default_rng(seed)
    before = from_the_prior(rng)
    after = moved(rng, *before, absorbing)
    assert (np.abs(after[0] - before[0]).max(axis=1) > 1e-3).mean() > 0.5
    assert deviations(before, after).max() < 5.0


@pytest.mark.parametrize(
    "wrong",
    [
        lambda own, given, row, at: -np.log(own.prevalence[at] - given),
        lambda own, given, row, at: np.log(own.joint[at] - given[:, None] * row).sum(axis=1),
    ],
    ids=["a power of the prevalence is missing", "a power of the joint shares is missing"],
)
def test_a_wrong_density_is_seen(wrong, seed, monkeypatch):
    right = transfers.Absorbing.log_density

    def planted(self, given, row, at=slice(None)):
        return right(self, given, row, at) + wrong(self, given, row, at)

    monkeypatch.setattr(transfers.Absorbing, "log_density", planted)
    rng = np.random.default_rng(seed)
    before = from_the_prior(rng)
    assert deviations(before, moved(rng, *before, 1)).max() > 10.0


def test_the_outputs_keep_their_shares(seed):
    rng = np.random.default_rng(seed)
    before = from_the_prior(rng)
    after = moved(rng, *before, 2)
    shares = [np.einsum("cl,clk->ck", *each) for each in (before, after)]
    np.testing.assert_allclose(*shares, atol=1e-12)
    np.testing.assert_allclose(after[0].sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(after[1].sum(axis=2), 1, atol=1e-12)


def test_the_class_that_outnumbers_its_labels_absorbs_and_a_known_row_never_does():
    counts = tc.Counts([[90, 10], [10, 90]], [900, 100])
    posed = density(counts, tc.Prior())
    chances = transfers.absorbing_chances(posed, np.array([0.9, 0.1]))
    assert chances[0] > 0.95
    known = density(counts, tc.Prior.known_confusion([[0.9, 0.1], [np.nan] * 2]))
    np.testing.assert_array_equal(transfers.absorbing_chances(known, np.array([0.9, 0.1])), [0, 1])


def many_classes(classes):
    """The paper's construction: one class holds most of the population."""
    confusion, prevalence = simulate.confusion(0.85, classes, classes), simulate.prevalence(0.7, classes)
    return simulate.counts(prevalence, confusion, labeled=50 * classes, unlabeled=25 * classes, seed=0)


@pytest.mark.slow
def test_twenty_classes_converge_with_the_default_prior():
    posterior = tc.infer(many_classes(20), engine=tc.Auto(400))
    assert (posterior.run.engine, posterior.status) == ("Gibbs", "ok")
    assert posterior.effective_draws.min() >= 400
    assert posterior.rhat.max() <= 1.05


@pytest.mark.slow
def test_many_classes_agree_with_hamiltonian_chains(seed):
    posed = density(many_classes(20), tc.Prior(1.0, "flat"))
    one = Gibbs(2000, effective_draws=2000, chains=32, warmup=100).sample(posed, seed)
    other = tc.Hamiltonian(2000, effective_draws=2000).sample(posed, seed)
    spread = other.prevalence.std(axis=0)
    error = spread * np.sqrt(1 / one.effective + 1 / other.effective)
    assert np.abs((one.prevalence.mean(axis=0) - other.prevalence.mean(axis=0)) / error).max() < 5


@pytest.mark.slow
def test_weighted_items_of_many_classes_are_not_rounded():
    """Thirty classes with .45 effective items each: rounded, they would have none."""
    labeled, unlabeled = np.eye(34) * 60 + 1, np.where(np.arange(34) < 4, 600.0, 90.0)
    counts = tc.Counts(labeled, unlabeled, labeled_squares=labeled, unlabeled_squares=0.607 * unlabeled**2)
    with pytest.raises(UnsuitableEngineError, match="whole items"):
        tc.infer(counts, prior=tc.Prior(1.0, "flat"), engine=Gibbs())
    assert tc.infer(counts, prior=tc.Prior(1.0, "flat"), engine=tc.Auto(100)).run.engine != "Gibbs"


def test_sparse_rows_are_tilted_where_others_are_transferred():
    for rows, is_sparse in ((0.001, True), ("flat", False)):
        with gibbs._Chains(survey(density(many_classes(20), tc.Prior(1.0, rows))), 4, 0) as chains:
            assert all(
                (part.tilts is not None, part.has_transfers) == (is_sparse, not is_sparse) for part in chains.parts
            )


def test_large_chains_in_threads_give_the_same_draws_again():
    posed = density(many_classes(40), tc.Prior())
    one, again = (Gibbs(64, chains=32, warmup=4).sample(posed, 3) for _ in range(2))
    np.testing.assert_array_equal(one.prevalence, again.prevalence)
