"""Do labels of two sides agree? An exact test, and what it could have seen."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, fisher_exact, ks_2samp

from truecount import Counts, Groups, Prior, simulate
from truecount.diagnostics import homogeneity
from truecount.diagnostics.homogeneity import (
    HomogeneityTest,
    _sums_of_drawn,
    _sums_of_permuted,
    drift_finding,
    homogeneity_test,
    labels_differ,
    not_random,
    visible_drift,
)
from truecount.diagnostics.significance import CAUTION

COUNTS = Counts([[80, 20], [20, 80]], [50, 50], classes=["fail", "pass"])


@pytest.mark.parametrize("table", [[[8, 2], [3, 9]], [[20, 5], [12, 12]], [[5, 5], [5, 5]]])
def test_two_by_two_is_fishers_test(table):
    found = homogeneity_test(np.array(table)[:, None, :], replicates=9999).by_class[0]
    expected = fisher_exact(table).pvalue
    assert found == pytest.approx(expected, abs=5 * np.sqrt(expected * (1 - expected) / 9999) + 2e-4)


def test_false_alarms_are_at_most_as_many_as_promised(seed):
    rng, rows = np.random.default_rng(seed), simulate.confusion(0.8, 3, 4)
    p_values = [
        homogeneity_test(np.array([rng.multinomial(100, rows), rng.multinomial(15, rows)]), replicates=199).p_value
        for _ in range(300)
    ]
    assert np.mean(np.array(p_values) <= 0.05) < 0.05 + 5 * np.sqrt(0.05 * 0.95 / 300)
    assert np.mean(np.array(p_values) <= 0.5) > 0.3


def seen_and_its_error(rows: np.ndarray, sizes: tuple[int, int], factor: float, seed: int) -> tuple[float, float]:
    """How often drifts that are said to be visible, times a factor, are seen; its error by batches, one for a drift."""
    rng, batches = np.random.default_rng(seed), []
    for number in range(30):
        drift = factor * visible_drift(np.array([sizes[0] * rows, sizes[1] * rows]), seed=seed + number)
        moved = rows + drift * np.array([[-1, 1], [1, -1]])
        tables = [np.array([rng.multinomial(sizes[0], rows), rng.multinomial(sizes[1], moved)]) for _ in range(50)]
        tests = [homogeneity_test(each, replicates=199, seed=int(rng.integers(2**31))) for each in tables]
        batches.append(np.mean([test.p_value <= 0.05 for test in tests]))
    return float(np.mean(batches)), float(np.std(batches, ddof=1) / np.sqrt(len(batches)))


@pytest.mark.parametrize(("factor", "is_right"), [(1.0, True), (1.25, False), (0.8, False)])
def test_the_visible_drift_is_neither_too_large_nor_too_small(factor, is_right, seed):
    seen, error = seen_and_its_error(np.array([[0.8, 0.2], [0.2, 0.8]]), (200, 60), factor, seed)
    assert (abs(seen - 0.8) < 5 * error) == is_right


def test_few_sets_tell_where_to_look_and_many_confirm_it(monkeypatch, seed):
    asked, is_seen = [], homogeneity._is_seen

    def noted(rows, sizes, drift, sets, rng):
        asked.append((drift, sets, is_seen(rows, sizes, drift, sets, rng)))
        return asked[-1][2]

    monkeypatch.setattr(homogeneity, "_is_seen", noted)
    rows = np.full((12, 12), 0.2 / 11) + (0.8 - 0.2 / 11) * np.eye(12)
    drift = visible_drift(np.array([100 * rows, 20 * rows]), seed=seed)
    assert (drift, 1000, True) in asked
    assert sum(sets for _, sets, _ in asked) < 9000


@pytest.mark.parametrize(("right", "sizes"), [(0.8, (200, 10)), (0.97, (50, 10))])
def test_what_could_have_been_seen_is_seen_four_times_in_five(right, sizes, seed):
    """Also with few labels of a classifier that is seldom wrong, where chi-square tables promise far too much."""
    rng, rows = np.random.default_rng(seed), np.array([[right, 1 - right], [1 - right, right]])
    drift = visible_drift(np.array([sizes[0] * rows, sizes[1] * rows]), seed=seed)
    moved = rows + drift * np.array([[-1, 1], [1, -1]])
    tables = [np.array([rng.multinomial(sizes[0], rows), rng.multinomial(sizes[1], moved)]) for _ in range(300)]
    seen = np.mean([homogeneity_test(each, replicates=199, seed=seed).p_value <= 0.05 for each in tables])
    assert 0.8 - 5 * np.sqrt(0.8 * 0.2 / 300) < seen < 0.97


def test_more_labels_see_smaller_drifts():
    rows = np.array([[0.8, 0.2], [0.2, 0.8]])
    found = [visible_drift(np.array([300 * rows, size * rows])) for size in (10, 40, 200)]
    assert found[0] > found[1] > found[2] > 0.05
    assert visible_drift(np.array([300 * rows, 0 * rows])) is None
    assert visible_drift(np.array([300 * rows, [[1, 0], [0, 0]]])) is None


def test_the_class_that_is_treated_differently_is_named():
    test = homogeneity_test(np.array([COUNTS.labeled, [[10, 30], [5, 35]]]))
    finding = drift_finding(COUNTS, test, "in the population")
    assert (finding.code, finding.severity) == ("confusion-drifted", "serious")
    assert finding.numbers["classes"] == ["fail"]
    assert "treats fail differently in the population" in finding.message
    assert drift_finding(COUNTS, homogeneity_test(np.array([COUNTS.labeled] * 2)), "") is None


def test_classes_are_named_by_p_values_that_stand_out_among_all():
    counts = Counts(np.eye(4) * 9, [9, 9, 9, 9], classes=list("abcd"))
    by_class = np.array([0.03, 0.0005, 0.01, 0.9])
    test = HomogeneityTest(deviance=1.0, p_value=0.01, by_class=by_class, replicates=1999)
    assert drift_finding(counts, test, "").numbers["classes"] == ["b", "c"]
    assert drift_finding(counts, replace(test, by_class=by_class + 0.1), "").numbers["classes"] == ["b"]


def test_permuted_items_of_sparse_tables_have_the_distribution_of_drawn_tables(seed):
    rng = np.random.default_rng(seed)
    table = rng.multinomial(2, [0.2, 0.5, 0.3], size=12)
    permuted, drawn = (sums(table, 4000, rng) for sums in (_sums_of_permuted, _sums_of_drawn))
    assert ks_2samp(permuted, drawn).pvalue > 1e-4
    assert ks_2samp(permuted, _sums_of_drawn(table[:11], 4000, rng)).pvalue < 1e-4


def test_one_class_among_many_that_differs_is_not_lost_in_their_sum():
    alike = np.array([[10, 6, 4], [12, 5, 3]])
    apart = np.array([[17, 2, 1], [3, 10, 7]])
    tables = np.stack([apart, *[alike] * 29], axis=1)
    assert homogeneity_test(tables).p_value < 0.05
    alone = homogeneity_test(tables[:, :1])
    assert alone.p_value == alone.by_class[0]


def test_many_classes_that_differ_a_little_are_seen_by_their_sum():
    """Each has a p-value above 0.05, so that the least of thirty is nothing."""
    test = homogeneity_test(np.stack([np.array([[14, 4, 2], [8, 8, 4]])] * 30, axis=1))
    assert test.p_value < 0.05 < test.by_class.min()


def test_three_samples_keep_their_margins():
    tables = np.array([[[20, 5, 2]], [[9, 9, 4]], [[3, 3, 8]]])
    few = homogeneity_test(tables, replicates=4999)
    pairs = [homogeneity_test(tables[[i, j]], replicates=999).p_value for i, j in ((0, 1), (1, 2), (0, 2))]
    assert few.p_value < 0.05
    assert min(pairs) < 0.05


def test_an_empty_class_says_nothing():
    test = homogeneity_test(np.array([[[5, 5], [0, 0]], [[5, 5], [2, 2]]]))
    assert test.by_class[1] == 1


@pytest.mark.parametrize("items", [10**6, 10**10, 10**15])
def test_a_sample_of_any_size_beside_a_small_one(items):
    alike = np.array([[[60, 40]], [[0.6 * items, 0.4 * items]]])
    apart = np.array([[[60, 40]], [[0.4 * items, 0.6 * items]]])
    assert homogeneity_test(alike, replicates=199).p_value > 0.8
    assert homogeneity_test(apart, replicates=199).p_value == 1 / 200
    assert homogeneity_test(apart).deviance == pytest.approx(40 * np.log(1.5), rel=1e-3)


def test_two_large_samples_are_told_apart():
    assert homogeneity_test(np.array([[[6e9, 4e9]], [[6.01e9, 3.99e9]]]), replicates=199).p_value == 1 / 200
    assert homogeneity_test(np.array([[[6e9, 4e9]]] * 3), replicates=199).p_value == 1


def test_a_random_sample_of_billions_is_one():
    assert not_random(Counts([[140, 60], [100, 100]], [6 * 10**9, 4 * 10**9])) is None
    assert not_random(Counts([[140, 60], [100, 100]], [4 * 10**9, 6 * 10**9])).code == "not-a-random-sample"


ROWS = np.array([[0.8, 0.1, 0.1], [0.15, 0.75, 0.1]])
ITEMS = {"A": [30, 60, 10], "B": [35, 55, 10], "C": [30, 58, 12]}


def groups_with_labels(rng, rows_of, items_of):
    """Groups whose labels carry them, with these rows and so many labels of each class."""
    own = {group: np.array([rng.multinomial(items_of[group], row) for row in rows_of[group]]) for group in rows_of}
    groups = Groups(sum(own.values()), ITEMS, classes=["fail", "pass"], outputs=["fail", "pass", "unsure"])
    return Groups(groups.labeled[0], ITEMS, groups.classes, groups.outputs, by=["model"], label_groups=own)


def share_found(rng, rows_of, items_of, data_sets):
    found = [labels_differ(groups_with_labels(rng, rows_of, items_of), Prior()) for _ in range(data_sets)]
    return np.mean([each is not None for each in found])


@pytest.mark.parametrize("items", [{"A": 3, "B": 2, "C": 40}, {"A": 60, "B": 20, "C": 40}])
def test_a_judge_that_treats_all_groups_alike_is_rarely_accused(items, seed):
    false = share_found(np.random.default_rng(seed), dict.fromkeys("ABC", ROWS), items, 300)
    assert false <= binom.ppf(1 - 1e-4, 300, CAUTION) / 300


def test_a_judge_that_favours_one_model_is_found(seed):
    """Thirty-five points of one class, sixty labels of each class and model: nine of ten, at the least."""
    favoured = ROWS + np.array([[-0.35, 0.35, 0.0], [0.0, 0.0, 0.0]])
    rows = {"A": ROWS, "B": favoured, "C": ROWS}
    power = share_found(np.random.default_rng(seed), rows, dict.fromkeys("ABC", 60), 60)
    assert power >= binom.ppf(1e-4, 60, 0.9) / 60


def test_the_finding_names_what_differs_and_what_to_do():
    rng = np.random.default_rng(0)
    rows = {"A": ROWS, "B": np.array([[0.3, 0.6, 0.1], ROWS[1]]), "C": ROWS}
    found = labels_differ(groups_with_labels(rng, rows, dict.fromkeys("ABC", 200)), Prior())
    assert (found.code, found.severity, found.numbers["classes"]) == ("confusion-drifted", "serious", ["fail"])
    assert found.numbers["group"] == "B"
    assert found.numbers["shares"][0] == pytest.approx(0.6, abs=0.18) or found.numbers["output"] == "fail"
    assert "in B" in found.message
    assert "study='model'" in found.advice
    assert "--study model" in found.advice.words("estimate")


def test_labels_of_no_group_are_not_compared():
    """They may differ although the groups are alike, and no study could be made of them."""
    own = {"A": [[60, 20, 0], [10, 70, 0]]}
    groups = Groups([[80, 80, 0], [20, 140, 0]], ITEMS, label_groups=own)
    assert labels_differ(groups, Prior()) is None
    assert labels_differ(Groups(groups.labeled[0], ITEMS), Prior()) is None


def test_labels_of_rows_that_are_known_do_not_count():
    rng = np.random.default_rng(0)
    rows = {"A": ROWS, "B": ROWS[::-1], "C": ROWS}
    groups = groups_with_labels(rng, rows, dict.fromkeys("ABC", 60))
    assert labels_differ(groups, Prior()) is not None
    assert labels_differ(groups, Prior.known_confusion(ROWS)) is None


def test_rounding_of_large_counts_is_no_difference() -> None:
    """A class with labels in one group only cannot differ between groups, however many they are."""
    tables = np.array([[[1000137, 100011, 7], [0, 0, 0]], [[0, 0, 0], [3000, 900053, 11]]])
    test = homogeneity_test(tables)
    assert test.p_value == 1
    np.testing.assert_array_equal(test.by_class, [1, 1])
    near = np.array([[[300_000, 200_000]], [[3, 2]]])
    assert homogeneity_test(near).p_value == 1


@pytest.mark.parametrize("classes", [4, 12, 30])
def test_a_class_that_is_treated_differently_is_found_among_any_number(classes: int) -> None:
    rng, rows = np.random.default_rng(0), 0.7 * np.eye(classes) + 0.3 / classes
    tables = np.array([[rng.multinomial(60, row) for row in rows] for _ in range(4)], dtype=float)
    tables[0, 0] = 60 * np.eye(classes)[1]
    assert homogeneity_test(tables, replicates=199).p_value == 1 / 200


def test_ties_of_many_classes_raise_no_more_false_alarms_than_promised() -> None:
    rng, rows, number = np.random.default_rng(1), np.full((12, 3), 1 / 3), 200
    tables = [np.array([[rng.multinomial(20, row) for row in rows] for _ in range(3)], float) for _ in range(number)]
    alarms = sum(homogeneity_test(each, replicates=49, seed=at).p_value <= 0.1 for at, each in enumerate(tables))
    assert alarms <= binom.ppf(1 - 1e-4, number, 0.1)
