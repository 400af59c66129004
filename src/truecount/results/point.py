"""An answer that is one point: the share of every class, without uncertainty."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from truecount._types import FloatArray, Name
from truecount._wording import fixed, visible
from truecount.results.finding import Finding
from truecount.results.summary import Table, interval_name


@dataclass(frozen=True, eq=False, kw_only=True)
class PointEstimate:
    """The share of every class in the unlabelled population, as one point.

    Parameters
    ----------
    prevalence
        Shape (classes,).
    classes
        Their names.
    findings
        What to know before relying on it.
    provenance
        How it was made, for export: the method, its settings, version.
    interval, level
        Shape (classes, 2), and its level; of a method that comes with one, else None.
    is_corrected
        Whether misclassification is corrected for; False where outputs are only counted.

    Notes
    -----
    A point says nothing about how sure it is; `truecount.infer` does.

    Examples
    --------
    >>> import numpy as np
    >>> PointEstimate(prevalence=np.array([0.25, 0.75]), classes=("fail", "pass"), findings=(), provenance={})
    class    share
    fail   25.00 %
    pass   75.00 %
    """

    prevalence: FloatArray
    classes: tuple[Name, ...]
    findings: tuple[Finding, ...]
    provenance: Mapping[str, Any]
    interval: FloatArray | None = None
    level: float | None = None
    is_corrected: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, schema ``truecount.point/1``."""
        shares = zip(self.classes, self.prevalence.tolist(), strict=True)
        return {
            "schema": "truecount.point/1",
            "corrected": self.is_corrected,
            "classes": [
                {"class": name, "share": share, **ends}
                for (name, share), ends in zip(shares, self._ends(), strict=True)
            ],
            "findings": [finding.to_dict() for finding in self.findings],
            **self.provenance,
        }

    def _ends(self) -> list[dict[str, float]]:
        if self.interval is None:
            return [{} for _ in self.classes]
        return [{"lower": lower, "upper": upper} for lower, upper in self.interval.tolist()]

    def table(self) -> Table:
        """Return the cells: a share for each class, and its interval where there is one."""
        shares = zip(self.classes, self.prevalence, strict=True)
        header, rows = ["class", "share"], [[visible(name), f"{fixed(100 * share, 2)} %"] for name, share in shares]
        if self.interval is not None and self.level is not None:
            header.append(interval_name(self.level, "equal-tailed"))
            spans = [f"{fixed(100 * low, 2)} \N{EN DASH} {fixed(100 * high, 2)} %" for low, high in self.interval]
            rows = [[*row, span] for row, span in zip(rows, spans, strict=True)]
        return Table(header, rows, self.findings)

    def __repr__(self) -> str:
        return self.table().to_text()

    def _repr_html_(self) -> str:
        return self.table().to_html()
