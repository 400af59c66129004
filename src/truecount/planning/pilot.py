"""Truths that a pilot leaves open: draws of its posterior, with what it counted."""

from dataclasses import replace
from typing import TypeVar, cast

import numpy as np

from truecount._types import FloatArray
from truecount.counts import Counts
from truecount.counts.weights import effective_by_output, effective_counts
from truecount.inference.choose import Auto
from truecount.inference.closed_form import sample_closed_form
from truecount.inference.draws import Draws
from truecount.models import LabelShift, Model
from truecount.models.given_output import OutputModel
from truecount.planning.scenario import Scenario

Kind = TypeVar("Kind", bound=Model)
TRUTHS = 1024
"""Draws of the pilot's posterior."""


def pilot_scenario(counts: Counts, model: Model, seed: int) -> Scenario:
    """Return draws of the posterior of a pilot, which is part of the data in the end."""
    drawn = posterior_draws(counts, believed(model, counts), seed)
    return scenario_of(counts, model, drawn.prevalence[:: drawn.stride], drawn.confusion)


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


def scenario_of(counts: Counts, model: Model, prevalence: FloatArray, confusion: FloatArray) -> Scenario:
    """Return draws of a posterior as truths, with what was counted."""
    kept = np.linspace(0, len(prevalence) - 1, min(len(prevalence), TRUTHS)).astype(int)
    labeled, unlabeled = effective_counts(counts) if isinstance(model, LabelShift) else effective_by_output(counts)
    return Scenario(
        prevalence=prevalence[kept],
        confusion=confusion[kept],
        labeled=labeled,
        unlabeled=unlabeled,
        classes=counts.classes,
        outputs=counts.outputs,
        model=model,
        is_assumed=False,
    )
