"""How groups vary, in their prevalence and in their confusion: choices of a model of several populations."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from truecount import _check
from truecount.errors import InputError

FEWEST_POOLED = 3
"""Groups from which on they are pooled where nothing is said: two tell nothing of how much groups differ."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pooled:
    """Groups vary around a common centre with a learned spread, so that small groups borrow from the others.

    ``η_g = centre + spread · ζ_g``, ``ζ_g ~ N(0, 1)``, where η_g are the log-ratios of group g's prevalence; for two
    classes the one log-ratio is the logit of the first. The share at the centre has the Dirichlet prior of
    ``Prior.prevalence``, each log-ratio's spread a half-normal prior.

    Parameters
    ----------
    spread
        Scale of the half-normal prior of the spread between groups.
    kind
        ``"normal"``, as above; or ``"dirichlet"``: the prevalence of a group is ``Dirichlet(κ · centre)`` with
        ``κ = 2 L / spread²``, one spread for all L classes. With few groups the choice matters; compare the two.
    covariates
        What is known of each group: a mapping from name to one number for each group, or a matrix (groups, columns).
        Columns are standardised, and their coefficients have normal priors of scale `effect`.
    effect
        Scale of the normal prior of the coefficients.
    """

    spread: float = 1.0
    kind: Literal["normal", "dirichlet"] = "normal"
    covariates: Any = None
    effect: float = 1.0

    def __post_init__(self) -> None:
        _check.one_of("kind", self.kind, ("normal", "dirichlet"))
        for name in ("spread", "effect"):
            _require_scale(name, getattr(self, name))
        object.__setattr__(self, "covariates", _plain(self.covariates))


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Groups are points in time, and the log-ratios take a random walk from one to the next.

    The variance of a step is in proportion to the time that passed. Groups without items are predicted.

    Parameters
    ----------
    spread
        Scale of the half-normal prior of the standard deviation of a step of typical length.
    noise
        Whether points in time also vary independently around the walk.
    """

    spread: float = 0.5
    noise: bool = False

    def __post_init__(self) -> None:
        _require_scale("spread", self.spread)
        _require_flag("noise", self.noise, "Pass spread= for a scale")


@dataclass(frozen=True, slots=True)
class Independent:
    """Groups have nothing in common but the confusion; each prevalence has the same fixed prior."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Varying:
    """The confusion varies between studies and groups around common rows, with a learned spread.

    The log-ratios of each row of a study or group vary normally around those of the common row, whose prior is that of
    ``Prior.confusion``; for two outputs the one log-ratio is the logit. A study named like a group holds labels of that
    group. A group without labels of its own has the rows of a new study, so that what was seen to differ between
    studies widens its answer. One study says nothing of the spread; two or three say little, and its prior decides.

    Parameters
    ----------
    spread
        Scale of the half-normal prior of the standard deviation between studies, one for each class's row.
    new_study
        ``"each"``: every group without labels of its own is a new study, with rows of its own. ``"one"``: all groups
        together are one new study, such as regions that one laboratory tests, so that its error cancels in their
        differences. That needs two classes, at most three outputs, and groups without labels of their own.
    random_labels
        Whether labels of a group are a random sample of its items, so that their classes tell its prevalence too. By
        default labels tell error rates only, as where some items of each class were looked for.
    """

    spread: float = 0.5
    new_study: Literal["each", "one"] = "each"
    random_labels: bool = False

    def __post_init__(self) -> None:
        _require_scale("spread", self.spread)
        _check.one_of("new_study", self.new_study, ("each", "one"))
        _require_flag("random_labels", self.random_labels, "Pass True where labels of a group are a random sample")


@dataclass(frozen=True, slots=True)
class Cut:
    """The confusion is learned from labels alone; unlabelled items say nothing of it.

    Not a posterior, but a check of one: where this answer differs from the full one by more than the labels' error, the
    classifier treats the groups differently from the labelled items, or the labels are few.
    """


Variation: TypeAlias = Pooled | Walk | Independent
ConfusionChoice: TypeAlias = Varying | Cut


def _plain(covariates: Any) -> Any:
    """Return covariates as plain values, which do not change with what they were made from, and can be compared."""
    if covariates is None:
        return None
    if hasattr(covariates, "to_dict") and hasattr(covariates, "index"):
        covariates = covariates.to_dict()  # by the names of the groups, which are the index
    if isinstance(covariates, Mapping):
        return {name: each if np.isscalar(each) else _plain(each) for name, each in covariates.items()}
    try:
        plain = np.asarray(covariates).tolist()
    except ValueError:
        plain = None
    if not isinstance(plain, list):
        needed = "it must be a matrix (group × covariate), or numbers by name of the covariate"
        raise InputError("covariates", f"is {covariates!r:.60}", needed, "Pass {'age': {group: number, ...}}")
    return tuple(map(_as_tuple, plain))


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _require_scale(argument: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < np.inf:
        raise InputError(argument, f"is {value!r}", "a scale is a finite number above 0", f"Pass {argument}=1.0")


def _require_flag(argument: str, value: Any, remedy: str) -> None:
    if not isinstance(value, bool):
        raise InputError(argument, f"is {value!r:.60}", "it is True or False", remedy)


def require_imputed_groups(groups: object, confusion: object, what: str) -> None:
    """Refuse ways to vary that the engines which impute classes do not know."""
    is_dirichlet = isinstance(groups, Pooled) and groups.kind == "dirichlet" and groups.covariates is None
    if not (groups is None or isinstance(groups, Independent) or is_dirichlet):
        needed = f"with {what}, groups are independent or have a Dirichlet distribution"
        remedy = 'Leave groups out, or pass Pooled(kind="dirichlet") or Independent()'
        raise InputError("groups", f"is {groups!r:.60}", needed, remedy)
    if confusion is not None:
        needed = f"with {what}, the classifier is the same in all groups"
        raise InputError("confusion", f"is {confusion!r:.60}", needed, "Leave confusion out")


def imputed_groups(groups: object, number: int) -> Pooled | Independent:
    """Return how so many groups vary there: by default around a common centre, from three groups on."""
    if isinstance(groups, Pooled | Independent):
        return groups
    return Pooled(kind="dirichlet") if number >= FEWEST_POOLED else Independent()
