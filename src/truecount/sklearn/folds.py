"""Classifiers of the folds: each answers for labelled items that it was not fitted to, and for some of the new ones."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv, cross_validate
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples, check_is_fitted

from truecount._check import plain_name
from truecount._types import IntArray, Name
from truecount.errors import InputError


class Fold(NamedTuple):
    """A fitted classifier, and which labelled items it was not fitted to."""

    estimator: Any
    items: IntArray


def fit_folds(estimator: Any, X: Any, y: Any, *, cv: Any) -> tuple[Fold, ...]:  # noqa: N803
    """Fit a classifier for each fold; one that came fitted answers for all items."""
    if isinstance(cv, str):
        if cv != "prefit":
            raise InputError("cv", f"is {cv!r}", "the only word is 'prefit'", "Pass a number of folds, or a splitter")
        check_is_fitted(estimator)
        return (Fold(estimator, np.arange(len(y))),)
    found = cross_validate(
        estimator,
        X,
        y,
        cv=check_cv(cv, y, classifier=True),
        scoring=_unscored,
        return_estimator=True,
        return_indices=True,
        error_score="raise",
    )
    folds = tuple(map(Fold, found["estimator"], found["indices"]["test"]))
    if not np.array_equal(np.sort(np.concatenate([fold.items for fold in folds])), np.arange(len(y))):
        needed = "each labelled item is counted once"
        raise InputError(
            "cv", "leaves items out, or repeats them", needed, "Pass a number of folds, or StratifiedKFold"
        )
    return folds


def held_out(folds: tuple[Fold, ...], X: Any, method: str, classes: Sequence[Name]) -> Any:  # noqa: N803
    """Give answers for labelled items, each by the classifier that was not fitted to it."""
    order = np.concatenate([fold.items for fold in folds])
    found = [_answers(fold, method, _safe_indexing(X, fold.items), classes) for fold in folds]
    return np.concatenate(found)[np.argsort(order)]


def in_turns(folds: tuple[Fold, ...], X: Any, method: str, classes: Sequence[Name]) -> Iterator[Any]:  # noqa: N803
    """Give answers for new items, classifier by classifier: they meet them in turns."""
    (X,) = indexable(X)  # noqa: N806
    for turn, fold in enumerate(folds[: max(1, _num_samples(X))]):
        items = X if len(folds) == 1 else _safe_indexing(X, slice(turn, None, len(folds)))
        yield _answers(fold, method, items, classes)


def _answers(fold: Fold, method: str, X: Any, classes: Sequence[Name]) -> Any:  # noqa: N803
    """Give a classifier's answers; a class that its fold had no items of has probability zero."""
    answers = np.asarray(getattr(fold.estimator, method)(X))
    known = getattr(fold.estimator, "classes_", classes)
    if method != "predict_proba" or len(known) == len(classes):
        return answers
    whole = np.zeros((len(answers), len(classes)))
    whole[:, [classes.index(plain_name(name)) for name in known]] = answers
    return whole


def _unscored(*_: Any) -> float:
    """Stand in for a score, which nobody asks for."""
    return 0.0
