"""From which p-value on a test of label shift or of drift is a finding, and its severity: one rule for all of these."""

from truecount.results.finding import Severity

SERIOUS, CAUTION = 0.01, 0.05
"""P-values up to which a finding is serious, or a caution."""


def severity_of(p_value: float) -> Severity | None:
    """Return the severity of what a test finds; None where it is no sign of anything.

    >>> severity_of(0.2), severity_of(0.05), severity_of(0.01)
    (None, 'caution', 'serious')
    """
    if p_value > CAUTION:
        return None
    return "serious" if p_value <= SERIOUS else "caution"
