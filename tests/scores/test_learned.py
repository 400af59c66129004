"""Partitions that are shaped by scores."""

import json
import pickle

import numpy as np
import pytest

from truecount.errors import InputError, MissingExtraError
from truecount.scores import Clusters, Tree, read_cells
from truecount.scores.cells import LineCells, log_ratios


def three_groups(seed: int, items: int = 100) -> tuple[np.ndarray, np.ndarray]:
    """Scores of three classes, each class in a group of its own that no other touches."""
    rng = np.random.default_rng(seed)
    scores = np.vstack([rng.dirichlet(40 * (np.eye(3)[label] + 0.1), items) for label in range(3)])
    return scores, np.repeat([0, 1, 2], items)


def made(partition, scores: np.ndarray, labels: np.ndarray):
    if partition.needs_labels:
        pytest.importorskip("sklearn")
    return partition.fit(scores, labels)


@pytest.mark.parametrize("partition", [Clusters(3), Tree(3)])
def test_groups_far_apart_become_cells_of_their_own(partition, seed: int) -> None:
    scores, labels = three_groups(seed)
    assigned = made(partition, scores, labels).assign(scores)
    table = np.zeros((3, 3), int)
    np.add.at(table, (labels, assigned), 1)
    assert sorted(table.max(axis=1)) == [100, 100, 100]
    assert sorted(table.argmax(axis=1)) == [0, 1, 2]


@pytest.mark.parametrize("partition", [Clusters(7), Tree(7)])
def test_every_point_of_the_simplex_falls_into_one_cell(partition, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet([0.5, 0.5, 0.5, 0.5], 400)
    cells = made(partition, scores, rng.integers(0, 4, 400))
    everywhere = np.vstack([rng.dirichlet([0.1] * 4, 1000), np.eye(4)])
    assigned = cells.assign(everywhere)
    assert assigned.shape == (1004,)
    assert set(assigned) <= set(range(cells.size))
    assert len(set(cells.names("abcd"))) == cells.size


@pytest.mark.parametrize("partition", [Clusters(5), Tree(5)])
def test_same_scores_same_cells_and_they_survive_pickle_and_json(partition) -> None:
    scores, labels = three_groups(1)
    cells = made(partition, scores, labels)
    assert partition.fit(scores, labels) == cells
    assert pickle.loads(pickle.dumps(cells)) == cells  # noqa: S301
    assert read_cells(json.loads(json.dumps(cells.to_dict()))) == cells


def test_an_item_belongs_to_the_nearest_center() -> None:
    scores = np.random.default_rng(3).dirichlet([1, 1, 1], 40_000)
    cells = Clusters(6).fit(scores)
    points, centers = log_ratios(scores, cells.smallest), np.array(cells.centers)
    nearest = ((points[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(cells.assign(scores), nearest)


def test_more_restarts_never_loosen_the_clusters() -> None:
    scores = np.random.default_rng(4).dirichlet([0.3, 0.3, 0.3], 500)

    def looseness(restarts: int) -> float:
        cells = Clusters(8, restarts=restarts).fit(scores)
        centers = np.array(cells.centers)[cells.assign(scores)]
        return float(np.linalg.norm(log_ratios(scores, cells.smallest) - centers, axis=1).mean())

    assert looseness(20) <= looseness(1) + 1e-4
    assert Clusters(8, seed=1, restarts=1).fit(scores) != Clusters(8, seed=2, restarts=1).fit(scores)


def test_what_is_below_the_smallest_does_not_count() -> None:
    tiny = [[1 - 1e-9, 1e-9], [1 - 1e-7, 1e-7]]
    coarse, fine = log_ratios(np.array(tiny), 1e-3), log_ratios(np.array(tiny), 1e-12)
    assert np.abs(np.diff(coarse, axis=0)).max() < 1e-3 < np.abs(np.diff(fine, axis=0)).max()


def test_fewer_different_scores_make_fewer_clusters() -> None:
    assert Clusters(5).fit([[0.2, 0.8], [0.6, 0.4]] * 10).size == 2


def test_two_classes_make_a_tree_of_intervals() -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(5)
    labels = rng.integers(0, 2, 600)
    second = np.clip(0.3 + 0.4 * labels + 0.15 * rng.standard_normal(600), 0, 1)
    cells = Tree(4).fit(second, np.where(labels, "yes", "no"))
    assert isinstance(cells, LineCells)
    assert 2 <= cells.size <= 4
    assert np.bincount(cells.assign(second)).min() >= 5


def test_a_tree_goes_where_scikit_learns_goes() -> None:
    sklearn_tree = pytest.importorskip("sklearn.tree")
    rng = np.random.default_rng(6)
    scores = rng.dirichlet([1, 1, 1], 500).round(3)
    scores /= scores.sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(3, p=row) for row in scores])
    options = {"min_samples_leaf": 5, "class_weight": "balanced", "random_state": 0}
    peer = sklearn_tree.DecisionTreeClassifier(max_leaf_nodes=9, **options).fit(scores, labels)
    leaves = np.unique(peer.apply(scores), return_inverse=True)[1]
    np.testing.assert_array_equal(Tree(9).fit(scores, labels).assign(scores), leaves)


def test_classes_weigh_alike_whatever_their_shares() -> None:
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(7)
    first, second = rng.beta(2, 5, 400), rng.beta(5, 2, 400)
    even = Tree(2).fit(np.concatenate([first, second]), np.repeat([0, 1], 400))
    uneven = Tree(2).fit(np.concatenate([first, np.tile(second, 20)]), np.repeat([0, 1], [400, 8000]))
    assert even.edges == pytest.approx(uneven.edges, abs=1e-6)


BAD = {
    "no labels": (lambda: Tree(3).fit([[0.2, 0.8]]), "grown on labels"),
    "labels of other items": (lambda: Tree(3).fit([[0.2, 0.8]], ["a", "b"]), "has 2 rows but scores has 1"),
    "a missing label": (lambda: Tree(3).fit([[0.2, 0.8]], [None]), "missing"),
    "one leaf": (lambda: Tree(1), "2 or more"),
    "one cluster": (lambda: Clusters(1), "2 or more"),
    "no scores": (lambda: Clusters(2).fit(np.empty((0, 3))), "fitted to scores"),
    "a smallest of zero": (lambda: Clusters(2, smallest=0.0), "above 0"),
    "no restart": (lambda: Clusters(2, restarts=0), "1 or more"),
}


@pytest.mark.parametrize(("make", "told"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_refused(make, told: str) -> None:
    with pytest.raises(InputError, match=told):
        make()


def test_without_scikit_learn_a_tree_names_what_to_install(monkeypatch) -> None:
    def absent(module: str) -> None:
        raise ModuleNotFoundError(module, name="sklearn")

    monkeypatch.setattr("truecount._optional.import_module", absent)
    with pytest.raises(MissingExtraError, match=r"pip install 'truecount\[sklearn\]'"):
        Tree(2).fit([[0.2, 0.8], [0.9, 0.1]], ["a", "b"])
