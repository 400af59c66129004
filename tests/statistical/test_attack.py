"""A small part of `benchmarks/attack.py`: awkward problems against oracles that share no code with the engines."""

from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PROBLEMS = 4
"""Of each regime; the benchmark has hundreds, and its planted bug is seen in the problems that were reported."""


@pytest.fixture
def attack(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import attack

    return attack


@pytest.mark.slow
@pytest.mark.parametrize("number", range(11))
def test_nothing_is_silently_wrong(attack, number):
    regime = ["reported", *attack.REGIMES][number]
    size = len(attack.REPORTED) if regime == "reported" else PROBLEMS
    results = [attack.attacked(regime, problem) for problem in range(size)]
    assert not [result for result in results if attack.is_silently_wrong(result)]


@pytest.mark.slow
@pytest.mark.parametrize("problem", [0, 1])
def test_the_attack_sees_a_mode_that_the_usual_proposals_miss(attack, problem):
    assert attack.is_silently_wrong(attack.attacked("reported", problem, planted=True))


def test_the_two_oracles_of_the_attack_agree(attack):
    """Ten thousand items are nearly as many as infinitely many; both integrate the same posterior."""
    import numpy as np

    posed = attack.density(attack.tc.Counts([[6, 3], [2, 7]], [2100, 2700]), attack.tc.Prior(2.0, 1.5))
    exact, drawn = attack.by_allocations(posed), attack.with_known_outputs(posed, np.random.default_rng(0))
    np.testing.assert_allclose(drawn.mean, exact.mean, atol=5 * drawn.mean_error.max() + 0.01 * exact.sd.max())
    np.testing.assert_allclose(drawn.sd, exact.sd, atol=5 * drawn.sd_error.max() + 0.01 * exact.sd.max())
