"""Histogram matching against counting by hand, against a search over a grid, and in its limits."""

import numpy as np
import pytest
from scipy.optimize import minimize

from truecount import Counts
from truecount.errors import InputError
from truecount.estimators.matching import HDY_BINS, DyS, HDy, dys, hdy, nearest_mixture
from truecount.scores.scores import Scores

DISTANCES = ["hellinger", "topsoe"]
PREVALENCE = np.array([0.6, 0.3, 0.1])


def hellinger(first, second):
    return 1 - np.sqrt(first * second).sum()


def topsoe(first, second):
    middle = (first + second) / 2
    parts = [np.where(part > 0, part * np.log(np.maximum(part, 1e-300) / middle), 0) for part in (first, second)]
    return np.sum(parts)


def gaussian_scores(rng, labels, classes, noise=1.0):
    """Posterior scores of items that scatter around one corner for each class."""
    corners = 1.5 * np.eye(classes)
    places = corners[labels] + noise * rng.normal(size=(len(labels), classes))
    logits = places @ corners.T
    scores = np.exp(logits - logits.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


def problem(seed, classes=3, prevalence=PREVALENCE, labeled=600, unlabeled=500):
    rng = np.random.default_rng(seed)
    labels = np.arange(labeled) % classes
    hidden = rng.choice(classes, unlabeled, p=prevalence)
    return gaussian_scores(rng, labels, classes), labels, gaussian_scores(rng, hidden, classes)


def exact_mixture(labeled, labels, weights):
    """Repeat the labelled items of class l weights[l] times: the unlabelled histogram is then a mixture of theirs."""
    return np.concatenate([np.repeat(labeled[labels == position], n, axis=0) for position, n in enumerate(weights)])


@pytest.mark.parametrize("distance", DISTANCES)
def test_disjoint_histograms_are_counted(distance):
    """Where every class has bins of its own, nothing is to be inferred: 3, 5 and 2 of 10."""
    labeled = np.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]])
    unlabeled = labeled[[0] * 3 + [1] * 5 + [2] * 2]
    found = dys(labeled, np.arange(3), unlabeled, distance=distance)
    np.testing.assert_allclose(found, [0.3, 0.5, 0.2], atol=1e-9)


def test_two_bins_by_hand():
    """Two bins of a binary score are adjusted counting: (q − a) / (b − a) = (0.55 − 0.2) / (0.9 − 0.2) = 0.5."""
    rows, target = np.array([[0.8, 0.2], [0.1, 0.9]]), np.array([0.45, 0.55])
    for distance in DISTANCES:
        np.testing.assert_allclose(nearest_mixture(rows, target, distance=distance), [0.5, 0.5], atol=1e-8)


@pytest.mark.parametrize("distance", DISTANCES)
def test_outside_the_hull_the_edge_is_nearest(distance):
    found = nearest_mixture(np.array([[0.8, 0.2], [0.1, 0.9]]), np.array([0.95, 0.05]), distance=distance)
    np.testing.assert_allclose(found, [1, 0], atol=1e-9)


@pytest.mark.parametrize(("distance", "value"), [("hellinger", hellinger), ("topsoe", topsoe)])
def test_two_classes_against_a_grid(distance, value, seed):
    labeled, labels, unlabeled = problem(seed, classes=2, prevalence=[0.7, 0.3])
    rows = [np.histogram(labeled[labels == position, 1], 12, (0, 1))[0] for position in range(2)]
    first, second = (row / row.sum() for row in rows)
    target = np.histogram(unlabeled[:, 1], 12, (0, 1))[0] / len(unlabeled)
    grid = np.linspace(0, 1, 2001)
    best = grid[np.argmin([value((1 - share) * first + share * second, target) for share in grid])]
    found = dys(labeled, labels, unlabeled, bins=12, distance=distance)
    assert abs(found[1] - best) <= 0.5 * (grid[1] - grid[0]) + 1e-9


@pytest.mark.parametrize(("distance", "value"), [("hellinger", hellinger), ("topsoe", topsoe)])
def test_three_classes_against_another_optimizer(distance, value, seed):
    rng = np.random.default_rng(seed)
    rows, target = rng.dirichlet(np.ones(20), size=3), rng.dirichlet(np.ones(20))
    constraint = {"type": "eq", "fun": lambda point: point.sum() - 1}
    theirs = minimize(
        lambda point: value(point @ rows, target),
        np.full(3, 1 / 3),
        method="SLSQP",
        bounds=[(0, 1)] * 3,
        constraints=constraint,
        options={"ftol": 1e-14},
    )
    ours = nearest_mixture(rows, target, distance=distance)
    assert value(ours @ rows, target) <= theirs.fun + 1e-11
    np.testing.assert_allclose(ours, theirs.x, atol=1e-4)


