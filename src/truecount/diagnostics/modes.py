"""What the climb to the highest point of a posterior leaves unsaid."""

from truecount._advice import USE_POSTERIOR, Advice
from truecount.inference.modes.mode import ModeRecord
from truecount.results.finding import Finding

NEARLY_AS_HIGH = 3.0
"""Nats: a mode e³ times less likely, or less, is worth a word."""


def mode_findings(record: ModeRecord) -> tuple[Finding, ...]:
    """Say what a reader should know about a mode."""
    numbers = {"kkt_residual": record.kkt_residual, "iterations": record.iterations}
    ridge = Finding(
        "mode-not-unique",
        "caution",
        "Other shares are just as likely as these: the highest points form a ridge, and this is the one uphill from "
        "even shares.",
        advice=Advice("{}, which shows how far the ridge goes, or a prior that prefers some of it.", USE_POSTERIOR),
    )
    short = Finding(
        "not-converged",
        "serious",
        f"The highest point was not reached in {record.iterations} steps.",
        numbers,
        Advice("{}, which does not climb, or a stronger prior.", USE_POSTERIOR),
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
        Advice("{}, which weighs both.", USE_POSTERIOR),
    )
    return (other,)
