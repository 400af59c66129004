"""Section 3.2: a box that hardly tells two of three classes apart."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from experiments.paper.claim import Claim, Measured, listed, mean, share
from experiments.paper.drawing import half_violin, ternary
from experiments.paper.progress import posteriors, repeat
from experiments.paper.style import COLORS, legend, points
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import truecount as tc
from truecount import simulate
from truecount.estimators import BBSE, CC, MAP, InvariantRatio, bootstrap

TITLE = "Nearly non-identifiable model (section 3.2)"
NOTE = """
L = K = 3, N = N′ = 500, π′ = (0.6, 0.3, 0.1), flat priors. The picture shows the first data set on which BBSE is
negative, as in the paper; the other lines are over repetitions. What the paper does not do: how often intervals hold
the truth, and the bootstrap (percentiles of 1,000 resamples of both data sets) of the point estimators beside them.
MAP-1's is left out: inside the simplex it is that of IR.
"""
CONFUSION = np.array([[0.96, 0.02, 0.02], [0.02, 0.50, 0.48], [0.02, 0.48, 0.50]])
TRUTH = np.array([0.6, 0.3, 0.1])
METHODS = {"CC": CC(), "BBSE": BBSE(), "IR": InvariantRatio(), "MAP-1": MAP(), "MAP-2": MAP(tc.Prior(2.0))}
LEVELS = (0.5, 0.8, 0.95)
BOOTSTRAPPED = ("CC", "BBSE", "IR")


@dataclass(frozen=True)
class Config:
    """How often the data are drawn, and how often they are drawn again for a bootstrap."""

    repetitions: int = 1000
    resamples: int = 1000
    shown_draws: int = 2000


FULL = Config()
QUICK = Config(repetitions=150, resamples=100)


def draw(seed: int, prevalence: np.ndarray = TRUTH) -> tc.Counts:
    """Draw both data sets."""
    return simulate.counts(prevalence, CONFUSION, labeled=500, unlabeled=500, seed=seed)


def run(config: Config) -> dict[str, pd.DataFrame]:
    """The data set of the picture, and intervals over repetitions."""
    seed = next(seed for seed in count() if tc.estimate(draw(seed), BBSE()).prevalence.min() < 0)
    shown = draw(seed)
    posterior = tc.infer(shown, engine=tc.Auto(config.shown_draws))
    estimates = {name: tc.estimate(shown, method).prevalence for name, method in METHODS.items()}
    problems = [draw(seed) for seed in range(config.repetitions)]
    drawn = np.random.default_rng(0).dirichlet(np.ones(3), config.repetitions)
    rows = [*_posterior_rows(problems, [TRUTH] * len(problems)), *_bootstrap_rows(problems, config)]
    others = [draw(seed, prevalence) for seed, prevalence in enumerate(drawn)]
    return {
        "points": _by_method({**estimates, "posterior": posterior.mean}).round(5),
        "draws": pd.DataFrame(posterior.prevalence[: config.shown_draws], columns=["1", "2", "3"]).round(5),
        "intervals": pd.DataFrame(rows).round(5),
        "drawn": pd.DataFrame(_posterior_rows(others, drawn)).round(5),
        "repetitions": pd.DataFrame(_estimate_rows(problems)).round(5),
    }


def _by_method(shares: dict[str, np.ndarray]) -> pd.DataFrame:
    return pd.DataFrame([{"method": name, "1": row[0], "2": row[1], "3": row[2]} for name, row in shares.items()])


def _estimate_rows(problems: list[tc.Counts]) -> Iterator[dict[str, object]]:
    """Posterior sds and correlation, and the smallest share that each method gives."""
    for number, posterior in enumerate(posteriors(problems, tc.Auto(1000))):
        least = {
            f"{name} least": tc.estimate(posterior.counts, METHODS[name]).prevalence.min() for name in BOOTSTRAPPED
        }
        sds = {f"sd {place + 1}": sd for place, sd in enumerate(posterior.sd)}
        correlation = np.corrcoef(posterior.prevalence[:, 1:].T)[0, 1]
        yield {"repetition": number, **least, **sds, "correlation": correlation}


def _posterior_rows(problems: list[tc.Counts], truths: Sequence[np.ndarray]) -> Iterator[dict[str, object]]:
    for number, posterior in enumerate(posteriors(problems, tc.Auto(2000))):
        intervals = {level: posterior.interval(level) for level in LEVELS}
        yield from _interval_rows(number, "posterior", intervals, truths[number])


def _bootstrap_rows(problems: list[tc.Counts], config: Config) -> Iterator[dict[str, object]]:
    for number, counts in enumerate(repeat(problems, "nearly: bootstrap")):
        for name in BOOTSTRAPPED:
            drawn = bootstrap(counts, METHODS[name], resamples=config.resamples, seed=number)
            yield from _interval_rows(number, name, {level: drawn.interval(level) for level in LEVELS}, TRUTH)


def _interval_rows(
    number: int, method: str, intervals: dict[float, np.ndarray], truths: np.ndarray
) -> Iterator[dict[str, object]]:
    """For each class, whether each interval holds the truth, and how wide the widest is."""
    for place, true in enumerate(truths):
        held = {f"{level:g}": int(ends[place, 0] <= true <= ends[place, 1]) for level, ends in intervals.items()}
        yield {
            "repetition": number,
            "method": method,
            "class": place + 1,
            **held,
            "width": np.diff(intervals[0.95][place])[0],
        }


def coverage(intervals: pd.DataFrame, method: str, place: int, level: float) -> Measured:
    """How often the intervals of a class held the truth."""
    rows = intervals[(intervals["method"] == method) & (intervals["class"] == place)]
    return share(rows[f"{level:g}"], level)


def claims(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    """All of section 3.2."""
    repetitions = tables["repetitions"]
    negative = {name: share(repetitions[f"{name} least"] < -1e-12) for name in BOOTSTRAPPED}
    sds = {place: repetitions[f"sd {place}"].mean() for place in (1, 2, 3)}
    wider = [mean(repetitions[f"sd {place}"] - repetitions["sd 1"]) for place in (2, 3)]
    correlation = mean(repetitions["correlation"])
    return [
        Claim(
            "3.2",
            "BBSE returns negative shares",
            f"in {negative['BBSE'].value:.0%} of the data sets; IR, restricted, in none",
            negative["BBSE"].is_above() and negative["IR"].value == 0,
            is_main=True,
        ),
        *_calibrated(tables),
        Claim(
            "3.2",
            "the posterior shrinks around π′₁, the variance of π′₂ and π′₃ is larger",
            f"mean posterior sds {sds[1]:.3f}, {sds[2]:.3f}, {sds[3]:.3f} (flat prior: {np.sqrt(1 / 18):.3f})",
            all(each.is_above() for each in wider) and sds[1] < 0.2 * np.sqrt(1 / 18),
            is_main=True,
        ),
        Claim(
            "3.2",
            "only the sum π′₂ + π′₃ is well recovered",
            f"its sd is that of π′₁, {sds[1]:.3f}; correlation of π′₂ and π′₃ in the posterior {correlation}",
            correlation.is_below(-0.9),
            is_main=True,
        ),
        *(_bootstrap(tables["intervals"], name) for name in BOOTSTRAPPED),
    ]


def _calibrated(tables: dict[str, pd.DataFrame]) -> list[Claim]:
    here, drawn = (
        {(place, level): coverage(tables[name], "posterior", place, level) for place in (1, 2, 3) for level in LEVELS}
        for name in ("intervals", "drawn")
    )
    return [
        Claim(
            "3.2",
            "the uncertainty is well calibrated: 95 % intervals hold the truth at least as often",
            ", ".join(f"{here[place, 0.95].value:.1%}" for place in (1, 2, 3)) + " for classes 1, 2, 3",
            not any(here[place, 0.95].is_below(0.95) for place in (1, 2, 3)),
            is_main=True,
        ),
        Claim(
            "3.2",
            "… and every interval as often as stated, at this truth",
            f"50, 80, 95 % intervals: {_by_class(here)}: those of π′₂ and π′₃ are set by the prior along the ridge",
            all(each.agrees(level) for (_, level), each in here.items()),
            expected=False,
            is_main=True,
        ),
        Claim(
            "3.2",
            "… and on average over π′, drawn from the flat prior",
            f"50, 80, 95 % intervals: {_by_class(drawn)}: close, but this φ is no typical draw of its prior",
            all(each.agrees(level) for (_, level), each in drawn.items()),
            expected=False,
        ),
    ]


def _by_class(found: dict[tuple[int, float], Measured]) -> str:
    return "; ".join(
        f"class {place} " + ", ".join(f"{found[place, level].value:.1%}" for level in LEVELS) for place in (1, 2, 3)
    )


def _bootstrap(intervals: pd.DataFrame, method: str) -> Claim:
    found = [coverage(intervals, method, place, 0.95) for place in (1, 2, 3)]
    rows = intervals[intervals["method"].isin([method, "posterior"])]
    sets = rows.loc[rows["method"] == method, "repetition"].nunique()
    widths = rows.groupby(["method", "class"])["width"].mean()
    ratio = widths[method] / widths["posterior"]
    return Claim(
        "beside 3.2",
        f"(not in the paper) the bootstrap of {method} covers as stated",
        f"95 % intervals hold the truth: {', '.join(f'{each.value:.1%}' for each in found)} of {sets} data sets; "
        f"widths over the posterior's: {listed(ratio.items(), '{:.2f}')}",
        not any(each.is_below(0.95) for each in found),
        expected=method == "BBSE",
    )


def figures(tables: dict[str, pd.DataFrame]) -> dict[str, Figure]:
    """Points and marginals, the joint posterior, coverage."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.9), width_ratios=(1.2, 1, 1))
    _marginals(left, tables["draws"].to_numpy(), tables["points"])
    _joint(middle, tables["draws"].to_numpy(), tables["points"])
    _coverage(right, tables["intervals"])
    legend(figure, [*METHODS, "posterior"])
    return {"posterior": figure}


