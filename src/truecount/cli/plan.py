"""How many labels, of what, and how wide intervals will then be."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import click

from truecount._command import Option
from truecount._types import FloatArray, Name
from truecount.cli import arguments as given
from truecount.cli.model import ModelOptions, with_studies
from truecount.cli.options import GroupOptions, read_level, read_seed, read_share
from truecount.cli.pictures import encoded
from truecount.cli.report import Report
from truecount.cli.screen import print_lines
from truecount.cli.source import Source
from truecount.counts import Counts, Groups
from truecount.errors import InputError
from truecount.models import Model, Prior
from truecount.planning.goal import Costs, Goal
from truecount.planning.scenario import Assumed, strata_of
from truecount.reading.names import group_name

if TYPE_CHECKING:
    from truecount.results.plan import Plan

OPTION_OF_GOAL = {"narrow": "--half-width", "above": "--above", "below": "--below", "apart": "--apart"}
Share: TypeAlias = str | None
Prevalence: TypeAlias = Annotated[
    Share, Option(metavar="P", help="Share that is assumed, where there is no pilot: 15%.")
]
Sensitivities: TypeAlias = Annotated[
    list[str] | None,
    Option(
        metavar="N/M|P",
        help="N tested positive of M truly positive; 0.96 or 96% means that it is known. Repeated, each is a study; "
        "the rate varies between them, and new labels are one more. Beside --prevalence it is assumed: P alone.",
    ),
]
Specificities: TypeAlias = Annotated[
    list[str] | None,
    Option(
        metavar="N/M|P",
        help="N tested negative of M truly negative, or a known rate, or several studies, as with --sensitivity.",
    ),
]
Positives: TypeAlias = Annotated[Share, Option(metavar="N", help="Truly positive items to validate the test on.")]
Negatives: TypeAlias = Annotated[Share, Option(metavar="N", help="Truly negative items to validate the test on.")]
Items: TypeAlias = Annotated[
    Share, Option(metavar="N", help="Unlabelled items to gather, beside those of a pilot; 0 where there are no more.")
]
Labels: TypeAlias = Annotated[
    list[str] | None,
    Option(
        metavar="N|NAME=N",
        help="Labels to gather, beside those of a pilot: one number, divided as is best, or one for each class (for "
        "each output with --design by-prediction); may be repeated.",
    ),
]
Budget: TypeAlias = Annotated[Share, Option(metavar="NUMBER", help="What may be spent; divided as is best.")]
LabelCost: TypeAlias = Annotated[
    list[str] | None,
    Option(metavar="NUMBER|NAME=NUMBER", help="Cost of a label; 1 by default."),
]
ItemCost: TypeAlias = Annotated[
    str, Option(metavar="NUMBER", help="Cost of an unlabelled item, beside those of a pilot.")
]
HalfWidth: TypeAlias = Annotated[Share, Option(metavar="P", help="Goal: intervals of at most ± so much, such as 3%.")]
Above: TypeAlias = Annotated[Share, Option(metavar="CLASS=P", help="Goal: an interval that lies above a share.")]
Below: TypeAlias = Annotated[Share, Option(metavar="CLASS=P", help="Goal: an interval that lies below a share.")]
Apart: TypeAlias = Annotated[
    Share, Option(metavar="GROUP,GROUP", help="Goal: tell two groups apart in the share of --class.")
]
Assurance: TypeAlias = Annotated[
    Share, Option(metavar="P", help="Probability that the goal is met: 80% for thresholds and groups by default.")
]
KnownRates: TypeAlias = Annotated[
    bool,
    Option(help="Take the misclassification rates for known: unlimited labels at no cost."),
]
LargeSample: TypeAlias = Annotated[
    bool,
    Option(help="Plan by the formula for large samples, as sample-size calculators do."),
]
Next: TypeAlias = Annotated[
    Share, Option(names=("--next",), metavar="N", help="Say which N items of a pilot to label next, by output.")
]
OfInterest: TypeAlias = Annotated[
    Share, Option(names=("--class",), metavar="CLASS", help="The class whose interval matters; all by default.")
]
Plot: TypeAlias = Annotated[Share, Option(metavar="FILE.png|svg|pdf", help="Draw width against cost.")]


def plan(
    tables: given.Tables = None,
    label: given.Label = None,
    prediction: given.Prediction = None,
    by: given.By = None,
    weight: given.Weight = None,
    missing: given.Missing = None,
    outputs_are_classes: given.OutputsAreClasses = False,
    confusion: given.Confusion = None,
    unlabeled: given.Unlabeled = None,
    positive: given.Positive = None,
    prevalence: Prevalence = None,
    sensitivity: Sensitivities = None,
    specificity: Specificities = None,
    positives: Positives = None,
    negatives: Negatives = None,
    items: Items = None,
    labels: Labels = None,
    budget: Budget = None,
    label_cost: LabelCost = None,
    item_cost: ItemCost = "1",
    half_width: HalfWidth = None,
    above: Above = None,
    below: Below = None,
    apart: Apart = None,
    assurance: Assurance = None,
    of_interest: OfInterest = None,
    known_rates: KnownRates = False,
    large_sample: LargeSample = False,
    next_batch: Next = None,
    level: given.Level = "0.95",
    prior: given.PriorPrevalence = str(Prior().prevalence),
    prior_confusion: given.PriorConfusion = str(Prior().confusion),
    design: given.Design = "label-shift",
    seed: given.Seed = "0",
    json: given.Json = None,
    plot: Plot = None,
    html: given.Html = None,
    table: given.ShowTable = False,
    quiet: given.Quiet = False,
) -> None:
    """Plan how many labels and items to gather, and forecast the intervals that come of it.

    \b
    A test whose rates are assumed: forecast one allocation, divide a budget, or find the sizes:
      truecount plan --prevalence 15% --sensitivity 93% --specificity 98% --positives 120 --negatives 220 --items 660
      truecount plan --prevalence 15% --sensitivity 93% --specificity 98% --budget 1000 --level 0.9
      truecount plan --prevalence 15% --sensitivity 93% --specificity 98% --half-width 3%
    As sample-size calculators do, with rates taken for known:
      truecount plan --prevalence 15% --sensitivity 94% --specificity 88% --half-width 3% --known-rates --large-sample
    From a pilot, whose posterior is averaged over; files, counts or a survey as in truecount estimate:
      truecount plan runs.csv --label human --prediction verdict --half-width 5% --assurance 90%
      truecount plan --positive 50/3330 --sensitivity 103/122 --specificity 399/401 --budget 500 --item-cost 0.1
      truecount plan counts.json --labels fail=100 --labels pass=50
      truecount plan counts.json --above pass=50% --assurance 80%
    Two groups to be told apart:
      truecount plan --positive A=50/3330 --positive B=71/2900 --sensitivity .84 --specificity .995 --apart A,B
    Which items to label next, by their output:
      truecount plan runs.csv --label human --prediction verdict --next 50
    As JSON, and as a picture of width against cost:
      truecount plan counts.json --half-width 5% --json plan.json --plot plan.png

    Sizes are beside what a pilot holds: new labels, and new items if they are worth their cost; --items 0 where there
    are no more. A goal that cannot be reached is answered in words: what can be, and what would
    be needed. Exit code 0: an answer. 1: bad input. 2: bad usage.
    """  # noqa: D301
    source = Source.among(locals())
    if prevalence:
        source = replace(source, sensitivity=None, specificity=None)
    source.refuse_ranges("plan")
    report = Report(
        level=read_level(level),
        json_file=json,
        html_file=html,
        plot_file=plot,
        with_table=table,
        is_quiet=quiet,
        inputs=source.files(),
    )
    assumed = ModelOptions(design=design, prior=prior, prior_confusion=prior_confusion)
    assumed.require_prior()
    data, known = _data(source, design, _assumed(prevalence, sensitivity, specificity))
    model = _model(data, assumed, known)
    if isinstance(data, Groups):
        model = with_studies(model, data, GroupOptions(), is_survey=bool(positive))
    if next_batch is not None:
        from truecount.cli.next_batch import deliver_batch

        _require_none_beside_next(
            half_width=half_width,
            above=above,
            below=below,
            apart=apart,
            budget=budget,
            positives=positives,
            negatives=negatives,
            labels=labels,
            items=items,
            assurance=assurance,
            plot=plot,
            html=html,
        )
        return deliver_batch(report, data, model, next_batch, of_interest, read_seed(seed))
    goal = _goal(half_width, above, below, apart, assurance, of_interest, data)
    _deliver(
        report,
        data,
        model,
        goal=goal,
        labels=_labels(positives, negatives, labels, known_rates, data, model),
        items=None if items is None else _number("--items", items),
        budget=None if budget is None else _number("--budget", budget),
        costs=_costs(label_cost, item_cost, data, model),
        of=_class("--class", of_interest, data.classes),
        level=report.level,
        large_sample=large_sample,
        seed=read_seed(seed),
    )


def _deliver(report: Report, data: Any, model: Model, **options: Any) -> None:
    from truecount.api.plan import plan as run

    is_open = options["labels"] is None or options["items"] is None
    if isinstance(data, Assumed) and options["goal"] is None and options["budget"] is None and is_open:
        raise click.BadParameter(
            "Say how many: give --positives, --negatives and --items, or --budget, or a goal such as --half-width 3%."
        )
    try:
        found = run(data, model, **options)
    except InputError as error:
        if error.argument != "goal":
            raise
        raise error.about(OPTION_OF_GOAL[options["goal"].kind]) from error
    report.write(
        found.to_dict,
        lambda summary: list(summary["classes"]),
        lambda: print_lines(found.text("plan")),
        lambda: _pictures(report, found),
    )


def _pictures(report: Report, found: "Plan") -> dict[str, bytes]:
    made = {}
    if report.plot_file is not None:
        from truecount.plots.plan import plan as draw

        made[report.plot_file] = encoded(draw(found), report.plot_file)
    if report.html_file is not None:
        from truecount.page.plan import render_plan

        page = render_plan(found, command=shlex.join(["truecount", *sys.argv[1:]]))
        made[report.html_file] = page.encode(errors="backslashreplace")
    return made


def _data(source: Source, design: str, assumed: Assumed | None) -> tuple[Assumed | Counts | Groups, FloatArray | None]:
    """Return what is assumed, or else the pilot, with the rows of the confusion that are known."""
    if assumed is None:
        return source.read() if design == "label-shift" else source.read_one("--design")
    if source != Source():
        raise click.BadParameter("--prevalence is assumed: it does not go with data. Leave one of them out.")
    return assumed, None


def _assumed(
    prevalence: str | None, sensitivity: Sequence[str] | None, specificity: Sequence[str] | None
) -> Assumed | None:
    """Read rates that are assumed, where a share is."""
    if prevalence is None:
        return None
    if not sensitivity or not specificity:
        raise click.BadParameter("--prevalence also needs --sensitivity and --specificity.")
    return Assumed.test(
        prevalence=read_share("--prevalence", prevalence, "Write 0.15 or 15%"),
        sensitivity=_assumed_rate("--sensitivity", sensitivity),
        specificity=_assumed_rate("--specificity", specificity),
    )


def _assumed_rate(option: str, entries: Sequence[str]) -> float:
    if len(entries) > 1:
        needed = "beside --prevalence one rate is assumed"
        raise InputError(
            option, f"is given {len(entries)} times", needed, f"Write {option} once, or a pilot: --positive"
        )
    if "/" in entries[0]:
        planned = {"--sensitivity": "--positives", "--specificity": "--negatives"}[option]
        needed = "beside --prevalence a rate is assumed, and N/M was counted"
        remedy = f"Write {option} as a rate, such as 93%, and how many to validate on, {planned} "
        remedy += f"{entries[0].partition('/')[2].strip() or 'M'}; or, for what was counted, "
        remedy += "--positive N/M in place of --prevalence"
        raise InputError(option, f"is {entries[0]!r:.60}", needed, remedy)
    return read_share(option, entries[0], "Write 0.93 or 93%")


def _model(data: Assumed | Counts | Groups, assumed: ModelOptions, known: FloatArray | None) -> Model:
    import numpy as np

    if isinstance(data, Counts):
        counts = data
    elif isinstance(data, Groups):
        counts = data.total
    else:
        none = np.zeros(data.confusion.shape, int)
        counts = Counts(none, none[0], data.classes, data.outputs)
    return assumed.model(counts, known)


def _goal(
    half_width: str | None,
    above: str | None,
    below: str | None,
    apart: str | None,
    assurance: str | None,
    of_interest: str | None,
    data: Assumed | Counts | Groups,
) -> Goal | None:
    """Read at most one goal."""
    classes, groups = data.classes, data.groups if isinstance(data, Groups) else ()
    asked = [
        name
        for name, value in (("--half-width", half_width), ("--above", above), ("--below", below), ("--apart", apart))
        if value
    ]
    if len(asked) > 1:
        raise click.BadParameter(f"{' and '.join(asked)} are two goals: give one.")
    if not asked:
        if assurance is not None:
            raise click.BadParameter("--assurance goes with a goal: --half-width, --above, --below or --apart.")
        return None
    sure = None if assurance is None else read_share("--assurance", assurance, "Write 0.8 or 80%")
    if half_width is not None:
        goal = Goal.narrow(read_share("--half-width", half_width, "Write 0.03 or 3%"))
        return replace(goal, of=_class("--class", of_interest, classes), assurance=sure)
    if apart is not None:
        first, found, second = apart.partition(",")
        if not found or (of_interest is None and len(classes) > 2):
            raise click.BadParameter("--apart names two groups, as in A,B, and goes with --class.")
        of_interest = str(classes[-1]) if of_interest is None else of_interest
        known = {group_name(group): group for group in groups}
        names = [known.get(name.strip(), name.strip()) for name in (first, second)]
        return replace(Goal.apart(*names, of=_class("--class", of_interest, classes)), assurance=sure or 0.8)
    option, text = ("--above", above) if above else ("--below", below)
    from truecount.cli.options import read_conclusions

    ((name, share),) = read_conclusions(option, [text or ""], classes).items()
    goal = Goal.above(share, of=name) if above else Goal.below(share, of=name)
    return replace(goal, assurance=sure or 0.8)


def _class(option: str, text: str | None, classes: tuple[Name, ...]) -> Name | None:
    from truecount.cli.options import named_class

    return None if text is None else named_class(option, text, classes)


def _require_none_beside_next(**options: Any) -> None:
    """Refuse what a batch of items to label next would ignore."""
    if chosen := [f"--{name.replace('_', '-')}" for name, value in options.items() if value]:
        raise click.BadParameter(f"--next says which items to label, and does not go with {', '.join(chosen)}.")


def _strata(data: Assumed | Counts | Groups, model: Model) -> tuple[Name, ...]:
    return strata_of(model, data.classes, data.outputs)


def _labels(
    positives: str | None,
    negatives: str | None,
    labels: Sequence[str] | None,
    known_rates: bool,
    data: Assumed | Counts | Groups,
    model: Model,
) -> Any:
    """Read labels of each class, or one number for all."""
    numbers = {"positive": positives, "negative": negatives}
    told = {name: _number(f"--{name}s", text) for name, text in numbers.items() if text is not None}
    if sum([bool(told), bool(labels), known_rates]) > 1:
        raise click.BadParameter("--positives and --negatives, --labels, and --known-rates exclude each other.")
    if known_rates:
        return dict.fromkeys(_strata(data, model), float("inf"))
    if told and set(data.classes) != {"positive", "negative"}:
        raise click.BadParameter(f"--positives and --negatives go with a test; write --labels {data.classes[0]}=100.")
    if told or not labels:
        return told or None
    if len(labels) == 1 and "=" not in labels[0]:
        return _number("--labels", labels[0])
    return _by_name("--labels", labels, _strata(data, model))


def _by_name(option: str, entries: Sequence[str], names: tuple[Name, ...]) -> dict[Name, float]:
    from truecount.cli.options import named_class

    found: dict[Name, float] = {}
    for entry in entries:
        name, is_named, number = entry.rpartition("=")
        if not is_named:
            remedy = f"Write {option} {names[0]}=100"
            raise InputError(option, f"is {entry!r:.60}", "each of several must have a name", remedy)
        found[named_class(option, name, names)] = _number(option, number)
    return found


def _costs(label: Sequence[str] | None, item: str, data: Assumed | Counts | Groups, model: Model) -> Costs:
    per_item = _number("--item-cost", item)
    if not label:
        return Costs(item=per_item)
    if len(label) == 1 and "=" not in label[0]:
        return Costs(label=_number("--label-cost", label[0]), item=per_item)
    return Costs(label=_by_name("--label-cost", label, _strata(data, model)), item=per_item)


def _number(option: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise InputError(option, f"is {text!r:.60}", "it must be a number, 0 or more", f"Write {option} 100")
    return number
