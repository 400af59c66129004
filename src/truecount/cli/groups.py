"""The true shares in every group: one table, one JSON file."""

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import typer

from truecount._wording import listed
from truecount.api.bayesian import infer_many
from truecount.cli.report import Report
from truecount.cli.screen import print_table
from truecount.cli.source import Groups
from truecount.cli.wording import finding_in_shell
from truecount.counts.periods import written
from truecount.errors import TruecountWarning
from truecount.inference.draws import Engine
from truecount.models import Prior
from truecount.results import Finding, Posterior
from truecount.results.posterior import interval_of
from truecount.results.table import INTERVAL_NAMES, Table, as_text, tabulate, visible

SCHEMA = "truecount.estimates/1"


def refuse_for_groups(report: Report, design: str) -> None:
    """Refuse options that groups know nothing of."""
    given = {"--html": report.html_file, "--plot": report.plot_file, "--design": design != "label-shift"}
    for option, value in given.items():
        if value:
            raise typer.BadParameter(f"{option} does not go with groups.")


def infer_groups(groups: Groups, prior: Prior, engine: Engine, seed: int, *, joint: bool) -> dict[Any, Posterior]:
    """Infer every group without warnings on the side; findings come in the command's words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TruecountWarning)
        found = infer_many(groups.counts, prior=prior, engine=engine, seed=seed, joint=joint)
    posteriors: dict[Any, Posterior] = dict(found)  # type: ignore[arg-type]
    return {
        group: replace(posterior, findings=tuple(map(finding_in_shell, posterior.findings)))
        for group, posterior in posteriors.items()
    }


def deliver_groups(report: Report, by: Sequence[str], posteriors: Mapping[Any, Posterior]) -> None:
    """Write the summaries of all groups to the files, or print them in one table."""
    report.write(
        lambda: _summary(report, by, posteriors),
        lambda summary: [row for group in summary["groups"] for row in _rows(by, group)],
        lambda: _print(report, by, posteriors),
    )


def _summary(report: Report, by: Sequence[str], posteriors: Mapping[Any, Posterior]) -> dict[str, Any]:
    look: dict[str, Any] = {"level": report.level, "kind": report.interval, "target": report.target}
    groups = [{"group": _keys(by, group), **each.to_dict(**look)} for group, each in posteriors.items()]
    summary = {"schema": SCHEMA, "by": list(by), "groups": groups}
    if _is_joint(posteriors):
        pairs = combinations(posteriors, 2)
        summary["differences"] = [row for pair in pairs for row in _difference(report, by, pair, posteriors)]
    return summary


def _difference(
    report: Report, by: Sequence[str], pair: tuple[Any, Any], posteriors: Mapping[Any, Posterior]
) -> list[dict[str, Any]]:
    """Give how much larger each class is in the second group than in the first, from their joint draws."""
    first, second = (posteriors[group] for group in pair)
    draws = second.shares(report.target) - first.shares(report.target)
    lower, upper = interval_of(draws, report.level, report.interval).T
    values = zip(first.classes, draws.mean(axis=0), lower, upper, (draws > 0).mean(axis=0), strict=True)
    ends = {"first": _keys(by, pair[0]), "second": _keys(by, pair[1])}
    names = ("mean", "lower", "upper", "probability_larger")
    return [{**ends, "class": name, **dict(zip(names, map(float, numbers), strict=True))} for name, *numbers in values]


def _rows(by: Sequence[str], group: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give a row for each class; where a grouping column is called like the answer's, all say that they group."""
    prefix = "group_" if any(column in row for column in by for row in group["classes"]) else ""
    keys = {f"{prefix}{column}": key for column, key in zip(by, group["group"], strict=True)}
    return [{**keys, **row} for row in group["classes"]]


def _print(report: Report, by: Sequence[str], posteriors: Mapping[Any, Posterior]) -> None:
    has_changes = _is_joint(posteriors) and len(posteriors) > 1
    for table in [_table(report, by, posteriors), *([_changes(report, by, posteriors)] if has_changes else [])]:
        if sys.stdout.isatty():
            print_table(table)
        else:
            typer.echo(as_text(table))


def _table(report: Report, by: Sequence[str], posteriors: Mapping[Any, Posterior]) -> Table:
    """Put the tables of all groups below each other; the first column says group and class."""
    look: dict[str, Any] = {"level": report.level, "kind": report.interval, "target": report.target}
    tables = {group: tabulate(posterior, **look) for group, posterior in posteriors.items()}
    columns = max((table.header for table in tables.values()), key=len)
    rows = [
        [f"{_label(by, group)} {row[0]}", *(dict(zip(table.header, row, strict=True)).get(c, "") for c in columns[1:])]
        for group, table in tables.items()
        for row in table.rows
    ]
    header = [f"{', '.join(by)}, class", *columns[1:]]
    return Table(header, rows, _findings(by, posteriors), _how(posteriors))


def _how(posteriors: Mapping[Any, Posterior]) -> str:
    engines = " and ".join(sorted({str(posterior.provenance["engine"]) for posterior in posteriors.values()}))
    worth = min(float(np.min(posterior.effective_draws)) for posterior in posteriors.values())
    number = "1 group" if len(posteriors) == 1 else f"{len(posteriors):,} groups"
    return f"{number}, computed by {engines}: at least {worth:,.0f} effective draws in each."


def _changes(report: Report, by: Sequence[str], posteriors: Mapping[Any, Posterior]) -> Table:
    """Give how each class changes from one group to the next, in percentage points."""
    rows = []
    for pair in pairwise(posteriors):
        for each in _difference(report, by, pair, posteriors):
            step = " → ".join(visible(_label(by, group)) for group in pair)
            ends = f"{100 * each['lower']:+.1f} – {100 * each['upper']:+.1f}"
            numbers = [f"{100 * each['mean']:+.1f}", ends, f"{each['probability_larger']:.3f}"]
            rows.append([f"{step} {visible(each['class'])}", *numbers])
    interval = f"{100 * report.level:.6g} % {INTERVAL_NAMES[report.interval]}"
    header = ["change", "points", interval, "probability of growth"]
    return Table(header, rows, (), "From joint draws: the groups share their labelled items.")


def _findings(by: Sequence[str], posteriors: Mapping[Any, Posterior]) -> tuple[Finding, ...]:
    """Say each kind of finding once: of the first group that has it, and which others have it."""
    found: dict[str, list[tuple[Any, Finding]]] = {}
    for group, posterior in posteriors.items():
        for finding in posterior.findings:
            found.setdefault(finding.code, []).append((group, finding))
    told = []
    for (group, finding), *others in found.values():
        if len(others) + 1 < len(posteriors):
            more = f" Likewise in {listed([_label(by, other) for other, _ in others])}." if others else ""
            finding = replace(finding, message=f"In {_label(by, group)}: {finding.message}{more}")
        told.append(finding)
    return tuple(told)


def _is_joint(posteriors: Mapping[Any, Posterior]) -> bool:
    return all("joint" in posterior.provenance for posterior in posteriors.values())


def _keys(by: Sequence[str], group: Any) -> list[Any]:
    return [written(key) for key in ((group,) if len(by) == 1 else group)]


def _label(by: Sequence[str], group: Any) -> str:
    return " ".join("(none)" if key is None else str(key) for key in _keys(by, group))
