"""Held-out scores of labelled items from a single fit, where the classifier allows it.

Trees that were grown on bootstrap samples answer for the items that they have not seen; the scores that a logistic
regression would give to an item without it follow from one Newton step.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _num_samples, validate_data

from truecount._log_sum import softmax
from truecount._types import BoolArray, FloatArray, IntArray
from truecount.sklearn.folds import first_turn

FEWEST_TREES = 10
"""Of a forest, which every labelled item must be outside of."""
WAYS = 5
"""In which new items are scored by a forest, each by trees that some labelled item is outside of."""
MOST_PARAMETERS = 1_000
"""Of a logistic regression, whose second derivatives are inverted."""
AT_ONCE = 10_000
"""New items whose trees are looked up at once."""
BARELY = 1e-8
"""What keeps the second derivatives of intercepts invertible."""


@dataclass(frozen=True, slots=True)
class OneFit:
    """A classifier fitted once to all labelled items, and what it says of each as if it had not seen it.

    Parameters
    ----------
    estimator
        Fitted to all labelled items.
    scores
        Shape (labelled items, classes): held out.
    outside
        Shape (labelled items, trees): which trees have not seen which item; None where there are no trees.
    """

    estimator: Any
    scores: FloatArray
    outside: BoolArray | None = None

    def held_out(self, X: Any, method: str) -> Any:  # noqa: N803
        """Return answers for the labelled items that it was fitted to."""
        return self._answers(self.scores, method)

    def in_turns(self, X: Any, method: str) -> Iterator[Any]:  # noqa: N803
        """Return answers for new items, part by part."""
        (X,) = indexable(X)  # noqa: N806
        number = _num_samples(X)
        if self.outside is None or not number:
            yield np.asarray(getattr(self.estimator, method)(X))
            return
        first = first_turn(X)
        for start in range(0, number, AT_ONCE):
            part = X if number <= AT_ONCE else _safe_indexing(X, slice(start, start + AT_ONCE))
            yield self._answers(self.by_trees_outside(part, [first + start])[0], method)

    def in_order(self, X: Any, method: str) -> Any:  # noqa: N803
        """Return answers for new items."""
        return np.concatenate(list(self.in_turns(X, method)))

    def in_all_turns(self, X: Any) -> tuple[list[Any], Any]:  # noqa: N803
        """Return scores of new items, in all ways that they are given, and those of `in_order`."""
        (X,) = indexable(X)  # noqa: N806
        if self.outside is None or not _num_samples(X):
            scores = np.asarray(self.estimator.predict_proba(X))
            return [scores], scores
        first, number = first_turn(X), len(self.scores)
        ways = self.by_trees_outside(X, [first + way * number // WAYS for way in range(WAYS)])
        return ways, ways[0]

    def by_trees_outside(self, X: Any, first: list[int]) -> list[FloatArray]:  # noqa: N803
        """Score new items, the first of them by the trees that labelled item `first` is outside of, and so on."""
        outside = np.asarray(self.outside)
        items = np.arange(_num_samples(X))
        masks = [outside[(each % len(outside) + items) % len(outside)] for each in first]
        checked = validate_data(self.estimator, X, reset=False, dtype=np.float32)
        return _by_trees(self.estimator, checked, masks)

    def _answers(self, scores: FloatArray, method: str) -> Any:
        return scores if method == "predict_proba" else self.estimator.classes_[scores.argmax(axis=1)]


def fit_once(estimator: Any, X: Any, y: Any) -> OneFit | None:  # noqa: N803
    """Fit a classifier whose held-out scores are known from one fit; None where they are not.

    These are random forests and bagging whose every item is outside of enough trees, and logistic regression with a
    quadratic penalty and not too many parameters: of numbers, none of them missing, with two items or more of a class.
    """
    has_trees, is_logistic = _has_trees(estimator), _is_logistic(estimator)
    if not has_trees and not is_logistic:
        return None
    numbers = np.asarray(X)
    if numbers.dtype.kind not in "fiub" or numbers.ndim != 2 or not np.isfinite(numbers).all():
        return None
    classes, codes, sizes = np.unique(y, return_inverse=True, return_counts=True)
    if sizes.min() < 2 or (is_logistic and len(classes) * (numbers.shape[1] + 1) > MOST_PARAMETERS):
        return None
    fitted = clone(estimator).fit(X, y)
    if is_logistic:
        return OneFit(fitted, leave_one_out(fitted, numbers.astype(float), codes))
    outside = np.ones((len(numbers), len(fitted.estimators_)), bool)
    for tree, seen in enumerate(fitted.estimators_samples_):
        outside[seen, tree] = False
    if outside.sum(axis=1).min() < FEWEST_TREES:
        return None
    return OneFit(fitted, _by_trees(fitted, numbers.astype(np.float32), [outside])[0], outside)


def _has_trees(estimator: Any) -> bool:
    if type(estimator) is BaggingClassifier:
        inner = estimator.estimator
        return estimator.bootstrap and not estimator.warm_start and (inner is None or hasattr(inner, "predict_proba"))
    forest = type(estimator) in (RandomForestClassifier, ExtraTreesClassifier)
    return forest and estimator.bootstrap and not estimator.warm_start


def _is_logistic(estimator: Any) -> bool:
    if type(estimator) is not LogisticRegression or estimator.solver == "liblinear":
        return False
    return (
        getattr(estimator, "penalty", "l2") in ("l2", "deprecated")
        and estimator.l1_ratio in (None, 0)
        and np.isfinite(estimator.C)
        and estimator.class_weight is None
        and getattr(estimator, "multi_class", "deprecated") in ("deprecated", "auto")
    )


def _by_trees(fitted: Any, X: FloatArray, masks: list[BoolArray]) -> list[FloatArray]:  # noqa: N803
    """Shape (items, classes) for each mask: the mean of what those trees say that it has for an item."""
    totals = [np.zeros((len(X), len(fitted.classes_))) for _ in masks]
    columns = getattr(fitted, "estimators_features_", [slice(None)] * len(fitted.estimators_))
    unchecked = {} if isinstance(fitted, BaggingClassifier) else {"check_input": False}
    for place, (tree, features) in enumerate(zip(fitted.estimators_, columns, strict=True)):
        found = tree.predict_proba(X[:, features], **unchecked)
        known = np.asarray(tree.classes_, dtype=np.int64)
        for total, mask in zip(totals, masks, strict=True):
            total[:, known] += found * mask[:, place, None]
    return [total / mask.sum(axis=1, keepdims=True) for total, mask in zip(totals, masks, strict=True)]


def leave_one_out(fitted: Any, X: FloatArray, codes: IntArray) -> FloatArray:  # noqa: N803
    """Shape (items, classes): what logistic regression would say of each item without it, by one Newton step.

    Without item i the gradient at the estimate is ``-xᵢ (pᵢ - yᵢ)``, and the second derivatives are ``H - xᵢ Wᵢ xᵢ'``.
    With ``Aᵢ = xᵢ' H⁻¹ xᵢ``, which is a matrix of classes, the logits of item i move by ``(I - Aᵢ Wᵢ)⁻¹ Aᵢ (pᵢ - yᵢ)``
    (Rad & Maleki, A scalable estimate of the out-of-sample prediction error via approximate leave-one-out, 2020).
    The other items of its class make up for it, as in stratified folds: otherwise the class would be rarer without its
    own item, and where slopes are shrunk that outweighs what the features tell. This adds the sum of their gradients
    over their number.

    Parameters
    ----------
    fitted
        With a quadratic penalty.
    X
        Shape (items, features): those that it was fitted to.
    codes
        Shape (items,): positions of their classes.
    """
    design = np.column_stack([X, np.ones(len(X))]) if fitted.fit_intercept else X
    logits = X @ fitted.coef_.T + fitted.intercept_
    if logits.shape[1] == 1:
        logits = np.column_stack([np.zeros(len(X)), logits])
    given, free = softmax(logits), slice(1 if logits.shape[1] == 2 else 0, logits.shape[1])
    p = given[:, free]
    curvature = p[:, :, None] * np.eye(p.shape[1]) - p[:, :, None] * p[:, None]
    penalty = np.full(design.shape[1], 1 / fitted.C)
    penalty[X.shape[1] :] = BARELY
    inverse = _inverse(design, curvature, penalty)
    spread = _spread(design, inverse)
    member = np.eye(given.shape[1])[codes]
    gap = p - member[:, free]
    by_class = np.empty_like(gap)
    for each in range(given.shape[1]):
        those = codes == each
        step = np.tensordot(gap[those].T @ design[those], inverse, 2)
        by_class[those] = design[those] @ step.T
    others = member.sum(axis=0)[codes] - 1
    share = np.divide(1.0, others, out=np.zeros(len(X)), where=others > 0)[:, None]
    own = (spread @ gap[..., None])[..., 0]
    moved = (1 + share) * own - share * by_class
    logits[:, free] += np.linalg.solve(np.eye(p.shape[1]) - spread @ curvature, moved[..., None])[..., 0]
    return softmax(logits)


def _inverse(design: FloatArray, curvature: FloatArray, penalty: FloatArray) -> FloatArray:
    """Shape (classes, features, classes, features): of the sum of ``x W x'`` and the penalty."""
    classes, features = curvature.shape[1], design.shape[1]
    second = np.zeros((classes, features, classes, features))
    for one in range(classes):
        for other in range(one, classes):
            second[one, :, other] = second[other, :, one] = (design * curvature[:, one, other, None]).T @ design
    joint = second.reshape(classes * features, -1)
    joint[np.diag_indices(len(joint))] += np.tile(penalty, classes)
    return _inverse_of_positive(joint).reshape(second.shape)


def _inverse_of_positive(matrix: FloatArray) -> FloatArray:
    """Return the inverse of a symmetric matrix without negative eigenvalues, by Cholesky's method where it can."""
    from scipy.linalg.lapack import dpotrf, dpotri

    root, failed = dpotrf(matrix, lower=1)
    if failed:
        return np.asarray(np.linalg.inv(matrix))
    lower = np.tril(dpotri(root, lower=1)[0])
    inverse: FloatArray = lower + np.tril(lower, -1).T
    return inverse


def _spread(design: FloatArray, inverse: FloatArray) -> FloatArray:
    """Shape (items, classes, classes): ``x' H⁻¹ x`` of each item."""
    classes = len(inverse)
    spread = np.empty((len(design), classes, classes))
    for one in range(classes):
        for other in range(one, classes):
            found = np.einsum("ij,ij->i", design @ inverse[one, :, other], design)
            spread[:, one, other] = spread[:, other, one] = found
    return spread
