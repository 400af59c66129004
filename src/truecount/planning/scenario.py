"""What may be true, what has been counted already, and what is still to be gathered."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truecount import _check
from truecount._types import FloatArray, Name
from truecount.counts import Counts
from truecount.errors import InputError
from truecount.models import ByPrediction, LabelShift, Model

ANY = "any class"
"""The only stratum of a random sample."""


def strata_of(model: Model, classes: tuple[Name, ...], outputs: tuple[Name, ...]) -> tuple[Name, ...]:
    """Return what labels are counted by: the classes, the outputs, or nothing where they are a random sample."""
    if isinstance(model, LabelShift):
        return classes
    return outputs if isinstance(model, ByPrediction) else (ANY,)


@dataclass(frozen=True, slots=True, eq=False)
class Assumed:
    """Shares and misclassification rates that are taken for true, where there is no pilot.

    Parameters
    ----------
    prevalence
        Shape (classes,): the share of each class; it is scaled to sum to one if it misses that by rounding.
    confusion
        Shape (classes, outputs): P(output | class).
    classes, outputs
        Their names; 0, 1, … by default, and outputs called like the classes where there are as many.

    Examples
    --------
    >>> Assumed.test(prevalence=0.15, sensitivity=0.93, specificity=0.98).confusion
    array([[0.98, 0.02],
           [0.07, 0.93]])
    """

    prevalence: FloatArray
    confusion: FloatArray
    classes: tuple[Name, ...]
    outputs: tuple[Name, ...]

    def __init__(self, prevalence: Any, confusion: Any, classes: Any = None, outputs: Any = None) -> None:
        shares = _check.finite_numbers("prevalence", prevalence, dimensions=1).astype(float)
        rows = _check.finite_numbers("confusion", confusion, dimensions=2).astype(float)
        _require_sum("prevalence", shares[None])
        _require_sum("confusion", rows)
        if len(rows) != len(shares) or len(shares) < 2:
            needed = "it needs a row for each class, and two classes or more"
            found = f"has {len(rows)} rows for {len(shares)} classes"
            raise InputError("confusion", found, needed, "Write [[...], [...]], a row for each share")
        blank = Counts(np.zeros(rows.shape, int), np.zeros(rows.shape[1], int), classes, outputs)
        object.__setattr__(self, "prevalence", shares / shares.sum())
        object.__setattr__(self, "confusion", rows / rows.sum(axis=1, keepdims=True))
        object.__setattr__(self, "classes", blank.classes)
        object.__setattr__(self, "outputs", blank.outputs)

    @classmethod
    def test(cls, *, prevalence: float, sensitivity: float, specificity: float) -> "Assumed":
        """Return what a diagnostic test, or a judge of two classes, is assumed to do."""
        for argument, share in (
            ("prevalence", prevalence),
            ("sensitivity", sensitivity),
            ("specificity", specificity),
        ):
            if not 0 <= share <= 1:
                raise InputError(argument, f"is {share!r}", "it must lie between 0 and 1", "Write 0.15 for 15 %")
        names = ("negative", "positive")
        rows = [[specificity, round(1 - specificity, 15)], [round(1 - sensitivity, 15), sensitivity]]
        return cls([1 - prevalence, prevalence], rows, names, names)


def _require_sum(argument: str, rows: FloatArray) -> None:
    for row in rows:
        if abs(row.sum() - 1) > 1e-6:
            needed = "probabilities must sum to 1"
            raise InputError(argument, f"has {row.tolist()}, which sums to {row.sum():g}", needed, "Check the numbers")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Scenario:
    """What may be true, and what has been counted already.

    Parameters
    ----------
    prevalence, confusion
        Shapes (truths, classes) and (truths, classes, outputs): equally probable truths; one where it is assumed, draws
        of the posterior of a pilot otherwise.
    labeled, unlabeled
        Shapes (classes, outputs) and (outputs,): counted already, and part of the data in the end.
    classes, outputs
        Their names.
    model
        The sampling design of the labels.
    is_assumed
        Whether the truth is assumed.
    of_new_labels
        Shape (truths, classes, outputs): the rows by which new labels come, where these are a study of their own; None
        where they come by `confusion`.
    """

    prevalence: FloatArray
    confusion: FloatArray
    labeled: FloatArray
    unlabeled: FloatArray
    classes: tuple[Name, ...]
    outputs: tuple[Name, ...]
    model: Model
    is_assumed: bool
    of_new_labels: FloatArray | None = None

    @property
    def strata(self) -> tuple[Name, ...]:
        """What labels are counted by: the classes, the outputs, or nothing where they are a random sample."""
        return strata_of(self.model, self.classes, self.outputs)

    @property
    def counted_labels(self) -> FloatArray:
        """Shape (strata,): labels that there are already."""
        by_class: FloatArray = self.labeled.sum(axis=1)
        if isinstance(self.model, LabelShift):
            return by_class
        by_output: FloatArray = self.labeled.sum(axis=0)
        return by_output if isinstance(self.model, ByPrediction) else by_output.sum(keepdims=True)

    @property
    def counted_items(self) -> float:
        """Unlabelled items that there are already."""
        return float(self.unlabeled.sum())

    @property
    def output_shares(self) -> FloatArray:
        """Shape (truths, outputs): the share of each output in the population."""
        shares: FloatArray = np.einsum("sl,slk->sk", self.prevalence, self.confusion)
        return shares

    @property
    def given_output(self) -> FloatArray:
        """Shape (truths, classes, outputs): P(class | output)."""
        joint = self.prevalence[:, :, None] * self.confusion
        shares: FloatArray = joint / np.maximum(joint.sum(axis=1, keepdims=True), 1e-300)
        return shares

    def take(self, places: Any) -> "Scenario":
        """Return some of the truths."""
        new = None if self.of_new_labels is None else self.of_new_labels[places]
        return replace(self.at(self.prevalence[places], self.confusion[places]), of_new_labels=new)

    def at(self, prevalence: FloatArray, confusion: FloatArray) -> "Scenario":
        """Return the same design and data with other truths, by whose rows new labels come too."""
        return replace(self, prevalence=prevalence, confusion=confusion, of_new_labels=None)


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """What is still to be gathered: labels of each stratum, shape (strata,), and unlabelled items."""

    labels: FloatArray
    items: float

    @property
    def vector(self) -> FloatArray:
        """Shape (strata + 1,): labels, then items."""
        return np.append(self.labels, self.items)

    @classmethod
    def of(cls, vector: FloatArray) -> "Sizes":
        """Return the sizes of such a vector."""
        return cls(vector[:-1], float(vector[-1]))

    def rounded(self) -> "Sizes":
        """Return whole numbers, those that are next."""
        return Sizes.of(np.rint(self.vector))


def assumed_scenario(assumed: Assumed, model: Model) -> Scenario:
    """Return what is assumed as the only truth, with nothing counted yet."""
    return Scenario(
        prevalence=assumed.prevalence[None],
        confusion=assumed.confusion[None],
        labeled=np.zeros(assumed.confusion.shape),
        unlabeled=np.zeros(assumed.confusion.shape[1]),
        classes=assumed.classes,
        outputs=assumed.outputs,
        model=model,
        is_assumed=True,
    )
