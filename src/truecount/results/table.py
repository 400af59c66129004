"""A result as a table to read, in text and in HTML: here numbers become words."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from truecount._table import aligned, html_table
from truecount._types import FloatArray, Name
from truecount._wording import cut_middle, listed, percent, visible
from truecount.inference.convergence import RHAT_MOST
from truecount.results.finding import Finding
from truecount.results.summary import Kind, Summary, Target, fold_note, folded_summary

if TYPE_CHECKING:
    from truecount.counts import Counts
    from truecount.results.posterior import Posterior

LONGEST_NAME = 40
SHARE_NAMES = {"population": "true share", "realized": "share of these items"}


@dataclass(frozen=True, slots=True)
class Table:
    """A header, a row for each class, and what to say below: how it was made and what to know.

    Parameters
    ----------
    header, rows
        The cells; without rows there is nothing to show, and the headline says why.
    findings
        What to know.
    how
        How it was made, in a line.
    headline
        A sentence above the table.
    note
        What a column means, in a line below the table.
    on_left
        Which columns begin on the left: that of names by default.
    """

    header: list[str]
    rows: list[list[str]]
    findings: Sequence[Finding]
    how: str = ""
    headline: str = ""
    note: str = ""
    on_left: Collection[int] = (0,)

    def to_text(self) -> str:
        """Return lines of text: the cells, then the findings and how they were made."""
        return "\n".join([*self.cell_lines(), *map(remark, self.findings), *([self.how] if self.how else [])])

    def cell_lines(self) -> list[str]:
        """Return the headline, the cells and the note as lines; long names lose their middle unless two look alike."""
        names = [row[0] for row in self.rows]
        short = [cut_middle(name, LONGEST_NAME) for name in names]
        names = short if len(set(short)) == len(set(names)) else names
        body = [[name, *row[1:]] for name, row in zip(names, self.rows, strict=True)]
        lines = aligned([self.header, *body], on_left=self.on_left) if self.rows else []
        return [line for line in (self.headline, *lines, self.note) if line]

    def to_html(self) -> str:
        """Return the table for a notebook; it takes its colours from the page around it."""
        said = [line for line in (self.headline, self.note) if line]
        lines: list[list[str]] = [self.header, *self.rows] if self.rows else [[]]
        return html_table(lines, [*said, *map(remark, self.findings)], self.how)


def tabulate(
    posterior: "Posterior",
    *,
    level: float = 0.95,
    kind: Kind = "equal-tailed",
    target: Target = "population",
    classes: Sequence[Name] | None = None,
) -> Table:
    """Return the cells: the share by plain counting, where there is one, beside the true share and its interval.

    Parameters
    ----------
    posterior
        What `infer` returned. One without an answer has no rows.
    level, kind, target
        Of the interval.
    classes
        Which classes, in this order. By default all, or of more than 40 the 30 largest and the others together. A
        single one gets a sentence.
    """
    look: dict[str, Any] = {"level": level, "kind": kind, "target": target}
    summary = posterior.summary(**look) if classes is not None else folded_summary(posterior, **look)[0]
    counted = [] if summary.counted is None else ["counted"]
    header = ["class", *counted, SHARE_NAMES[target], summary.interval_name]
    if not posterior.has_answer:
        return Table(header, [], posterior.findings, how(posterior), refusal(posterior))
    told = shares_in_words(summary)
    chosen = range(len(told)) if classes is None else [posterior.place(name) for name in classes]
    rows = [[cell for cell in told[place].cells if cell is not None] for place in chosen]
    fold = fold_note(len(posterior.classes), len(rows)) if classes is None else ""
    note = " ".join(filter(None, (fold, uncounted_note([posterior.counts]))))
    table = Table(header, rows, posterior.findings, how(posterior), note=note)
    if classes is None or len(classes) > 1 or len(posterior.classes) == 1:
        return table
    one = told[chosen[0]]
    plainly = "" if one.counted is None else f"; plain counting says {one.counted}"
    return replace(table, headline=f"{one.name}: about {one.share} ({header[-1]} {one.interval}){plainly}.")


@dataclass(frozen=True, slots=True)
class ShareInWords:
    """The share of a class in words; `counted` is None without such a share, `span` is the interval in a column."""

    name: str
    counted: str | None
    share: str
    interval: str
    span: str

    @property
    def cells(self) -> tuple[str | None, ...]:
        """The cells of its row."""
        return self.name, self.counted, self.share, self.span


def shares_in_words(summary: Summary) -> tuple[ShareInWords, ...]:
    """Return the share of every class, by plain counting too, and its interval, all with the same decimals."""
    decimals, counted = summary.decimals, summary.counted
    ends = [[f"{100 * end:.{decimals}f}" for end in column] for column in summary.interval.T]
    widths = [max(map(len, column)) for column in ends]
    return tuple(
        map(
            ShareInWords,
            map(visible, summary.classes),
            [None] * len(summary.classes) if counted is None else _percents(counted, decimals),
            _percents(summary.mean, decimals),
            [f"{low} \N{EN DASH} {high} %" for low, high in zip(*ends, strict=True)],
            [f"{low:>{widths[0]}} \N{EN DASH} {high:>{widths[1]}} %" for low, high in zip(*ends, strict=True)],
        )
    )


def _percents(shares: FloatArray, decimals: int) -> list[str]:
    return [f"{100 * share:.{decimals}f} %" for share in shares]


def refusal(posterior: "Posterior") -> str:
    """Say that there is no answer, and why."""
    worst = np.max(posterior.rhat) if posterior.rhat is not None else np.nan
    if np.isnan(worst):
        return "No answer: the chains are too short to judge whether they agree."
    return (
        f"No answer: R-hat is {worst:.3f}, and above {RHAT_MOST} shares and intervals depend on where the chains began."
    )


def uncounted_note(counts: Iterable["Counts"]) -> str:
    """Say how many items plain counting leaves out, because their output is no class; nothing where there are none."""
    found = [each for each in counts if each.counted is not None and each.uncounted]
    if not found:
        return ""
    items = [(name, number) for each in found for name, number in zip(each.outputs, each.unlabeled, strict=True)]
    names = list(dict.fromkeys(name for each in found for name in each.uncounted))
    share = sum(number for name, number in items if name in names) / sum(number for _, number in items)
    which = listed([visible(name) for name in names])
    return f"Counted shares are of all unlabelled items; {percent(share)} have an output that is no class ({which})."


def how(posterior: "Posterior") -> str:
    """Say in one line how the draws were made and what they are worth."""
    engine, seed = visible(posterior.run.engine), posterior.origin.seed
    worth = f"Computed by {engine}: effective sample size {np.min(posterior.effective_draws):,.0f}"
    if posterior.rhat is None:
        return f"{worth}, independent draws. Seed {seed}."
    return f"{worth}, {posterior.chains} chains, R-hat at most {np.max(posterior.rhat):.3f}. Seed {seed}."


def remark(finding: Finding) -> str:
    """Return a finding in one line."""
    return visible(f"{finding.severity}: {finding.message} {finding.advice}".strip())
