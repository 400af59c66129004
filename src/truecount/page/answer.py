"""One answer as a page: sentences that need no statistics to read, a table, a picture, tables below."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from unicodedata import bidirectional

import numpy as np

from truecount._advice import Advice
from truecount._types import FloatArray, Name
from truecount._wording import labels, visible
from truecount.counts import Counts, Groups
from truecount.models import TargetLabels
from truecount.models.model import INDEPENDENT, INDEPENDENT_CLUSTERS, Assumption
from truecount.page import from_scores
from truecount.page.frame import LONGEST_NAME, Drawing, drawing_of, rendered
from truecount.page.reproduce import repeat
from truecount.plots.canvas import LIGHT
from truecount.plots.shares import draw_prevalence, prevalence_data
from truecount.results import Finding, Posterior
from truecount.results.claim import ShareClaim
from truecount.results.finding import gravest_first
from truecount.results.groups.posterior import GroupPosterior
from truecount.results.summary import (
    USUAL_LOOK,
    Look,
    Table,
    folded_summary,
    interval_of,
    refusal,
    shares_in_words,
    tabulate,
)

TITLE = "How many of each class are really there?"
MOST_NAMED = 3
"""Classes in the answer's sentence."""
SEVERITIES = {"info": "For your information", "caution": "Caution", "serious": "Serious"}
LONGEST_HEAD = 24
"""Letters of a name above a column; the table of shares has all of them."""
MOST_CELLS = 400
"""Of the confusion; a larger one is no longer read."""
MOST_ON_PAPER = 12
"""Outputs beside each other."""
MOST_COUNTS = 2_500
"""Cells of the counts; of more, each class has a line with its most frequent outputs."""
MOST_OUTPUTS = 4
"""In such a line."""


def answer(posterior: Posterior, look: Look, classes: Sequence[Name] | None = None) -> str:
    """Return the answer in one sentence: the largest classes, their intervals, and what plain counting says.

    One class of interest stands alone in it.
    """
    if not posterior.has_answer:
        return refusal(posterior)
    summary = look.of(posterior)
    told = shares_in_words(summary, folded_summary(posterior, look)[0].decimals)  # as in the table
    order = np.argsort(-summary.mean, kind="stable")
    few = order if len(order) <= MOST_NAMED + 1 else order[:MOST_NAMED]
    if classes is not None and len(classes) == 1:
        order = few = np.array([posterior.place(classes[0])])
    names = [f"“{isolated(name)}”" for name in labels(posterior.classes, LONGEST_NAME)]
    shares = [unbroken(one.share) for one in told]
    spans = [unbroken(one.interval) for one in told]
    first, *others = few
    interval = unbroken(summary.interval_name)
    parts = [f"{shares[first]} are {names[first]} ({interval} {spans[first]})"]
    parts += [f"{shares[place]} {names[place]} ({spans[place]})" for place in others]
    counted = [unbroken(told[place].counted or "") for place in few if told[place].counted is not None]
    plainly = f", where plain counting says {_joined(counted)}" if counted else ""
    more = len(order) - len(few)
    rest = f"; {more} more classes share the rest" if more else ""
    whole = "the population" if look.target == "population" else "these items"
    return f"Of {whole}, about {_joined(parts)}{rest}{plainly}."


def unbroken(words: str) -> str:
    """Keep a number with its percent sign, and both ends of an interval, in one line."""
    between = " \N{EN DASH} ", "\N{NO-BREAK SPACE}\N{EN DASH}\N{WORD JOINER}\N{NO-BREAK SPACE}"
    return words.replace(*between).replace(" %", "\N{NO-BREAK SPACE}%")


def isolated(name: str) -> str:
    """Keep a name that is written from right to left from turning the numbers behind it around."""
    if not any(bidirectional(sign) in ("R", "AL") for sign in name):
        return name
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"


