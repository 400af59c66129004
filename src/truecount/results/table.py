"""A result as a table to read, in text and in HTML."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, log10
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

import numpy as np

from truecount._html import html_table
from truecount._types import FloatArray, Name
from truecount._wording import listed, percent
from truecount.inference.convergence import RHAT_MOST
from truecount.results.finding import Finding

if TYPE_CHECKING:
    from truecount.counts import Counts
    from truecount.results.intervals import Kind, Target
    from truecount.results.posterior import Posterior

LONGEST_NAME = 40
MOST_DECIMALS = 8
SHARE_NAMES = {"population": "true share", "realized": "share of these items"}
INTERVAL_NAMES = {"equal-tailed": "interval", "hdi": "shortest interval"}


@dataclass(frozen=True, slots=True)
class Table:
    """A header, a row for each class, and what to say below: how it came about and what to know.

    Parameters
    ----------
    header, rows
        The cells; without rows there is nothing to show, and the headline says why.
    findings
        What to know.
    how
        How it came about, in a line.
    headline
        A sentence above the table.
    note
        What a column means, in a line below the table.
    """

    header: list[str]
    rows: list[list[str]]
    findings: Sequence[Finding]
    how: str
    headline: str = ""
    note: str = ""


def tabulate(
    posterior: "Posterior",
    *,
    level: float = 0.95,
    kind: "Kind" = "equal-tailed",
    target: "Target" = "population",
    classes: Sequence[Name] | None = None,
) -> Table:
    """Return the cells: the share by plain counting, where there is one, beside the true share and its interval.

    Parameters
    ----------
    posterior
        What `infer` gave. One without an answer has no rows.
    level, kind, target
        Of the interval.
    classes
        Which classes, in this order; all by default. A single one gets a sentence.
    """
    columns = _columns(posterior, level, kind, target)
    if not posterior.has_answer:
        return Table(list(columns), [], posterior.findings, how(posterior), refusal(posterior))
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    chosen = range(len(rows)) if classes is None else [posterior.place(name) for name in classes]
    table = Table(list(columns), [rows[place] for place in chosen], posterior.findings, how(posterior))
    headline = ""
    if classes is not None and len(classes) == 1 < len(posterior.classes):
        told = shares_in_words(posterior, level=level, kind=kind, target=target)[chosen[0]]
        plainly = "" if told.counted is None else f"; plain counting says {told.counted}"
        headline = f"{visible(classes[0])}: about {told.share} ({table.header[-1]} {told.interval}){plainly}."
    return replace(table, headline=headline, note=uncounted_note([posterior.counts]))


def _columns(posterior: "Posterior", level: float, kind: "Kind", target: "Target") -> dict[str, list[str]]:
    """Return the cells of all classes by the name of their column."""
    interval = 100 * posterior.interval(level, kind=kind, target=target)
    decimals = _decimals(interval)
    counted = posterior.counts.counted
    columns = {
        "class": [visible(name) for name in posterior.classes],
        "counted": None if counted is None else _percents(100 * counted, decimals),
        SHARE_NAMES[target]: _percents(100 * posterior.shares(target).mean(axis=0), decimals),
        f"{100 * level:.6g} % {INTERVAL_NAMES[kind]}": _intervals(interval, decimals),
    }
    return {name: cells for name, cells in columns.items() if cells is not None}


@dataclass(frozen=True, slots=True)
class ShareInWords:
    """The share of a class for a sentence, with the decimals of the table; `counted` is None without such a share."""

    counted: str | None
    share: str
    interval: str


def shares_in_words(
    posterior: "Posterior", *, level: float, kind: "Kind", target: "Target"
) -> tuple[ShareInWords, ...]:
    """Return the share of every class, by plain counting too, and its interval."""
    interval = 100 * posterior.interval(level, kind=kind, target=target)
    decimals, counted = _decimals(interval), posterior.counts.counted
    plainly = [None] * len(interval) if counted is None else _percents(100 * counted, decimals)
    shares = _percents(100 * posterior.shares(target).mean(axis=0), decimals)
    ends = [f"{low:.{decimals}f} \N{EN DASH} {high:.{decimals}f} %" for low, high in interval]
    return tuple(map(ShareInWords, plainly, shares, ends))


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


def text(
    posterior: "Posterior",
    *,
    level: float = 0.95,
    kind: "Kind" = "equal-tailed",
    target: "Target" = "population",
    classes: Sequence[Name] | None = None,
) -> str:
    """Return the table as lines of text."""
    return as_text(tabulate(posterior, level=level, kind=kind, target=target, classes=classes))


def as_text(table: Table) -> str:
    """Return lines of text: the cells, then the findings and how they came about."""
    return "\n".join([*cells_text(table), *map(remark, table.findings), table.how])


def cells_text(table: Table) -> list[str]:
    """Return the headline, the cells and the note as lines, names on the left and numbers on the right."""
    around = [line for line in (table.headline, table.note) if line]
    if not table.rows:
        return around
    names = _shortened([table.header[0], *(row[0] for row in table.rows)])
    body = [[name, *row[1:]] for name, row in zip(names, [table.header, *table.rows], strict=True)]
    widths = [max(map(display_width, column)) for column in zip(*body, strict=True)]
    lines = ["  ".join([_padded(row[0], widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in body]
    return [*around[: bool(table.headline)], *lines, *around[bool(table.headline) :]]


def html(posterior: "Posterior") -> str:
    """Return the table for a notebook; it takes its colours from the page around it."""
    table = tabulate(posterior)
    said = [line for line in (table.headline, table.note) if line]
    lines: list[list[str]] = [table.header, *table.rows] if table.rows else [[]]
    return html_table(lines, [*said, *map(remark, table.findings)], table.how)


def how(posterior: "Posterior") -> str:
    """Say in one line how the draws came about and what they are worth."""
    engine, seed = visible(posterior.run.engine), posterior.origin.seed
    worth = f"Computed by {engine}: {np.min(posterior.effective_draws):,.0f} effective draws"
    if posterior.rhat is None:
        return f"{worth}, drawn without chains. Seed {seed}."
    return f"{worth} from {posterior.chains} chains, R-hat at most {np.max(posterior.rhat):.3f}. Seed {seed}."


def remark(finding: Finding) -> str:
    """Return a finding in one line."""
    return visible(f"{finding.severity}: {finding.message} {finding.advice}".strip())


def visible(name: Name) -> str:
    """Return a name as text in which nothing moves the cursor or breaks the line."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in str(name))


