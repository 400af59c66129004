"""Labels of the population itself, beside labels from elsewhere that may or may not carry over.

With F[l,k] labels from elsewhere, T[l,k] labelled items of the population, at random or chosen by their output, and
n[k] other items of it, of which only the output is known:

    φ_l ~ Dir(β_l + a F_l)  or  Dir(c_l + a (β_l + F_l - c_l)),    Π (π_l φ_lk)^T_lk · Π_k q_k^n_k,    q = φᵀπ

φ are the rows of the population. A label from elsewhere counts as `a` labels of the population (a normalised power
prior: Ibrahim & Chen 2000), and `a` is learned on a grid. With N labels of a class on average, ``a = s / (s + N)``,
where s is how many labels of the population those of a class from elsewhere are worth, however many they are: rows that
vary between the two as under a Dirichlet distribution of concentration 2s are worth as much. At ``s = ∞`` label shift
holds, and the posterior is that of `LabelShift`; at ``s = 0`` only T tells the rows, as under `SamePopulation` and
`ByPrediction`. The likelihood of T is the same for both designs: whether an item was labelled depends on nothing but
its output, which is seen for all.

The power prior says that rows which drift, drift towards β: that outputs which a class hardly ever has elsewhere become
likely. Where T has none of these it would suggest label shift, however much the other outputs differ. So half of the
prior chance of every finite s is given to rows of the same strength around what labels from elsewhere say: with b_l and
N_l the sums of β_l and F_l, c_l is four fifths of b_l (β_l + F_l) / (b_l + N_l) and a fifth of β_l. At ``s = ∞`` the
two are one.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import Any, ClassVar

import numpy as np

from truecount import _check
from truecount._advice import FIXED_SHARES, LEARNED_SHARES, Advice
from truecount._types import FloatArray
from truecount.counts import Counts, Groups
from truecount.errors import InputError
from truecount.models.label_shift import Density, LabelShift, density
from truecount.models.learned import Learned
from truecount.models.model import INDEPENDENT, RIGHT_LABELS, Assumption
from truecount.models.priors import LEARNED
from truecount.models.variation import Varying

ELSEWHERE = "elsewhere"
OF_GROUPS = "Count with by= and study=[*by, column], and pass infer(*TargetLabels.of_study(groups, value))"
WORTHS = np.append(np.geomspace(1.0, 100.0, 9), inf)
"""How many labels of the population those of a class from elsewhere may be worth."""
CHANCES = np.append(np.full(9, 1 / 12), 1 / 4)
"""Of each before any data: label shift holds with a chance of one in four. Fewer make intervals wider where it holds,
more make them too narrow where it does not (``benchmarks/target_labels.py``). A fixed worth has the power prior."""

AROUND = 0.8
"""How much of what a row has beside the labels is around the row elsewhere, where it drifts around that; the rest is
β, so that no output is nearly impossible, which engines are slow to draw from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetLabels(LabelShift):
    """Labels of the population itself beside labels from elsewhere, which count by what the data say of label shift.

    Parameters
    ----------
    labeled
        Shape (classes, outputs): labelled items of the population, a random sample or chosen by their output. Those
        from elsewhere are ``counts.labeled``.
    counted
        Whether these items are among ``counts.unlabeled`` too; by default they stand beside them. Items chosen by their
        output must be counted there, or have been taken out of it.
    worth
        How many labels of the population the labels of a class from elsewhere are worth at most: None, the default,
        learns it; ``inf`` assumes label shift, 0 leaves labels from elsewhere out.

    Examples
    --------
    >>> TargetLabels(labeled=[[8, 1], [2, 9]], worth=inf).density(Counts([[140, 60], [20, 180]], [600, 400])).rows
    array([[149.,  62.],
           [ 23., 190.]])
    """

    name: ClassVar[str] = "target_labels"
    sampling: ClassVar[str] = "some come from this population, at random or by output, and others from elsewhere"
    assumptions: ClassVar[tuple[Assumption, ...]] = (
        Assumption(
            "Labelled items of the population were chosen at random, or by their output alone.",
            "If some were likelier to be labelled than others with the same output, the answer is wrong.",
        ),
        Assumption(
            "The classifier treats each class alike in both populations, as far as labels show.",
            "Labels from elsewhere count for as much as the labels of the population allow. With few of these, the "
            "answer depends on the prior of how far the two may differ.",
        ),
        RIGHT_LABELS,
        INDEPENDENT,
    )
    method: ClassVar[str] = (
        "All mixes of classes and all misclassification rates were weighed by how well they explain the outputs, the "
        "labelled items of this population, and, as far as these agree with them, the labels from elsewhere."
    )

    labeled: Any = field(kw_only=True)
    counted: bool = field(default=False, kw_only=True)
    worth: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super(TargetLabels, self).__post_init__()
        table = _check.finite_numbers("labeled", self.labeled, dimensions=2)
        if (table != np.rint(table)).any():
            wrong, needed = table[table != np.rint(table)][0], "it must hold whole numbers of items"
            raise InputError("labeled", f"holds {wrong:g}", needed, "Count items")
        object.__setattr__(self, "labeled", tuple(tuple(map(int, row)) for row in table.tolist()))
        if not isinstance(self.counted, bool):
            raise InputError("counted", f"is {self.counted!r:.60}", "it is True or False", "Pass labeled= for a table")
        worth = self.worth
        if worth is not None and (isinstance(worth, bool) or not isinstance(worth, int | float) or not worth >= 0):
            needed = "it is a number of labels, 0 or more, or None to learn it"
            raise InputError("worth", f"is {worth!r:.60}", needed, "Leave it out")
        if self.groups is not None or self.confusion is not None:
            needed = "labels of the population are of one population"
            raise InputError("model", "says how groups vary", needed, OF_GROUPS)

    @classmethod
    def of_study(cls, data: Groups, study: Any, **options: Any) -> "tuple[Counts | Groups, LabelShift]":
        """Return counts and model, where one of several studies labelled the population itself.

        Of several groups, whose studies are told by the columns of the groups and one more, as by
        ``count_table(..., by="model", study=["model", "where"])``, this is the value of that column. Each group's own
        labels are then a random sample of it, and all others are one study: the model is
        ``LabelShift(confusion=Varying(random_labels=True))``, in which rows vary between the two as the data say.

        >>> where = Groups({"here": [[8, 1], [2, 9]], "there": [[140, 60], [20, 180]]}, {"all": [600, 400]})
        >>> counts, model = TargetLabels.of_study(where, "here")
        >>> model.labeled, counts.labeled.sum().item()
        (((8, 1), (2, 9)), 400)
        """
        _check.instance_of("data", data, (Groups,), "Count one column of labels, with study= for where they come from")
        if len(data) > 1:
            return _of_groups(data, study, options)
        studies = list(data.studies or ())
        if study not in studies:
            needed = f"labels come from {', '.join(map(repr, studies)) or 'one study'}"
            raise InputError("study", f"is {study!r}", needed, "Name the one that labelled this population")
        if data.is_weighted or data.clusters is not None:
            raise _plain_only("data")
        table = data.labeled[studies.index(study)]
        elsewhere, names = data.labeled.sum(axis=0) - table, (data.classes, data.outputs)
        counts = Counts(elsewhere, data.unlabeled[0], *names, combinations=data.combinations)
        return counts, cls(labeled=table, **options)

    def density(self, counts: Counts) -> Density:
        """Return the posterior of prevalence and confusion in the population, up to a constant."""
        own = self.table(counts)
        new = counts.unlabeled - (own.sum(axis=0) if self.counted else 0)
        told = partial(replace, counts, unlabeled=new)
        prior = self.prior
        if own.any():
            prior = replace(prior, prevalence=(prior.prevalence_for(counts) + own.sum(axis=1)).tolist())
        if not own.any() or self.worth == inf:
            return density(told(labeled=counts.labeled + own), prior)
        if self.worth == 0 or not counts.labeled.sum():
            return density(told(labeled=own), prior)
        both = density(told(labeled=counts.labeled + own), prior)
        elsewhere = np.where(both.is_known[:, None], 0.0, counts.labeled)
        beliefs = np.where(both.is_known[:, None], 0.0, both.rows - counts.labeled - own)
        per_class = counts.labeled.sum() / len(counts.classes)
        if self.worth is not None:
            share = self.worth / (self.worth + per_class)
            return replace(both, rows=beliefs + share * elsewhere + own, learned_rows=None)
        share, chances = 1 / (1 + per_class / WORTHS[:-1]), CHANCES[:-1] / 2
        one, none = np.ones_like(share), np.zeros_like(share)
        towards, around = np.stack([one, share, none], axis=1), np.stack([share, share, 1 - share], axis=1)
        strength, total = beliefs.sum(axis=1, keepdims=True), beliefs + elsewhere
        means = total / np.where(strength, total.sum(axis=1, keepdims=True), 1.0)
        centre = AROUND * strength * means + (1 - AROUND) * beliefs
        learned = Learned.from_items(
            own.astype(np.float64),
            tables=np.stack([beliefs, elsewhere, centre]),
            weights=np.concatenate([towards, around, [[1.0, 1.0, 0.0]]]),
            log_prior=np.log(np.concatenate([chances, chances, CHANCES[-1:]])),
        )
        return replace(both, rows=learned.reference_rows + own, learned_rows=learned)

    def table(self, counts: Counts) -> Any:
        """Shape (classes, outputs): the labelled items of the population, checked against these counts."""
        table = np.array(self.labeled)
        if counts.is_weighted or counts.clusters is not None:
            raise _plain_only("counts")
        if self.prior.resolved(counts).prevalence == LEARNED:
            needed = "classes of the labelled items are added to a concentration that is fixed"
            raise InputError("prior", Advice("{}", LEARNED_SHARES), needed, Advice("{}", FIXED_SHARES))
        if table.shape != counts.labeled.shape:
            needed = f"it must have a row for each class and a column for each output, {counts.labeled.shape}"
            raise InputError(
                "labeled", f"has shape {table.shape}", needed, "Count it with the same classes and outputs"
            )
        beyond = table.sum(axis=0) > counts.unlabeled
        if self.counted and beyond.any():
            name = counts.outputs[int(np.argmax(beyond))]
            needed = "items that are counted among the unlabelled ones cannot be more"
            raise InputError("labeled", f"has more items of output {name!r} than there are", needed, "Count all items")
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        own = {"labeled": [list(row) for row in self.labeled], "counted": self.counted}
        worth = "label shift" if self.worth == inf else self.worth
        return {"name": self.name, "prior": self.prior.to_dict(), **own, "worth": worth}


