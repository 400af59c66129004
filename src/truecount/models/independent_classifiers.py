"""Several classifiers taken to err independently of each other, given the true class."""

from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any, ClassVar

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.counts import Combinations, Counts, Groups
from truecount.counts.classifiers import Data, sum_outputs
from truecount.counts.weights import effective_groups
from truecount.errors import InputError
from truecount.models.label_shift import Density, LabelShift, require_fixed_prior
from truecount.models.model import INDEPENDENT, NOT_BY_OUTPUT, RIGHT_LABELS, SAME_ROWS, Assumption
from truecount.models.priors import Prior
from truecount.models.variation import Independent, Pooled, imputed_groups, require_imputed_groups

MOST_COMBINATIONS = 1000


@dataclass(frozen=True, slots=True)
class ClassifierDensity:
    """What is known of each classifier's rows and of the shares.

    Parameters
    ----------
    values
        Shape (outputs, classifiers): which of its values each classifier has in each combination.
    rows
        Of each classifier, shape (classes, values): Dirichlet concentrations, labelled items included.
    prevalence
        Shape (classes,): Dirichlet concentrations.
    unlabeled
        Shape (groups, outputs): items.
    spread
        Scale of the half-normal prior of the spread between groups around a centre; None where each group has the prior
        `prevalence` by itself.
    """

    values: IntArray
    rows: tuple[FloatArray, ...]
    prevalence: FloatArray
    unlabeled: FloatArray
    spread: float | None = None


@dataclass(frozen=True, slots=True)
class IndependentClassifiers(LabelShift):
    """Several classifiers whose errors are independent of each other, given the true class.

    Rows of the joint confusion are products of the rows of each classifier. Where classifiers err on the same items, as
    most do, the interval is far too narrow; `infer` tests it on the labelled items, and a finding says so. `LabelShift`
    assumes nothing of the kind.

    Parameters
    ----------
    prior
        Of the prevalence, with concentrations that are not learned; `rows` is that of the confusion.
    groups
        ``Pooled(kind="dirichlet")``, the default from three groups on, or `Independent`.
    confusion
        None: the classifiers are the same in all groups.
    rows
        Concentration of each classifier's rows; 1 is flat.
    """

    name: ClassVar[str] = "independent_classifiers"
    sampling: ClassVar[str] = "labelled items come from another population, or are stratified by class"
    assumptions: ClassVar[tuple[Assumption, ...]] = (
        Assumption(
            "Given the true class, the classifiers err independently of each other.",
            "Where they err on the same items, each of them counts as more than it knows, and the interval is too "
            "narrow. The labelled items test this; leave the assumption out where they contradict it.",
        ),
        SAME_ROWS,
        NOT_BY_OUTPUT,
        RIGHT_LABELS,
        INDEPENDENT,
    )
    method: ClassVar[str] = (
        "All mixes of classes that could have led to these outputs were weighed by how well they explain the counts, "
        "together with all misclassification rates of each classifier that fit the labels, taken to be independent of "
        "each other."
    )

    rows: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        LabelShift.__post_init__(self)
        require_fixed_prior(self.prior, "classifiers that err independently")
        require_imputed_groups(self.groups, self.confusion, "classifiers that err independently")
        if self.prior.confusion != Prior().confusion:
            needed = "each classifier has rows of its own, and no joint ones"
            raise InputError("prior", "is one of the confusion", needed, "Pass Prior(prevalence=...), and rows=...")
        if not isinstance(self.rows, int | float) or isinstance(self.rows, bool) or not 0 < self.rows <= 1e9:
            raise InputError("rows", f"is {self.rows!r:.60}", "it must be a number above 0", "Pass rows=1")

    def density(self, counts: Counts) -> Density:
        """Refuse: rows of the joint confusion are products, which no such density says."""
        raise self._no_density("the rows of each classifier")

    def classifier_density(self, counts: Counts | Groups) -> ClassifierDensity:
        """Put counts of all combinations, as `all_combinations` returns them, and prior together."""
        found = counts.combinations
        if found is None:
            needed = "it takes the outputs of several classifiers"
            raise InputError("model", "is IndependentClassifiers()", needed, "Count with prediction=[...]")
        if isinstance(counts, Groups):
            labeled, unlabeled = effective_groups(counts)
            labeled, whole = labeled.sum(axis=0), counts.total
        else:
            labeled, items = counts.effective
            unlabeled, whole = items[None], counts
        values = np.column_stack(
            [[found.values_of(at).index(each[at]) for each in found.parts] for at in range(len(found.columns))]
        )
        rows = tuple(self.rows + labeled @ np.eye(column.max() + 1)[column] for column in values.T)
        variation = self.variation_of(counts)
        spread = variation.spread if isinstance(variation, Pooled) else None
        return ClassifierDensity(values, rows, self.prior.fixed.prevalence_for(whole), unlabeled, spread)

    def variation_of(self, counts: Counts | Groups) -> Pooled | Independent:
        """Return how groups vary: by default around a common centre, from three groups on."""
        return imputed_groups(self.groups, len(counts) if isinstance(counts, Groups) else 1)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {**LabelShift.to_dict(self), "name": self.name, "rows": self.rows}


def all_combinations(counts: Data) -> Data:
    """Return counts with every combination of the values that occur, those that were not seen with zeros."""
    found: Combinations | None = counts.combinations
    if found is None:
        return counts
    values = [found.values_of(at) for at in range(len(found.columns))]
    if prod(map(len, values)) > MOST_COMBINATIONS:
        needed = f"at most {MOST_COMBINATIONS:,} are listed"
        raise InputError(
            "prediction", f"makes {prod(map(len, values)):,} combinations", needed, "Use fewer classifiers"
        )
    columns: tuple[str, ...] = found.columns
    seen: tuple[tuple[Any, ...], ...] = found.parts
    more: tuple[tuple[Any, ...], ...] = tuple(
        each for each in product(*values) if each not in seen and set(each) != {None}
    )
    if not more:
        return counts
    parts: Combinations = Combinations(columns, (*seen, *more))
    outputs = (*counts.outputs, *parts.names[len(counts.outputs) :])
    return sum_outputs(counts, np.arange(len(counts.outputs)), outputs, parts)
