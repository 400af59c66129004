"""Section 3.3: benign and malignant samples of the Diagnostic Wisconsin Breast Cancer Database."""

from collections.abc import Iterator
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiments.paper.claim import Claim, Measured, mean, share
from experiments.paper.drawing import half_violin
from experiments.paper.progress import repeat
from experiments.paper.style import COLORS, legend, points, truth
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

import truecount as tc
from truecount.estimators import BBSE, CC, EM, MAP, InvariantRatio

TITLE = "Breast cancer (section 3.3)"
NOTE = """
The set comes with scikit-learn. Each split has 200 items to train a random forest, N = 100 labelled and N′ = 150
unlabelled ones, in exact proportions: half malignant, half, and 30 % malignant (45 of 150). One split proves nothing,
so there are many. The composition of the 150 is fixed, so the truth is the share *realized* among them; an interval for
the population behind them is wider, and covers more often than it says. Flat priors. Left: the first split.
"""
TRUE, SIZES = 0.3, {"training": (100, 100), "labeled": (50, 50), "unlabeled": (45, 105)}
METHODS = {
    "CC": CC(),
    "BBSE": BBSE(),
    "IR": InvariantRatio(),
    "soft IR": InvariantRatio(soft=True),
    "EM": EM(),
    "MAP-1": MAP(),
}
NAMES = [*METHODS, "posterior"]


@dataclass(frozen=True)
class Config:
    """How many splits, and how large a forest."""

    splits: int = 100
    trees: int = 100


FULL = Config()
QUICK = Config(splits=40, trees=50)


def split(seed: int, trees: int) -> tc.Scores:
    """Train on one part of the set, and score the labelled and the unlabelled one."""
    features, codes = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(seed)
    by_class = [rng.permutation(np.flatnonzero(codes == code)) for code in (0, 1)]
    parts, start = {}, np.zeros(2, int)
    for part, sizes in SIZES.items():
        parts[part] = np.concatenate([by_class[code][start[code] : start[code] + sizes[code]] for code in (0, 1)])
        start += sizes
    forest = RandomForestClassifier(trees, random_state=seed).fit(features[parts["training"]], codes[parts["training"]])
    labeled, unlabeled = (forest.predict_proba(features[parts[part]]) for part in ("labeled", "unlabeled"))
    return tc.Scores(labeled, codes[parts["labeled"]], unlabeled)


def run(config: Config) -> dict[str, pd.DataFrame]:
    """Estimates and intervals of every split, and draws of the first."""
    rows, draws = [], None
    for seed in repeat(range(config.splits), "cancer"):
        scores = split(seed, config.trees)
        posterior = tc.infer(scores.to_counts(), seed=seed)
        draws = posterior.prevalence[:2000, 0] if draws is None else draws
        rows.append({"split": seed, **_estimates(scores, posterior), **dict(_intervals(posterior))})
    return {"splits": pd.DataFrame(rows).round(5), "draws": pd.DataFrame({"1": draws}).round(5)}


def _estimates(scores: tc.Scores, posterior: tc.Posterior) -> dict[str, float]:
    found = {name: tc.estimate(scores, method).prevalence[0] for name, method in METHODS.items()}
    return {**found, "posterior": posterior.mean[0]}


def _intervals(posterior: tc.Posterior) -> Iterator[tuple[str, float]]:
    for target in ("population", "realized"):
        lower, upper = posterior.interval(0.95, target=target)[0]
        yield f"{target} lower", lower
        yield f"{target} upper", upper


def claims(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    """What section 3.3 says of these data."""
    splits = tables["splits"]
    errors = {name: mean((splits[name] - TRUE).abs()) for name in NAMES}
    between = mean(splits[NAMES].max(axis=1) - splits[NAMES].min(axis=1))
    gap = mean(splits["CC"] - splits["EM"])
    widths = {
        target: mean(splits[f"{target} upper"] - splits[f"{target} lower"]) for target in ("population", "realized")
    }
    return [
        Claim(
            "3.3",
            "all estimates of the malignant share (0.30) are somewhat reasonable",
            f"mean absolute error over {len(splits)} splits: "
            + ", ".join(f"{name} {each.value:.3f}" for name, each in errors.items()),
            all(each.is_below(0.05) for each in errors.values()),
            is_main=True,
        ),
        Claim(
            "3.3",
            "there is considerable variation between the point estimates (EM 0.28, CC 0.34 in its split)",
            f"largest less smallest in a split: {between}; CC less EM: {gap}, in the paper 0.06",
            between.is_above(0.02),
            is_main=True,
        ),
        Claim(
            "3.3",
            "no single point should be believed: the differences between splits are of the same size",
            "sd over splits: " + ", ".join(f"{name} {splits[name].std():.3f}" for name in NAMES),
            splits[NAMES].std().min() > 0.3 * between.value,
        ),
        _covers(splits, "population", f"widths: {widths['population']}"),
        _covers(splits, "realized", f"widths: {widths['realized']}"),
    ]


def held(splits: pd.DataFrame, target: str) -> Measured:
    """How often 95 % intervals hold the malignant share."""
    return share((splits[f"{target} lower"] <= TRUE) & (splits[f"{target} upper"] >= TRUE), 0.95)


def _covers(splits: pd.DataFrame, target: str, more: str) -> Claim:
    found = held(splits, target)
    what = {"population": "for the population", "realized": "for these 150 items"}[target]
    return Claim(
        "3.3",
        f"a credible interval can be relied on: 95 % intervals {what} hold the truth at least as often",
        f"{found.value:.1%} of {len(splits)} splits (standard error at 95 %: {found.error:.1%}); {more}",
        not found.is_below(0.95),
        is_main=True,
    )


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """The first split, as the paper draws it, and all of them."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), width_ratios=(1, 1.6))
    half_violin(left, tables["draws"]["1"].to_numpy(), 0, COLORS["posterior"])
    for place, name in enumerate(NAMES):
        points(left, -0.45 + 0.06 * place, tables["splits"].iloc[0][name], name, markersize=7)
    truth(left, TRUE)
    left.set(xticks=[], ylabel="malignant share", title="One split; dashes: truth")
    _spread(right, tables["splits"])
    legend(figure, NAMES)
    return {"shares": figure}


def _spread(axes: Axes, splits: pd.DataFrame) -> None:
    rng = np.random.default_rng(0)
    for place, name in enumerate(NAMES):
        jitter = place + rng.uniform(-0.25, 0.25, len(splits))
        points(axes, jitter, splits[name], name, markersize=3.5, linestyle="", alpha=0.6)
        axes.hlines(splits[name].mean(), place - 0.38, place + 0.38, color="black", linewidth=1.6)
    truth(axes, TRUE)
    axes.set(xticks=range(len(NAMES)), xticklabels=NAMES, title=f"{len(splits)} splits; lines: means")