def _marginals(axes: Axes, draws: np.ndarray, estimates: pd.DataFrame) -> None:
    for place in range(3):
        half_violin(axes, draws[:, place], place, COLORS["posterior"])
        axes.hlines(TRUTH[place], place - 0.45, place + 0.45, color="black", linestyle=(0, (4, 2)), linewidth=1)
        for offset, row in enumerate(estimates.itertuples(index=False)):
            points(axes, place - 0.38 + 0.065 * offset, row[place + 1], row[0], markersize=5)
    axes.axhline(0, color="grey", linewidth=0.6)
    axes.set(
        xticks=range(3),
        xticklabels=["π′₁", "π′₂", "π′₃"],
        ylabel="prevalence",
        title="Point estimates, marginals; dashes: truth",
    )


def _joint(axes: Axes, draws: np.ndarray, estimates: pd.DataFrame) -> None:
    place = ternary(axes, ["π′₁ = 1", "π′₂ = 1", "π′₃ = 1"])
    axes.plot(*place(draws).T, ".", color=COLORS["posterior"], markersize=1.5, alpha=0.35, zorder=1)
    for row in estimates.itertuples(index=False):
        points(axes, *place(np.array(row[1:], float)[None]).T, row[0], markersize=6)
    axes.plot(*place(TRUTH[None]).T, "+", color="black", markersize=11, markeredgewidth=1.6)
    axes.set_title("Joint posterior; cross: truth", pad=16)


def _coverage(axes: Axes, intervals: pd.DataFrame) -> None:
    """Nine groups, three levels of each class, with a dash where each belongs."""
    groups = [(place, level) for place in (1, 2, 3) for level in LEVELS]
    x = np.array([4 * place + LEVELS.index(level) for place, level in groups])
    for offset, method in enumerate((*BOOTSTRAPPED, "posterior")):
        found = [coverage(intervals, method, place, level) for place, level in groups]
        points(axes, x + 0.2 * (offset - 1.5), [each.value for each in found], method, markersize=5, linestyle="")
    axes.hlines([level for _, level in groups], x - 0.45, x + 0.45, colors="black", linewidth=1, zorder=0)
    axes.set_xticks(x, [f"{level:.0%}" for _, level in groups], fontsize=7)
    for place in (1, 2, 3):
        axes.text(4 * place + 1, -0.16, f"π′{'₁₂₃'[place - 1]}", ha="center", va="top")
    axes.set(ylabel="intervals that hold the truth", ylim=(-0.03, 1.03), title="Coverage, posterior and bootstraps")
