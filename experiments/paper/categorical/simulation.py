"""Section 3.1 and the appendix: point estimates from a simulated black box, in six panels."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from experiments.paper.progress import posteriors, repeat

import truecount as tc
from truecount import simulate
from truecount.estimators import BBSE, CC, MAP, InvariantRatio

METHODS = {"CC": CC(), "BBSE": BBSE(), "IR": InvariantRatio(), "MAP-1": MAP(), "MAP-2": MAP(tc.Prior(2.0))}
NAMES = [*METHODS, "posterior"]
METRICS = ("linf", "l1", "l2")


@dataclass(frozen=True)
class Setting:
    """The paper's table of defaults; without a `new_quality` the unlabelled items come from the same confusion."""

    labeled: int = 1000
    unlabeled: int = 500
    first: float = 0.7
    quality: float = 0.85
    classes: int = 5
    outputs: int = 5
    new_quality: float | None = None

    @property
    def truth(self) -> np.ndarray:
        """Prevalence of the unlabelled population."""
        return simulate.prevalence(self.first, self.classes)

    def draw(self, seed: int) -> tc.Counts:
        """Draw both data sets."""
        quality = self.quality if self.new_quality is None else self.new_quality
        known, new = (simulate.confusion(each, self.classes, self.outputs) for each in (self.quality, quality))
        labeled = simulate.counts(self.truth, known, labeled=self.labeled, unlabeled=0, seed=2 * seed)
        unlabeled = simulate.counts(self.truth, new, labeled=0, unlabeled=self.unlabeled, seed=2 * seed + 1)
        return tc.Counts(labeled.labeled, unlabeled.unlabeled)


@dataclass(frozen=True)
class Panel:
    """What is varied, the values that the paper gives it, and how many times as many repetitions it needs."""

    title: str
    fields: tuple[str, ...]
    values: tuple[float, ...]
    times: int = 1

    def settings(self) -> Iterator[tuple[float, Setting]]:
        """Each value with its setting."""
        for value in self.values:
            yield value, replace(Setting(), **dict.fromkeys(self.fields, value))


PANELS = {
    "prevalence": Panel("prevalence of class 1, r", ("first",), (0.5, 0.6, 0.7, 0.8, 0.9)),
    "size": Panel("unlabelled items, N′", ("unlabeled",), (10, 50, 100, 500, 1000, 10_000)),
    "quality": Panel("quality, q", ("quality",), (0.55, 0.65, 0.75, 0.85, 0.95)),
    "outputs": Panel("outputs, K (L = 5)", ("outputs",), (2, 3, 5, 7, 9)),
    "classes": Panel("classes and outputs, L = K", ("classes", "outputs"), (2, 3, 5, 7, 9, 11, 20)),
    "misspecified": Panel(
        "quality on unlabelled items, q′ (q = 0.85)", ("new_quality",), (0.45, 0.55, 0.65, 0.75, 0.8, 0.85, 0.9, 0.95)
    ),
}
BEYOND = {
    "size, beyond": Panel("unlabelled items, N′", ("unlabeled",), (10_000_000,)),
    "quality, beyond": Panel("quality, q", ("quality",), (1.0,)),
    "misspecified, beyond": Panel("quality on unlabelled items, q′", ("new_quality",), (0.8, 0.85, 0.9), times=5),
}


@dataclass(frozen=True)
class Config:
    """How often, and with how many draws for a posterior mean."""

    repetitions: int = 100
    effective_draws: int = 500
    most_classes: int = 20
    shrinking: int = 20


FULL = Config()
QUICK = Config(repetitions=20, effective_draws=200, most_classes=7, shrinking=5)


def run(config: Config) -> dict[str, pd.DataFrame]:
    """Errors of every method in every setting, and how the posterior's sd falls with a hundred times the data."""
    panels = [
        (name, value, setting, config.repetitions * panel.times)
        for name, panel in {**PANELS, **BEYOND}.items()
        for value, setting in panel.settings()
        if setting.classes <= config.most_classes
    ]
    rows = [row for panel in repeat(panels, "categorical") for row in _rows(*panel, config.effective_draws)]
    return {"errors": pd.DataFrame(rows), "shrinking": pd.DataFrame(_shrinking(config))}


def _rows(panel: str, value: float, setting: Setting, number: int, draws: int) -> Iterator[dict[str, object]]:
    problems = [setting.draw(seed) for seed in range(number)]
    found = posteriors(problems, tc.Auto(draws))
    for number, (counts, posterior) in enumerate(zip(problems, found, strict=True)):
        row: dict[str, object] = {"panel": panel, "value": value, "repetition": number}
        for name in NAMES:
            shares = posterior.mean if name == "posterior" else _point(counts, name)
            row |= {f"{name} {metric}": error for metric, error in _errors(shares, setting.truth).items()}
        yield row


def _point(counts: tc.Counts, name: str) -> np.ndarray:
    """The estimate; none where the method refuses, as CC does when outputs are not the classes."""
    try:
        return tc.estimate(counts, METHODS[name]).prevalence
    except tc.InputError:
        return np.full(len(counts.classes), np.nan)


def _errors(shares: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    error = np.abs(shares - truth)
    is_negative = np.nan if np.isnan(shares).any() else float((shares < -1e-12).any())
    sizes = {"linf": error.max(), "l1": error.mean(), "l2": (error**2).mean(), "first": error[0]}
    return {**{name: float(f"{size:.4g}") for name, size in sizes.items()}, "negative": is_negative}


def _shrinking(config: Config) -> Iterator[dict[str, object]]:
    """Posterior sd of every class with K = 3 < L, at the default sizes and at a hundred times as much."""
    for scale in (1, 100):
        setting = Setting(labeled=1000 * scale, unlabeled=500 * scale, outputs=3)
        problems = [setting.draw(seed) for seed in range(config.shrinking)]
        for number, posterior in enumerate(posteriors(problems, tc.Auto(2000))):
            deviations = {f"sd {name + 1}": float(f"{sd:.4g}") for name, sd in enumerate(posterior.sd)}
            yield {"scale": scale, "repetition": number, **deviations}
