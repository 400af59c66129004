"""A forecast against brute force: every data set inferred from."""

import numpy as np
import pytest
from scipy.stats import f, norm

import truecount as tc
from truecount.inference.choose import Auto
from truecount.planning.data_sets import DataSets, drawn_data, expected_data
from truecount.planning.forecast import _regressed, forecast, posterior_ends
from truecount.planning.pilot import pilot_scenario
from truecount.planning.scenario import Sizes, assumed_scenario

PILOT = tc.Counts([[52, 8], [5, 55]], [150, 250], classes=["fail", "pass"])
SPARSE = tc.Counts([[55, 5], [2, 58]], [290, 110])
MORE = Sizes(np.array([100.0, 100.0]), 800.0)
ERROR = 5 * 0.12 / np.sqrt(150) + 5 * 0.12 / np.sqrt(48)
"""Five standard errors of two mean widths, whose logarithms vary by .12 between data sets."""


def brute_force(scenario, sizes, sets: int = 150):
    data = drawn_data(scenario.take(np.arange(sets)), sizes, np.random.default_rng(7))
    ends = posterior_ends(scenario, data, 0.95, 5)
    return ends[..., 1] - ends[..., 0]


@pytest.mark.parametrize("model", [tc.LabelShift(), tc.SamePopulation(), tc.ByPrediction()])
def test_mean_widths_are_those_of_data_sets_that_are_inferred_from(model):
    scenario = pilot_scenario(PILOT, model, 1)
    sizes = MORE if len(scenario.strata) == 2 else Sizes(np.array([200.0]), 800.0)
    found = forecast(scenario, sizes, level=0.95)
    assert found.mean == pytest.approx(brute_force(scenario, sizes).mean(axis=0), rel=ERROR)


def test_a_forecast_that_forgets_the_pilots_labels_would_be_seen():
    scenario = pilot_scenario(PILOT, tc.LabelShift(), 1)
    fewer = Sizes(MORE.labels - 60, MORE.items)
    found = forecast(scenario, fewer, level=0.95)
    assert found.mean != pytest.approx(brute_force(scenario, MORE).mean(axis=0), rel=0.08)


def test_widths_vary_as_much_as_those_of_data_sets_that_are_inferred_from():
    scenario = pilot_scenario(PILOT, tc.LabelShift(), 1)
    spread = np.log(forecast(scenario, MORE, level=0.95).widths[:, 0]).std()
    assert spread == pytest.approx(np.log(brute_force(scenario, MORE)[:, 0]).std(), rel=0.5)


@pytest.mark.parametrize("seed", range(4))
def test_data_are_drawn_by_other_random_numbers_than_truths(seed):
    """With the same, a share that is drawn high has data that are drawn low, and widths hardly vary.

    The standard error of a standard deviation of logarithms by 48 residuals is 10 %; five of two of them.
    """
    scenario = pilot_scenario(SPARSE, tc.LabelShift(), seed)
    sizes = Sizes(np.array([69.0, 0.0]), 800.0)
    spreads = [np.log(forecast(scenario, sizes, level=0.95, seed=own).widths[:, 0]).std() for own in (seed, seed + 50)]
    assert spreads[0] == pytest.approx(spreads[1], rel=0.5)


TEST = tc.Assumed.test(prevalence=0.15, sensitivity=0.93, specificity=0.98)
RATES = {"negative": tc.MeanInterval(0.98, 0.96, 0.99), "positive": tc.Pert(0.93, 0.85, 0.97)}


@pytest.mark.parametrize(
    "prior", [tc.Prior.known_confusion([[0.98, 0.02], [0.07, 0.93]]), tc.Prior.published(RATES)], ids=["known", "range"]
)
def test_a_prior_that_needs_no_labels_is_planned_with(prior):
    model, scenario = tc.LabelShift(prior), assumed_scenario(TEST, tc.LabelShift(prior))
    found = tc.plan(TEST, model, labels=0, items=1000)
    counts = tc.Counts(
        np.zeros((2, 2), int), expected_data(scenario, Sizes(np.zeros(2), 1000.0)).unlabeled[0], *2 * [TEST.classes]
    )
    low, high = tc.infer(counts, model).interval(level=0.95)[1]
    assert found.width == pytest.approx(high - low, rel=0.08)
    brute = posterior_ends(
        scenario,
        drawn_data(scenario.take(np.zeros(100, int)), Sizes(np.zeros(2), 1000.0), np.random.default_rng(7)),
        0.95,
        5,
    )
    forecasted = forecast(scenario, Sizes(np.zeros(2), 1000.0), level=0.95)
    assert forecasted.mean == pytest.approx((brute[..., 1] - brute[..., 0]).mean(axis=0), rel=ERROR)
    assert forecasted.ends.mean(axis=0) == pytest.approx(brute.mean(axis=0), abs=0.01)
    assert not any("Nothing is labelled" in line for line in found.words)
    assert found.make_curve is None


