"""Published rates with ranges become rows of the prior."""

import numpy as np
import pytest
from scipy.stats import beta

from truecount import Counts, InputError, MeanInterval, Pert, Prior


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
