"""What every answer says about itself: loud where it must be, silent where it should."""

import numpy as np
import pytest

import truecount as tc
from truecount import simulate


def codes(counts, **options):
    return {finding.code: finding.severity for finding in tc.infer(counts, **options).findings}


def test_fewer_positives_than_the_test_gives_to_the_healthy():
    known = tc.Prior.known_confusion([[0.89, 0.11], [0.04, 0.96]])
    assert codes(tc.Counts([[0, 0], [0, 0]], [3280, 50]), prior=known)["label-shift-violated"] == "serious"
    assert codes(tc.Counts([[890, 110], [40, 960]], [3280, 50]))["label-shift-violated"] == "serious"


def test_an_output_that_no_mix_explains_is_named_with_what_was_expected():
    posterior = tc.infer(
        tc.Counts([[700, 200, 100], [100, 200, 700]], [1400, 1500, 1100], outputs=["no", "unsure", "yes"]),
        engine=tc.Hamiltonian(effective_draws=500),
    )
    [finding] = [finding for finding in posterior.findings if finding.code == "label-shift-violated"]
    assert finding.numbers["output"] == "unsure"
    assert finding.numbers["seen"] == 0.375
    assert abs(finding.numbers["expected"] - 0.2) < 0.01
    assert "The output unsure was seen in 37.5% of the unlabelled items" in finding.message


@pytest.mark.parametrize("outside", [False, True])
def test_it_is_silent_where_the_model_holds(outside, seed):
    """400 data sets with prevalence inside or at a corner: at five standard errors none should be called a misfit."""
    rng = np.random.default_rng(seed)
    problems = []
    for number in range(200):
        confusion = 0.3 * rng.dirichlet(np.ones(3), 3) + 0.7 * np.eye(3)
        prevalence = np.eye(3)[rng.integers(3)] if outside else rng.dirichlet(np.ones(3))
        problems.append(simulate.counts(prevalence, confusion, labeled=150, unlabeled=300, seed=number))
    posteriors = tc.infer_many(problems, engine=tc.Auto(effective_draws=100))
    fired = [finding.code for posterior in posteriors for finding in posterior.findings]
    assert "label-shift-violated" not in fired
    assert "worse-than-chance" not in fired


def test_a_useless_box_has_taught_nothing():
    assert codes(tc.Counts([[50, 50], [50, 50]], [300, 200]))["hardly-learned"] == "caution"


def test_a_good_box_has_taught_something():
    assert "hardly-learned" not in codes(tc.Counts([[140, 60], [20, 180]], [600, 400]))


def test_swapped_outputs_are_noticed_and_a_weak_box_is_not_blamed():
    assert codes(tc.Counts([[30, 70], [80, 20]], [300, 700]))["worse-than-chance"] == "caution"
    assert "worse-than-chance" not in codes(tc.Counts([[48, 52], [50, 50]], [490, 510]))


def test_outputs_that_are_no_classes_cannot_be_swapped():
    counts = tc.Counts([[30, 70], [80, 20]], [300, 700], classes=["a", "b"], outputs=["x", "y"])
    assert "worse-than-chance" not in codes(counts)
