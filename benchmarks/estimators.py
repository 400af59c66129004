"""Time the bootstrap next to a loop of single estimates, and EM next to bare NumPy passes over the scores.

Ours and theirs take turns in one process. The loop draws each resample, builds its counts and estimates, as one would
by hand; its leanest form has the counts ready and calls the method alone. A bare pass is one step of EM in two ways:
two matrix-vector products, the least that a pass can be, and the posterior matrix, as it is usually written.

    python benchmarks/estimators.py [--rounds 5] [--items 1000000]
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from machine import about

import truecount as tc
from truecount.estimators import ACC, EM, bootstrap, likelihood

RESULTS = Path(__file__).parent / "results"
RESAMPLES = 1000


def seconds(work: Callable[[], Any]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def five_classes() -> tc.Counts:
    """The paper's default: L = K = 5, N = 1000, N' = 500, a box that is right 85 % of the time."""
    confusion = 0.85 * np.eye(5) + 0.15 / 4 * (1 - np.eye(5))
    return tc.Counts(
        np.rint(200 * confusion).astype(int), np.rint(500 * np.array([0.7, *[0.075] * 4]) @ confusion).astype(int)
    )


def resample(counts: tc.Counts, rng: np.random.Generator) -> tc.Counts:
    rows = [rng.multinomial(row.sum(), row / row.sum()) for row in counts.labeled]
    return tc.Counts(rows, rng.multinomial(counts.unlabeled.sum(), counts.unlabeled / counts.unlabeled.sum()))


def time_bootstrap(rounds: int) -> dict[str, float]:
    counts, rng = five_classes(), np.random.default_rng(0)
    ready = [resample(counts, rng) for _ in range(RESAMPLES)]
    ways = {
        "bootstrap": lambda: bootstrap(counts, ACC(), resamples=RESAMPLES),
        "loop": lambda: [tc.estimate(resample(counts, rng), "acc") for _ in range(RESAMPLES)],
        "loop, counts ready": lambda: [tc.estimate(each, "acc") for each in ready],
        "loop, counts ready, method alone": lambda: [ACC().prevalence(each) for each in ready],
    }
    times = {name: median(seconds(way) for _ in range(rounds)) for name, way in ways.items()}
    ratios = {f"{name} / bootstrap": times[name] / times["bootstrap"] for name in ways if name != "bootstrap"}
    return {**{f"{name}, s": time for name, time in times.items()}, **ratios}


def bare_products(scores: np.ndarray, ratio: np.ndarray) -> np.ndarray:
    return ratio * (scores.T @ (1 / (scores @ ratio))) / len(scores)


def bare_matrix(scores: np.ndarray, ratio: np.ndarray) -> np.ndarray:
    posterior = scores * ratio
    posterior /= posterior.sum(axis=1, keepdims=True)
    return posterior.mean(axis=0)


def count_passes(scores: tc.Scores) -> int:
    """Count how often EM reads the scores: once for their mean, and once for each likelihood."""
    read, passes = likelihood._read, [1]

    def counted(*given: Any) -> Any:
        passes[0] += 1
        return read(*given)

    likelihood._read = counted
    EM().prevalence(scores)
    likelihood._read = read
    return passes[0]


def time_em(rounds: int, items: int, n_classes: int = 10) -> dict[str, float]:
    rng = np.random.default_rng(1)
    labels, truth = rng.integers(n_classes, size=10_000), rng.choice(n_classes, items, p=rng.dirichlet(np.ones(10)))
    rows = [rng.dirichlet(np.ones(n_classes), len(each)) for each in (labels, truth)]
    for scores, classes in zip(rows, (labels, truth), strict=True):
        scores[np.arange(len(classes)), classes] += 0.5
        scores /= scores.sum(axis=1, keepdims=True)
    data, ratio = tc.Scores(rows[0], labels, rows[1]), rng.dirichlet(np.ones(n_classes)) * n_classes
    passes = count_passes(data)
    ways = {
        "EM": lambda: EM().prevalence(data),
        "passes of products": lambda: [bare_products(data.unlabeled, ratio) for _ in range(passes)],
        "passes of matrices": lambda: [bare_matrix(data.unlabeled, ratio) for _ in range(passes)],
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            times[name].append(seconds(way))
    middle = {f"{name}, s": median(each) for name, each in times.items()}
    ratios = {f"EM / {name}": median(times["EM"]) / median(times[name]) for name in ways if name != "EM"}
    return {"items": items, "classes": n_classes, "passes": passes, **middle, **ratios}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--items", type=int, default=1_000_000)
    options = parser.parse_args()
    parts = {"bootstrap": time_bootstrap(options.rounds), "em": time_em(options.rounds, options.items)}
    for part, figures in parts.items():
        print(part)
        for name, figure in figures.items():
            print(f"  {name:45s} {figure:12,.4g}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "estimators.json").write_text(json.dumps({**parts, "machine": about()}, indent=2) + "\n")


if __name__ == "__main__":
    main()
