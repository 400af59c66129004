"""What the page says, in sentences that need no statistics to read."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import bidirectional

import numpy as np

from truecount._types import Name
from truecount.counts import Counts
from truecount.plots.labels import labels
from truecount.results import Finding, Posterior
from truecount.results.finding import gravest_first
from truecount.results.posterior import Kind, Target
from truecount.results.table import INTERVAL_NAMES, refusal, tabulate, visible

MOST_NAMED = 3
"""Classes in the answer's sentence."""
LONGEST_NAME = 40
"""Letters of a name in a sentence or beside a row; the table of shares has all of them."""
SEVERITIES = {"info": "For your information", "caution": "Caution", "serious": "Serious"}
RIGHT_LABELS = (
    "The labels are right.",
    "If some are wrong, so is what they say of the box, and the more the rarer a class is. To see how much, ask "
    "truecount check --label-error 5%.",
)
INDEPENDENT = (
    "Items are independent of each other, given their class.",
    "Copies and repeated measurements count as one item.",
)
ASSUMPTIONS = {
    "label_shift": (
        (
            "The box treats each class alike in both populations.",
            "Of the items of one class, the same share gets each output among the labelled and among the unlabelled "
            "ones; only the mix of classes differs. If the items of a class became harder, the answer is wrong, and "
            "mostly nothing in the counts shows it. To check, label a few items of the population itself.",
        ),
        (
            "Labelled items were not chosen by their output.",
            "If so many items of each output were picked for labelling, this answer must not be used.",
        ),
        RIGHT_LABELS,
        INDEPENDENT,
    ),
    "same_population": (
        (
            "Labelled items are a random sample of the population itself.",
            "If they come from elsewhere, or some were likelier to be labelled than others, the answer is wrong.",
        ),
        RIGHT_LABELS,
        INDEPENDENT,
    ),
    "by_prediction": (
        (
            "Labelled items come from the population itself, chosen at random among those of one output.",
            "How many of each output were labelled does not matter. If they come from elsewhere, the answer is wrong.",
        ),
        RIGHT_LABELS,
        INDEPENDENT,
    ),
}


def answer(
    posterior: Posterior, *, level: float, kind: Kind, target: Target, classes: Sequence[Name] | None = None
) -> str:
    """Return the answer in one sentence: the largest classes, their intervals, and what plain counting says.

    One class of interest stands alone in it.
    """
    if not posterior.has_answer:
        return refusal(posterior)
    table = tabulate(posterior, level=level, kind=kind, target=target)
    order = np.argsort(-posterior.shares(target).mean(axis=0), kind="stable")
    few = order if len(order) <= MOST_NAMED + 1 else order[:MOST_NAMED]
    if classes is not None and len(classes) == 1:
        order = few = np.array([posterior.place(classes[0])])
    names, (shares, spans) = labels(posterior.classes, LONGEST_NAME), _columns(table.rows)
    promises = [f"{100 * level:.6g} % {INTERVAL_NAMES[kind]} ", *[""] * (len(few) - 1)]
    parts = [
        f"{shares[place]} “{isolated(names[place])}” ({promise}{spans[place]})"
        for place, promise in zip(few, promises, strict=True)
    ]
    whole = "the population" if target == "population" else "these items"
    more = len(order) - len(few)
    rest = f"; {more} more classes share the rest" if more else ""
    named = _joined(parts).replace(" “", " are “", 1)
    sentence = f"Of {whole}, about {named}{rest}{_counted(posterior.counts, few, table.rows)}."
    return unbroken(sentence)


def unbroken(sentence: str) -> str:
    """Keep numbers with their percent sign and both ends of an interval in one line."""
    whole = re.sub(r"(?<=\d) (?=%)", "\N{NO-BREAK SPACE}", sentence)
    return re.sub(
        r"(?<=\d) \N{EN DASH} (?=\d)", "\N{NO-BREAK SPACE}\N{EN DASH}\N{WORD JOINER}\N{NO-BREAK SPACE}", whole
    )


def isolated(name: str) -> str:
    """Keep a name that is written from right to left from turning the numbers behind it around."""
    if not any(bidirectional(sign) in ("R", "AL") for sign in name):
        return name
    return f"\N{FIRST STRONG ISOLATE}{name}\N{POP DIRECTIONAL ISOLATE}"


def _columns(rows: list[list[str]]) -> tuple[list[str], list[str]]:
    """Give the shares and the intervals, without the spaces that keep them below each other."""
    return [row[-2] for row in rows], [" ".join(row[-1].split()) for row in rows]


def _counted(counts: Counts, few: np.ndarray, rows: list[list[str]]) -> str:
    if counts.counted is None:
        return ""
    return f", where plain counting says {_joined([rows[place][1] for place in few])}"


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
    """Give the findings as the page shows them, the gravest first."""
    return [_remark(finding) for finding in gravest_first(findings)]


def _remark(finding: Finding) -> Remark:
    message, advice = visible(finding.message), visible(finding.advice)
    return Remark(finding.severity, SEVERITIES[finding.severity], finding.code, message, advice)


def method(
    posterior: Posterior, *, level: float, kind: Kind, target: Target, items: tuple[float, float] | None = None
) -> list[str]:
    """Say how the answer came about; of groups one stands for all, and the items of all, labelled or not, are told."""
    counts = posterior.counts
    labeled, unlabeled = items or (counts.labeled.sum(), counts.unlabeled.sum())
    where = "in the population behind the unlabelled items" if target == "population" else "among these very items"
    shortest = " It is the shortest such interval." if kind == "hdi" else ""
    weighed = _weighed(design_of(posterior))
    return [
        f"A box (a model, a test, a judge) sorted items into {len(counts.outputs)} outputs, and it makes mistakes. "
        f"{labeled:,.0f} labelled items, of which the true class is known, show what it does with each "
        f"class. Of {unlabeled:,.0f} unlabelled items only the output is known.",
        f"{weighed} The true share is the average of what remains, {where}.",
        f"The interval holds {100 * level:.6g} % of what remains for each class by itself.{shortest} It is wide where "
        "labels are few, where the box confuses classes, or where there are few items.",
    ]


def _weighed(design: str) -> str:
    if design == "label_shift":
        return (
            "All mixes of classes that could have led to these outputs were weighed by how well they explain the "
            "counts, together with all habits of the box that fit the labels, and with what was believed before. This "
            "is the Bayesian model of Ziegler & Czyż, Bayesian Quantification with Black-Box Estimators (TMLR 2024)."
        )
    return (
        "The labelled items come from the population itself, so they show directly which share of the items with each "
        "output belongs to each class. These shares and those of the outputs are uncertain; all that fit the counts "
        "were weighed by how well they do."
    )


def design_of(posterior: Posterior) -> str:
    """Give how the labelled items came about."""
    return str(posterior.provenance.get("design", "label_shift"))
