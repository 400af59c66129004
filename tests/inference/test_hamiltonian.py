"""Chains: which coordinates they take, when they stop, what they keep."""

import numpy as np
import pytest
from scipy import stats

from truecount.errors import InputError, UnsuitableEngineError
from truecount.inference.chains import history, leapfrog
from truecount.inference.chains.hamiltonian import Hamiltonian, build_coordinates, suitable_coordinates
from truecount.inference.chains.leapfrog import Effort, begin, move, warm_up
from truecount.inference.modes.landscape import Landscape, survey
from truecount.models import Density


def density_of(rows, unlabeled, *, known=None):
    rows = np.asarray(rows, dtype=float)
    fixed = np.full(rows.shape, np.nan) if known is None else np.asarray(known, dtype=float)
    return Density(np.ones(len(rows)), rows, np.asarray(unlabeled, dtype=float), fixed)


ORDINARY = density_of(np.eye(3) * 30 + 2, [30, 40, 30])


@pytest.mark.parametrize(("items", "expected"), [(1, ("class",)), (1000, ("class", "output")), (10_000, ("output",))])
def test_coordinates_follow_the_number_of_unlabelled_items(items, expected):
    assert suitable_coordinates(density_of([[30, 3], [3, 30]], [items, items])) == expected


def test_of_two_coordinates_the_better_one_is_taken():
    """An output that no unlabelled item has is easy in the class's coordinates and hard in the outputs'."""
    draws = Hamiltonian(320).sample(density_of([[51, 6], [4, 61]], [1000, 0]), 0)
    assert draws.run.coordinates == "class"


def test_known_rows_stay_known():
    density = density_of([[1, 1, 1], [3, 20, 4]], [3000, 4000, 5000], known=[[0.8, 0.1, 0.1], [np.nan] * 3])
    draws = Hamiltonian(200, warmup=50).sample(density, 0)
    np.testing.assert_allclose(draws.confusion[:, 0], [[0.8, 0.1, 0.1]] * len(draws.confusion))
    assert draws.confusion[:, 1].std() > 0


def test_output_coordinates_refuse_known_rows():
    with pytest.raises(UnsuitableEngineError, match="known rows"):
        Hamiltonian(coordinates="output").sample(
            density_of([[1, 1], [3, 20]], [3, 4], known=[[0.8, 0.2], [np.nan] * 2]), 0
        )


def test_it_goes_on_until_enough_draws_are_effective():
    draws = Hamiltonian(320, effective_draws=2500).sample(ORDINARY, 0)
    assert draws.effective.min() >= 2500
    assert draws.rhat.max() <= 1.01
    assert draws.run.not_converged is None


def test_a_budget_ends_it_and_the_record_says_so():
    draws = Hamiltonian(320, effective_draws=10**6, budget=1500).sample(ORDINARY, 0)
    assert draws.effective.min() < 10**6
    assert 1500 <= draws.run.gradients < 1500 + 150


def test_chains_too_short_to_judge_are_not_called_settled():
    draws = Hamiltonian(2, chains=2, warmup=50).sample(ORDINARY, 0)
    assert "too short to judge" in draws.run.not_converged


def test_same_seed_same_draws_and_another_seed_others():
    first, again, other = (Hamiltonian(64, warmup=50).sample(ORDINARY, seed).prevalence for seed in (7, 7, 8))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_kept_confusions_belong_to_every_stride_th_prevalence(monkeypatch):
    monkeypatch.setattr(history, "CONFUSION_BYTES", 8 * 9 * 4 * 10)
    draws = Hamiltonian(400, chains=4, warmup=50).sample(ORDINARY, 0)
    assert draws.stride > 1
    assert len(draws.confusion) == len(draws.prevalence[:: draws.stride]) <= 40
    outputs = np.einsum("dl,dlk->dk", draws.prevalence[:: draws.stride], draws.confusion)
    shifted = np.einsum("dl,dlk->dk", np.roll(draws.prevalence[:: draws.stride], 1, axis=0), draws.confusion)
    observed = ORDINARY.unlabeled / ORDINARY.unlabeled.sum()
    assert np.abs(outputs - observed).mean() < np.abs(shifted - observed).mean()


