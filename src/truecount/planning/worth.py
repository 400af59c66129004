"""What something else would be worth at the same sizes: an audit, a better classifier, unlimited labels or items."""

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from truecount._types import FloatArray
from truecount.models import LabelShift, SamePopulation
from truecount.planning import normal
from truecount.planning.forecast import Kept
from truecount.planning.problem import Problem
from truecount.planning.scenario import Scenario, Sizes
from truecount.planning.search import UNLIMITED, Choice, best_shares

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Multiples of the cost of a plan for which curves are drawn."""
SAME = 0.01
"""A split whose widths differ from the best one's by less is that one, in a curve."""
What = Literal["unlimited items", "unlimited labels", "audit", "audit for the goal", "half the errors", "finer cells"]


@dataclass(frozen=True, slots=True)
class Alternative:
    """What the width that matters would be with something else; `detail` says of what, `labels` those of an audit."""

    what: What
    width: float
    detail: str = ""
    labels: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The width that matters against what is spent: shapes (costs,) and, for each way to split it, (costs,)."""

    costs: FloatArray
    splits: dict[str, FloatArray]


def alternatives(problem: Problem, sizes: Sizes, ratio: float, *, has_goal: bool = False) -> list[Alternative]:
    """Return what else would change, by Fisher information times what simulation corrected it by.

    Parameters
    ----------
    problem, sizes
        What is planned.
    ratio
        By how much the simulated width differs from the one by Fisher information.
    has_goal
        Whether there is a goal: how few labels of an audit reach it is told too.
    """
    first = problem.first
    found = [Alternative("unlimited items", ratio * problem.width(Sizes(sizes.labels, UNLIMITED)))]
    if not isinstance(first.model, SamePopulation):  # whose unlimited labels would be a census
        unlimited = Sizes(np.full_like(sizes.labels, UNLIMITED), sizes.items)
        known = "rates" if isinstance(first.model, LabelShift) else "P(class|output)"
        found.append(Alternative("unlimited labels", ratio * problem.width(unlimited), known))
    labels = sizes.labels.sum() + first.labeled.sum()
    if isinstance(first.model, LabelShift) and 0 < labels < UNLIMITED:
        audited = {group: _audited(scenario) for group, scenario in problem.scenarios.items()}
        audit = replace(problem, scenarios=audited)
        in_each = np.array([labels / len(audited)])
        found.append(Alternative("audit", audit.width(Sizes(in_each, sizes.items)), f"{labels:,.0f}"))
        if has_goal and problem.goal.kind != "apart" and len(audited) == 1:
            alone = replace(problem, scenarios=audited, kept=defaultdict(Kept), together=None)
            found += _audit_for_the_goal(alone, sizes.items)
    if set(first.classes) == set(first.outputs):
        better = {group: _better(scenario) for group, scenario in problem.scenarios.items()}
        found.append(Alternative("half the errors", ratio * replace(problem, scenarios=better).width(sizes)))
    return found


def _audit_for_the_goal(audit: Problem, items: float) -> list[Alternative]:
    """Return the smallest audit that reaches the goal, corrected by what is simulated; none where there is none."""
    enough = audit.cheapest(Choice(np.array([np.nan, items]), np.array([1.0, 0.0])))
    if enough is None or not enough.labels.any():
        return []
    width = max(float(found.width[audit.places].max()) for found in audit.forecasts(enough).values())
    labels = round(float(enough.labels.sum()))
    return [Alternative("audit for the goal", width, f"{labels:,}", labels)]


def _audited(scenario: Scenario) -> Scenario:
    """Return the scenario in which all labels are a random sample of the population itself."""
    none = np.zeros_like(scenario.labeled)
    return replace(scenario, model=SamePopulation(), labeled=none)


def _better(scenario: Scenario) -> Scenario:
    """Return the scenario of a classifier that makes half the errors."""
    right = np.array([[float(output == name) for output in scenario.outputs] for name in scenario.classes])
    return scenario.at(scenario.prevalence, (scenario.confusion + right) / 2)


def curve(problem: Problem, choice: Choice, sizes: Sizes, ratio: float) -> Curve:
    """Return the width against what is spent, for several ways to split it."""
    free = replace(choice, fixed=np.full_like(choice.fixed, np.nan))
    if choice.fixed[-1] == 0 or choice.costs[-1] == 0:
        free.fixed[-1] = sizes.items
    spent = float(free.costs @ np.where(np.isnan(free.fixed), sizes.vector, 0.0))
    spent = spent or max(float(problem.first.labeled.sum()) * choice.costs[:-1].mean(), 1.0)
    costs, start = spent * np.array(FACTORS), None
    splits: dict[str, list[float]] = {"best split": [], "equal split": [], "this split": []}
    number = int(np.isnan(free.fixed).sum())
    own = (free.costs * sizes.vector)[np.isnan(free.fixed)]
    for cost in costs:
        start = best_shares(problem.width, free, cost, start)
        shares = {"best split": start, "equal split": np.full(number, 1 / number)}
        if own.sum() > 0:
            shares["this split"] = own / own.sum()
        for name, share in shares.items():
            splits[name].append(ratio * problem.width(free.divided(cost, share)))
    found = {name: np.array(widths) for name, widths in splits.items() if widths}
    if "this split" in found and np.allclose(found["this split"], found["best split"], rtol=SAME):
        del found["this split"]
    return Curve(costs, found)


def indistinct(scenario: Scenario) -> list[str]:
    """Return the classes that the outputs cannot tell apart, as far as is known; none where they can."""
    confusion = scenario.confusion.mean(axis=0)
    left, values, _ = np.linalg.svd(confusion, full_matrices=True)
    smallest = values[-1] if len(values) == len(confusion) else 0.0
    if smallest > 0.02 * values[0]:
        return []
    weights = np.abs(left[:, -1])
    return [str(scenario.classes[place]) for place in np.flatnonzero(weights > 0.3 * weights.max())]


def unlimited_widths(scenario: Scenario, level: float) -> FloatArray:
    """Return the width of each class's interval that no number of labels and items gets under."""
    limit = Sizes(np.full(len(scenario.strata), UNLIMITED), UNLIMITED)
    widths: FloatArray = normal.widths(scenario, limit, level).mean(axis=0)
    return widths
