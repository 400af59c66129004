"""From which p-value on a test of a check is a finding, and how grave: one rule for all tests."""

from truecount.results.finding import Severity

SERIOUS, CAUTION = 0.01, 0.05
"""P-values up to which a finding is serious, or a caution."""


def severity_of(p_value: float) -> Severity | None:
    """Return how grave it is that a test finds this; None where it is no sign of anything.

    >>> severity_of(0.2), severity_of(0.05), severity_of(0.01)
    (None, 'caution', 'serious')
    """
    if p_value > CAUTION:
        return None
    return "serious" if p_value <= SERIOUS else "caution"
