"""Corrected probabilities beside the shares that they were corrected to."""

import numpy as np

import truecount as tc
from made_items import made_items, probabilities
from truecount.diagnostics.recalibration import off_average

OLD, NEW = [0.6, 0.3, 0.1], [0.2, 0.3, 0.5]


def found(seed: int, *, trained_on, items: int = 4000):
    """Scores by Bayes's rule at the old shares, divided by those that they are said to be of."""
    rng = np.random.default_rng(seed)
    labeled, labels = made_items(rng, [1200, 600, 200])
    new, _ = made_items(rng, [int(items * share) for share in NEW])
    table = np.zeros((3, 3))
    np.add.at(table, (labels, probabilities(labeled, OLD).argmax(axis=1)), 1)
    scores = probabilities(new, OLD)
    counts = tc.Counts(table, np.bincount(scores.argmax(axis=1), minlength=3), classes=["a", "b", "c"])
    posterior = tc.infer(counts, engine=tc.Auto(400))
    return off_average(tc.recalibrate(scores, posterior, trained_on=trained_on, draws=100), posterior)


def test_the_right_prevalence_is_quiet(seed: int):
    assert found(seed, trained_on=None) is None
    assert found(seed, trained_on=OLD) is None


def test_another_one_is_told_with_its_figures(seed: int):
    finding = found(seed, trained_on=[0.1, 0.3, 0.6])
    assert finding.numbers["class"] in ("a", "c")
    assert abs(finding.numbers["average"] - finding.numbers["share"]) > 4 * finding.numbers["standard_error"]
    assert "trained_on=" in finding.advice


def test_a_handful_of_items_shows_nothing(seed: int):
    assert found(seed, trained_on=[0.1, 0.3, 0.6], items=0) is None
    assert found(seed, trained_on=[0.1, 0.3, 0.6], items=10) is None
