"""Published groups: batters and hospitals, whose classes are seen without error, and surveys of REACT-2."""

import json
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.special import betainc, betaln, expit

from truecount import Auto, Groups, Independent, LabelShift, Prior, infer
from truecount.inference.convergence import effective_fast

PERFECT = Prior.known_confusion([[1, 0], [0, 1]])
ENGINE = Auto(400)
PRINTED = 0.005
"""Half of the last digit of what was published."""
POSITIVES, NEGATIVES = (38, 45), (493, 500)
"""Validation of the test of REACT-2: right, of so many."""


def published(name):
    folder = os.environ.get("TRUECOUNT_DATA")
    if folder is None:
        pytest.skip("TRUECOUNT_DATA names no folder")
    return json.loads((Path(folder) / "published" / f"{name}.json").read_text())


def seen_without_error(part, total, model=None, seed=1):
    """Infer from groups whose classes are their outputs."""
    counts = {at: [number, of - number] for at, (number, of) in enumerate(zip(part, total, strict=True))}
    return infer(Groups(np.zeros((2, 2), int), counts), model or LabelShift(PERFECT), engine=ENGINE, seed=seed)


def batters():
    data = published("partial_pooling_perfect_box")
    season = data["efron_morris"]
    rest = np.array(season["remaining_average"]), np.array(season["remaining_at_bats"])
    return np.array(season["hits_of_45"]), rest, data["published"]


@cache
def batting_drawn(seed):
    return seen_without_error(batters()[0], [45] * 18, seed=seed)


@pytest.fixture
def batting(seed):
    return batting_drawn(seed)


def binomial_quadrature(part, total, *, scale=1.0):
    """Mean share of each group, and mean and sd of the spread, by sums over a grid: centre flat, spread half-normal."""
    centre, spread = np.meshgrid(np.linspace(-5, 1, 121), scale * (np.arange(100) + 0.5) / 25, indexing="ij")
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    logit = centre[..., None] + spread[..., None] * points
    share, up, down = expit(logit), -np.logaddexp(0, -logit), -np.logaddexp(0, logit)
    log = np.log(expit(centre)) + np.log(expit(-centre)) - 0.5 * (spread / scale) ** 2
    means = []
    for number, of in zip(part, total, strict=True):
        logs = number * up + (of - number) * down
        top = logs.max(axis=-1)
        likelihood = np.exp(logs - top[..., None]) * weights
        mass = likelihood.sum(axis=-1)
        means.append((likelihood * share).sum(axis=-1) / mass)
        log = log + top + np.log(mass)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean = float((weight * spread).sum())
    sd = float(np.sqrt((weight * (spread - mean) ** 2).sum()))
    return np.array([(weight * each).sum() for each in means]), mean, sd


def assert_agrees(answer, oracle):
    """Means of shares and of the spread within five standard errors."""
    shares, spread, _ = oracle
    for found, said in ((answer.prevalence[:, :, 0], shares), (answer.spread, np.array([spread]))):
        error = found.std(axis=0) / np.sqrt(effective_fast(found, answer.draws.chains))
        assert (np.abs(found.mean(axis=0) - said) < 5 * error).all()


