"""What the page says, in sentences that need no statistics to read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import bidirectional

import numpy as np

from truecount._advice import Advice
from truecount._types import Name
from truecount._wording import labels, visible
from truecount.models import TargetLabels
from truecount.results import Finding, Posterior
from truecount.results.finding import gravest_first
from truecount.results.summary import Kind, Target
from truecount.results.table import refusal, shares_in_words

MOST_NAMED = 3
"""Classes in the answer's sentence."""
LONGEST_NAME = 40
"""Letters of a name in a sentence or beside a row; the table of shares has all of them."""
SEVERITIES = {"info": "For your information", "caution": "Caution", "serious": "Serious"}


def answer(
    posterior: Posterior, *, level: float, kind: Kind, target: Target, classes: Sequence[Name] | None = None
) -> str:
    """Return the answer in one sentence: the largest classes, their intervals, and what plain counting says.

    One class of interest stands alone in it.
    """
    if not posterior.has_answer:
        return refusal(posterior)
    summary = posterior.summary(level, kind=kind, target=target)
    told = shares_in_words(summary)
    order = np.argsort(-summary.mean, kind="stable")
    few = order if len(order) <= MOST_NAMED + 1 else order[:MOST_NAMED]
    if classes is not None and len(classes) == 1:
        order = few = np.array([posterior.place(classes[0])])
    names = [f"“{isolated(name)}”" for name in labels(posterior.classes, LONGEST_NAME)]
    shares = [unbroken(one.share) for one in told]
    spans = [unbroken(one.interval) for one in told]
    first, *others = few
    promise = unbroken(summary.interval_name)
    parts = [f"{shares[first]} are {names[first]} ({promise} {spans[first]})"]
    parts += [f"{shares[place]} {names[place]} ({spans[place]})" for place in others]
    counted = [unbroken(told[place].counted or "") for place in few if told[place].counted is not None]
    plainly = f", where plain counting says {_joined(counted)}" if counted else ""
    more = len(order) - len(few)
    rest = f"; {more} more classes share the rest" if more else ""
    whole = "the population" if target == "population" else "these items"
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
    if clusters is not None:
        said += (
            f" Items belong to {clusters.number:,} clusters, such as the answers to one question. Those of one are "
            "alike, so that they count as fewer independent items; how many fewer was learned from the clusters."
        )
    return said


def method(
    posterior: Posterior, *, level: float, kind: Kind, target: Target, items: tuple[float, float] | None = None
) -> list[str]:
    """Say how the answer was made; of groups one stands for all, and the items of all, labelled or not, are told."""
    counts = posterior.counts
    labeled, unlabeled = items or (counts.labeled.sum(), counts.unlabeled.sum())
    where = "in the population behind the unlabelled items" if target == "population" else "among these items"
    shortest = " It is the shortest such interval." if kind == "hdi" else ""
    return [
        f"A classifier (a model, a test, a judge) sorted items into {len(counts.outputs)} outputs, and it makes "
        f"mistakes. {labeled:,.0f} labelled items, of which the true class is known, show how often it misclassifies "
        f"each class. Of {unlabeled:,.0f} unlabelled items only the output is known.{_sources(posterior)}",
        f"{posterior.model.method} The true share is the average of what remains, {where}.",
        f"The interval holds {100 * level:.6g} % of what remains for each class by itself.{shortest} It is wide where "
        "labels are few, where the classifier confuses classes, or where there are few items.",
    ]
