"""A result as a table to read, in text and in HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log10
from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

import numpy as np

from truecount._html import html_table
from truecount._types import FloatArray, Name
from truecount.results.finding import Finding

if TYPE_CHECKING:
    from truecount.results.posterior import Kind, Posterior, Target

LONGEST_NAME = 40
MOST_DECIMALS = 8
SHARE_NAMES = {"population": "true share", "realized": "share of these items"}
INTERVAL_NAMES = {"equal-tailed": "interval", "hdi": "shortest interval"}


@dataclass(frozen=True, slots=True)
class Table:
    """A header, a row for each class, and what to say below: how it came about and what to know."""

    header: list[str]
    rows: list[list[str]]
    findings: Sequence[Finding]
    how: str


def tabulate(
    posterior: "Posterior", *, level: float = 0.95, kind: "Kind" = "equal-tailed", target: "Target" = "population"
) -> Table:
    """Give the cells: the share by plain counting, where there is one, beside the true share and its interval."""
    interval = 100 * posterior.interval(level, kind=kind, target=target)
    decimals = _decimals(interval)
    counted = posterior.counts.counted
    columns = {
        "class": [visible(name) for name in posterior.classes],
        "counted": None if counted is None else _percents(100 * counted, decimals),
        SHARE_NAMES[target]: _percents(100 * posterior.shares(target).mean(axis=0), decimals),
        f"{100 * level:.6g} % {INTERVAL_NAMES[kind]}": _intervals(interval, decimals),
    }
    shown = {name: cells for name, cells in columns.items() if cells is not None}
    rows = [list(row) for row in zip(*shown.values(), strict=True)]
    return Table(list(shown), rows, posterior.findings, how(posterior))


def text(
    posterior: "Posterior", *, level: float = 0.95, kind: "Kind" = "equal-tailed", target: "Target" = "population"
) -> str:
    """Give the table as lines of text."""
    return as_text(tabulate(posterior, level=level, kind=kind, target=target))


def as_text(table: Table) -> str:
    """Give lines of text, names on the left and numbers on the right."""
    names = _shortened([table.header[0], *(row[0] for row in table.rows)])
    body = [[name, *row[1:]] for name, row in zip(names, [table.header, *table.rows], strict=True)]
    widths = [max(map(display_width, column)) for column in zip(*body, strict=True)]
    lines = ["  ".join([_padded(row[0], widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in body]
    return "\n".join([*lines, *map(remark, table.findings), table.how])


def html(posterior: "Posterior") -> str:
    """Give the table for a notebook; it takes its colours from the page around it."""
    table = tabulate(posterior)
    return html_table([table.header, *table.rows], map(remark, table.findings), table.how)


def how(posterior: "Posterior") -> str:
    """Say in one line how the draws came about and what they are worth."""
    engine, seed = visible(posterior.provenance.get("engine", "draws")), posterior.provenance["seed"]
    worth = f"Computed by {engine}: {np.min(posterior.effective_draws):,.0f} effective draws"
    if posterior.rhat is None:
        return f"{worth}, drawn without chains. Seed {seed}."
    return f"{worth} from {posterior.chains} chains, R-hat at most {np.max(posterior.rhat):.3f}. Seed {seed}."


def remark(finding: Finding) -> str:
    """Give a finding in one line."""
    return visible(f"{finding.severity}: {finding.message} {finding.advice}".strip())


def visible(name: Name) -> str:
    """Give a name as text in which nothing moves the cursor or breaks the line."""
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
