"""The main verb: data in, true shares out."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import click

from truecount._progress import watch
from truecount._types import FloatArray, Name
from truecount._wording import visible
from truecount.api.bayesian import infer
from truecount.cli import arguments as given
from truecount.cli.methods import by_all, by_method
from truecount.cli.model import (
    USUAL,
    ModelOptions,
    require_nothing_in_common,
    require_several,
    say_worth,
    with_studies,
)
from truecount.cli.options import GroupOptions, among, make_engine, read_level, read_seed, refuse_parts_of_items
from truecount.cli.report import Report
from truecount.cli.separate import Stream, answer_separately, end_separately
from truecount.cli.source import Source, read_target
from truecount.counts import Counts, Groups, Ratings
from truecount.errors import TruecountWarning
from truecount.inference.draws import Engine
from truecount.models import LabelShift, Model
from truecount.models.erring_labels import behind_labels
from truecount.results import Comparison, PointEstimate, Posterior
from truecount.results.claim import ShareClaim, Side, share_claims
from truecount.results.finding import in_words, without
from truecount.results.summary import Kind, Target

if TYPE_CHECKING:
    from truecount.results.check import Check
    from truecount.results.each_classifier import EachClassifier
    from truecount.results.groups.summary import GroupSummary


def estimate(
    tables: given.Tables = None,
    label: given.Label = None,
    prediction: given.Prediction = None,
    by: given.By = None,
    weight: given.Weight = None,
    cluster: given.Cluster = None,
    target_labels: given.TargetLabels = None,
    missing: given.Missing = None,
    outputs_are_classes: given.OutputsAreClasses = False,
    confusion: given.Confusion = None,
    unlabeled: given.Unlabeled = None,
    positive: given.Positive = None,
    sensitivity: given.Sensitivities = None,
    specificity: given.Specificities = None,
    level: given.Level = "0.95",
    interval: given.Interval = "equal-tailed",
    target: given.Target = "population",
    prior: given.PriorPrevalence = str(USUAL.prevalence),
    prior_confusion: given.PriorConfusion = str(USUAL.confusion),
    prior_output: given.PriorOutput = None,
    draws: given.Draws = None,
    engine: given.Engine = "auto",
    design: given.Design = "label-shift",
    label_error: given.KnownLabelError = None,
    each_classifier: given.EachClassifier = False,
    independent_classifiers: given.IndependentClassifiers = False,
    seed: given.Seed = "0",
    compare: given.Compare = None,
    baseline: given.Baseline = None,
    all_pairs: given.AllPairs = False,
    trend: given.Trend = None,
    study: given.Study = None,
    new_study: given.NewStudy = None,
    random_labels: given.RandomLabels = False,
    above: given.Above = None,
    below: given.Below = None,
    covariate: given.Covariate = None,
    independent: given.IndependentGroups = False,
    separate: given.Separate = False,
    of_interest: given.OfInterest = None,
    sort: given.Sort = "name",
    method: given.Method = None,
    all_methods: given.AllMethods = False,
    json: given.Json = None,
    csv: given.Csv = None,
    parquet: given.Parquet = None,
    openmetrics: given.OpenMetrics = None,
    html: given.Html = None,
    plot: given.Plot = None,
    output: given.Results = None,
    partition: given.Partition = None,
    resume: given.Resume = False,
    workers: given.Workers = None,
    title: given.Title = None,
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
    For each group, all drawn jointly, so that they can be compared; small groups borrow from the others:
      truecount estimate runs.csv --label human --prediction verdict --by model
      truecount estimate runs.csv --label human --prediction verdict --by model --compare A B
      truecount estimate runs.csv --label human --prediction verdict --by model --baseline A --above pass=80%
    One population, of which a claim is made; with --strict, exit code 3 where it is improbable:
      truecount estimate runs.csv --label human --prediction verdict --above pass=80% --strict
    From week to week, with an alert where a share changed; with --strict, exit code 3:
      truecount estimate runs.csv --label human --prediction verdict --trend time:week --strict
    Items that belong together, such as five epochs of each question:
      truecount estimate runs.csv --label human --prediction verdict --cluster question
    Labels of the population itself beside labels from elsewhere, in a file or in rows that a column tells apart:
      truecount estimate runs.csv --label human --prediction verdict --target-labels audit.csv
      truecount estimate runs.csv --label human --prediction verdict --target-labels where=here
    Labels from several studies, in which the classifier may behave differently:
      truecount estimate runs.csv --label human --prediction verdict --by region --study site
    Counts:
      truecount estimate --confusion confusion.csv --unlabeled unlabeled.csv
      truecount estimate counts.json
    A survey and the validation of its test, counted or known:
      truecount estimate --positive 50/3330 --sensitivity 103/122 --specificity 399/401
      truecount estimate --positive 50/3330 --sensitivity 0.84 --specificity 99.5%
      truecount estimate --positive 50/3330 --sensitivity 103/122 --specificity 399/401 --method rogan-gladen
    The same with published ranges; and with several validation studies, between which the rates vary:
      truecount estimate --positive 50/3330 --sensitivity 75%..85%..92% --specificity 99%..99.9%
      truecount estimate --positive 50/3330 --sensitivity 78/85 --sensitivity 27/37 --specificity 399/401
    Several populations, surveyed by the same test:
      truecount estimate --positive north=50/3330 --positive south=71/2900 --sensitivity 0.84 --specificity 0.995
    Several classifiers at once, and what each of them adds:
      truecount estimate runs.csv --label human --prediction gpt4 --prediction bem --each-classifier
    Labels of several raters, or labels of which 5 % are wrong; a CSV file counts true classes by label:
      truecount estimate runs.csv --label ann --label bob --prediction verdict
      truecount estimate runs.csv --label human --prediction verdict --label-error 5%
    One class of interest:
      truecount estimate runs.csv --label human --prediction verdict --class pass
    Labels stratified by output, such as pixels of each class of a map:
      truecount estimate --confusion reference.csv --unlabeled pixels.csv --design by-prediction
    By another estimator, or by all of them:
      truecount estimate counts.json --method bbse
      truecount estimate counts.json --all-methods
    As a page to read, and as a picture, of groups too:
      truecount estimate runs.csv --label human --prediction verdict --html report.html --plot shares.png
      truecount estimate runs.csv --label human --prediction verdict --trend time:week --html weeks.html
    Very many groups, unattended: one by one, streamed to a file, resumed where a run was stopped:
      truecount estimate 'sales/*.parquet' --label y --prediction c --by store,week --output results.parquet --resume
    In a script, which stops where the answer is not to be trusted:
      truecount estimate runs.csv --label human --prediction verdict --json - --strict

    Where a file is written, no table is printed unless --table asks for it; findings go to the standard error.

    Exit code 0: an answer. 1: bad input. 2: bad usage. 3: no answer, since chains disagree (R-hat above 1.1), or of
    groups one by one for some, whose errors stand in the file; with --strict, also an answer with a serious finding,
    and an alert: a share that changed with --trend, or a share, of a group or of the one population, that is
    improbably --above or --below what was asked, at 5 % or less. 130: stopped by Ctrl-C.

    As a gate, estimate --strict fails only where the claim is improbable (P at 5 % or less), and passes where the
    data cannot tell; check --above --strict fails unless the whole interval shows it.

    \b
    {serious}

    Others are info or caution, and do not change the exit code.
    """  # noqa: D301
    options, stream, source = among(GroupOptions, locals()), among(Stream, locals()), Source.among(locals())
    assumed = among(ModelOptions, locals())
    report = Report(
        level=read_level(level),
        interval=cast("Kind", interval),
        target=cast("Target", target),
        of_interest=of_interest,
        by_size=sort == "size",
        json_file=json,
        csv_file=csv,
        parquet_file=parquet,
        openmetrics_file=openmetrics,
        html_file=html,
        plot_file=plot,
        title=title,
        with_table=table,
        is_quiet=quiet,
        inputs=source.files(),
    )
    seed_number, drawing = read_seed(seed), make_engine(engine, draws)
    assumed.require_prior()
    refuse_parts_of_items(source, label_error, target_labels)
    if output or partition or resume or workers or separate:
        stream.require_sound(options, report, is_point=method is not None or all_methods)
    if method is not None or all_methods:
        given_data = click.get_current_context(), source, report
        answer = by_all(*given_data, seed_number) if method is None else by_method(*given_data, method)
        return _end(answer.posterior if isinstance(answer, Comparison) else None, answer, strict=strict)
    options.require_sound(source, engine)
    options.require_comparisons_shown(report.shows_all or not (report.writes_files or output))
    counts, known, of_population = _read(source, options, design, target_labels)
    if of_population is not None and isinstance(counts, Groups):
        options = assumed.of_target(options)
    rated = counts if isinstance(counts, Ratings) else None
    counts = behind_labels(counts) if isinstance(counts, Ratings) else counts
    whole, ranges = counts.total if isinstance(counts, Groups) else counts, source.published()
    model = assumed.model(whole, known, ranges=ranges, target=of_population)
    if not quiet:
        say_worth(ranges)
    if each_classifier or independent_classifiers:
        require_several(counts, rated, "--each-classifier" if each_classifier else "--independent-classifiers")
    if isinstance(counts, Groups) and rated is None and stream.is_separate(counts, options, report):
        answers = answer_separately(counts, model, stream, report, engine=drawing, seed=seed_number)
        return end_separately(answers, strict=strict)
    if workers is not None:
        raise stream.unused_workers()
    if output:
        report = stream.onto(report, counts.by if isinstance(counts, Groups) else ())
    report.require_possible(counts.values() if isinstance(counts, Groups) else [counts])
    if isinstance(counts, Groups):
        require_nothing_in_common(options, model, rated)
        model = with_studies(model, counts, options, is_survey=bool(positive))
        answered = answer_groups(counts, model, options, report, engine=drawing, seed=seed_number, ratings=rated)
        return _end(answered, answered, strict=strict)
    options.require_groups()
    report.require_claims_shown(thresholds := options.thresholds(counts.classes), counts.classes)
    posterior = as_read(quiet_infer(rated or counts, model, drawing, seed_number), interval)
    each = contributions(counts, model, drawing, report.level, seed_number) if each_classifier else None
    return _deliver_one(posterior, each, thresholds, report, strict=strict)


