"""Intervals of clustered items hold what they promise, and those that take the items for independent do not."""

import numpy as np
import pytest
from scipy.stats import binom

import truecount as tc

SETS, EPOCHS, CORRELATION = 150, 5, 0.6
SHARES, ROWS = np.array([0.3, 0.7]), np.array([[0.85, 0.15], [0.2, 0.8]])
WRONG = 5e-5


def tendencies(rng, number, centre):
    return rng.dirichlet(centre * (1 - CORRELATION) / CORRELATION, number)


def epochs(rng, number, shares):
    """Return classes and outputs of all epochs of some questions, and the questions."""
    classes = (rng.random((number, EPOCHS)) > tendencies(rng, number, shares)[:, :1]).astype(int)
    rows = np.stack([tendencies(rng, number, row) for row in ROWS], axis=1)
    outputs = (rng.random((number, EPOCHS)) > rows[np.arange(number)[:, None], classes, 0]).astype(int)
    return classes.ravel(), outputs.ravel(), np.repeat(np.arange(number), EPOCHS)


def held(seed, *, as_clusters):
    hits = 0
    for number in range(SETS):
        rng = np.random.default_rng([seed, number])
        labels, outputs, known = epochs(rng, 60, np.array([0.5, 0.5]))
        _, new_outputs, new = epochs(rng, 80, SHARES)
        together = {"cluster": known, "new_cluster": 1000 + new} if as_clusters else {}
        counts = tc.count(labels, outputs, new_outputs, classes=[0, 1], outputs=[0, 1], **together)
        low, high = tc.infer(counts, engine=tc.Auto(400), seed=number).interval()[0]
        hits += low <= SHARES[0] <= high
    return hits


@pytest.mark.slow
def test_clusters_hold_and_independent_items_do_not(seed):
    low, high = binom.ppf([WRONG, 1 - WRONG], SETS, 0.95)
    assert low <= held(seed, as_clusters=True) <= high
    assert held(seed, as_clusters=False) < low
