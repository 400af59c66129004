"""Many classes, most of them rare, at the defaults: error against point estimators, coverage, convergence, memory.

    python benchmarks/many_classes.py [--classes 60] [--labels 800] [--items 20000] [--seeds 0,1,2]

A classifier confuses simulated classes in pairs; its labels (five or more for each class) and its unlabelled items
have different mixes of classes. With ``--effective-draws 4000`` the engine is ``Auto`` with so many, and all else the
default; with ``--points cc,rlls`` only these point estimators are computed. Findings are part of the time and of the
memory. Results are added to ``benchmarks/results/many_classes.json`` and ``.md``.
"""

import argparse
import json
import resource
import warnings
from pathlib import Path
from time import process_time

import numpy as np
from machine import about

import truecount as tc
from truecount.errors import ConvergenceWarning, InputError
from truecount.estimators import METHODS

RESULTS = Path(__file__).parent / "results"
FEWEST = 5
LEVELS = (0.5, 0.8, 0.95)


def problem(seed: int, classes: int, labels: int, n_items: int = 20_000) -> tuple[tc.Counts, np.ndarray]:
    """Counts, and the shares that the items really have."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(classes, 0.25))
    labeled = 0.5 * shares + 0.5 * rng.permutation(shares)
    confusion = np.zeros((classes, classes))
    for row in range(classes):
        right, pair = rng.beta(12, 2), rng.uniform(0.4, 0.9)
        others = rng.dirichlet(np.full(classes, 0.1)) * (np.arange(classes) != row)
        confusion[row] = (1 - right) * (1 - pair) * others / others.sum()
        confusion[row, row ^ 1] += (1 - right) * pair
        confusion[row, row] = right
    numbers = rng.multinomial(labels - FEWEST * classes, labeled) + FEWEST
    table = np.stack([rng.multinomial(number, row) for number, row in zip(numbers, confusion, strict=True)])
    items = rng.multinomial(n_items, shares)
    outputs = np.stack([rng.multinomial(number, row) for number, row in zip(items, confusion, strict=True)])
    return tc.Counts(table, outputs.sum(axis=0)), items / n_items


def points(counts: tc.Counts, truth: np.ndarray, names: list[str]) -> dict[str, float]:
    """Errors of the point estimators that counts suffice for."""
    errors = {}
    for name in names or METHODS:
        method = METHODS[name]
        try:
            errors[name] = float(np.abs(method.prevalence(counts) - truth).mean())
        except InputError:
            continue
    return errors


def measured(seed: int, chosen: argparse.Namespace) -> dict:
    """One repetition."""
    classes, labels, items, effective_draws = chosen.classes, chosen.labels, chosen.items, chosen.effective_draws
    counts, truth = problem(seed, classes, labels, items)
    begun = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        posterior = tc.infer(counts, engine=tc.Auto(effective_draws))
        _ = posterior.findings
    seconds = process_time() - begun
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    held = {}
    for level in LEVELS:
        low, high = posterior.interval(level, target="realized").T
        held[str(level)] = float(((low <= truth) & (truth <= high)).mean())
    return {
        "classes": classes,
        "labels": labels,
        "items": items,
        "asked": tc.Auto(effective_draws).open_choice,
        "seed": seed,
        "engine": posterior.run.engine,
        "status": posterior.status,
        "rhat": float(np.max(posterior.draws.rhat)),
        "rhat above 1.05": int((posterior.draws.rhat > 1.05).sum()),
        "draws": len(posterior.draws.prevalence),
        "median effective draws": float(np.median(posterior.draws.effective)),
        "findings": [f"{each.code}: {each.severity}" for each in posterior.findings],
        "least effective draws": float(posterior.draws.effective.min()),
        "posterior error": float(np.abs(posterior.realized.mean(axis=0) - truth).mean()),
        "point errors": points(counts, truth, chosen.points.split(",") if chosen.points else []),
        "held": held,
        "seconds of one core": seconds,
        "megabytes": megabytes,
    }


def main() -> None:
    """Measure, print, write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--classes", type=int, default=60)
    arguments.add_argument("--labels", type=int, default=800)
    arguments.add_argument("--items", type=int, default=20_000)
    arguments.add_argument("--seeds", default="0,1,2")
    arguments.add_argument("--effective-draws", type=int, default=None)
    arguments.add_argument("--points", default="", help="point estimators, with commas; all if none is named")
    chosen = arguments.parse_args()
    for seed in map(int, chosen.seeds.split(",")):
        found = measured(seed, chosen)
        print(json.dumps(found), flush=True)
        write(found)


def write(new: dict) -> None:
    """Put a run in the place of the one like it; a repetition takes minutes."""
    path, like = RESULTS / "many_classes.json", ("classes", "labels", "items", "asked", "seed")
    runs = json.loads(path.read_text())["runs"] if path.exists() else []
    runs = [each for each in runs if all(key in each for key in like)]  # others are of an earlier form of this script
    runs = [each for each in runs if any(each[key] != new[key] for key in like)] + [new]
    runs.sort(key=lambda each: [each[key] for key in like])
    head = (
        "classes",
        "labels",
        "items",
        "draws asked",
        "seed",
        "posterior",
        "best point",
        "counting",
        "50 % held",
        "80 %",
        "95 %",
    )
    head += ("status", "R-hat", "effective draws", "seconds", "MB")
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    for each in runs:
        name, best = min(each["point errors"].items(), key=lambda pair: pair[1])
        held = " | ".join(f"{100 * each['held'][str(level)]:.0f} %" for level in LEVELS)
        counting = 100 * each["point errors"]["cc"]
        errors = f"{100 * each['posterior error']:.3f} | {100 * best:.3f} ({name}) | {counting:.3f}"
        known = " | ".join(f"{each[key]:,}" for key in like)
        run = f"{each['status']} | {each['rhat']:.3f} | {each['least effective draws']:,.0f}"
        cost = f"{each['seconds of one core']:.0f} | {each['megabytes']:.0f}"
        lines.append(f"| {known} | {errors} | {held} | {run} | {cost} |")
    path.write_text(json.dumps({"machine": about(), "runs": runs}, indent=1) + "\n")
    (RESULTS / "many_classes.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
