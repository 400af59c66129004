"""What a point estimate leaves unsaid: read off the method, the data and the answer."""

import numpy as np

from truecount._types import FloatArray
from truecount._wording import listed
from truecount.counts.scores import Scores
from truecount.counts.table import Counts
from truecount.estimators.linear import indistinct_classes
from truecount.estimators.rates import FromRates, rates_of
from truecount.estimators.register import Method
from truecount.inference.mode import ModeRecord
from truecount.results.finding import OF_METHOD, Finding

NEARLY_AS_HIGH = 3.0
"""Nats: a summit e³ times less likely, or less, is worth a word."""
ROUNDING = 1e-9
"""Shares may miss zero and one by this without being outside."""


def reservations(data: Counts | Scores, method: Method, prevalence: FloatArray) -> tuple[Finding, ...]:
    """Say what a reader should know about this estimate."""
    found = [_caution(method), _indistinct(data, method), _outside(data, prevalence)]
    return tuple(finding for finding in found if finding is not None)


def _caution(method: Method) -> Finding | None:
    if not method.caution:
        return None
    return Finding(OF_METHOD, "caution", f"Of {method.name}: {method.caution}", {"method": method.name}, "Use infer().")


def _indistinct(data: Counts | Scores, method: Method) -> Finding | None:
    if not (isinstance(method, FromRates) and method.is_adjusted):
        return None
    alike = indistinct_classes(rates_of(data, method, method.name).confusion)
    if not alike:
        return None
    names = [data.classes[position] for position in alike]
    return Finding(
        "not-identified",
        "serious",
        f"The outputs cannot tell {listed(names)} apart: their shares are one of many that fit equally well.",
        {"classes": names},
        "Use infer(), which shows how far they may go, or a box with more outputs.",
    )


def _outside(data: Counts | Scores, prevalence: FloatArray) -> Finding | None:
    wrong = np.flatnonzero((prevalence < -ROUNDING) | (prevalence > 1 + ROUNDING))
    if not len(wrong) and abs(prevalence.sum() - 1) <= ROUNDING:
        return None
    names = [data.classes[position] for position in wrong]
    said = f"{listed(names)} below 0 or above 1" if names else f"shares that sum to {prevalence.sum():.4g}"
    return Finding(
        "outside-simplex",
        "caution",
        f"The estimate is not restricted to shares, and has {said}.",
        {"classes": names, "sum": float(prevalence.sum())},
        "Use restricted=True, or infer(), whose shares are shares.",
    )


def mode_findings(record: ModeRecord) -> tuple[Finding, ...]:
    """Say what a reader should know about a mode."""
    numbers = {"kkt_residual": record.kkt_residual, "iterations": record.iterations}
    ridge = Finding(
        "mode-not-unique",
        "caution",
        "Other shares are just as likely as these: the highest points form a ridge, and this is the one uphill from "
        "even shares.",
        advice="Use infer(), which shows how far the ridge goes, or a prior that prefers some of it.",
    )
    short = Finding(
        "not-converged",
        "serious",
        f"The highest point was not reached in {record.iterations} steps.",
        numbers,
        "Use infer(), which does not climb, or a stronger prior.",
    )
    found = ((not record.is_unique, ridge), (not record.is_converged, short))
    return (*_rival(record), *(finding for applies, finding in found if applies))


def _rival(record: ModeRecord) -> tuple[Finding, ...]:
    if record.rival is None or record.rival_gap is None or record.rival_gap > NEARLY_AS_HIGH:
        return ()
    shares = ", ".join(f"{100 * share:.0f} %" for share in record.rival)
    other = Finding(
        "mode-has-rival",
        "caution",
        f"Shares far from these are nearly as likely: {shares}, in the order of the classes.",
        {"rival": record.rival.tolist(), "gap": record.rival_gap},
        "Use infer(), which weighs both.",
    )
    return (other,)
