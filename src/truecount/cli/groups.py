"""The true shares in every group: what is asked of them, one joint answer, one table, one file of each kind."""

import shlex
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import click

from truecount._progress import watch
from truecount._types import Name
from truecount._wording import is_number, quoted
from truecount.cli.options import GroupOptions, named_class, read_by
from truecount.cli.report import Report
from truecount.cli.source import require_few_groups
from truecount.counts import Groups, Ratings
from truecount.errors import InputError, TruecountWarning
from truecount.inference.draws import Engine
from truecount.models import Independent, LabelShift, Model, Pooled, Walk
from truecount.models.variation import Variation
from truecount.reading.names import group_name, mapping_key, sorted_groups
from truecount.results.by_class import unknown_class
from truecount.results.finding import in_words
from truecount.results.groups.summary import GroupSummary, Questions

if TYPE_CHECKING:
    from truecount.results.groups.posterior import GroupPosterior


def variation_of(options: GroupOptions, groups: Groups) -> tuple[Groups, Variation | None]:
    """Return the groups without covariates in their keys, and how they vary; None for the usual way."""
    if options.independent:
        return groups, Independent()
    if options.trend:
        return _in_time(options.trend, groups), Walk()
    if not options.covariate:
        return groups, None
    columns = list(read_by(options.by)) if options.by else groups.by
    groups, covariates = without_covariates(groups, options.covariate, columns)
    return groups, Pooled(covariates=covariates)


def without_covariates(
    groups: Groups, columns: Sequence[str], made_by: Sequence[str]
) -> tuple[Groups, dict[str, dict[Any, float]]]:
    """Return groups made by the columns `made_by` alone, and what the others say of each of them.

    Numbers are taken as they are. Of other values the first in order is what all others are compared with, and each
    other has a column of its own, which is 1 in the groups that have it.
    """
    by = list(groups.by)
    for column in columns:
        if column not in by:
            needed = f"the groups are made by {quoted(by)}"
            raise InputError("--covariate", f"names {column!r}", needed, "Choose one of these")
    kept = [at for at, column in enumerate(by) if column in made_by]
    keys = [group if isinstance(group, tuple) else (group,) for group in groups.groups]
    names = [mapping_key(tuple(key[at] for at in kept)) for key in keys]
    seen: dict[Any, Any] = {}
    for name, key in zip(names, keys, strict=True):
        if name in seen:
            found = f"says two things of {group_name(name)}: {group_name(seen[name])!r} and {group_name(key)!r}"
            needed = "a covariate has one value in each group"
            raise InputError("--covariate", found, needed, "Add it to --by, or choose another column")
        seen[name] = key
    covariates: dict[str, dict[Any, float]] = {}
    for column in columns:
        covariates |= _coded(column, {name: key[by.index(column)] for name, key in seen.items()})
    return groups.renamed(names, by=[by[at] for at in kept]), covariates


def _coded(column: str, values: dict[Any, Any]) -> dict[str, dict[Any, float]]:
    """Return numbers, or a column of 0 and 1 for each name but the first."""
    present = [value for value in values.values() if value is not None]
    if len(present) < len(values):
        lacking = [group_name(group) for group, value in values.items() if value is None]
        found = f"{column!r} is missing for {quoted(lacking)}"
        raise InputError("--covariate", found, "every group needs it", "Fill it in, or leave the covariate out")
    if all(is_number(value) for value in present):
        return {column: {group: float(value) for group, value in values.items()}}
    _, *others = [level for (level,) in sorted_groups({(value,) for value in present})]
    return {
        f"{column}={group_name(level)}": {group: float(value == level) for group, value in values.items()}
        for level in others
    }


def _in_time(trend: str, groups: Groups) -> Groups:
    ((column, frequency),) = read_by([trend]).items()
    if column not in groups.by:
        needed = f"the groups are made by {quoted(groups.by)}"
        raise InputError("--trend", f"names {column!r}", needed, "Name the column of times")
    if groups.times is None or len(groups.by) > 1:
        found = f"finds the groups {quoted(list(map(group_name, groups.groups[:3])))}"
        needed = "a trend needs times that can be ordered, one for each group"
        remedy = "Write times like 2024-05-30, remove rows without one, or use --by"
        raise InputError("--trend", found, needed, remedy)
    order = groups.times.argsort(kind="stable")
    filled = groups if frequency is None else groups.fill_periods(frequency)
    return filled.select([groups.groups[at] for at in order]) if frequency is None else filled


