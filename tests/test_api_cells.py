"""Choosing a partition by what is expected of it."""

import numpy as np
import pytest

from truecount import Auto, Prior, Scores, choose_partition, infer_many
from truecount.errors import InputError
from truecount.scores import Argmax, Bins, Clusters, Thresholds, Tree


def gaussian_scores(rng: np.random.Generator, labels: np.ndarray, distance: float = 1.5) -> np.ndarray:
    """P(second class | x) for x normal around 0 or `distance`."""
    places = distance * labels + rng.standard_normal(len(labels))
    return 1 / (1 + np.exp(-distance * (places - distance / 2)))


@pytest.fixture
def given() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 4000)
    return gaussian_scores(rng, labels), labels


@pytest.mark.slow
def test_more_labels_are_worth_more_cells(given) -> None:
    candidates = [Bins(2), Bins(4), Bins(8), Bins(16), Bins(32)]
    few, many = (choose_partition(*given, candidates=candidates, labeled=number) for number in (60, 6000))
    assert few.partition.k < many.partition.k


def test_the_table_shows_what_cells_keep_and_what_labels_they_need(given) -> None:
    choice = choose_partition(*given, candidates=[Argmax(), Bins(8), Bins(64)], labeled=120)
    argmax, some, most = (candidate.widths.mean(axis=1) for candidate in choice.candidates)
    assert choice.labels == (30, 120, 480)
    assert (np.diff([argmax, some, most], axis=1) < 0).all()
    assert some[2] < 0.9 * argmax[2]
    assert most[1] / some[1] > most[2] / some[2]
    assert "120 labels" in str(choice)
    assert "Bins(k=8" in str(choice)


@pytest.mark.parametrize("partition", [Argmax(), Bins(5)])
def test_expected_widths_are_those_that_posteriors_have(partition, given) -> None:
    """Both are means over prevalences drawn at random."""
    expected = choose_partition(*given, candidates=[partition], labeled=600, unlabeled=500)
    rng, cells, problems = np.random.default_rng(1), expected.cells, []
    for _ in range(40):
        labels, new = rng.permutation(np.repeat([0, 1], 300)), (rng.random(500) < rng.random()).astype(int)
        scores = [np.column_stack([1 - s, s]) for s in (gaussian_scores(rng, labels), gaussian_scores(rng, new))]
        problems.append(Scores(scores[0], labels, scores[1]).to_counts(cells))
    found = [np.diff(each.interval()).mean() for each in infer_many(problems, engine=Auto(400), progress=False)]
    error = np.std(found) / np.sqrt(40)
    assert np.mean(found) == pytest.approx(expected.candidates[0].widths[1].mean(), abs=5 * np.sqrt(2) * error)


def test_scores_without_meaning_are_expected_to_leave_the_prior() -> None:
    """A tree sees patterns in labels drawn at random; the half that it has not seen tells."""
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(2)
    choice = choose_partition(rng.random(2000), rng.integers(0, 2, 2000), candidates=[Tree(30)], labeled=10_000)
    np.testing.assert_array_less(0.8, choice.candidates[0].widths)


def test_the_cells_are_the_chosen_partition_on_all_items(given) -> None:
    choice = choose_partition(*given, candidates=[Bins(3), Bins(6)])
    assert choice.cells == choice.partition.fit(given[0])
    assert choice.cells.size == choice.candidates[choice.chosen].size


def test_same_seed_same_choice_and_settings_matter(given) -> None:
    def widths(**options) -> list:
        choice = choose_partition(*given, candidates=[Bins(4)], **options)
        return choice.candidates[0].widths.tolist()

    assert widths() == widths()
    others = [{"seed": 1}, {"labeled": 500}, {"unlabeled": 100}, {"level": 0.5}, {"prior": Prior(confusion=3.0)}]
    assert all(widths(**other) != widths() for other in others)


def test_three_classes_by_name() -> None:
    rng = np.random.default_rng(3)
    names = np.array(["a", "b", "c"])
    labels = rng.integers(0, 3, 900)
    scores = np.array([rng.dirichlet(1 + 4 * np.eye(3)[label]) for label in labels])
    prior = Prior({"a": 2, "b": 1, "c": 1})
    options = {"classes": names, "prior": prior, "labeled": 900}
    choice = choose_partition(scores, names[labels], candidates=[Argmax(), Clusters(9)], **options)
    uniform = choose_partition(scores, names[labels], candidates=[Argmax()], classes=names, labeled=900)
    assert choice.candidates[0].widths.shape == (3, 3)
    assert choice.candidates[0].widths[1, 0] > uniform.candidates[0].widths[1, 0]


def test_without_candidates_several_kinds_are_tried(given) -> None:
    two = choose_partition(given[0], given[1])
    kinds = {type(candidate.partition).__name__ for candidate in two.candidates}
    assert {"Argmax", "Bins"} <= kinds
    assert two.candidates[two.chosen].size > 2


BAD = {
    "no candidates": ({"candidates": []}, "there must be some"),
    "no labels": ({"labeled": 0}, "labeled"),
    "no new items": ({"unlabeled": 0}, "unlabeled"),
    "a level of one": ({"level": 1.0}, "level"),
    "a seed below zero": ({"seed": -1}, "seed"),
    "names for three": ({"classes": ["a", "b", "c"]}, "classes"),
}


@pytest.mark.parametrize(("options", "told"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_refused(options: dict, told: str, given) -> None:
    with pytest.raises(InputError, match=told):
        choose_partition(*given, **{"candidates": [Thresholds([0.5])], **options})
