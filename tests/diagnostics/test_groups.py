"""Groups are compared by the names of their classes and outputs."""

import numpy as np
import pytest

import truecount as tc
from truecount.diagnostics.homogeneity import joint_test
from truecount.models import density


def test_the_order_of_the_names_does_not_change_the_joint_test():
    weeks = tc.Groups([[80, 15, 5], [10, 20, 70]], {"w1": [50, 20, 40], "w2": [25, 30, 60]})
    flipped = weeks.ordered_like(tc.Counts(np.zeros((2, 3), int), [0, 0, 0], classes=[1, 0], outputs=[2, 1, 0]))
    straight, turned = (
        joint_test(groups, density(groups.total, tc.Prior()), replicates=19, seed=0)[0] for groups in (weeks, flipped)
    )
    assert turned == pytest.approx(straight, rel=1e-6)


def test_an_empty_group_does_not_silence_the_test():
    counts = {"a": [500, 300, 200], "b": [450, 120, 430], "c": [200, 150, 650]}
    groups = tc.Groups([[80, 15, 5], [5, 15, 80]], {**counts, "empty": [0, 0, 0]})
    model = density(groups.total, tc.Prior())
    filled = groups.select(counts)
    assert joint_test(groups, model, replicates=99, seed=0) == joint_test(filled, model, replicates=99, seed=0)
    assert joint_test(groups, model, replicates=99, seed=0)[1] == 0.01
    assert joint_test(groups.select(["empty"]), model, replicates=9, seed=0) == (0.0, 1.0)
