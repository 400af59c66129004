"""The true shares in every group: one table, one JSON file, one page, one picture."""

import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import typer

from truecount.api.bayesian import infer_many
from truecount.cli.report import Report
from truecount.cli.screen import print_table
from truecount.cli.source import Groups
from truecount.cli.wording import finding_in_shell
from truecount.counts.values import written
from truecount.errors import TruecountWarning
from truecount.inference.draws import Engine
from truecount.models import Prior
from truecount.results import Posterior
from truecount.results.groups import changes_table, difference, groups_table, is_joint
from truecount.results.table import as_text

SCHEMA = "truecount.estimates/1"


def refuse_for_groups(design: str) -> None:
    """Refuse what groups know nothing of."""
    if design != "label-shift":
        raise typer.BadParameter("--design does not go with groups.")


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
        lambda: report.pictures(posteriors),
    )


def _summary(report: Report, by: Sequence[str], posteriors: Mapping[Any, Posterior]) -> dict[str, Any]:
    groups = [{"group": _keys(by, group), **each.to_dict(**report.look)} for group, each in posteriors.items()]
    summary = {"schema": SCHEMA, "by": list(by), "groups": groups}
    if is_joint(posteriors):
        summary["differences"] = [
            {"first": _keys(by, first), "second": _keys(by, second), **row}
            for first, second in combinations(posteriors, 2)
            for row in difference(posteriors[first], posteriors[second], **report.look)
        ]
    return summary


def _rows(by: Sequence[str], group: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give a row for each class; where a grouping column is called like the answer's, all say that they group."""
    prefix = "group_" if any(column in row for column in by for row in group["classes"]) else ""
    keys = {f"{prefix}{column}": key for column, key in zip(by, group["group"], strict=True)}
    return [{**keys, **row} for row in group["classes"]]


def _print(report: Report, by: Sequence[str], posteriors: Mapping[Any, Posterior]) -> None:
    tables = [groups_table(posteriors, **report.look, heading=", ".join(by))]
    if is_joint(posteriors) and len(posteriors) > 1:
        tables.append(changes_table(posteriors, **report.look))
    for table in tables:
        if sys.stdout.isatty():
            print_table(table)
        else:
            typer.echo(as_text(table))


def _keys(by: Sequence[str], group: Any) -> list[Any]:
    return [written(key) for key in ((group,) if len(by) == 1 else group)]
