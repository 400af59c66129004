"""What the prior of the prevalence does to the posterior, with little and with much data."""

from collections.abc import Iterator
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiments.paper.claim import Claim, Measured, mean
from experiments.paper.progress import posteriors, repeat
from experiments.paper.style import truth
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import truecount as tc
from truecount import simulate
from truecount.plots.smooth import smooth_density

TITLE = "Prior sensitivity (sections 1 and 5)"
NOTE = """
α ∈ {0.1, 1, 10} on π′, flat rows, N = N′ ∈ {50, 500, 5000}; otherwise the defaults of section 3.1 (r = 0.7, q = 0.85,
L = K = 5). The paper gives no such experiment; the lines measure what it says about priors. α = 10 expects even
shares, and is worth 50 items. Coverage is the mean over the five classes of how often 95 % intervals hold the truth.
"""
PRIORS, SIZES = (0.1, 1.0, 10.0), (50, 500, 5000)
TRUTH = simulate.prevalence(0.7, 5)
LOOKS = {0.1: ("#F2A073", "v", "--"), 1.0: ("#D55E00", "o", "-"), 10.0: ("#6B2F00", "s", ":")}
"""Shades of the posterior's colour."""


@dataclass(frozen=True)
class Config:
    """How often, and with how many draws."""

    repetitions: int = 25
    effective_draws: int = 500
    sizes: tuple[int, ...] = SIZES


FULL = Config()
QUICK = Config(repetitions=3, effective_draws=300, sizes=(50, 5000))


def run(config: Config) -> dict[str, pd.DataFrame]:
    """Summaries of every posterior, and draws of class 1 of the first data set."""
    cases = [(size, prior) for size in config.sizes for prior in PRIORS]
    rows, shown = [], {}
    for size, prior in repeat(cases, "sensitivity"):
        problems = [
            simulate.counts(TRUTH, simulate.confusion(0.85, 5), labeled=size, unlabeled=size, seed=seed)
            for seed in range(config.repetitions)
        ]
        found = list(posteriors(problems, tc.Auto(config.effective_draws), prior=tc.Prior(prior)))
        rows += [row for number, posterior in enumerate(found) for row in _rows(size, prior, number, posterior)]
        shown[f"{size} {prior:g}"] = _thinned(found[0].prevalence[:, 0])
    return {"posteriors": pd.DataFrame(rows), "draws": pd.DataFrame(shown).round(5)}


def _thinned(draws: np.ndarray, number: int = 300) -> np.ndarray:
    return draws[np.linspace(0, len(draws) - 1, number).round().astype(int)]


def _rows(size: int, prior: float, number: int, posterior: tc.Posterior) -> Iterator[dict[str, object]]:
    ends = posterior.interval(0.95)
    held = (ends[:, 0] <= TRUTH) & (ends[:, 1] >= TRUTH)
    summary = {
        "first": posterior.mean[0],
        "error": np.abs(posterior.mean - TRUTH).max(),
        "coverage": held.mean(),
        "width": np.diff(ends[0])[0],
    }
    converged = not any(finding.code == "not-converged" for finding in posterior.findings)
    yield {
        "size": size,
        "prior": prior,
        "repetition": number,
        **{key: round(value, 5) for key, value in summary.items()},
        "converged": converged,
    }


def disagreement(table: pd.DataFrame, size: int, prior: float) -> Measured:
    """How far the posterior mean of class 1 is from the one under the flat prior."""
    wide = table[table["size"] == size].pivot(index="repetition", columns="prior", values="first")
    return mean((wide[prior] - wide[1.0]).abs())


def claims(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    """What the paper says about priors."""
    table = tables["posteriors"]
    sizes = sorted(table["size"].unique())
    strong = {size: disagreement(table, size, 10.0) for size in sizes}
    weak = {size: disagreement(table, size, 0.1) for size in sizes}
    width = table[(table["size"] == 5000) & (table["prior"] == 1)]["width"].mean()
    return [
        Claim(
            "5",
            "care is required what prior to use, the more so with little data",
            "from the flat prior, the posterior mean of π′₁ moves by "
            + "; ".join(f"{weak[size]} (α = 0.1) and {strong[size]} (α = 10) at N = {size}" for size in sizes),
            strong[50].is_above(0.1) and strong[5000].is_below(0.2 * strong[50].value),
            is_main=True,
        ),
        Claim(
            "2.4; 5",
            "with much data the posterior hardly depends on a weak prior (α = 0.1 for 1)",
            f"at N = 5000 the mean of π′₁ moves by {weak[5000]}, where its 95 % interval is {width:.3f} wide",
            weak[5000].is_below(0.1 * width),
            is_main=True,
        ),
        Claim(
            "2.4; 5",
            "… nor on a strong one that expects even shares (α = 10)",
            f"at N = 5000 it moves by {strong[5000]}, {strong[5000].value / width:.0%} of that width",
            strong[5000].is_below(0.1 * width),
            expected=False,
            is_main=True,
        ),
        _coverage(table, sizes),
    ]


def _coverage(table: pd.DataFrame, sizes: list[int]) -> Claim:
    found = {(prior, size): rows["coverage"] for (prior, size), rows in table.groupby(["prior", "size"])}
    by_prior = [
        f"α = {prior:g}: " + ", ".join(f"{found[prior, size].mean():.0%}" for size in sizes) for prior in PRIORS
    ]
    adrift = table.loc[~table["converged"].astype(bool), "prior"]
    where = "".join(f", {number} at α = {prior:g}" for prior, number in adrift.value_counts().items())
    return Claim(
        "1, contributions",
        "(what a wrong prior costs) 95 % intervals cover as stated under each prior",
        f"coverage at N = {', '.join(map(str, sizes))}, {'; '.join(by_prior)}; of {len(table)} posteriors, "
        f"{len(adrift)} said that their chains had not converged{where}",
        all(not mean(rows).is_below(0.95) for rows in found.values()),
        expected=False,
    )


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """Posteriors of class 1 of one data set for each size, and the error of the mean over all."""
    figure, grid = plt.subplots(1, 4, figsize=(12, 3.2))
    for axes, size in zip(grid, sorted(tables["posteriors"]["size"].unique()), strict=False):
        _posteriors(axes, tables["draws"], size)
    _errors(grid[-1], tables["posteriors"])
    figure.legend(*grid[-1].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return {"priors": figure}


def _posteriors(axes: Axes, draws: pd.DataFrame, size: int) -> None:
    for prior, (color, _, line) in LOOKS.items():
        axes.plot(*smooth_density(draws[f"{size} {prior:g}"].to_numpy(), 300), line, color=color)
    truth(axes, TRUTH[0], vertical=True)
    axes.set(xlabel="π′₁", ylabel="posterior density" if size == SIZES[0] else "", title=f"N = N′ = {size}", yticks=[])
    axes.set_xlim({50: (0.0, 1.0), 500: (0.4, 1.0), 5000: (0.6, 0.8)}[size])


def _errors(axes: Axes, table: pd.DataFrame) -> None:
    for prior, (color, marker, line) in LOOKS.items():
        means = table[table["prior"] == prior].groupby("size")["error"].mean()
        axes.loglog(means.index, means, line, marker=marker, color=color, label=f"α = {prior:g}")
    axes.set(xlabel="N = N′", ylabel="mean ℓ∞ error of the mean", title="Mean of all data sets")
    axes.set_xticks(SIZES, map(str, SIZES), minor=False)
    axes.set_yticks((0.02, 0.05, 0.1, 0.2, 0.4), ("0.02", "0.05", "0.1", "0.2", "0.4"))
    axes.minorticks_off()
