"""Which sizes are best: the least loss for a budget, or the least cost for a goal, by Fisher information."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from truecount._types import BoolArray, FloatArray
from truecount.planning.scenario import Sizes

MOST_COST = 1e12
"""Budgets beyond this are not searched."""
TURNS = 2
"""How often the split and the budget are found in turns."""
LEAST_SHARE, SPARED = 0.001, 0.0005
"""A part of the budget below the first is not spent where that widens intervals by less than the second."""
UNLIMITED = 1e12
"""As many labels or items as make no difference."""

Loss = Callable[[Sizes], float]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Which sizes may be chosen.

    Parameters
    ----------
    fixed
        Shape (strata + 1,): sizes that are given, NaN where they are to be found; labels, then items.
    costs
        Shape (strata + 1,): what each costs.
    """

    fixed: FloatArray
    costs: FloatArray

    @property
    def is_free(self) -> BoolArray:
        """Shape (strata + 1,): whether a size is to be found."""
        return np.isnan(self.fixed)

    @property
    def sunk(self) -> float:
        """What the given sizes cost."""
        return float(np.where(self.is_free, 0.0, self.costs) @ np.nan_to_num(self.fixed))

    def divided(self, budget: float, shares: FloatArray) -> Sizes:
        """Return the sizes where these shares of what is left of a budget go to each size that is free."""
        sizes = np.nan_to_num(self.fixed, nan=0.0)
        free = self.is_free
        sizes[free] = shares * max(budget - self.sunk, 0.0) / np.maximum(self.costs[free], 1e-9)
        return Sizes.of(sizes)

    def limit(self) -> Sizes:
        """Return the sizes where those that are free are without limit."""
        return Sizes.of(np.nan_to_num(self.fixed, nan=UNLIMITED))


def best_shares(loss: Loss, choice: Choice, budget: float, start: FloatArray | None = None) -> FloatArray:
    """Return how a budget is best divided between the sizes that are free."""
    from scipy.optimize import minimize

    number = int(choice.is_free.sum())
    if number <= 1 or budget <= choice.sunk:
        return np.full(number, 1 / max(number, 1))

    def cost(logits: FloatArray) -> float:
        return float(np.log(max(loss(choice.divided(budget, _softmax(logits))), 1e-300)))

    first = np.zeros(number) if start is None else np.log(np.maximum(start, 0.5 / number**2))
    found = minimize(cost, first - first.max(), method="L-BFGS-B", bounds=[(-14.0, 0.5)] * number, tol=1e-7)
    shares = _softmax(found.x)
    kept = np.where(shares < LEAST_SHARE, 0.0, shares)
    kept /= kept.sum()
    is_spared = loss(choice.divided(budget, kept)) <= (1 + SPARED) * loss(choice.divided(budget, shares))
    return kept if is_spared else shares


def _softmax(logits: FloatArray) -> FloatArray:
    shares = np.exp(logits - logits.max())
    scaled: FloatArray = shares / shares.sum()
    return scaled


def best_sizes(loss: Loss, choice: Choice, budget: float) -> Sizes:
    """Return whole sizes for which a budget is spent best; what rounding leaves goes to the largest of them."""
    sizes = np.floor(choice.divided(budget, best_shares(loss, choice, budget)).vector + 1e-9)
    left = budget - sizes @ choice.costs
    free = np.flatnonzero(choice.is_free)
    for place in free[np.argsort(-sizes[free])]:
        if choice.costs[place] > 0:
            more = max(np.floor(left / choice.costs[place] + 1e-9), 0.0)
            sizes[place] += more
            left -= more * choice.costs[place]
    return Sizes.of(sizes)


def cheapest_sizes(loss: Loss, choice: Choice, target: float) -> Sizes | None:
    """Return the sizes of the least cost whose loss is `target`; None where no size reaches it.

    The best split changes slowly with the budget, so that both are found in turns.
    """
    if not choice.is_free.any() or loss(choice.limit()) >= target:
        return None
    nothing = Sizes.of(np.nan_to_num(choice.fixed, nan=0.0))
    if loss(nothing) <= target:
        return nothing
    number = int(choice.is_free.sum())
    shares = np.full(number, 1 / number)
    budget = enough_budget(loss, choice, shares, target)
    for _ in range(TURNS if number > 1 else 0):
        if budget is None:
            return None
        shares = best_shares(loss, choice, budget, shares)
        budget = enough_budget(loss, choice, shares, target)
    return None if budget is None else rounded_up(choice, budget, shares)


def rounded_up(choice: Choice, budget: float, shares: FloatArray) -> Sizes:
    """Return whole sizes, none smaller than a budget so divided buys."""
    sizes = choice.divided(budget, shares).vector
    return Sizes.of(np.where(choice.is_free, np.ceil(np.maximum(sizes - 1e-6, 0.0)), sizes))


def enough_budget(loss: Loss, choice: Choice, shares: FloatArray, target: float) -> float | None:
    """Return the budget that, so divided, has the loss `target`; None where none has."""
    from scipy.optimize import brentq

    def excess(log_budget: float) -> float:
        spent = choice.divided(choice.sunk + float(np.exp(log_budget)), shares)
        return float(np.log(max(loss(spent), 1e-300) / target))

    low, high = 0.0, np.log(MOST_COST)
    if excess(low) <= 0:
        is_enough = loss(choice.divided(choice.sunk, shares)) <= target
        return choice.sunk + (0.0 if is_enough else 1.0)
    if excess(high) > 0:
        return None
    return choice.sunk + float(np.exp(brentq(excess, low, high, xtol=1e-6, rtol=1e-9)))
