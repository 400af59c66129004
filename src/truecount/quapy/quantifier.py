"""A method of QuaPy: outputs that its machinery makes are counted, and the posterior is its region of confidence."""

from typing import Any, Literal, Self, TypeAlias

import numpy as np
from quapy.method.aggregative import AggregativeCrispQuantifier
from quapy.method.confidence import WithConfidenceABC

from truecount import _check
from truecount._types import FloatArray
from truecount.api.bayesian import infer
from truecount.counts import Counts
from truecount.errors import InputError
from truecount.inference import Auto
from truecount.inference.draws import Engine
from truecount.models import LabelShift, Prior
from truecount.results import Posterior
from truecount.results.summary import Target

Region: TypeAlias = Literal["intervals", "ellipse", "ellipse-clr", "ellipse-ilr"]


class Quantifier(AggregativeCrispQuantifier, WithConfidenceABC):  # type: ignore[misc]
    """Infer the share of every class from what a classifier predicts, as an aggregative quantifier of QuaPy.

    Parameters
    ----------
    classifier, fit_classifier, val_split
        As in every aggregative quantifier of QuaPy: the classifier, whether it is fitted here, and how labelled items
        get predictions by a classifier that was not fitted to them.
    prior
        The prior; None is `Prior()`.
    engine
        What draws; None is `Auto()`.
    target
        Whose shares are estimated: those ``"realized"`` in the sample, which is what QuaPy's protocols ask for, or
        those of the ``"population"`` behind it.
    region
        The region that QuaPy makes of the draws: ``"intervals"``, ``"ellipse"``, ``"ellipse-clr"``, ``"ellipse-ilr"``.
    seed
        Of the draws.

    Notes
    -----
    Without ``val_split`` predictions would be of items that the classifier was fitted to, and are refused.
    """

    def __init__(
        self,
        classifier: Any = None,
        fit_classifier: bool = True,
        val_split: Any = 5,
        prior: Prior | None = None,
        engine: Engine | None = None,
        target: Target = "realized",
        region: Region = "intervals",
        seed: int = 0,
    ) -> None:
        super().__init__(classifier, fit_classifier, val_split)
        self.prior = prior
        self.engine = engine
        self.target = target
        self.region = region
        self.seed = seed

    def aggregation_fit(self, classif_predictions: Any, labels: Any) -> Self:
        """Count labelled items by class and prediction."""
        _check.one_of("region", self.region, WithConfidenceABC.REGION_TYPE)
        if classif_predictions is None:
            needed = "labelled items need predictions by a classifier that was not fitted to them"
            raise InputError("val_split", "is None", needed, "Pass a number of folds, a share, or (X, y)")
        size = len(self.classes_)
        places = self._places(labels) * size + self._places(classif_predictions)
        self.labeled_ = np.bincount(places, minlength=size * size).reshape(size, size)
        return self

    def _places(self, names: Any) -> Any:
        """Shape (items,): the position of each class among those of the classifier, which are sorted."""
        return np.searchsorted(self.classes_, names)

    def posterior_of(self, classif_predictions: Any) -> Posterior:
        """Infer the shares behind predictions, as `classify` makes them."""
        unlabeled = np.bincount(self._places(classif_predictions), minlength=len(self.classes_))
        counts = Counts(self.labeled_, unlabeled, np.asarray(self.classes_).tolist())
        return infer(counts, LabelShift(self.prior or Prior()), engine=self.engine or Auto(), seed=self.seed)

    def posterior(self, X: Any) -> Posterior:  # noqa: N803
        """Infer the share of every class in the population that these items come from."""
        return self.posterior_of(self.classify(X))

    def aggregate(self, classif_predictions: Any) -> FloatArray:
        """Shape (classes,): the posterior mean of each class's share."""
        mean: FloatArray = self.posterior_of(classif_predictions).shares(self.target).mean(axis=0)
        return mean

    def predict_conf(self, instances: Any, confidence_level: float = 0.95) -> tuple[FloatArray, Any]:
        """Return the posterior mean and QuaPy's region of confidence, made of the draws."""
        draws = self.posterior(instances).shares(self.target)
        return draws.mean(axis=0), self.construct_region(draws, confidence_level, method=self.region)
