from itertools import pairwise
from math import lgamma

import numpy as np
import pytest

from truecount import Counts, LabelShift, Prior
from truecount.models.learned import PARTS, STRENGTHS, Learned, learned_rows

LABELED = np.array([[20, 3, 0], [1, 9, 2], [0, 2, 6]])
COUNTS = Counts(LABELED, [100, 80, 60])
OWN = [[0], [1], [2]]
NONE_KNOWN = np.zeros(3, bool)


def learned() -> Learned:
    return learned_rows(LABELED.astype(float), OWN, NONE_KNOWN)


def dirichlet_multinomial(items: np.ndarray, concentration: np.ndarray) -> float:
    """Log-probability of items in one order of arrival, item by item."""
    total, rising = concentration.sum(), 0.0
    for entry, number in zip(concentration, items, strict=True):
        rising += lgamma(entry + number) - lgamma(entry)
    return rising - lgamma(total + items.sum()) + lgamma(total)


def test_evidence_is_a_product_of_dirichlet_multinomials():
    grid = learned()
    evidence = grid.log_evidence(LABELED.astype(float))
    for point in (0, 137, 479):
        rows = grid.rows_at(np.array(point))
        expected = sum(dirichlet_multinomial(items, row) for items, row in zip(LABELED, rows, strict=True))
        assert evidence[point] == pytest.approx(expected)
        at = grid.log_evidence_at(np.array([point]), LABELED[None].astype(float))
        assert at == pytest.approx(expected)


def test_the_grid_goes_by_strength_and_by_the_part_on_the_diagonal():
    grid = learned()
    assert len(grid.even) == len(STRENGTHS) * len(PARTS)
    assert np.allclose((grid.even + grid.own).reshape(len(STRENGTHS), -1), STRENGTHS[:, None])
    assert np.allclose((grid.own / (grid.even + grid.own)).reshape(len(STRENGTHS), -1), PARTS)
    heights = grid.log_prior.reshape(len(STRENGTHS), -1)
    assert np.ptp(heights, axis=1).max() == 0
    assert STRENGTHS[heights[:, 0].argmax()] == pytest.approx(5, rel=0.15)


@pytest.mark.parametrize("right", [0.95, 0.6, 0.2])
def test_labels_of_a_better_classifier_put_more_on_the_diagonal(right):
    labeled = np.full((5, 5), 400 * (1 - right) / 4)
    np.fill_diagonal(labeled, 400 * right)
    even, own = learned_rows(labeled, [[row] for row in range(5)], np.zeros(5, bool)).reference
    assert own / (even + own) == pytest.approx(max(0, (right - 0.2) / 0.8), abs=0.05)


def test_rows_that_differ_weigh_less_than_rows_alike():
    alike = learned_rows(np.tile([30.0, 20, 10, 0], (3, 1)), None, NONE_KNOWN)
    apart = learned_rows(np.array([[60.0, 0, 0, 0], [0, 0, 60, 0], [0, 60, 0, 0]]), None, NONE_KNOWN)
    assert apart.reference[0] < alike.reference[0]
    assert alike.own.tolist() == apart.own.tolist() == [0.0] * len(STRENGTHS)


def test_the_surplus_is_the_slope_of_the_log_ratio(seed):
    grid, logs = learned(), np.log(np.random.default_rng(seed).dirichlet(np.ones(3), 3))
    step, slope = 1e-6, np.empty((3, 3))
    for cell in np.ndindex(3, 3):
        up, down = logs.copy(), logs.copy()
        up[cell] += step
        down[cell] -= step
        slope[cell] = (grid.log_ratio(up) - grid.log_ratio(down)) / (2 * step)
    assert np.allclose(grid.surplus(logs), slope, atol=1e-5)


def test_a_known_row_says_nothing_of_the_others():
    rows = [[0.2, 0.3, 0.5], [np.nan] * 3, [np.nan] * 3]
    grid = Prior.known_confusion(rows, confusion="learned").learned_rows_for(COUNTS)
    other = Counts([[0, 0, 40], *LABELED[1:].tolist()], COUNTS.unlabeled)
    assert grid.probability.tolist() == (
        Prior.known_confusion(rows, confusion="learned").learned_rows_for(other).probability.tolist()
    )
    assert not grid.reference_rows[0].any()


def test_outputs_are_found_by_name():
    straight = Prior(confusion="learned").confusion_for(COUNTS)
    turned = Counts(LABELED[:, ::-1], COUNTS.unlabeled[::-1], COUNTS.classes, COUNTS.outputs[::-1])
    assert np.allclose(Prior(confusion="learned").confusion_for(turned), straight[:, ::-1])


def test_an_output_that_is_no_class_leaves_the_diagonal_in_place():
    with_abstention = Counts(np.column_stack([LABELED, [1, 1, 1]]), [100, 80, 60, 5], [0, 1, 2], [0, 1, 2, "none"])
    assert Prior(confusion="learned").learned_rows_for(with_abstention).own.any()


def test_cells_of_a_class_share_its_peak():
    names = ["a", "b", "c", "a: sure", "b: sure", "c: sure"]
    cells = Counts(np.column_stack([LABELED, LABELED]), [9] * 6, ["a", "b", "c"], names)
    rows = Prior(confusion="learned").confusion_for(cells)
    assert np.allclose(rows[:, :3], rows[:, 3:])
    assert (np.diag(rows) > 2 * rows[0, 1]).all()


def test_without_outputs_called_like_classes_there_is_no_diagonal():
    counts = Counts(LABELED, COUNTS.unlabeled, ["a", "b", "c"], ["x", "y", "z"])
    rows = Prior(confusion="learned").confusion_for(counts)
    assert np.ptp(rows) == pytest.approx(0)


def test_more_rare_classes_make_a_smaller_concentration():
    found = []
    for rare in (0, 4, 8):
        unlabeled = np.concatenate([np.full(rare, 1), np.full(10 - rare, 200)])
        counts = Counts(np.diag(np.full(10, 50)) + 1, unlabeled)
        found.append(LabelShift(Prior(prevalence="learned")).density(counts).prevalence[0])
    assert all(later < earlier for earlier, later in pairwise(found))


def test_evidence_of_many_cells_is_that_of_the_seen_ones(monkeypatch):
    grid = learned_rows(LABELED.astype(float), OWN, np.array([False, True, False]))
    points, items = (
        np.array([3, 60, 200, 470]),
        np.stack([LABELED, 2 * LABELED, LABELED + 1, 0 * LABELED]).astype(float),
    )
    every = grid.log_evidence_at(points, items)
    monkeypatch.setattr("truecount.models.learned.MANY", 1)
    np.testing.assert_allclose(grid.log_evidence_at(points, items), every, rtol=1e-12)


def test_the_largest_step_is_between_neighbouring_points():
    grid = learned()
    totals = [grid.rows_at(np.array(point)).sum() for point in range(len(grid.even))]
    assert grid.largest_step == pytest.approx(max(after / before for before, after in pairwise(totals)))
