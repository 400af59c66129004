"""What a check found: the findings, and the tables behind them."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, log10
from typing import Any

from truecount._table import aligned
from truecount._wording import fixed, listed, visible
from truecount.models.register import KINDS
from truecount.results.finding import Finding
from truecount.results.posterior import Posterior
from truecount.results.summary import Look, remark, tabulate

Row = Mapping[str, Any]
TITLES = {
    "classes": "What was learned of each class",
    "given_output": "What each class was inferred from",
    "identifiability": "Identifiability: what the outputs can tell apart, as far as the labels show",
    "outputs": "What the model expects of each output, and what was seen",
    "tests": "Tests",
    "groups": "Each group by itself",
    "audit": "Audit: labels of both sides compared",
    "priors": "What another prior would say (mean of each class)",
    "designs": "What other sampling designs of the labels would mean",
    "label_error": "If some labels were wrong",
    "drift": "If every row of the confusion may have moved",
    "conclusions": "What would overturn a conclusion",
    "coverage": "Empirical coverage of the intervals, at sizes like these",
    "calibration": "Simulation-based calibration at sizes like these",
}
"""What each table is called on the page, in their order."""
ROW_PRIOR = "row prior: what the prior of P(output | class) weighs, in labels; "
"""What is left out of a note where the column is."""
SHOWN = "shown: whether the whole interval lies there"
NOTES = {
    "classes": f"{ROW_PRIOR}sd: standard deviation of the share; before, after: prior and posterior; kept: their "
    "ratio, above 100 % where a share is less certain than before, as that of a class which turned out to be far more "
    "common than the prior expected.",
    "given_output": "output prior: what the prior of P(class | output) adds to the labels of the class, all outputs "
    "together; sd: standard deviation of the share.",
    "identifiability": "rank: how many classes, or mixes of them, the outputs tell apart; condition: 1 at best; the "
    "larger, the harder they are to tell apart, and a dash where some cannot be.",
    "outputs": "seen: share of the unlabelled items; nearest mix: the closest that the labelled items of all "
    "classes, mixed in any proportion, come to it; predicted: interval of the posterior predictive "
    "distribution, at the level of the intervals above.",
    "tests": "p value: how often chance alone looks as odd as this; 0.05 or less counts as a sign.",
    "groups": "All other tables, and the shares at the top, are of all groups together. p value: of label shift in "
    "this group, a dash where nothing can be tested; of many groups, one in twenty has 0.05 or less by chance.",
    "audit": "p value: how often chance alone makes both sides differ as much.",
    "priors": "prevalence: prior of the shares; confusion: prior of the rows of the confusion matrix; "
    "× 0.5: concentrations halved; given output: prior of the classes of each output; most moved: "
    "the largest change, in standard deviations of the answer; 0.3 is much.",
    "designs": f"{'; '.join(f'{kind.option()}: {kind.sampling}' for kind in KINDS)}. Only you know which is true.",
    "label_error": "label error: share of the labels that is wrong; right: mean if all are right, the rows of the "
    "confusion learned from the labels alone; mean: if errors of all classes are alike; lowest, highest: of the means, "
    "if items of one class alone may be mislabelled, whichever; lower, upper: the widest ends of intervals then.",
    "drift": "full: the posterior; cut: unlabelled items do not update the confusion matrix; "
    "tempered: they count half; drift up to 5 %: whichever 5 % of each class's items now get another output.",
    "conclusions": f"{SHOWN}; smallest drift: share of each class's items that would have to get another output now.",
    "coverage": "held: how often the interval held the truth, in simulated data of these sizes; error: by how much "
    "that may be off by chance; width: of the interval, on average.",
    "calibration": "ranks: in how many simulated data sets the truth was the lowest, second lowest, … among the "
    "draws; all alike where all is well.",
}
"""What the columns of a table mean, in a line below it."""
OF_SCORES = (
    "This answer is computed from scores. What other designs would mean, and whether anything shifted at all, is told "
    "by the most probable class of each item, which says less."
)
ONE_VERDICT = ("coverage", "calibration")
"""Tables with one verdict for all rows, which is said once."""
OPTIONS = {kind.name: kind.option() for kind in KINDS}
"""Names of the designs in JSON, and as they are typed and printed."""
MOST_ROWS, MOST_DECIMALS = 25, 3
NO_SHARES = (
    *("condition", "statistic", "p_value", "labeled", "unlabeled", "audited", "row_prior", "output_prior"),
    "most_moved",
)
"""Columns of numbers that are not shares, and are not printed as percentages."""


ABOUT_SHARES = ("sd_before", "sd_after", "barely_seen", "nearest_mix", "predicted_lower", "predicted_upper")
WORDS = (*NO_SHARES, *ABOUT_SHARES, "smallest_drift", "label_error")
"""Columns of several words; others may be called like a class, which keeps its name."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Check:
    """Whether an answer may be trusted.

    Parameters
    ----------
    posterior
        The answer that was checked.
    findings
        Its findings and those of the check, the gravest first.
    tables
        Rows of plain values by the name of the table: ``classes``, ``identifiability``, ``outputs``, ``tests``,
        ``priors``, ``designs`` (``given_output``, ``tests`` and ``priors`` where P(class | output) carries over) and,
        where asked for, ``groups``, ``audit``, ``label_error``, ``drift``, ``conclusions``, ``coverage`` and
        ``calibration``. Every row of a table has the same keys.
    provenance
        Seed, replicates, version.
    level
        Of the intervals.
    """

    posterior: Posterior
    findings: tuple[Finding, ...]
    tables: Mapping[str, tuple[Row, ...]]
    provenance: Mapping[str, Any]
    level: float = 0.95

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, schema ``truecount.check/1``."""
        return {
            "schema": "truecount.check/1",
            "findings": [finding.to_dict() for finding in self.findings],
            "tables": {name: [dict(row) for row in rows] for name, rows in self.tables.items()},
            "answer": self.posterior.to_dict(level=self.level),
            **self.provenance,
        }

    def __str__(self) -> str:
        together = [f"All {len(self.tables['groups']):,} groups together:"] if "groups" in self.tables else []
        of_scores = [OF_SCORES] if self.posterior.run.is_of_scores else []
        parts = [[*together, *tabulate(self.posterior, Look(level=self.level)).cell_lines(), *of_scores]]
        said = [*map(remark, self.findings)] or ["No finding: nothing in these data contradicts the answer."]
        parts.append(said)
        parts += [self._table(name) for name in TITLES if self.tables.get(name)]
        return "\n\n".join("\n".join(lines) for lines in parts)

    __repr__ = __str__

    def _table(self, name: str) -> list[str]:
        rows, verdict = self.tables[name], []
        if name in ONE_VERDICT:
            verdict = [f"  {rows[0]['verdict']}"]
            rows = tuple({key: value for key, value in row.items() if key != "verdict"} for row in rows)
        if name == "designs":
            rows = tuple({**row, "design": OPTIONS[row["design"]]} for row in rows)
        if name == "groups":
            rows, verdict = _own_findings(rows), self._of_all(rows)
        note = NOTES[name] if name != "classes" or "row_prior" in rows[0] else NOTES[name].removeprefix(ROW_PRIOR)
        if name == "conclusions" and "smallest_drift" not in rows[0]:
            return ["Whether the interval shows a conclusion", *value_lines(rows), f"  {SHOWN}."]
        return [TITLES[name], *value_lines(rows), *verdict, f"  {note}"]

    def _of_all(self, rows: tuple[Row, ...]) -> list[str]:
        """Return what was found of all groups together, from which no group is excepted."""
        of_one = tuple(f"In {row['group']}: " for row in rows)
        told = [each for each in self.findings if each.severity != "info" and not each.message.startswith(of_one)]
        codes = dict.fromkeys(each.code for each in told)
        return [f"  Told above of all groups together, and so of each of these: {listed(codes)}."] if codes else []


def _own_findings(rows: tuple[Row, ...]) -> tuple[Row, ...]:
    """Return the rows without a status that is the same everywhere: beside a group, ok would read like a verdict."""
    has_failed = any(row["status"] != "ok" for row in rows)
    own = ({**row, "findings of its own": row["findings"]} for row in rows)
    left_out = {"findings"} if has_failed else {"findings", "status"}
    return tuple({name: value for name, value in row.items() if name not in left_out} for row in own)


def value_lines(rows: tuple[Row, ...]) -> list[str]:
    """Set rows of plain values in columns; names on the left and numbers on the right."""
    header = list(rows[0])
    decimals = {name: None if name in NO_SHARES else _decimals(rows) for name in header}
    body = [[_cell(row[name], decimals[name]) for name in header] for row in rows[:MOST_ROWS]]
    titles = [name.replace("_", " ") if name in WORDS else visible(name) for name in header]
    words = [place for place, name in enumerate(header) if any(isinstance(row[name], str) for row in rows)]
    more = len(rows) - MOST_ROWS
    return [f"  {line}" for line in aligned([titles, *body], on_left=words)] + (
        [f"  … and {more} more rows"] if more > 0 else []
    )


def _decimals(rows: tuple[Row, ...]) -> int:
    """As many decimals as leave two digits to the smallest share; lower ends may be as near to zero as they like."""
    names = [name for name in rows[0] if name not in (*NO_SHARES, "lower", "predicted_lower")]
    shares = [100 * abs(row[name]) for row in rows[:MOST_ROWS] for name in names if isinstance(row[name], float)]
    smallest = min((share for share in shares if share > 0), default=100.0)
    return min(max(1, ceil(1 - log10(smallest))), MOST_DECIMALS)


def _cell(value: Any, decimals: int | None) -> str:
    if value is None:
        return "\N{EN DASH}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return " ".join(map(str, value))
    if isinstance(value, float) and decimals is not None:
        return f"{fixed(100 * value, decimals)} %"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
    return visible(value)
