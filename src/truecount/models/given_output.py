"""Models of labels from the population itself: P(class | output) carries over, and the posterior has a closed form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from truecount._types import FloatArray
from truecount.counts import Counts
from truecount.counts.weights import effective_by_output, effective_outputs
from truecount.models.label_shift import require_labels
from truecount.models.model import INDEPENDENT, RIGHT_LABELS, Assumption, Model
from truecount.models.priors import concentrations, filled, one_for_each

Concentration = float | Sequence[Any] | Mapping[Any, float] | None


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
        shares: FloatArray = self.classes_given_output @ self.output_shares
        return shares

    @property
    def output_shares(self) -> FloatArray:
        """Shape (outputs,): the mean of q."""
        outputs = self.seen + 1 / len(self.seen)
        shares: FloatArray = outputs / outputs.sum()
        return shares

    @property
    def classes_given_output(self) -> FloatArray:
        """Shape (classes, outputs): the mean of ρ."""
        rho = self.labeled + self.prior
        shares: FloatArray = rho / rho.sum(axis=0)
        return shares

    @property
    def strength(self) -> FloatArray:
        """Shape (outputs,): labels, those of the prior among them, that tell the classes of each output."""
        strength: FloatArray = (self.labeled + self.prior).sum(axis=0)
        return strength

    @property
    def sd(self) -> FloatArray:
        """Shape (classes,): the standard deviation of π."""
        given, share, items = self.classes_given_output, self.output_shares, float(self.seen.sum()) + 1
        squares = (np.outer(share, share) * items + np.diag(share)) / (items + 1)
        within = given * (1 - given) / (self.strength + 1) @ np.diag(squares)
        variance: FloatArray = within + np.einsum("lj,jk,lk->l", given, squares, given) - self.mean**2
        return np.sqrt(np.maximum(variance, 0.0))


@dataclass(frozen=True, slots=True)
class OutputModel(Model):
    """What both designs have in common; `given_output` is the concentration of P(class | output)."""

    carries_over: ClassVar[str] = "P(class | output)"
    method: ClassVar[str] = (
        "The labelled items come from the population itself, so they show directly which share of the items with each "
        "output belongs to each class. These shares and those of the outputs are uncertain; all that fit the counts "
        "were weighed by how well they do."
    )

    labels_tell_outputs: ClassVar[bool] = False
    """Whether labelled items tell the shares of the outputs too."""

    given_output: Concentration = None

    def __post_init__(self) -> None:
        if self.given_output is not None:
            object.__setattr__(self, "given_output", concentrations("given_output", self.given_output))

    def closed_form(self, counts: Counts) -> GivenOutput:
        """Put counts and prior together; weighted items count at the effective size of one sample."""
        labeled, unlabeled = effective_by_output(counts, labels_tell_outputs=self.labels_tell_outputs)
        require_labels(labeled, "the classes of each output", "Label a sample of the population")
        seen = self._seen(counts, unlabeled)
        prior = self.prior_for(counts)
        return GivenOutput(labeled, seen, self._default_prior(labeled, seen) if prior is None else prior)

    def prior_for(self, counts: Counts) -> FloatArray | None:
        """Shape (classes, outputs): concentration of the classes of each output; None where it is the default."""
        value, shape = self.given_output, counts.labeled.shape
        if value is None:
            return None
        if isinstance(value, tuple) and any(isinstance(row, tuple) for row in value):
            return filled("given_output", value, shape, "Pass a row for each class, a column for each output")
        return np.repeat(one_for_each("given_output", value, counts.classes, "class")[:, None], shape[1], axis=1)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"name": self.name, "given_output": self.given_output}

    def _seen(self, counts: Counts, unlabeled: FloatArray) -> FloatArray:
        raise NotImplementedError

    def _default_prior(self, labeled: FloatArray, seen: FloatArray) -> FloatArray:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class SamePopulation(OutputModel):
    """Labels are a random sample of the population itself: P(class | output) carries over, and labels show q too.

    Parameters
    ----------
    given_output
        Concentration of P(class | output): a number for all cells, one number a class (a sequence, or a mapping by
        class name), or a matrix (class × output). None, the default, is half an item for each output, ``1/(2·L)`` for
        each class: rare outputs have few labels in a random sample, and pooling would draw them towards the others.

    Examples
    --------
    >>> SamePopulation().closed_form(Counts([[8, 2], [2, 8]], [30, 20])).mean.round(3)
    array([0.54, 0.46])
    """

    name: ClassVar[str] = "same_population"
    labels_tell_outputs: ClassVar[bool] = True
    sampling: ClassVar[str] = "a random sample of this population"
    assumptions: ClassVar[tuple[Assumption, ...]] = (
        Assumption(
            "Labelled items are a random sample of the population itself.",
            "If they come from elsewhere, or some were likelier to be labelled than others, the answer is wrong.",
        ),
        RIGHT_LABELS,
        INDEPENDENT,
    )

    def _seen(self, counts: Counts, unlabeled: FloatArray) -> FloatArray:
        return unlabeled + effective_outputs(counts)

    def _default_prior(self, labeled: FloatArray, seen: FloatArray) -> FloatArray:
        return np.full(labeled.shape, 0.5 / len(labeled))


@dataclass(frozen=True, slots=True)
class ByPrediction(OutputModel):
    """Labels are stratified by output, from the population itself: P(class | output) carries over.

    Parameters
    ----------
    given_output
        Concentration of P(class | output), as in `SamePopulation`. None, the default, is for class l ``m_l/2 +
        1/(2·K)`` items in each output, where m is its share by the N labels themselves, ``m_l = (N·Σ_k q_k F_lk/F_k +
        1/L) / (N + 1)``: half an item for each class in the whole table, as in Jeffreys' prior of one share, and half
        an item for each output divided as the classes are. One even item for each output would add K/L items to a
        class however rare it is (``benchmarks/designs.py``).

    Examples
    --------
    >>> ByPrediction().closed_form(Counts([[8, 2], [2, 8]], [30, 20])).mean.round(3)
    array([0.556, 0.444])
    """

    name: ClassVar[str] = "by_prediction"
    sampling: ClassVar[str] = "a sample of this population, stratified by output"
    assumptions: ClassVar[tuple[Assumption, ...]] = (
        Assumption(
            "Labelled items come from the population itself, chosen at random among those of one output.",
            "How many of each output were labelled does not matter. If they come from elsewhere, the answer is wrong.",
        ),
        RIGHT_LABELS,
        INDEPENDENT,
    )

    def _seen(self, counts: Counts, unlabeled: FloatArray) -> FloatArray:
        return unlabeled

    def _default_prior(self, labeled: FloatArray, seen: FloatArray) -> FloatArray:
        """Half an item divided as the classes are, and half an item of each class spread evenly over the outputs."""
        items, (n_classes, n_outputs) = labeled.sum(axis=0), labeled.shape
        weight = np.where(items > 0, seen + 1 / n_outputs, 0.0)
        shares = labeled / np.maximum(items, 1e-300) @ weight / max(weight.sum(), 1e-300)
        pooled = (items.sum() * shares + 1 / n_classes) / (items.sum() + 1)
        return np.repeat((pooled / 2 + 0.5 / n_outputs)[:, None], n_outputs, axis=1)