def test_moves_leave_the_density_alone_where_steps_are_tiny():
    """Energy is conserved up to the step's square: with tiny steps every move is accepted."""
    coordinates = build_coordinates(ORDINARY, "class")
    rng, effort = np.random.default_rng(0), Effort()
    chains, tuning = warm_up(
        coordinates, begin(coordinates, coordinates.point(*survey(ORDINARY).starting_points(8, rng))), 60, rng, effort
    )
    booked, moves = effort.accepted, 20
    small = type(tuning)(tuning.step / 100, tuning.steps, tuning.scale)
    for _ in range(moves):
        chains = move(coordinates, chains, small, rng, effort)
    assert (effort.accepted - booked) / moves > 0.999


@pytest.mark.parametrize("bad", [{"draws": 0}, {"warmup": 3}, {"coordinates": "polar"}, {"chains": 1}, {"budget": 0}])
def test_bad_settings_are_refused(bad):
    with pytest.raises(InputError):
        Hamiltonian(**bad)


def test_effective_draws_said_are_seen_across_seeds():
    """Variance of the mean over 50 seeds against the one said; a chi-square bound broken once in 10⁵ runs."""
    runs = [Hamiltonian(960, warmup=80).sample(ORDINARY, seed) for seed in range(50)]
    means = np.array([run.prevalence.mean(axis=0) for run in runs])
    variance = np.mean([run.prevalence.var(axis=0) for run in runs], axis=0)
    said = np.mean([run.effective for run in runs], axis=0)
    ratio = (len(runs) - 1) * means.var(axis=0, ddof=1) * said / variance
    assert (ratio < stats.chi2.ppf(1 - 1e-5, len(runs) - 1)).all(), "fewer draws are effective than was said"


def test_chains_cut_in_two_for_two_cores_go_where_they_would_together(monkeypatch):
    together = Hamiltonian(64, chains=5, warmup=50).sample(ORDINARY, 1)
    monkeypatch.setattr(leapfrog, "WORTH_CUTTING", 1)
    apart = Hamiltonian(64, chains=5, warmup=50).sample(ORDINARY, 1)
    np.testing.assert_allclose(apart.prevalence, together.prevalence, rtol=1e-6)


@pytest.mark.parametrize("run", range(3))
def test_chains_forget_where_they_began(run, seed):
    """Half of the chains begin on modes and corners that hold almost nothing: P(share > .3) is 3e-7.

    Mean, sd and kurtosis are sums over all allocations of the unlabelled items (`benchmarks/attack_oracle.py`).
    """
    density = density_of([[1, 9, 1, 13], [112, 64, 68, 60]], [368, 162, 185, 85])
    assert not survey(density).is_plain
    draws = Hamiltonian(2002, effective_draws=4000).sample(density, 100 * run + seed)
    share, mean, sd, kurtosis = draws.prevalence[:, 0], 0.01146002, 0.01117722, 18.05
    assert share.max() < 0.3
    assert share.mean() == pytest.approx(mean, abs=5 * sd / np.sqrt(draws.effective[0]))
    assert share.std() == pytest.approx(sd, abs=5 * sd * np.sqrt((kurtosis - 1) / 4 / draws.effective[0]))


def test_a_mode_that_no_draw_is_near_is_a_complaint(monkeypatch):
    density = density_of([[901, 51, 51], [51, 901, 51]], [100, 100, 800])
    found = survey(density)
    assert not found.is_missed_by(found.modes[:, :, 0])
    assert found.is_missed_by(found.modes[:1, :, 0])
    monkeypatch.setattr(Landscape, "is_missed_by", lambda self, prevalence: True)
    assert "mode" in Hamiltonian(640, effective_draws=300).sample(density, 0).run.not_converged
