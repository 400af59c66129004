"""Groups: truths that a pilot leaves open, and intervals of all of them as their own model infers them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.counts import Counts, Groups
from truecount.counts.weights import effective_groups
from truecount.inference.choose import USUAL_OF_MANY
from truecount.inference.hierarchical import sample_groups
from truecount.inference.importance.many import own_seeds
from truecount.models import Independent, LabelShift, Pooled, Varying
from truecount.models.groups import group_density
from truecount.models.hierarchy.log_ratios import rows_around
from truecount.models.variation import FEWEST_POOLED, Variation
from truecount.planning import normal
from truecount.planning.forecast import (
    ALIKE,
    Correction,
    Forecast,
    Kept,
    Simulated,
    effort_of,
    nothing_learned,
    simulated,
    tells_nothing,
)
from truecount.planning.pilot import TRUTHS, pilot_scenario, scenario_of, shared_label_scenarios
from truecount.planning.row_belief import believed_prior
from truecount.planning.scenario import Scenario, Sizes

INFERRED = 8
"""Data sets that groups are inferred together from."""
INFERRED_OF_STUDIES, DRAWS_OF_STUDIES = 4, 2000
"""The same where error rates vary between studies, and the effective sample size of each: most of the time goes into
the start, and tails are long."""
STUDY_STREAM = 3
"""Sets the random numbers that rows of another study are taken by apart from others of the same seed."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Together:
    """How groups belong together.

    Parameters
    ----------
    variation
        How their shares vary.
    shares_labels
        Whether the same labels serve all.
    studies
        Shape (studies, classes, outputs): labels of each study, where error rates vary between studies that are no
        groups; new labels are one more study. None where all labels count alike.
    pair
        Two of them whose difference is asked for.
    """

    variation: Variation
    shares_labels: bool
    studies: IntArray | None = None
    pair: tuple[Any, Any] | None = None

    @classmethod
    def of(cls, groups: Groups, model: LabelShift) -> "Together":
        """Return how these groups are inferred from."""
        studies = np.rint(effective_groups(groups)[0]).astype(int) if has_studies(groups, model) else None
        return cls(variation=variation_of(groups, model), shares_labels=groups.shares_labels, studies=studies)


def has_studies(groups: Groups, model: LabelShift) -> bool:
    """Whether error rates vary between studies, none of which is a group."""
    return isinstance(model.confusion, Varying) and groups.studies is not None and groups.shares_labels


def variation_of(groups: Groups, model: LabelShift) -> Variation:
    """Return how the shares of groups vary, as `infer` has it."""
    return model.groups or (Pooled() if len(groups) >= FEWEST_POOLED else Independent())


