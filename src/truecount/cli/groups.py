"""The true shares in every group: what is asked of them, one joint answer, one table, one file of each kind."""

import shlex
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import typer

from truecount._progress import watch
from truecount._types import Name
from truecount._wording import nearest, quoted
from truecount.cli.options import named_class, read_by, read_conclusions
from truecount.cli.report import Report
from truecount.cli.source import Source
from truecount.counts import Groups
from truecount.errors import InputError, TruecountWarning
from truecount.inference.draws import Engine
from truecount.models import Independent, LabelShift, Model, Pooled, Varying, Walk
from truecount.models.variation import Variation
from truecount.reading.names import group_name
from truecount.results.finding import in_words
from truecount.results.group_summary import GroupSummary, Questions

if TYPE_CHECKING:
    from truecount.results.group_posterior import GroupPosterior

EXCLUDING = (
    ("compare", "baseline", "the first compares two groups, the second all with one"),
    ("compare", "all_pairs", "all pairs hold every other"),
    ("baseline", "all_pairs", "all pairs hold those with the baseline"),
    ("trend", "independent", "a trend goes from one period to the next, which independent groups do not"),
    ("trend", "covariate", "a trend has no covariates"),
    ("trend", "by", "a trend is one series of periods"),
    ("independent", "covariate", "covariates say where groups are pooled, and independent ones are not"),
)
"""Options that contradict each other, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions:
    """What was said about groups; the fields are options of the command."""

    by: Sequence[str] = ()
    compare: tuple[str, str] | None = None
    baseline: str | None = None
    all_pairs: bool = False
    trend: str | None = None
    study: str | None = None
    above: Sequence[str] = ()
    below: Sequence[str] = ()
    covariate: Sequence[str] = ()
    independent: bool = False

    @property
    def given(self) -> list[str]:
        """The options that were given, beside the columns that make groups."""
        return [option(field.name) for field in fields(self) if getattr(self, field.name) and field.name != "by"]

    def require_sound(self, source: Source, engine: str) -> None:
        """Refuse options that contradict each other or the data, before anything is read."""
        for first, second, reason in EXCLUDING:
            if getattr(self, first) and getattr(self, second):
                found = f"is given with {option(second)}"
                raise _misused(first, found, reason, f"Leave out {option(first)} or {option(second)}")
        if self.compare is not None and self.compare[0] == self.compare[1]:
            found = f"names {self.compare[0]!r} twice"
            raise _misused("compare", found, "a comparison is of two groups", "Name two different groups")
        for side in ("above", "below"):
            names = [entry.rpartition("=")[0] for entry in getattr(self, side)]
            for name in names:
                if names.count(name) > 1:
                    found = f"names {name!r} {names.count(name)} times"
                    raise _misused(side, found, "a class has one threshold on a side", "Name each class once")
        if not self.of_source(source).may_be_of_groups:
            self.require_groups()
        if source.asks_for_groups and engine != "auto":
            found, needed = f"is {engine!r}", "groups are drawn jointly, by an engine of their own"
            raise _misused("engine", found, needed, "Leave out --engine")

    def require_groups(self) -> None:
        """Refuse options that say something of groups where there are none."""
        if self.given:
            found, needed = "is given without groups", "it says something of several groups"
            raise _misused(self.given[0].removeprefix("--"), found, needed, "Add --by COLUMN, or --trend COLUMN:PERIOD")

    def of_source(self, source: Source) -> Source:
        """Return the data with the columns that these options read; counts have theirs already."""
        if not (source.label or source.prediction):
            return replace(source, study=self.study)
        columns = [*self.by, *([self.trend] if self.trend else [])]
        more = [column for column in self.covariate if column not in read_by(columns)]
        return replace(source, by=[*columns, *more] or None, study=self.study)

    def variation(self, groups: Groups) -> tuple[Groups, Variation | None]:
        """Return the groups without covariates in their keys, and how they vary; None for the usual way."""
        if self.independent:
            return groups, Independent()
        if self.trend:
            return self._in_time(groups), Walk()
        if not self.covariate:
            return groups, None
        from truecount.cli.covariates import without_covariates

        columns = list(read_by(self.by)) if self.by else groups.by
        groups, covariates = without_covariates(groups, self.covariate, columns)
        return groups, Pooled(covariates=covariates)

    def _in_time(self, groups: Groups) -> Groups:
        ((column, frequency),) = read_by([self.trend or ""]).items()
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

    def questions(self, groups: Groups, of_interest: str | None) -> Questions:
        """Return what is asked of the answer, in the names of the groups and classes."""
        of = None if of_interest is None else named_class("--class", of_interest, groups.classes)
        pairs: Any = "all" if self.all_pairs else None
        if self.compare is not None:
            pairs = (tuple(named_group("--compare", name, groups) for name in self.compare),)
        above = read_conclusions("--above", self.above, groups.classes)
        below = read_conclusions("--below", self.below, groups.classes)
        claimed = list(dict.fromkeys([*above, *below]))
        return Questions(
            of=claimed[0] if of is None and len(claimed) == 1 else of,
            pairs=pairs,
            baseline=None if self.baseline is None else named_group("--baseline", self.baseline, groups),
            above=above,
            below=below,
        )


def option(name: str) -> str:
    """Return the option that a field stands for."""
    return f"--{name.replace('_', '-')}"


def _misused(name: str, found: str, needed: str, remedy: str) -> typer.BadParameter:
    """Return the error for options that do not go together, in the four parts of any error."""
    return typer.BadParameter(str(InputError(option(name), found, needed, remedy)))


def named_group(where: str, text: str, groups: Groups) -> Any:
    """Return the group of that name, which may be a date or a number in the data."""
    by_text = {group_name(group): group for group in groups.groups}
    if text not in by_text:
        meant = nearest(text, by_text)
        remedy = f"Perhaps you meant {meant!r}" if meant else "Choose one of these"
        raise InputError(where, f"is {text!r:.60}", f"the groups are {quoted(list(by_text))}", remedy)
    return by_text[text]


def infer_groups(groups: Groups, model: Model, engine: Engine, seed: int) -> "GroupPosterior":
    """Infer all groups jointly, without warnings on the side; findings come in the command's words."""
    from truecount.api.bayesian import infer

    with warnings.catch_warnings(), watch(what="inferring"):
        warnings.simplefilter("ignore", TruecountWarning)
        answer = infer(groups, model, engine=engine, seed=seed)
    return replace(answer, findings=in_words(answer.findings, "estimate"))


