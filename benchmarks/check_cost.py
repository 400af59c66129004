"""Measure what findings add to `infer`, and what a full `check` takes, on the default case.

Five classes, five outputs, 1,000 labelled and 500 unlabelled items. Draws alone and the whole of `infer` alternate in
one run, so that their ratio does not depend on the machine.

    python benchmarks/check_cost.py [--rounds 40]
"""

import argparse
import json
from pathlib import Path
from time import perf_counter

import numpy as np
from machine import about

import truecount as tc
from truecount import simulate
from truecount.diagnostics.findings import of_posterior
from truecount.models import density

RESULTS = Path(__file__).parent / "results"
COUNTS = simulate.counts(simulate.prevalence(0.7, 5), simulate.confusion(0.85, 5), labeled=1000, unlabeled=500, seed=1)


def seconds(run) -> float:
    start = perf_counter()
    run()
    return perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    rounds = parser.parse_args().rounds
    model, prior, draws = density(COUNTS, tc.Prior()), tc.Prior(), tc.infer(COUNTS).draws
    runs = {
        "draws": lambda: tc.Auto().sample(model, 0),
        "findings": lambda: of_posterior(COUNTS, prior, model, draws),
        "infer": lambda: tc.infer(COUNTS),
        "check": lambda: tc.check(COUNTS),
    }
    for run in runs.values():
        run()
    times = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(seconds(run))
    median = {name: float(np.median(each)) for name, each in times.items()}
    share = median["findings"] / median["draws"]
    lines = [
        "| draws alone | findings | all of `infer` | findings over draws | `check` in full |",
        "| --- | --- | --- | --- | --- |",
        f"| {1e3 * median['draws']:.1f} ms | {1e3 * median['findings']:.2f} ms | {1e3 * median['infer']:.1f} ms "
        f"| {share:.0%} | {1e3 * median['check']:.0f} ms |",
    ]
    print("\n".join(lines))
    document = {"machine": about(), "rounds": rounds, "median_seconds": median, "findings_over_draws": share}
    (RESULTS / "check_cost.json").write_text(json.dumps(document, indent=1) + "\n")
    (RESULTS / "check_cost.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
