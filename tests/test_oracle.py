"""The oracle itself: closed forms, and two ways to the same answer."""

import numpy as np
import pytest
from scipy.stats import beta

from oracle import by_quadrature, by_sum, first_share
from truecount import Counts, Prior
from truecount.models import Density, density

ORDINARY = [[140, 60], [20, 180]]
UNLEARNED = [np.nan, np.nan]
FLAT = Prior()


def problem(labeled, unlabeled, prior=FLAT) -> Density:
    return density(Counts(labeled, unlabeled), prior)


def figures(marginal) -> list[float]:
    return [marginal.mean, marginal.sd, *map(marginal.quantile, (0.025, 0.5, 0.975))]


def beta_figures(first, second) -> list[float]:
    known = beta(first, second)
    return [known.mean(), known.std(), *known.ppf([0.025, 0.5, 0.975])]


@pytest.mark.parametrize("solve", [by_sum, by_quadrature])
@pytest.mark.parametrize("prevalence", [1, [0.5, 3]])
def test_without_unlabelled_items_the_prior_comes_back(solve, prevalence):
    marginal = solve(problem(ORDINARY, [0, 0], Prior(prevalence)))
    assert figures(marginal) == pytest.approx(beta_figures(*np.broadcast_to(prevalence, 2)), abs=1e-9)


@pytest.mark.parametrize("solve", [by_sum, by_quadrature])
def test_a_perfect_box_of_which_that_is_known_counts(solve):
    prior = Prior.known_confusion([[1, 0], [0, 1]], prevalence=[2, 1])
    assert figures(solve(problem(ORDINARY, [45, 105], prior))) == pytest.approx(beta_figures(47, 106), abs=1e-12)


AGREEING = [
    ("rows", ORDINARY, [600, 400], FLAT),
    ("outputs", [[10, 6], [2, 18]], [3000, 1000], Prior([2, 1])),
    ("rows", ORDINARY, [45, 105], Prior.known_confusion([UNLEARNED, [0.04, 0.96]])),
]
MORE = [
    ("outputs", ORDINARY, [600, 400], FLAT),
    ("rows", [[140, 0], [0, 180]], [600, 400], FLAT),
    ("rows", [[500, 0], [0, 500]], [0, 3000], FLAT),
    ("outputs", [[0, 0], [20, 180]], [600, 400], FLAT),
    ("rows", [[1, 2], [2, 1]], [3, 5], Prior([0.3, 2], [[0.2, 0.7], [3, 0.4]])),
    ("outputs", [[450, 50], [50, 450]], [4500, 500], FLAT),
    ("rows", ORDINARY, [45, 105], Prior.known_confusion([[0.89, 0.11], UNLEARNED], confusion=0.5)),
]


@pytest.mark.parametrize(
    ("narrow", "labeled", "unlabeled", "prior"),
    [*AGREEING, *(pytest.param(*each, marks=pytest.mark.slow) for each in MORE)],
)
def test_quadrature_agrees_with_the_sum(narrow, labeled, unlabeled, prior):
    posed = problem(labeled, unlabeled, prior)
    assert figures(by_quadrature(posed, narrow=narrow)) == pytest.approx(figures(by_sum(posed)), abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unlabeled", "prior"),
    [
        ([700_000, 300_000], FLAT),
        ([900_000, 100_000], Prior(2, 0.5)),
        ([450_000, 1_050_000], Prior.known_confusion([[0.89, 0.11], UNLEARNED])),
    ],
)
def test_a_coarser_grid_changes_nothing_where_the_sum_is_too_long(unlabeled, prior):
    posed = problem([[450, 50], [50, 450]], unlabeled, prior)
    assert figures(by_quadrature(posed, fineness=0.8)) == pytest.approx(figures(by_quadrature(posed)), abs=1e-8)


@pytest.mark.parametrize("unlabeled", [[600, 400], [700_000, 300_000]])
def test_the_density_is_the_slope_of_the_distribution(unlabeled):
    marginal = first_share(problem(ORDINARY, unlabeled))
    low, high = marginal.mean - 1e-5, marginal.mean + 1e-5
    slope = (marginal.below(high) - marginal.below(low)) / 2e-5
    assert marginal.density(marginal.mean) == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("unlabeled", [[600, 400], [700_000, 300_000]])
def test_naming_the_classes_the_other_way_round_mirrors_the_answer(unlabeled):
    one, other = first_share(problem(ORDINARY, unlabeled)), first_share(problem(ORDINARY[::-1], unlabeled))
    assert (other.mean, other.sd, other.quantile(0.1)) == pytest.approx((1 - one.mean, one.sd, 1 - one.quantile(0.9)))