def display_width(words: str) -> int:
    """How many columns a terminal needs for this text."""
    return sum(0 if combining(sign) else 2 if east_asian_width(sign) in "WF" else 1 for sign in words)


def _decimals(interval: FloatArray) -> int:
    """As many decimals of a percentage as leave two digits to the narrowest interval that has a width."""
    widths = interval[:, 1] - interval[:, 0]
    narrowest = min(widths[widths > 1e-9], default=100.0)
    return min(max(1, ceil(1 - log10(narrowest))), MOST_DECIMALS)


def _percents(values: FloatArray, decimals: int) -> list[str]:
    return [f"{value:.{decimals}f} %" for value in values]


def _intervals(interval: FloatArray, decimals: int) -> list[str]:
    ends = [[f"{end:.{decimals}f}" for end in column] for column in interval.T]
    widths = [max(map(len, column)) for column in ends]
    return [f"{low:>{widths[0]}} \N{EN DASH} {high:>{widths[1]}} %" for low, high in zip(*ends, strict=True)]


def _shortened(names: list[str]) -> list[str]:
    """Cut the middle out of long names, unless that makes two of them look alike."""
    half = LONGEST_NAME // 2
    short = [name if display_width(name) <= LONGEST_NAME else f"{name[:half]}…{name[-half + 1 :]}" for name in names]
    return short if len(set(short)) == len(set(names)) else names


def _padded(name: str, width: int) -> str:
    return name + " " * (width - display_width(name))
