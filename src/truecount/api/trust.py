"""The verbs that ask whether an answer may be trusted."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from truecount import _check
from truecount._types import Name
from truecount._version import __version__
from truecount.api.bayesian import infer, infer_many
from truecount.api.simulation import POSTERIOR_FIRST, calibration, coverage, of_label_shift
from truecount.counts import Counts, Groups
from truecount.counts.table import COUNT_FIRST
from truecount.counts.weights import effective_counts
from truecount.diagnostics.drift import cut_draws, interval_under, smallest_drift, tempered_draws
from truecount.diagnostics.evidence import Evidence, Settings, audited, gather
from truecount.errors import InputError
from truecount.inference import Auto
from truecount.inference.draws import Engine
from truecount.models import LabelShift, Model, Prior, density
from truecount.models.register import require_plain_label_shift
from truecount.results import Posterior
from truecount.results.by_class import unknown_class
from truecount.results.check import Check
from truecount.results.finding import gravest_first, without
from truecount.results.sensitivity import Claim, Sensitivity, conclusion_of_interval
from truecount.scores import Scores

OF_COUNTS, OF_DRAWS = ("identifiability", "tests", "audit", "groups"), ("prior-sensitive", "designs-disagree")
"""Tables that say nothing of the draws, and stand where those are no answer; findings that compare such an answer."""
OF_MAPPING = "Groups.of({group: counts, ...}) for a mapping"
Checked: TypeAlias = Counts | Groups | Scores | Posterior


def check(
    data: Checked,
    model: Model = LabelShift(),
    *,
    prior: Prior | None = None,
    engine: Engine = Auto(),
    audit: Any = None,
    drift: float | Sequence[float] | None = None,
    label_error: float | Sequence[float] | None = None,
    above: Mapping[Any, float] | None = None,
    below: Mapping[Any, float] | None = None,
    calibration_sets: int = 0,
    replicates: int = 999,
    level: float = 0.95,
    seed: int = 0,
) -> Check:
    """Check whether an answer may be trusted: whatever needs a simulation or another run.

    Parameters
    ----------
    data
        Counts, a posterior, scores, or groups. Scores are tested too, also sorted by confidence into more outputs than
        classes, which leaves something to test; an audit of them is of the predicted classes. Groups are pooled for the
        answer and all tables but ``groups``, which has a row for each by itself, and the confusion is compared across
        them.
    model, prior, engine
        As in `infer`; a posterior has its own model, and `engine` is then what `calibration_sets` puts to the test.
    audit
        Labelled items of the target population, to compare with the others: the outputs of each class or, for a
        posterior of another model than `LabelShift`, the classes of each output. As `Counts`, which columns become by
        ``count(audit.human, audit.verdict, [])``, as a pandas frame of counts that names both, as ``crosstab`` gives,
        or as an array (class × output).
    drift
        Total variation that every row of the confusion may have moved, for a table of what that would do. This and
        `calibration_sets` are for answers under label shift.
    label_error
        Share of the labels that may be wrong, one or several, for a table of what that would do: 0.05 for 5 %. Errors
        do not depend on the output, given the class.
    above, below
        Conclusions by class, such as ``above={"pass": 0.8}``: whether the whole interval shows each and, under label
        shift, the smallest drift that overturns it.
    calibration_sets
        How many data sets of these sizes to simulate, to see whether `infer` is calibrated and its intervals hold. An
        engine that was asked for draws for each as it is; the default draws fewer.
    replicates, seed
        How many data sets to simulate for a test, and from which seed.
    level
        Of the intervals, and of those that show a conclusion.

    Returns
    -------
    Findings, and the tables behind them; one page when printed.

    Notes
    -----
    Counts alone see little of a drift; a few labels of the target see more. `docs/guides/findings.md` has
    measured rates.

    Examples
    --------
    >>> found = check(Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"]))
    >>> [finding.code for finding in found.findings]
    ['label-shift-untestable', 'designs-disagree']
    """
    replicates = _check.whole_number("replicates", replicates, least=19)
    _check.instance_of("data", data, (Counts, Groups, Scores, Posterior), f"{COUNT_FIRST}; or {OF_MAPPING}")
    counts = _counts_of(data)
    _require_possible(counts, audit, drift, above, below)
    seed, level = _check.whole_number("seed", seed, least=0), _check.level(level)
    if isinstance(data, Posterior):
        _require_no_model(model, prior)
        require_plain_label_shift(data.model, "a check")
        posterior = data
    else:
        require_plain_label_shift(model, "a check")
        one = data if isinstance(data, Scores) else counts
        posterior = infer(one, model, prior=prior, engine=engine, seed=seed)
    if drift is not None or calibration_sets:
        of_label_shift("data", posterior, "drift and calibration_sets")
    rates = [] if label_error is None else _parts_of_one("label_error", label_error, below=0.5)
    settings = Settings(replicates=replicates, seed=seed, level=level, infer=infer, infer_many=infer_many)
    evidence = gather(posterior, data, audit, settings, label_errors=rates)
    provenance = {"seed": seed, "replicates": replicates, "version": __version__}
    tables, found = dict(evidence.tables), _merged(posterior, evidence)
    if posterior.has_answer:
        tables |= _drift_tables(posterior, drift, above, below, level=level, seed=seed)
        tables |= _simulated_tables(posterior, calibration_sets, engine, seed)
    else:
        tables = {name: rows for name, rows in tables.items() if name in OF_COUNTS}
        found = without(found, *OF_DRAWS)
    return Check(posterior=posterior, findings=found, tables=tables, provenance=provenance, level=level)


def _require_no_model(model: Model, prior: Prior | None) -> None:
    """Refuse a model that would change nothing."""
    if prior is not None or model != LabelShift():
        argument = "model" if prior is None else "prior"
        raise InputError(argument, "is given beside a posterior", "a posterior has its own", "Leave it out")


def _drift_tables(
    posterior: Posterior,
    drift: float | Sequence[float] | None,
    above: Mapping[Any, float] | None,
    below: Mapping[Any, float] | None,
    *,
    level: float,
    seed: int,
) -> dict[str, Any]:
    """Return what a drift would do, to intervals and to conclusions, where asked for."""
    if drift is None and not above and not below:
        return {}
    if not isinstance(posterior.model, LabelShift):  # whose confusion, that might drift, is no part of the answer
        return {"conclusions": _shown_by_interval(posterior, above or {}, below or {}, level)}
    found = sensitivity(posterior, () if drift is None else drift, above=above, below=below, level=level, seed=seed)
    tables = {"drift": found.rows() if drift is not None else (), "conclusions": found.conclusions()}
    return {name: rows for name, rows in tables.items() if rows}


def _shown_by_interval(
    posterior: Posterior, above: Mapping[Any, float], below: Mapping[Any, float], level: float
) -> tuple[dict[str, Any], ...]:
    """Return for each conclusion whether the interval shows it."""
    ends = posterior.interval(level)
    return tuple(
        conclusion_of_interval(name, is_above, float(bound), tuple(ends[posterior.place(name)].tolist()))
        for is_above, bounds in ((True, above), (False, below))
        for name, bound in bounds.items()
    )


def _simulated_tables(posterior: Posterior, sets: int, engine: Engine, seed: int) -> dict[str, Any]:
    """Return how `infer` does on simulated data, where asked for."""
    found: dict[str, Any] = {}
    if _check.whole_number("calibration_sets", sets, least=0):
        asked: dict[str, Any] = {} if engine == Auto() else {"engine": engine}
        held = coverage(posterior, **asked, data_sets=sets, seed=seed)
        found["coverage"] = tuple({**row, "verdict": held.verdict} for row in held.rows())
        ranked = calibration(posterior.counts, posterior.model, **asked, data_sets=sets, seed=seed)
        found["calibration"] = tuple({**row, "verdict": ranked.verdict} for row in ranked.rows())
    return found


def _counts_of(data: Checked) -> Counts:
    """Return the counts that the answer is of."""
    if isinstance(data, Posterior):
        return data.counts
    if isinstance(data, Groups):
        return data.total
    return data.to_counts() if isinstance(data, Scores) else data


def _require_possible(counts: Counts, audit: Any, drift: Any, above: Any, below: Any) -> None:
    """Refuse what these counts cannot be asked, before there is an answer to ask."""
    if drift is not None:
        _parts_of_one("drift", drift)
    for argument, bounds in (("above", above), ("below", below)):
        _check.instance_of(argument, bounds or {}, Mapping, f"Pass {argument}={{{counts.classes[0]!r}: 0.5}}")
        for name, bound in (bounds or {}).items():
            _place(argument, counts.classes, name)
            _require_share(argument, bound)
    if audit is not None:
        audited(counts, audit, effective_counts)


def _merged(posterior: Posterior, evidence: Evidence) -> tuple[Any, ...]:
    """Let the findings of the check replace those of the answer that have the same code; groups add their own."""
    kept = without(posterior.findings, *(finding.code for finding in evidence.findings))
    said = {finding.message for finding in (*kept, *evidence.findings)}
    of_groups = [finding for finding in evidence.of_groups if finding.message not in said]
    return gravest_first([*kept, *evidence.findings, *of_groups])


def sensitivity(
    posterior: Posterior,
    drift: float | Sequence[float] = (0.02, 0.05, 0.1),
    *,
    above: Mapping[Any, float] | None = None,
    below: Mapping[Any, float] | None = None,
    level: float = 0.95,
    draws: int = 100,
    seed: int = 0,
) -> Sensitivity:
    """Ask what a drift of the confusion would do: nothing in square counts can rule it out.

    Parameters
    ----------
    posterior
        What `infer` gave, under label shift.
    drift
        Total variation that every row P(output | class) may have moved, one or several: 0.05 lets 5 % of each class's
        items change their output.
    above, below
        Conclusions by class, such as ``above={"pass": 0.8}``; each gets the smallest drift that overturns it.
    level
        Of the intervals.
    draws
        How many draws of the posterior to solve for.
    seed
        Of the cut and the tempered posterior.

    Notes
    -----
    A drift may add up in the worst way, and these intervals hold even then; they bound, and do not estimate. Beside
    them stand the cut posterior, in which the unlabelled items cannot move the rows, and a tempered one, in which they
    count half.

    Examples
    --------
    >>> posterior = infer(Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"]))
    >>> print(sensitivity(posterior, 0.05, above={"fail": 0.6}).claims[0])
    fail above 60.0 %: holds unless rows moved by 9.5 % or more.
    """
    _check.instance_of("posterior", posterior, Posterior, POSTERIOR_FIRST)
    of_label_shift("posterior", posterior, "sensitivity")
    level, drifts = _check.level(level), _parts_of_one("drift", drift)
    size, seed = _check.whole_number("draws", draws, least=20), _check.whole_number("seed", seed, least=0)
    model = density(posterior.counts, posterior.prior)
    interval = [
        [interval_under(*_spread(posterior, row, size), row, drift=each, level=level) for row in range(model.n_classes)]
        for each in drifts
    ]
    posteriors = {
        "full": posterior.prevalence,
        "cut": cut_draws(model, seed=seed),
        "tempered": tempered_draws(model, Auto(1000), seed=seed).prevalence,
    }
    return Sensitivity(
        classes=posterior.classes,
        level=level,
        drift=np.array(drifts),
        interval=np.array(interval),
        posteriors=posteriors,
        claims=tuple(_claims(posterior, above, True, level, size))
        + tuple(_claims(posterior, below, False, level, size)),
    )


def _parts_of_one(argument: str, values: float | Sequence[float], *, below: float = np.inf) -> list[float]:
    """Return one number or several as a list, each from 0 to 1 and below a bound."""
    try:
        found = [float(each) for each in np.atleast_1d(np.asarray(values, dtype=float))]
    except (TypeError, ValueError) as error:
        needed = "it must be a number, or a list of them"
        raise InputError(argument, f"is {values!r:.60}", needed, "Write 0.05 for 5 %") from error
    for each in found:
        if not (0 <= each <= 1 and each < below):
            needed = "it must lie from 0 to 1" if below > 1 else f"it must be 0 or more and below {below:g}"
            raise InputError(argument, f"is {each:g}", needed, "Write 0.05 for 5 %")
    return found


def _spread(posterior: Posterior, row: int, size: int) -> tuple[Any, Any]:
    """Draws of shares and rows, evenly spaced by the share of one class."""
    shares = posterior.prevalence[:: posterior.draws.stride]
    places = ((np.arange(size) + 0.5) * len(shares) / size).astype(int)
    chosen = np.argsort(shares[:, row], kind="stable")[places]
    return shares[chosen], posterior.confusion[chosen]


def _claims(
    posterior: Posterior, bounds: Mapping[Any, Any] | None, is_above: bool, level: float, size: int
) -> Sequence[Claim]:
    argument = "above" if is_above else "below"
    _check.instance_of(argument, bounds or {}, Mapping, f"Pass {argument}={{{posterior.classes[0]!r}: 0.5}}")
    found = []
    for name, bound in (bounds or {}).items():
        row = _place(argument, posterior.classes, name)
        _require_share(argument, bound)
        drift = smallest_drift(*_spread(posterior, row, size), row, bound=float(bound), is_above=is_above, level=level)
        found.append(Claim(name=name, is_above=is_above, bound=float(bound), drift=drift))
    return found


def _require_share(argument: str, bound: Any) -> None:
    if not isinstance(bound, Real) or not 0 <= float(bound) <= 1:
        raise InputError(argument, f"holds {bound!r:.60}", "bounds are shares, 0 to 1", "Write 0.8 for 80 %")


def _place(argument: str, classes: tuple[Name, ...], name: Name) -> int:
    if name not in classes:
        raise unknown_class(argument, f"names {name!r}", name, classes)
    return classes.index(name)