def _deliver_one(
    posterior: Posterior,
    each: "EachClassifier | None",
    thresholds: Mapping[Side, Mapping[Name, float]],
    report: Report,
    *,
    strict: bool,
) -> None:
    """Write or print the answer for one population with its claims, and end as with any answer."""
    claims = share_claims(posterior, thresholds, report.target) if any(thresholds.values()) else ()
    report.deliver(posterior, each, claims)
    _end(posterior, posterior, strict=strict)
    if strict:
        require_probable(claims)


def _read(
    source: Source, options: GroupOptions, design: str, labels: str | None
) -> tuple[Counts | Groups | Ratings, FloatArray | None, LabelShift | None]:
    """Return the counts, the rows that are known, and the labels of the population itself, if there are any."""
    if labels is None:
        return *options.of_source(source).read_under(design), None
    counts, target = read_target(labels, options.of_source(source))
    return counts, None, target


def answer_groups(*given: Any, **options: Any) -> "GroupSummary":
    """Load what groups need, and only then, and answer for them as `cli.groups` does."""
    from truecount.cli import groups

    return groups.answer_groups(*given, **options)


def as_read(posterior: Posterior, interval: str) -> Posterior:
    """Leave out what only an equal-tailed interval does not show, where the shortest one is read."""
    if interval != "hdi":
        return posterior
    return replace(posterior, findings=without(posterior.findings, "edge-not-excluded"))


