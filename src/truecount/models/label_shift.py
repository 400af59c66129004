"""The model of Ziegler & Czyż: P(output | class) is the same for labelled and unlabelled items."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from truecount.counts import Counts
from truecount.errors import InputError
from truecount.models.discrete import Density, density
from truecount.models.model import INDEPENDENT, RIGHT_LABELS, Assumption, Model
from truecount.models.priors import LEARNED, Prior, require_prior
from truecount.models.variation import ConfusionChoice, Cut, Independent, Pooled, Variation, Varying, Walk


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
        Assumption(
            "The classifier treats each class alike in both populations.",
            "Of the items of one class, the same share gets each output among the labelled and among the unlabelled "
            "ones; only the mix of classes differs. If the items of a class became harder, the answer is wrong, and "
            "mostly nothing in the counts shows it. To check, label a few items of the population itself.",
        ),
        Assumption(
            "Labelled items were not chosen by their output.",
            "If the labels are stratified by output, this answer must not be used.",
        ),
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
        raise InputError("prior", "has learned concentrations", needed, "Pass a number, such as prevalence=1")
