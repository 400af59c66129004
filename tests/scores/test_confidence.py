import numpy as np
import pytest

from truecount import Counts, Prior, Scores, infer
from truecount.errors import InputError
from truecount.scores import Confidence, read_cells
from truecount.scores.partition import by_confidence


def made_scores(rng: np.random.Generator, *, labeled: int = 300, unlabeled: int = 400, share: float = 0.8) -> Scores:
    def drawn(labels: np.ndarray) -> np.ndarray:
        second = 1 / (1 + np.exp(-rng.normal(3.0 * labels - 1.5, 1.5)))
        return np.column_stack([1 - second, second])

    labels = rng.integers(0, 2, labeled)
    return Scores(drawn(labels), labels, drawn((rng.random(unlabeled) < share).astype(int)))


def test_every_item_is_in_a_cell_of_its_most_probable_class(seed):
    rng = np.random.default_rng(seed)
    points = rng.dirichlet(np.ones(4), 500)
    cells = Confidence(3).fit(points)
    names, best = cells.names(["a", "b", "c", "d"]), points.argmax(axis=1)
    assert cells.size == len(names) == len(set(names)) == 12
    assert all(
        names[cell].startswith("abcd"[column] + ": ") for cell, column in zip(cells.assign(points), best, strict=True)
    )
    assert np.ptp(np.bincount(cells.assign(points))[:3]) <= 2


def test_a_class_never_predicted_and_equal_scores_have_one_cell():
    cells = Confidence(3).fit([[0.9, 0.1, 0.0]] * 20 + [[0.2, 0.8, 0.0]] * 10)
    assert cells.edges == ((), (), ())
    assert cells.names(("a", "b", "c")) == ("a", "b", "c")


def test_cells_survive_json():
    cells = Confidence(2).fit(np.random.default_rng(0).dirichlet(np.ones(3), 50))
    assert read_cells(cells.to_dict()) == cells


def test_no_cells_are_refused():
    with pytest.raises(InputError, match="k is 0"):
        Confidence(0)


def test_more_labels_allow_more_cells():
    assert [by_confidence(labels, 2).k for labels in (15, 40, 2000)] == [1, 2, 5]
    assert [by_confidence(labels, 5).k for labels in (6, 40, 800)] == [1, 2, 3]


@pytest.mark.slow
def test_infer_counts_scores_by_confidence_where_a_prior_of_rows_is_given(seed):
    scores, prior = made_scores(np.random.default_rng(seed)), Prior(confusion="flat")
    posterior = infer(scores, prior=prior, seed=seed)
    partition = by_confidence(300, 2)
    counts = scores.to_counts(partition.fit(np.concatenate([scores.labeled, scores.unlabeled])))
    assert isinstance(posterior.counts, Counts)
    assert (posterior.counts.labeled == counts.labeled).all()
    assert (posterior.prevalence == infer(counts, prior=prior, seed=seed).prevalence).all()
    assert abs(posterior.mean[1] - 0.8) < 5 * posterior.sd[1]
    assert posterior.sd[1] < infer(scores.to_counts(), seed=seed).sd[1]
    assert posterior.interval(target="realized").shape == (2, 2)


def test_a_class_without_labels_is_found():
    rng = np.random.default_rng(0)
    scores = Scores(rng.dirichlet(np.ones(3), 60), rng.integers(0, 2, 60), rng.dirichlet(np.ones(3), 90))
    assert "unlabeled-class" in {finding.code for finding in infer(scores, prior=Prior(confusion="learned")).findings}


def test_the_class_with_the_fewest_labels_decides_on_the_cells(seed):
    """Six labels of one class do not allow more cells because the other has two thousand."""
    rng = np.random.default_rng(seed)
    first = 1 / (1 + np.exp(rng.normal(size=2006)))
    points = np.column_stack([first, 1 - first])
    labels = np.arange(2006) >= 6
    assert (
        len(infer(Scores(points, labels.astype(int), points[:50]), prior=Prior(confusion="flat")).counts.outputs) == 2
    )
