"""An alert is raised where a share changed, seldom where it did not, and the check itself is checked."""

import re

import numpy as np
import pytest
from scipy.stats import binom

from made_groups import weeks
from truecount.results.groups.alerts import MOST_FALSE, change_p_value

CONFUSION = np.array([[0.85, 0.15], [0.2, 0.8]])
WEEKS, ITEMS, STREAMS = 26, 300, 600


def alerts(rng, shares, confusion, *, among=range(5, WEEKS + 1)):
    """Whether a stream raises an alert in some of these weeks, each looked at with all weeks before."""
    items = rng.multinomial(ITEMS, np.column_stack([shares, 1 - shares]) @ CONFUSION)
    return any(change_p_value(items[:week], confusion, 0) <= MOST_FALSE for week in among)


def most_false(streams):
    """As many healthy streams as may raise an alert where 5 % do, once in 10,000 runs more."""
    return binom.ppf(1 - 1e-4, streams, 0.05)


@pytest.mark.parametrize("wrong", [CONFUSION, np.array([[0.7, 0.3], [0.4, 0.6]])], ids=["right", "wrong confusion"])
def test_at_most_five_percent_of_healthy_streams_of_26_weeks_raise_an_alert(wrong):
    rng = np.random.default_rng(1)
    healthy = np.full(WEEKS, 0.4)
    assert sum(alerts(rng, healthy, wrong) for _ in range(STREAMS)) <= most_false(STREAMS)


def test_the_check_of_false_alerts_fails_on_streams_that_drift():
    rng = np.random.default_rng(2)
    drifting = 0.4 + np.linspace(0, 0.15, WEEKS)
    assert sum(alerts(rng, drifting, CONFUSION) for _ in range(200)) > most_false(200)


def test_a_step_of_three_standard_errors_is_found_within_two_periods_in_four_of_five():
    rng = np.random.default_rng(3)
    output = 0.4 * 0.85 + 0.6 * 0.2
    error = np.sqrt(output * (1 - output) / ITEMS) / 0.65
    shares = np.where(np.arange(WEEKS) < 13, 0.4, 0.4 + 3 * error)
    found = sum(alerts(rng, shares, CONFUSION, among=(14, 15)) for _ in range(STREAMS))
    assert found >= binom.ppf(1e-4, STREAMS, 0.8)


def test_few_periods_and_periods_without_variance_raise_nothing():
    assert change_p_value(np.array([[9, 1], [1, 9], [5, 5], [9, 1]]), CONFUSION, 0) == 1.0
    assert change_p_value(np.array([[9, 0]] * 6), CONFUSION, 0) == 1.0


def test_a_classifier_that_treats_all_classes_alike_raises_nothing_that_is_not_there():
    useless = np.array([[0.5, 0.5], [0.5, 0.5]])
    rng = np.random.default_rng(4)
    assert sum(alerts(rng, np.full(WEEKS, 0.4), useless) for _ in range(200)) <= most_false(200)


def test_the_answer_says_which_period_changed():
    (alert,) = weeks().summary().alerts
    assert (alert.kind, alert.group, alert.name) == ("changed", "2024-02-12", "pass")
    assert "The share of pass changed" in alert.message
    assert re.search(r"; the largest step was from 2024-01-29 to 2024-02-05 \(\+(19|20)\.\d points\)\. ", alert.message)
    assert "e-" not in alert.message
    assert weeks([0.5] * 7).summary().alerts == ()


def test_the_largest_step_is_in_the_direction_of_the_change():
    (alert,) = weeks([0.2, 0.8, 0.8, 0.8, 0.8, 0.5, 0.5]).summary().alerts
    assert re.search("from 2024-01-29 to 2024-02-05 \\(\N{MINUS SIGN}(29|30)", alert.message)
