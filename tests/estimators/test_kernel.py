"""Kernel mean matching against sums over pairs written out, in its limits, and within its bounds."""

import tracemalloc

import numpy as np
import pytest

from truecount import Counts
from truecount.errors import InputError
from truecount.estimators import kernel
from truecount.estimators.kernel import KMM, kmm
from truecount.scores.scores import Scores


def problem(seed, classes=3, labeled=300, unlabeled=240):
    rng = np.random.default_rng(seed)
    labels = np.arange(labeled) % classes
    sharp = 1 + 4 * np.eye(classes)
    hidden = rng.choice(classes, unlabeled, p=np.arange(1, classes + 1) / (classes * (classes + 1) / 2))
    draw = rng.dirichlet
    return np.array([draw(sharp[k]) for k in labels]), labels, np.array([draw(sharp[k]) for k in hidden])


def test_against_sums_written_out():
    """Two classes, no edge: the mixture is where the derivative of the squared distance is zero."""
    labeled, labels, unlabeled = problem(0, classes=2, labeled=12, unlabeled=10)
    width = 0.4

    def mean(first, second):
        return np.mean([np.exp(-np.sum((a - b) ** 2) / (2 * width**2)) for a in first for b in second])

    zero, one = labeled[labels == 0], labeled[labels == 1]
    apart = mean(one, one) - 2 * mean(one, zero) + mean(zero, zero)
    share = (mean(one, unlabeled) - mean(zero, unlabeled) - mean(one, zero) + mean(zero, zero)) / apart
    assert 0 < share < 1
    np.testing.assert_allclose(kmm(labeled, labels, unlabeled, width=width), [1 - share, share], atol=1e-9)


def test_an_exact_mixture_is_found(seed):
    """Where the best point touches the edge and nothing pushes it there, the barrier of 1e-12 keeps it 1e-6 off."""
    labeled, labels, _ = problem(seed)
    unlabeled = np.concatenate([labeled[labels == 0], labeled[labels == 2], labeled[labels == 2]])
    np.testing.assert_allclose(kmm(labeled, labels, unlabeled), [1 / 3, 0, 2 / 3], atol=5e-6)


def test_permuted_classes_permute_the_answer(seed):
    labeled, labels, unlabeled = problem(seed)
    order = np.array([2, 0, 1])
    permuted = kmm(labeled[:, order], np.argsort(order)[labels], unlabeled[:, order])
    np.testing.assert_allclose(permuted, kmm(labeled, labels, unlabeled)[order], atol=1e-7)


def test_blocks_add_up(monkeypatch):
    whole = kmm(*problem(1))
    monkeypatch.setattr(kernel, "_CELLS", 1000)
    np.testing.assert_allclose(kmm(*problem(1)), whole, atol=1e-9)


def test_memory_does_not_grow_with_the_square():
    """All pairs at once would take 4000² · 8 bytes = 128 MB; blocks take 32 MB, for the distances and their kernel."""
    labeled, labels, unlabeled = problem(1, labeled=4000, unlabeled=4000)
    tracemalloc.start()
    kmm(labeled, labels, unlabeled, width=0.5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 8 * kernel._CELLS


def test_the_default_width_is_the_median_distance():
    labeled, labels, unlabeled = problem(2)
    distances = np.linalg.norm(labeled[:, None] - unlabeled, axis=2)
    told = kmm(labeled, labels, unlabeled, width=np.median(distances))
    np.testing.assert_allclose(kmm(labeled, labels, unlabeled), told, atol=1e-9)
    assert np.abs(kmm(labeled, labels, unlabeled, width=0.05) - told).max() > 1e-4


def test_a_sample_of_rows_stands_for_all():
    data = Scores(*problem(3, labeled=3000, unlabeled=3000))
    all_rows = KMM(rows=10_000).prevalence(data)
    np.testing.assert_array_equal(all_rows, KMM(rows=9000, seed=5).prevalence(data))
    few, again, other = (KMM(rows=600, seed=seed).prevalence(data) for seed in (1, 1, 2))
    np.testing.assert_array_equal(few, again)
    assert np.abs(few - other).max() > 1e-6
    assert np.abs(few - all_rows).max() < 5 * 2 / np.sqrt(600)


def test_rare_classes_stay_in_the_sample():
    labeled, labels, unlabeled = problem(4, labeled=3000)
    rare = np.concatenate([np.flatnonzero(labels != 2), np.flatnonzero(labels == 2)[:3]])
    found = KMM(rows=30).prevalence(Scores(labeled[rare], labels[rare], unlabeled))
    assert np.isfinite(found).all()
    assert found.sum() == pytest.approx(1)


def test_it_finds_the_prevalence(seed):
    """Five standard errors of counting, and a factor of two for what overlap costs."""
    data = Scores(*problem(seed, labeled=3000, unlabeled=2000))
    truth = np.array([1, 2, 3]) / 6
    assert (np.abs(KMM(rows=3000).prevalence(data) - truth) < 5 * 2 * np.sqrt(0.25 / 2000 + 0.25 / 1000)).all()


def test_what_it_refuses():
    with pytest.raises(InputError, match="data are counts: kmm needs the scores"):
        KMM().prevalence(Counts([[1, 2], [3, 4]], [5, 6]))
    with pytest.raises(InputError, match="no item of class 1"):
        KMM().prevalence(Scores([[0.9, 0.1]], [0], [[0.5, 0.5]]))
    with pytest.raises(InputError, match="the same for every item"):
        KMM().prevalence(Scores([[0.5, 0.5], [0.5, 0.5]], [0, 1], [[0.5, 0.5]]))


@pytest.mark.parametrize(("settings", "message"), [({"rows": 1}, "rows is 1"), ({"width": 0.0}, "width is 0.0")])
def test_bad_settings(settings, message):
    with pytest.raises(InputError, match=message):
        KMM(**settings)


def test_the_cost_is_said():
    assert "quadratic" in KMM().caution
    assert "quadratic" in kmm.__doc__
