"""Held-out scores of labelled items from a single fit, where the classifier allows it.

Trees that were grown on bootstrap samples answer for the items that they have not seen, with others that are grown on
half as many; the scores that a logistic regression would give to an item without it follow from one Newton step.
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
from truecount.models.hierarchy.log_ratios import log_ratio_basis
from truecount.sklearn.folds import first_turn

FEWEST_TREES = 10
"""Of a forest, which every labelled item must be outside of."""
MORE_TREES = 0.5
"""Number of additional trees, each grown on a bootstrap sample of half the size, over the classifier's own number. Its
own trees leave out 37 % of the items and additional ones 61 %; more of them make scores less noisy."""
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
    trees
        Whose trees these are, one after the other: the classifier and what was grown beside it.
    """

    estimator: Any
    scores: FloatArray
    outside: BoolArray | None = None
    trees: tuple[Any, ...] = ()

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
        return _by_trees(self.trees, checked, masks)

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
    trees = fitted, _on_halves(fitted).fit(X, y)
    outside = np.column_stack([_outside(each, len(numbers)) for each in trees])
    if outside.sum(axis=1).min() < FEWEST_TREES:
        return None
    return OneFit(fitted, _by_trees(trees, numbers.astype(np.float32), [outside])[0], outside, trees)


def _on_halves(fitted: Any) -> Any:
    """Return a forest like a fitted one, to be grown on samples of half the size."""
    half = max(1, len(fitted.estimators_samples_[0]) // 2)
    number = max(1, round(MORE_TREES * len(fitted.estimators_)))
    seed = np.random.default_rng(fitted.estimators_samples_[-1]).integers(2**31)  # another one, yet that of the fit
    return clone(fitted).set_params(n_estimators=number, max_samples=half, random_state=int(seed), oob_score=False)


def _outside(fitted: Any, number: int) -> BoolArray:
    """Shape (items, trees): which trees of a forest have not seen which of the items that it was fitted to."""
    outside = np.ones((number, len(fitted.estimators_)), bool)
    for tree, seen in enumerate(fitted.estimators_samples_):
        outside[seen, tree] = False
    return outside


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


def _by_trees(forests: tuple[Any, ...], X: FloatArray, masks: list[BoolArray]) -> list[FloatArray]:  # noqa: N803
    """Shape (items, classes) for each mask: the mean of what those trees say that it has for an item."""
    totals, place = [np.zeros((len(X), len(forests[0].classes_))) for _ in masks], 0
    for forest in forests:
        columns = getattr(forest, "estimators_features_", [slice(None)] * len(forest.estimators_))
        unchecked = {} if isinstance(forest, BaggingClassifier) else {"check_input": False}
        for tree, features in zip(forest.estimators_, columns, strict=True):
            found = tree.predict_proba(X[:, features], **unchecked)
            known = np.asarray(tree.classes_, dtype=np.int64)
            for total, mask in zip(totals, masks, strict=True):
                total[:, known] += found * mask[:, place, None]
            place += 1
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
    given, basis, penalty = softmax(logits), _moves(logits.shape[1]), np.full(design.shape[1], 1 / fitted.C)
    penalty[X.shape[1] :] = BARELY
    member = np.eye(given.shape[1])[codes]
    gap, mean = (given - member) @ basis, given @ basis
    curvature = (given @ (basis[:, :, None] * basis[:, None]).reshape(len(basis), -1)).reshape(-1, *mean.shape[1:] * 2)
    curvature -= mean[:, :, None] * mean[:, None]
    inverse = _inverse(design, curvature, penalty)
    spread = _spread(design, inverse)
    of_class = (member.T[:, :, None] * gap).transpose(0, 2, 1) @ design
    steps = (of_class.reshape(len(basis), -1) @ inverse.reshape(of_class[0].size, -1)).reshape(of_class.shape)
    by_class = np.empty_like(gap)
    for each, step in enumerate(steps):
        by_class[codes == each] = design[codes == each] @ step.T
    others = member.sum(axis=0)[codes] - 1
    share = np.divide(1.0, others, out=np.zeros(len(X)), where=others > 0)[:, None]
    own = (spread @ gap[..., None])[..., 0]
    moved = (1 + share) * own - share * by_class
    logits += np.linalg.solve(np.eye(gap.shape[1]) - spread @ curvature, moved[..., None])[..., 0] @ basis.T
    return softmax(logits)


def _moves(classes: int) -> FloatArray:
    """Shape (classes, free): orthonormal directions in which a fit moves logits, which sum to zero; of two, the second.

    A penalty of all coefficients leaves nothing in the direction that is the same for all classes.
    """
    if classes == 2:
        return np.array([[0.0], [1.0]])
    basis = log_ratio_basis(classes)
    orthonormal: FloatArray = basis / np.linalg.norm(basis, axis=0)
    return orthonormal


def _inverse(design: FloatArray, curvature: FloatArray, penalty: FloatArray) -> FloatArray:
    """Shape (free, features, free, features): of the sum of ``x W x'`` and the penalty."""
    free, features = curvature.shape[1], design.shape[1]
    second = np.empty((free, features, free, features))
    for one in range(free):
        for other in range(one + 1):
            second[one, :, other] = (design * curvature[:, one, other, None]).T @ design
    joint = second.reshape(free * features, -1)
    joint[np.diag_indices(len(joint))] += np.tile(penalty, free)
    inverse = _inverse_of_positive(joint).reshape(second.shape)
    for one in range(free):
        within = np.tril(inverse[one, :, one])
        inverse[one, :, one] = within + np.tril(within, -1).T
        for other in range(one):
            inverse[other, :, one] = inverse[one, :, other].T
    return inverse


def _inverse_of_positive(lower: FloatArray) -> FloatArray:
    """Return the lower half of the inverse of a symmetric matrix without negative eigenvalues, given its lower half."""
    from scipy.linalg.lapack import dpotrf, dpotri

    root, failed = dpotrf(lower.T, lower=0, clean=0)
    if failed:
        return np.asarray(np.linalg.inv(np.tril(lower) + np.tril(lower, -1).T))
    return np.asarray(dpotri(root, lower=0, overwrite_c=1)[0].T)


def _spread(design: FloatArray, inverse: FloatArray) -> FloatArray:
    """Shape (items, free, free): ``x' H⁻¹ x`` of each item."""
    free = len(inverse)
    spread = np.empty((len(design), free, free))
    for one in range(free):
        for other in range(one + 1):
            found = np.einsum("ij,ij->i", design @ inverse[one, :, other], design)
            spread[:, one, other] = spread[:, other, one] = found
    return spread
