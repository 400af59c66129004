"""What a check looks at, part by part: each gives rows of tables and findings."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from truecount import _check
from truecount._types import FloatArray, Name
from truecount._wording import listed, percent, quoted
from truecount.counts import Counts, Groups
from truecount.counts.weights import effective_by_output, effective_counts, effective_outputs
from truecount.diagnostics import tables
from truecount.diagnostics.classifiers import dependence_finding, independence_test
from truecount.diagnostics.homogeneity import (
    HomogeneityTest,
    LabelSamples,
    design_finding,
    differing_finding,
    drift_finding,
    homogeneity_test,
    joint_findings,
    joint_test,
    meaning_finding,
    rows_test,
    visible_drift,
)
from truecount.diagnostics.label_error import (
    label_error_effect,
    label_error_finding,
    under_given_output,
    under_label_shift,
)
from truecount.diagnostics.prior import (
    FEWEST,
    PriorChange,
    given_output_sensitivity,
    named_rows_change,
    prior_finding,
    prior_sensitivity,
)
from truecount.diagnostics.scores import by_confidence, scores_findings, scores_test
from truecount.diagnostics.shift import (
    ShiftTest,
    in_scores,
    label_shift_test,
    shift_findings,
    tables_of,
)
from truecount.diagnostics.significance import severity_of
from truecount.errors import InputError
from truecount.inference import Auto
from truecount.inference.draws import Draws
from truecount.models import (
    ByPrediction,
    Density,
    LabelShift,
    Model,
    Prior,
    SamePopulation,
    density,
)
from truecount.models.given_output import OutputModel
from truecount.reading.names import group_name
from truecount.results import Finding, Posterior
from truecount.results.finding import ORDER, gravest_first, without
from truecount.scores import Scores

MOST_SCORE_REPLICATES = 199
Infer: TypeAlias = Callable[..., Any]
"""`infer` or `infer_many`, which come after diagnostics."""
Effective: TypeAlias = Callable[[Counts], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Rows by table, findings, and findings of single groups beside them."""

    tables: dict[str, tuple[dict[str, Any], ...]] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    of_groups: tuple[Finding, ...] = ()

    def __add__(self, other: "Evidence") -> "Evidence":
        """Put both together; tables of the same name run on."""
        joined = {name: self.tables.get(name, ()) + other.tables.get(name, ()) for name in self.tables | other.tables}
        return Evidence(joined, self.findings + other.findings, self.of_groups + other.of_groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a check simulates, and what draws for it."""

    replicates: int
    seed: int
    level: float
    infer: Infer
    infer_many: Infer


def gather(
    posterior: Posterior, data: Any, audit: Any, settings: Settings, *, label_errors: Sequence[float] = ()
) -> Evidence:
    """Run every part that applies."""
    found = Evidence()
    if isinstance(posterior.model, OutputModel):
        parts = _of_closed_form(posterior, posterior.model)
    else:
        parts = _of_label_shift(posterior, data, settings, is_audited=audit is not None)
    for part in (*parts, *_of_any_model(posterior, data, audit, settings)):
        found = found + part
    return found + _wrong_labels(posterior, label_errors, settings)


def _of_label_shift(posterior: Posterior, data: Any, settings: Settings, *, is_audited: bool) -> Iterator[Evidence]:
    model = density(posterior.counts, posterior.prior)
    is_of_scores = posterior.run.is_of_scores
    yield Evidence({"classes": tables.class_rows(posterior, model, has_rows=not is_of_scores)})
    if not is_of_scores:
        yield Evidence({"identifiability": tables.identifiability_rows(posterior.counts, model)})
    yield _label_shift(posterior, model, data, settings, is_audited=is_audited)
    yield _priors(posterior, model, settings.seed)
    yield _designs(posterior, settings)
    if posterior.counts.combinations is not None:
        yield _independence(posterior, settings)
    if isinstance(data, Groups) and len(data) > 1:
        yield _each_group(data, posterior.prior, settings)
        yield _one_confusion(posterior, data, model, settings)


def _of_closed_form(posterior: Posterior, model: OutputModel) -> Iterator[Evidence]:
    """Where P(class | output) carries over: what each class was inferred from, and what another prior would say."""
    form = model.closed_form(posterior.counts)
    yield Evidence({"given_output": tables.given_output_rows(posterior, form)})
    yield _prior_evidence(posterior, given_output_sensitivity(form, posterior.sd))


def _of_any_model(posterior: Posterior, data: Any, audit: Any, settings: Settings) -> Iterator[Evidence]:
    if not isinstance(posterior.model, ByPrediction):  # whose labelled outputs were chosen
        yield _any_shift(posterior.counts, settings.seed)
    if isinstance(data, Scores):
        yield _on_scores(data, settings)
    if audit is not None:
        counts = data.to_counts() if isinstance(data, Scores) else posterior.counts
        yield _audit(posterior.model, counts, audit, settings.seed)


def _independence(posterior: Posterior, settings: Settings) -> Evidence:
    """Test whether several classifiers err independently, as `IndependentClassifiers` would assume."""
    test = independence_test(posterior.counts, replicates=settings.replicates, seed=settings.seed)
    if test is None:
        return Evidence()
    numbers = test.deviance, test.p_value, test.replicates
    row = _row("classifiers err independently", *numbers, "no sign against it", "they err on the same items")
    finding = dependence_finding(test, is_assumed=False)
    return Evidence({"tests": (row,)}, () if finding is None else (finding,))


def _label_shift(posterior: Posterior, model: Density, data: Any, settings: Settings, *, is_audited: bool) -> Evidence:
    counts, is_of_scores = posterior.counts, posterior.run.is_of_scores
    if is_of_scores and isinstance(data, Scores):
        return Evidence()  # the scores themselves are tested
    test = _shift_test(counts, model, settings)
    said = _unless_testable(test.is_testable) if counts.unlabeled.sum() else "there is nothing to test"
    row = _row("label shift", test.deviance, test.p_value, test.replicates, said)
    found = shift_findings(test, tables_of(model, counts.effective.labeled), is_audited=is_audited)
    if is_of_scores:
        found = tuple(in_scores(finding) for finding in found)
    if isinstance(data, Scores) or not counts.unlabeled.sum():
        found = without(found, "label-shift-untestable")
    outputs = {} if is_of_scores else {"outputs": tables.output_rows(posterior, test, settings.level)}
    return Evidence({"tests": (row,), **outputs}, found)


def _shift_test(counts: Counts, model: Density, settings: Settings) -> ShiftTest:
    return label_shift_test(counts, model, replicates=settings.replicates, seed=settings.seed)


def _unless_testable(is_testable: bool) -> str:
    """What a test of label shift says that finds nothing."""
    return "no sign against it" if is_testable else "some mix of the classes explains nearly anything here"


def _on_scores(scores: Scores, settings: Settings) -> Evidence:
    counts = by_confidence(scores)
    model = density(counts, Prior())
    test = _shift_test(counts, model, settings)
    rows = [_row("label shift, by confidence", test.deviance, test.p_value, test.replicates, "no sign against it")]
    fewer = min(settings.replicates, MOST_SCORE_REPLICATES)
    distance, p_value = scores_test(scores, replicates=fewer, seed=settings.seed)
    rows.append(_row("label shift, on scores", distance, p_value, fewer, "no sign against it"))
    found = shift_findings(test, tables_of(model, counts.labeled.astype(np.float64)))
    return Evidence({"tests": tuple(rows)}, gravest_first([*found, *scores_findings(distance, p_value)])[:1])


def _any_shift(counts: Counts, seed: int) -> Evidence:
    """Lipton's test that anything shifted at all: the outputs of both sides have the same shares."""
    if not counts.labeled.sum() or not counts.unlabeled.sum():
        return Evidence()
    both = np.array([effective_outputs(counts), counts.effective.unlabeled])[:, None]
    test = homogeneity_test(both, seed=seed)
    numbers = test.deviance, test.p_value, test.replicates
    row = _row("anything shifted at all", *numbers, "no shift was seen", "the outputs' shares differ, as under a shift")
    return Evidence({"tests": (row,)})


def _audit(model: Model, counts: Counts, audit: Any, seed: int) -> Evidence:
    """Compare what the model says carries over: the outputs of each class, or else the classes of each output."""
    if isinstance(model, LabelShift):
        sides = np.array([counts.effective.labeled, audited(counts, audit, effective_counts)])
        test = homogeneity_test(sides, seed=seed)
        found = drift_finding(counts, test, "in the population")
        rows = tables.audit_rows("class", counts.classes, sides, test)
        return _compared(test, visible_drift(sides, seed=seed), "the confusion drifted", rows, found)
    sides = np.array([effective_by_output(counts)[0].T, audited(counts, audit, effective_by_output).T])
    test = homogeneity_test(sides, seed=seed)
    rows = tables.audit_rows("output", counts.outputs, sides, test)
    visible = visible_drift(sides, seed=seed)
    return _compared(test, visible, "outputs have other classes", rows, meaning_finding(counts, test))


def _compared(
    test: HomogeneityTest, visible: float | None, rejected: str, rows: tables.Rows, finding: Finding | None
) -> Evidence:
    could = "and hardly any drift would have been"
    if visible is not None:
        could = f"and one of {percent(visible)} in every row would have been, four times in five"
    row = _row("audit", test.deviance, test.p_value, test.replicates, f"no drift was seen, {could}", rejected)
    return Evidence({"tests": (row,), "audit": rows}, () if finding is None else (finding,))


def audited(counts: Counts, audit: Any, effective: Effective) -> FloatArray:
    """Return the labelled items of the target as a table like the others; names that it lacks have no items."""
    if isinstance(audit, Counts):
        table = np.zeros(counts.labeled.shape)
        places = _places("classes", audit.classes, counts.classes), _places("outputs", audit.outputs, counts.outputs)
        table[np.ix_(*places)] = effective(audit)[0]
        return table
    table = np.asarray(_check.finite_numbers("audit", audit, dimensions=2), np.float64)
    if hasattr(audit, "columns"):  # a frame such as pandas' crosstab gives, which knows its names
        named = Counts(table, 0 * table[0], audit.index.tolist(), audit.columns.tolist())
        return audited(counts, named, effective)
    if table.shape != counts.labeled.shape:
        raise InputError(
            "audit",
            f"has shape {table.shape}",
            f"it must count classes and outputs like the labelled items, {counts.labeled.shape}",
            "Pass a table of that shape, or Counts with the same names",
        )
    return table


def _places(kind: str, names: Sequence[Name], known: Sequence[Name]) -> list[int]:
    for name in names:
        if name not in known:
            raise InputError("audit", f"has {name!r}", f"the {kind} are {quoted(known)}", "Use the same names")
    return [known.index(name) for name in names]


def _each_group(data: Groups, prior: Prior, settings: Settings) -> Evidence:
    """Check every group by itself: its own test of label shift, and what its own answer carries."""
    posteriors = settings.infer_many(data, prior=prior, seed=settings.seed, progress=False)
    rows = []
    for group, posterior in posteriors.items():
        counts = posterior.counts
        test = (
            label_shift_test(counts, density(counts, prior), replicates=settings.replicates, seed=settings.seed)
            if counts.unlabeled.sum()
            else None
        )
        is_tested = test is not None and test.is_testable
        codes = [finding.code for finding in posterior.findings if finding.severity != "info"]
        rows.append(
            {
                "group": group_name(group),
                "unlabeled": float(counts.unlabeled.sum()),
                "p_value": test.p_value if test is not None and is_tested else None,
                "status": posterior.status,
                "findings": ", ".join(codes) or "none",
            }
        )
    found = [finding for finding in groups_findings(posteriors) if finding.severity != "info"]
    return Evidence({"groups": tuple(rows)}, of_groups=tuple(found))


def groups_findings(posteriors: Mapping[Any, Posterior]) -> tuple[Finding, ...]:
    """Say each kind of finding once, as grave as it is anywhere, and which groups have it; the gravest first."""
    found: dict[str, dict[Any, Finding]] = {}
    for group, posterior in posteriors.items():
        for finding in gravest_first(posterior.findings):
            found.setdefault(finding.code, {}).setdefault(group, finding)
    return gravest_first(_gravest(by_group, len(posteriors)) for by_group in found.values())


def _gravest(by_group: Mapping[Any, Finding], groups: int) -> Finding:
    """Return the gravest of a kind; unless all groups have it in the same words, whose it is and who else has it."""
    (group, gravest), *others = sorted(by_group.items(), key=lambda item: ORDER[item[1].severity])
    alike = [group_name(other) for other, finding in others if finding.severity == gravest.severity]
    milder = [group_name(other) for other, finding in others if finding.severity != gravest.severity]
    is_everywhere = len(alike) + 1 == groups
    if is_everywhere and len({finding.message for finding in by_group.values()}) == 1:
        return gravest
    others_too = "all other groups, each with numbers of its own" if is_everywhere else None
    more = f" Likewise in {others_too or listed(alike)}." if alike else ""
    less = f" Less severe in {listed(milder)}." if milder else ""
    return replace(gravest, message=f"In {group_name(group)}: {gravest.message}{more}{less}")


def _one_confusion(posterior: Posterior, data: Groups, model: Density, settings: Settings) -> Evidence:
    counts, prior = posterior.counts, posterior.prior
    if data.shares_labels:
        deviance, p_value = joint_test(data, model, replicates=settings.replicates, seed=settings.seed)
        said = _unless_testable(len(counts.outputs) > len(counts.classes))
        row = _row("one confusion in all groups", deviance, p_value, settings.replicates, said)
        found = Evidence({"tests": (row,)}, joint_findings(deviance, p_value))
        return found + _own_labels(data, prior, settings.seed) + _studies(data, counts, settings.seed)
    test = rows_test(data, seed=settings.seed)
    row = _row("one confusion in all groups", test.deviance, test.p_value, test.replicates, "no difference was seen")
    finding = drift_finding(counts, test, "from group to group")
    return Evidence({"tests": (row,)}, () if finding is None else (finding,))


def _own_labels(data: Groups, prior: Prior, seed: int) -> Evidence:
    """Compare labels of the groups themselves, which all groups share, from group to group."""
    samples = LabelSamples.of(data, prior)
    if samples is None:
        return Evidence()
    test = samples.test(seed=seed)
    row = _row("the same by labels of groups", test.deviance, test.p_value, test.replicates, "no difference was seen")
    finding = differing_finding(data, samples, test)
    return Evidence({"tests": (row,)}, () if finding is None else (finding,))


def _studies(data: Groups, counts: Counts, seed: int) -> Evidence:
    """Compare labels from study to study, where studies are no groups."""
    if data.studies is None or len(data.studies) < 2 or data.is_weighted or data.clusters is not None:
        return Evidence()
    test = homogeneity_test(data.labeled.astype(np.float64), seed=seed)
    row = _row("the same by labels of studies", test.deviance, test.p_value, test.replicates, "no difference was seen")
    finding = drift_finding(counts, test, "from study to study")
    return Evidence({"tests": (row,)}, () if finding is None else (finding,))


def _priors(posterior: Posterior, model: Density, seed: int) -> Evidence:
    weights = posterior.prior.confusion_for(posterior.counts)

    def rerun(other: Density) -> Draws:
        return Auto(FEWEST).sample(other, seed)

    changes = prior_sensitivity(weights, model, posterior.draws, rerun)
    if posterior.run.is_of_scores:  # whose rows only describe it
        changes = tuple(change for change in changes if change.part == "prevalence")
    named = {finding.numbers["better"] for finding in posterior.findings if finding.code == "prior-against-labels"}
    of_rows = [
        named_rows_change(name, weights, posterior.counts, model, posterior.draws, rerun) for name in sorted(named)
    ]
    return _prior_evidence(posterior, (*changes, *of_rows))


def _prior_evidence(posterior: Posterior, changes: tuple[PriorChange, ...]) -> Evidence:
    finding = prior_finding(posterior.classes, posterior.mean, changes)
    return Evidence({"priors": tables.prior_rows(posterior, changes)}, () if finding is None else (finding,))


def _wrong_labels(posterior: Posterior, rates: Sequence[float], settings: Settings) -> Evidence:
    """Say what each rate of wrong labels would do; the finding is of the largest."""
    if not rates:
        return Evidence()
    counts, model = posterior.counts, posterior.model
    if isinstance(model, OutputModel):
        shares = under_given_output(model.closed_form(counts))
    else:
        shares = under_label_shift(density(counts, posterior.prior), counts)
    size, level = len(counts.classes), settings.level
    effects = [label_error_effect(shares, size, rate, level=level, seed=settings.seed) for rate in rates]
    largest = max(effects, key=lambda effect: effect.rate)
    finding = label_error_finding(posterior.classes, posterior.interval(level), largest)
    return Evidence({"label_error": tables.label_error_rows(posterior.classes, effects)}, (finding,))


def _designs(posterior: Posterior, settings: Settings) -> Evidence:
    counts = posterior.counts
    if not counts.labeled.sum() or not counts.unlabeled.sum():
        return Evidence()
    same, by_output = (
        settings.infer(counts, model, seed=settings.seed) for model in (SamePopulation(), ByPrediction())
    )
    answers, finding = (posterior, same, by_output), design_finding(posterior, same)
    return Evidence({"designs": tables.design_rows(answers, settings.level)}, () if finding is None else (finding,))


def _row(
    test: str, statistic: float, p_value: float, replicates: int, otherwise: str, rejected: str = "it does not hold"
) -> dict[str, Any]:
    verdict = otherwise if severity_of(p_value) is None else rejected
    return {"test": test, "statistic": statistic, "p_value": p_value, "replicates": replicates, "verdict": verdict}