def learned_worth(counts: Counts, model: Density, confusion: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return what labels of a class from elsewhere may be worth, and the posterior probability of each, from draws.

    None where it was not learned.
    """
    learned = model.learned_rows
    if learned is None or len(learned.tables) == 2:
        return None
    heights = learned.log_densities(np.log(np.maximum(confusion, 1e-300)))
    weights = np.exp(heights - heights.max(axis=1, keepdims=True))
    probability = (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0)
    finite = len(WORTHS) - 1
    by_worth = np.append(probability[:finite] + probability[finite:-1], probability[-1])
    return counts.labeled.sum() / len(counts.classes) * np.append(learned.own[:finite], 1.0), by_worth


def _of_groups(data: Groups, study: Any, options: dict[str, Any]) -> tuple[Groups, LabelShift]:
    """Return groups with labels of their own, a study each, beside one study of all other labels."""
    if data.is_weighted or data.clusters is not None:
        raise _plain_only("data")
    if set(options) - {"prior"}:
        needed = "labels of groups that are random samples of them count by how rows vary between studies"
        raise InputError("options", f"hold {sorted(options)[0]!r}", needed, "Leave all out but prior=")
    keys = [key if isinstance(key, tuple) else (key,) for key in data.studies or ()]
    own = {key[:-1] if len(key) > 2 else key[0]: at for at, key in enumerate(keys) if key[-1] == study and key[1:]}
    if not set(own) & set(data.groups):
        found, needed = f"is {study!r}, which no labels of a group have", "some groups have labels of their own"
        raise InputError("study", found, needed, OF_GROUPS)
    rest = ELSEWHERE
    while rest in data.groups:
        rest += "'"
    tables = {group: data.labeled[at] for group, at in own.items() if group in data.groups}
    elsewhere = data.labeled.sum(axis=0) - sum(tables.values())
    labeled: dict[Any, Any] = {**tables, rest: elsewhere} if elsewhere.any() else dict(tables)
    unlabeled, names = dict(zip(data.groups, data.unlabeled, strict=True)), (data.classes, data.outputs)
    more: dict[str, Any] = {"times": data.times, "by": data.by, "combinations": data.combinations}
    return Groups(labeled, unlabeled, *names, **more), LabelShift(**options, confusion=Varying(random_labels=True))


def _plain_only(argument: str) -> InputError:
    needed = "labels of the population are counted as whole, independent items"
    return InputError(argument, "are weighted or clustered", needed, "Count without weights and clusters")
