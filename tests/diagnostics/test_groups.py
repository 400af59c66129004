"""Groups are compared by the names of their classes and outputs."""

import numpy as np

import truecount as tc
from truecount.diagnostics.groups import joint_test
from truecount.models import density


def test_the_order_of_a_groups_names_does_not_change_the_joint_test():
    weeks = tc.Counts([[80, 15, 5], [10, 20, 70]], [0, 0, 0]).split({"w1": [50, 20, 40], "w2": [25, 30, 60]})
    flipped = tc.Counts(np.zeros((2, 3), int), [0, 0, 0], classes=[1, 0], outputs=[2, 1, 0])
    turned = weeks | {"w2": weeks["w2"].ordered_like(flipped)}
    model = density(weeks["w1"].pool(weeks["w2"]), tc.Prior())
    straight = joint_test(weeks, model, replicates=19, seed=0)
    assert joint_test(turned, model, replicates=19, seed=0) == straight


def test_an_empty_group_does_not_silence_the_test():
    counts = {"a": [500, 300, 200], "b": [450, 120, 430], "c": [200, 150, 650]}
    groups = tc.Counts([[80, 15, 5], [5, 15, 80]], [0, 0, 0]).split({**counts, "empty": [0, 0, 0]})
    model = density(groups["a"].pool(*list(groups.values())[1:]), tc.Prior())
    filled = {name: groups[name] for name in counts}
    assert joint_test(groups, model, replicates=99, seed=0) == joint_test(filled, model, replicates=99, seed=0)
    assert joint_test(groups, model, replicates=99, seed=0)[1] == 0.01
    assert joint_test({"empty": groups["empty"]}, model, replicates=9, seed=0) == (0.0, 1.0)
