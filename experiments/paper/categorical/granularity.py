"""What the text says about the fourth panel: more and fewer outputs than classes."""

import numpy as np
import pandas as pd
from experiments.paper.categorical.errors import INVERTING, OTHERS, Errors
from experiments.paper.categorical.simulation import NAMES, Setting
from experiments.paper.claim import Claim, difference, listed, mean

from truecount import simulate


def outputs_claims(errors: Errors, shrinking: pd.DataFrame) -> list[Claim]:
    """All about the fourth panel."""
    unusable = [value for value in errors.values("outputs") if np.isnan(errors.of("outputs", value, "CC")).all()]
    return [
        Claim(
            "3.1, fourth panel",
            "CC cannot be used for K ≠ L",
            f"refused with a reason at K = {', '.join(f'{value:g}' for value in unusable)}",
            unusable == [value for value in errors.values("outputs") if value != Setting().classes],
            is_main=True,
        ),
        _more_outputs(errors),
        _enough_outputs(errors),
        *_few_outputs(errors),
        _no_shrinking(shrinking),
    ]


def _more_outputs(errors: Errors) -> Claim:
    """K > L: the five outputs follow from more by chance alone, and the errors do not grow."""
    confusions = {outputs: simulate.confusion(0.85, 5, outputs)[0, :2] for outputs in (5, 7, 9)}
    kept = {outputs: np.subtract(*confusions[5]) / np.subtract(*row) for outputs, row in confusions.items()}
    larger = [
        (value, name)
        for value in (7, 9)
        for name in (*OTHERS, "posterior")
        if difference(errors.of("outputs", value, name), errors.of("outputs", 5, name)).is_above()
    ]
    return Claim(
        "3.1, fourth panel",
        "for K > L the box tells at least as much as with fewer outputs",
        f"keeping an output with probability {kept[7]:.3f} (K = 7) or {kept[9]:.3f} (K = 9), and else one of five at "
        f"random, gives the box with K = 5; mean ℓ∞ of MAP-1 by K: {listed(errors.means('outputs', 'MAP-1'))}",
        max(kept.values()) <= 1 and not larger,
    )


def _enough_outputs(errors: Errors) -> Claim:
    worst = {
        value: max((errors.mean("outputs", value, name) for name in OTHERS), key=lambda each: each.value)
        for value in errors.values("outputs")
    }
    best_below = min(errors.mean("outputs", value, name).value for value in (2, 3) for name in OTHERS)
    return Claim(
        "3.1, fourth panel",
        "all but CC have little error for K ≥ L (printed as K ≤ L)",
        f"largest mean ℓ∞ of BBSE, IR, MAP: {listed(((f'K = {at:g}', each.value) for at, each in worst.items()))}",
        all(worst[value].is_below(best_below) for value in (5, 7, 9)),
        is_main=True,
    )


def _few_outputs(errors: Errors) -> list[Claim]:
    return [
        _better("outputs", errors, "linf", "for K < L our approach has less error than matrix inversion"),
        _better(
            "outputs", errors, "first", "for K < L it learns more about a class that the box tells apart (class 1)"
        ),
    ]


def _better(panel: str, errors: Errors, metric: str, says: str) -> Claim:
    """Whether MAP is better than both inversions, at K = 2 and 3."""
    gains = [
        mean(errors.of(panel, value, inverting, metric) - errors.of(panel, value, ours, metric))
        for value in (2, 3)
        for ours in ("MAP-1", "MAP-2")
        for inverting in INVERTING
    ]
    by_method = [
        f"K = {value}: " + listed((name, errors.of(panel, value, name, metric).mean()) for name in NAMES[1:])
        for value in (2, 3)
    ]
    title = {"linf": "mean ℓ∞", "first": "mean error of class 1"}[metric]
    return Claim(
        "3.1, fourth panel; 5",
        says,
        f"{title}, {'; '.join(by_method)}",
        all(gain.is_above() for gain in gains),
        is_main=True,
    )


def _no_shrinking(shrinking: pd.DataFrame) -> Claim:
    ratio = shrinking[shrinking["scale"] == 100].mean() / shrinking[shrinking["scale"] == 1].mean()
    alone, confused = ratio["sd 1"], ratio[["sd 4", "sd 5"]].min()
    return Claim(
        "3.1, fourth panel",
        "for K < L the posterior does not shrink",
        f"K = 3, with a hundred times the data (√: 0.10) posterior sds are {alone:.2f} of what they were for class 1, "
        f"which the box tells apart, and {confused:.2f} for classes 4 and 5, which it does not",
        confused > 0.5,
        is_main=True,
    )
