"""What a result says about itself that a reader should know."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Severity: TypeAlias = Literal["info", "caution", "serious"]
OF_METHOD = "method"
"""Code of what is true of a method whatever the data."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know before leaning on a result.

    Parameters
    ----------
    code
        Stable name, such as ``"not-converged"``.
    severity
        ``"info"``, ``"caution"``, or ``"serious"``: do not use the answer without acting on it.
    message
        One sentence that needs no statistics to read.
    numbers
        The figures behind it.
    advice
        What to do about it.
    """

    code: str
    severity: Severity
    message: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    advice: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, ready for JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "advice": self.advice,
            "numbers": dict(self.numbers),
        }
