"""The classifier itself, corrected for a new population."""

import warnings
from typing import Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from truecount import _check
from truecount._types import FloatArray
from truecount.api.recalibration import recalibrate
from truecount.diagnostics.recalibration import off_average
from truecount.errors import CalibrationWarning, InputError
from truecount.estimators.calibrate import KINDS, Calibration, fit, rescale
from truecount.inference.draws import Engine
from truecount.models import Prior
from truecount.results.recalibration import Recalibration
from truecount.scores import Cells, Partition
from truecount.scores.scores import probabilities
from truecount.sklearn.outputs import class_names, codes, share_features, with_inputs_of
from truecount.sklearn.quantifier import Quantifier, labeled_items

_DRAWS = 100
"""Enough to see whether probabilities agree with shares, and quick."""


class Recalibrated(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities are corrected for the shares of the classes among new items.

    `fit` as any classifier, then `adapt` to the population that the items in question come from.

    Parameters
    ----------
    estimator
        A classifier with ``predict_proba``.
    partition, cv, prior, engine, seed
        Of the `Quantifier` that learns the shares of the new population.
    trained_on
        The prevalence that the scores were trained on: a share for each class in the order of `classes_`, or by name.
        None is that of the items given to `fit`, with its posterior. Say it for a classifier that came fitted to other
        shares, and after ``class_weight="balanced"``, where it is equal shares.
    calibration
        ``"temperature"`` or ``"bias-corrected"``: calibrate the probabilities first, on items that the classifier was
        not fitted to; see `truecount.estimators.calibrate`. After ``"bias-corrected"`` the prevalence behind the
        probabilities is that of the items given to `fit`, whatever the classifier was trained on, so `trained_on` is
        refused; a temperature leaves it about where it was.

    Attributes
    ----------
    classes_
        The classes, in the order of every result.
    quantifier_
        The fitted `Quantifier`.
    posterior_
        Of the shares in the population, once adapted.
    findings_
        What to know of the corrected probabilities, once adapted: ``scores-off-average`` where they do not average to
        the shares in `posterior_`.

    Notes
    -----
    Before `adapt` it is the classifier as it was fitted, uncorrected: it knows of no other population. Afterwards its
    probabilities are those of the population given to `adapt`, whichever items are asked about.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = make_classification(1000, random_state=0)
    >>> classifier = Recalibrated(LogisticRegression()).fit(X[:500], y[:500])
    >>> new = np.concatenate([np.flatnonzero(y[500:] == 0)[:40], np.flatnonzero(y[500:] == 1)[:160]]) + 500
    >>> classifier.score(X[new], y[new]), classifier.adapt(X[new]).score(X[new], y[new])
    (0.94, 0.96)
    """

    def __init__(
        self,
        estimator: Any,
        partition: Partition | Cells | None = None,
        *,
        cv: Any = None,
        prior: Prior | None = None,
        engine: Engine | None = None,
        trained_on: Any = None,
        calibration: Calibration | None = None,
        seed: int = 0,
    ) -> None:
        self.estimator = estimator
        self.partition = partition
        self.cv = cv
        self.prior = prior
        self.engine = engine
        self.trained_on = trained_on
        self.calibration = calibration
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
        """Fit the classifier, count what it says of labelled items, calibrate it where asked; forget any population.

        Parameters
        ----------
        X, y
            Labelled items, as the classifier takes them, and the class of each.
        """
        self._check_prevalence()
        X, y = labeled_items(X, y)  # noqa: N806
        quantifier = Quantifier(
            self.estimator, self.partition, cv=self.cv, prior=self.prior, engine=self.engine, seed=self.seed
        )
        self.quantifier_ = quantifier.fit(X, y)
        self.classes_, self.estimator_ = quantifier.classes_, quantifier.estimator_
        self.calibration_ = None if self.calibration is None else self._calibrated(X, y)
        share_features(self.estimator_, self)
        for name in ("posterior_", "findings_"):
            if hasattr(self, name):
                delattr(self, name)
        return self

    def adapt(self, X: Any) -> Self:  # noqa: N803
        """Learn the shares of the classes in the population that these items come from.

        Warns
        -----
        CalibrationWarning
            The corrected probabilities of these items do not average to the shares; `findings_` has the figures.
        """
        check_is_fitted(self)
        self.posterior_ = self.quantifier_.posterior(X)
        found = off_average(self.recalibrate(X, draws=_DRAWS), self.posterior_)
        self.findings_ = () if found is None else (found,)
        if found is not None:
            warnings.warn(f"{found.message} {found.advice}", CalibrationWarning, stacklevel=2)
        return self

    def recalibrate(self, X: Any, *, draws: int = 400) -> Recalibration:  # noqa: N803
        """Return the corrected probabilities of items: mean, intervals, decisions."""
        check_is_fitted(self, "posterior_", msg="Call adapt(X) with items of the new population first.")
        return recalibrate(self._scores(X), self.posterior_, trained_on=self.trained_on, draws=draws)

    def predict_proba(self, X: Any) -> FloatArray:  # noqa: N803
        """Shape (items, classes): the mean of the corrected probabilities; before `adapt`, the uncorrected ones."""
        check_is_fitted(self)
        return self.recalibrate(X).mean if hasattr(self, "posterior_") else self._scores(X)

    def predict(self, X: Any) -> Any:  # noqa: N803
        """Shape (items,): the most probable class of each."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def _scores(self, X: Any) -> FloatArray:  # noqa: N803
        scores = probabilities("scores", self.estimator_.predict_proba(X))
        return scores if self.calibration_ is None else rescale(scores, *self.calibration_)

    def _check_prevalence(self) -> None:
        if self.calibration == "bias-corrected" and self.trained_on is not None:
            needed = 'after calibration="bias-corrected" it is the prevalence of the items given to fit'
            raise InputError("trained_on", "is given", needed, "Leave one of the two out")

    def _calibrated(self, X: Any, y: Any) -> tuple[float, FloatArray]:  # noqa: N803
        """Return the inverse temperature and the biases, from scores of items that the classifier was not fitted to."""
        kind = _check.one_of("calibration", self.calibration, KINDS)
        classes = class_names(self.estimator_, y)
        scores, labels = self.quantifier_._sorter.held_out_scores(X), codes("y", y, classes)
        return fit(scores, labels, with_bias=kind == "bias-corrected")

    def __sklearn_tags__(self) -> Any:
        """Take what the classifier takes."""
        return with_inputs_of(self.estimator, super().__sklearn_tags__())
