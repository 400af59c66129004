"""One question of planning: what may be true, for one population or for groups, and what is to be reached."""

from collections import defaultdict
from collections.abc import Mapping, ValuesView
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from truecount._types import FloatArray
from truecount.models import LabelShift
from truecount.planning import normal
from truecount.planning.forecast import Forecast, Kept, forecast, large_sample_forecast
from truecount.planning.goal import Goal
from truecount.planning.groups import Together, group_forecasts
from truecount.planning.scenario import Scenario, Sizes
from truecount.planning.search import Choice, cheapest_sizes, enough_budget, rounded_up

TRUTHS = ((3, 96), (10, 24), (10**9, 8))
"""Up to so many classes: truths that a search averages over."""
SHARP = 12.0
"""Power of the mean that stands in for the widest of several classes."""
ROUNDS, NEAR, ALIKE = 8, 0.02, 1.5
"""How often a search is corrected by what is simulated, how near to the goal that has to be, and by how many times
sizes may differ meanwhile from those that were inferred from."""


@dataclass(frozen=True, slots=True, eq=False)
class Forecasts:
    """The forecast of each group, and of the difference of two where that is asked for."""

    each: Mapping[Any, Forecast]
    difference: Forecast | None = None

    def values(self) -> ValuesView[Forecast]:
        """Return the forecasts in the order of the groups."""
        return self.each.values()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Problem:
    """What may be true, and what is to be reached.

    Parameters
    ----------
    scenarios
        By group; one population has the key None.
    goal
        What is to be reached; without one, the width that is to be small.
    level
        Of the intervals.
    is_large_sample
        Whether to plan by Fisher information alone.
    seed
        Of what is simulated.
    together
        How groups belong together; None for one population.
    kept
        What was inferred from at other sizes, by group.
    """

    scenarios: Mapping[Any, Scenario]
    goal: Goal
    level: float
    is_large_sample: bool
    seed: int
    together: Together | None = None
    kept: Mapping[Any, Kept] = field(default_factory=lambda: defaultdict(Kept))

    @property
    def first(self) -> Scenario:
        """Any of the scenarios: names and design are the same in all."""
        return next(iter(self.scenarios.values()))

    @property
    def places(self) -> list[int]:
        """Positions of the classes that matter."""
        return self.goal.places(self.first.classes)

    def loss(self, sizes: Sizes) -> float:
        """Return what a search makes small, by Fisher information: the width, or the probability to miss the goal."""
        if self.goal.kind == "apart":
            return 1 - self.separated(sizes)
        return max(self._loss_of(_some(scenario), sizes) for scenario in self.scenarios.values())

    def _loss_of(self, truths: Scenario, sizes: Sizes) -> float:
        if self.goal.kind == "narrow":
            widths = normal.large_sample_widths if self.is_large_sample else normal.widths
            found = widths(truths, sizes, self.level)[:, self.places]
            return float(np.mean((found**SHARP).mean(axis=1) ** (1 / SHARP)))
        place, sign = self.places[0], 1 if self.goal.kind == "above" else -1
        deviations = normal.large_sample_deviations if self.is_large_sample else normal.standard_deviations
        deviation = deviations(truths, sizes)[:, place]
        return 1 - float(decided(sign * (truths.prevalence[:, place] - self.goal.share), deviation, self.level).mean())

    def separated(self, sizes: Sizes) -> float:
        """Return the probability that the interval of the difference of two groups leaves zero out."""
        first, second = self._pair()
        gap = np.abs(first.prevalence - second.prevalence)[:, self.places[0]]
        return float(decided(gap, self._difference_deviations(sizes), self.level).mean())

    def width(self, sizes: Sizes) -> float:
        """Return the width that sizes are compared by, by Fisher information.

        It is that of the widest interval that matters, or of the difference of two groups that are to be told apart.
        """
        if self.goal.kind == "apart":
            return float(normal.width_of(self._difference_deviations(sizes), self.level).mean())
        return replace(self, goal=replace(self.goal, kind="narrow", share=0.25)).loss(sizes)

    def simulated_width(self, forecasts: Forecasts) -> float:
        """Return the same width as it was simulated."""
        if self.goal.kind == "apart" and forecasts.difference is not None:
            return float(forecasts.difference.mean[self.places[0]])
        return max(float(found.width[self.places].max()) for found in forecasts.values())

    def _pair(self) -> tuple[Scenario, Scenario]:
        """Return the two groups that are to be told apart."""
        first, second = (_some(self.scenarios[group]) for group in self.goal.groups or ())
        return first, second

    def _difference_deviations(self, sizes: Sizes) -> FloatArray:
        """Return the standard deviation of the difference of the two groups, shape (truths,)."""
        first, second = self._pair()
        shares_labels = self.together is not None and self.together.shares_labels
        if shares_labels and isinstance(first.model, LabelShift):
            both = normal.difference_deviations(first, second, sizes.labels, (sizes.items, sizes.items))
        else:
            both = np.hypot(*(normal.standard_deviations(each, sizes) for each in (first, second)))
        deviations: FloatArray = both[:, self.places[0]]
        return deviations

    def forecasts(self, sizes: Sizes, alike: float = 1.0) -> Forecasts:
        """Forecast every group's intervals, and the difference of two where that is the goal.

        What was inferred at sizes that differ by at most `alike` times is not inferred again.
        """
        if self.is_large_sample:
            each = {
                group: large_sample_forecast(scenario, sizes, level=self.level)
                for group, scenario in self.scenarios.items()
            }
            return Forecasts(each)
        if self.together is not None:
            pair = replace(self.together, pair=self.goal.groups)
            return Forecasts(*group_forecasts(self.scenarios, sizes, pair, self.kept, level=self.level, seed=self.seed))
        return Forecasts(
            {
                group: forecast(scenario, sizes, level=self.level, seed=self.seed, kept=self.kept[group], alike=alike)
                for group, scenario in self.scenarios.items()
            }
        )

    def probability(self, forecasts: Forecasts, sizes: Sizes) -> float:
        """Return how probable it is that the goal is met."""
        if self.is_large_sample and self.goal.kind != "narrow":
            return 1 - self.loss(sizes)
        if self.goal.kind == "apart":
            if forecasts.difference is None:
                return 0.0
            low, high = forecasts.difference.ends[:, self.places[0]].T
            return float(np.mean((low > 0) | (high < 0)))
        met = []
        for found in forecasts.values():
            if self.goal.kind == "narrow":
                met.append(found.widths[:, self.places].max(axis=1) <= 2 * self.goal.share)
            elif self.goal.kind == "above":
                met.append(found.ends[:, self.places[0], 0] > self.goal.share)
            else:
                met.append(found.ends[:, self.places[0], 1] < self.goal.share)
        return float(np.mean(np.all(met, axis=0)))

    def reached(self, forecasts: Forecasts, sizes: Sizes) -> tuple[float, float]:
        """Return what is reached and what is to be reached, both the better the smaller."""
        if self.goal.kind != "narrow":
            return 1 - self.probability(forecasts, sizes), 1 - (self.goal.assurance or 0.5)
        each = [found.widths[:, self.places].max(axis=1) for found in forecasts.values()]
        if self.goal.assurance is not None:
            return float(np.quantile(np.max(each, axis=0), self.goal.assurance)), 2 * self.goal.share
        return max(float(found.width[self.places].max()) for found in forecasts.values()), 2 * self.goal.share

    def cheapest(self, choice: Choice) -> Sizes | None:
        """Return the sizes of the least cost that reach the goal, corrected by what is simulated; None without any."""
        aim = self.reached_target
        sizes = cheapest_sizes(self.loss, choice, aim)
        if sizes is None or self.is_large_sample:
            return sizes
        best, enough, least, alike = sizes, np.inf, np.inf, ALIKE
        for _ in range(ROUNDS):
            found, target = self.reached(self.forecasts(sizes, alike), sizes)
            cost, excess = float(choice.costs @ sizes.vector), max(found / target - 1, 0.0)
            is_near = target * (1 - NEAR) <= found <= target or (found <= target and cost <= choice.sunk)
            if is_near and alike > 1:
                alike = 1.0
                continue
            if (excess, cost) < (enough, least):
                best, enough, least = sizes, excess, cost
            if is_near:
                break
            aim *= float(np.clip((1 - NEAR / 2) * target / max(found, 1e-6), 0.2, 5.0))
            more = self._as_divided(sizes, choice, aim)
            if more is None:
                break
            sizes = more
        return best if enough < np.inf else None

    def _as_divided(self, sizes: Sizes, choice: Choice, aim: float) -> Sizes | None:
        """Return sizes that have the loss `aim` and divide what is spent as these do; None where none have."""
        spent = (choice.costs * sizes.vector)[choice.is_free]
        if not spent.sum():
            return cheapest_sizes(self.loss, choice, aim)
        shares = spent / spent.sum()
        budget = enough_budget(self.loss, choice, shares, aim)
        return None if budget is None else rounded_up(choice, budget, shares)

    @property
    def reached_target(self) -> float:
        """What the loss is to be, if Fisher information were right."""
        return 2 * self.goal.share if self.goal.kind == "narrow" else 1 - (self.goal.assurance or 0.5)


def decided(gap: FloatArray, deviation: FloatArray, level: float) -> FloatArray:
    """Return the probability that an interval lies beyond a threshold, which the truth exceeds by `gap`."""
    from scipy.special import ndtr, ndtri

    chance: FloatArray = ndtr(gap / np.maximum(deviation, 1e-12) - ndtri((1 + level) / 2))
    return chance


def _some(scenario: Scenario) -> Scenario:
    """Return a few of the truths."""
    number, classes = len(scenario.prevalence), len(scenario.classes)
    some = next(truths for most, truths in TRUTHS if classes <= most)
    return scenario.take(np.linspace(0, number - 1, min(number, some)).astype(int))
