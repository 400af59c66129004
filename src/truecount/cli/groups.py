"""The true shares in every group: one table, one JSON file, one page, one picture."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from truecount._types import Name
from truecount.api.bayesian import infer_many
from truecount.cli.report import Report
from truecount.counts import Groups
from truecount.errors import TruecountWarning
from truecount.inference.draws import Engine
from truecount.models import Model
from truecount.reading.names import written
from truecount.results import Posterior
from truecount.results.finding import in_words
from truecount.results.groups import answered, changes_table, difference, groups_findings, groups_table, is_joint

SCHEMA = "truecount.estimates/1"


def infer_groups(groups: Groups, model: Model, engine: Engine, seed: int, *, joint: bool) -> dict[Any, Posterior]:
    """Infer every group without warnings on the side; findings come in the command's words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TruecountWarning)
        found = infer_many(groups, model, engine=engine, seed=seed, joint=joint)
    posteriors: dict[Any, Posterior] = dict(found)  # type: ignore[arg-type]
    return {
        group: replace(posterior, findings=in_words(posterior.findings, "estimate"))
        for group, posterior in posteriors.items()
    }


def deliver_groups(report: Report, by: Sequence[str], posteriors: Mapping[Any, Posterior]) -> None:
    """Write the summaries of all groups to the files, or print them in one table."""
    shown = report.shown(list(posteriors.values()))
    report.write(
        lambda: _summary(report, by, posteriors),
        lambda summary: [row for group in summary["groups"] for row in _rows(report, by, group, shown)],
        lambda: _print(report, by, posteriors),
        lambda: report.pictures(posteriors),
        groups_findings(posteriors),
    )


def _summary(report: Report, by: Sequence[str], posteriors: Mapping[Any, Posterior]) -> dict[str, Any]:
    groups = [
        {"group": _keys(by, group), **report.with_interest(each.to_dict(**report.look))}
        for group, each in posteriors.items()
    ]
    summary = {"schema": SCHEMA, "by": list(by), "groups": groups}
    if is_joint(posteriors):
        summary["differences"] = [
            {"first": _keys(by, first), "second": _keys(by, second), **row}
            for first, second in combinations(posteriors, 2)
            for row in difference(posteriors[first], posteriors[second], **report.look)
        ]
    return summary


def _rows(
    report: Report, by: Sequence[str], group: Mapping[str, Any], shown: Sequence[Name] | None
) -> list[dict[str, Any]]:
    """Return a row for each class; where a grouping column is called like the answer's, all say that they group."""
    rows = report.rows_of(group, shown)
    prefix = "group_" if any(column in row for column in by for row in rows) else ""
    keys = {f"{prefix}{column}": key for column, key in zip(by, group["group"], strict=True)}
    return [{**keys, **row} for row in rows]


def _print(report: Report, by: Sequence[str], posteriors: Mapping[Any, Posterior]) -> None:
    shown = report.shown(list(posteriors.values()))
    report.print(groups_table(posteriors, **report.look, classes=shown, heading=", ".join(by)))
    if is_joint(posteriors) and len(answered(posteriors)) > 1:
        report.print(changes_table(posteriors, **report.look, classes=shown))


def _keys(by: Sequence[str], group: Any) -> list[Any]:
    return [written(key) for key in ((group,) if len(by) == 1 else group)]
