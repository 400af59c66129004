"""Labels that may be wrong: the true class behind them is unknown, and raters have error rates (Dawid & Skene 1979)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import Any, ClassVar

import numpy as np

from truecount import _check
from truecount._advice import KNOWN_ERRORS, PLAIN_MODEL, Advice
from truecount._types import FloatArray, IntArray, Name
from truecount._wording import listed_quoted
from truecount.counts import Combinations, Counts, Groups, Ratings
from truecount.errors import InputError
from truecount.models.label_shift import Density, LabelShift, require_fixed_prior
from truecount.models.model import INDEPENDENT, NOT_BY_OUTPUT, SAME_ROWS, Assumption
from truecount.models.variation import Independent, Pooled, imputed_groups, require_imputed_groups

ONE = "label"
"""What the only rater is called, where labels are one column."""
NEEDED = "the errors of labels are seen where two raters label one item, or are known"
REMEDY = Advice("Let a second rater label some items, or pass {}", KNOWN_ERRORS)


@dataclass(frozen=True, slots=True)
class RatedDensity:
    """The posterior of prevalence, confusion and raters' error rates, up to a constant, as concentrations and items.

    Parameters
    ----------
    labels
        Shape (patterns, columns): what each label of a pattern is, a position among the classes, −1 for nothing.
    rater_of
        Shape (columns,): which rater gave the labels of a column.
    labeled
        Shape (patterns, outputs): items, or what they are worth where clusters make them worth less.
    unlabeled
        Shape (groups, outputs): the same.
    shares, prevalence
        Shape (classes,): concentrations of the shares behind the labelled items, and of those of each group.
    rows
        Shape (classes, outputs): concentrations of the classifier's rows, without any label.
    raters
        Shape (raters, classes, classes): concentrations of each rater's rows, validation included.
    known
        The same shape: rows that are known, NaN in those to be learned.
    spread
        Scale of the half-normal prior of the spread between groups, whose shares then have a Dirichlet distribution
        around a centre with the prior `prevalence`; None where each group has that prior by itself.
    """

    labels: IntArray
    rater_of: IntArray
    labeled: FloatArray
    unlabeled: FloatArray
    shares: FloatArray
    prevalence: FloatArray
    rows: FloatArray
    raters: FloatArray
    known: FloatArray
    spread: float | None = None

    @property
    def whole_items(self) -> IntArray:
        """Shape (patterns, outputs): labelled items as whole numbers, of which many add up to what they are worth."""
        running = np.rint(np.cumsum(self.labeled.T)).astype(np.int64)
        return np.diff(running, prepend=0).reshape(self.labeled.T.shape).T


@dataclass(frozen=True, slots=True)
class ErringLabels(LabelShift):
    """Labels of raters who may err: their error rates and the true classes are inferred together.

    Parameters
    ----------
    prior
        As in `LabelShift`, without rows that are known and without concentrations that are learned.
    groups
        ``Pooled(kind="dirichlet")``, the default from three groups on, or `Independent`.
    confusion
        None: the classifier is the same in all groups.
    right
        How many right labels of each class the prior of a rater is worth, beside one of every label; None for as many
        as there are classes. Above 0 it says that raters are more often right than wrong, which tells the classes
        apart.
    shares
        Concentration of the class shares behind the labelled items.
    known
        Error rates that are known: P(label | class) as a matrix with true classes in its rows, or a number, the
        probability of a wrong label, which falls on all other classes alike. For several raters, a mapping from rater.
    validation
        Items of known class by the label that they got, class × label, from elsewhere. For several raters, a mapping
        from rater.
    same
        Columns in which one rater labelled items again, ``[["first", "second"]]``: they have one error rate. The rater
        is called like the first of them.

    Notes
    -----
    Given the true class, raters and classifier err independently of each other.

    Examples
    --------
    >>> ErringLabels(known=0.05).known
    0.05
    """

    name: ClassVar[str] = "erring_labels"
    sampling: ClassVar[str] = "labelled items come from another population, and raters may label them wrongly"
    assumptions: ClassVar[tuple[Assumption, ...]] = (
        SAME_ROWS,
        NOT_BY_OUTPUT,
        Assumption(
            "Given the true class, raters and classifier err independently of each other.",
            "Items that are hard for all of them make raters look better than they are, and the classifier too. "
            "Agreement of raters beyond what their error rates explain is a finding.",
        ),
        Assumption(
            "Raters are more often right than wrong.",
            "Only that tells which of the classes is which; nothing else does where all labels may be wrong.",
        ),
        INDEPENDENT,
    )
    method: ClassVar[str] = (
        "The true class of every labelled item was inferred from what raters and classifier said of it, together with "
        "the raters' error rates (Dawid & Skene 1979), with all misclassification rates of the classifier that fit, "
        "and with the mixes of classes that could have led to the outputs of the population."
    )

    right: float | None = field(default=None, kw_only=True)
    shares: float = field(default=1.0, kw_only=True)
    known: Any = field(default=None, kw_only=True)
    validation: Any = field(default=None, kw_only=True)
    same: tuple[tuple[str, ...], ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        LabelShift.__post_init__(self)
        require_fixed_prior(self.prior, "labels that may be wrong")
        require_imputed_groups(self.groups, self.confusion, "labels that may err")
        for argument in ("right", "shares"):
            value = getattr(self, argument)
            least_is_zero = argument == "right"
            if value is None and least_is_zero:
                continue
            if (
                not isinstance(value, int | float)
                or isinstance(value, bool)
                or not 0 <= value <= 1e9
                or (not value and not least_is_zero)
            ):
                needed = "it must be a number of labels, 0 or more" if least_is_zero else "it must be a number above 0"
                raise InputError(argument, f"is {value!r:.60}", needed, f"Pass {argument}=1")
        for argument in ("known", "validation"):
            object.__setattr__(self, argument, _plain(getattr(self, argument)))
        object.__setattr__(self, "same", tuple(map(tuple, self.same)))

    def density(self, counts: Counts) -> Density:
        """Refuse: labels that may be wrong are no counts of classes."""
        raise self._no_density("the raters' error rates")

    def rated_density(self, ratings: Ratings) -> RatedDensity:
        """Put ratings and prior together."""
        counts, classes = ratings.counts, ratings.classes
        if counts.is_weighted:
            needed = "labels that may be wrong are of items that count alike"
            raise InputError("data", "is weighted", needed, Advice("Count without weights{}", PLAIN_MODEL))
        if isinstance(counts, Groups) and counts.studies is not None:
            needed = "labels that may be wrong are of one study"
            raise InputError("data", "has several studies", needed, Advice("Count without studies{}", PLAIN_MODEL))
        labels = ratings.positions
        raters = self.raters_of(ratings)
        of_column = {column: names[0] for names in self.same for column in names}
        rater_of = np.array([raters.index(of_column.get(column, column)) for column in ratings.raters])
        concentrations, known = self._rater_rows(raters, classes)
        plain = blank_counts(ratings)
        labeled = counts.labeled.sum(axis=0) if isinstance(counts, Groups) else counts.labeled
        unlabeled = counts.unlabeled if isinstance(counts, Groups) else counts.unlabeled[None]
        told = {str(rater) for given in (self.known, self.validation) for rater in self._by_rater(given, raters)}
        require_repeats(labels, np.asarray(labeled), ratings.raters, told)
        return RatedDensity(
            labels,
            rater_of,
            np.asarray(labeled, np.float64),
            np.asarray(unlabeled, np.float64),
            np.full(len(classes), float(self.shares)),
            self.prior.fixed.prevalence_for(plain),
            self.prior.fixed.confusion_for(plain),
            concentrations,
            known,
            variation.spread if isinstance(variation := self.variation_of(counts), Pooled) else None,
        )

    def variation_of(self, counts: Counts | Groups) -> Pooled | Independent:
        """Return how groups vary: by default around a common centre, from three groups on."""
        return imputed_groups(self.groups, len(counts) if isinstance(counts, Groups) else 1)

    def raters_of(self, ratings: Ratings) -> tuple[str, ...]:
        """Return the raters by name, each once, in the order of their columns."""
        for name in (name for names in self.same for name in names):
            if name not in ratings.raters:
                needed = f"the columns of labels are {listed_quoted(ratings.raters)}"
                raise InputError("same", f"names {name!r}", needed, "Name columns that are read")
        again = {name for names in self.same for name in names[1:]}
        return tuple(name for name in ratings.raters if name not in again)

    def ratings_of(self, counts: Counts | Groups) -> Ratings:
        """Return labels of one column as ratings of one rater, whose errors must be known or validated."""
        if self.known is None and self.validation is None:
            raise InputError("model", "is ErringLabels() for one label an item", NEEDED, REMEDY)
        return Ratings(counts, Combinations((ONE,), tuple((name,) for name in counts.classes)), counts.classes)

    def _by_rater(self, given: Any, raters: Sequence[str]) -> dict[str, Any]:
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            return dict.fromkeys(raters, given)
        strange = [name for name in given if name not in raters]
        if strange:
            needed = f"the raters are {listed_quoted(raters)}"
            raise InputError("raters", f"hold {strange[0]!r}", needed, "Name the raters as the columns are called")
        return dict(given)

    def _rater_rows(self, raters: Sequence[str], classes: Sequence[Name]) -> tuple[FloatArray, FloatArray]:
        """Shapes (raters, classes, classes): concentrations of each rater's rows, and rows that are known."""
        number = len(classes)
        right = float(number) if self.right is None else self.right
        rows = np.tile(np.ones((number, number)) + right * np.eye(number), (len(raters), 1, 1))
        known = np.full_like(rows, nan)
        for name, given in self._by_rater(self.validation, raters).items():
            rows[raters.index(name)] += _table("validation", given, number)
        for name, given in self._by_rater(self.known, raters).items():
            known[raters.index(name)] = _rates(given, number)
        return rows, known

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {**LabelShift.to_dict(self), **self.options(), "name": self.name}

    def options(self) -> dict[str, Any]:
        """Return what was said of the raters, without what is as usual."""
        told = {name: getattr(self, name) for name in ("right", "shares", "known", "validation", "same")}
        usual = {"right": None, "shares": 1.0, "known": None, "validation": None, "same": ()}
        return {name: value for name, value in told.items() if value != usual[name]}


