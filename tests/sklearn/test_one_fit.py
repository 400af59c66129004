"""Held-out scores from one fit: against closed forms, scikit-learn's own, and refits."""

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from truecount.models.score_map import softmax
from truecount.sklearn import Quantifier, one_fit
from truecount.sklearn.one_fit import fit_once, leave_one_out

CLOSE = {"tol": 1e-10, "max_iter": 10_000}
FORESTS = {
    "bagged neighbours": BaggingClassifier(KNeighborsClassifier(), 60, random_state=3, oob_score=True),
    "forest": RandomForestClassifier(60, random_state=3, oob_score=True),
    "weighted forest": RandomForestClassifier(60, random_state=3, oob_score=True, class_weight="balanced"),
    "bagging": BaggingClassifier(n_estimators=60, max_features=0.5, random_state=3, oob_score=True),
    "bagging that misses classes": BaggingClassifier(
        DecisionTreeClassifier(), 60, max_samples=8, random_state=3, oob_score=True
    ),
}
REFUSED = {
    "few trees": RandomForestClassifier(10, random_state=0),
    "no bootstrap": RandomForestClassifier(bootstrap=False),
    "grown further": RandomForestClassifier(warm_start=True),
    "weights": LogisticRegression(class_weight="balanced"),
    "a linear penalty": LogisticRegression(l1_ratio=0.5, solver="saga"),
    "one against the rest": LogisticRegression(solver="liblinear"),
    "no way": GaussianNB(),
}


def items(classes: int = 3, number: int = 120) -> tuple[np.ndarray, np.ndarray]:
    """Labelled items that a linear classifier sometimes tells apart."""
    return make_classification(
        number, 6, n_informative=4, n_classes=classes, n_clusters_per_class=1, class_sep=0.7, random_state=1
    )


def newton_step(fitted: LogisticRegression, known: np.ndarray, codes: np.ndarray, left_out: int) -> np.ndarray:
    """Scores of an item after one Newton step on the others, of which those of its class make up for it."""
    kept = np.delete(np.arange(len(known)), left_out)
    weights = making_up(codes, left_out)
    design = np.column_stack([known, np.ones(len(known))])
    two = len(fitted.classes_) == 2
    free = [1] if two else list(range(len(fitted.classes_)))
    given, truth = fitted.predict_proba(known)[:, free], np.eye(len(fitted.classes_))[codes][:, free]
    penalty = np.append(np.full(known.shape[1], 1 / fitted.C), 1e-8)
    beta = np.column_stack([fitted.coef_, fitted.intercept_])
    slope = (weights[:, None] * (given - truth))[kept].T @ design[kept] + np.append(
        fitted.coef_, np.zeros((len(beta), 1)), axis=1
    ) / fitted.C
    size = beta.size
    second = np.diag(np.tile(penalty, len(beta)))
    for item in kept:
        p = given[item]
        second += np.kron(np.diag(p) - np.outer(p, p), np.outer(design[item], design[item]))
    moved = beta - np.linalg.solve(second, slope.reshape(size)).reshape(beta.shape)
    logits = design[left_out] @ moved.T
    return softmax(np.append(0.0, logits)[None] if two else logits[None])[0]


def making_up(codes: np.ndarray, left_out: int) -> np.ndarray:
    """Weights with which the other items of a class weigh as much as with the one that is left out."""
    own = codes == codes[left_out]
    return np.where(own, own.sum() / (own.sum() - 1), 1.0)


def test_shrunken_slopes_leave_held_out_scores_the_right_way_round() -> None:
    """Without its own item a class would be rarer, which outweighs what the features tell."""
    rng, y = np.random.default_rng(0), np.arange(200) % 2
    known = rng.standard_normal((200, 5)) + 1.5 * np.outer(y, np.eye(5)[0])
    fitted = LogisticRegression(C=1e-4, **CLOSE).fit(known, y)
    held, seen = leave_one_out(fitted, known, y)[:, 1], fitted.predict_proba(known)[:, 1]
    assert held == pytest.approx(seen, abs=1e-3)
    assert held[y == 1].mean() > held[y == 0].mean()


