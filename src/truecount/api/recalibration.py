"""The classifier corrected for the prevalence of a new population."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from truecount import _check
from truecount._types import FloatArray, Name
from truecount._wording import quoted
from truecount.errors import InputError
from truecount.results.posterior import Posterior
from truecount.results.recalibration import Recalibration, spread
from truecount.scores.scores import probabilities

_SMALLEST = 1e-200
"""A share drawn as zero counts as this, so that an item that can be of no other class still belongs to it."""


def recalibrate(scores: Any, posterior: Posterior, *, trained_on: Any = None, draws: int = 400) -> Recalibration:
    """Correct class probabilities for the prevalence of a new population.

    Parameters
    ----------
    scores
        Shape (items, classes): probabilities of the classifier, columns in the order of ``posterior.classes``.
    posterior
        Of the prevalence π′ of the population that the items come from.
    trained_on
        The prevalence π that the scores were trained or calibrated on: a share for each class, in order or by name, or
        draws of them, shape (draws, classes). Left out, it is taken to be that behind the labelled items, with its
        posterior; say it where the classifier was trained on others.
    draws
        How many draws to average over, at most; they are spread evenly over those of the posterior.

    Notes
    -----
    Not for scores that are not calibrated: a wrong probability, reweighted, stays wrong (`estimators.calibrate` fixes
    many). Saerens, Latinne & Decaestecker (2002) correct by a point estimate; here what is not known of π′ and π is
    carried through (Ziegler & Czyż, 2024, footnote on π′/π).

    Examples
    --------
    >>> from truecount import Counts, infer
    >>> posterior = infer(Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"]), seed=1)
    >>> corrected = recalibrate([[0.5, 0.5], [0.1, 0.9]], posterior, trained_on={"fail": 0.5, "pass": 0.5})
    >>> corrected.mean.round(2)
    array([[0.84, 0.16],
           [0.38, 0.62]])
    >>> corrected.interval(0.95)[0].round(2)
    array([[0.74, 0.94],
           [0.06, 0.26]])
    """
    _check.instance_of("posterior", posterior, Posterior, "Pass what infer(counts) gives")
    rows, wanted = probabilities("scores", scores), _check.whole_number("draws", draws, least=1)
    if rows.shape[1] != len(posterior.classes):
        needed = f"the posterior has {len(posterior.classes)} classes"
        raise InputError("scores", f"has {rows.shape[1]} columns", needed, "Pass a column for each class, in order")
    old = posterior.labeled_prevalence if trained_on is None else _prevalence(trained_on, posterior.classes)
    ratios = np.maximum(spread(posterior.prevalence, wanted), _SMALLEST) / spread(old, wanted)
    return Recalibration(scores=rows, ratios=ratios, classes=posterior.classes)


def _prevalence(given: Any, classes: Sequence[Name]) -> FloatArray:
    """Shape (draws, classes): shares above zero that sum to one; a single row where one prevalence was given."""
    if isinstance(given, Mapping):
        if set(given) != set(classes):
            needed = f"the classes are {quoted(classes)}"
            raise InputError("trained_on", f"names {quoted(given)}", needed, "Name each class once")
        given = [given[name] for name in classes]
    rows = probabilities("trained_on", np.atleast_2d(given))
    if rows.shape[1] != len(classes) or not (rows > 0).all():
        found = f"has shape {np.shape(given)}" if rows.shape[1] != len(classes) else "has a share of 0"
        needed = f"it must give each of {len(classes)} classes a share above 0"
        raise InputError("trained_on", found, needed, "Pass the shares of the items that the classifier was trained on")
    return rows
