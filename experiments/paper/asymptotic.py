"""Section 2.4: the mode finds the truth at the rate of the root of the data, if the box tells all classes apart."""

from collections.abc import Iterator
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiments.paper.claim import ERRORS, Claim, Measured
from experiments.paper.nearly import CONFUSION as NEARLY
from experiments.paper.nearly import TRUTH as OF_THREE
from experiments.paper.progress import posteriors, repeat
from experiments.paper.style import COLORS
from matplotlib.figure import Figure

import truecount as tc
from truecount import simulate
from truecount.inference.modes.mode import find_mode
from truecount.models import density

TITLE = "Asymptotic theorem (section 2.4, appendix B)"
NOTE = """
Mean ℓ∞ error of the mode (MAP-1, and MAP-2 for the 5 × 5 matrix) of π′ and of φ against N = N′, at
π′ = (0.7, 0.075 × 4) for five classes and (0.6, 0.3, 0.1) for three; and what happens where the theorem's condition,
rank L, fails. A rate is the slope of the logarithms from N = 10³ (nearly singular: from 10⁵, before which the mode
still hits the edge of the simplex), by least squares weighted with the standard errors. The square matrix of rank 2 has
fewer repetitions, because its modes lie on ridges that take long to climb; some had not arrived after 10⁵ steps.
"""
SAME_ROWS = np.array([[0.96, 0.02, 0.02], [0.02, 0.49, 0.49], [0.02, 0.49, 0.49]])
MATRICES = {
    "5 × 5": simulate.confusion(0.85, 5),
    "5 × 7": simulate.confusion(0.85, 5, 7),
    "3 × 3, nearly singular": NEARLY,
    "5 × 3, rank 3": simulate.confusion(0.85, 5, 3),
    "3 × 3, rank 2": SAME_ROWS,
}
FULL_RANK = ("5 × 5", "5 × 7", "3 × 3, nearly singular")
DEFICIENT = ("5 × 3, rank 3", "3 × 3, rank 2")
FROM = {"3 × 3, nearly singular": 100_000}
LOOKS = {
    "5 × 5": (COLORS["MAP-1"], "D-", "full"),
    "5 × 7": (COLORS["MAP-1"], "v--", "none"),
    "3 × 3, nearly singular": (COLORS["MAP-1"], "^-.", "full"),
    "5 × 3, rank 3": ("black", "o-", "full"),
    "3 × 3, rank 2": ("black", "s--", "none"),
}


@dataclass(frozen=True)
class Config:
    """How much data, and how often."""

    sizes: tuple[int, ...] = (100, 1000, 10_000, 100_000, 1_000_000)
    repetitions: int = 50
    on_ridges: int = 15
    matrices: tuple[str, ...] = tuple(MATRICES)


FULL = Config()
QUICK = Config(repetitions=20, sizes=(1000, 100_000, 1_000_000), matrices=("5 × 5", "5 × 3, rank 3"))


def run(config: Config) -> dict[str, pd.DataFrame]:
    """Errors of the mode, and the posterior from a box with one output."""
    cases = [
        (name, prior, size)
        for name in config.matrices
        for prior in (1, 2)[: 1 + (name == "5 × 5")]
        for size in config.sizes
    ]
    rows = [row for case in repeat(cases, "asymptotic") for row in _rows(*case, _repetitions(case[0], config))]
    return {"errors": pd.DataFrame(rows), "one": pd.DataFrame(_one_output(config))}


def _repetitions(matrix: str, config: Config) -> int:
    return config.on_ridges if matrix == "3 × 3, rank 2" else config.repetitions


def _rows(name: str, prior: int, size: int, repetitions: int) -> Iterator[dict[str, object]]:
    confusion = MATRICES[name]
    truth = OF_THREE if len(confusion) == 3 else simulate.prevalence(0.7, 5)
    for seed in range(repetitions):
        counts = simulate.counts(truth, confusion, labeled=size, unlabeled=size, seed=seed)
        mode = find_mode(density(counts, tc.Prior(float(prior))))
        error, rows = np.abs(mode.prevalence - truth).max(), np.abs(mode.confusion - confusion).max()
        found = {"prevalence": float(f"{error:.4g}"), "confusion": float(f"{rows:.4g}"), "converged": mode.is_converged}
        yield {"matrix": name, "prior": prior, "size": size, "repetition": seed, **found}


def _one_output(config: Config) -> Iterator[dict[str, object]]:
    """Mean and sd of class 1 where the box always says the same."""
    for size in (config.sizes[0], config.sizes[-1]):
        problems = [
            simulate.counts([0.7, 0.2, 0.1], np.ones((3, 1)), labeled=size, unlabeled=size, seed=seed)
            for seed in range(config.repetitions)
        ]
        for number, posterior in enumerate(posteriors(problems, tc.Auto(4000))):
            yield {"size": size, "repetition": number, "mean": posterior.mean[0], "sd": posterior.sd[0]}


