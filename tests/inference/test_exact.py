"""Independent draws: what they are worth, what they refuse, and the limits that have closed forms."""

import numpy as np
import pytest
from scipy import stats

import truecount as tc
from truecount.errors import InputError, UnsuitableEngineError
from truecount.inference import convergence
from truecount.inference.importance.exact import Exact
from truecount.inference.importance.proposal import DirichletMixture, Proposal
from truecount.models import Density


def density_of(rows, unlabeled, *, alpha=1.0, known=None):
    rows = np.asarray(rows, dtype=float)
    fixed = np.full(rows.shape, np.nan) if known is None else np.asarray(known, dtype=float)
    return Density(np.full(len(rows), alpha), rows, np.asarray(unlabeled, dtype=float), fixed)


NEARLY_EQUAL_ROWS = density_of([[60.0, 40], [45, 55]], [250, 250])
USELESS = density_of([[51.0, 51], [49, 53]], [250, 250])


def test_a_perfect_known_box_gives_the_beta_posterior():
    density = density_of([[1, 1], [1, 1]], [30, 70], known=np.eye(2))
    draws = Exact(4000).sample(density, 1).prevalence[:, 0]
    assert stats.kstest(draws, stats.beta(31, 71).cdf).pvalue > 1e-4


def test_without_unlabelled_items_the_prior_comes_back():
    draws = Exact(4000).sample(density_of([[5, 1], [1, 5]], [0, 0], alpha=2.0), 1)
    assert stats.kstest(draws.prevalence[:, 0], stats.beta(2, 2).cdf).pvalue > 1e-4
    assert stats.kstest(draws.confusion[:, 0, 0], stats.beta(5, 1).cdf).pvalue > 1e-4


@pytest.mark.parametrize("alpha", [1.0, 3.0])
def test_one_output_gives_the_prior_back(alpha):
    draws = Exact(4000).sample(density_of([[9], [4], [7]], [500], alpha=alpha), 1)
    assert stats.kstest(draws.prevalence[:, 0], stats.beta(alpha, 2 * alpha).cdf).pvalue > 1e-4


@pytest.mark.parametrize("density", [NEARLY_EQUAL_ROWS, USELESS], ids=["nearly equal rows", "useless"])
def test_weights_are_bounded_where_the_determinant_is_not(density):
    rng = np.random.default_rng(0)
    alone = Proposal.first(density).draw(20_000, rng)
    mixed = Proposal.first(density).widened().fitted(alone).draw(20_000, rng)
    assert convergence.pareto_k(mixed.log_weights) < 0.4
    assert mixed.largest < alone.largest / 3


@pytest.mark.parametrize(
    "density",
    [
        NEARLY_EQUAL_ROWS,
        USELESS,
        density_of(np.eye(3) * 30 + 2, [30, 40, 30]),
        density_of([[40, 5, 3], [4, 6, 30]], [30, 12, 40]),
        density_of([[30, 2], [15, 15], [2, 30]], [40, 60]),
    ],
    ids=["nearly equal rows", "useless", "3x3", "2x3", "3x2"],
)
def test_effective_draws_said_are_seen_across_seeds(density):
    """Variance of the mean over 60 seeds against the one said; a chi-square bound broken once in 10⁵ runs."""
    runs = [Exact(500).sample(density, seed) for seed in range(60)]
    means = np.array([run.prevalence.mean(axis=0) for run in runs])
    variance = np.mean([run.prevalence.var(axis=0) for run in runs], axis=0)
    said = np.mean([run.effective for run in runs], axis=0)
    ratio = (len(runs) - 1) * means.var(axis=0, ddof=1) * said / variance
    low, high = stats.chi2.ppf([5e-6, 1 - 5e-6], len(runs) - 1)
    assert (ratio > low).all()
    assert (ratio < high).all()


def test_effective_draws_asked_for_are_reached():
    density = density_of([[30, 2], [15, 15], [2, 30]], [40, 60])
    draws = Exact(100, effective_draws=2000).sample(density, 0)
    assert round(draws.effective.min()) >= 2000


@pytest.mark.parametrize("asked", [50, 100, 400])
@pytest.mark.parametrize("seed", range(5))
def test_few_draws_asked_for_are_reached_too(asked, seed):
    density = density_of([[40, 5, 3], [4, 6, 30]], [30, 12, 40])
    draws = Exact(asked, effective_draws=asked).sample(density, seed)
    assert round(draws.effective.min()) >= asked


def test_a_tiny_concentration_means_corners_not_the_middle():
    density = density_of([[5, 1], [1, 5]], [0, 0], alpha=0.001)
    share = Exact(4000).sample(density, 0).prevalence[:, 0]
    assert np.mean((share > 0.01) & (share < 0.99)) < 0.02
    np.testing.assert_allclose(share.std(), 0.5 / np.sqrt(1.002), rtol=5 / np.sqrt(4000))


