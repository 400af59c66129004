"""May the answer be trusted? Everything that is known about it, on one page."""

import warnings
from dataclasses import replace
from os import environ
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from truecount._command import Option
from truecount._progress import watch
from truecount.cli import arguments as given
from truecount.cli.estimate import require_answer, require_sound
from truecount.cli.model import ModelOptions
from truecount.cli.options import (
    make_engine,
    read_conclusions,
    read_level,
    read_seed,
    read_share,
)
from truecount.cli.report import Report
from truecount.cli.screen import print_lines
from truecount.cli.source import Source
from truecount.counts import Counts, Groups
from truecount.errors import InputError, TruecountWarning
from truecount.results.export.gate import tests_of, to_junit, to_markdown
from truecount.results.finding import in_words, without

if TYPE_CHECKING:
    from truecount.models import Model
    from truecount.results.check import Check

Audit = Annotated[
    Path | None,
    Option(
        metavar="FILE",
        help="Labelled items of the population itself: counts, as JSON or as for --confusion, or a table with the "
        "columns --label and --prediction.",
    ),
]
Drift = Annotated[
    list[str] | None, Option(metavar="P", help="What if every row of the confusion moved so far? 0.05 or 5%.")
]
LabelError = Annotated[
    list[str] | None, Option(metavar="P", help="What if so many of the labels were wrong? 0.05 or 5%.")
]
Above = Annotated[
    list[str] | None,
    Option(
        metavar="CLASS=P",
        help="Does the whole interval show that CLASS lies above P, and which drift would overturn it (under label "
        "shift)? pass=0.8 or pass=80%. With --strict, exit code 3 unless it does.",
    ),
]
Below = Annotated[list[str] | None, Option(metavar="CLASS=P", help="The same, that CLASS lies below P.")]
CalibrationSets = Annotated[bool, Option(help="Simulate 200 data sets of these sizes: do intervals hold?")]
SETS = 200


