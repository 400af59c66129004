"""Time `count` next to scikit-learn's `confusion_matrix` on the same arrays.

Ours and theirs take turns in one process. Ours is timed twice: on the same two columns, and with a third, as long
again, of unlabelled predictions. Each pair of tables is compared cell by cell.

    python benchmarks/count_arrays.py [--rows 10000000] [--rounds 3] [--only "numpy int64"]
"""

import argparse
import json
import os
import platform
import subprocess
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import confusion_matrix

import truecount as tc

RESULTS = Path(__file__).parent / "results"
WORDS = np.array(["neutral", "very negative", "negative", "positive", "very positive"])
PACKAGES = ("truecount", "numpy", "scikit-learn", "pandas")
KINDS: dict[str, Callable[[np.ndarray], Any]] = {
    "numpy int64": lambda codes: codes,
    "numpy int64, far apart": lambda codes: codes * 1_000_000_007,
    "numpy strings": lambda codes: WORDS[codes],
    "numpy objects": lambda codes: WORDS.astype(object)[codes],
    "pandas str": lambda codes: pd.Series(WORDS[codes]),
    "pandas category": lambda codes: pd.Series(pd.Categorical.from_codes(codes, WORDS)),
}


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = perf_counter()
    result = work()
    return perf_counter() - start, result


def compare(labels: Any, predictions: Any, new: Any, rounds: int) -> dict[str, Any]:
    times: dict[str, list[float]] = {"sklearn": [], "count": [], "count_with_new": []}
    for _ in range(rounds):
        took, theirs = seconds(lambda: confusion_matrix(labels, predictions))
        times["sklearn"].append(took)
        took, ours = seconds(lambda: tc.count(labels, predictions, new[:0]))
        times["count"].append(took)
        took, _ = seconds(lambda: tc.count(labels, predictions, new))
        times["count_with_new"].append(took)
        if not np.array_equal(ours.labeled, theirs):
            raise SystemExit("the two tables differ")
    medians = {name: median(values) for name, values in times.items()}
    ratios = {f"{name}_ratio": medians["sklearn"] / medians[name] for name in ("count", "count_with_new")}
    return {"seconds": times, "median_seconds": medians, **ratios}


def run(rows: int, rounds: int, kinds: list[str]) -> Iterator[dict[str, Any]]:
    labels, predictions, new = np.random.default_rng(0).integers(0, len(WORDS), (3, rows))
    for kind in kinds:
        build = KINDS[kind]
        yield {"kind": kind, **compare(build(labels), build(predictions), build(new), rounds)}


def line(result: dict[str, Any]) -> str:
    medians = result["median_seconds"]
    times = "  ".join(f"{medians[name]:8.2f} s" for name in ("sklearn", "count", "count_with_new"))
    return f"{result['kind']:<24}{times}  {result['count_ratio']:7.1f}  {result['count_with_new_ratio']:11.1f}"


def machine() -> dict[str, Any]:
    return {
        "cpus": os.cpu_count(),
        "architecture": platform.machine(),
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }


def commit() -> str:
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(command, cwd=RESULTS.parent, capture_output=True, text=True, check=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=KINDS)
    options = parser.parse_args()
    kinds = [options.only] if options.only else list(KINDS)
    header = f"{'column':<24}   sklearn       count    with new    ratio  ratio, with new"
    print(header, flush=True)
    lines, results = [header], []
    for result in run(options.rows, options.rounds, kinds):
        lines.append(line(result))
        results.append(result)
        print(lines[-1], flush=True)
    if not options.only:
        RESULTS.mkdir(exist_ok=True)
        document = {"rows": options.rows, "rounds": options.rounds, "commit": commit(), "machine": machine()}
        (RESULTS / "count_arrays.json").write_text(json.dumps({**document, "results": results}, indent=1) + "\n")
        (RESULTS / "count_arrays.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
