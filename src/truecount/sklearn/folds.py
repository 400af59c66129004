"""Classifiers of the folds: each answers for labelled items that it was not fitted to, and for some of the new ones."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.model_selection import check_cv, cross_validate
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples, check_is_fitted

from truecount._check import plain_name
from truecount._chi_square import chi_square_quantile
from truecount._types import IntArray
from truecount.errors import InputError, TruecountWarning

ABOUT_EQUAL = 1.1
"""Folds of which the largest is no more times as large as the smallest take turns one by one."""
UNEVEN = 0.999
"""Level at which classes are said to be spread unevenly over the folds."""


class Fold(NamedTuple):
    """A fitted classifier, and which labelled items it was not fitted to."""

    estimator: Any
    items: IntArray


@dataclass(frozen=True, slots=True)
class Folds:
    """Classifiers of the folds, which answer for labelled items and, in turns, for new ones."""

    each: tuple[Fold, ...]

    def held_out(self, X: Any, method: str) -> Any:  # noqa: N803
        """Return answers for labelled items, each by the classifier that was not fitted to it."""
        order = np.concatenate([fold.items for fold in self.each])
        answers = [_answers(fold, method, _safe_indexing(X, fold.items)) for fold in self.each]
        return np.concatenate(answers)[np.argsort(order)]

    def in_turns(self, X: Any, method: str) -> Iterator[Any]:  # noqa: N803
        """Return answers for new items, classifier by classifier: they meet them in turns."""
        (X,) = indexable(X)  # noqa: N806
        everyone = np.arange(_num_samples(X))
        for fold, items in _met(self.each, X, first_turn(X)):
            if len(self.each) == 1 or len(everyone[items]):
                yield _answers(fold, method, X if len(self.each) == 1 else _safe_indexing(X, items))

    def in_order(self, X: Any, method: str) -> Any:  # noqa: N803
        """Return the same in the order of the items."""
        (X,) = indexable(X)  # noqa: N806
        order = np.concatenate([np.arange(_num_samples(X))[items] for _, items in _met(self.each, X, first_turn(X))])
        return np.concatenate(list(self.in_turns(X, method)))[np.argsort(order)]

    def in_all_turns(self, X: Any) -> tuple[list[Any], Any]:  # noqa: N803
        """Return scores of new items, once for each fold whose turn may be the first, and those of `in_order`."""
        (X,) = indexable(X)  # noqa: N806
        answers, found = [_answers(fold, "predict_proba", X) for fold in self.each], []
        for first in range(len(self.each) if _num_samples(X) else 1):
            chosen = np.empty_like(answers[0])
            for each, (_, items) in zip(answers, _met(self.each, X, first), strict=False):
                chosen[items] = each[items]
            found.append(chosen)
        return found, found[first_turn(X) % len(found)]


def fit_folds(estimator: Any, X: Any, y: Any, *, cv: Any) -> Folds:  # noqa: N803
    """Fit a classifier for each fold; one that came fitted answers for all items."""
    if isinstance(cv, str):
        if cv != "prefit":
            raise InputError("cv", f"is {cv!r}", "the only word is 'prefit'", "Pass a number of folds, or a splitter")
        check_is_fitted(estimator)
        return Folds((Fold(estimator, np.arange(len(y))),))
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
    _require_fair(folds, y)
    return Folds(folds)


def _met(folds: tuple[Fold, ...], X: Any, first: int) -> list[tuple[Fold, slice | IntArray]]:  # noqa: N803
    """Say which new items the classifier of each fold meets."""
    number = _num_samples(X)
    if len(folds) == 1 or not number:
        return [(folds[0], slice(None))]
    return list(zip(folds, turns([len(fold.items) for fold in folds], number, first), strict=True))


def first_turn(X: Any) -> int:  # noqa: N803
    """Return a number that the first item decides."""
    return int(joblib.hash(_safe_indexing(X, [0])), 16) if _num_samples(X) else 0


def turns(sizes: Sequence[int], number: int, first: int) -> list[slice | IntArray]:
    """Say which of so many new items each fold's classifier meets: as many as its share of the labelled ones.

    Equal folds take turns one by one, so that no item need be copied. Whose turn is first depends on `first`: small
    batches that are pooled would else all begin with the same classifier.

    >>> turns([80, 80, 80], 7, 1)
    [slice(2, None, 3), slice(0, None, 3), slice(1, None, 3)]
    >>> [items.tolist() for items in turns([20, 40], 7, 0)]
    [[1, 4], [0, 2, 3, 5, 6]]
    """
    folds = range(len(sizes))
    if max(sizes) <= ABOUT_EQUAL * min(sizes):
        return [slice((fold - first) % len(sizes), None, len(sizes)) for fold in folds]
    due = np.concatenate([(np.arange(size) + 0.5) / size for size in sizes])
    pattern = np.repeat(folds, sizes)[np.argsort(due, kind="stable")]
    owner = pattern[(first % len(pattern) + np.arange(number)) % len(pattern)]
    return [np.flatnonzero(owner == fold) for fold in folds]


def _answers(fold: Fold, method: str, X: Any) -> Any:  # noqa: N803
    return np.asarray(getattr(fold.estimator, method)(X))


def _require_fair(folds: tuple[Fold, ...], y: Any) -> None:
    """Refuse folds that leave items or classes out; warn where labelled items of a class meet other classifiers."""
    needed, stratified = "each labelled item is counted once", "Pass a number of folds, or StratifiedKFold"
    if not np.array_equal(np.sort(np.concatenate([fold.items for fold in folds])), np.arange(len(y))):
        raise InputError("cv", "leaves items out, or repeats them", needed, stratified)
    classes, codes = np.unique(y, return_inverse=True)
    spread = np.array([np.bincount(codes[fold.items], minlength=len(classes)) for fold in folds])
    total = spread.sum(axis=0)
    unknown = np.flatnonzero((spread == total).any(axis=0))
    if len(unknown):
        found = f"puts all items of class {plain_name(classes[unknown[0]])!r} into one fold"
        remedy = f"Label two items or more of every class. {stratified}"
        raise InputError("cv", found, "every classifier must be fitted to every class", remedy)
    expected = spread.sum(axis=1, keepdims=True) * total / total.sum()
    deviance = ((spread - expected) ** 2 / expected).sum()
    if deviance > chi_square_quantile((len(folds) - 1) * (len(classes) - 1), UNEVEN):
        message = (
            "The classes are spread unevenly over the folds, so labelled items of a class meet other classifiers than "
            f"new ones do, and shares may be off. {stratified}."
        )
        warnings.warn(message, TruecountWarning, stacklevel=5)


def _unscored(*_: Any) -> float:
    """Stand in for a score, which nobody asks for."""
    return 0.0
