"""Published numbers, each with its source in published.json."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import truecount as tc
from oracle import Marginal, first_share
from truecount import Counts, Prior
from truecount.counts.survey import survey
from truecount.models import density

PUBLISHED = json.loads((Path(__file__).parent / "published.json").read_text(encoding="utf-8"))
SURVEYS, JUDGE, MAP = PUBLISHED["surveys"], PUBLISHED["judge"], PUBLISHED["map"]


def pose(name: str) -> tuple[Counts, Prior]:
    given = SURVEYS[name]
    rates = {rate: tuple(value) if isinstance(value := given[rate], list) else value for rate in RATES}
    counts, known = survey(tuple(given["positive"]), **rates)
    return counts, Prior() if known is None else Prior.known_confusion(known)


RATES = ("sensitivity", "specificity")


class Mirrored(Marginal):
    """The share of the other class."""

    def __init__(self, inner: Marginal) -> None:
        self.inner, self.mean, self.sd = inner, 1 - inner.mean, inner.sd

    def quantile(self, probability: float) -> float:
        return 1 - self.inner.quantile(1 - probability)


def second_share(counts: Counts, prior: Prior) -> Marginal:
    return Mirrored(first_share(density(counts, prior)))


def assert_figures(marginal: Marginal, figures: dict[str, float]) -> None:
    """Every figure to the last digit printed."""
    for name, figure in figures.items():
        found = getattr(marginal, name) if name in ("mean", "sd") else marginal.quantile(float(name[:-2]) / 100)
        digits = len(str(figure).partition(".")[2])
        assert found == pytest.approx(figure, abs=0.51 * 10.0**-digits), name


@pytest.mark.parametrize("name", SURVEYS)
def test_the_oracle_gives_the_integrated_figures(name):
    assert_figures(second_share(*pose(name)), SURVEYS[name]["integrated"])


def test_the_oracle_gives_the_integrated_figures_of_the_judge():
    counts = Counts(JUDGE["labeled"], JUDGE["unlabeled"])
    assert_figures(second_share(counts, Prior()), JUDGE["integrated_second_class"])


def assert_drawn(posterior, marginal: Marginal) -> None:
    """Hold draws against the oracle: mean, sd and the ends of the interval within five standard errors."""
    draws, size = posterior.prevalence[:, 1], posterior.effective_draws[1]
    assert draws.mean() == pytest.approx(marginal.mean, abs=5 * marginal.sd / np.sqrt(size))
    for level in (0.025, 0.975):
        below = np.mean(draws <= marginal.quantile(level))
        assert below == pytest.approx(level, abs=5 * np.sqrt(level * (1 - level) / size))


@pytest.mark.parametrize("name", SURVEYS)
def test_infer_gives_the_same_posterior(name, seed):
    counts, prior = pose(name)
    assert_drawn(tc.infer(counts, prior=prior, seed=seed), second_share(counts, prior))


def test_infer_gives_the_same_posterior_of_the_judge(seed):
    counts = Counts(JUDGE["labeled"], JUDGE["unlabeled"])
    assert_drawn(tc.infer(counts, seed=seed), second_share(counts, Prior()))


def shortest(marginal: Marginal, level: float) -> tuple[float, float]:
    def width(below: float) -> float:
        return marginal.quantile(below + level) - marginal.quantile(below)

    below = minimize_scalar(width, bounds=(1e-6, 1 - level - 1e-6), method="bounded").x
    return marginal.quantile(below), marginal.quantile(below + level)


def test_the_shortest_interval_of_santa_clara_is_the_printed_one():
    """The source prints (0, 0.018) from draws, so its last digit is uncertain by one."""
    found = shortest(second_share(*pose("Santa Clara, 11 April 2020")), 0.95)
    assert found == pytest.approx(SURVEYS["Santa Clara, 11 April 2020"]["printed"]["shortest_95"], abs=0.0015)


def test_pooled_santa_clara_agrees_with_the_printed_percentages():
    name = "Santa Clara, 27 April 2020, pooled"
    marginal, printed = second_share(*pose(name)), SURVEYS[name]["printed"]
    assert round(100 * marginal.mean, 1) == printed["percent"]
    ends = [100 * marginal.quantile(level) for level in (0.025, 0.975)]
    assert ends == pytest.approx(printed["percent_interval_95"], abs=0.1)


def test_lang_and_reiczigel_print_the_same_interval_to_three_digits():
    name = "Lang and Reiczigel, example 1"
    marginal = second_share(*pose(name))
    ends = [round(marginal.quantile(level), 3) for level in (0.025, 0.975)]
    assert ends == SURVEYS[name]["printed"]["interval_95"]


def test_the_interval_of_example_2_lies_inside_the_printed_one():
    name = "Lang and Reiczigel, example 2"
    marginal, (low, high) = second_share(*pose(name)), SURVEYS[name]["printed"]["interval_95_around"]
    assert low < marginal.quantile(0.025) < marginal.quantile(0.975) < high


def test_epir_prints_the_same_point_and_interval():
    counts, prior = pose("epiR, 45 of 150")
    printed = SURVEYS["epiR, 45 of 150"]["printed"]
    assert round(100 * tc.mode(counts, prior=prior).prevalence[1]) == printed["per_100"]
    ends = [round(100 * second_share(counts, prior).quantile(level)) for level in (0.025, 0.975)]
    assert ends == printed["per_100_interval_95"]


def test_the_printed_point_of_the_judge_is_the_mode():
    found = tc.mode(Counts(JUDGE["labeled"], JUDGE["unlabeled"])).prevalence[1]
    assert round(found, 4) == JUDGE["printed"]["point"]


def test_areas_of_the_map_follow_from_its_design():
    """Sampled by output, the table gives P(class | output): mixing it by the pixels gives the printed areas."""
    by_output, pixels = np.array(MAP["by_output"]), np.array(MAP["pixels"])
    given_output = by_output / by_output.sum(axis=1, keepdims=True)
    areas = pixels @ given_output * MAP["hectares_per_pixel"]
    assert np.round(areas).tolist() == MAP["printed"]["hectares"]


def test_reading_the_map_as_label_shift_is_the_trap_it_is_said_to_be(seed):
    """`infer` assumes that items were not chosen by their output; here they were, and it is far off."""
    counts = Counts(np.array(MAP["by_output"]).T, MAP["pixels"], MAP["classes"])
    right = MAP["printed"]["hectares"][0] / sum(MAP["printed"]["hectares"])
    assert round(100 * right, 2) == MAP["right_percent"]
    posterior = tc.infer(counts, seed=seed)
    assert posterior.mean[0] < right / 4
    assert posterior.interval(0.99)[0, 1] < right
