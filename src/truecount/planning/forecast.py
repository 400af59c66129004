"""How wide intervals will be: many data sets by Fisher information, some of them by the posterior itself."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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

EFFORT = ((2, (1024, 48)), (5, (512, 32)), (10, (256, 16)), (10**9, (128, 4)))
"""Up to so many classes: data sets, and how many of them are inferred from."""
FEW, EXPECTED_DRAWS = 10, 32_000
"""Classes up to which the expected data are inferred from too, and draws for them, divided by the classes."""
AS_INFERRED = Auto()
"""The engine of `infer` where none is chosen."""


ALIKE = 3.0
"""By how many times labels and items may differ from those that were inferred from, where inferring takes long."""
DATA_STREAM = 1
"""Sets the random numbers of the data apart from those that the truths were drawn by with the same seed."""
FEWEST_FOR_SLOPES = 12
"""Data sets from which on a regression learns how steep it is; with fewer, differences alone are averaged."""
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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Simulated:
    """Data sets that may come, with what Fisher information says of them.

    Parameters
    ----------
    data
        The data sets, each at a truth of its own.
    believed
        The truths that they would make one believe in.
    ends
        Shape (sets, classes, 2): intervals by Fisher information there.
    chosen
        Shape (inferred,): positions of those that are inferred from.
    """

    data: DataSets
    believed: Scenario
    ends: FloatArray
    chosen: IntArray

    @property
    def inferred(self) -> DataSets:
        """The data sets that are inferred from."""
        return self.data.take(self.chosen)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Correction:
    """How intervals that were inferred differ from those by Fisher information.

    Parameters
    ----------
    rough, exact
        Shape (inferred, classes, 2): intervals of the same data sets, by Fisher information and inferred.
    limits
        Between which they lie.
    """

    rough: FloatArray
    exact: FloatArray
    limits: tuple[float, float] = (0.0, 1.0)

    def applied(self, rough: FloatArray) -> Forecast:
        """Regress inferred intervals on rough ones, class by class; return all `rough` ones as inferred ones would be.

        Widths are regressed in logarithms and ends as they are. What is left over comes back in turn, enlarged by
        what the line, learned from few data sets, may be wrong by: what is forecast has the variance of a prediction.
        """
        widths = np.exp(_regressed(_log_widths(rough), _log_widths(self.rough), _log_widths(self.exact)))
        ends = np.clip(np.sort(_regressed(rough, self.rough, self.exact), axis=-1), *self.limits)
        return Forecast(typical=None, widths=np.minimum(widths, self.limits[1] - self.limits[0]), ends=ends)


def _log_widths(ends: FloatArray) -> FloatArray:
    widths: FloatArray = np.log(np.maximum(ends[..., 1] - ends[..., 0], 1e-9))
    return widths


def _regressed(x: FloatArray, seen: FloatArray, y: FloatArray) -> FloatArray:
    """Return what goes with `x`, by a line through `seen` and `y` and its residuals in turn, as a prediction varies.

    With n pairs and p numbers learned, residuals have ``(n − p)/n`` of the variance σ² about the line; a prediction has
    ``(1 + 1/n) σ²``, as the mean is learned too. What the slope may be wrong by is in the spread over `x` already.
    """
    about = seen - seen.mean(axis=0)
    spread = (about**2).sum(axis=0)
    slope, learned = np.ones_like(spread), 1
    if len(seen) >= FEWEST_FOR_SLOPES:
        learned = 2
        steep = (about * (y - y.mean(axis=0))).sum(axis=0) / np.maximum(spread, 1e-12)
        slope = np.clip(np.where(spread > 1e-6, steep, 1.0), 0.0, 1.5)
    number = len(seen)
    left = (y - y.mean(axis=0) - slope * about) * np.sqrt((number + 1) / max(number - learned, 1))
    turns = np.arange(len(x)) * 7919 % number
    found: FloatArray = y.mean(axis=0) + slope * (x - seen.mean(axis=0)) + left[turns]
    return found


def effort_of(n_classes: int) -> tuple[int, int]:
    """Return how many data sets are drawn, and how many of them are inferred from."""
    return next(effort for most, effort in EFFORT if n_classes <= most)


def forecast(
    scenario: Scenario, sizes: Sizes, *, level: float, seed: int = 0, kept: "Kept | None" = None, alike: float = 1.0
) -> Forecast:
    """Forecast the intervals of a plan.

    Many data sets are drawn, each at a truth of its own, and their widths read off the Fisher information at what they
    would make one believe. Some are inferred from; a regression of those intervals on these corrects all.

    Parameters
    ----------
    scenario, sizes
        What may be true, and what is to be gathered.
    level, seed
        Of the intervals; of what is simulated.
    kept, alike
        What was inferred from data of other sizes, and is not inferred again where sizes differ by fewer times than
        `alike` (more where classes are many).
    """
    if tells_nothing(scenario, sizes):
        return nothing_learned(scenario, level, seed)
    n_classes = len(scenario.classes)
    sets, inferred = effort_of(n_classes)
    rough = simulated(scenario, sizes, level=level, sets=sets, inferred=inferred, seed=seed)
    correction = None if kept is None else kept.near(sizes, scenario, alike if n_classes <= FEW else ALIKE)
    if correction is None:
        exact = posterior_ends(scenario, rough.inferred, level, seed)
        correction = Correction(rough=rough.ends[rough.chosen], exact=exact)
        if kept is not None:
            kept.add(sizes, scenario, correction)
    found = correction.applied(rough.ends)
    if not (scenario.is_assumed and n_classes <= FEW):
        return found
    expected, many = expected_data(scenario, sizes), Auto(EXPECTED_DRAWS // n_classes)
    between = posterior_ends(scenario, expected, level, seed, many)[0]
    return replace(found, typical=between[:, 1] - between[:, 0])


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Corrections that were found at other sizes."""

    found: list[tuple[FloatArray, Correction]] = field(default_factory=list)

    def near(self, sizes: Sizes, scenario: Scenario, alike: float) -> Correction | None:
        """Return the correction of the nearest sizes, where these differ by at most so many times; else None."""
        here = _amounts(sizes, scenario)
        distances = [float(np.abs(here - there).max()) for there, _ in self.found]
        if not distances or min(distances) > np.log(alike) + 1e-9:
            return None
        return self.found[int(np.argmin(distances))][1]

    def add(self, sizes: Sizes, scenario: Scenario, correction: Correction) -> None:
        """Keep a correction."""
        self.found.append((_amounts(sizes, scenario), correction))


