"""Measure how often 95 % intervals hold the truth, and how wide they are, on small and large samples.

Beside the posterior: the bootstrap of ACC, the delta method, and for two classes the closed form of Lang and Reiczigel.
Every data set is drawn anew from a fixed truth, or from a truth that is itself drawn from the flat prior. Counts how
often the unrestricted estimate leaves the simplex, too.

    python benchmarks/intervals.py [--sets 500]
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from machine import about

import truecount as tc
from truecount import simulate
from truecount.errors import InputError
from truecount.estimators import ACC, asymptotic, bootstrap, lang_reiczigel, read_test

RESULTS = Path(__file__).parent / "results"
LEVEL = 0.95
SIZES = ((20, 200), (100, 1_000), (1_000, 10_000))
AT_ONCE = 100


@dataclass(frozen=True)
class Case:
    """A truth and the size of the samples from it; without quality, the truth is drawn from the flat prior."""

    classes: int
    labeled: int
    unlabeled: int
    quality: float | None = None
    first: float | None = None

    def draw(self, seed: int) -> tuple[np.ndarray, tc.Counts]:
        """The true prevalence, and counts."""
        if self.quality is None or self.first is None:
            rows = np.random.default_rng([seed, 1]).dirichlet(np.ones(self.classes), self.classes + 1)
            truth, confusion = rows[0], rows[1:]
        else:
            truth, confusion = (
                simulate.prevalence(self.first, self.classes),
                simulate.confusion(self.quality, self.classes),
            )
        labeled = [self.labeled] * self.classes
        return truth, simulate.counts(truth, confusion, labeled=labeled, unlabeled=self.unlabeled, seed=seed)


CASES = (
    *(Case(2, *size, quality=0.85, first=first) for first in (0.5, 0.1, 0.01) for size in SIZES),
    *(Case(2, *size, quality=0.65, first=first) for first in (0.5, 0.01) for size in SIZES),
    *(Case(3, *size, quality=0.8, first=first) for first in (0.4, 0.98) for size in SIZES),
    *(Case(classes, *SIZES[0]) for classes in (2, 3)),
)


def closed_form(counts: tc.Counts) -> np.ndarray | None:
    """Lang and Reiczigel's interval of both classes; None where the sample's test is no better than chance."""
    try:
        lower, upper = lang_reiczigel(*read_test(counts, positive=0), level=LEVEL)
    except InputError:
        return None
    return np.array([[lower, upper], [1 - upper, 1 - lower]])


INTERVALS: dict[str, Callable[[tc.Counts], np.ndarray | None]] = {
    "bootstrap": lambda counts: bootstrap(counts, ACC()).interval(LEVEL),
    "delta method": lambda counts: asymptotic(counts, ACC()).interval(LEVEL),
    "Lang–Reiczigel": closed_form,
}
KINDS = {"posterior, equal-tailed": "equal-tailed", "posterior, shortest": "hdi"}
NAMES = (*INTERVALS, *KINDS)


def posteriors(problems: list[tc.Counts]) -> dict[str, list[np.ndarray]]:
    """The posterior's intervals under the flat prior, by name."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in KINDS}
    for start in range(0, len(problems), AT_ONCE):
        for posterior in tc.infer_many(problems[start : start + AT_ONCE], progress=False):
            for name, kind in KINDS.items():
                found[name].append(posterior.interval(LEVEL, kind=kind))
    return found


def measure(case: Case, sets: int) -> dict[str, Any]:
    """Coverage and width of every kind of interval, averaged over classes and data sets."""
    drawn = [case.draw(seed) for seed in range(sets)]
    truths, problems = np.array([truth for truth, _ in drawn]), [counts for _, counts in drawn]
    raw = np.array([ACC(restricted=False).prevalence(counts) for counts in problems])
    kinds = {name: make for name, make in INTERVALS.items() if name != "Lang–Reiczigel" or case.classes == 2}
    found = {name: [make(counts) for counts in problems] for name, make in kinds.items()} | posteriors(problems)
    return {
        **asdict(case),
        "outside_simplex": float(((raw < 0) | (raw > 1)).any(axis=1).mean()),
        "intervals": {name: summary(intervals, truths) for name, intervals in found.items()},
    }


def summary(intervals: list[np.ndarray | None], truths: np.ndarray) -> dict[str, float]:
    """Share that hold the truth, width within 0 to 1, and share of data sets without an answer."""
    given = [place for place, interval in enumerate(intervals) if interval is not None]
    ends = np.array([intervals[place] for place in given])
    held = (ends[..., 0] <= truths[given]) & (truths[given] <= ends[..., 1])
    return {
        "coverage": float(held.mean()),
        "width": float(np.diff(ends.clip(0, 1)).mean()),
        "refused": 1 - len(given) / len(intervals),
    }


def table(results: list[dict[str, Any]]) -> list[str]:
    header = ["classes", "P(right)", "labelled, each", "unlabelled", "true share", "outside simplex", *NAMES]
    return [f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *map(line, results))]


def line(result: dict[str, Any]) -> list[str]:
    fixed = [result["quality"], result["first"]]
    quality, first = ["drawn" if value is None else f"{value:g}" for value in fixed]
    size = [f"{result['labeled']:,}", f"{result['unlabeled']:,}"]
    cells = [shown(result["intervals"].get(name)) for name in NAMES]
    return [str(result["classes"]), quality, *size, first, f"{result['outside_simplex']:.0%}", *cells]


def shown(entry: dict[str, float] | None) -> str:
    if entry is None:
        return ""
    refused = f" ({entry['refused']:.0%} refused)" if entry["refused"] else ""
    return f"{100 * entry['coverage']:.1f} · {entry['width']:.3f}{refused}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=500)
    options = parser.parse_args()
    machine, results, start = about(), [], perf_counter()
    for case in CASES:
        results.append(measure(case, options.sets))
        print(table(results[-1:])[-1], flush=True)
    error = f"{100 * np.sqrt(LEVEL * (1 - LEVEL) / options.sets):.1f}"
    lines = [
        f"Percentage of 95 % intervals that hold the truth, of {options.sets} data sets · mean width within 0 to 1;",
        f"both averaged over the classes. For two classes the standard error of 95 is {error}. A truth that is drawn",
        "comes from the flat prior.",
        "",
        *table(results),
    ]
    print("\n".join(lines), f"\n{perf_counter() - start:.0f} s")
    document = {"machine": machine, "sets": options.sets, "level": LEVEL, "cases": results}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "intervals.json").write_text(json.dumps(document, indent=1) + "\n")
    (RESULTS / "intervals.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
