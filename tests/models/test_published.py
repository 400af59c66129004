"""Published rates with ranges become rows of the prior."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from made_groups import findings_of
from truecount import Counts, Groups, InputError, LabelShift, MeanInterval, Pert, Prior, infer


def test_a_pert_rate_has_the_mean_and_variance_of_the_distribution():
    rate = Pert(0.85, 0.7, 0.95)
    low, high = rate.low, rate.high
    shapes = 1 + 4 * (0.85 - low) / (high - low), 1 + 4 * (high - 0.85) / (high - low)
    published, found = beta(*shapes, loc=low, scale=high - low), beta(*rate.shapes)
    assert found.mean() == pytest.approx(published.mean())
    assert found.var() == pytest.approx(published.var())


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_a_mean_with_an_interval_has_an_interval_as_wide(level):
    rate = MeanInterval(0.9, 0.84, 0.95, level)
    ends = beta(*rate.shapes).ppf([(1 - level) / 2, (1 + level) / 2])
    assert beta(*rate.shapes).mean() == pytest.approx(0.9)
    assert ends[1] - ends[0] == pytest.approx(0.11)


@pytest.mark.parametrize(
    "values", [(0.98, 0.8, 1.0), (0.99, 0.9, 1.0), (0.995, 0.95, 1.0), (0.02, 0.0, 0.2), (0.9, 0.5, 0.95)]
)
def test_wide_intervals_near_an_end_are_not_narrowed(values):
    mean, low, high = values
    found = beta(*MeanInterval(*values).shapes)
    ends = found.ppf([0.025, 0.975])
    assert found.mean() == pytest.approx(mean)
    assert ends[1] - ends[0] == pytest.approx(high - low)
    assert np.abs(ends - [low, high]).max() <= (high - low) / 4


def test_of_two_sizes_as_wide_the_larger_is_taken():
    """Mass at one end is narrow too: with mean .98, 95 % lie within .2 at sizes 4.77 and below 1."""
    assert MeanInterval(0.98, 0.8, 1.0).labels == pytest.approx(4.773, abs=1e-3)
    assert str(MeanInterval(0.98, 0.8, 1.0)) == "mean 98.0 %, from 80.0 to 100.0 %: worth 5 labels"


def test_an_interval_that_lies_elsewhere_is_refused_with_what_the_beta_would_hold():
    with pytest.raises(InputError, match=r"mean is 60.0 %, from 10.0 to 65.0 %: .* from 30.7 to 85.7 %. Check"):
        MeanInterval(0.6, 0.1, 0.65)


def test_an_interval_as_wide_as_none_or_as_narrow_as_none_is_refused():
    with pytest.raises(InputError, match=r"the widest interval .* spans 29.2 %. Check"):
        MeanInterval(0.98, 0.6, 1.0)
    with pytest.raises(InputError, match=r"worth more than 1,000,000,000 labels. Pass the rate as known"):
        MeanInterval(0.5, 0.49999999, 0.50000001)


PUBLISHED = {"negative": MeanInterval(0.98, 0.96, 0.99), "positive": Pert(0.93, 0.85, 0.97)}
BARE = Counts(np.zeros((2, 2), int), [850, 150], ["negative", "positive"])


def test_published_rates_need_no_labels_and_keep_their_uncertainty():
    found = infer(BARE, LabelShift(Prior.published(PUBLISHED)))
    rng = np.random.default_rng(1)
    specificity, sensitivity = (rng.beta(*PUBLISHED[name].shapes, 200_000) for name in BARE.classes)
    share = (np.arange(2000) + 0.5) / 2000
    picked = rng.choice(200_000, 4000, replace=False)
    outputs = share * sensitivity[picked, None] + (1 - share) * (1 - specificity[picked, None])
    weight = binom.pmf(150, 1000, outputs).sum(axis=0)
    mean = weight @ share / weight.sum()
    deviation = np.sqrt(weight @ (share - mean) ** 2 / weight.sum())
    drawn = found.prevalence[:, 1]
    assert drawn.mean() == pytest.approx(mean, abs=5 * deviation * np.sqrt(2 / 4000))
    assert drawn.std() == pytest.approx(deviation, rel=5 * np.sqrt(1 / 4000))
    known = infer(BARE, LabelShift(Prior.known_confusion([[0.98, 0.02], [0.07, 0.93]])))
    assert drawn.std() > 1.1 * known.prevalence[:, 1].std()
    assert found.findings == ()


def test_groups_without_labels_are_not_said_to_have_unseen_outputs_where_rates_are_published():
    groups = Groups(BARE.labeled, {"a": [80, 20], "b": [85, 15], "c": [90, 30]}, classes=BARE.classes)
    for prior, is_said in ((Prior.published(PUBLISHED), False), (Prior(), True)):
        assert ("unseen-output" in findings_of(groups, LabelShift(prior))) == is_said


@pytest.mark.parametrize(
    "prior",
    [
        Prior.published({"negative": MeanInterval(0.98, 0.96, 0.99), "positive": 1}),
        Prior(confusion=5),
        Prior(confusion="sparse"),
        Prior(confusion="learned"),
    ],
)
def test_priors_that_tell_nothing_of_some_class_need_labels(prior):
    with pytest.raises(InputError, match=r"holds no labelled items: .* Prior.published\(...\), or as known"):
        infer(BARE, LabelShift(prior))


def test_labels_of_a_validation_are_found_again():
    right, wrong = 90, 10
    low, high = beta(right, wrong).ppf([0.025, 0.975])
    assert MeanInterval(0.9, low, high).labels == pytest.approx(100, rel=1e-6)


def test_rates_become_rows_and_other_outputs_share_the_rest():
    prior = Prior.published({"a": Pert(0.8, 0.6, 0.9), "b": 1}, outputs=["a", "b", "unsure"])
    rows = prior.confusion_for(Counts([[1, 1, 1], [1, 1, 1]], [1, 1, 1], ["a", "b"], ["a", "b", "unsure"]))
    right, wrong = Pert(0.8, 0.6, 0.9).shapes
    np.testing.assert_allclose(rows, [[right, wrong / 2, wrong / 2], [1, 1, 1]])


@pytest.mark.parametrize(
    "values", [(0.5, 0.6, 0.9), (85, 70, 95), (0.5, 0.5, 0.9), ("high", 0.1, 0.9), (True, 0.1, 1.0)]
)
@pytest.mark.parametrize("kind", [Pert, MeanInterval])
def test_ranges_that_are_none_are_refused(kind, values):
    with pytest.raises(InputError, match="between 0 and 1"):
        kind(*values)


def test_a_rate_of_a_class_that_is_no_output_is_refused():
    with pytest.raises(InputError, match="which is no output"):
        Prior.published({"a": Pert(0.8, 0.6, 0.9)}, outputs=["x", "y"])
    with pytest.raises(InputError, match="Pass"):
        Prior.published(Pert(0.8, 0.6, 0.9))