@pytest.mark.parametrize("classes", [2, 3])
def test_leaving_one_out_is_one_newton_step_and_close_to_a_refit(classes: int) -> None:
    known, y = items(classes)
    fitted = LogisticRegression(**CLOSE).fit(known, y)
    found, seen = leave_one_out(fitted, known, y), fitted.predict_proba(known)
    left_out = range(0, len(known), 12)
    for item in left_out:
        np.testing.assert_allclose(found[item], newton_step(fitted, known, y, item), atol=1e-6)
    others = [np.delete(np.arange(len(known)), item) for item in left_out]
    refitted = np.array(
        [
            LogisticRegression(**CLOSE)
            .fit(known[kept], y[kept], sample_weight=making_up(y, item)[kept])
            .predict_proba(known[[item]])[0]
            for item, kept in zip(left_out, others, strict=True)
        ]
    )
    gap = np.abs(found[list(left_out)] - refitted).max()
    assert gap < 0.1 * np.abs(seen[list(left_out)] - refitted).max()


@pytest.mark.parametrize("name", FORESTS)
def test_out_of_bag_scores_are_those_of_scikit_learn(name: str) -> None:
    known, y = items()
    made = fit_once(FORESTS[name], known, y)
    assert made is not None
    own, halves = made.trees
    halves = clone(halves).set_params(oob_score=True).fit(known, y)
    trees = [made.outside[:, : len(own.estimators_)].sum(axis=1), made.outside[:, len(own.estimators_) :].sum(axis=1)]
    shares = [own.oob_decision_function_, np.nan_to_num(halves.oob_decision_function_)]
    shares = [each / np.maximum(each.sum(axis=1, keepdims=True), 1e-300) for each in shares]
    expected = sum(number[:, None] * each for number, each in zip(trees, shares, strict=True))
    np.testing.assert_allclose(made.scores, expected / expected.sum(axis=1, keepdims=True), atol=1e-12)
    np.testing.assert_array_equal(made.held_out(known, "predict"), made.estimator.classes_[expected.argmax(axis=1)])


def test_new_items_are_scored_by_the_trees_that_labelled_items_are_outside_of(monkeypatch) -> None:
    known, y = items()
    made = fit_once(FORESTS["forest"], known, y)
    assert made is not None
    np.testing.assert_allclose(made.by_trees_outside(known, [0])[0], made.scores, atol=1e-12)
    np.testing.assert_allclose(made.by_trees_outside(known[5:], [5])[0], made.scores[5:], atol=1e-12)
    ways, in_turn = made.in_all_turns(known)
    assert len(ways) == one_fit.WAYS
    assert len({way.tobytes() for way in ways}) == one_fit.WAYS
    np.testing.assert_array_equal(in_turn, made.in_order(known, "predict_proba"))
    monkeypatch.setattr(one_fit, "AT_ONCE", 17)
    np.testing.assert_array_equal(in_turn, made.in_order(known, "predict_proba"))


@pytest.mark.parametrize("name", REFUSED)
def test_folds_are_used_where_one_fit_does_not_do(name: str) -> None:
    assert fit_once(REFUSED[name], *items()) is None


def test_folds_are_used_for_missing_numbers_lone_items_and_many_parameters() -> None:
    known, y = items()
    assert fit_once(FORESTS["forest"], np.where(known > 2, np.nan, known), y) is None
    assert fit_once(LogisticRegression(), known, np.where(np.arange(len(y)) == 0, 7, y)) is None
    assert fit_once(LogisticRegression(), np.tile(known, 60), y) is None


def test_a_quantifier_fits_once_where_it_can() -> None:
    known, y = items()
    for classifier in (LogisticRegression(), FORESTS["forest"]):
        once = Quantifier(classifier).fit(known, y)
        assert once.folds_ == ()
        assert once.labeled_.sum() == once.counts(known).unlabeled.sum() == len(y)
        assert len(Quantifier(classifier, cv=3).fit(known, y).folds_) == 3
    assert len(Quantifier(DecisionTreeClassifier()).fit(known, y).folds_) == 5
