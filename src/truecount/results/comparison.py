"""Methods side by side: a row for each, and the posterior above them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from truecount._types import FloatArray, IntArray, Name
from truecount._wording import fixed, listed, visible
from truecount.results.finding import OF_METHOD, Finding, without
from truecount.results.posterior import Posterior
from truecount.results.summary import Table

KINDS = {"bootstrap": "the bootstrap", "asymptotic": "the delta method"}
MOST_WITH_INTERVALS = 4
"""Classes; where there are more, the table gives points alone."""
MOST_SHOWN = 8
"""Classes; where there are more, the table shows those with the largest posterior mean."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Row:
    """What one method says.

    Parameters
    ----------
    method
        Its name.
    prevalence
        Shape (classes,); None where the method does not apply.
    interval
        Shape (classes, 2); None where there is none.
    kind
        How the interval was made: ``"bootstrap"``, ``"asymptotic"`` or nothing.
    reason
        Why the method does not apply; empty where it does.
    findings
        What to know before relying on it.
    is_corrected
        Whether misclassification is corrected for.
    """

    method: str
    prevalence: FloatArray | None = None
    interval: FloatArray | None = None
    kind: str = ""
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    is_corrected: bool = True


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Comparison:
    """What each method says of the same data, and the posterior beside them.

    Parameters
    ----------
    rows
        One for each method, in the order asked for; those that do not apply say why.
    posterior
        What `infer` says; of scores, on the counts of the most probable classes.
    level
        Of all intervals.
    provenance
        How it was made: seed, version.
    is_of_scores
        Whether the data are scores, which the posterior of counts leaves unused.

    Notes
    -----
    An interval of the bootstrap or the delta method is not the posterior's: with few labels it is too narrow.
    """

    rows: tuple[Row, ...]
    posterior: Posterior
    level: float
    provenance: Mapping[str, Any]
    is_of_scores: bool = False

    @property
    def classes(self) -> tuple[Name, ...]:
        """Names of the classes, in the order of every row."""
        return self.posterior.classes

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What to know about the posterior and about the data, each said once; rows have those of their method."""
        found = (*self.posterior.findings, *(finding for row in self.rows for finding in row.findings))
        return tuple({finding.message: finding for finding in without(found, OF_METHOD)}.values())

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, schema ``truecount.comparison/1``."""
        return {
            "schema": "truecount.comparison/1",
            "level": self.level,
            "classes": list(self.classes),
            "methods": [_plain(row) for row in self.rows],
            "posterior": self.posterior.to_dict(level=self.level),
            **self.provenance,
        }

    def table(self) -> Table:
        """Return a row for each method that applies, below the posterior's, and what to know."""
        places = np.sort(np.argsort(-self.posterior.mean, kind="stable")[:MOST_SHOWN])
        first = Row(method="posterior", prevalence=self.posterior.mean, interval=self.posterior.interval(self.level))
        applied = [(row, row.prevalence) for row in (first, *self.rows) if row.prevalence is not None]
        rows = [_cells(row, shares, places) for row, shares in applied]
        if not self.posterior.has_answer:
            rows[0] = ["posterior", *["no answer"] * len(places)]
        header = ["method", *(visible(self.classes[place]) for place in places)]
        return Table(header, rows, self.findings, "\n".join(self.notes()), on_left=range(len(header)))

    def notes(self) -> list[str]:
        """Say what stands in the cells, and what does not."""
        hidden = max(0, len(self.classes) - MOST_SHOWN)
        notes = [f"Left out: {', '.join(names)} ({reason})." for reason, names in self._left_out().items()]
        notes += [f"{listed(names)}: {caution}" for caution, names in self._cautions().items()]
        if self.is_of_scores:
            notes.append(
                "posterior: It is that of the most probable classes; infer(scores) uses the scores themselves."
            )
        if hidden:
            notes.append(f"{hidden} more classes are in .rows.")
        if len(self.classes) <= MOST_WITH_INTERVALS:
            notes.append(f"In brackets: {100 * self.level:.6g} % intervals{self._kinds()}.")
        return notes

    def __repr__(self) -> str:
        return self.table().to_text()

    def _repr_html_(self) -> str:
        return self.table().to_html()

    def _left_out(self) -> dict[str, list[str]]:
        """Methods that do not apply, by the reason."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            if row.prevalence is None:
                found.setdefault(row.reason.removeprefix(f"{row.method} "), []).append(row.method)
        return found

    def _cautions(self) -> dict[str, list[str]]:
        """Methods that were applied, by what is true of them whatever the data."""
        found: dict[str, list[str]] = {}
        for row in self.rows:
            for finding in row.findings:
                if finding.code == OF_METHOD:
                    found.setdefault(finding.message.removeprefix(f"Of {row.method}: "), []).append(row.method)
        return found

    def _kinds(self) -> str:
        kinds = dict.fromkeys(KINDS[row.kind] for row in self.rows if row.kind)
        return f"; those of the methods by {' and '.join(kinds)}" if kinds else ""


def _plain(row: Row) -> dict[str, Any]:
    lower, upper = (None, None) if row.interval is None else row.interval.T.tolist()
    shares = None if row.prevalence is None else row.prevalence.tolist()
    made = {"prevalence": shares, "lower": lower, "upper": upper, "interval": row.kind or None}
    findings = [finding.to_dict() for finding in row.findings]
    return {
        "method": row.method,
        "corrected": row.is_corrected,
        **made,
        "reason": row.reason or None,
        "findings": findings,
    }


def _cells(row: Row, shares: FloatArray, places: IntArray) -> list[str]:
    """Return the method and a cell for each class."""
    points = [f"{fixed(100 * share, 1)} %" for share in shares[places]]
    if row.interval is None or len(places) > MOST_WITH_INTERVALS:
        return [row.method, *points]
    ends = [f"({fixed(100 * low, 1)} \N{EN DASH} {fixed(100 * high, 1)})" for low, high in row.interval[places]]
    return [row.method, *map(" ".join, zip(points, ends, strict=True))]
