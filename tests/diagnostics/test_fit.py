"""The best fit under label shift: a closed form inside the hull, the mode elsewhere."""

import numpy as np
import pytest

from truecount import Counts, Prior, simulate
from truecount.diagnostics.shift import Tables, best_fit, deviance_at, tables_of
from truecount.inference.modes.mode import find_mode
from truecount.models import density

PROBLEMS = {
    "more outputs": simulate.counts([0.5, 0.3, 0.2], simulate.confusion(0.8, 3, 6), labeled=300, unlabeled=500),
    "outside": Counts([[90, 10], [20, 80]], [95, 5]),
    "sparse": simulate.counts([0.5, 0.5], np.full((2, 30), 1 / 30), labeled=[30, 30], unlabeled=300),
    "an empty cell": Counts([[50, 0, 10], [0, 40, 10]], [30, 30, 60]),
}


def tables(counts: Counts, prior: Prior | None = None) -> Tables:
    return tables_of(density(counts, prior or Prior()), counts.labeled.astype(float))


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_is_the_mode_of_the_flat_posterior(name):
    posed, found = tables(PROBLEMS[name]), best_fit(tables(PROBLEMS[name]))
    mode = find_mode(density(PROBLEMS[name], Prior()))
    assert mode.is_converged
    [lowest] = deviance_at(posed, mode.prevalence[None, None], mode.confusion[None])
    assert found.deviance[0] == pytest.approx(lowest, abs=5e-3)


def test_inside_the_hull_nothing_is_lost():
    fit = best_fit(tables(Counts([[90, 10], [20, 80]], [55, 45])))
    assert fit.deviance[0] < 1e-3
    assert fit.prevalence[0, 0] == pytest.approx([0.5, 0.5], abs=1e-3)


def test_two_classes_outside_the_hull_by_hand():
    """With known rows the best share is at the corner, and the deviance that of a plain multinomial."""
    known = Prior.known_confusion([[0.9, 0.1], [0.2, 0.8]])
    fit = best_fit(tables(Counts([[0, 0], [0, 0]], [95, 5]), known))
    assert fit.deviance[0] == pytest.approx(2 * (95 * np.log(0.95 / 0.9) + 5 * np.log(0.05 / 0.1)), rel=1e-4)


def test_data_sets_do_not_disturb_each_other():
    posed = [
        tables(Counts([[90, 10, 5], [20, 80, 9]], unlabeled)) for unlabeled in ([50, 40, 9], [9, 9, 80], [30, 9, 60])
    ]
    together = Tables(
        labeled=np.concatenate([each.labeled for each in posed]),
        unlabeled=np.concatenate([each.unlabeled for each in posed]),
        known=posed[0].known,
    )
    alone = [best_fit(each).deviance[0] for each in posed]
    assert best_fit(together).deviance == pytest.approx(alone, abs=5e-3)


def test_it_stops_where_that_is_enough():
    posed = tables(PROBLEMS["sparse"])
    least = best_fit(posed).deviance[0]
    early = best_fit(posed, enough=2 * least).deviance[0]
    assert least <= early <= 2 * least


def test_groups_share_their_rows():
    """Two populations in one: as one of them alone if both saw the same, worse if they contradict each other."""
    labeled = np.array([[[60.0, 30, 10], [10, 30, 60]]])
    apart = np.array([[[300.0, 500, 200], [300, 100, 600]]])
    known = np.full((2, 3), np.nan)
    separate = [best_fit(Tables(labeled=labeled, unlabeled=apart[:, group], known=known)) for group in (0, 1)]
    jointly = best_fit(Tables(labeled=labeled, unlabeled=apart, known=known))
    assert jointly.prevalence.shape == (1, 2, 2)
    assert jointly.deviance[0] > max(fit.deviance[0] for fit in separate)


def test_far_more_unlabelled_items_count_for_fewer():
    counts = Counts([[90, 10], [20, 80]], [60_000, 40_000])
    assert tables(counts).unlabeled.sum() == pytest.approx(2000)
    assert tables(counts).unlabeled[0, 0] == pytest.approx(1200)


def test_an_absent_class_has_no_share():
    fit = best_fit(tables(Counts([[90, 10], [20, 80]], [55, 45])), absent=[1])
    assert fit.prevalence[0, 0].tolist() == [1, 0]
    assert fit.deviance[0] > 1


def test_a_start_near_a_wrong_edge_does_not_decide():
    """Rows that are hard to tell apart: from the nearest mix alone the way up ends at a deviance of 33."""
    labeled = [
        [1, 9, 1, 16, 4, 3, 11, 4, 1],
        [22, 7, 6, 1, 1, 6, 2, 3, 2],
        [0, 11, 4, 0, 2, 29, 1, 1, 2],
        [2, 4, 0, 0, 9, 22, 2, 9, 2],
        [0, 9, 2, 5, 2, 25, 2, 3, 2],
        [7, 1, 0, 3, 19, 0, 6, 0, 14],
        [9, 4, 1, 12, 3, 11, 9, 0, 1],
        [4, 0, 2, 9, 0, 1, 15, 4, 15],
        [4, 10, 4, 4, 9, 4, 2, 6, 7],
    ]
    fit = best_fit(tables(Counts(labeled, [28, 44, 43, 67, 133, 245, 175, 107, 158])))
    assert fit.deviance[0] < 6
    assert fit.prevalence[0, 0].sum() == pytest.approx(1)
