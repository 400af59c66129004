"""The verbs that end in a posterior, and its mode."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar, overload

from truecount import _check
from truecount._advice import AUTO, OWN_ENGINE, Action, Advice
from truecount._progress import track
from truecount._version import __version__
from truecount._wording import nearest
from truecount.counts import Counts, Groups, Ratings
from truecount.counts.classifiers import merge_rare
from truecount.counts.table import COUNT_FIRST
from truecount.diagnostics.findings import of_closed_form, of_independent, of_mode, of_posterior, of_target_labels
from truecount.errors import ConvergenceWarning, InputError
from truecount.inference import Auto
from truecount.inference.closed_form import sample_closed_form
from truecount.inference.draws import Draws, Engine
from truecount.inference.importance.many import own_seeds
from truecount.inference.modes.mode import find_mode
from truecount.models import Density, LabelShift, Model, Prior, TargetLabels
from truecount.models.erring_labels import ErringLabels
from truecount.models.given_output import OutputModel
from truecount.models.independent_classifiers import IndependentClassifiers, all_combinations
from truecount.models.priors import require_prior
from truecount.models.register import KINDS, require_plain_label_shift
from truecount.models.target_labels import OF_GROUPS
from truecount.results import Finding, PointEstimate, Posterior
from truecount.results.export.provenance import Origin
from truecount.results.finding import Awaited
from truecount.scores import Scores

if TYPE_CHECKING:
    from truecount.results.groups.posterior import GroupPosterior
    from truecount.results.separate.answers import SeparateAnswers
    from truecount.results.separate.row_files import Output

Made = TypeVar("Made")


@overload
def infer(
    data: Counts | Scores, model: Model = ..., *, prior: Prior | None = ..., engine: Engine = ..., seed: int = ...
) -> Posterior: ...
@overload
def infer(
    data: Ratings, model: Model = ..., *, prior: Prior | None = ..., engine: Engine = ..., seed: int = ...
) -> "Posterior | GroupPosterior": ...
@overload
def infer(
    data: Groups,
    model: Model = ...,
    *,
    prior: Prior | None = ...,
    engine: Engine = ...,
    seed: int = ...,
    executor: Executor,
    output: "Output | str | PathLike[str] | None" = ...,
) -> "SeparateAnswers": ...
@overload
def infer(
    data: Groups, model: Model = ..., *, prior: Prior | None = ..., engine: Engine = ..., seed: int = ...
) -> "GroupPosterior": ...
def infer(
    data: Counts | Scores | Groups | Ratings,
    model: Model = LabelShift(),
    *,
    prior: Prior | None = None,
    engine: Engine = Auto(),
    seed: int = 0,
    executor: Executor | None = None,
    output: "Output | str | PathLike[str] | None" = None,
) -> "Posterior | GroupPosterior | SeparateAnswers":
    """Infer the true share of every class in the unlabelled population, or in every group of several.

    Parameters
    ----------
    data
        Labelled items by class and output, unlabelled items by output; `Scores`, which are calibrated on the labelled
        items, or sorted into cells and counted where no calibration fits (``docs/guides/scores.md``); `Groups` for
        several populations, which are drawn jointly; `Ratings`, whose true classes are inferred too
        (``docs/guides/raters.md``).
    model
        The sampling design of the labels, with its prior. `LabelShift`: from another population, or stratified by
        class, and P(output | class) carries over. `SamePopulation`: a random sample of the population itself.
        `ByPrediction`: stratified by output, from the population itself. For the last two P(class | output) carries
        over, the posterior has a closed form, and there is no engine to choose. Under label shift, too: `ErringLabels`,
        labels may be wrong; `TargetLabels`, some labels are of the population itself; `IndependentClassifiers`, several
        classifiers err independently of each other.
    prior
        Short for ``model=LabelShift(prior)``.
    engine
        What draws; `Auto` chooses and says why in ``posterior.run.reason``.
    seed
        Same seed, same counts, same version: same draws.
    executor
        Of `Groups`: whose workers infer them, each group by itself, instead of all jointly. Anything that follows
        ``concurrent.futures.Executor``: a ``ProcessPoolExecutor``, Dask's ``client.get_executor()``. A group has the
        same draws whatever the executor; ``docs/guides/scale.md``.
    output
        With an executor: a file that the summaries stream to, such as ``"results.parquet"``, or an `Output`.

    Notes
    -----
    By default it assumes that P(output | class) is the same in both populations, and that the labelled items were not
    chosen by their output. Neither can be seen in square counts; `docs/guides/designs.md` says which model to choose.

    Examples
    --------
    >>> counts = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
    >>> print(infer(counts, seed=1))
    class  counted  true share  95 % interval
    fail    60.0 %      83.8 %  74.0 – 94.7 %
    pass    40.0 %      16.2 %   5.3 – 26.0 %
    Computed by Quadrature: effective sample size 4,000, independent draws. Seed 1.
    """
    seed = _check.whole_number("seed", seed, least=0)
    chosen = chosen_model(model, prior)
    _check.instance_of("data", data, (Counts, Scores, Groups, Ratings), COUNT_FIRST)
    asked = origin_of(engine, seed)
    if executor is not None or output is not None:
        return _separately(data, chosen, engine, asked, executor, output)
    if isinstance(data, Ratings) or (isinstance(chosen, ErringLabels) and not isinstance(data, Scores)):
        from truecount.api.raters import infer_rated

        rated = infer_rated(data, chosen, engine, asked)
        if not isinstance(rated, Posterior) or rated.run.not_converged:
            _warn(rated.findings, stacklevel=3)
        return rated
    if isinstance(data, Scores):
        return _of_scores(data, chosen, engine, asked)
    if isinstance(data, Groups):
        return _of_groups(data, chosen, engine, asked)
    _require_nothing_of_groups(chosen, "the data are one population", "Pass Groups, or leave it out")
    if not isinstance(chosen, LabelShift):
        return _closed_form(data, chosen, engine, asked)
    if isinstance(chosen, IndependentClassifiers):
        return _independent(data, chosen, engine, asked)
    if data.combinations is not None and not isinstance(chosen, TargetLabels):  # whose table has exactly these outputs
        data = merge_rare(data)
    chosen = chosen.resolved(data)
    density = chosen.density(data)
    return _posterior(_engine(engine).sample(density, seed), density, data, chosen, asked)


def chosen_model(model: Model, prior: Prior | None) -> LabelShift | OutputModel:
    """Return the model that a call means, where `prior` may stand for ``LabelShift(prior)``."""
    if not isinstance(model, (LabelShift, OutputModel)):
        raise InputError("model", f"is {model!r:.60}", "it must be a model", _meant(model))
    if prior is None:
        return model
    require_prior(prior)
    if model != LabelShift():
        raise InputError(
            "prior",
            f"is given beside model={model!r:.60}",
            "prior= stands for model=LabelShift(prior), and a model has a prior of its own",
            "Pass model=LabelShift(prior=...), or give SamePopulation() or ByPrediction() given_output=...",
        )
    return LabelShift(prior)


def _meant(value: object) -> str:
    """Say what to pass in place of what is no model."""
    if isinstance(value, Prior):
        return "Pass it as prior=..., or in LabelShift(...)"
    every = " or ".join(f"{kind.__name__}()" for kind in KINDS)
    names = {kind.__name__.lower(): kind.__name__ for kind in KINDS}
    called = value.__name__ if isinstance(value, type) else str(value)
    meant = nearest(called.lower().replace("_", "").replace("-", ""), names)
    return f"Pass {names[meant]}()" if meant else f"Pass {every}"


def label_shift_model(model: Model, prior: Prior | None, asked: str) -> LabelShift:
    """Return the model that a call means; refuse one for which what is asked does not exist."""
    chosen = chosen_model(model, prior)
    if not isinstance(chosen, LabelShift):
        raise InputError(
            "model",
            f"is {chosen!r:.60}, where {chosen.carries_over} carries over",
            f"{asked} exists only under label shift, where {LabelShift.carries_over} does",
            Advice("Pass {}", LabelShift.choice()),
        )
    require_plain_label_shift(chosen, asked)
    return chosen


def _of_scores(data: Scores, model: LabelShift | OutputModel, engine: Engine, origin: Origin) -> Posterior:
    """Draw by a calibration map where it fits, and by cells where it does not or where cells are asked for."""
    from truecount.api import scores

    _require_nothing_of_groups(model, "the data are one population", "Pass Groups, or leave it out")
    require_plain_label_shift(model, "an answer from scores")
    finding = None
    if isinstance(model, LabelShift) and not scores.asks_for_cells(model, _engine(engine)):
        made = scores.fit_scores(data.labeled, data.labels, data.classes)
        if made.fitted is not None:
            return scores.by_map(made.fitted, data, model, engine, origin)
        finding = made.finding
    posterior = infer(scores.by_cells(data), model, engine=engine, seed=origin.seed)
    return posterior if finding is None else scores.with_finding(posterior, finding)


def _of_groups(data: Groups, model: LabelShift | OutputModel, engine: Engine, origin: Origin) -> "GroupPosterior":
    from truecount.api.groups import infer_groups, infer_independent_groups

    if isinstance(model, IndependentClassifiers):
        return infer_independent_groups(data, model, engine, origin)
    if not isinstance(model, LabelShift):
        needed = "groups are drawn jointly under label shift"
        raise InputError("model", f"is {model!r:.60}", needed, "Pass LabelShift(), or use infer_many(groups, model)")
    if isinstance(model, TargetLabels):
        found, needed = "is TargetLabels(), which has labels of one population", "groups would not use that"
        raise InputError("model", found, needed, OF_GROUPS)
    require_plain_label_shift(model, "a joint answer of groups")
    return infer_groups(data, model, engine, origin)


def _separately(
    data: Counts | Scores | Groups | Ratings,
    model: LabelShift | OutputModel,
    engine: Engine,
    origin: Origin,
    executor: Executor | None,
    output: "Output | str | PathLike[str] | None",
) -> "SeparateAnswers":
    """Infer each group by itself, with the workers of an executor."""
    from truecount.api.separate import infer_separately

    if not isinstance(data, Groups):
        needed = "one population is inferred in one piece, and an executor divides groups"
        argument = "output" if executor is None else "executor"
        raise InputError(argument, f"is given with {type(data).__name__}", needed, "Leave it out, or pass Groups")
    if executor is None:
        needed = "what streams to a file is inferred group by group, by an executor"
        raise InputError("output", "is given without executor", needed, "Pass executor=ThreadPoolExecutor(1) too")
    require_plain_label_shift(model, "an answer for each group")
    if not isinstance(model, LabelShift):
        needed = "groups are inferred under label shift"
        raise InputError("model", f"is {model!r:.60}", needed, "Pass LabelShift(), or use infer_many(groups, model)")
    return infer_separately(data, model, _engine(engine), origin, executor=executor, output=output)


def _require_nothing_of_groups(model: Model, needed: str, remedy: str) -> None:
    """Refuse a model that says how groups vary, where they would not."""
    for choice in (model.groups, model.confusion) if isinstance(model, LabelShift) else ():
        if choice is not None:
            raise InputError("model", f"says how groups vary: {choice!r:.60}", needed, remedy)


def infer_many(
    problems: Sequence[Counts] | Groups,
    model: Model = LabelShift(),
    *,
    prior: Prior | None = None,
    engine: Engine = Auto(),
    seed: int = 0,
    progress: bool | None = None,
    executor: Executor | None = None,
) -> list[Posterior] | dict[Any, Posterior]:
    """Infer the true shares in many populations at once: weeks, regions, the data sets of a simulation study.

    Parameters
    ----------
    problems
        A list of counts, or groups. A group with a study of its own name is inferred from those labels, any other from
        all. Counts with labels of their own become groups by ``Groups.of({group: counts, ...})``.
    model, prior, engine
        As in `infer`, for every problem.
    seed
        Every problem gets a seed of its own from it, ``posterior.origin.seed``. The same seed and problems give the
        same draws again; `infer` with a problem's own seed gives others, just as good.
    progress
        Whether to show a progress bar; None shows one in a terminal when it takes more than a second.
    executor
        Whose workers draw, in place of threads: anything that follows ``concurrent.futures.Executor``. The draws are
        the same. All posteriors are kept in memory; ``infer(groups, executor=...)`` keeps summaries.

    Returns
    -------
    Posteriors in the order of the problems: a list or, for groups, a dictionary from group to posterior.

    Notes
    -----
    Ordinary problems of one shape are solved together, and all cores are used, so this is several times faster than a
    loop over `infer`. Each posterior is the one that `infer` would give, up to Monte Carlo error. Groups that
    share their labels are not independent of each other: separate draws say nothing about differences between them, and
    those of ``infer(groups)``, which draws them jointly, do.

    Examples
    --------
    >>> weeks = Groups([[140, 60], [20, 180]], {"w1": [600, 400], "w2": [500, 500]})
    >>> {week: round(float(posterior.mean[0]), 2) for week, posterior in infer_many(weeks).items()}
    {'w1': 0.84, 'w2': 0.67}
    """
    seed = _check.whole_number("seed", seed, least=0)
    remedy = "Pass a list of Counts, or Groups; Groups.of({group: counts, ...}) makes them of a mapping"
    _check.instance_of("problems", problems, (Groups, Sequence), remedy)
    named = list(problems.apart()) if isinstance(problems, Groups) else list(enumerate(problems))
    if isinstance(model, LabelShift):
        several = [isinstance(each, Counts) and each.combinations is not None for _, each in named]
        named = [(name, merge_rare(one) if many else one) for many, (name, one) in zip(several, named, strict=True)]
    names, counts = [name for name, _ in named], [each for _, each in named]
    sharing = len(problems) if isinstance(problems, Groups) and problems.shares_labels and len(problems) > 1 else None
    seeds = own_seeds(seed, len(counts))
    origins = [replace(origin_of(engine, each), common_seed=seed) for each in seeds]
    chosen, results = chosen_model(model, prior), dict[int, Posterior]()
    _require_nothing_of_groups(chosen, "each population is inferred by itself", "Use infer(groups, model)")
    require_plain_label_shift(chosen, "infer_many")
    if isinstance(chosen, LabelShift):
        densities = [_named(name, partial(_density, each, chosen)) for name, each in named]
        drawn = _drawn(_engine(engine), densities, seeds, names, executor)
        for number, draws in track(drawn, total=len(counts), show=progress):
            draws = replace(draws, run=replace(draws.run, groups_sharing_labels=sharing))
            own = chosen.resolved(counts[number])
            results[number] = _posterior(draws, densities[number], counts[number], own, origins[number])
    else:
        if executor is not None:
            needed = f"under {type(chosen).__name__} the posterior has a closed form, which takes no time"
            raise InputError("executor", "is given", needed, "Leave it out")
        for number, (name, each) in enumerate(named):
            results[number] = _named(name, partial(_closed_form, each, chosen, engine, origins[number]))
    ordered = [results[number] for number in range(len(counts))]
    return dict(zip(names, ordered, strict=True)) if isinstance(problems, Groups) else ordered


def _drawn(
    engine: Engine, densities: Sequence[Density], seeds: Sequence[int], names: Sequence[Any], executor: Executor | None
) -> Iterator[tuple[int, Draws]]:
    """Yield the draws of each problem as they come, from threads or from an executor's workers."""
    if executor is None:
        yield from engine.sample_many(densities, seeds)
        return
    from truecount._executor import Failure
    from truecount.api.separate import sample_by_workers

    for number, draws in sample_by_workers(engine, densities, seeds, executor):
        if isinstance(draws, Failure):
            remedy = "Leave it out, or use infer(groups, executor=...), which answers for the others"
            raise InputError(f"problems[{names[number]!r}]", f"failed ({draws.message})", "all are drawn", remedy)
        yield number, draws


