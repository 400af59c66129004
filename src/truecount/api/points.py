"""The verbs that end in points: one point estimator, or all of them side by side."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace

from truecount import _check
from truecount._types import FloatArray
from truecount._version import __version__
from truecount.api.bayesian import infer, mode
from truecount.counts import Counts
from truecount.diagnostics.points import of_point
from truecount.errors import IdentifiabilityWarning, InputError
from truecount.estimators import MAP, METHODS, Method, RoganGladen, asymptotic, bootstrap
from truecount.estimators.asymptotic import HasInverse
from truecount.estimators.rates import FromRates, counts_or_scores, harden
from truecount.estimators.register import find_method, is_corrected
from truecount.results import Comparison, PointEstimate
from truecount.results.comparison import Row
from truecount.scores import Scores


def estimate(data: Counts | Scores, method: Method | str) -> PointEstimate:
    """Estimate the share of every class by one point estimator.

    Parameters
    ----------
    data
        Counts, or scores where the method needs them. Of scores, methods on counts use the most probable class.
    method
        A choice from `truecount.estimators`, such as ``BBSE(soft=True)``, or its name in lower case.

    Notes
    -----
    A point says nothing about how sure it is. `bootstrap` in `truecount.estimators` puts an interval around any of
    them, and `infer` gives the posterior, which also holds for small samples.

    Examples
    --------
    >>> estimate(Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"]), "acc")
    class    share
    fail   83.33 %
    pass   16.67 %
    """
    point = _point(counts_or_scores(data), find_method(method))
    for finding in point.findings:
        if finding.code == "not-identified":
            warnings.warn(finding.message, IdentifiabilityWarning, stacklevel=2)
    return point


def _point(data: Counts | Scores, chosen: Method) -> PointEstimate:
    if isinstance(chosen, MAP):
        return mode(harden(data), prior=chosen.prior)
    prevalence = chosen.prevalence(data)
    settings = {field.name: getattr(chosen, field.name) for field in fields(chosen)}  # type: ignore[arg-type]
    provenance = {"method": chosen.name, **settings, "version": __version__}
    findings = of_point(data, chosen, prevalence)
    point = PointEstimate(
        prevalence=prevalence,
        classes=data.classes,
        findings=findings,
        provenance=provenance,
        is_corrected=is_corrected(chosen),
    )
    if isinstance(chosen, RoganGladen):
        return replace(point, interval=chosen.interval(data), level=chosen.level)
    return point


def compare(
    data: Counts | Scores, methods: Sequence[Method | str] | None = None, *, level: float = 0.95, seed: int = 0
) -> Comparison:
    """Set methods side by side, with the posterior above them.

    Parameters
    ----------
    data
        Counts or scores; the posterior of scores is that of the counts of their most probable classes.
    methods
        Choices from `truecount.estimators` or their names; all of them by default.
    level
        Of all intervals: of the posterior, of 1,000 bootstrap resamples for methods on averages of counts, by the
        delta method for those on averages of scores. Other methods come without.
    seed
        Of the posterior and of the bootstrap.

    Returns
    -------
    A table when printed. Methods that do not apply to these data say why.

    Examples
    --------
    >>> counts = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
    >>> compare(counts, ["cc", "acc", "pacc"], seed=1)
    method     fail                  pass
    posterior  83.8 % (74.0 – 94.7)  16.2 % (5.3 – 26.0)
    cc         60.0 % (57.1 – 63.3)  40.0 % (36.7 – 42.9)
    acc        83.3 % (74.0 – 94.4)  16.7 % (5.6 – 26.0)
    Left out: pacc (needs the scores of every item).
    cc: It does not correct the classifier's errors, and more data does not fix that.
    In brackets: 95 % intervals; those of the methods by the bootstrap.
    """
    level, named = _check.level(level), METHODS if methods is None else methods
    if isinstance(named, str) or not isinstance(named, Iterable):
        raise InputError("methods", f"is {named!r}", "it must list methods or their names", "Pass ['cc', 'acc']")
    chosen = [find_method(each) for each in named]
    posterior = infer(harden(counts_or_scores(data)), seed=seed)
    rows = tuple(_row(data, method, level, seed) for method in chosen)
    return Comparison(
        rows=rows,
        posterior=posterior,
        level=level,
        provenance={"seed": seed, "version": __version__},
        is_of_scores=isinstance(data, Scores),
    )


def _row(data: Counts | Scores, method: Method, level: float, seed: int) -> Row:
    try:
        point = _point(data, method)
    except InputError as error:
        return Row(method=method.name, reason=error.needed, is_corrected=is_corrected(method))
    interval, kind = _interval(data, method, level, seed)
    return Row(
        method=method.name,
        prevalence=point.prevalence,
        interval=interval,
        kind=kind,
        findings=point.findings,
        is_corrected=point.is_corrected,
    )


def _interval(data: Counts | Scores, method: Method, level: float, seed: int) -> tuple[FloatArray | None, str]:
    if isinstance(method, FromRates) and not method.soft:
        return bootstrap(data, method, seed=seed).interval(level), "bootstrap"
    if isinstance(method, HasInverse):
        return asymptotic(data, method).interval(level), "asymptotic"
    return None, ""
