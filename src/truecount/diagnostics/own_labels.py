"""Labels of the groups themselves: whether they are, or could be, random samples of the groups' items."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from truecount._advice import Action, Advice
from truecount._chi_square import chi_square_quantile
from truecount._types import FloatArray, IntArray
from truecount._wording import listed, percent
from truecount.counts.groups import Groups
from truecount.counts.weights import effective_groups, effective_label_outputs, group_design_effects
from truecount.diagnostics.homogeneity import counted_apart, study_option, table_deviance
from truecount.diagnostics.shift import CHEAP_LEVEL
from truecount.diagnostics.significance import CAUTION
from truecount.models import LabelShift, Varying
from truecount.reading.names import group_name
from truecount.results.finding import Finding

WORTHWHILE = 10
"""Labels of a group, on average, from which on its own classes tell much of its shares."""


@dataclass(frozen=True, slots=True, eq=False)
class OwnLabels:
    """Outputs of the labelled and of the unlabelled items of each group that has both.

    Parameters
    ----------
    at
        Which groups these are.
    outputs
        Shape (groups, 2, outputs): labelled, then unlabelled, at their effective size.
    """

    at: IntArray
    outputs: FloatArray

    @classmethod
    def of(cls, groups: Groups) -> "OwnLabels | None":
        """Return them; None where no group has labels of its own, or where weights hide how many items there are."""
        if groups.is_weighted or len(groups.outputs) < 2:
            return None
        unlabeled = effective_groups(groups)[1]
        names: tuple[Any, ...] = groups.studies or ()
        labeled = effective_label_outputs(groups)
        if groups.label_groups is not None:
            names = groups.label_groups.keys
            of_labels, of_groups = group_design_effects(groups)
            worst = max(each.divisor for each in [of_labels, *of_groups])  # clusters of these labels are not told apart
            labeled = groups.label_groups.labeled.sum(axis=1) / worst
        place = {name: at for at, name in enumerate(names)}
        found = [
            (at, labeled[place[name]])
            for at, name in enumerate(groups.groups)
            if name in place and labeled[place[name]].any() and unlabeled[at].any()
        ]
        if not found:
            return None
        at = np.array([each for each, _ in found])
        return cls(at, np.stack([np.array([own for _, own in found]), unlabeled[at]], axis=1))

    def differing(self) -> IntArray:
        """Return which of them have labelled items with other outputs than the unlabelled ones, beyond chance."""
        bound = chi_square_quantile(self.outputs.shape[2] - 1, 1 - CHEAP_LEVEL / len(self.at))
        return np.flatnonzero(table_deviance(np.rint(self.outputs).astype(np.int64)) > bound)

    def look_random(self) -> bool:
        """Whether all together are as random samples would be."""
        freedom = len(self.at) * (self.outputs.shape[2] - 1)
        total = table_deviance(np.rint(self.outputs).astype(np.int64)).sum()
        return bool(total <= chi_square_quantile(freedom, 1 - CAUTION))


def own_labels_finding(groups: Groups, model: LabelShift) -> Finding | None:
    """Find labels that are said to be random samples and are not, or that could be and are not said to be."""
    own = OwnLabels.of(groups)
    if own is None:
        return None
    if isinstance(model.confusion, Varying) and model.confusion.random_labels:
        return _not_random(groups, own)
    return _perhaps_random(groups, model, own)


def _not_random(groups: Groups, own: OwnLabels) -> Finding | None:
    found = own.differing()
    if not len(found):
        return None
    names = [group_name(groups.groups[at]) for at in own.at[found]]
    shares = own.outputs[found] / own.outputs[found].sum(axis=2, keepdims=True)
    apart = np.abs(shares[:, 0] - shares[:, 1])
    worst, output = np.unravel_index(apart.argmax(), apart.shape)
    there, elsewhere = shares[worst, :, output]
    return Finding(
        "not-a-random-sample",
        "serious",
        f"The labelled items of {listed(names)} are no random sample of the group: in {names[worst]} {percent(there)} "
        f"of them have the output {groups.outputs[output]!s:.60}, and {percent(elsewhere)} of the unlabelled items.",
        {"groups": names, "output": groups.outputs[output], "shares": [float(there), float(elsewhere)]},
        Advice("Let labels tell error rates only: {}.", Action("Varying()", "leave out --random-labels")),
    )


def _perhaps_random(groups: Groups, model: LabelShift, own: OwnLabels) -> Finding | None:
    """Tell of labels that would say more, where most groups have enough and nothing contradicts it."""
    has_items = groups.unlabeled.any(axis=1)
    labels = own.outputs[:, 0].sum()
    is_covered = 2 * len(own.at) >= has_items.sum() and len(own.at) > 1
    if not is_covered or labels < WORTHWHILE * len(own.at) or groups.times is not None or not own.look_random():
        return None
    count = "" if isinstance(model.confusion, Varying) else f"{counted_apart(groups.by)}, and "
    command = "" if isinstance(model.confusion, Varying) else f"{study_option(groups.by)} "
    return Finding(
        "labels-of-groups",
        "info",
        f"{len(own.at)} of {has_items.sum()} groups have labels of their own, with outputs like those of their "
        "unlabelled items. Here these labels tell only how the classifier errs; a random sample of a "
        "group's items would tell its shares too.",
        {"groups": len(own.at), "labels": float(labels)},
        Advice(
            "If they were picked at random in each group, use {}.",
            Action(
                f"{count}LabelShift(confusion=Varying(random_labels=True))",
                f"{command}--random-labels",
                "estimate",
                page="an estimate in which labels of a group are a random sample of it",
            ),
        ),
    )
