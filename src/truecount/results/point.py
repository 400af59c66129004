"""An answer that is one point: the share of every class, without uncertainty."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from truecount._html import html_table
from truecount._types import FloatArray, Name
from truecount.results.finding import Finding
from truecount.results.table import display_width, remark, visible


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
        What to know before leaning on it.
    provenance
        How it was made: the method, its settings, version.

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

    def to_dict(self) -> dict[str, Any]:
        """Give plain values, schema ``truecount.point/1``."""
        shares = zip(self.classes, self.prevalence.tolist(), strict=True)
        return {
            "schema": "truecount.point/1",
            "classes": [{"class": name, "share": share} for name, share in shares],
            "findings": [finding.to_dict() for finding in self.findings],
            **self.provenance,
        }

    def __str__(self) -> str:
        names = ["class", *map(visible, self.classes)]
        shares = ["share", *(f"{100 * share:.2f} %" for share in self.prevalence)]
        name_width, share_width = max(map(display_width, names)), max(map(len, shares))
        lines = [
            name + " " * (name_width - display_width(name)) + f"  {share:>{share_width}}"
            for name, share in zip(names, shares, strict=True)
        ]
        return "\n".join([*lines, *map(remark, self.findings)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        shares = (
            [visible(name), f"{100 * share:.2f} %"] for name, share in zip(self.classes, self.prevalence, strict=True)
        )
        return html_table([["class", "share"], *shares], map(remark, self.findings))
