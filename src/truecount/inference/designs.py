"""Draws for labels that tell P(class | output) rather than P(output | class): closed form, nothing to converge."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from truecount._types import FloatArray
from truecount.counts import Counts
from truecount.counts.weights import effective_by_output, effective_outputs
from truecount.errors import InputError
from truecount.inference.draws import Draws, confusion_stride, dirichlet
from truecount.models import Prior
from truecount.models.discrete import require_labels
from truecount.models.priors import require_prior

Design: TypeAlias = Literal["label_shift", "same_population", "by_prediction"]
DESIGNS: tuple[Design, ...] = ("label_shift", "same_population", "by_prediction")


@dataclass(frozen=True, slots=True, eq=False)
class GivenOutput:
    """The posterior where P(class | output) carries over: ``ρ[·|k] ~ Dir(prior_k + F[·,k])``, ``q ~ Dir(1/K + n)``.

    Parameters
    ----------
    labeled
        Shape (classes, outputs): labelled items; weighted ones at the effective size of each output.
    seen
        Shape (outputs,): items whose outputs tell the shares of the outputs.
    prior
        Shape (classes, outputs): concentration of the classes of each output.
    """

    labeled: FloatArray
    seen: FloatArray
    prior: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Shape (classes,): the mean of ``π = Σ_k q_k ρ[·|k]``."""
        rho, outputs = self.labeled + self.prior, self.seen + 1 / len(self.seen)
        shares: FloatArray = rho / rho.sum(axis=0) @ (outputs / outputs.sum())
        return shares


def given_output(counts: Counts, prior: Prior, design: Design) -> GivenOutput:
    """Put counts and prior together where P(class | output) carries over.

    Unlabelled items tell the shares of the outputs, and labelled ones too where both are samples of one population;
    weighted ones count at the effective size of one sample. By default a class l has for each output
    ``m_l + 1/(L·K)`` items where labels were sampled by output: m is its share by the N labels themselves,
    ``m_l = (N·Σ_k q_k F_lk/F_k + 1/L) / (N + 1)``. In a random sample rare outputs have few labels, which m would draw
    towards the other outputs: there a class has ``1/(2·L)``. One even item for each output would add K/L items to a
    class however rare it is (``benchmarks/designs.py``).
    """
    require_prior(prior)
    if prior != Prior(given_output=prior.given_output):
        raise InputError(
            "prior",
            "has a prior of label shift",
            f"with design={design!r} only the classes of each output have a prior",
            "Pass Prior(given_output=...), or leave it out",
        )
    labeled, unlabeled = effective_by_output(counts)
    require_labels(labeled, "the classes of each output", "Label a sample of the population")
    seen = unlabeled + effective_outputs(counts) if design == "same_population" else unlabeled
    concentration = prior.given_output_for(counts)
    if concentration is None:
        is_sample = design == "same_population"
        concentration = np.full(labeled.shape, 0.5 / len(labeled)) if is_sample else _pooled(labeled, seen)
    return GivenOutput(labeled, seen, concentration)


def _pooled(labeled: FloatArray, seen: FloatArray) -> FloatArray:
    """Shape (classes, outputs): one item divided as the classes are, and one spread evenly over the table."""
    items, (n_classes, n_outputs) = labeled.sum(axis=0), labeled.shape
    weight = np.where(items > 0, seen + 1 / n_outputs, 0.0)
    shares = labeled / np.maximum(items, 1e-300) @ weight / max(weight.sum(), 1e-300)
    pooled = (items.sum() * shares + 1 / n_classes) / (items.sum() + 1)
    return np.repeat((pooled + 1 / labeled.size)[:, None], n_outputs, axis=1)


def design_draws(model: GivenOutput, design: Design, *, draws: int, seed: int) -> Draws:
    """Draw the shares of the classes, ``π = Σ_k q_k ρ[·|k]``.

    Parameters
    ----------
    model
        What `given_output` makes of counts and prior.
    design
        ``"same_population"`` or ``"by_prediction"``, for the record.
    draws, seed
        How many, and from which seed.
    """
    rng = np.random.default_rng(seed)
    outputs = dirichlet(rng, model.seen + 1 / len(model.seen), (draws,))
    classes = dirichlet(rng, (model.labeled + model.prior).T, (draws,))
    joint = (outputs[:, :, None] * classes).transpose(0, 2, 1)
    prevalence = joint.sum(axis=2)
    stride = confusion_stride(draws, model.labeled.size)
    return Draws(
        prevalence=prevalence,
        confusion=_rows(joint[::stride], prevalence[::stride]),
        stride=stride,
        effective=np.full(len(model.labeled), float(draws)),
        record={"engine": "closed form", "design": design},
    )


def _rows(joint: FloatArray, prevalence: FloatArray) -> FloatArray:
    """P(output | class), even where a class has no share to speak of."""
    even = np.full_like(joint, 1 / joint.shape[2])
    rows: FloatArray = np.divide(joint, prevalence[..., None], out=even, where=prevalence[..., None] > 0)
    return rows
