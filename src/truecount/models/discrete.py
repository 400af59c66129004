"""The model of Ziegler & Czyż on counts: a posterior density of the prevalence and the confusion."""

from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray
from truecount.counts import Counts
from truecount.counts.weights import effective_counts
from truecount.errors import InputError
from truecount.models.priors import Prior


@dataclass(frozen=True, slots=True)
class Density:
    """The posterior of prevalence π and confusion φ, up to a constant.

    ``Dir(π; prevalence) · Π_l Dir(φ_l; rows_l) · Π_k (φᵀπ)_k ^ unlabeled_k``

    Parameters
    ----------
    prevalence
        Shape (classes,): Dirichlet concentration of π.
    rows
        Shape (classes, outputs): Dirichlet concentration of each φ row, labelled counts included.
    unlabeled
        Shape (outputs,): unlabelled counts.
    known
        Shape (classes, outputs): rows of φ that are known, NaN in those to be learned.
    """

    prevalence: FloatArray
    rows: FloatArray
    unlabeled: FloatArray
    known: FloatArray

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.rows.shape[0]

    @property
    def n_outputs(self) -> int:
        """How many outputs there are."""
        return self.rows.shape[1]

    @property
    def is_known(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Shape (classes,): whether a class's row is known."""
        return ~np.isnan(self.known[:, 0])

    def log_likelihood(self, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
        """Log-likelihood of the unlabelled counts at each draw; shapes (..., L) and (..., L, K) give (...)."""
        outputs = np.einsum("...l,...lk->...k", prevalence, confusion)
        return _power_sum(self.unlabeled, outputs)

    def log_joint(self, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
        """Log-density at each draw, up to a constant, with respect to the simplices."""
        free = ~self.is_known
        rows = _power_sum(self.rows[free] - 1, confusion[..., free, :]).sum(axis=-1)
        prior = _power_sum(self.prevalence - 1, prevalence)
        total: FloatArray = self.log_likelihood(prevalence, confusion) + rows + prior
        return total


def _power_sum(exponents: FloatArray, values: FloatArray) -> FloatArray:
    """``Σ exponents · log(values)`` over the last axis, where ``0 · log 0`` is 0."""
    with np.errstate(divide="ignore"):
        logs = np.log(values)
    product = np.multiply(exponents, logs, where=exponents != 0, out=np.zeros(np.broadcast_shapes(exponents.shape, logs.shape)))
    total: FloatArray = product.sum(axis=-1)
    return total


def density(counts: Counts, prior: Prior) -> Density:
    """Put counts and prior together; weighted counts enter at their effective size."""
    labeled, unlabeled = effective_counts(counts)
    known = prior.known_for(counts)
    if not labeled.sum() and np.isnan(known).any():
        raise InputError(
            "labeled",
            "holds no labelled items",
            "the outputs of each class must be learned from some",
            "Label a sample, or give Prior.known_confusion(...)",
        )
    return Density(prior.prevalence_for(counts), prior.confusion_for(counts) + labeled, unlabeled, known)