def blank_counts(ratings: Ratings) -> Counts:
    """Return counts of the true classes without any label, for what a prior is."""
    counts = ratings.counts
    unlabeled = counts.unlabeled.sum(axis=0) if isinstance(counts, Groups) else counts.unlabeled
    shape = (len(ratings.classes), len(counts.outputs))
    return Counts(
        np.zeros(shape, np.int64), unlabeled, ratings.classes, counts.outputs, combinations=counts.combinations
    )


def behind_labels(ratings: Ratings) -> Counts | Groups:
    """Return the population of patterns of labels, with the true classes in place of the patterns."""
    counts, blank = ratings.counts, blank_counts(ratings)
    if not isinstance(counts, Groups):
        return blank
    unlabeled = dict(zip(counts.groups, counts.unlabeled, strict=True))
    return Groups(blank.labeled, unlabeled, ratings.classes, counts.outputs, by=counts.by)


def require_repeats(labels: IntArray, labeled: FloatArray, raters: Sequence[str], told: set[str]) -> None:
    """Refuse labels of which none can be compared with another one of the same item, unless error rates are told."""
    twice = float(labeled[(labels >= 0).sum(axis=1) > 1].sum())
    used = [rater for place, rater in enumerate(raters) if (labels[:, place] >= 0).any()]
    if not twice and not set(used) <= told:
        found = f"has labels of {listed_quoted(used)} that never stand beside each other for one item"
        raise InputError("label", found, NEEDED, REMEDY)


