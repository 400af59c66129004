"""Whether corrected probabilities agree with the shares that they were corrected to."""

import numpy as np

from truecount._wording import percent
from truecount.results.finding import Finding
from truecount.results.posterior import Posterior
from truecount.results.recalibration import Recalibration, spread

CLEARLY = 4.0
"""Standard errors that an average must be off by; they err on the wide side: π′ is learned from the same items."""
NOTABLY = 0.05
"""How far off it must be as well: less is within what the fit of any classifier does."""


def off_average(corrected: Recalibration, posterior: Posterior) -> Finding | None:
    """Look for a class whose probabilities, averaged over the items behind the posterior, are not its share.

    ``E[P_new(y | x)] = π′_y``, whatever the classifier, where its scores are calibrated at the prevalence π that they
    were divided by. The standard error holds what is not known of π′ and π, draw by draw, and which items were met.

    Parameters
    ----------
    corrected
        Of the same items that the posterior comes from.
    posterior
        Of the shares in their population.
    """
    if not len(corrected.scores):
        return None
    off = corrected.shares - spread(posterior.prevalence, len(corrected.shares))
    error = np.hypot(off.std(axis=0), corrected.mean.std(axis=0) / np.sqrt(len(corrected.scores)))
    mean = off.mean(axis=0)
    clear = (np.abs(mean) > CLEARLY * error) & (np.abs(mean) > NOTABLY)
    if not clear.any():
        return None
    worst = int(np.where(clear, np.abs(mean), 0.0).argmax())
    name, average, share = posterior.classes[worst], corrected.shares[:, worst].mean(), posterior.mean[worst]
    return Finding(
        "scores-off-average",
        "serious",
        f"The corrected probabilities of {name} average {percent(average)}, where its share is {percent(share)}: the "
        "scores are of another prevalence than they were taken for, or are not calibrated.",
        {"class": name, "average": float(average), "share": float(share), "standard_error": float(error[worst])},
        'Use calibration="bias-corrected", or trained_on=, the shares that the classifier was trained on '
        '(equal ones after class_weight="balanced").',
    )
