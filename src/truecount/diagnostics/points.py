"""What a point estimate leaves unsaid: read off the method, the data and the answer."""

import numpy as np

from truecount._advice import USE_POSTERIOR, Action, Advice
from truecount._types import FloatArray
from truecount._wording import listed_classes
from truecount.counts.table import Counts
from truecount.diagnostics.blind_spots import cannot_tell
from truecount.diagnostics.findings import of_counts
from truecount.estimators.adjusted import indistinct_classes
from truecount.estimators.rates import FromRates, harden, rates_of
from truecount.estimators.register import Method
from truecount.models import Prior
from truecount.results.finding import OF_METHOD, Finding, gravest_first
from truecount.scores.scores import Scores

RESTRICT = Action("Use restricted=True, or infer(), whose", "Leave --method out: the posterior's")
ROUNDING = 1e-9
"""Shares may miss zero and one by this without being outside."""


def of_point(data: Counts | Scores, method: Method, prevalence: FloatArray) -> tuple[Finding, ...]:
    """Return what is known about a point by some method."""
    return gravest_first([_caution(method), *_of_rates(data, method, prevalence), _outside(data, prevalence)])


def _caution(method: Method) -> Finding | None:
    if not method.caution:
        return None
    said = f"Of {method.name}: {method.caution}"
    return Finding(OF_METHOD, "caution", said, {"method": method.name}, Advice("{}.", USE_POSTERIOR))


def _of_rates(data: Counts | Scores, method: Method, prevalence: FloatArray) -> tuple[Finding, ...]:
    """Return the reasons not to undo the confusion: of counts all that is cheap, of scores classes alike."""
    if not (isinstance(method, FromRates) and method.is_adjusted):
        return ()
    if not method.soft:
        return of_counts(harden(data), Prior(), prevalence)
    alike = indistinct_classes(rates_of(data, method, method.name).confusion)
    return (cannot_tell([data.classes[position] for position in alike]),) if alike else ()


def _outside(data: Counts | Scores, prevalence: FloatArray) -> Finding | None:
    wrong = np.flatnonzero((prevalence < -ROUNDING) | (prevalence > 1 + ROUNDING))
    if not len(wrong) and abs(prevalence.sum() - 1) <= ROUNDING:
        return None
    names = [data.classes[position] for position in wrong]
    said = f"{listed_classes(names)} below 0 or above 1" if names else f"shares that sum to {prevalence.sum():.4g}"
    return Finding(
        "outside-simplex",
        "caution",
        f"The estimate is not restricted to shares, and has {said}.",
        {"classes": names, "sum": float(prevalence.sum())},
        Advice("{} shares are shares.", RESTRICT),
    )
