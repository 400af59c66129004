"""Measure what findings add to `infer`, what a full `check` takes, and the mode beside the posterior.

Five classes, five outputs, 1,000 labelled and 500 unlabelled items. Draws alone and the whole of `infer` alternate in
one run, so that their ratio does not depend on the machine. With `--many`, also a check of twenty classes at the
defaults and the mode of fifty classes, flat, each beside its posterior, in seconds of one processor.

    python benchmarks/check_cost.py [--rounds 40] [--many]
"""

import argparse
import json
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from machine import about
from speed import FLAT, problem

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


def many_classes() -> dict:
    """Processor seconds of a check of twenty classes and of the mode of fifty, each with those of its posterior."""
    found = {}

    def timed(name: str, run) -> None:
        start = process_time()
        answer = run()
        found[name] = process_time() - start
        print(name, f"{found[name]:.1f} s", flush=True)
        return answer

    twenty, fifty = problem("many classes"), problem("many more")
    timed("infer, 20", lambda: tc.infer(twenty, seed=1).findings)
    check = timed("check, 20", lambda: tc.check(twenty, seed=1))
    found["priors"] = [row["prior"] for row in check.tables["priors"]]
    timed("infer, 50", lambda: tc.infer(fifty, prior=FLAT, seed=1).findings)
    timed("mode, 50", lambda: tc.mode(fifty, prior=FLAT))
    return found


def table_of_many(found: dict) -> list[str]:
    """Ratios of one run."""
    check, mode = found["check, 20"] / found["infer, 20"], found["mode, 50"] / found["infer, 50"]
    return [
        "",
        "| what | processor seconds | of the posterior | ratio |",
        "| --- | --- | --- | --- |",
        f"| `check` in full, 20 x 20, defaults | {found['check, 20']:.1f} | {found['infer, 20']:.1f} | {check:.2f} |",
        f"| the mode, 50 x 50, flat prior | {found['mode, 50']:.2f} | {found['infer, 50']:.1f} | {mode:.3f} |",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--many", action="store_true", help="also twenty and fifty classes, which takes minutes")
    options = parser.parse_args()
    rounds, path = options.rounds, RESULTS / "check_cost.json"
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
    many = many_classes() if options.many else json.loads(path.read_text()).get("many")
    lines += table_of_many(many) if many else []
    print("\n".join(lines))
    document = {
        "machine": about(),
        "rounds": rounds,
        "median_seconds": median,
        "findings_over_draws": share,
        "many": many,
    }
    path.write_text(json.dumps(document, indent=1) + "\n")
    (RESULTS / "check_cost.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