def group_scenarios(groups: Groups, model: LabelShift, seed: int) -> dict[Any, Scenario]:
    """Return what may be true of every group; draws belong together where groups do."""
    named, variation = dict(groups.apart()), variation_of(groups, model)
    if not isinstance(variation, Independent) or has_studies(groups, model):
        labeled, unlabeled = effective_groups(groups)
        prior = believed_prior(model, groups.total, labeled.sum(axis=0))
        density = group_density(groups, prior, variation, model.confusion)
        is_cut = not isinstance(model.confusion, Varying)
        drawn = sample_groups(density, effective_draws=TRUTHS // 2, seed=seed, groups=len(groups), cut=is_cut)
        kept = np.linspace(0, len(drawn.prevalence) - 1, min(len(drawn.prevalence), TRUTHS)).astype(int)
        shares = drawn.prevalence[kept].swapaxes(0, 1)
        rows = drawn.confusion[kept]
        each = rows.swapaxes(0, 1) if rows.ndim == 4 else [rows] * len(named)
        counted = (
            [(labeled.sum(axis=0), items) for items in unlabeled]
            if groups.shares_labels
            else [counts.effective for counts in named.values()]
        )
        found = {
            group: scenario_of(counts, effective, model, own, confusion)
            for (group, counts), effective, own, confusion in zip(named.items(), counted, shares, each, strict=True)
        }
        if drawn.common_rows is None or not has_studies(groups, model):
            return found
        new, free = drawn.common_rows[kept], density.rows.free
        new[:, free] = rows_around(new[:, free], drawn.row_spread[kept], np.random.default_rng((seed, STUDY_STREAM)))
        return {group: replace(each, of_new_labels=new) for group, each in found.items()}
    if not groups.shares_labels or len(named) == 1:
        seeds = own_seeds(seed, len(named))
        return {
            group: pilot_scenario(counts, model, own) for (group, counts), own in zip(named.items(), seeds, strict=True)
        }
    return shared_label_scenarios(groups, model, seed)


def group_forecasts(
    scenarios: Mapping[Any, Scenario],
    sizes: Sizes,
    together: Together,
    kept: Mapping[Any, Kept],
    *,
    level: float,
    seed: int,
) -> tuple[dict[Any, Forecast], Forecast | None]:
    """Forecast the intervals of all groups, and of the difference of a pair; inferred together where they will be.

    What was inferred from other sizes, `kept` by group, is not inferred again where these are alike.
    """
    first = next(iter(scenarios.values()))
    if tells_nothing(first, sizes):
        return {group: nothing_learned(each, level, seed) for group, each in scenarios.items()}, None
    sets, inferred = effort_of(len(first.classes))
    inferred = min(inferred, INFERRED if together.studies is None else INFERRED_OF_STUDIES)
    seeds = [seed] * len(scenarios) if together.shares_labels else own_seeds(seed, len(scenarios))
    rough = {
        group: simulated(each, sizes, level=level, sets=sets, inferred=inferred, seed=own)
        for (group, each), own in zip(scenarios.items(), seeds, strict=True)
    }
    ends = {group: each.ends for group, each in rough.items()}
    if together.pair is not None:
        one, other = together.pair
        ends[together.pair] = _difference_ends(rough[one], rough[other], together, level)
    if kept[next(iter(scenarios))].near(sizes, first, ALIKE) is None:
        exact = _inferred_ends(scenarios, rough, together, level, seed)
        for key, between in exact.items():
            limits = (-1.0, 1.0) if key == together.pair else (0.0, 1.0)
            chosen = rough[next(iter(rough))].chosen
            kept[key].add(sizes, first, Correction(rough=ends[key][chosen], exact=between, limits=limits))
    found = {}
    for key, between in ends.items():
        correction = kept[key].near(sizes, first, ALIKE)
        if correction is not None:
            found[key] = correction.applied(between)
    difference = None if together.pair is None else found.pop(together.pair, None)
    return found, difference


def _difference_ends(first: Simulated, second: Simulated, together: Together, level: float) -> FloatArray:
    """Return intervals of the difference by Fisher information, shape (sets, classes, 2)."""
    from scipy.special import ndtri

    one, other = _counted(first), _counted(second)
    none = np.zeros(len(one.strata))
    if together.shares_labels:
        deviation = normal.difference_deviations(one, other, none, (0.0, 0.0))
    else:
        nothing = Sizes(none, 0.0)
        deviation = np.hypot(*(normal.standard_deviations(each, nothing) for each in (one, other)))
    centre = (first.believed.prevalence - second.believed.prevalence)[..., None]
    ends: FloatArray = centre + ndtri((1 + level) / 2) * deviation[..., None] * np.array([-1.0, 1.0])
    return np.clip(ends, -1, 1)


def _counted(found: Simulated) -> Scenario:
    return replace(found.believed, labeled=found.data.labeled.mean(axis=0), unlabeled=found.data.unlabeled.mean(axis=0))


def _inferred_ends(
    scenarios: Mapping[Any, Scenario], rough: Mapping[Any, Simulated], together: Together, level: float, seed: int
) -> dict[Any, FloatArray]:
    """Infer from some of the data sets; intervals of each group and of the pair have shape (inferred, classes, 2)."""
    first = next(iter(scenarios.values()))
    model, tails = cast("LabelShift", first.model), [(1 - level) / 2, (1 + level) / 2]
    data = {group: each.inferred for group, each in rough.items()}
    number = len(next(iter(data.values())).unlabeled)
    found: dict[Any, list[FloatArray]] = defaultdict(list)
    for place, own in zip(range(number), own_seeds(seed, number), strict=True):
        counts = {
            group: Counts(each.labeled[place], each.unlabeled[place], first.classes, first.outputs)
            for group, each in data.items()
        }
        new = next(iter(data.values())).new[place]
        shares = _drawn_together(_gathered(counts, new, together), together, model, own)
        if together.pair is not None:
            shares[together.pair] = shares[together.pair[0]] - shares[together.pair[1]]
        for key, drawn in shares.items():
            found[key].append(np.quantile(drawn, tails, axis=0).T)
    return {key: np.array(ends) for key, ends in found.items()}


def _gathered(counts: Mapping[Any, Counts], new: IntArray, together: Together) -> Groups:
    """Return what `infer` will have of all groups, of whose labels these are `new`."""
    if not together.shares_labels:
        return Groups.of(dict(counts))
    first = next(iter(counts.values()))
    labeled: Any = first.labeled
    if together.studies is not None:
        studies = [*together.studies, new] if new.any() else together.studies
        labeled = {(None, number): each for number, each in enumerate(studies)}  # no group is called so
    return Groups(labeled, {group: each.unlabeled for group, each in counts.items()}, first.classes, first.outputs)


def _drawn_together(groups: Groups, together: Together, model: LabelShift, seed: int) -> dict[Any, FloatArray]:
    """Draw the shares of all groups as `infer` would, each of shape (draws, classes)."""
    density = group_density(groups, model.prior, together.variation, model.confusion)
    draws = USUAL_OF_MANY if together.studies is None else DRAWS_OF_STUDIES
    drawn = sample_groups(density, effective_draws=draws, seed=seed, groups=len(groups)).prevalence
    return {group: drawn[:, place] for place, group in enumerate(groups)}
