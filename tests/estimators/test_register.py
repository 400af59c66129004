"""Every registered method, on the same problems: registering one enrols it here."""

from contextlib import suppress
from dataclasses import is_dataclass

import numpy as np
import pytest

from made_scores import shifted_scores
from truecount import Counts
from truecount.errors import InputError
from truecount.estimators import METHODS, Method
from truecount.scores.scores import Scores

SHARES = {"labeled_prevalence": [0.4, 0.35, 0.25], "prevalence": [0.2, 0.3, 0.5]}
UNRESTRICTED = {"bbse", "bbse-soft"}
WITHOUT_LABELS = {"cc", "pcc", "map"}

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


@pytest.fixture(scope="module")
def scores() -> Scores:
    return shifted_scores(np.random.default_rng(6), **SHARES, items=300, unlabeled_items=400, distance=2)


def test_all_of_the_papers_and_their_neighbours_are_there() -> None:
    counted, corrected = {"cc", "pcc"}, {"acc", "pacc", "invariantratio", "bbse", "rlls"}
    assert counted | corrected | {"em", "map", "cdeiterate", "kmm", "hdy", "dys"} <= set(METHODS)


@every_method
def test_a_method_is_a_frozen_choice_under_its_own_name(method: Method) -> None:
    assert METHODS[method.name] is method
    assert method.name == method.name.lower()
    assert method.needs in {"counts", "scores"}
    assert method.caution == "" or method.caution.endswith(".")
    assert is_dataclass(method)
    assert method.__dataclass_params__.frozen


@every_method
def test_it_gives_a_share_for_each_class(method: Method, scores: Scores) -> None:
    prevalence = method.prevalence(scores)
    assert prevalence.shape == (3,)
    assert prevalence.dtype == np.float64
    np.testing.assert_allclose(prevalence.sum(), 1)
    assert prevalence.min() >= 0 or method.name in UNRESTRICTED


@every_method
def test_the_same_data_give_the_same_answer(method: Method, scores: Scores) -> None:
    np.testing.assert_array_equal(method.prevalence(scores), method.prevalence(scores))


@every_method
def test_other_names_in_another_order_give_the_same_shares_in_that_order(method: Method, scores: Scores) -> None:
    order, names = [2, 0, 1], np.array(["b", "c", "a"])
    shuffled = Scores(
        scores.labeled[:, order], names[np.argsort(order)][scores.labels], scores.unlabeled[:, order], names
    )
    np.testing.assert_allclose(method.prevalence(shuffled), method.prevalence(scores)[order], atol=1e-6)


@every_method
def test_what_it_needs_is_what_it_takes(method: Method, scores: Scores) -> None:
    counts = scores.to_counts()
    if method.needs == "counts":
        np.testing.assert_array_equal(method.prevalence(scores), method.prevalence(counts))
    else:
        with pytest.raises(InputError, match=f"{method.name} needs the scores"):
            method.prevalence(counts)


@every_method
def test_a_box_that_never_errs_is_counted(method: Method) -> None:
    labels, unlabeled = np.repeat([0, 1, 2], 20), np.repeat([0, 1, 2], [10, 60, 30])
    scores = Scores(np.eye(3)[labels], labels, np.eye(3)[unlabeled])
    np.testing.assert_allclose(method.prevalence(scores), [0.1, 0.6, 0.3], atol=1e-5)


@every_method
def test_data_that_tell_nothing_apart_are_answered_or_refused_by_name(method: Method) -> None:
    """Every item has the same scores: the confusion is singular, and so is all that is made from it."""
    blind = Scores([[0.5, 0.3, 0.2]] * 30, [0, 1, 2] * 10, [[0.5, 0.3, 0.2]] * 20)
    with suppress(InputError):
        assert np.isfinite(method.prevalence(blind)).all()


@every_method
def test_a_class_without_labels_is_answered_or_refused_by_name(method: Method, scores: Scores) -> None:
    kept = np.flatnonzero(scores.labels != 1)
    without = scores.take(kept, np.arange(len(scores.unlabeled)))
    if method.name in WITHOUT_LABELS:
        np.testing.assert_allclose(method.prevalence(without).sum(), 1)
    else:
        with pytest.raises(InputError, match=rf"no item of class 1: {method.name} needs"):
            method.prevalence(without)


@every_method
def test_a_share_of_nothing_is_refused(method: Method, scores: Scores) -> None:
    with pytest.raises(InputError, match="unlabeled holds no items"):
        method.prevalence(scores.take(np.arange(len(scores.labels)), np.arange(0)))


@pytest.mark.parametrize(
    "method", [method for method in METHODS.values() if method.needs == "counts" and method.name != "cc"]
)
@pytest.mark.parametrize("n_outputs", [2, 3, 5])
def test_any_number_of_outputs_has_an_answer(method: Method, n_outputs: int) -> None:
    rng = np.random.default_rng(n_outputs)
    counts = Counts(rng.integers(1, 40, (3, n_outputs)), rng.integers(1, 40, n_outputs))
    prevalence = method.prevalence(counts)
    assert prevalence.shape == (3,)
    assert np.isfinite(prevalence).all()
