"""Intervals of groups hold where clustered labels tell shares, and those by the confusion's design effect do not.

Intervals of a data set's three groups count as independent, although they share labels of one confusion. Intervals that
are too wide are not seen.
"""

import numpy as np
import pytest
from scipy.stats import binom

import truecount as tc
from truecount.counts.weights import effective_groups
from truecount.models import groups as models

SETS, EPOCHS, WRONG = 20, 6, 5e-5
SHARES, RIGHT, WRONGLY = {"A": 0.6, "B": 0.7, "C": 0.8}, 0.75, 0.35
MODEL = tc.LabelShift(groups=tc.Independent(), confusion=tc.Varying(random_labels=True))


def judged(rng):
    """Return models that answer 100 questions in six epochs, all right or all wrong; 40 of each are labelled."""
    groups = {}
    for name, share in SHARES.items():
        truth = (rng.random(100) < share).astype(int).repeat(EPOCHS)
        output = (rng.random(len(truth)) < np.where(truth, RIGHT, WRONGLY)).astype(int)
        clusters = np.array([f"{name}{question}" for question in range(100)]).repeat(EPOCHS)
        known = np.arange(len(truth)) < 40 * EPOCHS
        ids = {"cluster": clusters[known], "new_cluster": clusters[~known]}
        groups[name] = tc.count(truth[known], output[known], output[~known], **ids, classes=[0, 1], outputs=[0, 1])
    return tc.Groups.of(groups)


def held(seed):
    hits = 0
    for number in range(SETS):
        data = judged(np.random.default_rng([seed, number]))
        ends = tc.infer(data, MODEL, engine=tc.Auto(100), seed=number).interval()[:, 1]
        truth = np.array(list(SHARES.values()))
        hits += int(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).sum())
    return hits


def lower_bound():
    """Return the hits that a sound interval has less often than once in 20,000 runs."""
    return binom.ppf(WRONG, SETS * len(SHARES), 0.95)


@pytest.mark.slow
def test_clustered_random_labels_hold(seed):
    assert held(seed) >= lower_bound()


@pytest.mark.slow
def test_the_design_effect_of_the_confusion_does_not_hold(seed, monkeypatch):
    """The planted bug: five of six labels of a question count for its class again."""

    def by_rows(groups):
        labels, items = effective_groups(groups)
        return labels.sum(axis=2), items

    monkeypatch.setattr(models, "effective_random_samples", by_rows)
    assert held(seed) < lower_bound()