def questions_of(options: GroupOptions, groups: Groups, of_interest: str | None) -> Questions:
    """Return what is asked of the answer, in the names of the groups and classes."""
    of = None if of_interest is None else named_class("--class", of_interest, groups.classes)
    pairs: Any = "all" if options.all_pairs else None
    if options.compare is not None:
        pairs = (tuple(named_group("--compare", name, groups) for name in options.compare),)
    thresholds = options.thresholds(groups.classes)
    claimed = list(dict.fromkeys([*thresholds["above"], *thresholds["below"]]))
    return Questions(
        of=claimed[0] if of is None and len(claimed) == 1 else of,
        pairs=pairs,
        baseline=None if options.baseline is None else named_group("--baseline", options.baseline, groups),
        above=thresholds["above"],
        below=thresholds["below"],
    )


def named_group(where: str, text: str, groups: Groups) -> Any:
    """Return the group of that name, which may be a date or a number in the data."""
    by_text = {group_name(group): group for group in groups.groups}
    if text not in by_text:
        raise unknown_class(where, f"is {text!r:.60}", text, by_text, "groups")
    return by_text[text]


def infer_groups(groups: Groups | Ratings, model: Model, engine: Engine, seed: int) -> "GroupPosterior":
    """Infer all groups jointly, without warnings on the side; findings come in the command's words."""
    from truecount.api.bayesian import infer

    with warnings.catch_warnings(), watch(what="inferring"):
        warnings.simplefilter("ignore", TruecountWarning)
        answer = cast("GroupPosterior", infer(groups, model, engine=engine, seed=seed))
    return replace(answer, findings=in_words(answer.findings, "estimate"))


def answer_groups(
    groups: Groups,
    model: LabelShift,
    options: GroupOptions,
    report: Report,
    *,
    engine: Engine,
    seed: int,
    ratings: Ratings | None = None,
) -> GroupSummary:
    """Infer, summarise, and write or print what was asked for."""
    require_few_groups(groups)
    groups, variation = variation_of(options, groups)
    questions = questions_of(options, groups, report.of_interest)
    data = groups if ratings is None else ratings
    answer = infer_groups(data, replace(model, groups=variation), engine, seed)
    summary = answer.summary(report.level, kind=report.interval, target=report.target, questions=questions)
    _deliver(report, answer, summary)
    return summary


def _deliver(report: Report, answer: "GroupPosterior", summary: GroupSummary) -> None:
    """Write the summary to the files, or print it in tables."""
    from truecount.results.groups.export import rows_of, to_dict
    from truecount.results.groups.table import group_tables

    shown: list[Name] | None = None if report.of_interest is None else [summary.of]
    look = {"every_class": report.of_interest is None, "by_size": report.by_size}

    def show() -> None:
        for table in group_tables(summary, **look):
            report.print(table)
        if answer.raters is not None and summary.has_answer:
            click.echo()
            report.print(answer.raters.table(report.level))

    report.write(
        lambda: to_dict(summary, answer.data),
        lambda _: rows_of(summary, shown),
        show,
        lambda: _pictures(report, answer, summary),
        summary.findings,
        keys=len(summary.by),
    )
    if (report.writes_files or report.rows_file is not None) and not report.with_table:
        for alert in summary.alerts:
            click.echo(f"Alert: {alert.message}", err=True)


def _pictures(report: Report, answer: "GroupPosterior", summary: GroupSummary) -> dict[str, bytes]:
    """Return the page and the picture, as far as they are wanted."""
    made = {}
    with watch(what="making page and pictures"):
        if report.html_file is not None:
            from truecount.page.groups import render_groups

            typed = shlex.join(["truecount", *sys.argv[1:]])
            page = render_groups(answer, summary, title=report.title, command=typed)
            made[report.html_file] = page.encode(errors="backslashreplace")
        if report.plot_file is not None:
            from truecount.cli.pictures import CORRECTED, encoded, no_answer
            from truecount.plots.groups import groups as draw
            from truecount.results.groups.table import refusal

            ax = draw(summary) if summary.has_answer else no_answer(refusal(summary))
            made[report.plot_file] = encoded(ax, report.plot_file, flags=CORRECTED)
    return made


def require_no_alert(summary: GroupSummary) -> None:
    """End with exit code 3 where there is an alert."""
    if summary.alerts:
        groups = dict.fromkeys(f"{alert.kind} ({group_name(alert.group)})" for alert in summary.alerts)
        click.echo(f"Alert: {', '.join(groups)}.", err=True)
        raise click.exceptions.Exit(3)