def check(
    tables: given.Tables = None,
    label: given.Label = None,
    prediction: given.Prediction = None,
    by: given.By = None,
    study: given.Study = None,
    weight: given.Weight = None,
    cluster: given.Cluster = None,
    missing: given.Missing = None,
    outputs_are_classes: given.OutputsAreClasses = False,
    confusion: given.Confusion = None,
    unlabeled: given.Unlabeled = None,
    positive: given.Positive = None,
    sensitivity: given.Sensitivity = None,
    specificity: given.Specificity = None,
    audit: Audit = None,
    drift: Drift = None,
    label_error: LabelError = None,
    above: Above = None,
    below: Below = None,
    calibration: CalibrationSets = False,
    prior: given.PriorPrevalence = "auto",
    prior_confusion: given.PriorConfusion = "auto",
    prior_output: given.PriorOutput = None,
    engine: given.Engine = "auto",
    design: given.Design = "label-shift",
    level: given.Level = "0.95",
    seed: given.Seed = "0",
    json: given.Json = None,
    junit: given.Junit = None,
    github_summary: given.GithubSummary = False,
    table: given.ShowTable = False,
    quiet: given.Quiet = False,
    strict: given.Strict = False,
) -> None:
    """Check whether the answer may be trusted.

    \b
    The same data as for estimate:
      truecount check runs.csv --label human --prediction verdict
    With some labelled items of the population itself, which see more than all else:
      truecount check runs.csv --label human --prediction verdict --audit read.csv
    Each group by itself, and whether the classifier treats the classes alike in all; all other tables pool them:
      truecount check runs.csv --label human --prediction verdict --by region
    What if its error rates changed by 5 %, and which change would overturn a conclusion?
      truecount check counts.json --drift 5% --above pass=80%
    What if 5 % of the labels were wrong?
      truecount check counts.json --label-error 5%
    Do intervals hold at these sizes?
      truecount check counts.json --calibration
    As a gate in continuous integration, with exit code 3 unless the interval shows it:
      truecount check runs.csv --label human --prediction verdict --above pass=80% --strict --github-summary

    The same where the labels are a random sample of the population:
      truecount check runs.csv --label human --prediction verdict --design same-population --above pass=80% --strict

    Exit code 0: an answer. 1: bad input. 2: bad usage. 3: no answer, since chains disagree (R-hat above 1.1); with
    --strict, also a serious finding, or a share that the interval does not show to lie --above or --below.

    As a gate, check --strict fails unless the whole interval shows the claim; estimate --above --strict fails only
    where the claim is improbable (P at 5 % or less), and passes where the data cannot tell.

    \b
    {serious}
    """  # noqa: D301
    source = Source.among(locals())
    source.refuse_ranges("check")
    audited = [] if audit is None else [str(audit)]
    inputs = replace(source, tables=[*source.tables, *audited]).files()
    report = Report(json_file=json, junit_file=junit, with_table=table, is_quiet=quiet, inputs=inputs)
    if design != "label-shift" and (drift or calibration):
        asked = "--drift and --calibration"
        raise click.BadParameter(f"{asked} ask about label shift; they do not go with --design {design}.")
    summary_file = environ.get("GITHUB_STEP_SUMMARY") or "-" if github_summary else None
    drawing, seed_number = make_engine(engine, None), read_seed(seed)
    drifts = [read_share("--drift", text, "Write 0.05 or 5%") for text in drift or ()] or None
    label_errors = [read_share("--label-error", text, "Write 0.05 or 5%") for text in label_error or ()] or None
    assumed = ModelOptions(design=design, prior=prior, prior_confusion=prior_confusion, prior_output=prior_output)
    assumed.require_prior()
    data = source if audit is None else source.without_columns()
    counts, known = data.read() if design == "label-shift" else data.read_one("--design")
    first = counts.total if isinstance(counts, Groups) else counts
    found = _checked(
        counts,
        assumed.model(first, known),
        engine=drawing,
        audit=None if audit is None else source.of_population(audit, "--audit"),
        drift=drifts,
        label_error=label_errors,
        above=read_conclusions("--above", above or (), first.classes),
        below=read_conclusions("--below", below or (), first.classes),
        calibration_sets=SETS if calibration else 0,
        level=read_level(level),
        seed=seed_number,
    )
    if source.positive:
        found = _without_designs(found)
    report.write(
        found.to_dict,
        lambda summary: list(summary["findings"]),
        lambda: None if summary_file == "-" else print_lines(str(found)),
        lambda: {} if junit is None else {junit: to_junit(found).encode(errors="xmlcharrefreplace")},
        found.findings,
    )
    if summary_file is not None and (summary_file, json) != ("-", "-"):
        _append(summary_file, to_markdown(found))
    require_answer(found.posterior)
    if strict:
        require_sound(found)
        _require_claims(found)


def _append(path: str, text: str) -> None:
    """Add to the summary of a step, to which several commands may write; ``-`` is the standard output."""
    if path == "-":
        return click.echo(text, nl=False)
    try:
        with open(path, "a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
    except OSError as error:
        needed, remedy = "GitHub Actions names a file there", "Leave --github-summary out elsewhere"
        raise InputError("GITHUB_STEP_SUMMARY", f"cannot be written ({error.strerror})", needed, remedy) from error


def _require_claims(found: "Check") -> None:
    """End with exit code 3 where the interval does not show what was claimed."""
    failed = [test.name for test in tests_of(found) if test.kind == "conclusion" and not test.is_passed]
    if failed:
        click.echo(f"Not shown: {', '.join(failed)}.", err=True)
        raise click.exceptions.Exit(3)


def _without_designs(found: "Check") -> "Check":
    """Leave out how labels may have been chosen: those of a survey's test are of a study, and never of the survey."""
    tables = {name: found.tables[name] for name in found.tables if name != "designs"}
    return replace(found, findings=without(found.findings, "designs-disagree"), tables=tables)


def _checked(counts: Counts | Groups, model: "Model", **options: Any) -> "Check":
    """Check without warnings on the side: the findings say the same, in the command's words."""
    from truecount.api.trust import check as run

    with warnings.catch_warnings(), watch(what="checking"):
        warnings.simplefilter("ignore", TruecountWarning)
        found = run(counts, model, **options)
    return replace(found, findings=in_words(found.findings, "check"))
