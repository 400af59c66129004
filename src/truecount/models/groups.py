"""Groups, a prior and a choice of how groups vary become a density."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from truecount._advice import LEARNED_SHARES, NO_LEARNED_SHARES, Action, Advice
from truecount._types import FloatArray
from truecount._wording import quoted
from truecount.counts.groups import Groups
from truecount.counts.weights import effective_groups, effective_random_samples
from truecount.errors import InputError
from truecount.models.hierarchy import GroupDensity
from truecount.models.hierarchy.centre import Centre
from truecount.models.hierarchy.dirichlet import DirichletGroups
from truecount.models.hierarchy.log_ratios import log_ratio_basis
from truecount.models.hierarchy.random_labels import RandomLabels
from truecount.models.hierarchy.rows import Rows
from truecount.models.priors import LEARNED, Prior
from truecount.models.variation import ConfusionChoice, Independent, Variation, Varying, Walk


def effective_sides(groups: Groups, confusion: ConfusionChoice | None) -> tuple[FloatArray, FloatArray]:
    """Return labels (table, class, output) and items (group, output) of effective size, as the model counts them."""
    labeled, unlabeled = effective_groups(groups)
    if isinstance(confusion, Varying) and confusion.random_labels:
        unlabeled = effective_random_samples(groups)[1]
    return labeled, unlabeled


def group_density(
    groups: Groups, prior: Prior, variation: Variation, confusion: ConfusionChoice | None = None
) -> GroupDensity:
    """Put groups, prior and choices of how groups vary together.

    The units of the density are the groups and, where the confusion varies, after them the studies that are no groups.
    """
    if prior.prevalence == LEARNED:
        needed = "groups learn a common centre and spread instead of a concentration"
        raise InputError("prior", Advice("{}", LEARNED_SHARES), needed, Advice("{}", NO_LEARNED_SHARES))
    labeled, unlabeled = effective_sides(groups, confusion)
    whole, is_varying = groups.total, isinstance(confusion, Varying)
    concentration, shapes = prior.prevalence_for(whole), prior.confusion_for(whole)
    learned = prior.learned_rows_for(whole)
    rows = Rows(shapes if is_varying else shapes + labeled.sum(axis=0), prior.known_for(whole), learned)
    basis = log_ratio_basis(len(concentration))
    own = _labels_of_units(groups, labeled) if isinstance(confusion, Varying) else np.empty((0, 0, len(groups)))
    further = own.shape[2] - len(groups)
    items = np.pad(unlabeled, ((0, further), (0, 0))).T
    options: dict[str, Any] = {"is_group": np.arange(len(groups) + further) < len(groups)}
    if isinstance(confusion, Varying):
        options["labeled"] = own
        options["row_spread_scale"] = confusion.spread
        options["is_one_study"] = confusion.new_study == "one" and len(groups) > 1
        own_classes = random_labels(groups, confusion)
        options["random_labels"] = None if own_classes is None else own_classes.with_units(further)
    if isinstance(variation, Independent):
        empty = Centre(concentration, np.empty((0, len(groups) + further)), basis)
        return GroupDensity(rows, items, empty, dirichlet=DirichletGroups(basis, concentration), **options)
    design, effect = np.ones((1, len(groups) + further)), 1.0
    options["spread_scale"] = variation.spread
    if isinstance(variation, Walk):
        walk = np.pad(walk_loading(groups), ((0, further), (0, 0)))
        options["loadings"] = (walk, np.eye(len(walk), len(groups)))[: 1 + variation.noise]
    else:
        columns = _covariates(groups, variation.covariates)
        design, effect = np.vstack([design, np.pad(columns, ((0, 0), (0, further)))]), variation.effect
        options["dirichlet"] = DirichletGroups(basis) if variation.kind == "dirichlet" else None
    return GroupDensity(rows, items, Centre(concentration, design, basis, effect), **options)


def _labels_of_units(groups: Groups, labeled: FloatArray) -> FloatArray:
    """Return the labels of each unit (class, output, unit): of groups, then of studies that are no groups."""
    units: list[Any] = list(groups.groups)
    places = []
    for study in groups.studies or (object(),):
        if study not in units:
            units.append(study)
        places.append(units.index(study))
    result = np.zeros((*labeled.shape[1:], len(units)))
    result[:, :, places] = labeled.transpose(1, 2, 0)
    return result


def random_labels(groups: Groups, confusion: ConfusionChoice | None) -> RandomLabels | None:
    """Return the labels of groups by class, where they are random samples of them; None where they are not.

    Shape (classes, groups): at the effective size of samples of classes, as clusters of these tell shares.
    """
    if not isinstance(confusion, Varying) or not confusion.random_labels:
        return None
    counts = effective_random_samples(groups)[0].T
    if not counts.any():
        found = Advice("is {}", Action("Varying(random_labels=True)", "given: --random-labels"))
        needed = "it is about labels of the groups themselves, and no study is called like a group"
        remedy = Advice("{}", Action("Count with study= the column of by=", "Give --study the column of --by"))
        raise InputError("confusion", found, needed, remedy)
    return RandomLabels(counts, log_ratio_basis(len(groups.classes)))


def walk_loading(groups: Groups) -> FloatArray:
    """Return how much each step of the walk counts at each group, shape (groups, steps), typical steps having length 1.

    >>> walk_loading(Groups([[9, 1], [1, 9]], {"a": [1, 1], "b": [2, 2], "c": [3, 3]}, times=[0, 1, 5])).round(2)
    array([[0.  , 0.  ],
           [0.63, 0.  ],
           [0.63, 1.26]])
    """
    if groups.times is None:
        needed = "a walk needs the time of every group"
        raise InputError("groups", "have no times", needed, "Pass Groups(..., times=...), or count by={'time': 'week'}")
    times = (groups.times - groups.times.min()).astype(np.float64)
    order = np.argsort(times, kind="stable")
    gaps = np.diff(times[order])
    if len(times) < 2 or (gaps <= 0).any():
        found = "are fewer than two" if len(times) < 2 else "hold one time twice"
        raise InputError("times", found, "a walk goes from one time to the next", "Use Pooled(), or merge such groups")
    after = np.tril(np.ones((len(times), len(times))))[:, 1:] * np.sqrt(gaps / np.median(gaps))
    loading: FloatArray = np.empty_like(after)
    loading[order] = after
    return loading


def _covariates(groups: Groups, given: Any) -> FloatArray:
    """Return standardised columns, shape (columns, groups)."""
    if given is None:
        return np.empty((0, len(groups)))
    if isinstance(given, Mapping):
        columns = {str(name): _by_group(str(name), values, groups) for name, values in given.items()}
    else:
        matrix = np.atleast_2d(np.asarray(given).T)
        columns = {str(number): column for number, column in enumerate(matrix)}
    result = []
    for name, values in columns.items():
        argument = f"covariates[{name!r}]"
        try:
            column = np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            needed = "a covariate has a number for each group"
            raise InputError(argument, "holds other things than numbers", needed, "Code it as numbers") from error
        if column.shape != (len(groups),):
            found, needed = f"has shape {column.shape}", f"there are {len(groups)} groups"
            raise InputError(argument, found, needed, "Give one number for each group")
        if not np.isfinite(column).all():
            missing = quoted([groups.groups[at] for at in np.flatnonzero(~np.isfinite(column))])
            raise InputError(
                argument, f"is missing for {missing}", "every group needs it", "Fill it in, or leave it out"
            )
        if not column.std():
            raise InputError(argument, "is the same in all groups", "it must tell groups apart", "Leave it out")
        result.append((column - column.mean()) / column.std())
    return np.array(result)


def _by_group(name: str, values: Any, groups: Groups) -> Any:
    if not isinstance(values, Mapping):
        return values
    for group in groups.groups:
        if group not in values:
            raise InputError(f"covariates[{name!r}]", f"lacks the group {group!r}", "every group needs it", "Add it")
    return [values[group] for group in groups.groups]
