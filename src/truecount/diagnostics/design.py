"""Whether it matters how the labels were chosen."""

import numpy as np

from truecount._advice import Advice
from truecount._wording import called, percent
from truecount.diagnostics.shift import chi_square_quantile
from truecount.models import ByPrediction, SamePopulation
from truecount.results.finding import Finding
from truecount.results.posterior import Posterior

LEVEL = 0.999


def design_finding(shift: Posterior, same: Posterior) -> Finding | None:
    """Find a class whose share by label shift and as a random sample of one population differ beyond their errors."""
    variance = np.maximum(shift.sd**2 + same.sd**2, 1e-18)
    distance = (shift.mean - same.mean) ** 2 / variance
    worst = int(distance.argmax())
    if distance[worst] <= chi_square_quantile(1, 1 - (1 - LEVEL) / len(distance)):
        return None
    name, shares = shift.classes[worst], (float(shift.mean[worst]), float(same.mean[worst]))
    return Finding(
        "designs-disagree",
        "info",
        f"It matters how the labels were chosen: {called(name)} has {percent(shares[0])} if they come from another "
        f"population, and {percent(shares[1])} if they were sampled from this one.",
        {"class": name, "shares": list(shares), "standard_errors_apart": float(distance[worst]) ** 0.5},
        Advice(
            "If the labelled items come from this population use {}, or {} if they are stratified by output; if they "
            "come from elsewhere, nothing is wrong.",
            SamePopulation.choice(),
            ByPrediction.choice(),
        ),
    )
