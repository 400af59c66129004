"""Draws of many groups are calibrated: shares, centre, spread and confusion.

A minute for each way in which groups vary; `benchmarks/groups_calibration.py` looks at more classes and outputs.
"""

import pytest

from sbc_groups import FALSE_ALARMS, SETTINGS, p_values, ranks_of_truth

pytestmark = pytest.mark.slow


DATA_SETS = {"pooled, 2 classes": 60, "walk, 2 classes": 30, "varying, 2 classes": 12}


@pytest.mark.parametrize("name", DATA_SETS)
def test_groups_are_calibrated(name, seed):
    names, ranks = ranks_of_truth(SETTINGS[name], seed, DATA_SETS[name])
    found = p_values(ranks)
    assert found.min() > FALSE_ALARMS / len(found), dict(zip(names, found, strict=True))


BUGS = {
    "pooled, 2 classes": ("items counted four times", 24),
    "walk, 2 classes": ("items counted four times", 18),
    "varying, 2 classes": ("items left out", 12),
}
"""What is wrong, and how many data sets show it: as many as the draws are held to, or fewer."""


@pytest.mark.parametrize("name", BUGS)
def test_calibration_sees_a_planted_bug(name, seed):
    """Draws then fit the items closer than the truth does, or less close, which the likelihood's ranks show."""
    bug, data_sets = BUGS[name]
    names, ranks = ranks_of_truth(SETTINGS[name], seed, data_sets, bug=bug)
    assert p_values(ranks).min() < FALSE_ALARMS / len(names)