def test_it_refuses_a_prior_below_one_of_many_classes_by_name():
    with pytest.raises(UnsuitableEngineError, match=r"engine is Exact: .*prior below 1.*Auto\(\)"):
        Exact().sample(density_of(np.eye(7) * 9 + 1, np.full(7, 5), alpha=0.5), 0)


def test_it_refuses_when_too_few_proposals_count():
    rows = np.full((20, 20), 2.0) + np.eye(20) * 40
    with pytest.raises(UnsuitableEngineError, match=r"of the proposals would count"):
        Exact().sample(density_of(rows, [350, *[8] * 19]), 0)


def test_draws_must_be_a_positive_whole_number():
    with pytest.raises(InputError, match="draws is 0"):
        Exact(0)


def test_counts_of_a_trillion_are_as_good_as_small_ones():
    counts = tc.Counts(np.eye(3, dtype=int) * 10**6 + 1000, [7 * 10**11, 2 * 10**11, 10**11])
    posterior = tc.infer(counts)
    by_solving = np.linalg.solve((counts.labeled / counts.labeled.sum(axis=1)[:, None]).T, [0.7, 0.2, 0.1])
    np.testing.assert_allclose(posterior.mean, by_solving, atol=5 * (posterior.sd + posterior.mcse).max())
    assert posterior.run.engine == "Exact"


def test_a_mixture_of_dirichlets_integrates_to_one():
    mixture = DirichletMixture(np.array([[2.0, 5.0], [1.0, 1.0]]))
    share = (np.arange(20_000) + 0.5) / 20_000
    density = np.exp(mixture.log_density(np.column_stack([share, 1 - share])))
    np.testing.assert_allclose(density.mean(), 1, rtol=1e-6)


def test_same_seed_same_draws_and_another_seed_others():
    density = density_of([[40, 5, 3], [4, 6, 30]], [30, 12, 40])
    first, again, other = (Exact(50).sample(density, seed).prevalence for seed in (7, 7, 8))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("unlabeled", [[300, 200], [50, 3000]])
def test_a_box_known_to_be_useless_gives_the_prior_back(unlabeled):
    draws = Exact(4000).sample(density_of([[1, 1], [1, 1]], unlabeled, known=[[0.5, 0.5], [0.5, 0.5]]), 1)
    assert stats.kstest(draws.prevalence[:, 0], stats.uniform.cdf).pvalue > 1e-4


def test_an_output_that_nothing_gives_changes_nothing():
    """Zero items with zero probability: without the column the answer is the same."""
    known = np.array([[0.99, 0.01, 0.0], [0.1, 0.9, 0.0]])
    wide = Exact(4000).sample(density_of(np.ones((2, 3)), [4000, 300, 0], known=known), 1).prevalence[:, 0]
    narrow = Exact(4000).sample(density_of(np.ones((2, 2)), [4000, 300], known=known[:, :2]), 2).prevalence[:, 0]
    assert stats.ks_2samp(wide, narrow).pvalue > 1e-4


@pytest.mark.parametrize(
    "engine", [Exact(4000), tc.Hamiltonian(2000, effective_draws=1000)], ids=["Exact", "Hamiltonian"]
)
@pytest.mark.parametrize("items", [10**15, pytest.param(10**17, marks=pytest.mark.slow)])
def test_more_items_than_floats_have_digits_for_say_what_fewer_say(engine, items, seed):
    """Rounding alone gave weights of several nats."""
    labeled, shares = [[9, 1, 0], [0, 0, 7]], np.array([0.5, 0.3, 0.2])
    few, many = (
        tc.infer(tc.Counts(labeled, np.rint(number * shares).astype(int)), engine=engine, seed=seed)
        for number in (10**9, items)
    )
    error = np.hypot(few.sd / np.sqrt(few.effective_draws), many.sd / np.sqrt(many.effective_draws))
    assert (np.abs(few.mean - many.mean) < 5 * error).all()
    assert (
        np.abs(np.log(few.sd / many.sd)).max() < 5 * np.sqrt(1 / few.effective_draws + 1 / many.effective_draws).max()
    )


def test_so_many_items_of_which_some_are_rare_are_refused():
    counts = tc.Counts([[9, 1, 0], [0, 0, 7]], [10**16, 3 * 10**15, 5])
    with pytest.raises(UnsuitableEngineError, match=r"unlabeled has 1.3e\+16 items, of which some output is rare"):
        tc.infer(counts)


@pytest.mark.parametrize("prevalence", [(0.02, 0.02), (0.02, 0.1, 0.5, 1.0)])
def test_one_output_leaves_the_prior_as_it_is(prevalence, seed):
    """Proposals that solve for a class by what the others leave have too few digits for shares near zero."""
    counts = tc.Counts([[3]] + [[0]] * (len(prevalence) - 1), [372])
    posterior = tc.infer(counts, prior=tc.Prior(prevalence), seed=seed)
    expected = stats.dirichlet(prevalence)
    error = np.sqrt(expected.var() / len(posterior.prevalence))
    assert (np.abs(posterior.mean - expected.mean()) < 5 * error).all()