def _plain(given: Any) -> Any:
    """Return lists and numbers for arrays, so that a model can be compared and written."""
    if isinstance(given, Mapping):
        return {str(name): _plain(each) for name, each in given.items()}
    return given.tolist() if isinstance(given, np.ndarray | np.generic) else given


def _table(argument: str, given: Any, number: int) -> FloatArray:
    table = _check.finite_numbers(argument, given, dimensions=2)
    if table.shape != (number, number):
        needed = f"it has a row for each of {number} classes and a column for each label"
        raise InputError(argument, f"has shape {table.shape}", needed, "Count true classes by the label that they got")
    return table.astype(np.float64)


def _rates(given: Any, number: int) -> FloatArray:
    """Return a known matrix P(label | class); a number is the probability of a wrong label."""
    if isinstance(given, int | float) and not isinstance(given, bool):
        if not 0 <= given < 1:
            raise InputError("known", f"is {given!r}", "an error rate lies from 0 to below 1", "Write 0.05 for 5 %")
        wrong = (np.ones((number, number)) - np.eye(number)) / max(number - 1, 1)
        return np.asarray((1 - given) * np.eye(number) + given * wrong)
    table = _table("known", given, number)
    sums = table.sum(axis=1)
    wrong_sums = sums[~np.isclose(sums, 1, atol=1e-6)]
    if len(wrong_sums):
        needed = "each row is P(label | class), which adds up to 1"
        raise InputError("known", f"has a row that adds up to {wrong_sums[0]:.3g}", needed, "Divide by the sums")
    return np.asarray(table / sums[:, None])