def mode(counts: Counts, model: Model = LabelShift(), *, prior: Prior | None = None) -> PointEstimate:
    """Find the maximum a posteriori point: the shares at which the posterior density is highest.

    Parameters
    ----------
    counts
        Labelled items by class and output, unlabelled items by output.
    model, prior
        `LabelShift` with a prior, or the prior alone, of concentrations of 1 or more. Flat, the default, gives the
        maximum likelihood point (the paper's MAP-1); ``Prior(prevalence=2)`` its MAP-2, which keeps every share above
        zero.

    Notes
    -----
    A mode is a point and no summary: near zero it lies far from the mean, and where classes cannot be told apart it is
    one of many (finding ``mode-not-unique``). Ziegler & Czyż (TMLR 2024), section 3.1.

    Examples
    --------
    >>> mode(Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"]))
    class    share
    fail   83.33 %
    pass   16.67 %
    """
    chosen = label_shift_model(model, prior, "a mode")
    chosen = replace(chosen, prior=chosen.prior.fixed)
    found = find_mode(_density(counts, chosen))
    findings = of_mode(counts, chosen.prior, found)
    _warn(findings, stacklevel=3)
    numbers = {"iterations": found.iterations, "kkt_residual": found.kkt_residual}
    provenance = {"method": "mode", "prior": chosen.prior.to_dict(), **numbers, "version": __version__}
    return PointEstimate(prevalence=found.prevalence, classes=counts.classes, findings=findings, provenance=provenance)