def _amounts(sizes: Sizes, scenario: Scenario) -> FloatArray:
    """Return logarithms of how many labels and how many items there will be."""
    labels = scenario.labeled.sum() + sizes.labels.sum()
    return np.log([labels + 1.0, scenario.counted_items + sizes.items + 1.0])


def simulated(scenario: Scenario, sizes: Sizes, *, level: float, sets: int, inferred: int, seed: int) -> Simulated:
    """Draw data sets, and read intervals off the Fisher information at what they would make one believe."""
    truths = scenario.take(np.arange(sets) % len(scenario.prevalence))
    data = drawn_data(truths, sizes, np.random.default_rng((seed, DATA_STREAM)))
    believed = plug_in(truths, data) if _has_labels(scenario, sizes) else _by_prior(truths, data)
    none = Sizes(np.zeros_like(sizes.labels), 0.0)
    ends = normal.ends(believed.prevalence, normal.standard_deviations(_totals(believed, data), none), level)
    return Simulated(data=data, believed=believed, ends=ends, chosen=np.linspace(0, sets - 1, inferred).astype(int))


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
    return plug_in(truths, data._replace(labeled=as_labels))


def nothing_learned(scenario: Scenario, level: float, seed: int) -> Forecast:
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
    return replace(believed, labeled=data.labeled.mean(axis=0), unlabeled=data.unlabeled.mean(axis=0))


def posterior_ends(
    scenario: Scenario, data: DataSets, level: float, seed: int, engine: Auto = AS_INFERRED
) -> FloatArray:
    """Infer from every data set; return its intervals, shape (sets, classes, 2).

    By default with as many draws as `infer` takes. With fewer, ends vary more from draws to draws, which makes the
    widest of several intervals wider, and they lie nearer to each other.
    """
    problems = [
        Counts(labeled, unlabeled, scenario.classes, scenario.outputs)
        for labeled, unlabeled in zip(data.labeled, data.unlabeled, strict=True)
    ]
    tails = [(1 - level) / 2, (1 + level) / 2]
    found = np.empty((len(problems), len(scenario.classes), 2))
    for place, shares in _posteriors(scenario, problems, engine, seed):
        found[place] = np.quantile(shares, tails, axis=0).T
    return found


def _posteriors(
    scenario: Scenario, problems: Sequence[Counts], engine: Auto, seed: int
) -> list[tuple[int, FloatArray]]:
    seeds, model = own_seeds(seed, len(problems)), scenario.model
    if isinstance(model, LabelShift):
        densities = [model.density(counts) for counts in problems]
        return [(place, drawn.prevalence) for place, drawn in engine.sample_many(densities, seeds)]
    closed = [cast("OutputModel", model).closed_form(counts) for counts in problems]
    return [
        (place, sample_closed_form(each, draws=engine.open_choice, seed=own).prevalence)
        for place, (each, own) in enumerate(zip(closed, seeds, strict=True))
    ]
