"""How wide intervals will be: many data sets by Fisher information, some of them by the posterior itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.counts import Counts
from truecount.inference.choose import Auto
from truecount.inference.closed_form import sample_closed_form
from truecount.inference.importance.many import own_seeds
from truecount.models import LabelShift
from truecount.models.given_output import OutputModel
from truecount.planning import normal
from truecount.planning.data_sets import DataSets, drawn_data, expected_data, plug_in
from truecount.planning.scenario import Scenario, Sizes

EFFORT = ((2, (1024, 48, 1000)), (5, (512, 32, 1000)), (10, (256, 16, 1000)), (10**9, (128, 4, 300)))
"""Up to so many classes: data sets, how many of them are inferred from, and draws for each."""
FEW, EXPECTED_DRAWS = 10, 32_000
"""Classes up to which the expected data are inferred from too, and draws for them, divided by the classes."""


SURE = 10**9
"""Labels as many as make a counted rate the prior's mean."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Forecast:
    """What intervals will look like.

    Parameters
    ----------
    typical
        Shape (classes,): the width if the data come out as expected; None where the truth is not assumed, or classes
        are many.
    widths
        Shape (sets, classes): widths over data sets, each at a truth of its own.
    ends
        Shape (sets, classes, 2): the intervals themselves.
    """

    typical: FloatArray | None
    widths: FloatArray
    ends: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Shape (classes,): the mean width."""
        mean: FloatArray = self.widths.mean(axis=0)
        return mean

    @property
    def width(self) -> FloatArray:
        """Shape (classes,): of the expected data where the truth is assumed, else the mean."""
        return self.mean if self.typical is None else self.typical


def forecast(scenario: Scenario, sizes: Sizes, *, level: float, seed: int = 0) -> Forecast:
    """Forecast the intervals of a plan.

    Many data sets are drawn, each at a truth of its own, and their widths read off the Fisher information at what they
    would make one believe. Some are inferred from; a regression of those widths on these, in logarithms, corrects all.
    """
    if tells_nothing(scenario, sizes):
        return _nothing_learned(scenario, level, seed)
    n_classes = len(scenario.classes)
    sets, inferred, draws = next(effort for most, effort in EFFORT if n_classes <= most)
    rng = np.random.default_rng(seed)
    truths = scenario.take(np.arange(sets) % len(scenario.prevalence))
    data = drawn_data(truths, sizes, rng)
    believed = plug_in(truths, data) if _has_labels(scenario, sizes) else _by_prior(truths, data)
    none = Sizes(np.zeros_like(sizes.labels), 0.0)
    totals = _totals(believed, data)
    rough = normal.ends(believed.prevalence, normal.standard_deviations(totals, none), level)
    rough_widths = np.maximum(rough[..., 1] - rough[..., 0], 1e-9)
    chosen = np.linspace(0, sets - 1, inferred).astype(int)
    exact = posterior_ends(scenario, DataSets(data.labeled[chosen], data.unlabeled[chosen]), level, draws, seed)
    widths = _corrected(rough_widths, chosen, exact[..., 1] - exact[..., 0])
    scale = (widths / rough_widths)[..., None]
    centre = believed.prevalence[..., None]
    typical = None
    if scenario.is_assumed and n_classes <= FEW:
        between = posterior_ends(scenario, expected_data(scenario, sizes), level, EXPECTED_DRAWS // n_classes, seed)[0]
        typical = between[:, 1] - between[:, 0]
    return Forecast(typical=typical, widths=widths, ends=np.clip(centre + scale * (rough - centre), 0, 1))


def tells_nothing(scenario: Scenario, sizes: Sizes) -> bool:
    """Whether there are no labels, and the prior does not say either what the classifier does with each class."""
    if _has_labels(scenario, sizes):
        return False
    return not isinstance(scenario.model, LabelShift) or scenario.model.prior.needs_labels(_without_labels(scenario))


def _has_labels(scenario: Scenario, sizes: Sizes) -> bool:
    return bool(scenario.labeled.sum() + np.rint(sizes.labels).sum())


def _without_labels(scenario: Scenario) -> Counts:
    shape = scenario.labeled.shape
    return Counts(np.zeros(shape, int), np.zeros(shape[1], int), scenario.classes, scenario.outputs)


def _by_prior(truths: Scenario, data: DataSets) -> Scenario:
    """Return the truths that data sets without labels would make one believe in: the prior's mean tells the rates."""
    rows = cast("LabelShift", truths.model).density(_without_labels(truths)).mean_confusion
    as_labels = np.broadcast_to(np.rint(SURE * rows).astype(int), data.labeled.shape)
    return plug_in(truths, DataSets(as_labels, data.unlabeled))