class TestBatters:
    """Eighteen batters after 45 at-bats each, and the rest of their season (Efron and Morris)."""

    @staticmethod
    def assert_predicts_better(answer):
        hits, (rest, at_bats), _ = batters()
        raw, pooled = hits / 45, answer.mean[:, 0]
        noise = rest * (1 - rest) / at_bats
        of_raw, of_pooled = (((each - rest) ** 2 - noise).sum() for each in (raw, pooled))
        assert of_pooled < of_raw / 3
        assert (np.abs(pooled - rest) < np.abs(raw - rest)).sum() > 9

    def test_pooled_means_predict_the_rest_of_the_season_better_than_raw_ones(self, batting):
        self.assert_predicts_better(batting)

    def test_means_that_do_not_borrow_fail_that(self, seed):
        hits, _, _ = batters()
        alone = seen_without_error(hits, [45] * 18, LabelShift(PERFECT, groups=Independent()), seed)
        with pytest.raises(AssertionError):
            self.assert_predicts_better(alone)

    def test_they_agree_with_quadrature(self, batting):
        assert_agrees(batting, binomial_quadrature(batters()[0], [45] * 18))

    def test_another_prior_of_the_spread_fails_that(self, batting):
        with pytest.raises(AssertionError):
            assert_agrees(batting, binomial_quadrature(batters()[0], [45] * 18, scale=0.2))

    def test_they_agree_with_what_stan_printed(self, batting):
        """Weighted to the published prior of the centre, a normal one of mean −1 and standard deviation 1."""
        _, _, printed = batters()
        centre = batting.draws.centre[:, 0, 0]
        log = -0.5 * (centre + 1) ** 2 - np.log(expit(centre)) - np.log(expit(-centre))
        weight = np.exp(log - log.max())
        effective = min(effective_fast(batting.spread, batting.draws.chains).min(), weight.sum() ** 2 / weight @ weight)
        weight = weight / weight.sum()
        error = 5 * np.sqrt(0.1 * 0.9 / effective)

        def assert_quantiles(values, ends):
            """The share of draws below each printed end is 10 and 90 %, but for rounding and Monte Carlo error."""
            for end, share in zip(ends, (0.1, 0.9), strict=True):
                below = [float(weight @ (values <= end + step)) for step in (-PRINTED, PRINTED)]
                assert below[0] - error <= share <= below[1] + error

        shares = batting.prevalence[:, :, 0]
        assert_quantiles(batting.spread[:, 0], printed["sigma_80"])
        assert_quantiles(shares[:, 0], printed["logit_clemente_80"])
        means, sd = weight @ shares, shares.std(axis=0)
        low, high = printed["logit_posterior_means_range"]
        slack = PRINTED + 5 * sd.max() / np.sqrt(effective)
        assert abs(means.min() - low) < slack
        assert abs(means.max() - high) < slack
        above = float(weight @ (shares.max(axis=1) > 0.35))
        said = printed["P_some_theta_above_0.35"]["logit"]
        assert abs(above - said) < PRINTED + 5 * np.sqrt(said * (1 - said) / effective)


class TestHospitals:
    """Deaths of twelve hospitals that operate on the hearts of infants."""

    def test_they_agree_with_quadrature_and_are_ranked_draw_by_draw(self, seed):
        deaths, operations = published("partial_pooling_perfect_box")["surgical"].values()
        answer = seen_without_error(deaths, operations, seed=seed)
        oracle = binomial_quadrature(deaths, operations)
        assert_agrees(answer, oracle)
        with pytest.raises(AssertionError):
            assert_agrees(answer, binomial_quadrature(deaths[::-1], operations[::-1]))
        ranks = (-answer.prevalence[:, :, 0]).argsort(axis=1).argsort(axis=1) + 1
        np.testing.assert_allclose(answer.ranks(0).mean, ranks.mean(axis=0))
        assert ranks.mean(axis=0).argmin() == 7
        assert 0 < answer.mean[0, 0] < oracle[0].mean()


def rounds():
    """Positives and tests of rounds 1 and 2, and per cent published with both rates known."""
    each = published("react2_rounds")["rounds"][:2]
    adjusted = [float(one["adjusted"].split()[0]) for one in each]
    return [one["positive"] for one in each], [one["total"] for one in each], adjusted


def of_rounds(positive, total):
    return {f"round {at}": [p, n - p] for at, (p, n) in enumerate(zip(positive, total, strict=True), 1)}


def change_by_quadrature(positive, total, points=400):
    """Mean and sd of the change from the first to the second survey, and sds of both shares, of flat priors.

    Given both rates the share of positive tests has a beta distribution between 1 − specificity and sensitivity.
    """
    grids = [_rate_grid(*labels, points) for labels in (POSITIVES, NEGATIVES)]
    sens, spec = np.meshgrid(*(grid[0] for grid in grids), indexing="ij")
    weight = grids[0][1][:, None] * grids[1][1]
    slope, moments = sens + spec - 1, []
    for p, n in zip(positive, total, strict=True):
        ends = [(betainc(p + 1 + k, n - p + 1, sens) - betainc(p + 1 + k, n - p + 1, 1 - spec)) for k in range(3)]
        weight = weight * ends[0] / slope
        raised = [np.exp(betaln(p + 1 + k, n - p + 1) - betaln(p + 1, n - p + 1)) for k in range(3)]
        inside = np.maximum(ends[0], 1e-300)
        first, second = (raised[k] * ends[k] / inside for k in (1, 2))
        floor = 1 - spec
        moments.append([(first - floor) / slope, (second - 2 * floor * first + floor**2) / slope**2])
    weight /= weight.sum()
    (one, one_squared), (two, two_squared) = moments
    mean = float((weight * (two - one)).sum())
    squared = float((weight * (two_squared - 2 * one * two + one_squared)).sum())
    sds = [float(np.sqrt((weight * b).sum() - (weight * a).sum() ** 2)) for a, b in moments]
    return mean, float(np.sqrt(squared - mean**2)), sds