def answer_groups(
    groups: Groups,
    model: Model,
    options: GroupOptions,
    report: Report,
    *,
    engine: Engine,
    seed: int,
) -> GroupSummary:
    """Infer, summarise, and write or print what was asked for."""
    groups, variation = options.variation(groups)
    questions = options.questions(groups, report.of_interest)
    if not isinstance(model, LabelShift):
        needed = "groups are drawn jointly under label shift"
        raise InputError("--design", f"is {model.name!r}", needed, "Leave out --design, or the groups")
    confusion = Varying() if groups.studies is not None else None
    answer = infer_groups(groups, replace(model, groups=variation, confusion=confusion), engine, seed)
    summary = answer.summary(report.level, kind=report.interval, target=report.target, questions=questions)
    _deliver(report, answer, summary)
    return summary


def _deliver(report: Report, answer: "GroupPosterior", summary: GroupSummary) -> None:
    """Write the summary to the files, or print it in tables."""
    from truecount.results.group_export import rows_of, to_dict
    from truecount.results.group_table import group_tables

    shown: list[Name] | None = None if report.of_interest is None else [summary.of]
    look = {"every_class": report.of_interest is None, "by_size": report.by_size}

    def show() -> None:
        for table in group_tables(summary, **look):
            report.print(table)

    report.write(
        lambda: to_dict(summary, answer.data),
        lambda _: rows_of(summary, shown),
        show,
        lambda: _pictures(report, answer, summary),
        summary.findings,
    )
    if report.writes_files and not report.with_table:
        for alert in summary.alerts:
            typer.echo(f"Alert: {alert.message}", err=True)


def _pictures(report: Report, answer: "GroupPosterior", summary: GroupSummary) -> dict[str, bytes]:
    """Return the page and the picture, as far as they are wanted."""
    made = {}
    with watch(what="drawing"):
        if report.html_file is not None:
            from truecount.page.groups import render_groups

            typed = shlex.join(["truecount", *sys.argv[1:]])
            page = render_groups(answer, summary, title=report.title, command=typed)
            made[report.html_file] = page.encode(errors="backslashreplace")
        if report.plot_file is not None:
            from truecount.cli.pictures import encoded
            from truecount.plots.groups import groups as draw

            made[report.plot_file] = encoded(draw(summary), report.plot_file)
    return made


def require_no_alert(summary: GroupSummary) -> None:
    """End with exit code 3 where there is an alert."""
    if summary.alerts:
        groups = dict.fromkeys(f"{alert.kind} ({group_name(alert.group)})" for alert in summary.alerts)
        typer.echo(f"Alert: {', '.join(groups)}.", err=True)
        raise typer.Exit(3)
