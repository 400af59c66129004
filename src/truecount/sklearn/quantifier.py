"""A quantifier: a classifier that answers how large each class is, not which class an item belongs to."""

from collections.abc import Mapping
from typing import Any, Self, get_args

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing, column_or_1d, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, check_is_fitted

from truecount import _check
from truecount._types import FloatArray
from truecount.api.bayesian import infer, origin_of
from truecount.api.scores import (
    MOST_UNLABELED,
    ScoreModel,
    asks_for_cells,
    by_cells,
    by_map,
    fit_scores,
    mean_by_map,
    spread_items,
    with_finding,
)
from truecount.counts import Counts, Groups
from truecount.errors import InputError
from truecount.inference import Auto
from truecount.inference.draws import Engine
from truecount.models import LabelShift, Prior
from truecount.results import Posterior
from truecount.results.summary import Kind, Target
from truecount.scores import Argmax, Cells, Partition, Scores
from truecount.sklearn.folds import Folds
from truecount.sklearn.outputs import codes, fit_sorter, share_features, with_inputs_of


class Quantifier(BaseEstimator):  # type: ignore[misc]
    """Estimate the share of every class among new items, with a posterior behind it.

    Parameters
    ----------
    estimator
        A classifier.
    partition
        How its scores become outputs that are counted: `Argmax` counts what it predicts. Cells that were fitted
        elsewhere will do, too. None lets the classifier decide: its probabilities are calibrated on the labelled items
        and not counted, where it has ``predict_proba``, no prior of the rows and no engine but `Auto` is asked for, and
        some calibration fits; what it predicts is counted otherwise.
    cv
        How labelled items get outputs from classifiers that were not fitted to them: a number of folds or a splitter of
        scikit-learn. ``"prefit"``: the classifier is fitted already, to other items than those given to `fit`. None
        takes what one fit gives, where the classifier allows it, and five folds elsewhere; see the notes.
    prior
        The prior; None is `Prior()`.
    engine
        What draws; None is `Auto()`.
    target
        Whose shares `predict` and `predict_interval` give: those of the ``"population"`` behind the new items, or
        those ``"realized"`` in this finite sample, which is what benchmarks of quantifiers ask for.
    seed
        Of the draws, and of which items a partition that looks at labels sets aside.

    Attributes
    ----------
    classes_
        The classes, in the order of every result.
    estimator_
        The classifier, fitted to all items.
    folds_
        The classifiers of the folds, each with the positions of the items that it was not fitted to. New items meet
        these in turns. Empty where one fit was enough.
    cells_
        What the partition became.
    labeled_
        Shape (classes, outputs): labelled items by class and output.
    score_model_
        The calibration of the classifier's probabilities, or the finding that says why there is none; None where
        outputs are counted.

    Notes
    -----
    One fit is enough for two kinds of classifiers. Each tree of a random forest, or member of bagging, answers for the
    items outside its bootstrap sample, and half as many more, on samples of half the size, do so too; a new item is
    scored by those members that a labelled item is outside of. What
    a logistic regression with a quadratic penalty would say of an item without having seen it is one Newton step from
    what it says; new items are scored by the classifier itself.

    By cross-validation each labelled item's output comes from a classifier fitted to the other folds. New items meet
    these classifiers too, in turns, each as often as labelled items do; the first item decides whose turn is first. So
    labelled and new items meet the same classifiers, which one fitted to all items would not be;
    `docs/guides/scores.md` says what that does to the intervals. Where probabilities are calibrated, every item meets
    each classifier in a part of the draws. Folds should be stratified, as they are by default: a warning says where
    classes are spread unevenly over them. A partition that looks at labels (`Tree`) gets a quarter of the items of each
    class, which are then not counted.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(1000, random_state=0)
    >>> quantifier = Quantifier(LogisticRegression()).fit(X[:500], y[:500])
    >>> new = np.concatenate([np.flatnonzero(y[500:] == 0)[:40], np.flatnonzero(y[500:] == 1)[:160]]) + 500
    >>> quantifier.predict(X[new]).round(2)
    array([0.18, 0.82])
    """

    def __init__(
        self,
        estimator: Any,
        partition: Partition | Cells | None = None,
        *,
        cv: Any = None,
        prior: Prior | None = None,
        engine: Engine | None = None,
        target: Target = "population",
        seed: int = 0,
    ) -> None:
        self.estimator = estimator
        self.partition = partition
        self.cv = cv
        self.prior = prior
        self.engine = engine
        self.target = target
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Fit the classifier, and count what it says of labelled items.

        Parameters
        ----------
        X, y
            Labelled items, as the classifier takes them, and the class of each.
        """
        X, y = labeled_items(X, y)  # noqa: N806
        seed = _check.whole_number("seed", self.seed, least=0)
        _check.one_of("target", self.target, get_args(Target))
        partition = Argmax() if self.partition is None else self.partition
        self._sorter, places = fit_sorter(self.estimator, partition, X, y, cv=self.cv, seed=seed)
        self.estimator_, self.cells_ = self._sorter.estimator, self._sorter.cells
        self.folds_ = self._sorter.held.each if isinstance(self._sorter.held, Folds) else ()
        shape = len(self._sorter.classes), self.cells_.size
        self.labeled_ = np.bincount(places, minlength=shape[0] * shape[1]).reshape(shape)
        self.classes_ = np.asarray(getattr(self.estimator_, "classes_", np.unique(y)))
        self.score_model_ = self._fit_scores(X, y) if self._takes_scores() else None
        share_features(self.estimator_, self)
        return self

    def _takes_scores(self) -> bool:
        model, engine = LabelShift(self.prior or Prior()), self.engine or Auto()
        return (
            self.partition is None and hasattr(self.estimator_, "predict_proba") and not asks_for_cells(model, engine)
        )

    def _fit_scores(self, X: Any, y: Any) -> ScoreModel:  # noqa: N803
        """Calibrate the probabilities of labelled items, each by a classifier that was not fitted to it."""
        labels = codes("y", y, self._sorter.classes)
        self._held_out = self._sorter.held_out_scores(X), np.array(self._sorter.classes, dtype=object)[labels]
        return fit_scores(self._held_out[0], labels, self._sorter.classes)

    def counts(self, X: Any) -> Counts:  # noqa: N803
        """Count the outputs of new items beside the labelled ones; see `groups` for several populations."""
        check_is_fitted(self)
        classes, unlabeled = self._sorter.classes, self._sorter.count(X)
        return Counts(self.labeled_, unlabeled, classes, self.cells_.names(classes))

    def groups(self, populations: Mapping[Any, Any]) -> Groups:
        """Count the outputs of several populations, which share the labelled items: a mapping from group to its items.

        ``infer(groups)`` draws them jointly, so that they can be compared.
        """
        check_is_fitted(self)
        classes = self._sorter.classes
        unlabeled = {group: self._sorter.count(items) for group, items in populations.items()}
        return Groups(self.labeled_, unlabeled, classes, self.cells_.names(classes))

    def posterior(self, X: Any) -> Posterior:  # noqa: N803
        """Infer the share of every class in the population that these items come from.

        To compare several populations, pass `groups` of them to ``infer``.
        """
        check_is_fitted(self)
        model, engine = LabelShift(self.prior or Prior()), self.engine or Auto()
        if self.score_model_ is None:
            return infer(self.counts(X), model, engine=engine, seed=self.seed)
        scores, labels = self._held_out
        made, classes = self.score_model_, self._sorter.classes
        if made.fitted is not None:
            known, ways = self._known_scores(X)
            return by_map(made.fitted, known, model, engine, origin_of(engine, self.seed), ways=ways)
        counts = by_cells(Scores(scores, labels, self._sorter.scores_in_turns(X), classes))
        posterior = infer(counts, model, engine=engine, seed=self.seed)
        return posterior if made.finding is None else with_finding(posterior, made.finding)

    def _known_scores(self, X: Any) -> tuple[Scores, list[FloatArray]]:  # noqa: N803
        """Return scores of labelled and new items, and those of the new ones that are looked at in all turns."""
        (X,), classes = indexable(X), self._sorter.classes  # noqa: N806
        if _num_samples(X) <= MOST_UNLABELED:
            ways, new = self._sorter.scores_in_all_turns(X)
        else:
            new = self._sorter.scores_in_turns(X)
            some = _safe_indexing(X, spread_items(new, MOST_UNLABELED))
            ways = self._sorter.scores_in_all_turns(some)[0]
        return Scores(*self._held_out, new, classes), ways

    def predict(self, X: Any) -> FloatArray:  # noqa: N803
        """Shape (classes,): the posterior mean of each class's share, in the order of `classes_`.

        Where probabilities are calibrated, and each class has 20 labels, the mean is computed without the draws that
        intervals need. It then differs from that of `posterior` by Monte Carlo error, which is largest where several
        folds score the items.
        """
        check_is_fitted(self)
        model = LabelShift(self.prior or Prior())
        if self.score_model_ is not None and self.score_model_.fitted is not None:
            known, ways = self._known_scores(X)
            found = mean_by_map(self.score_model_.fitted, known, model, self.seed, ways=ways)
            if found is not None:
                return found.population if self.target == "population" else found.realized
        mean: FloatArray = self.posterior(X).shares(self.target).mean(axis=0)
        return mean

    def predict_interval(
        self,
        X: Any,  # noqa: N803
        level: float = 0.95,
        *,
        kind: Kind = "equal-tailed",
        target: Target | None = None,
    ) -> FloatArray:
        """Shape (classes, 2): lower and upper end for each class; see `Posterior.interval`. None: the quantifier's."""
        return self.posterior(X).interval(level, kind=kind, target=self.target if target is None else target)

    def score(self, X: Any, y: Any) -> float:  # noqa: N803
        """Return minus the mean absolute error of the shares, so that more is better."""
        check_is_fitted(self)
        shares = np.bincount(codes("y", y, self._sorter.classes), minlength=len(self.classes_)) / len(y)
        return -float(np.abs(self.predict(X) - shares).mean())

    def __sklearn_tags__(self) -> Any:
        """Take what the classifier takes; labels are needed."""
        tags = with_inputs_of(self.estimator, super().__sklearn_tags__())
        tags.target_tags.required = True
        return tags


def labeled_items(X: Any, y: Any) -> tuple[Any, Any]:  # noqa: N803
    """Return labelled items of two classes or more."""
    if y is None:
        needed = "requires y to be passed, but the target y is None"
        raise InputError("y", "is missing", needed, "Pass the class of every item")
    X, y = indexable(X, y)  # noqa: N806
    never = isinstance(y, np.ndarray) and y.dtype.kind in "biuU"
    missing = 0 if never else sum(each is None or each != each for each in np.asarray(y, dtype=object).ravel())
    if missing:
        needed, remedy = "labelled items have a class each", "Leave them out, in pandas X[y.notna()], y[y.notna()]"
        raise InputError("y", f"has {missing:,} missing value{'s' * (missing > 1)}", needed, remedy)
    check_classification_targets(y)
    y = column_or_1d(y, warn=True)
    if len(np.unique(y)) < 2:
        raise InputError("y", "has 1 class", "shares are of two classes or more", "Label items of every class")
    return X, y