def rate(errors: pd.DataFrame, matrix: str, *, of: str = "prevalence", prior: int = 1) -> Measured:
    """The slope of log mean error against log size."""
    rows = errors[
        (errors["matrix"] == matrix) & (errors["prior"] == prior) & (errors["size"] >= FROM.get(matrix, 1000))
    ]
    grouped = rows.groupby("size")[of]
    log_error, noise = np.log(grouped.mean()), grouped.std() / np.sqrt(grouped.size()) / grouped.mean()
    weights = 1 / noise.to_numpy() ** 2
    x = np.log(log_error.index.to_numpy(float))
    x = x - np.average(x, weights=weights)
    spread = (weights * x**2).sum()
    return Measured(float((weights * x * log_error.to_numpy()).sum() / spread), float(1 / np.sqrt(spread)))


def claims(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    """The theorem, and its condition."""
    errors = tables["errors"]
    found = list(errors["matrix"].unique())
    return [
        *(_consistent(errors, name) for name in FULL_RANK if name in found),
        _weak_prior(errors),
        *(_inconsistent(errors, name) for name in DEFICIENT if name in found),
        _one(tables["one"]),
    ]


def _consistent(errors: pd.DataFrame, name: str) -> Claim:
    rates = {of: rate(errors, name, of=of) for of in ("prevalence", "confusion")}
    return Claim(
        "2.4, theorem",
        f"full rank, {name}: the mode goes to the truth (at the rate N^−½)",
        f"{_ends(errors, name)}; rate {rates['prevalence']} for π′, {rates['confusion']} for φ",
        all(each.agrees(-0.5, spare=0.02) for each in rates.values()),
        is_main=True,
    )


def _ends(errors: pd.DataFrame, name: str, prior: int = 1) -> str:
    rows = errors[(errors["matrix"] == name) & (errors["prior"] == prior)]
    means = rows.groupby("size")["prevalence"].mean()
    return ", ".join(f"{mean:.4f} at 10{_power(size)}" for size, mean in means.items())


def _power(size: int) -> str:
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(round(np.log10(size))))


def _weak_prior(errors: pd.DataFrame) -> Claim:
    slope = rate(errors, "5 × 5", prior=2)
    return Claim(
        "2.4, theorem",
        "so it does under any prior that is positive and continuous (MAP-2)",
        f"{_ends(errors, '5 × 5', prior=2)}; rate {slope}",
        slope.agrees(-0.5, spare=0.02),
        is_main=True,
    )


def _inconsistent(errors: pd.DataFrame, name: str) -> Claim:
    slope = rate(errors, name)
    last = errors.loc[(errors["matrix"] == name) & (errors["size"] == errors["size"].max()), "prevalence"].mean()
    return Claim(
        "2.4, before the theorem",
        f"{name}: without full rank it need not",
        f"{_ends(errors, name)}; rate {slope}",
        slope.is_above(-0.25) and last > 0.01,
        is_main=True,
    )


def _one(one: pd.DataFrame) -> Claim:
    """With one output nothing is learned: a flat prior of three classes has mean 1/3 and sd 0.2357."""
    largest = one[one["size"] == one["size"].max()]
    mean, sd = largest["mean"].mean(), largest["sd"].mean()
    noise = np.sqrt(1 / 18 / 4000 / len(largest))
    return Claim(
        "2.1; 2.4",
        "with one output the posterior is the prior, however much data",
        f"N = N′ = 10{_power(one['size'].max())}, three classes: mean {mean:.4f} (prior {1 / 3:.4f}), "
        f"sd {sd:.4f} (prior {np.sqrt(1 / 18):.4f}), Monte Carlo error {noise:.4f}",
        abs(mean - 1 / 3) < ERRORS * noise and abs(sd - np.sqrt(1 / 18)) < ERRORS * noise,
        is_main=True,
    )


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """Errors of π′ and of φ against the size, both on logarithmic axes."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.9), sharex=True)
    for place, (of, title) in zip(axes, {"prevalence": "π′", "confusion": "φ"}.items(), strict=True):
        for name, rows in tables["errors"].query("prior == 1").groupby("matrix", sort=False):
            means = rows.groupby("size")[of].mean()
            color, look, fill = LOOKS[name]
            place.loglog(means.index, means, look, color=color, fillstyle=fill, label=name, markersize=6, linewidth=1.2)
        sizes = np.array([1e2, 1e6])
        place.loglog(sizes, 0.5 / np.sqrt(sizes), ":", color="black", linewidth=1, label="$N^{-1/2}$")
        place.set(xlabel="N = N′", ylabel="mean ℓ∞ error of the mode", title=title)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center")
    return {"rate": figure}
