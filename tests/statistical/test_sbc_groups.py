"""Draws of many groups are calibrated: shares, centre, spread and confusion.

A minute for each way in which groups vary; `benchmarks/groups_calibration.py` looks at more classes and outputs.
"""

import pytest

from sbc_groups import FALSE_ALARMS, SETTINGS, p_values, ranks_of_truth

pytestmark = pytest.mark.slow


SHORT = ["pooled, 2 classes", "walk, 2 classes", "varying, 2 classes"]


@pytest.mark.parametrize("name", SHORT)
def test_groups_are_calibrated(name, seed):
    names, ranks = ranks_of_truth(SETTINGS[name], seed, min(SETTINGS[name].data_sets, 30))
    found = p_values(ranks)
    assert found.min() > FALSE_ALARMS / len(found), dict(zip(names, found, strict=True))


BUGS = {
    "pooled, 2 classes": ("items counted sixteen times", 30),
    "walk, 2 classes": ("items counted sixteen times", 30),
}
SEEN = 0.01
"""Below this a bug is seen in a few data sets."""


@pytest.mark.parametrize("name", BUGS)
def test_calibration_sees_a_planted_bug(name, seed):
    bug, data_sets = BUGS[name]
    names, ranks = ranks_of_truth(SETTINGS[name], seed, data_sets, bug=bug)
    assert p_values(ranks).min() < SEEN / len(names)
