"""The test of label shift: its p-value, its words, and what it cannot say."""

import numpy as np
import pytest
from scipy.stats import chi2

from truecount import Counts, Prior, simulate
from truecount._chi_square import chi_square_quantile
from truecount.diagnostics.shift import label_shift_test, shift_findings, tables_of, without_rare
from truecount.models import density


def run(counts, prior=None, **options):
    return label_shift_test(counts, density(counts, prior or Prior()), **options)


def said(counts, **options):
    model = density(counts, Prior())
    test = label_shift_test(counts, model, **options)
    return shift_findings(test, tables_of(model, counts.labeled.astype(float)))


def test_square_counts_inside_the_hull_cannot_be_tested():
    [finding] = said(Counts([[140, 60], [20, 180]], [600, 400]))
    assert (finding.code, finding.severity) == ("label-shift-untestable", "info")
    test = run(Counts([[140, 60], [20, 180]], [600, 400]))
    assert test.p_value == 1
    assert test.deviance < 1e-3
    assert not test.is_testable


def test_more_outputs_than_classes_that_fit_are_silent():
    counts = simulate.counts([0.5, 0.5], [[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]], labeled=300, unlabeled=500, seed=1)
    assert run(counts).is_testable
    assert said(counts) == ()


def test_a_drift_is_found_and_its_output_named():
    counts = Counts([[60, 30, 10], [10, 30, 60]], [250, 500, 250], outputs=["no", "unsure", "yes"])
    [finding] = said(counts)
    assert (finding.code, finding.severity) == ("label-shift-violated", "serious")
    assert finding.numbers["output"] == "unsure"
    assert finding.numbers["p_value"] == 1 / 1000
    assert "(p = 0.001)" in finding.message


def test_a_class_without_labels_explains_anything():
    assert not run(Counts([[60, 30, 10], [0, 0, 0]], [25, 50, 25])).is_testable


def test_p_values_of_large_samples_inside_are_those_of_chi_square():
    """One degree of freedom: three outputs, two classes, far from every edge."""
    counts = Counts([[6000, 3000, 1000], [1000, 3000, 6000]], [3550, 2920, 3530])
    test = run(counts, replicates=1999)
    expected = chi2.sf(test.deviance, 1)
    assert test.p_value == pytest.approx(expected, abs=5 * np.sqrt(expected * (1 - expected) / 1999))


def test_the_seed_decides_the_p_value():
    counts = Counts([[60, 30, 10], [10, 30, 60]], [36, 38, 26])
    one, same, other = (run(counts, seed=seed, replicates=99).p_value for seed in (1, 1, 2))
    assert one == same
    assert 0 < one < 1
    assert abs(one - other) < 0.3


def test_known_rows_are_not_simulated():
    known = Prior.known_confusion([[0.9, 0.1], [0.2, 0.8]])
    assert run(Counts([[0, 0], [0, 0]], [95, 5]), known).p_value < 0.2
    assert run(Counts([[0, 0], [0, 0]], [9_500, 500]), known).p_value == 1 / 1000


def test_weights_make_a_deviance_less_surprising():
    labeled, unlabeled = np.array([[60.0, 30, 10], [10, 30, 60]]), np.array([34.0, 44, 22])
    heavy = Counts(4 * labeled, 4 * unlabeled, labeled_squares=16 * labeled, unlabeled_squares=16 * unlabeled)
    plain, four = Counts(labeled.astype(int), unlabeled.astype(int)), Counts(4 * labeled, 4 * unlabeled)
    assert run(heavy).p_value == pytest.approx(run(plain).p_value, abs=0.05)
    assert run(four).p_value < run(heavy).p_value / 2


def test_rare_outputs_are_merged_where_labels_are_few():
    counts = Counts(np.eye(2, 40, dtype=int) * 9 + 0, np.ones(40, int))
    merged = without_rare(tables_of(density(counts, Prior()), counts.labeled.astype(float)))
    assert merged.labeled.shape == (1, 2, 9)
    assert merged.labeled.sum() == 18
    assert merged.unlabeled.sum() == 40
    many = Counts(np.full((2, 40), 9), np.ones(40, int))
    assert without_rare(tables_of(density(many, Prior()), many.labeled.astype(float))).labeled.shape == (1, 2, 40)


@pytest.mark.parametrize("freedom", [1, 4, 29])
def test_quantiles_of_chi_square(freedom):
    assert chi_square_quantile(freedom, 0.9999) == pytest.approx(chi2.ppf(0.9999, freedom), rel=0.08)
