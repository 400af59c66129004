"""Section 2.3 and appendix A: the counts are all that matters, and inference takes no longer with more data."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiments.paper.claim import Claim
from experiments.paper.progress import repeat
from experiments.paper.style import COLORS
from matplotlib.figure import Figure
from scipy.stats import multinomial

import truecount as tc
from truecount import simulate

TITLE = "Sufficient statistic (section 2.3, appendix A)"
NOTE = """
The likelihood of the full model is computed item by item, summing over every assignment of classes to the unlabelled
items (3⁷ of them) for the smallest sample; the likelihood of the small model is that of its three multinomials. Both at
50 random parameters: their logarithms must differ by a constant. Times are of `infer` (4,000 effective draws, L = K = 5
and L = 5, K = 3), from counts; counting itself is linear in the data. They were taken on a shared machine.
"""


@dataclass(frozen=True)
class Config:
    """Sizes of the samples, and how many parameters and timings."""

    sizes: tuple[int, ...] = tuple(10**power for power in range(3, 10))
    parameters: int = 50
    timings: int = 15


FULL = Config()
QUICK = Config(sizes=(10**3, 10**6, 10**9), parameters=20, timings=3)


def run(config: Config) -> dict[str, pd.DataFrame]:
    """Log-likelihoods of both models, and seconds."""
    likelihoods = [row for size in (7, 2000) for row in _likelihoods(size, config.parameters)]
    return {"likelihoods": pd.DataFrame(likelihoods), "seconds": pd.DataFrame(_seconds(config))}


def _likelihoods(size: int, parameters: int) -> Iterator[dict[str, object]]:
    """Both log-likelihoods of one sample, at random parameters; every assignment is summed over where it is small."""
    rng = np.random.default_rng(size)
    labels, outputs, new = rng.integers(3, size=2 * size), rng.integers(4, size=2 * size), rng.integers(4, size=size)
    counts = tc.count(labels, outputs, new, classes=range(3), outputs=range(4))
    for number in range(parameters):
        labeled, unlabeled = rng.dirichlet(np.ones(3), 2)
        confusion = rng.dirichlet(np.ones(4), 3)
        by_item = np.log(labeled[labels]).sum() + np.log(confusion[labels, outputs]).sum()
        by_item += _assignments(unlabeled, confusion, new) if size < 10 else _marginal(unlabeled, confusion, new)
        by_count = _small(counts, labeled, unlabeled, confusion)
        yield {"size": size, "parameter": number, "full": by_item, "small": by_count}


def _assignments(prevalence: np.ndarray, confusion: np.ndarray, new: np.ndarray) -> float:
    """Sum over every assignment of classes to the items."""
    joint = (prevalence[:, None] * confusion)[:, new]
    items = np.arange(len(new))
    return float(np.log(sum(joint[classes, items].prod() for classes in product(range(len(joint)), repeat=len(new)))))


def _marginal(prevalence: np.ndarray, confusion: np.ndarray, new: np.ndarray) -> float:
    """Sum over the class of each item by itself."""
    return float(np.log((prevalence[:, None] * confusion)[:, new].sum(axis=0)).sum())


def _small(counts: tc.Counts, labeled: np.ndarray, unlabeled: np.ndarray, confusion: np.ndarray) -> float:
    rows = counts.labeled.sum(axis=1)
    total = multinomial.logpmf(rows, rows.sum(), labeled)
    total += sum(map(multinomial.logpmf, counts.labeled, rows, confusion))
    return float(total + multinomial.logpmf(counts.unlabeled, counts.unlabeled.sum(), unlabeled @ confusion))


def _seconds(config: Config) -> Iterator[dict[str, object]]:
    cases = [(outputs, size) for outputs in (5, 3) for size in config.sizes]
    for outputs, size in repeat(cases, "statistic: seconds"):
        truth, confusion = simulate.prevalence(0.7, 5), simulate.confusion(0.85, 5, outputs)
        counts = simulate.counts(truth, confusion, labeled=size, unlabeled=size)
        for number in range(config.timings):
            begin = perf_counter()
            posterior = tc.infer(counts, seed=number)
            seconds = perf_counter() - begin
            yield {
                "outputs": outputs,
                "size": size,
                "timing": number,
                "seconds": round(seconds, 5),
                "draws": len(posterior.prevalence),
                "engine": posterior.run.engine,
            }


def claims(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    """What section 2.3 and the discussion say."""
    table = tables["likelihoods"]
    gaps = {size: rows["full"] - rows["small"] for size, rows in table.groupby("size")}
    away = max(float((gap - gap.mean()).abs().max()) for gap in gaps.values())
    scale = float(table["full"].abs().max())
    spread = {size: rows["full"].max() - rows["full"].min() for size, rows in table.groupby("size")}
    seconds = tables["seconds"].groupby(["outputs", "size"])["seconds"].median()
    draws = tables["seconds"].groupby("outputs")["draws"].agg(["min", "max"])
    ratios = {outputs: rows.max() / rows.min() for outputs, rows in seconds.groupby("outputs")}
    return [
        Claim(
            "2.3; appendix A",
            "the likelihood of the small model is that of the full one, up to a constant",
            f"the difference of their logarithms varies by {away:.0e} where the logarithms vary by {spread[7]:.0f} "
            f"(7 unlabelled items, all 3⁷ assignments) and {spread[2000]:.0f} (2,000 items)",
            away < 1e-12 * scale,
            is_main=True,
        ),
        Claim(
            "2.3; 5",
            "inference takes no longer with more data",
            "median milliseconds, N = N′ from 10³ to 10⁹: "
            + "; ".join(
                f"K = {outputs}: {', '.join(f'{1000 * value:.1f}' for value in rows)}"
                for outputs, rows in seconds.groupby("outputs")
            )
            + f"; largest over smallest {max(ratios.values()):.1f}, for a million times the data",
            max(ratios.values()) < 10,
        ),
        Claim(
            "2.3",
            "… because the work does not grow",
            f"draws made: {', '.join(f'{low}–{high} (K = {outputs})' for outputs, (low, high) in draws.iterrows())}, "
            f"by {' and '.join(tables['seconds']['engine'].unique())} throughout",
            tables["seconds"]["engine"].nunique() == 1 and (draws["max"] < 2 * draws["min"]).all(),
            is_main=True,
        ),
    ]


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """One likelihood against the other, and seconds against the size."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.4))
    rows = tables["likelihoods"].query("size == 2000")
    left.plot(rows["full"], rows["small"], "o", color=COLORS["posterior"], markersize=4, markeredgecolor="black")
    line = np.array([rows["full"].min(), rows["full"].max()])
    left.plot(line, line + (rows["small"] - rows["full"]).mean(), "-", color="black", linewidth=0.8, zorder=0)
    left.locator_params(axis="x", nbins=4)
    left.set(xlabel="log-likelihood, item by item", ylabel="log-likelihood, small model", title="Line: slope 1")
    for (outputs, seconds), look in zip(tables["seconds"].groupby("outputs"), ("o-", "s--"), strict=True):
        medians = seconds.groupby("size")["seconds"].median()
        right.loglog(medians.index, 1000 * medians, look, color=COLORS["posterior"], label=f"K = {outputs}")
    right.set(xlabel="N = N′", ylabel="milliseconds", title="infer(), 4,000 effective draws, L = 5", ylim=(0.5, 1000))
    right.legend()
    return {"time": figure}