def test_a_flat_prior_without_labels_tells_nothing():
    found = tc.plan(TEST, labels=0, items=1000)
    assert found.width == pytest.approx(0.95, abs=0.01)
    assert "Nothing is labelled" in found.words[0]


def test_three_classes_and_more_outputs_than_classes():
    assumed = tc.Assumed([0.2, 0.3, 0.5], [[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]])
    scenario = assumed_scenario(assumed, tc.LabelShift())
    found = forecast(scenario, Sizes(np.full(3, 100.0), 500.0), level=0.9)
    assert found.widths.shape[1] == 3
    assert ((found.width > 0.05) & (found.width < 0.4)).all()
    assert found.width == pytest.approx(found.mean, rel=0.1)


def test_permuting_the_classes_permutes_the_forecast():
    shares, rows = np.array([0.2, 0.8]), np.array([[0.9, 0.1], [0.3, 0.7]])
    one = tc.plan(tc.Assumed(shares, rows), labels=[50, 80], items=500)
    other = tc.plan(tc.Assumed(shares[::-1], rows[::-1]), labels=[80, 50], items=500)
    assert one.width == pytest.approx(other.width, rel=0.03)


def test_expected_counts_keep_their_sums():
    scenario = assumed_scenario(tc.Assumed([0.3, 0.3, 0.4], np.full((3, 3), 1 / 3)), tc.LabelShift())
    found = expected_data(scenario, Sizes(np.array([10.0, 11.0, 20.0]), 100.0))
    assert found.labeled.sum(axis=2).tolist() == [[10, 11, 20]]
    assert found.unlabeled.sum() == 100


def test_the_same_seed_forecasts_the_same_and_another_hardly_differs():
    plans = [tc.plan(PILOT, labels=[50, 50], seed=seed) for seed in (1, 1, 2)]
    assert plans[0].width == plans[1].width != plans[2].width
    assert plans[0].width == pytest.approx(plans[2].width, rel=ERROR)


def kept_promises(enlarged: bool, sets: int, trials: int = 1500) -> tuple[float, float]:
    """Return how probably a new value stays below what 80 % of a forecast do, for lines that are learned; its error."""
    rng, kept = np.random.default_rng(3), []
    for _ in range(trials):
        rough = rng.normal(size=(256, 1))
        seen = rough[np.linspace(0, 255, sets).astype(int)]
        found = _regressed(rough, seen, seen + rng.normal(size=seen.shape))
        if not enlarged:
            found = rough + (found - rough) * np.sqrt((sets - 1) / (sets + 1))  # small where there are few sets
        kept.append(norm.cdf(np.quantile(found, 0.8) / np.sqrt(2)))
    return float(np.mean(kept)), float(np.std(kept) / np.sqrt(trials))


@pytest.mark.parametrize("sets", [4, 8, 16, 48])
def test_a_new_value_stays_below_what_is_forecast_as_often_as_said(sets):
    kept, error = kept_promises(True, sets)
    assert kept == pytest.approx(0.8, abs=5 * error)


def test_residuals_about_a_line_that_were_not_enlarged_would_be_seen():
    kept, error = kept_promises(False, 4)
    assert kept < 0.8 - 5 * error


ALIKE, FIVE = 40, tc.simulate.counts(np.full(5, 0.2), 0.8 * np.eye(5) + 0.04, labeled=300, unlabeled=1000, seed=1)


def noise_over_that_of_infer(engine: Auto | None) -> float:
    """Return how much widths of the same data vary with the draws, beside those of `infer`: a ratio of variances."""
    scenario = pilot_scenario(FIVE, tc.LabelShift(), 1)
    data = DataSets(*(np.repeat(each[None], ALIKE, axis=0) for each in (FIVE.labeled, FIVE.unlabeled, FIVE.labeled)))
    ends = (
        posterior_ends(scenario, data, 0.95, 1) if engine is None else posterior_ends(scenario, data, 0.95, 1, engine)
    )
    inferred = np.array([tc.infer(FIVE, seed=seed).interval() for seed in range(ALIKE)])
    variances = [np.log(each[..., 1] - each[..., 0]).var(axis=0, ddof=1).mean() for each in (ends, inferred)]
    return float(variances[0] / variances[1])


def test_intervals_of_a_forecast_vary_with_the_draws_as_those_of_infer_do():
    """Of the degrees of freedom one class alone has as many as are counted, so that the bounds are wide."""
    low, high = f.ppf([5e-5, 1 - 5e-5], ALIKE - 1, ALIKE - 1)
    assert low < noise_over_that_of_infer(None) < high
    assert not noise_over_that_of_infer(Auto(1000)) < high
