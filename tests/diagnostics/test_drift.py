"""What a drift can do: the worst case by hand for two classes, and never beaten by chance for three."""

import numpy as np
import pytest
import scipy.optimize

import truecount as tc
from truecount import Counts, InputError
from truecount.diagnostics.drift import reach, smallest_drift

PI, PHI = np.array([[0.7, 0.3]]), np.array([[[0.8, 0.2], [0.1, 0.9]]])


def by_hand(drift, largest):
    """``q = π a + (1 − π) b``: the smallest π has both rows give the first output as often as they may."""
    q = 0.7 * 0.8 + 0.3 * 0.1
    a, b = np.clip(np.array([0.8, 0.1]) + (-drift if largest else drift), 0, 1)
    return np.clip((q - b) / (a - b), 0, 1)


@pytest.mark.parametrize("drift", [0.0, 0.02, 0.1, 0.15, 0.3])
@pytest.mark.parametrize("largest", [False, True])
def test_two_classes_by_hand(drift, largest):
    assert reach(PI, PHI, 0, drift=drift, largest=largest)[0] == pytest.approx(by_hand(drift, largest), abs=1e-7)


def test_no_drift_within_reach_goes_further(seed):
    rng = np.random.default_rng(seed)
    pi, phi, drift = np.array([[0.4, 0.35, 0.25]]), 0.4 * rng.dirichlet(np.ones(3), 3)[None] + 0.6 * np.eye(3), 0.08
    low, high = (reach(pi, phi, 1, drift=drift, largest=largest)[0] for largest in (False, True))
    outputs = (pi @ phi[0])[0]
    seen = []
    for _ in range(400):
        other = rng.dirichlet(np.ones(3), 3)
        away = np.abs(other - phi[0]).sum(axis=1, keepdims=True) / 2
        moved = phi[0] + np.minimum(drift / away, 1) * (other - phi[0])
        shares = np.linalg.solve(moved.T, outputs)
        seen += [shares[1]] if (shares >= 0).all() else []
    assert len(seen) > 50
    assert low - 1e-7 <= min(seen) < pi[0, 1] < max(seen) <= high + 1e-7
    assert low < pi[0, 1] - 0.03


def test_draws_are_solved_each_by_itself():
    pi = np.array([[0.7, 0.3], [0.2, 0.8]])
    phi = np.concatenate([PHI, [[[0.6, 0.4], [0.3, 0.7]]]])
    together = reach(pi, phi, 0, drift=0.05, largest=True)
    alone = [reach(pi[[row]], phi[[row]], 0, drift=0.05, largest=True)[0] for row in (0, 1)]
    assert together == pytest.approx(alone, abs=1e-7)


def test_a_program_that_is_not_solved_is_told(monkeypatch):
    def fails(*_, **__):
        return scipy.optimize.OptimizeResult(x=None, success=False, message="numerical difficulties")

    monkeypatch.setattr(scipy.optimize, "linprog", fails)
    with pytest.raises(InputError, match=r"drift is 0\.05, and its linear programs were not solved .numerical"):
        reach(PI, PHI, 0, drift=0.05, largest=True)


def test_the_smallest_drift_is_where_the_bound_is_reached():
    found = smallest_drift(PI, PHI, 0, bound=0.6, is_above=True, level=0.95)
    assert by_hand(found, False) == pytest.approx(0.6, abs=0.01)
    assert smallest_drift(PI, PHI, 0, bound=0.75, is_above=True, level=0.95) == 0
    assert smallest_drift(PI, PHI, 0, bound=1.5, is_above=False, level=0.95) is None


def test_sensitivity_widens_the_interval_and_names_the_drift():
    posterior = tc.infer(Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"]))
    found = tc.sensitivity(posterior, [0.0, 0.05], above={"fail": 0.6}, below={"pass": 0.1})
    assert found.interval.shape == (2, 2, 2)
    assert found.interval[0] == pytest.approx(posterior.interval(), abs=0.02)
    assert found.interval[1, 0, 0] < found.interval[0, 0, 0] - 0.03
    holds, does_not = found.claims
    assert 0.05 < holds.drift < 0.15
    assert str(holds).startswith("fail above 60.0 %: holds unless rows moved by")
    assert does_not.drift == 0
    assert "does not show that even without a drift" in str(does_not)
    assert {"full", "cut", "tempered", "drift up to 0 %", "drift up to 5 %"} == {row["assumed"] for row in found.rows()}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"drift": 5}, "drift is 5"),
        ({"drift": "x"}, "drift is 'x': it must be a number"),
        ({"drift": [[0.1, 0.2]]}, "drift is .*: it must be a number"),
        ({"above": {"pas": 0.2}}, "above names 'pas'.*Perhaps you meant 'pass'"),
        ({"below": {"fial": 0.2}}, "below names 'fial'.*Perhaps you meant 'fail'"),
        ({"below": {"fail": "0.2"}}, "below holds '0.2': bounds are shares"),
        ({"above": 0.2}, "above is of type float"),
        ({"seed": -1}, "seed is -1"),
        ({"level": 2}, "level"),
    ],
)
def test_bad_input_is_named(options, words):
    posterior = tc.infer(Counts([[14, 6], [2, 18]], [60, 40], classes=["fail", "pass"]))
    with pytest.raises(InputError, match=words):
        tc.sensitivity(posterior, **options)