def _density(counts: Counts, model: LabelShift) -> Density:
    _check.instance_of("counts", counts, Counts, COUNT_FIRST)
    return model.density(counts)


def _named(name: Any, make: Callable[[], Made]) -> Made:
    """Pose one of many problems; an error names which."""
    try:
        return make()
    except InputError as error:
        raise error.about(f"problems[{name!r}].{error.argument}") from error


def _engine(engine: Engine) -> Engine:
    if isinstance(engine, type) or not hasattr(engine, "sample"):
        raise InputError(
            "engine",
            f"is {engine!r}",
            "it must be an engine",
            Advice("Pass {}{}", AUTO, Action(", or Exact(draws=4000)", "")),
        )
    return engine


def origin_of(engine: Engine, seed: int) -> Origin:
    """Return what a result is asked for with."""
    return Origin(seed=seed, engine=repr(engine), version=__version__)


def _posterior(draws: Draws, density: Density, counts: Counts, model: LabelShift, origin: Origin) -> Posterior:
    findings = Awaited(partial(of_posterior, counts, model.prior, density, draws))
    if isinstance(model, TargetLabels):
        findings = Awaited(partial(of_target_labels, counts, model, density, draws))
    if draws.run.not_converged:
        _warn(findings, stacklevel=4)
    return Posterior(draws=draws, counts=counts, model=model, findings=findings, origin=origin)