def _rate_grid(right, of, points):
    from scipy.stats import beta

    rate = beta(right + 1, of - right + 1)
    grid = np.linspace(*rate.ppf([1e-9, 1 - 1e-9]), points)
    return grid, rate.pdf(grid)


class TestRounds:
    """England tested in June and in July 2020: did fewer have antibodies?"""

    def test_known_rates_give_the_published_change(self, seed):
        positive, total, adjusted = rounds()
        known = Prior.known_confusion([[0.844, 0.156], [0.014, 0.986]])
        answer = infer(Groups(np.zeros((2, 2), int), of_rounds(positive, total)), prior=known, engine=ENGINE, seed=seed)
        change = answer.difference("round 2", "round 1").draws[:, 0]
        error = change.std() / np.sqrt(effective_fast(change[:, None], answer.draws.chains)[0])
        own = [100 * (p / n - 0.014) / 0.83 for p, n in zip(positive, total, strict=True)]
        np.testing.assert_allclose(own, adjusted, atol=PRINTED + 1e-9)
        assert abs(100 * change.mean() - (adjusted[1] - adjusted[0])) < 2 * PRINTED + 500 * error + 0.001

    @pytest.mark.slow
    def test_the_change_is_known_better_than_the_rounds(self, seed):
        """Errors of the test that both rounds share cancel: as quadrature says, and as separate draws do not."""
        positive, total, _ = rounds()
        labels = [[38, 7], [7, 493]]
        model = LabelShift(groups=Independent())
        answer = infer(Groups(labels, of_rounds(positive, total)), model, engine=ENGINE, seed=seed)
        mean, sd, sds = change_by_quadrature(positive, total)
        change = answer.difference("round 2", "round 1").draws[:, 0]
        effective = effective_fast(np.stack([change, (change - change.mean()) ** 2], axis=1), answer.draws.chains).min()

        def assert_right(values):
            assert abs(values.mean() - mean) < 5 * sd / np.sqrt(effective)
            assert abs(values.std() / sd - 1) < 5 / np.sqrt(effective)

        assert_right(change)
        assert sd < 0.3 * min(sds)
        assert (change < 0).all()
        shuffled = np.random.default_rng(seed).permutation(answer.shares("round 2")[:, 0])
        with pytest.raises(AssertionError):
            assert_right(shuffled - answer.shares("round 1")[:, 0])


def districts(number):
    data = published("react2_districts_round4")
    positive, total = (np.array(data[name])[:number] for name in ("positive", "total"))
    return Groups([[38, 7], [7, 493]], dict(enumerate(np.stack([positive, total - positive], axis=1))))


def standard_deviations_moved(answer):
    """Return how far the groups moved the sensitivity from what its labels say, in standard deviations of that."""
    right, wrong = POSITIVES[0] + 1, POSITIVES[1] - POSITIVES[0] + 1
    mean = right / (right + wrong)
    return abs(answer.confusion[:, 0, 0].mean() - mean) / np.sqrt(mean * (1 - mean) / (right + wrong + 1))


@pytest.mark.slow
@pytest.mark.parametrize("number", [10, 30, 100])
def test_districts_leave_the_sensitivity_where_the_labels_put_it(number, seed):
    answer = infer(districts(number), engine=ENGINE, seed=seed)
    assert standard_deviations_moved(answer) < 0.5
    assert not [finding for finding in answer.findings if finding.code == "labels-outweighed"]


@pytest.mark.slow
@pytest.mark.parametrize("number", [10, 30])
def test_independent_districts_move_it(number, seed):
    model = LabelShift(groups=Independent())
    assert standard_deviations_moved(infer(districts(number), model, engine=ENGINE, seed=seed)) > 0.5