def contributions(counts: Counts, model: Model, engine: Engine, level: float, seed: int) -> "EachClassifier":
    """Infer with each classifier alone, without each, and with all."""
    from truecount.api.classifiers import each_classifier
    from truecount.inference import Auto

    chosen: dict[str, Any] = {} if engine == Auto() else {"engine": engine}
    with warnings.catch_warnings(), watch(what="comparing classifiers"):
        warnings.simplefilter("ignore", TruecountWarning)
        return each_classifier(counts, model, level=level, seed=seed, **chosen)


def quiet_infer(counts: Counts | Ratings, model: Model, engine: Engine, seed: int) -> Posterior:
    """Infer without warnings on the side: the findings below the table say the same, in the command's words."""
    with warnings.catch_warnings(), watch(what="inferring"):
        warnings.simplefilter("ignore", TruecountWarning)
        posterior = cast("Posterior", infer(counts, model, engine=engine, seed=seed))
    return replace(posterior, findings=in_words(posterior.findings, "estimate"))


def require_answer(answer: "Posterior | GroupSummary") -> None:
    """End with exit code 3 where chains disagree so much that there is no answer."""
    if not answer.has_answer:
        click.echo("No answer: not-converged.", err=True)
        raise click.exceptions.Exit(3)


def _end(
    answer: "Posterior | GroupSummary | None",
    told: "Posterior | GroupSummary | PointEstimate | Comparison",
    *,
    strict: bool,
) -> None:
    """End with exit code 3 where there is no answer, and if strict where one is not to be trusted or has alerts."""
    if answer is not None:
        require_answer(answer)
    if strict:
        require_sound(told)
        from truecount.cli.groups import require_no_alert
        from truecount.results.groups import summary

        if isinstance(told, summary.GroupSummary):
            require_no_alert(told)


def require_probable(claims: Sequence[ShareClaim]) -> None:
    """End with exit code 3 where what is claimed of a share is improbable."""
    refuted = [f"not-{claim.side} ({claim.name})" for claim in claims if claim.is_improbable]
    if refuted:
        click.echo(f"Alert: {visible(', '.join(refuted))}.", err=True)
        raise click.exceptions.Exit(3)


def require_sound(*answers: "Posterior | GroupSummary | PointEstimate | Comparison | Check") -> None:
    """End with exit code 3 where a finding is serious."""
    findings = [finding for answer in answers for finding in answer.findings]
    serious = dict.fromkeys(finding.code for finding in findings if finding.severity == "serious")
    if serious:
        click.echo(f"Not to be trusted: {', '.join(serious)}.", err=True)
        raise click.exceptions.Exit(3)
