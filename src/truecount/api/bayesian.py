"""The verbs that end in a posterior, and its mode."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version
from typing import Any

from truecount import _check
from truecount._progress import track
from truecount.counts import Counts, Groups
from truecount.counts.table import COUNT_FIRST
from truecount.diagnostics.findings import of_design, of_mode, of_posterior
from truecount.errors import ConvergenceWarning, InputError
from truecount.inference import Auto
from truecount.inference.designs import DESIGNS, Design, design_draws, given_output
from truecount.inference.draws import Draws, Engine
from truecount.inference.joint import sample_jointly
from truecount.inference.many import own_seeds, sample_many
from truecount.inference.mode import find_mode
from truecount.models import Density, Prior, density
from truecount.results import Finding, PointEstimate, Posterior
from truecount.results.finding import Awaited


def infer(
    counts: Counts,
    *,
    prior: Prior = Prior(),
    engine: Engine = Auto(),
    design: Design = "label_shift",
    seed: int = 0,
) -> Posterior:
    """Infer the true share of every class in the unlabelled population.

    Parameters
    ----------
    counts
        Labelled items by class and output, unlabelled items by output.
    prior
        What is believed before; flat by default, as in the paper. With another design only its `given_output` is used.
    engine
        What draws; `Auto` chooses and says why in ``posterior.provenance``.
    design
        How the labelled items came about. ``"label_shift"``: from another population, or so many of each class, and
        P(output | class) carries over. ``"same_population"``: a random sample of the population itself.
        ``"by_prediction"``: so many of each output, from the population itself. For the last two P(class | output)
        carries over, the answer is a closed form, and the engine has no say.
    seed
        Same seed, same counts, same version: same draws.

    Notes
    -----
    By default it assumes that P(output | class) is the same in both populations, and that the labelled items were not
    chosen by their output. Neither can be seen in square counts; `docs/designs.md` says which design to choose.

    Examples
    --------
    >>> counts = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
    >>> print(infer(counts, seed=1))
    class  counted  true share  95 % interval
    fail    60.0 %      83.9 %  74.1 – 94.8 %
    pass    40.0 %      16.1 %   5.2 – 25.9 %
    Computed by Exact: 4,000 effective draws, drawn without chains. Seed 1.
    """
    seed = _check.whole_number("seed", seed, least=0)
    _check.one_of("design", design, DESIGNS)
    if design != "label_shift":
        _check.instance_of("counts", counts, Counts, COUNT_FIRST)
        draws = design_draws(given_output(counts, prior, design), design, draws=_size_of(engine), seed=seed)
        return _made(draws, counts, prior, of_design(counts, design), engine, seed)
    model = _density(counts, prior)
    return _posterior(_engine(engine).sample(model, seed), model, counts, prior, engine, seed)


def infer_many(
    problems: Sequence[Counts] | Groups,
    *,
    prior: Prior = Prior(),
    engine: Engine = Auto(),
    seed: int = 0,
    progress: bool | None = None,
    joint: bool = False,
) -> list[Posterior] | dict[Any, Posterior]:
    """Infer the true shares in many populations at once: weeks, regions, the data sets of a simulation study.

    Parameters
    ----------
    problems
        A list of counts, or groups. A group with a study of its own name is inferred from those labels, any other from
        all. Counts with labels of their own become groups by ``Groups.of({group: counts, ...})``.
    prior, engine
        As in `infer`, for every problem.
    seed
        Every problem gets a seed of its own from it, which its provenance names; with `joint` all have this one. The
        same seed and problems give the same draws again; `infer` with a problem's own seed gives others, just as good.
    progress
        Whether to show a progress bar; None shows one in a terminal when it takes more than a second.
    joint
        Draw groups that share a labelled table together, so that draws may be compared one by one: the first of every
        group belongs to the same confusion, and so does the second. Use it before reading off differences.

    Returns
    -------
    Posteriors in the order of the problems: a list or, for groups, a dictionary from group to posterior.

    Notes
    -----
    Ordinary problems of one shape are solved together, and all cores are used, so this is several times faster than a
    loop over `infer`. Each posterior is the one that `infer` would give, up to Monte Carlo error. Groups that share a
    labelled table are not independent of each other: their separate draws say nothing about differences, their joint
    draws do. Jointly, every group also tells something about the confusion, so a posterior may differ a little from
    that of `infer`, and many groups may outweigh few labels (finding ``labels-outweighed``). Joint draws are
    independent where there are as many outputs as classes; a box that treats all classes alike is left out of them, and
    the same finding says where that is probable. Elsewhere, or with too many groups, all items' classes are imputed in
    turns, or it is refused by name.

    Examples
    --------
    >>> weeks = Groups([[140, 60], [20, 180]], {"w1": [600, 400], "w2": [500, 500]})
    >>> {week: round(float(posterior.mean[0]), 2) for week, posterior in infer_many(weeks).items()}
    {'w1': 0.84, 'w2': 0.67}
    >>> together = infer_many(weeks, joint=True)
    >>> bool((together["w1"].prevalence[:, 0] > together["w2"].prevalence[:, 0]).mean() > 0.999)
    True
    """
    seed = _check.whole_number("seed", seed, least=0)
    remedy = "Pass a list of Counts, or Groups; Groups.of({group: counts, ...}) makes them of a mapping"
    _check.instance_of("problems", problems, (Groups, Sequence), remedy)
    named = list(problems.apart()) if isinstance(problems, Groups) else list(enumerate(problems))
    names, counts = [name for name, _ in named], [each for _, each in named]
    shares_labels = isinstance(problems, Groups) and problems.shares_labels and len(problems) > 1
    seeds = own_seeds(seed, len(counts))
    results: list[Any] = [None] * len(counts)
    models = [_named_density(name, each, prior) for name, each in zip(names, counts, strict=True)]
    drawn: Iterable[tuple[int, Draws]]
    if joint:
        if len(counts) > 1 and not shares_labels:
            found, needed = "do not share their labels", "joint draws have one confusion for all groups"
            raise InputError("problems", found, needed, "Draw them apart, or make Groups with one labelled table")
        seeds = [seed] * len(counts)
        drawn = enumerate(sample_jointly(_engine(engine), models, seed))
    else:
        drawn = sample_many(_engine(engine), models, seeds)
    for number, draws in track(drawn, total=len(counts), show=progress):
        record = {"common_seed": seed} | ({"shares_labels": len(counts)} if shares_labels else {})
        draws = replace(draws, record={**draws.record, **record})
        results[number] = _posterior(draws, models[number], counts[number], prior, engine, seeds[number])
    return dict(zip(names, results, strict=True)) if isinstance(problems, Groups) else results


def mode(counts: Counts, *, prior: Prior = Prior()) -> PointEstimate:
    """Find the maximum a posteriori point: the shares at which the posterior density is highest.

    Parameters
    ----------
    counts
        Labelled items by class and output, unlabelled items by output.
    prior
        What is believed before, with concentrations of 1 or more. Flat, the default, gives the maximum likelihood
        point (the paper's MAP-1); ``Prior(prevalence=2)`` its MAP-2, which keeps every share above zero.

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
    record = find_mode(_density(counts, prior))
    findings = of_mode(counts, prior, record)
    _warn(findings, stacklevel=3)
    numbers = {"iterations": record.iterations, "kkt_residual": record.kkt_residual}
    provenance = {"method": "mode", "prior": prior.to_dict(), **numbers, "version": package_version()}
    return PointEstimate(prevalence=record.prevalence, classes=counts.classes, findings=findings, provenance=provenance)


def _density(counts: Counts, prior: Prior) -> Density:
    _check.instance_of("counts", counts, Counts, COUNT_FIRST)
    return density(counts, prior)


def _named_density(name: Any, counts: Counts, prior: Prior) -> Density:
    """Pose one of many problems; an error names which."""
    try:
        return _density(counts, prior)
    except InputError as error:
        which = f"problems[{name!r}].{error.argument}"
        raise InputError(which, error.found, error.needed, error.remedy) from error


def _engine(engine: Engine) -> Engine:
    if isinstance(engine, type) or not hasattr(engine, "sample"):
        raise InputError("engine", f"is {engine!r}", "it must be an engine", "Pass Auto(), or Exact(draws=4000)")
    return engine


def _posterior(draws: Draws, model: Density, counts: Counts, prior: Prior, engine: Engine, seed: int) -> Posterior:
    findings = Awaited(partial(of_posterior, counts, prior, model, draws))
    if draws.record.get("not_converged"):
        _warn(findings, stacklevel=4)
    return _made(draws, counts, prior, findings, engine, seed)


def _size_of(engine: Engine) -> int:
    """Return how many draws to make without an engine; refuse an engine that would change nothing."""
    if not isinstance(engine, Auto):
        needed = "the answer of this design is a closed form"
        raise InputError("engine", f"is {engine!r}", needed, "Leave it out, or pass Auto(effective_draws=...)")
    return engine.effective_draws


def _made(
    draws: Draws, counts: Counts, prior: Prior, findings: Sequence[Finding], engine: Engine, seed: int
) -> Posterior:
    provenance = {**draws.record, "asked": repr(engine), "seed": seed, "version": package_version()}
    return Posterior(draws=draws, counts=counts, prior=prior, findings=findings, provenance=provenance)


def _warn(findings: Iterable[Finding], *, stacklevel: int) -> None:
    for finding in findings:
        if finding.code == "not-converged":
            warnings.warn(finding.message, ConvergenceWarning, stacklevel=stacklevel)


@cache
def package_version() -> str:
    """Give the version that provenance names."""
    return version("truecount")
