"""The model of Ziegler & Czyż, P(output | class) is the same for labelled and unlabelled items, and its density."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from truecount._advice import FIXED_SHARES, PRIOR_OF_ROWS, Advice
from truecount._log_sum import finite_log
from truecount._types import FloatArray
from truecount.counts import Counts
from truecount.errors import InputError
from truecount.models.learned import Learned, learned_prevalence
from truecount.models.model import INDEPENDENT, NOT_BY_OUTPUT, RIGHT_LABELS, SAME_ROWS, Assumption, Model
from truecount.models.priors import LEARNED, Prior, require_prior
from truecount.models.variation import ConfusionChoice, Cut, Independent, Pooled, Variation, Varying, Walk

ROUNDS = 50
"""Of a rough fit, which is only a point to start from."""


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
    learned_rows, learned_prevalence
        Grids of concentrations, where these are learned: the prior is their mixture, and `rows` and `prevalence` are
        one point to start from.
    """

    prevalence: FloatArray
    rows: FloatArray
    unlabeled: FloatArray
    known: FloatArray
    learned_rows: Learned | None = None
    learned_prevalence: Learned | None = None

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return len(self.rows)

    @property
    def n_outputs(self) -> int:
        """How many outputs there are."""
        return len(self.unlabeled)

    @property
    def is_known(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Shape (classes,): whether a class's row is known."""
        return ~np.isnan(self.known[:, 0])

    @property
    def mean_confusion(self) -> FloatArray:
        """Shape (classes, outputs): the known rows, and the means of those to be learned, by the labels alone."""
        return np.where(self.is_known[:, None], self.known, self.rows / self.rows.sum(axis=1, keepdims=True))

    def log_likelihood(self, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
        """Log-likelihood of the unlabelled counts at each draw; shapes (..., L) and (..., L, K) give (...)."""
        outputs = np.einsum("...l,...lk->...k", prevalence, confusion)
        return _power_sum(self.unlabeled, outputs)

    def log_joint(self, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
        """Log-density at each draw, up to a constant, with respect to the simplices."""
        free = ~self.is_known
        rows = _power_sum(self.rows[free] - 1, confusion[..., free, :]).sum(axis=-1)
        prior = _power_sum(self.prevalence - 1, prevalence)
        learned = self.log_learned(*(finite_log(shares) for shares in (prevalence, confusion)))
        total: FloatArray = self.log_likelihood(prevalence, confusion) + rows + prior + learned
        return total

    @property
    def is_learning(self) -> bool:
        """Whether a prior's concentrations are learned."""
        return self.learned_rows is not None or self.learned_prevalence is not None

    def log_learned(self, log_prevalence: FloatArray, log_confusion: FloatArray) -> FloatArray | float:
        """Log-prior of each draw where concentrations are learned, over that at `rows` and `prevalence`."""
        of_rows = 0.0 if self.learned_rows is None else self.learned_rows.log_ratio(log_confusion)
        if self.learned_prevalence is None:
            return of_rows
        return of_rows + self.learned_prevalence.log_ratio(log_prevalence[..., None, :])


def _power_sum(exponents: FloatArray, values: FloatArray) -> FloatArray:
    """``Σ exponents · log(values)`` over the last axis, where ``0 · log 0`` is 0."""
    with np.errstate(divide="ignore"):
        logs = np.log(values)
    total: FloatArray = (exponents * np.where(exponents != 0, logs, 0.0)).sum(axis=-1)
    return total


def require_labels(labeled: FloatArray, learned: str, remedy: str) -> None:
    """Refuse counts without a label where something must be learned from some."""
    if not labeled.sum():
        raise InputError("labeled", "holds no labelled items", f"{learned} must be learned from some", remedy)


def density(counts: Counts, prior: Prior) -> Density:
    """Put counts and prior together; weighted counts enter at their effective size.

    >>> density(Counts([[8, 2], [1, 9]], [30, 20]), Prior(confusion=0.5)).rows
    array([[8.5, 2.5],
           [1.5, 9.5]])
    """
    require_prior(prior)
    labeled, unlabeled = counts.effective
    known = prior.known_for(counts)
    if prior.needs_labels(counts):
        require_labels(labeled, "the outputs of each class", Advice("Label a sample, or give {}", PRIOR_OF_ROWS))
    impossible = np.flatnonzero((unlabeled > 0) & (known == 0).all(axis=0))
    if len(impossible):
        raise InputError(
            "known",
            f"gives the output {counts.outputs[impossible[0]]!r} to no class",
            f"{unlabeled[impossible[0]]:.0f} unlabelled items have it",
            "Give it a probability above 0 in some row, however small",
        )
    learned = prior.learned_rows_for(counts)
    prior_rows = prior.confusion_for(counts) if learned is None else learned.reference_rows
    fixed = Density(prior.prevalence_for(counts), prior_rows + labeled, unlabeled, known, learned)
    if prior.resolved(counts).prevalence != LEARNED:
        return fixed
    learned_shares = learned_prevalence(_expected_items(fixed).sum(axis=1))
    return replace(fixed, prevalence=learned_shares.reference_rows[0], learned_prevalence=learned_shares)


def _expected_items(density: Density) -> FloatArray:
    """Shape (classes, outputs): the unlabelled items shared out by a rough fit."""
    confusion = density.mean_confusion
    prevalence = np.full(density.n_classes, 1 / density.n_classes)
    for _ in range(ROUNDS):
        joint = prevalence[:, None] * confusion
        column = joint.sum(axis=0)
        items = joint * np.divide(density.unlabeled, column, out=np.zeros_like(column), where=column > 0)
        prevalence = items.sum(axis=1) + density.prevalence
        prevalence /= prevalence.sum()
    shared_out: FloatArray = items
    return shared_out


@dataclass(frozen=True, slots=True)
class LabelShift(Model):
    """Labels from another population, or stratified by class: P(output | class) carries over.

    Parameters
    ----------
    prior
        Of the prevalence and of the confusion matrix; by default flat, as in the paper, and learned where there are six
        classes or more.
    groups
        How the prevalences of several groups vary: `Pooled` around a learned centre, as a `Walk` in time, or
        `Independent` of each other. By default pooled where there are three groups or more, else independent.
    confusion
        How the confusion of several groups is learned: one for all, from labels and items, by default; `Varying`
        between studies and groups; or `Cut`, from labels alone.

    Examples
    --------
    >>> LabelShift(Prior(confusion="sparse")).density(Counts([[8, 2], [1, 9]], [30, 20])).rows
    array([[8.5, 2.5],
           [1.5, 9.5]])
    """

    name: ClassVar[str] = "label_shift"
    carries_over: ClassVar[str] = "P(output | class)"
    sampling: ClassVar[str] = "labelled items come from another population, or are stratified by class"
    assumptions: ClassVar[tuple[Assumption, ...]] = (
        SAME_ROWS,
        NOT_BY_OUTPUT,
        RIGHT_LABELS,
        INDEPENDENT,
    )
    method: ClassVar[str] = (
        "All mixes of classes that could have led to these outputs were weighed by how well they explain the "
        "counts, together with all misclassification rates that fit the labels, and with the prior. This "
        "is the Bayesian model of Ziegler & Czyż, Bayesian Quantification with Black-Box Estimators (TMLR 2024)."
    )

    prior: Prior = field(default_factory=Prior)
    groups: Variation | None = field(default=None, kw_only=True)
    confusion: ConfusionChoice | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        require_prior(self.prior)
        if not isinstance(self.groups, Pooled | Walk | Independent | None):
            needed = "it must say how groups vary"
            raise InputError("groups", f"is {self.groups!r:.60}", needed, "Pass Pooled(), Walk() or Independent()")
        if not isinstance(self.confusion, Varying | Cut | None):
            needed = "it must say how the confusion of groups is learned"
            raise InputError("confusion", f"is {self.confusion!r:.60}", needed, "Pass Varying() or Cut()")

    def density(self, counts: Counts) -> Density:
        """Return the posterior of prevalence and confusion, up to a constant."""
        return density(counts, self.prior)

    def _no_density(self, drawn: str) -> InputError:
        """Return the error of a model that is no such density."""
        found, remedy = f"is {type(self).__name__}()", "Use infer(data, model), or pass LabelShift()"
        return InputError("model", found, f"it is drawn with {drawn}, by infer alone", remedy)

    def resolved(self, counts: Counts) -> "LabelShift":
        """Return the model with the prior that it has for these counts."""
        return replace(self, prior=self.prior.resolved(counts))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {"name": self.name, "prior": self.prior.to_dict()}


def require_fixed_prior(prior: Prior, of: str) -> None:
    """Refuse rows that are known and concentrations that are learned, where they would be lost."""
    if prior.known is not None:
        needed = f"rows are learned from {of}"
        raise InputError("prior", "has rows that are known", needed, "Leave them out, or pass LabelShift(prior)")
    if prior.prevalence == LEARNED or prior.confusion == LEARNED:
        needed = f"concentrations are fixed for {of}"
        raise InputError("prior", "has learned concentrations", needed, Advice("{}", FIXED_SHARES))
