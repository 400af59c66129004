"""The numbers of an answer, class by class, and the table to read in which they become words, in text and in HTML.

JSON, CSV, pages, pictures and sentences are made from the same numbers.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil, log10
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from truecount import _check
from truecount._advice import Advice, keyword
from truecount._table import aligned, html_table
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import cut_middle, listed, percent, visible
from truecount.counts import Counts
from truecount.errors import InputError
from truecount.inference import convergence
from truecount.inference.convergence import RHAT_MOST
from truecount.results.finding import Finding

if TYPE_CHECKING:
    from truecount.results.posterior import Posterior

Kind: TypeAlias = Literal["equal-tailed", "hdi"]
Target: TypeAlias = Literal["population", "realized"]
INTERVAL_NAMES = {"equal-tailed": "interval", "hdi": "shortest interval"}
MOST_DECIMALS = 8
MOST_ROWS, SHOWN = 40, 30
"""Classes up to which each has a row in a table or a picture, and how many of more have."""
LONGEST_NAME = 40
SHARE_NAMES = {"population": "true share", "realized": "share of these items"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Which summary is shown or kept: the level, kind and target of its intervals, as in `Posterior.interval`."""

    level: float = 0.95
    kind: Kind = "equal-tailed"
    target: Target = "population"

    def __post_init__(self) -> None:
        _check.level(self.level)
        _check.one_of("kind", self.kind, ("equal-tailed", "hdi"))
        _check.one_of("target", self.target, ("population", "realized"))

    def of(self, posterior: "Posterior") -> "Summary":
        """Return the summary of a posterior."""
        return posterior.summary(self.level, kind=self.kind, target=self.target)


USUAL_LOOK = Look()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Summary:
    """What an answer says of each class, in numbers; arrays have shape (classes,).

    Parameters
    ----------
    classes
        Their names.
    level, kind, target
        Of the interval, as in `Posterior.interval`.
    counted
        The share by plain counting; None where outputs are not the classes.
    mean, median, sd
        Of the posterior. Without an answer, all that is read off the draws is NaN.
    interval
        Shape (classes, 2): lower and upper end.
    effective_draws, mcse
        Effective sample size, and Monte Carlo standard error of the mean.
    rhat
        None for independent draws.
    """

    classes: tuple[Name, ...]
    level: float
    kind: Kind
    target: Target
    counted: FloatArray | None
    mean: FloatArray
    median: FloatArray
    sd: FloatArray
    interval: FloatArray
    effective_draws: FloatArray
    mcse: FloatArray
    rhat: FloatArray | None

    @property
    def interval_name(self) -> str:
        """What the interval is called above a column and in a sentence."""
        return interval_name(self.level, self.kind)

    @property
    def decimals(self) -> int:
        """As many decimals of a percentage as leave two digits to the narrowest interval that has a width."""
        widths = 100 * (self.interval[:, 1] - self.interval[:, 0])
        narrowest = min(widths[widths > 1e-9], default=100.0)
        return min(max(1, ceil(1 - log10(narrowest))), MOST_DECIMALS)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row of plain values for each class, as JSON and CSV have them."""
        empty = [None] * len(self.classes)
        columns = {
            "class": self.classes,
            "counted": empty if self.counted is None else self.counted,
            "mean": self.mean,
            "median": self.median,
            "sd": self.sd,
            "lower": self.interval[:, 0],
            "upper": self.interval[:, 1],
            "effective_draws": self.effective_draws,
            "rhat": empty if self.rhat is None else self.rhat,
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def interval_name(level: float, kind: Kind) -> str:
    """Return what an interval is called.

    >>> interval_name(0.95, "hdi")
    '95 % shortest interval'
    """
    return f"{100 * level:.6g} % {INTERVAL_NAMES[kind]}"


def interval_of(draws: FloatArray, level: float, kind: str = "equal-tailed") -> FloatArray:
    """Return the interval that holds `level` of the draws along the first axis, shape (…, 2)."""
    flat, ends = draws.reshape(len(draws), -1), np.empty((int(np.prod(draws.shape[1:])), 2))
    width = max(1, convergence.AT_ONCE // len(draws))
    for at in range(0, len(ends), width):
        some = flat[:, at : at + width]
        if kind == "hdi":
            ends[at : at + width] = convergence.shortest_interval(some, level)
        else:
            ends[at : at + width] = np.quantile(some, [(1 - level) / 2, (1 + level) / 2], axis=0).T
    return ends.reshape(*draws.shape[1:], 2)


def in_parts(measure: Callable[[Any], FloatArray], draws: FloatArray | NDArray[np.int32]) -> FloatArray:
    """Return a measure along the first axis of some groups after the others, because it copies what it looks at.

    Shape (draws, groups, classes) becomes (groups, classes).
    """
    size = max(1, convergence.AT_ONCE // draws[:, 0].size)
    return np.concatenate([measure(draws[:, at : at + size]) for at in range(0, draws.shape[1], size)])


def sd_of(draws: FloatArray) -> FloatArray:
    """Return the standard deviation of the draws, shape (groups, classes)."""
    return in_parts(lambda some: np.asarray(some.std(axis=0, ddof=1)), draws)


def require_realizable(counts: Counts) -> None:
    """Refuse counts whose items cannot be sorted one by one."""
    if counts.is_weighted or not counts.unlabeled.sum():
        needed = "the share among these items needs whole, non-zero unlabelled counts"
        raise InputError("target", "is 'realized'", needed, Advice("Ask for {}", keyword("target", "population")))


def realized_shares(
    prevalence: FloatArray, rows: FloatArray, items: IntArray | FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Return draws of the share of each class among these items, shape (draws, classes).

    Given a draw, the class of each item with output k is drawn from P(class | output k).

    Parameters
    ----------
    prevalence, rows
        Shapes (draws, classes) and (draws, classes, outputs).
    items
        Shape (outputs,): how many have each output.
    rng
        Draws the classes.
    """
    joint = prevalence[:, :, None] * rows
    of_output = joint.sum(axis=1, keepdims=True)
    given_output = np.divide(joint, of_output, out=np.full_like(joint, 1 / joint.shape[1]), where=of_output > 0)
    drawn = rng.multinomial(items.astype(np.int64), given_output.transpose(0, 2, 1))
    shares: FloatArray = drawn.sum(axis=1) / items.sum()
    return shares


