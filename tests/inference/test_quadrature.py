"""Two classes and two outputs by quadrature: closed forms, extremes, and modes that chains and proposals miss."""

import numpy as np
import pytest
from scipy.stats import beta, kstest

import truecount as tc
from oracle import by_quadrature, by_sum, first_share
from truecount.errors import UnsuitableEngineError
from truecount.inference import Quadrature
from truecount.inference.integration.share_given_rows import OutputLikelihood
from truecount.models import Density, density

DRAWS = 4000
NAN = [np.nan, np.nan]


def shares(labeled, unlabeled, prior=tc.Prior(), *, draws=DRAWS, seed=0):  # noqa: B008
    return Quadrature(draws).sample(density(tc.Counts(labeled, unlabeled), prior), seed).prevalence[:, 0]


def assert_moments(drawn, mean, sd, fourth=None):
    """Within five standard errors of mean and variance; `fourth` is the fourth central moment."""
    assert abs(drawn.mean() - mean) < 5 * sd / np.sqrt(len(drawn))
    fourth = ((drawn - mean) ** 4).mean() if fourth is None else fourth
    assert abs(((drawn - mean) ** 2).mean() - sd**2) < 5 * np.sqrt((fourth - sd**4) / len(drawn))


def test_a_rare_second_mode_is_drawn(seed):
    """Mean .0153 and sd .083: chains said .0084 ± .012 with R-hat 1.003."""
    posed = density(tc.Counts([[3, 0], [3, 7]], [2619918, 97380082]), tc.Prior(confusion=0.5))
    known = first_share(posed)
    assert (known.mean, known.sd) == pytest.approx((0.0153, 0.083), abs=8e-4)
    masses, points = known.masses, 1 / (1 + np.exp(-known.logits))
    drawn = Quadrature(DRAWS).sample(posed, seed).prevalence[:, 0]
    assert_moments(drawn, known.mean, known.sd, float(masses @ (points - known.mean) ** 4))


def test_labels_that_contradict_the_outputs(seed):
    """.864 ± .049, where chains said .38 to .51 ± .43."""
    drawn = shares([[9, 1], [552, 448]], [228769, 771231], tc.Prior([1.932, 4.475], 5.0), seed=seed)
    known = first_share(density(tc.Counts([[9, 1], [552, 448]], [228769, 771231]), tc.Prior([1.932, 4.475], 5.0)))
    assert (known.mean, known.sd) == pytest.approx((0.864, 0.049), abs=5e-4)
    assert_moments(drawn, known.mean, known.sd)


def test_without_unlabelled_items_the_prior_comes_back(seed):
    for prior in (1.0, [2.0, 5.0], [0.3, 0.8]):
        drawn = shares([[14, 6], [2, 18]], [0, 0], tc.Prior(prior), seed=seed)
        assert kstest(drawn, beta(*np.broadcast_to(prior, 2)).cdf).pvalue > 1e-4


def test_a_perfect_classifier_of_which_that_is_known_counts(seed):
    drawn = shares(
        [[0, 0], [0, 0]], [45, 105], tc.Prior.known_confusion([[1, 0], [0, 1]], prevalence=[2, 1]), seed=seed
    )
    assert kstest(drawn, beta(47, 106).cdf).pvalue > 1e-4


def test_equal_known_rows_say_nothing(seed):
    drawn = shares(
        [[0, 0], [0, 0]], [45, 105], tc.Prior.known_confusion([[0.3, 0.7]] * 2, prevalence=[2, 3]), seed=seed
    )
    assert kstest(drawn, beta(2, 3).cdf).pvalue > 1e-4


