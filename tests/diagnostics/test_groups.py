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