def _nothing_learned(scenario: Scenario, level: float, seed: int) -> Forecast:
    """Return what the prior says where nothing is labelled, so that outputs tell nothing of classes."""
    shares = np.random.default_rng(seed).dirichlet(normal.prior_of(scenario)[2], 20_000)
    between = np.quantile(shares, [(1 - level) / 2, (1 + level) / 2], axis=0).T
    width = between[:, 1] - between[:, 0]
    return Forecast(typical=width, widths=width[None], ends=between[None])


def large_sample_forecast(scenario: Scenario, sizes: Sizes, *, level: float) -> Forecast:
    """Forecast by Fisher information alone, at every truth: what sample-size formulas do."""
    widths = normal.large_sample_widths(scenario, sizes, level)
    half, centre = widths[..., None] / 2, scenario.prevalence[..., None]
    typical = widths[0] if scenario.is_assumed else None
    ends = centre + half * np.array([-1.0, 1.0])
    return Forecast(typical=typical, widths=widths, ends=ends)


def _totals(believed: Scenario, data: DataSets) -> Scenario:
    """Return the scenario in which all labels and items of the plan are counted already."""
    return Scenario(
        prevalence=believed.prevalence,
        confusion=believed.confusion,
        labeled=data.labeled.mean(axis=0),
        unlabeled=data.unlabeled.mean(axis=0),
        classes=believed.classes,
        outputs=believed.outputs,
        model=believed.model,
        is_assumed=believed.is_assumed,
    )


def _corrected(rough: FloatArray, chosen: IntArray, exact: FloatArray) -> FloatArray:
    """Regress logarithms of exact widths on rough ones, class by class; residuals come back in turn."""
    x, y = np.log(rough), np.log(np.maximum(exact, 1e-9))
    seen = x[chosen]
    about = seen - seen.mean(axis=0)
    spread = (about**2).sum(axis=0)
    slope = np.where(spread > 1e-6, (about * (y - y.mean(axis=0))).sum(axis=0) / np.maximum(spread, 1e-12), 1.0)
    slope = np.clip(slope, 0.0, 1.5)
    fitted = y.mean(axis=0) + slope * (x - seen.mean(axis=0))
    left = y - fitted[chosen]
    turns = np.arange(len(rough)) * 7919 % len(chosen)
    corrected: FloatArray = np.minimum(np.exp(fitted + left[turns]), 1.0)
    corrected[chosen] = exact
    return corrected


def posterior_ends(scenario: Scenario, data: DataSets, level: float, draws: int, seed: int) -> FloatArray:
    """Infer from every data set; return its intervals, shape (sets, classes, 2)."""
    problems = [
        Counts(labeled, unlabeled, scenario.classes, scenario.outputs)
        for labeled, unlabeled in zip(data.labeled, data.unlabeled, strict=True)
    ]
    tails = [(1 - level) / 2, (1 + level) / 2]
    found = np.empty((len(problems), len(scenario.classes), 2))
    for place, shares in _posteriors(scenario, problems, draws, seed):
        found[place] = np.quantile(shares, tails, axis=0).T
    return found


def _posteriors(scenario: Scenario, problems: Sequence[Counts], draws: int, seed: int) -> list[tuple[int, FloatArray]]:
    seeds, model = own_seeds(seed, len(problems)), scenario.model
    if isinstance(model, LabelShift):
        densities = [model.density(counts) for counts in problems]
        return [(place, drawn.prevalence) for place, drawn in Auto(draws).sample_many(densities, seeds)]
    closed = [cast("OutputModel", model).closed_form(counts) for counts in problems]
    return [
        (place, sample_closed_form(each, draws=draws, seed=own).prevalence)
        for place, (each, own) in enumerate(zip(closed, seeds, strict=True))
    ]