def _independent(counts: Counts, model: IndependentClassifiers, engine: Engine, origin: Origin) -> Posterior:
    """Draw under the assumption that classifiers err independently, and test it on the labelled items."""
    from truecount.inference.independent import sample_independent

    if (wanted := engine.open_choice_of_many) is None:
        needed = "independent classifiers have an engine of their own"
        raise InputError("engine", f"is {engine!r:.60}", needed, Advice("{}", OWN_ENGINE))
    counts = all_combinations(counts)
    density = model.classifier_density(counts)
    draws = sample_independent(density, effective_draws=wanted, seed=origin.seed)
    findings = Awaited(partial(of_independent, counts, draws))
    if draws.run.not_converged:
        _warn(findings, stacklevel=4)
    return Posterior(draws=draws, counts=counts, model=model, findings=findings, origin=origin)


def _closed_form(counts: Counts, model: OutputModel, engine: Engine, origin: Origin) -> Posterior:
    """Draw without an engine; refuse one that would change nothing."""
    _check.instance_of("counts", counts, Counts, COUNT_FIRST)
    if (wanted := engine.open_choice) is None:
        needed = f"under {type(model).__name__} the posterior has a closed form"
        raise InputError("engine", f"is {engine!r}", needed, Advice("{}", OWN_ENGINE))
    draws = sample_closed_form(model.closed_form(counts), draws=wanted, seed=origin.seed)
    return Posterior(draws=draws, counts=counts, model=model, findings=of_closed_form(counts, model), origin=origin)


def _warn(findings: Iterable[Finding], *, stacklevel: int) -> None:
    for finding in findings:
        if finding.code == "not-converged":
            warnings.warn(finding.message, ConvergenceWarning, stacklevel=stacklevel)
