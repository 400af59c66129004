"""Clusters of rated items: what they are worth, and draws given parts of items."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import truecount as tc
from truecount.counts import Combinations
from truecount.counts.weights import design_effect, effective_counts, group_design_effects
from truecount.inference import raters
from truecount.inference.raters import sample_rated
from truecount.models.rated_clusters import class_parts, effective_ratings

RIGHT = np.array([[0.9, 0.1], [0.2, 0.8]])
NAMES = {"classes": [0, 1], "outputs": [0, 1]}


def rated(copies, *, is_clustered, seed=0, number=120):
    """Count items of which each occurs so many times, with two raters."""
    rng = np.random.default_rng(seed)
    truth, new = (rng.random(number) < 0.4).astype(int), (rng.random(3 * number) < 0.3).astype(int)
    columns = [np.where(rng.random(number) < 0.15, 1 - truth, truth).repeat(copies) for _ in range(3)]
    later = np.where(rng.random(len(new)) < 0.15, 1 - new, new).repeat(copies)
    clusters = {"cluster": np.arange(number).repeat(copies), "new_cluster": number + np.arange(len(new)).repeat(copies)}
    labels = {"ann": columns[0], "bob": columns[1]}
    return tc.count(labels, columns[2], later, **(clusters if is_clustered else {}), **NAMES)


def density_of(ratings, **options):
    return effective_ratings(tc.ErringLabels(**options).rated_density(ratings), ratings)[0]


def shorten(monkeypatch):
    """Let chains be as short as shows whether they are there."""
    monkeypatch.setattr(raters, "WARMUP", 200)
    monkeypatch.setattr(raters, "FIRST", 300)


def test_without_clusters_nothing_changes():
    ratings = rated(1, is_clustered=False)
    density = tc.ErringLabels().rated_density(ratings)
    found, clusters = effective_ratings(density, ratings)
    assert found is density
    assert clusters is None
    np.testing.assert_array_equal(density.whole_items, ratings.counts.labeled)


def test_labels_that_never_err_have_the_design_effect_of_counts():
    rng = np.random.default_rng(1)
    truth = (rng.random(60) < 0.4).astype(int).repeat(3)
    output, new = np.where(rng.random(180) < 0.2, 1 - truth, truth), (rng.random(90) < 0.3).astype(int).repeat(2)
    clusters = {"cluster": np.arange(60).repeat(3), "new_cluster": 100 + np.arange(90).repeat(2)}
    counts = tc.count(truth, output, new, **clusters, **NAMES)
    ratings = tc.count({"ann": truth, "bob": truth}, output, new, **clusters, **NAMES)
    labeled, unlabeled = effective_counts(counts)
    found = density_of(ratings, known=0.0)
    np.testing.assert_allclose(found.labeled, labeled)
    np.testing.assert_allclose(found.unlabeled[0], unlabeled)
    assert labeled.sum() < 0.8 * counts.labeled.sum()


def judged(n_classes, seed, *, error=0.15, judge=0.02, number=40, n_raters=2, **options):
    """Count items by what raters and a judge say of them, three to a cluster, and by truth; classes are alike."""
    rng = np.random.default_rng(seed)

    def said(truth, error):
        return np.where(
            rng.random(len(truth)) < error, (truth + rng.integers(1, n_classes, len(truth))) % n_classes, truth
        )

    truth, new = ((np.arange(size) % n_classes).repeat(3) for size in (number, 3 * number))
    labels = {f"rater {place}": said(truth, error) for place in range(n_raters)}
    clusters = {"cluster": np.arange(len(truth)) // 3, "new_cluster": number + np.arange(len(new)) // 3}
    names = {name: list(range(n_classes)) for name in ("classes", "outputs")}
    outputs = said(truth, judge), said(new, judge)
    return (tc.count(each, *outputs, **clusters, **names, **options) for each in (labels, truth))


def test_a_judge_who_hardly_errs_leaves_cells_of_less_than_an_item(seed):
    ratings, counts = judged(5, seed)
    found, clusters = effective_ratings(tc.ErringLabels().rated_density(ratings), ratings)
    table = clusters.labeled.sum(axis=0)
    assert ((table > 0) & (table < 1)).any()
    effect = design_effect(counts)
    expected = pytest.approx(effect.divisor, rel=5 * np.sqrt(2 / effect.freedom))
    assert counts.labeled.sum() / found.labeled.sum() == expected
    assert counts.unlabeled.sum() / found.unlabeled.sum() == expected


def test_so_it_does_in_groups(seed):
    ratings, groups = judged(5, seed, by=np.tile(["A", "B", "C"], 40).repeat(3))
    found, clusters = effective_ratings(tc.ErringLabels().rated_density(ratings), ratings)
    table = clusters.labeled.sum(axis=0)
    assert ((table > 0) & (table < 1)).any()
    _, effects = group_design_effects(groups)
    assert 0 < found.labeled.sum() <= groups.labeled.sum()
    for own, each in zip(groups.unlabeled.sum(axis=1) / found.unlabeled.sum(axis=1), effects, strict=True):
        assert own == pytest.approx(each.divisor, rel=5 * np.sqrt(2 / each.freedom))


@pytest.mark.slow
@pytest.mark.parametrize("by", [None, np.tile(["A", "B", "C"], 40).repeat(3)], ids=["counts", "groups"])
def test_a_judge_who_hardly_errs_is_answered(by, seed, monkeypatch):
    shorten(monkeypatch)
    ratings, _ = judged(5, seed, **({} if by is None else {"by": by}))
    found = tc.infer(ratings, engine=tc.Auto(100))
    assert [each for each in found.findings if each.code == "clustered"]


def test_parts_of_items_in_many_cells_let_chains_move(monkeypatch):
    """Accepted all at once, 2 % of the draws were; with 200 cells each block is, more often than one time in five."""
    shorten(monkeypatch)
    monkeypatch.setattr(raters, "MOST_SWEEPS", raters.FIRST)
    ratings, _ = judged(5, 0, error=0.25, judge=0.25, number=120, n_raters=4)
    density = density_of(ratings)
    assert np.count_nonzero(density.labeled) > 200
    drawn = sample_rated(density, effective_draws=1, seed=0)
    assert drawn.stride == 1
    for values in (drawn.labeled_prevalence[:, None], drawn.raters.reshape(len(drawn.raters), -1, 5), drawn.confusion):
        by_chain = values.reshape(raters.CHAINS, -1, *values.shape[1:])
        moved = (np.diff(by_chain, axis=1) != 0).any(axis=3).mean(axis=(0, 1))
        assert moved.min() > 0.2
    enough = raters.convergence.FEWEST_EFFECTIVE
    assert raters.convergence.effective_draws(drawn.labeled_prevalence, raters.CHAINS).min() > enough


def test_whole_items_add_up():
    density = replace(density_of(rated(1, is_clustered=False)), labeled=np.full((4, 2), 0.4))
    assert abs(density.whole_items.sum(axis=0) - 1.6).max() <= 1
    assert density.whole_items.sum() == 3


def test_parts_are_the_classes_where_raters_never_err():
    ratings = tc.Ratings(
        tc.Counts([[8, 3], [2, 9]], [30, 20], ["no", "yes"], ["no", "yes"]),
        Combinations(["ann"], [["no"], ["yes"]]),
    )
    parts = class_parts(tc.ErringLabels(known=0.0).rated_density(ratings))
    np.testing.assert_allclose(parts, np.stack([[[1, 1], [0, 0]], [[0, 0], [1, 1]]]), atol=1e-12)


@pytest.mark.slow
def test_draws_given_parts_of_items_are_exact():
    one = tc.Ratings(
        tc.Counts([[2, 1], [1, 2]], [4, 2], ["0", "1"], [0, 1]), Combinations(["ann"], [["0"], ["1"]]), ["0", "1"]
    )
    density = tc.ErringLabels(known=RIGHT.tolist()).rated_density(one)
    density = replace(density, labeled=np.array([[1.5, 0.5], [0.5, 1.4]]), unlabeled=np.array([[3.5, 1.5]]))
    drawn = sample_rated(density, effective_draws=8000, seed=0)
    points = (np.arange(48) + 0.5) / 48
    tau, pi, first, second = np.meshgrid(points, points, points, points, indexing="ij", sparse=True)
    heights = 0.0
    for label, output in product(range(2), range(2)):
        right, wrong = (first, second) if output == 0 else (1 - first, 1 - second)
        heights = heights + density.labeled[label, output] * np.log(
            tau * RIGHT[0, label] * right + (1 - tau) * RIGHT[1, label] * wrong
        )
        if label:
            heights = heights + density.unlabeled[0, output] * np.log(pi * right + (1 - pi) * wrong)
    weights = np.exp(heights - heights.max())
    weights /= weights.sum()
    kept = drawn.prevalence[:: drawn.stride, 0, 0], drawn.confusion[:, 0, 0], drawn.confusion[:, 1, 0]
    kept = *kept, drawn.labeled_prevalence[:, 0]
    for values, truth in zip(kept, (pi, first, second, tau), strict=True):
        mean = (weights * truth).sum()
        sd = np.sqrt((weights * (truth - mean) ** 2).sum())
        size = raters.convergence.effective_draws(values[:, None], raters.CHAINS)[0]
        assert values.mean() == pytest.approx(mean, abs=5 * sd / np.sqrt(size))
        assert values.std() == pytest.approx(sd, abs=5 * sd / np.sqrt(size))


def test_draws_of_a_rater_given_parts_of_items_are_exact():
    """Against sums over a grid of shares behind labels, rows of the classifier, and rows of a rater."""
    one = tc.Ratings(
        tc.Counts([[2, 1], [1, 2]], [0, 0], ["0", "1"], [0, 1]), Combinations(["ann"], [["0"], ["1"]]), ["0", "1"]
    )
    density = tc.ErringLabels(validation=[[3, 1], [1, 2]]).rated_density(one)
    density = replace(density, labeled=np.array([[2.4, 0.6], [0.4, 2.4]]))
    drawn = sample_rated(density, effective_draws=4000, seed=0)
    points = (np.arange(20) + 0.5) / 20
    tau, first, second, right, wrong = np.meshgrid(*[points] * 5, indexing="ij", sparse=True)
    heights = 0.0
    for row, share in enumerate((right, wrong)):
        prior = density.raters[0, row] - 1
        heights = heights + prior[0] * np.log(share) + prior[1] * np.log(1 - share)
    for label, output in product(range(2), range(2)):
        of_output = (first, second) if output == 0 else (1 - first, 1 - second)
        of_label = (right, wrong) if label == 0 else (1 - right, 1 - wrong)
        likelihood = tau * of_label[0] * of_output[0] + (1 - tau) * of_label[1] * of_output[1]
        heights = heights + density.labeled[label, output] * np.log(likelihood)
    weights = np.exp(heights - heights.max())
    weights /= weights.sum()
    rows = *drawn.confusion[:, :, 0].T, *drawn.raters[:, 0, :, 0].T
    for values, truth in zip((drawn.labeled_prevalence[:, 0], *rows), (tau, first, second, right, wrong), strict=True):
        mean = (weights * truth).sum()
        sd = np.sqrt((weights * (truth - mean) ** 2).sum())
        size = raters.convergence.effective_draws(values[:, None], raters.CHAINS)[0]
        assert values.mean() == pytest.approx(mean, abs=5 * sd / np.sqrt(size))
        assert values.std() == pytest.approx(sd, abs=5 * sd / np.sqrt(size))


@pytest.mark.slow
def test_copies_in_clusters_answer_as_the_items_do(monkeypatch):
    shorten(monkeypatch)
    widths = {}
    for name, copies, is_clustered in (("items", 1, False), ("copies", 4, False), ("clusters", 4, True)):
        found = tc.infer(rated(copies, is_clustered=is_clustered), engine=tc.Auto(200))
        widths[name] = found.sd[0]
    (told,) = [each for each in found.findings if each.code == "clustered"]
    error = np.sqrt(2 / told.numbers["degrees_of_freedom"])
    assert told.numbers["clusters"] == 480
    assert told.numbers["design_effect"] == pytest.approx(4, rel=5 * error)
    assert widths["clusters"] == pytest.approx(widths["items"], rel=5 * error / 2)
    assert widths["copies"] < (1 - 5 * error / 2) * widths["items"]


@pytest.mark.slow
def test_groups_have_design_effects_of_their_own(monkeypatch):
    shorten(monkeypatch)
    rng = np.random.default_rng(3)
    truth, new = (rng.random(120) < 0.4).astype(int), (rng.random(300) < 0.3).astype(int)
    said = [np.where(rng.random(120) < 0.15, 1 - truth, truth).repeat(3) for _ in range(3)]
    later, by = np.where(rng.random(300) < 0.15, 1 - new, new).repeat(3), np.tile(["A", "B", "C"], 100).repeat(3)
    ratings = tc.count(
        {"ann": said[0], "bob": said[1]},
        said[2],
        later,
        by=by,
        cluster=np.arange(120).repeat(3),
        new_cluster=200 + np.arange(300).repeat(3),
        **NAMES,
    )
    density = density_of(ratings)
    error = np.sqrt(2 / (100 - 1))
    np.testing.assert_allclose(300 / density.unlabeled.sum(axis=1), 3, rtol=5 * error)
    found = tc.infer(ratings, engine=tc.Auto(100))
    assert [each for each in found.findings if each.code == "clustered"]
