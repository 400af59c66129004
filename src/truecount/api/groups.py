"""Many groups at once: joint draws of all of them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from truecount import _check
from truecount._advice import OWN_ENGINE, Advice
from truecount._types import FloatArray, IntArray, Name
from truecount.counts import Groups
from truecount.counts.classifiers import merge_rare
from truecount.diagnostics.hierarchy import group_findings, independent_group_findings
from truecount.errors import InputError
from truecount.inference import Auto
from truecount.inference.draws import Engine
from truecount.inference.hierarchical import sample_groups
from truecount.inference.independent import sample_independent_groups
from truecount.models import Cut, Independent, LabelShift, Pooled, Varying
from truecount.models.groups import group_density
from truecount.models.independent_classifiers import IndependentClassifiers, all_combinations
from truecount.models.variation import FEWEST_POOLED
from truecount.results.export.provenance import Origin
from truecount.results.groups.posterior import GroupPosterior
from truecount.results.groups.spread_sensitivity import SpreadSensitivity
from truecount.results.groups.summary import Questions
from truecount.results.summary import interval_of

SENSITIVITY_ENGINE = Auto(400)


def infer_groups(groups: Groups, model: LabelShift, engine: Engine, origin: Origin) -> GroupPosterior:
    """Infer the true share of every class in every group, jointly."""
    if (wanted := engine.open_choice_of_many) is None:
        needed = "groups have an engine of their own"
        raise InputError("engine", f"is {engine!r:.60}", needed, Advice("{}", OWN_ENGINE))
    groups = merge_rare(groups)
    variation = model.groups or (Pooled() if len(groups) >= FEWEST_POOLED else Independent())
    chosen = replace(model, groups=variation)
    density = group_density(groups, model.prior, variation, model.confusion)
    is_cut = isinstance(model.confusion, Cut)
    draws = sample_groups(density, effective_draws=wanted, seed=origin.seed, groups=len(groups), cut=is_cut)
    return GroupPosterior(
        draws=draws, data=groups, model=chosen, findings=group_findings(groups, chosen, draws), origin=origin
    )


def infer_independent_groups(
    groups: Groups, model: IndependentClassifiers, engine: Engine, origin: Origin
) -> GroupPosterior:
    """Do the same where several classifiers are taken to err independently of each other."""
    if (wanted := engine.open_choice_of_many) is None:
        needed = "independent classifiers have an engine of their own"
        raise InputError("engine", f"is {engine!r:.60}", needed, Advice("{}", OWN_ENGINE))
    if groups.studies is not None:
        needed = "classifiers that err independently are the same in all groups, and have labels of one study"
        remedy = "Count without study=, or pass LabelShift(confusion=Varying())"
        raise InputError("data", "has several studies", needed, remedy)
    groups = all_combinations(groups)
    density = model.classifier_density(groups)
    draws = sample_independent_groups(density, effective_draws=wanted, seed=origin.seed)
    chosen = replace(model, groups=model.variation_of(groups))
    found = independent_group_findings(groups, chosen, draws)
    return GroupPosterior(draws=draws, data=groups, model=chosen, findings=found, origin=origin)


def spread_sensitivity(
    answer: GroupPosterior,
    *,
    scales: Sequence[float] | None = None,
    of: Name | None = None,
    level: float = 0.95,
    engine: Engine = SENSITIVITY_ENGINE,
) -> SpreadSensitivity:
    """Infer again under other priors of the spread between studies: few of them leave the answer to the prior.

    Parameters
    ----------
    answer
        Of groups under `Varying`.
    scales
        Of the half-normal prior of the spread; by default half that of the answer, that itself, and twice that.
    of, level
        The class whose share is reported, by default as in ``answer.summary()``; and the level of the intervals.
    engine
        What draws; by default an effective sample size of 400, which is enough to see a difference. Under a narrower
        prior the draws of the answer are weighted, where so many are left.
    """
    _check.instance_of("answer", answer, GroupPosterior, "Pass what infer(groups) returned")
    _check.level(level)
    confusion = answer.model.confusion
    if not isinstance(confusion, Varying):
        needed = "only a confusion that varies between studies has such a spread"
        raise InputError("answer", f"has confusion={confusion!r}", needed, "Infer with LabelShift(confusion=Varying())")
    chosen = [confusion.spread * times for times in (0.5, 1.0, 2.0)] if scales is None else list(scales)
    found = [_under_scale(answer, confusion, scale, engine) for scale in chosen]
    name = answer.summary().of if of is None else of
    place = answer.classes.index(answer.summary(questions=Questions(of=name)).of)
    return SpreadSensitivity(
        groups=answer.groups,
        of=name,
        level=level,
        scales=tuple(chosen),
        used=confusion.spread,
        mean=np.stack([draws[:, :, place].mean(axis=0) for draws, _ in found]),
        interval=np.stack([interval_of(draws[:, :, place], level) for draws, _ in found]),
        converged=all(is_converged for _, is_converged in found),
    )


def _under_scale(answer: GroupPosterior, confusion: Varying, scale: float, engine: Engine) -> tuple[FloatArray, bool]:
    """Return draws of the shares under another prior of the spread, and whether they converged."""
    if scale == confusion.spread:
        return answer.prevalence, answer.status == "ok"
    if (chosen := _narrowed(answer, confusion.spread, scale, engine.open_choice_of_many)) is not None:
        return answer.prevalence[chosen], True
    model = replace(answer.model, confusion=replace(confusion, spread=scale))
    again = infer_groups(answer.data, model, engine, answer.origin)
    return again.prevalence, again.status == "ok"


def _narrowed(answer: GroupPosterior, used: float, scale: float, wanted: int | None) -> IntArray | None:
    """Return which draws of the answer, some repeated, are draws under a narrower prior; None where too few are.

    Their weights, ``exp(−spread² (1 / scale² − 1 / used²) / 2)``, are at most one. A wider prior would have weights
    without a bound.
    """
    spreads = answer.draws.row_spread
    if scale > used or wanted is None or not spreads.shape[1] or answer.status != "ok":
        return None
    weights = np.exp(-0.5 * (scale**-2 - used**-2) * (spreads**2).sum(axis=1))
    total, number = weights.sum(), len(weights)
    if total**2 / (weights**2).sum() / number * answer.effective_draws.min() < wanted:
        return None
    ends = np.cumsum(weights) / total
    return np.minimum(np.searchsorted(ends, (np.arange(number) + 0.5) / number), number - 1)
