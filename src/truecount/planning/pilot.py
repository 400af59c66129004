"""Truths that a pilot leaves open: draws of its posterior, with what it counted."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar, cast

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.counts import Counts
from truecount.counts.weights import effective_by_output, effective_counts
from truecount.inference.choose import Auto
from truecount.inference.closed_form import sample_closed_form
from truecount.inference.draws import Draws
from truecount.inference.importance.resample import normalised, resample
from truecount.models import LabelShift, Model
from truecount.models.given_output import OutputModel
from truecount.models.priors import LEARNED
from truecount.planning.scenario import Scenario

Kind = TypeVar("Kind", bound=Model)
TRUTHS = 1024
"""Draws of the pilot's posterior."""
ROWS_STREAM = 2
"""Sets the random numbers that rows are resampled by apart from others of the same seed."""


def pilot_scenario(counts: Counts, model: Model, seed: int) -> Scenario:
    """Return draws of the posterior of a pilot, which is part of the data in the end."""
    drawn = posterior_draws(counts, believed(model, counts), seed)
    prevalence, confusion = drawn.prevalence[:: drawn.stride], drawn.confusion
    if isinstance(model, LabelShift):
        items, concentration = effective_counts(counts)[1], model.prior.prevalence_for(counts)
        kept = untilted(confusion, [items], concentration, seed)
        prevalence, confusion = prevalence[kept], confusion[kept]
    return scenario_of(counts, model, prevalence, confusion)


def believed(model: Kind, counts: Counts) -> Kind:
    """Return the model whose posterior says what may be true: flat rows become learned ones, unless some are known.

    A flat prior takes rates from 0 to 1 for equally probable and adds an error to every few labels. For most
    classifiers that forecasts intervals that are too wide (``benchmarks/plan.py``); the inference afterwards has the
    prior that was asked for.
    """
    if not isinstance(model, LabelShift) or model.prior.known is not None:
        return model
    if model.prior.resolved(counts).confusion in (1, "flat"):
        return replace(model, prior=replace(model.prior, confusion=LEARNED))
    return model


def untilted(
    confusion: FloatArray, populations: Sequence[FloatArray], concentration: FloatArray, seed: int
) -> IntArray:
    """Return positions of draws of the rows, resampled so that unlabelled items do not make the rows more alike.

    A flat prior on shares has the height ``1/|det φ|`` over the shares of outputs: rows get the more probable, the more
    alike they are, wherever the outputs lie between them. Rates of real classifiers are not drawn like that, so that
    what is believed of them would be too bad. The factor is the volume that items leave to the shares,
    ``det(P + E D Eᵀ)^−½`` with the precision P of the prior, the differences E of the rows, and the items D over the
    shares of their outputs. Each draw is weighed by its inverse, once for every population.

    Parameters
    ----------
    confusion
        Shape (draws, classes, outputs).
    populations
        Unlabelled items of each, shape (outputs,).
    concentration
        Shape (classes,): of the prior of their shares.
    seed
        Of what is picked.
    """
    edges = confusion[:, 1:] - confusion[:, :1]
    mean = concentration / concentration.sum()
    precision = (concentration.sum() + 1) * (np.diag(1 / mean[1:]) + 1 / mean[0])
    volumes = np.zeros(len(confusion))
    for items in populations:
        weight = items.sum() * (items.sum() + len(items)) / (items + 1)
        volumes += np.linalg.slogdet(precision + np.einsum("sik,k,sjk->sij", edges, weight, edges))[1] / 2
    return resample(normalised(volumes), len(volumes), np.random.default_rng((seed, ROWS_STREAM)))


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
