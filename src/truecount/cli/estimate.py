"""The main verb: data in, true shares out."""

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import typer

from truecount._progress import watch
from truecount._types import FloatArray
from truecount.api.bayesian import infer
from truecount.cli import arguments as given
from truecount.cli.groups import deliver_groups, infer_groups
from truecount.cli.methods import by_all, by_method
from truecount.cli.options import make_engine, make_model, read_level, read_seed, require_prior
from truecount.cli.report import Report
from truecount.cli.source import Source
from truecount.counts import Counts, Groups
from truecount.errors import TruecountWarning
from truecount.inference.draws import Engine
from truecount.models import Model, Prior
from truecount.results import Comparison, PointEstimate, Posterior
from truecount.results.finding import in_words
from truecount.results.summary import Kind, Target

if TYPE_CHECKING:
    from truecount.results.check import Check

USUAL = Prior()


def estimate(
    context: typer.Context,
    tables: given.Tables = None,
    label: given.Label = None,
    prediction: given.Prediction = None,
    by: given.By = None,
    weight: given.Weight = None,
    missing: given.Missing = None,
    confusion: given.Confusion = None,
    unlabeled: given.Unlabeled = None,
    positive: given.Positive = None,
    sensitivity: given.Sensitivity = None,
    specificity: given.Specificity = None,
    level: given.Level = "0.95",
    interval: given.Interval = "equal-tailed",
    target: given.Target = "population",
    prior: given.PriorPrevalence = str(USUAL.prevalence),
    prior_confusion: given.PriorConfusion = str(USUAL.confusion),
    prior_output: given.PriorOutput = None,
    draws: given.Draws = None,
    engine: given.Engine = "auto",
    design: given.Design = "label-shift",
    seed: given.Seed = "0",
    joint: given.Joint = False,
    of_interest: given.OfInterest = None,
    sort: given.Sort = "name",
    method: given.Method = None,
    all_methods: given.AllMethods = False,
    json: given.Json = None,
    csv: given.Csv = None,
    html: given.Html = None,
    plot: given.Plot = None,
    table: given.ShowTable = False,
    quiet: given.Quiet = False,
    strict: given.Strict = False,
) -> None:
    """Estimate the true share of every class.

    \b
    One file, whose rows with an empty label are the unlabelled population:
      truecount estimate runs.csv --label human --prediction verdict
    A labelled and an unlabelled file:
      truecount estimate read.parquet unread.parquet --label human --prediction verdict
    For each group, or for each week of a column of times; with --joint, groups can be compared:
      truecount estimate runs.csv --label human --prediction verdict --by region
      truecount estimate runs.csv --label human --prediction verdict --by time:week --joint --json weeks.json
    Counts:
      truecount estimate --confusion confusion.csv --unlabeled unlabeled.csv
      truecount estimate counts.json
    A survey and the validation of its test, counted or known:
      truecount estimate --positive 50/3330 --sensitivity 103/122 --specificity 399/401
      truecount estimate --positive 50/3330 --sensitivity 0.84 --specificity 99.5%
      truecount estimate --positive 50/3330 --sensitivity 103/122 --specificity 399/401 --method rogan-gladen
    Several populations, surveyed by the same test:
      truecount estimate --positive north=50/3330 --positive south=71/2900 --sensitivity 0.84 --specificity 0.995
    One class of interest:
      truecount estimate runs.csv --label human --prediction verdict --class pass
    Labels stratified by output, such as pixels of each class of a map:
      truecount estimate --confusion reference.csv --unlabeled pixels.csv --design by-prediction
    By another estimator, or by all of them:
      truecount estimate counts.json --method bbse
      truecount estimate counts.json --all-methods
    As a page to read, and as a picture, of groups too:
      truecount estimate runs.csv --label human --prediction verdict --html report.html --plot shares.png
      truecount estimate runs.csv --label human --prediction verdict --by time:week --html weeks.html
    In a script, which stops where the answer is not to be trusted:
      truecount estimate runs.csv --label human --prediction verdict --json - --strict

    Where a file is written, no table is printed unless --table asks for it; findings go to the standard error.

    Exit code 0: an answer. 1: bad input. 2: bad usage. 3: no answer, since chains disagree (R-hat above 1.1); with
    --strict, also an answer with a serious finding.

    \b
    {serious}

    Others are info or caution, and do not change the exit code.
    """  # noqa: D301
    source = Source(
        tables=tables or [],
        label=label,
        prediction=prediction,
        by=by,
        weight=weight,
        missing=missing,
        confusion=confusion,
        unlabeled=unlabeled,
        positive=positive,
        sensitivity=sensitivity,
        specificity=specificity,
    )
    report = Report(
        level=read_level(level),
        interval=cast("Kind", interval),
        target=cast("Target", target),
        of_interest=of_interest,
        by_size=sort == "size",
        json_file=json,
        csv_file=csv,
        html_file=html,
        plot_file=plot,
        with_table=table,
        is_quiet=quiet,
        inputs=source.files(),
    )
    seed_number, drawing = read_seed(seed), make_engine(engine, draws)
    require_prior(prior, prior_confusion)
    if method is not None or all_methods:
        given_data = context, source, report
        answer = by_all(*given_data, seed_number) if method is None else by_method(*given_data, method)
        require_answers(*([answer.posterior] if isinstance(answer, Comparison) else []))
        if strict:
            require_sound(answer)
        return
    counts, known = _read(source, design, joint=joint)
    each = [one for _, one in counts.apart()] if isinstance(counts, Groups) else [counts]
    model = make_model(design, each[0], known, prevalence=prior, confusion=prior_confusion, given_output=prior_output)
    report.require_possible(each)
    if isinstance(counts, Groups):
        posteriors = infer_groups(counts, model, drawing, seed_number, joint=joint)
        posteriors = {group: _as_read(posterior, interval) for group, posterior in posteriors.items()}
        deliver_groups(report, counts.by, posteriors)
    else:
        posterior = quiet_infer(counts, model, drawing, seed_number)
        posteriors = {None: _as_read(posterior, interval)}
        report.deliver(posteriors[None])
    require_answers(*posteriors.values())
    if strict:
        require_sound(*posteriors.values())


