"""The test of label shift keeps its level inside, on edges and at corners, and sees a drift; planted bugs break it.

`benchmarks/findings.py` measures all checks on 1,000 data sets each.
"""

import numpy as np
import pytest

from truecount import Counts, Prior
from truecount.diagnostics import shift
from truecount.diagnostics.shift import Fit, Tables, best_fit, bootstrap, label_shift_test, tables_of
from truecount.models import density

pytestmark = pytest.mark.slow
LEVEL, SETS, REPLICATES = 0.05, 200, 59
ROWS = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
DRIFTED = np.array([[0.5, 0.4, 0.1], [0.1, 0.5, 0.4]])
PLACES = {"inside": [0.4, 0.6], "edge": [1.0, 0.0]}


def data(prevalence, rows, new, rng) -> Counts:
    return Counts(rng.multinomial(100, rows), rng.multinomial(400, np.array(prevalence) @ new))


def fired(prevalence, new, seed) -> float:
    rng = np.random.default_rng(seed)
    found = []
    for number in range(SETS):
        counts = data(prevalence, ROWS, new, rng)
        test = label_shift_test(counts, density(counts, Prior()), replicates=REPLICATES, seed=number)
        found.append(test.p_value <= LEVEL)
    return float(np.mean(found))


@pytest.mark.parametrize("place", PLACES)
def test_false_alarms_are_as_many_as_promised(place, seed):
    """Within four standard errors, so that seeds 0 to 99 pass."""
    assert abs(fired(PLACES[place], ROWS, seed) - LEVEL) < 4 * np.sqrt(LEVEL * (1 - LEVEL) / SETS)


def test_a_drift_is_seen(seed):
    assert fired(PLACES["inside"], DRIFTED, seed) > 0.8


def test_that_check_fails_where_replicates_are_drawn_from_the_data(seed):
    """A planted bug: from the shares as seen, which contradict label shift, replicates fit no better than the data."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(60):
        counts = data(PLACES["inside"], ROWS, DRIFTED, rng)
        tables = tables_of(density(counts, Prior()), counts.labeled.astype(float))
        deviance, seen = best_fit(tables).deviance[0], as_seen(tables)
        drawn = Tables(
            labeled=rng.multinomial(100, seen.confusion[0], (59, 2)).astype(float),
            unlabeled=rng.multinomial(400, tables.unlabeled[0] / 400, 59).astype(float),
            known=tables.known,
        )
        found.append((1 + (best_fit(drawn).deviance >= deviance).sum()) / 60 <= LEVEL)
    assert np.mean(found) < 0.5


def as_seen(tables: Tables) -> Fit:
    rows = tables.labeled / tables.labeled.sum(axis=2, keepdims=True)
    return Fit(deviance=np.zeros(1), prevalence=np.full((1, 1, 2), 0.5), confusion=rows)


def test_chi_square_would_be_wrong_at_the_edge(seed):
    """One degree of freedom, 3.84 at 5 %: at the edge the deviance is larger far more often."""
    rng = np.random.default_rng(seed)
    drawn = [data([1, 0], ROWS, ROWS, rng) for _ in range(600)]
    posed = [tables_of(density(counts, Prior()), counts.labeled.astype(float)) for counts in drawn]
    together = Tables(
        labeled=np.concatenate([each.labeled for each in posed]),
        unlabeled=np.concatenate([each.unlabeled for each in posed]),
        known=posed[0].known,
    )
    assert np.mean(best_fit(together).deviance > 3.84) > LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / 600)


def test_a_bootstrap_of_nothing_finds_nothing():
    empty = Tables(labeled=np.ones((1, 2, 3)), unlabeled=np.zeros((1, 3)), known=np.full((2, 3), np.nan))
    assert bootstrap(empty, np.zeros(1), 9, np.random.default_rng(0)) == (0.0, 1.0)


def known_row_fired(labels: int, level: float, seed: int, sets: int) -> float:
    """How often the test fires though label shift holds, with one of two rows known and few labels of the other."""
    rng, found = np.random.default_rng(seed), []
    for number in range(sets):
        rows = rng.dirichlet(np.ones(4), 2)
        labeled = [rng.multinomial(labels, rows[0]), np.zeros(4, int)]
        counts = Counts(labeled, rng.multinomial(1000, rng.dirichlet([1, 1]) @ rows))
        model = density(counts, Prior.known_confusion([np.full(4, np.nan), rows[1]]))
        found.append(label_shift_test(counts, model, replicates=REPLICATES, seed=number).p_value <= level)
    return float(np.mean(found))


@pytest.mark.parametrize("labels", [5, 20])
def test_a_known_row_and_few_labels_do_not_alarm(labels, seed):
    """Simulated from the fit to discounted items, 16 % of such data sets were called odd with five labels."""
    assert known_row_fired(labels, LEVEL, seed, SETS) < LEVEL + 4 * np.sqrt(LEVEL * (1 - LEVEL) / SETS)


def test_that_check_fails_where_replicates_come_from_the_fit_to_fewer_items(seed, monkeypatch):
    """A planted bug: the nuisance parameters fitted to unlabelled items that count for ten times the labels at most."""

    def to_fewer(tables, unlabeled, replicates, rng):
        fit = best_fit(tables)
        simulated = shift.simulate(tables, shift._at_the_edge(tables, fit), unlabeled, replicates, rng)
        as_large = (best_fit(simulated).deviance >= fit.deviance[0]).sum()
        return float(fit.deviance[0]), float((1 + as_large) / (1 + replicates))

    monkeypatch.setattr(shift, "bootstrap", to_fewer)
    assert known_row_fired(5, LEVEL, seed, SETS) > LEVEL + 4 * np.sqrt(LEVEL * (1 - LEVEL) / SETS)


def test_the_example_that_was_called_serious():
    """G² .86 with five labels: p was .002."""
    counts = Counts([[1, 3, 1, 0], [0, 0, 0, 0]], [406, 67, 468, 59])
    known = Prior.known_confusion([np.full(4, np.nan), [0.3715, 0.0422, 0.5419, 0.0444]])
    test = label_shift_test(counts, density(counts, known), seed=0)
    assert test.deviance == pytest.approx(0.86, abs=0.01)
    assert test.p_value > 0.05
