"""What the classifier of a quantifier of QuaPy says becomes counts or scores."""

from typing import Any

import numpy as np
from quapy.data import LabelledCollection
from quapy.method.aggregative import AggregativeCrispQuantifier, AggregativeQuantifier, AggregativeSoftQuantifier

from truecount.counts import Counts, count
from truecount.errors import InputError
from truecount.scores import Scores


def data_of(quantifier: AggregativeQuantifier, labeled: LabelledCollection, unlabeled: Any) -> Counts | Scores:
    """Return what a fitted aggregative quantifier says of labelled and of new items, for `infer` and `compare`.

    Parameters
    ----------
    quantifier
        Fitted: one on crisp predictions, such as ``ACC``, or on probabilities, such as ``PACC`` or ``EMQ``.
    labeled
        Items that its classifier was not fitted to, with their classes.
    unlabeled
        Items of the population, as the classifier takes them.

    Returns
    -------
    `Counts` of crisp predictions, `Scores` where the quantifier aggregates probabilities.
    """
    if not isinstance(quantifier, AggregativeQuantifier):
        needed = "an aggregative quantifier has a classifier, whose outputs are read"
        raise InputError("quantifier", f"is {type(quantifier).__name__}", needed, "Pass one such as ACC or PACC")
    X, labels = labeled.Xy  # noqa: N806
    said, said_of_new = quantifier.classify(X), quantifier.classify(unlabeled)
    classes = np.asarray(quantifier.classes_).tolist()
    if isinstance(quantifier, AggregativeSoftQuantifier):
        return Scores(said, labels, said_of_new, classes)
    if isinstance(quantifier, AggregativeCrispQuantifier):
        counts: Counts = count(labels, said, said_of_new, classes=classes, outputs=classes)
        return counts
    needed = "predictions or probabilities are read"
    raise InputError("quantifier", f"is {type(quantifier).__name__}", needed, "Pass one such as ACC or PACC")