@pytest.mark.parametrize("method", [DyS(), DyS(distance="hellinger"), DyS(bins=30), HDy()])
def test_an_exact_mixture_is_found(method, seed):
    labeled, labels, _ = problem(seed)
    found = method.prevalence(Scores(labeled, labels, exact_mixture(labeled, labels, [5, 0, 2])))
    np.testing.assert_allclose(found, [5 / 7, 0, 2 / 7], atol=2e-6)


@pytest.mark.parametrize("method", [DyS(), HDy()])
def test_permuted_classes_permute_the_answer(method, seed):
    labeled, labels, unlabeled = problem(seed)
    order = np.array([2, 0, 1])
    found = method.prevalence(Scores(labeled, labels, unlabeled))
    permuted = method.prevalence(Scores(labeled[:, order], np.argsort(order)[labels], unlabeled[:, order]))
    np.testing.assert_allclose(permuted, found[order], atol=1e-7)


@pytest.mark.parametrize("method", [DyS(), HDy()])
def test_many_classes_at_once(method, seed):
    """Five standard errors of counting, and a factor of two for what overlap costs."""
    classes = 6
    prevalence = np.arange(1, classes + 1) / 21
    labeled, labels, unlabeled = problem(seed, classes, prevalence, labeled=12_000, unlabeled=12_000)
    found = method.prevalence(Scores(labeled, labels, unlabeled))
    assert found.sum() == pytest.approx(1)
    assert (np.abs(found - prevalence) < 5 * 2 * np.sqrt(prevalence * (1 - prevalence) / 12_000 + 1 / 12_000)).all()


def test_histograms_that_are_alike_share():
    rows = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.1, 0.9]])
    target = 0.6 * rows[0] + 0.4 * rows[2]
    for distance in DISTANCES:
        found = nearest_mixture(rows, target, distance=distance)
        np.testing.assert_allclose(found, [0.3, 0.3, 0.4], atol=1e-5)


def test_bins_that_no_class_has_seen_change_nothing():
    rows, target = np.array([[0.8, 0.2], [0.1, 0.9]]), np.array([0.4, 0.6])
    wider = np.column_stack([rows, np.zeros(2)]), np.append(0.9 * target, 0.1)
    found = nearest_mixture(*wider, distance="hellinger")
    np.testing.assert_allclose(found, nearest_mixture(rows, target, distance="hellinger"), atol=1e-8)


def test_hdy_is_the_median_of_eleven(seed):
    labeled, labels, unlabeled = problem(seed, classes=2, prevalence=[0.8, 0.2], unlabeled=100)
    each = [dys(labeled, labels, unlabeled, bins=bins, distance="hellinger")[1] for bins in HDY_BINS]
    assert len(each) == 11
    assert len(set(np.round(each, 9))) > 1
    assert hdy(labeled, labels, unlabeled)[1] == np.median(each)


def test_settings_change_the_answer():
    scores = Scores(*problem(0))
    answers = [method.prevalence(scores) for method in (DyS(), DyS(bins=5), DyS(distance="hellinger"))]
    assert np.abs(np.diff(answers, axis=0)).max(axis=1).min() > 1e-6


def test_scores_on_the_upper_edge_belong_to_the_last_bin():
    labeled = np.array([[1.0, 0.0], [0.0, 1.0]])
    np.testing.assert_allclose(dys(labeled, np.arange(2), labeled[[0, 1, 1, 1]]), [0.25, 0.75], atol=1e-9)


@pytest.mark.parametrize("method", [DyS(), HDy()])
def test_what_it_refuses(method):
    with pytest.raises(InputError, match=f"data are counts: {method.name} needs the scores"):
        method.prevalence(Counts([[1, 2], [3, 4]], [5, 6]))
    with pytest.raises(InputError, match="no item of class 'b'"):
        method.prevalence(Scores([[0.9, 0.1]], ["a"], [[0.5, 0.5]], classes=["a", "b"]))
    with pytest.raises(InputError, match="unlabeled holds no items"):
        method.prevalence(Scores([[0.9, 0.1], [0.2, 0.8]], [0, 1], np.empty((0, 2))))


@pytest.mark.parametrize(
    ("settings", "message"), [({"bins": 1}, "bins is 1"), ({"distance": "l2"}, "distance is 'l2'")]
)
def test_bad_settings(settings, message):
    with pytest.raises(InputError, match=message):
        DyS(**settings)
