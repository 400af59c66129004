"""Truths that a pilot leaves open: draws of its posterior, with what it counted."""

from dataclasses import replace
from typing import Any, TypeVar, cast

import numpy as np

from truecount.counts import Counts, Groups
from truecount.counts.weights import effective_by_output, effective_counts
from truecount.inference.choose import Auto
from truecount.inference.closed_form import sample_closed_form
from truecount.inference.draws import Draws
from truecount.inference.importance.many import own_seeds
from truecount.models import LabelShift, Model
from truecount.models.given_output import OutputModel
from truecount.planning.scenario import Scenario

Kind = TypeVar("Kind", bound=Model)
TRUTHS = 1024
"""Draws of the pilot's posterior."""


def pilot_scenario(counts: Counts, model: Model, seed: int) -> Scenario:
    """Return draws of the posterior of a pilot, which is part of the data in the end."""
    return _scenario(counts, model, posterior_draws(counts, believed(model, counts), seed))


def believed(model: Kind, counts: Counts) -> Kind:
    """Return the model whose posterior says what may be true: flat rows become sparse ones.

    A flat prior takes rates from 0 to 1 for equally probable and adds an error to every few labels. For most
    classifiers that forecasts intervals that are too wide (``benchmarks/plan.py``); the inference afterwards has the
    prior that was asked for.
    """
    if isinstance(model, LabelShift) and model.prior.resolved(counts).confusion in (1, "flat"):
        return replace(model, prior=replace(model.prior, confusion="sparse"))
    return model


def posterior_draws(counts: Counts, model: Model, seed: int, draws: int = TRUTHS) -> Draws:
    """Draw from the posterior of a pilot."""
    if isinstance(model, LabelShift):
        return Auto(draws).sample(model.density(counts), seed)
    return sample_closed_form(cast("OutputModel", model).closed_form(counts), draws=draws, seed=seed)


def group_scenarios(groups: Groups, model: LabelShift, seed: int) -> dict[Any, Scenario]:
    """Return the same for every group; draws belong together where groups share their labels."""
    named = dict(groups.apart())
    densities = [believed(model, counts).density(counts) for counts in named.values()]
    if groups.shares_labels and len(named) > 1:
        drawn = Auto(TRUTHS).sample_jointly(densities, seed)
    else:
        seeds = own_seeds(seed, len(named))
        drawn = [Auto(TRUTHS).sample(density, own) for density, own in zip(densities, seeds, strict=True)]
    return {group: _scenario(counts, model, draws) for (group, counts), draws in zip(named.items(), drawn, strict=True)}


def _scenario(counts: Counts, model: Model, drawn: Draws) -> Scenario:
    prevalence = drawn.prevalence[:: drawn.stride]
    kept = np.linspace(0, len(prevalence) - 1, min(len(prevalence), TRUTHS)).astype(int)
    labeled, unlabeled = effective_counts(counts) if isinstance(model, LabelShift) else effective_by_output(counts)
    return Scenario(
        prevalence=prevalence[kept],
        confusion=drawn.confusion[kept],
        labeled=labeled,
        unlabeled=unlabeled,
        classes=counts.classes,
        outputs=counts.outputs,
        model=model,
        is_assumed=False,
    )