def folded_summary(posterior: "Posterior", look: Look) -> tuple[Summary, tuple[int, ...]]:
    """Return the summary with the classes that are shown, and where each stands; of many, the largest and the others.

    The last row of a summary that was folded is of all other classes together, whose draws are added up.
    """
    summary = look.of(posterior)
    number = len(summary.classes)
    if number <= MOST_ROWS or not posterior.has_answer:
        return summary, tuple(range(number))
    order = np.argsort(-summary.mean, kind="stable")
    shown, others = order[:SHOWN], order[SHOWN:]
    together = posterior.shares(look.target)[:, others].sum(axis=1)

    def rows(values: FloatArray | None, last: FloatArray | float) -> FloatArray | None:
        return None if values is None else np.concatenate([values[shown], np.atleast_1d(last)])

    sd, effective = float(together.std(ddof=1)), float(summary.effective_draws[others].min())
    interval = np.clip(interval_of(together[:, None], look.level, look.kind), 0.0, 1.0)
    folded = {
        "counted": rows(summary.counted, 0.0 if summary.counted is None else float(summary.counted[others].sum())),
        "mean": rows(summary.mean, float(together.mean())),
        "median": rows(summary.median, float(np.median(together))),
        "sd": rows(summary.sd, sd),
        "interval": np.vstack([summary.interval[shown], interval]),
        "effective_draws": rows(summary.effective_draws, effective),
        "mcse": rows(summary.mcse, sd / np.sqrt(effective)),
        "rhat": rows(summary.rhat, np.nan if summary.rhat is None else float(np.max(summary.rhat[others]))),
    }
    names = (*(summary.classes[place] for place in shown), f"{len(others)} others")
    return replace(summary, classes=names, **folded), (*map(int, shown), number)  # type: ignore[arg-type]


def fold_note(number: int, shown: int) -> str:
    """Say below a table that not every class has a row, and where all of them are; nothing where each has.

    >>> fold_note(200, 31)
    'The 30 largest of 200 classes are shown, and the others together; JSON, CSV and to_frame() have all.'
    """
    if shown >= number:
        return ""
    largest = f"The {shown - 1} largest of {number} classes are shown, and the others together"
    return f"{largest}; JSON, CSV and to_frame() have all."


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


def tabulate(posterior: "Posterior", look: Look = USUAL_LOOK, *, classes: Sequence[Name] | None = None) -> Table:
    """Return the cells: the share by plain counting, where there is one, beside the true share and its interval.

    Parameters
    ----------
    posterior
        What `infer` returned. One without an answer has no rows.
    look
        Which summary is shown.
    classes
        Which classes, in this order. By default all, or of more than 40 the 30 largest and the others together. A
        single one gets a sentence.
    """
    summary = look.of(posterior) if classes is not None else folded_summary(posterior, look)[0]
    counted = [] if summary.counted is None else ["counted"]
    header = ["class", *counted, SHARE_NAMES[look.target], summary.interval_name]
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


def shares_in_words(summary: Summary, decimals: int | None = None) -> tuple[ShareInWords, ...]:
    """Return the share of every class, by plain counting too, and its interval, all with the same decimals."""
    decimals, counted = summary.decimals if decimals is None else decimals, summary.counted
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
    found = [each for each in counts if each.uncounted and each.counted is not None]
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
    """Return a finding in one line, with where the documentation explains it."""
    said = " ".join(filter(None, (f"{finding.severity}: {finding.message}", finding.advice, f"(docs: {finding.docs})")))
    return visible(said)