def _read(source: Source, design: str, *, joint: bool) -> tuple[Counts | Groups, FloatArray | None]:
    """Read the data; refuse options that do not go with them, before they are read where that can be told."""
    no_groups = "--joint goes with --by, with several --positive, or with counts of groups."
    if joint and not source.may_be_of_groups:
        raise typer.BadParameter(no_groups)
    if design != "label-shift":
        return source.read_one("--design")
    counts, known = source.read()
    if joint and not isinstance(counts, Groups):
        raise typer.BadParameter(no_groups)
    return counts, known


def _as_read(posterior: Posterior, interval: str) -> Posterior:
    """Leave out what only an equal-tailed interval does not show, where the shortest one is read."""
    said = [finding for finding in posterior.findings if interval != "hdi" or finding.code != "edge-not-excluded"]
    return replace(posterior, findings=tuple(said))


def quiet_infer(counts: Counts, model: Model, engine: Engine, seed: int) -> Posterior:
    """Infer without warnings on the side: the findings below the table say the same, in the command's words."""
    with warnings.catch_warnings(), watch(what="inferring"):
        warnings.simplefilter("ignore", TruecountWarning)
        posterior = infer(counts, model, engine=engine, seed=seed)
    return replace(posterior, findings=in_words(posterior.findings, "estimate"))


def require_answers(*posteriors: Posterior) -> None:
    """End with exit code 3 where chains disagree so much that there is no answer."""
    lacking = [posterior for posterior in posteriors if not posterior.has_answer]
    if lacking:
        of_groups = f" in {len(lacking):,} of {len(posteriors):,} groups" if len(posteriors) > 1 else ""
        typer.echo(f"No answer{of_groups}: not-converged.", err=True)
        raise typer.Exit(3)


def require_sound(*answers: "Posterior | PointEstimate | Comparison | Check") -> None:
    """End with exit code 3 where a finding is serious."""
    findings = [finding for answer in answers for finding in answer.findings]
    serious = dict.fromkeys(finding.code for finding in findings if finding.severity == "serious")
    if serious:
        typer.echo(f"Not to be trusted: {', '.join(serious)}.", err=True)
        raise typer.Exit(3)
