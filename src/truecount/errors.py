"""What can go wrong, by name.

::

    ValueError
    └── InputError                fix the data or the argument it names
        └── UnsuitableEngineError   this engine cannot do this problem; the message names one that can
    ImportError
    └── MissingExtraError         an optional package is missing; the message is its `pip install` line
    UserWarning
    └── TruecountWarning          there is an answer that should not be relied on
        ├── CalibrationWarning      probabilities do not mean what they are taken for
        ├── ConvergenceWarning      the draws have not converged
        └── IdentifiabilityWarning  the data cannot tell some classes apart
"""

from collections.abc import Mapping
from typing import Self


class InputError(ValueError):
    """Bad input, told in four parts: which argument, what was found, what is needed, what to do.

    >>> print(InputError("level", "is 1.2", "it must lie above 0 and below 1", "Write 0.95 for 95 %"))
    level is 1.2: it must lie above 0 and below 1. Write 0.95 for 95 %.
    """

    def __init__(self, argument: str, found: str, needed: str, remedy: str) -> None:
        super().__init__(argument, found, needed, remedy)
        self.argument, self.found, self.needed, self.remedy = argument, found, needed, remedy

    def about(self, argument: str) -> Self:
        """Return the same error of another argument."""
        return type(self)(argument, self.found, self.needed, self.remedy)

    def calling(self, names: Mapping[str, str]) -> Self:
        """Return the same error with other names in its words: those of the user, for instance, for paths of copies."""
        parts = [self.argument, self.found, self.needed, self.remedy]
        for before, name in names.items():
            parts = [part.replace(before, name) if before in part else part for part in parts]
        return type(self)(*parts)

    def __str__(self) -> str:
        return f"{self.argument} {self.found}: {self.needed}. {self.remedy}."


class UnsuitableEngineError(InputError):
    """The chosen engine cannot draw from this posterior."""


class MissingExtraError(ImportError):
    """A feature needs a package that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs the extra '{extra}': pip install 'truecount[{extra}]'")
        self.feature, self.extra = feature, extra

    def __reduce__(self) -> tuple[type["MissingExtraError"], tuple[str, str]]:
        return type(self), (self.feature, self.extra)


class TruecountWarning(UserWarning):
    """There is an answer that should not be relied on."""


class CalibrationWarning(TruecountWarning):
    """Probabilities are of another prevalence than they are taken for, or are not calibrated."""


class ConvergenceWarning(TruecountWarning):
    """The draws have not converged: means, intervals and their errors may be wrong."""


class IdentifiabilityWarning(TruecountWarning):
    """The data cannot tell some classes apart."""
