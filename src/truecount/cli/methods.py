"""Other estimators than the posterior, one or all."""

import warnings
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any

import click

from truecount._advice import worded
from truecount._progress import watch
from truecount._types import FloatArray
from truecount.cli.report import Report
from truecount.cli.screen import print_lines
from truecount.cli.source import Source
from truecount.counts import Counts
from truecount.errors import InputError, TruecountWarning
from truecount.results.finding import in_words

if TYPE_CHECKING:
    from truecount.results import Comparison, PointEstimate

OF_PRIOR = ("prior", "prior_confusion", "prior_output")
OF_POSTERIOR = (
    *("interval", "target", *OF_PRIOR, "draws", "engine", "design", "html", "title"),
    *("of_interest", "sort", "compare", "baseline", "all_pairs", "trend", "study", "new_study", "above", "below"),
    *("random_labels", "covariate", "independent", "workers", "target_labels", "label_error"),
    *("each_classifier", "independent_classifiers"),
)
OF_POINT = (*OF_POSTERIOR, "seed", "all_methods", "plot")
ONE_POINT = "it prints a point for every class of one population, with no draws, prior, picture or page"
ALL_POINTS = "it prints a point for every class and method beside the posterior at its defaults, of one population"


def by_method(context: click.Context, source: Source, report: Report, name: str) -> "PointEstimate":
    """Return the point of one estimator."""
    from truecount.api.points import estimate
    from truecount.estimators.binary import RoganGladen
    from truecount.estimators.register import find_method

    _refuse(context, "--method", OF_POINT, ONE_POINT)
    try:
        method = find_method(name)
    except InputError as error:
        raise click.BadParameter(
            f"--method {name!r} is unknown: {error.needed}. {worded(error.remedy, 'estimate')}."
        ) from None
    if isinstance(method, RoganGladen):
        counts, known = source.read_one("--method")
        rates = {} if known is None else known_rates(known)
        method = RoganGladen(level=report.level, **rates)
    else:
        _refuse(context, f"--method {name}", ("level",), "it has no interval")
        counts = _counts(source, "--method")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TruecountWarning)
        found = estimate(counts, method)
    point = replace(found, findings=in_words(found.findings, "estimate"))
    report.write(
        point.to_dict,
        lambda summary: [{**row, "corrected": summary["corrected"]} for row in summary["classes"]],
        lambda: print_lines(str(point)),
        findings=point.findings,
    )
    return point


def known_rates(known: FloatArray) -> dict[str, float]:
    """Return the specificity and sensitivity that are known, of the rows negative and positive."""
    found = {"specificity": float(known[0, 0]), "sensitivity": float(known[1, 1])}
    return {name: rate for name, rate in found.items() if not isnan(rate)}


def by_all(context: click.Context, source: Source, report: Report, seed: int) -> "Comparison":
    """Set all estimators beside the posterior."""
    from truecount.api.points import compare

    _refuse(context, "--all-methods", (*OF_POSTERIOR, "openmetrics"), ALL_POINTS)
    counts = _counts(source, "--all-methods")
    with warnings.catch_warnings(), watch(what="comparing"):
        warnings.simplefilter("ignore", TruecountWarning)
        found = compare(counts, level=report.level, seed=seed)
    comparison = _in_shell(found)
    report.write(
        comparison.to_dict,
        _flat,
        lambda: report.print(comparison.table()),
        lambda: _picture(report, comparison),
        comparison.findings,
    )
    return comparison


def _in_shell(comparison: "Comparison") -> "Comparison":
    rows = tuple(replace(row, findings=in_words(row.findings, "estimate")) for row in comparison.rows)
    findings = in_words(comparison.posterior.findings, "estimate")
    return replace(comparison, rows=rows, posterior=replace(comparison.posterior, findings=findings))


def _picture(report: Report, comparison: "Comparison") -> dict[str, bytes]:
    if report.plot_file is None:
        return {}
    from truecount.cli.pictures import encoded
    from truecount.plots import methods

    corrected = {"posterior": True} | {row.method: row.is_corrected for row in comparison.rows}
    flags = {f"truecount:corrected:{name}": flag for name, flag in corrected.items()}
    return {report.plot_file: encoded(methods(comparison), report.plot_file, flags=flags)}


def _counts(source: Source, option: str) -> Counts:
    source.refuse_ranges(option)
    counts, known = source.read_one(option)
    if known is not None:
        raise click.BadParameter(f"{option} needs counts of sensitivity and specificity, such as 103/122.")
    return counts


def _refuse(context: click.Context, option: str, names: tuple[str, ...], instead: str) -> None:
    """Refuse options that were given and would change nothing; `instead` says why."""
    given = [name for name in names if getattr(context.get_parameter_source(name), "name", "") == "COMMANDLINE"]
    if given:
        options = " and ".join("--class" if name == "of_interest" else f"--{name.replace('_', '-')}" for name in given)
        remedy = f"Leave {options} out, or leave {option} out and get the posterior"
        raise click.BadParameter(f"{option} does not go with {options}: {instead}. {remedy}.")


def _flat(summary: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each class of each method, the posterior's first, and one for a method that does not apply."""
    rows = [
        {"method": "posterior", "class": each["class"], "share": each["mean"], "lower": each["lower"]}
        | {"upper": each["upper"], "interval": "posterior", "reason": None, "corrected": True}
        for each in summary["posterior"]["classes"]
    ]
    for found in summary["methods"]:
        ends = {"interval": found["interval"], "reason": found["reason"], "corrected": found["corrected"]}
        if found["prevalence"] is None:
            rows.append({"method": found["method"], "class": None, "share": None, "lower": None, "upper": None} | ends)
            continue
        nothing = [None] * len(summary["classes"])
        columns = (summary["classes"], found["prevalence"], found["lower"] or nothing, found["upper"] or nothing)
        for name, share, lower, upper in zip(*columns, strict=True):
            rows.append(
                {"method": found["method"], "class": name, "share": share, "lower": lower, "upper": upper} | ends
            )
    return rows