def _joined(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


@dataclass(frozen=True, slots=True)
class Remark:
    """A finding as the page shows it."""

    severity: str
    heading: str
    code: str
    message: str
    advice: str


def remarks(findings: Iterable[Finding]) -> list[Remark]:
    """Return the findings as the page shows them, the gravest first."""
    return [
        Remark(each.severity, SEVERITIES[each.severity], each.code, visible(each.message), _advice(each.advice))
        for each in gravest_first(findings)
    ]


def _advice(advice: str) -> str:
    """Return advice for a reader who may have neither Python nor the command at hand."""
    return visible(advice.on_page() if isinstance(advice, Advice) else advice)


def _sources(posterior: Posterior) -> str:
    """Name labels of the population beside those from elsewhere, and clusters."""
    model, clusters, said = posterior.model, posterior.counts.clusters, ""
    if isinstance(model, TargetLabels):
        said += (
            f" Labelled items of this population itself are told apart from these: {sum(map(sum, model.labeled)):,}."
        )
    if clusters is not None and not clusters.is_single:
        said += (
            f" Items belong to {clusters.number:,} clusters, such as the answers to one question. Those of one are "
            "alike, so that they count as fewer independent items; how many fewer was learned from the clusters."
        )
    return said


def method(posterior: Posterior, look: Look) -> list[str]:
    """Say how the answer was made."""
    is_of_scores = posterior.run.is_of_scores
    weighed = from_scores.METHOD if is_of_scores else posterior.model.method
    where = "in the population behind the unlabelled items" if look.target == "population" else "among these items"
    shortest = " It is the shortest such interval." if look.kind == "hdi" else ""
    return [
        from_scores.data_in_words(posterior) if is_of_scores else _data_in_words(posterior),
        f"{weighed} The true share is the average of what remains, {where}.",
        f"The interval holds {100 * look.level:.6g} % of what remains for each class by itself.{shortest} It is wide "
        "where labels are few, where the classifier confuses classes, or where there are few items.",
    ]


def _data_in_words(posterior: Posterior) -> str:
    """Say what was known of the items."""
    counts = posterior.counts
    known = "of which the true class is known" if posterior.raters is None else "whose labels may be wrong"
    return (
        f"{sorted_in_words(counts)} {counts.labeled.sum():,.0f} labelled items, {known}, show how often each class "
        f"is misclassified. Of {counts.unlabeled.sum():,.0f} unlabelled items only the output is known."
        f"{_sources(posterior)}"
    )


def sorted_in_words(data: Counts | Groups) -> str:
    """Say what made the outputs: one classifier, or several, in which order."""
    number, combinations = len(data.outputs), data.combinations
    if combinations is None or len(combinations.columns) == 1:
        return f"A classifier (a model, a test, a judge) sorted items into {number} outputs, and it makes mistakes."
    names = [isolated(visible(name)) for name in combinations.columns]
    return (
        f"{len(names)} classifiers (models, tests, judges) sorted items, and they make mistakes. Their {number} "
        f"outputs are what {_joined(names)} said, in this order."
    )


def assumed(assumptions: Iterable[Assumption], data: Counts | Groups) -> tuple[Assumption, ...]:
    """Return what a model assumes of these data, whose items may be independent or in clusters."""
    clusters = data.clusters
    instead = {} if clusters is None or clusters.is_single else {INDEPENDENT: INDEPENDENT_CLUSTERS}
    return tuple(instead.get(each, each) for each in assumptions)


@dataclass(frozen=True, slots=True)
class Grid:
    """A row for each class, a column for each output.

    `rows` holds names and cells, `foot` names and words that stand below; cells are words, or a share and words.
    """

    outputs: list[str]
    rows: list[tuple[str, list[tuple[float, str, str]]]]
    foot: list[tuple[str, list[str]]]

    @property
    def is_wide(self) -> bool:
        """Whether a sheet of paper would cut it."""
        return len(self.outputs) > MOST_ON_PAPER


def counts_table(counts: Counts) -> Grid:
    """Return the counts, names shortened."""
    names = labels(counts.classes, LONGEST_NAME)
    rows = [
        (name, [(0.0, number, "") for number in _numbers(row)]) for name, row in zip(names, counts.labeled, strict=True)
    ]
    return Grid(labels(counts.outputs, LONGEST_HEAD), rows, [("unlabelled", _numbers(counts.unlabeled))])


def counts_lines(counts: Counts) -> Table:
    """Return a line for each class: its labelled items, its most frequent outputs, and how many have others."""
    outputs, labeled, unlabeled = labels(counts.outputs, LONGEST_HEAD), counts.labeled, counts.unlabeled

    def line(name: str, row: np.ndarray) -> list[str]:
        order = [place for place in np.argsort(-row, kind="stable").tolist() if row[place]]
        most = order if len(order) <= MOST_OUTPUTS + 1 else order[:MOST_OUTPUTS]
        told = [f"{outputs[place]}: {number}" for place, number in zip(most, _numbers(row[most]), strict=True)]
        total, rest = _numbers(np.array([row.sum(), row.sum() - row[most].sum()]))
        if len(most) < len(order):
            told.append(f"{len(order) - len(most)} more outputs: {rest}")
        return [name, total, ", ".join(told) or "none"]

    lines = [line(name, row) for name, row in zip(labels(counts.classes, LONGEST_NAME), labeled, strict=True)]
    header = ["class", "items", "outputs, most frequent first"]
    note = "The Python above has every number."
    return Table(header, [*lines, line("unlabelled", unlabeled)], (), note=note, on_left=(0, 2))


def confusion_table(posterior: Posterior, level: float) -> Grid | None:
    """Return P(output | class) with its intervals in percent; None where there are too many cells to read."""
    if posterior.counts.labeled.size > MOST_CELLS:
        return None
    return _confusion_grid(posterior.classes, posterior.counts.outputs, posterior.confusion, level)


def group_confusion_table(answer: GroupPosterior, level: float) -> Grid | None:
    """Return P(output | class) that all groups share, or around which theirs vary; None where it has too many cells."""
    rows = answer.confusion if answer.draws.common_rows is None else answer.draws.common_rows
    return None if rows[0].size > MOST_CELLS else _confusion_grid(answer.classes, answer.data.outputs, rows, level)


def _confusion_grid(classes: Sequence[Name], outputs: Sequence[Name], confusion: FloatArray, level: float) -> Grid:
    mean, interval = confusion.mean(axis=0), interval_of(confusion, level)
    rows = [
        (name, [(share, f"{100 * share:.0f}", _span(ends)) for share, ends in zip(shares, spans, strict=True)])
        for name, shares, spans in zip(labels(classes, LONGEST_NAME), mean, interval, strict=True)
    ]
    return Grid(labels(outputs, LONGEST_HEAD), rows, [])


def fit_table(posterior: Posterior, level: float) -> list[tuple[str, str, str, str]]:
    """Return a row for each output: its name, the items seen, those expected, and whether they agree."""
    if not posterior.counts.unlabeled.sum():
        return []
    names = labels(posterior.counts.outputs, LONGEST_NAME)
    observed, interval = posterior.counts.effective.unlabeled, interval_of(posterior.predicted, level)
    return [
        (name, f"{seen:,.0f}", f"{low:,.0f} \N{EN DASH} {high:,.0f}", "yes" if low <= seen <= high else "no")
        for name, seen, (low, high) in zip(names, observed, interval, strict=True)
    ]


def _span(ends: np.ndarray) -> str:
    low, high = 100 * ends
    return f"{low:.0f} \N{EN DASH} {high:.0f}"


def _numbers(values: np.ndarray) -> list[str]:
    return [f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}" for value in values]


def _shares_drawing(posterior: Posterior, look: Look, classes: Sequence[Name] | None) -> Drawing:
    data = prevalence_data(posterior, level=look.level, kind=look.kind, target=look.target, classes=classes)
    about = f"A row for each class: {', '.join(labels(data.classes, LONGEST_NAME))}. The numbers are in the table."
    return drawing_of("shares", partial(draw_prevalence, numbers=False), data, "True share of every class", about)


def render(
    posterior: Posterior,
    look: Look = USUAL_LOOK,
    *,
    classes: Sequence[Name] | None = None,
    title: str = TITLE,
    command: str | None = None,
    classifiers: Table | None = None,
    claims: Sequence[ShareClaim] = (),
) -> str:
    """Return the page as text."""
    shown = {**content(posterior, look, classes=classes, command=command), "classifiers": classifiers}
    shown |= {"claims": [*map(str, claims)], "alerts": [visible(each.alert) for each in claims if each.is_improbable]}
    return rendered("page.html", title=title, level=f"{100 * look.level:.6g} %", **shown)


def content(posterior: Posterior, look: Look, *, classes: Sequence[Name] | None, command: str | None) -> dict[str, Any]:
    """Return what the template needs for one answer; without one, there are no numbers that are read off the draws."""
    has_answer, is_of_scores = posterior.has_answer, posterior.run.is_of_scores
    where = folded_summary(posterior, look)[1] if classes is None else [posterior.place(name) for name in classes]
    return {
        "answer": answer(posterior, look, classes),
        "findings": remarks(posterior.findings),
        "table": tabulate(posterior, look, classes=classes),
        "colors": [place % len(LIGHT.classes) for place in where],
        "picture": _shares_drawing(posterior, look, classes) if has_answer else None,
        "method": method(posterior, look),
        "assumptions": assumed(
            from_scores.ASSUMPTIONS if is_of_scores else posterior.model.assumptions, posterior.counts
        ),
        "is_clustered": posterior.counts.clusters is not None and not posterior.counts.clusters.is_single,
        "stand_in": from_scores.STAND_IN if is_of_scores else None,
        "confusion": confusion_table(posterior, look.level) if has_answer else None,
        "raters": None if posterior.raters is None or not has_answer else posterior.raters.table(look.level),
        "fit": fit_table(posterior, look.level) if has_answer and not is_of_scores else [],
        "counts": counts_table(posterior.counts) if posterior.counts.labeled.size <= MOST_COUNTS else None,
        "counts_lines": None if posterior.counts.labeled.size <= MOST_COUNTS else counts_lines(posterior.counts),
        "repeat": repeat(posterior, command, look),
    }