@pytest.mark.parametrize("items", [10**9, 10**12, 10**15, 10**18])
def test_the_number_of_unlabelled_items_ceases_to_matter(items, seed):
    """From a billion on the shares of the outputs are known, so that the answer no longer changes."""
    few = shares([[9, 4], [2, 11]], [500_000, 500_000], draws=2 * DRAWS, seed=seed)
    many = shares([[9, 4], [2, 11]], [items // 2, items // 2], draws=2 * DRAWS, seed=seed + 1000)
    assert kstest(few, many).pvalue > 1e-4


@pytest.mark.parametrize("prior", [tc.Prior(1.0), tc.Prior(0.5), tc.Prior([0.1, 3.0], "sparse"), tc.Prior([40.0, 9.0])])
def test_exchanging_classes_exchanges_the_answer(prior, seed):
    labeled, unlabeled = [[7, 2], [3, 9]], [30, 25]
    swapped = tc.Prior(np.broadcast_to(prior.prevalence, 2)[::-1].tolist(), prior.confusion)
    drawn, mirrored = (
        shares(labeled, unlabeled, prior, seed=seed),
        shares(labeled[::-1], unlabeled, swapped, seed=seed + 1),
    )
    known = by_sum(density(tc.Counts(labeled, unlabeled), prior))
    assert_moments(drawn, known.mean, known.sd)
    assert_moments(1 - mirrored, known.mean, known.sd)


def test_the_confusion_goes_with_the_prevalence(seed):
    """The shares of the outputs that draws imply are those of the unlabelled items."""
    draws = Quadrature(DRAWS).sample(density(tc.Counts([[14, 6], [2, 18]], [600_000, 400_000]), tc.Prior()), seed)
    outputs = np.einsum("dl,dlk->dk", draws.prevalence, draws.confusion)[:, 0]
    assert kstest(outputs, beta(600_001, 400_001).cdf).pvalue > 1e-4
    np.testing.assert_allclose(draws.confusion.sum(axis=2), 1)


def test_a_known_row_stays_as_it_is():
    draws = Quadrature(50).sample(
        density(tc.Counts([[0, 0], [3, 40]], [60, 80]), tc.Prior.known_confusion([[0.8, 0.2], NAN])), 0
    )
    np.testing.assert_array_equal(draws.confusion[:, 0], [[0.8, 0.2]] * 50)


def test_fractional_counts_are_taken_as_they_are(seed):
    posed = Density(np.ones(2), np.array([[7.3, 2.2], [1.9, 8.4]]), np.array([30.5, 24.1]), np.full((2, 2), np.nan))
    known = by_quadrature(posed)
    assert_moments(Quadrature(DRAWS).sample(posed, seed).prevalence[:, 0], known.mean, known.sd)


def test_seeds_decide_the_draws():
    first, again, other = (shares([[9, 4], [2, 11]], [50, 60], draws=50, seed=seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_it_tells_its_error_and_that_all_draws_are_effective():
    posterior = tc.infer(tc.Counts([[140, 60], [20, 180]], [600, 400]), seed=1)
    assert posterior.provenance["engine"] == "Quadrature"
    assert 0 < posterior.provenance["quadrature_error"] < 0.01
    assert posterior.effective_draws.tolist() == [4000, 4000]


def test_other_shapes_are_refused_by_name():
    with pytest.raises(
        UnsuitableEngineError, match="is Quadrature: it integrates two classes and two outputs, not 3 and 2"
    ):
        Quadrature().sample(density(tc.Counts([[9, 4], [2, 11], [3, 3]], [50, 60]), tc.Prior()), 0)


@pytest.mark.parametrize("counts", [(3.0, 5.0), (0.0, 40.0), (1e6, 3e6), (0.0, 0.0)])
def test_the_mean_likelihood_between_two_rows(counts):
    """Against the incomplete Beta function of scipy."""
    odds = np.linspace(-4, 3, 29)
    p = 1 / (1 + np.exp(-odds))
    found = OutputLikelihood(*counts).log_between(odds[:, None], odds[None, ::2] + 0.1)
    q = 1 / (1 + np.exp(-(odds[::2] + 0.1)))
    cdf = beta(counts[0] + 1, counts[1] + 1).cdf
    expected = (cdf(p)[:, None] - cdf(q)) / (p[:, None] - q)
    sure = np.abs(cdf(p)[:, None] - cdf(q)) > 1e-6
    np.testing.assert_allclose(
        np.exp(found - found[sure].max())[sure], (expected / expected[sure].max())[sure], rtol=1e-5
    )


def test_nothing_is_left_between_two_rows_far_from_very_many_items(seed):
    """Classes that cannot be told apart: rounding left zero between two rows, and the table was undefined."""
    labels, items = np.array([[0.5, 3.5], [0.5, 3.5]]), np.array([8954558250951180.0, 1577375278339682.0])
    draws = Quadrature(4000).sample(Density(np.ones(2), labels, items, np.full((2, 2), np.nan)), seed)
    shares = draws.prevalence[:, 0]
    assert shares.mean() == pytest.approx(0.5, abs=5 * 0.4508 / np.sqrt(4000))
    assert shares.std() == pytest.approx(0.4508, rel=0.02)
