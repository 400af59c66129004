"""Draws for labels that tell P(class | output) rather than P(output | class): closed form, nothing to converge."""

from typing import Literal, TypeAlias

import numpy as np

from truecount._types import FloatArray
from truecount.counts import Counts
from truecount.counts.weights import effective_by_output, effective_outputs
from truecount.inference.draws import Draws, confusion_stride, dirichlet
from truecount.models import Density

Design: TypeAlias = Literal["label_shift", "same_population", "by_prediction"]
DESIGNS: tuple[Design, ...] = ("label_shift", "same_population", "by_prediction")


def design_draws(counts: Counts, model: Density, design: Design, *, draws: int, seed: int) -> Draws:
    """Draw the shares of the classes where P(class | output) carries over to the unlabelled items.

    ``ρ[·|k] ~ Dir(1/L + F[·,k])``, ``q ~ Dir(1/K + n)``, plus the labelled items' outputs where both are samples of one
    population, and ``π = Σ_k q_k ρ[·|k]``. The priors weigh one item each.

    Parameters
    ----------
    counts
        Weighted ones enter at their effective size: labels output by output for ρ, and all as one sample for q.
    model
        Of the same counts; only its shape is used.
    design
        ``"same_population"`` or ``"by_prediction"``.
    draws, seed
        How many, and from which seed.
    """
    rng = np.random.default_rng(seed)
    labeled, unlabeled = effective_by_output(counts)
    seen = unlabeled + effective_outputs(counts) if design == "same_population" else unlabeled
    outputs = dirichlet(rng, seen + 1 / len(seen), (draws,))
    given_output = dirichlet(rng, labeled.T + 1 / len(labeled), (draws,))
    joint = (outputs[:, :, None] * given_output).transpose(0, 2, 1)
    prevalence = joint.sum(axis=2)
    stride = confusion_stride(draws, model)
    return Draws(
        prevalence=prevalence,
        confusion=_rows(joint[::stride], prevalence[::stride]),
        stride=stride,
        effective=np.full(len(labeled), float(draws)),
        record={"engine": "closed form", "design": design},
    )


def _rows(joint: FloatArray, prevalence: FloatArray) -> FloatArray:
    """P(output | class), even where a class has no share to speak of."""
    even = np.full_like(joint, 1 / joint.shape[2])
    rows: FloatArray = np.divide(joint, prevalence[..., None], out=even, where=prevalence[..., None] > 0)
    return rows
