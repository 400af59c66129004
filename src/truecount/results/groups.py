"""Groups side by side: all of them in one table, how shares change from one to the next, and what to know."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from truecount._types import Name
from truecount._wording import listed, visible
from truecount.reading.names import group_name
from truecount.results.finding import ORDER, Finding, gravest_first
from truecount.results.posterior import Posterior
from truecount.results.summary import Kind, Target, interval_name, interval_of
from truecount.results.table import Table, tabulate, uncounted_note

Posteriors = Mapping[Any, Posterior]
"""What `infer_many` gives for a mapping."""


def is_joint(posteriors: Posteriors) -> bool:
    """Whether the groups were drawn together, so that their draws may be compared one by one."""
    runs = [each.run.joint for each in posteriors.values()]
    together = {(each.origin.seed, len(each.prevalence)) for each in posteriors.values()}
    groups = {None if run is None else run.groups for run in runs}
    return len(groups) == len(together) == 1 and None not in groups


def groups_table(
    posteriors: Posteriors,
    *,
    level: float = 0.95,
    kind: Kind = "equal-tailed",
    target: Target = "population",
    classes: Sequence[Name] | None = None,
    heading: str = "group",
) -> Table:
    """Put the tables of all groups below each other; the first column says group and class.

    A group without an answer has one row, which says so.
    """
    tables = [
        (group_name(group), tabulate(posterior, level=level, kind=kind, target=target, classes=classes))
        for group, posterior in posteriors.items()
    ]
    columns = max((table.header for _, table in tables), key=len)
    rows = [
        [f"{visible(name)} {row[0]}", *(dict(zip(table.header, row, strict=True)).get(c, "") for c in columns[1:])]
        for name, table in tables
        for row in table.rows or [["", *([""] * (len(table.header) - 2)), "no answer"]]
    ]
    note = uncounted_note(posterior.counts for posterior in posteriors.values())
    findings, how = groups_findings(posteriors), groups_how(posteriors)
    return Table([f"{heading}, class", *columns[1:]], rows, findings, how, note=note)


def answered(posteriors: Posteriors) -> dict[Any, Posterior]:
    """Return the groups that have an answer."""
    return {group: posterior for group, posterior in posteriors.items() if posterior.has_answer}


def groups_how(posteriors: Posteriors) -> str:
    """Say in one line how the draws of all groups were made and what they are worth."""
    engines = " and ".join(sorted({posterior.run.engine for posterior in posteriors.values()}))
    worth = min(float(np.min(posterior.effective_draws)) for posterior in posteriors.values())
    number = "1 group" if len(posteriors) == 1 else f"{len(posteriors):,} groups"
    return f"{number}, computed by {engines}: effective sample size at least {worth:,.0f} in each."


def groups_findings(posteriors: Posteriors) -> tuple[Finding, ...]:
    """Say each kind of finding once, as grave as it is anywhere, and which groups have it; the gravest first."""
    found: dict[str, dict[Any, Finding]] = {}
    for group, posterior in posteriors.items():
        for finding in gravest_first(posterior.findings):
            found.setdefault(finding.code, {}).setdefault(group, finding)
    return gravest_first(_gravest(by_group, len(posteriors)) for by_group in found.values())


def _gravest(by_group: Mapping[Any, Finding], groups: int) -> Finding:
    """Return the gravest of a kind; unless all groups have it in the same words, whose it is and who else has it."""
    (group, gravest), *others = sorted(by_group.items(), key=lambda item: ORDER[item[1].severity])
    alike = [group_name(other) for other, finding in others if finding.severity == gravest.severity]
    milder = [group_name(other) for other, finding in others if finding.severity != gravest.severity]
    is_everywhere = len(alike) + 1 == groups
    if is_everywhere and len({finding.message for finding in by_group.values()}) == 1:
        return gravest
    others_too = "all other groups, each with numbers of its own" if is_everywhere else None
    more = f" Likewise in {others_too or listed(alike)}." if alike else ""
    less = f" Less gravely in {listed(milder)}." if milder else ""
    return replace(gravest, message=f"In {group_name(group)}: {gravest.message}{more}{less}")


def difference(
    first: Posterior, second: Posterior, *, level: float, kind: Kind, target: Target
) -> list[dict[str, Any]]:
    """Return how much larger each class is in the second group than in the first, from their joint draws."""
    names = ("mean", "lower", "upper", "probability_larger")
    if not (first.has_answer and second.has_answer):
        return [{"class": name, **dict.fromkeys(names)} for name in first.classes]
    draws = second.shares(target) - first.shares(target)
    lower, upper = interval_of(draws, level, kind).T
    values = zip(first.classes, draws.mean(axis=0), lower, upper, (draws > 0).mean(axis=0), strict=True)
    return [{"class": name, **dict(zip(names, map(float, numbers), strict=True))} for name, *numbers in values]


def changes_table(
    posteriors: Posteriors,
    *,
    level: float = 0.95,
    kind: Kind = "equal-tailed",
    target: Target = "population",
    classes: Sequence[Name] | None = None,
) -> Table:
    """Return how each class changes from one group to the next that has an answer, in percentage points."""
    rows = []
    for pair in pairwise(answered(posteriors)):
        step = " → ".join(visible(group_name(group)) for group in pair)
        first, second = (posteriors[group] for group in pair)
        changes = difference(first, second, level=level, kind=kind, target=target)
        for each in changes if classes is None else [changes[first.place(name)] for name in classes]:
            ends = f"{100 * each['lower']:+.1f} – {100 * each['upper']:+.1f}"
            numbers = [f"{100 * each['mean']:+.1f}", ends, f"{each['probability_larger']:.3f}"]
            rows.append([f"{step} {visible(each['class'])}", *numbers])
    header = ["change", "points", interval_name(level, kind), "probability of growth"]
    return Table(header, rows, (), "From joint draws: the groups share their labelled items.")
