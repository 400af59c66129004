"""Carry plans out: published widths, goals met as promised, labels saved by adaptive batches, cost of a forecast.

    python benchmarks/plan.py published|split|cost
    python benchmarks/plan.py carried|batches [--runs 250] [--only NAME[;NAME]]

Real data are read from the folder that ``TRUECOUNT_DATA`` names. Results go to ``benchmarks/results/plan.json``, one
key for each part, and as tables to ``plan.md``. `carried` and `batches` do ten runs of every problem at a time,
and write what they have; `carried` goes on where it was stopped, by ``plan_outcomes.json``.
"""

import argparse
import csv
import json
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
from machine import about
from plan_batches import PROBLEMS, compared
from plan_carried import CARRIED, PLANS, SOURCES, USUAL_PLANS, outcomes, over_all, seeds_of, summarised
from plan_populations import DATA

import truecount as tc

RESULTS = Path(__file__).parent / "results"
OUTCOMES = RESULTS / "plan_outcomes.json"
"""Of every plan that was carried out; delete it when planning changes."""
CHUNK = 10
"""Runs of every problem before the next ten."""
USUAL_BATCHES = 250
"""Runs of every problem that is labelled in batches."""
DEFAULT, NO_WEIGHT = tc.LabelShift(), 0.001
"""The default model, and the concentration of rows whose prior hardly counts beside a label."""


def kept() -> dict:
    """Return what was measured before."""
    file = RESULTS / "plan.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def keep(part: str, found: dict, name: str | None = None) -> None:
    """Write what was found beside what other parts found."""
    now = kept()
    now[part] = found if name is None else {**now.get(part, {}), name: found}
    now["machine"] = about()
    (RESULTS / "plan.json").write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
    (RESULTS / "plan.md").write_text(tables(now), encoding="utf-8")


def carried(runs: int | None, only: str) -> None:
    """Carry plans out, another pilot each time; those in `OUTCOMES` are not made again."""
    asked = [(name, goal) for name, goal in CARRIED if any(each in f"{name}: {goal}" for each in only.split(";"))]
    sources = {name: SOURCES[name]() for name, _ in asked}
    for first in range(0, runs or max(PLANS.values()), CHUNK):
        for name, goal in asked:
            key = f"{name}: {goal}"
            last = min(first + CHUNK, runs or PLANS.get(key, USUAL_PLANS))
            numbers = range(max(first, len(outcomes_before().get(key, []))), last)
            if not numbers:
                continue
            new = outcomes(sources[name], name, goal, seeds_of(name, goal, numbers))
            found = {**(before := outcomes_before()), key: [*before.get(key, []), *new]}
            lines = [f"{json.dumps(each)}: {json.dumps(found[each])}" for each in found]
            OUTCOMES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
            keep("carried", summarised(found[key]), key)
            keep("over_all", over_all(kept()["carried"]))
            print(key, summarised(found[key]), flush=True)


def outcomes_before() -> dict:
    """Return the outcomes of plans that were carried out, by data and goal, in the order of their seeds."""
    return json.loads(OUTCOMES.read_text(encoding="utf-8")) if OUTCOMES.exists() else {}


def batches(runs: int | None, only: str) -> None:
    """Label in batches, adaptively and equally split."""
    runs = runs or USUAL_BATCHES
    asked = [name for name in PROBLEMS if only in name]
    sources = {name: PROBLEMS[name]() for name in asked}
    found: dict = {name: [] for name in asked}
    for first in range(0, runs, CHUNK):
        for name in asked:
            found[name] += [compared(sources[name], seed) for seed in range(first, min(first + CHUNK, runs))]
            summary = _saved(found[name])
            keep("batches", summary, name)
            print(name, summary, flush=True)


def _saved(runs: list) -> dict[str, float]:
    """Return mean labels and coverage of both ways, and the share of labels saved with its standard error."""
    labels = np.array([[each.labels for each in run] for run in runs], float)
    held = np.array([[each.held for each in run] for run in runs])
    mean, number = labels.mean(axis=0), len(runs)
    ratio = mean[0] / mean[1]
    return {
        "runs": number,
        "adaptive_labels": float(mean[0]),
        "equal_labels": float(mean[1]),
        "saved": float(1 - ratio),
        "saved_error": float((labels[:, 0] - ratio * labels[:, 1]).std(ddof=1) / np.sqrt(number) / mean[1]),
        "adaptive_coverage": float(held[:, 0].mean()),
        "coverage_error": float(held[:, 0].std(ddof=1) / np.sqrt(number)),
        "equal_coverage": float(held[:, 1].mean()),
        "width": float(np.mean([run[0].width for run in runs])),
    }


def published() -> dict[str, float]:
    """Forecast all 197 published widths."""
    test = tc.Assumed.test(prevalence=0.15, sensitivity=0.93, specificity=0.98)
    ratios = []
    with (DATA / "published" / "larremore_allocation_widths.csv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            labels = [float(row["n_negative_controls"]), float(row["n_positive_controls"])]
            plan = tc.plan(test, labels=labels, items=float(row["n_field"]), level=0.9)
            ratios.append(plan.width / float(row["mean_width_90"]))
    return {"widths": len(ratios), "least_ratio": min(ratios), "largest_ratio": max(ratios)}


def split() -> dict[str, float]:
    """Compare Lee et al.'s split of 200 labels with others: by the formula, and by the posterior of 10,000 items."""
    lee = json.loads((DATA / "published" / "sample_sizes.json").read_text(encoding="utf-8"))["lee_allocation"]
    share = (lee["p"] + lee["q0"] - 1) / (lee["q0"] + lee["q1"] - 1)
    test = tc.Assumed.test(prevalence=share, sensitivity=lee["q1"], specificity=lee["q0"])
    theirs, best = lee["theirs_m0_m1"], lee["variance_optimal_m0_m1"]
    planned = list(tc.plan(test, labels=lee["m"], items=10_000).labels.values())
    grid = [[lee["m"] - positives, positives] for positives in range(15, 101, 5)]
    widths = {tuple(labels): _mean_width(test, labels) for labels in (theirs, best, planned, *grid)}
    narrowest = min(grid, key=lambda labels: widths[tuple(labels)])
    weightless = tc.LabelShift(tc.Prior(confusion=NO_WEIGHT))
    expected = [tc.plan(test, weightless, labels=labels, items=10_000).width for labels in (theirs, best)]
    drawn = [_mean_width(test, labels, weightless) for labels in (theirs, best)]
    by_formula = [tc.plan(test, labels=labels, items=10**9, large_sample=True).width for labels in (theirs, best)]
    return {
        "formula_best_narrower_by_formula": 1 - by_formula[1] / by_formula[0],
        "formula_best_narrower_without_prior_weight": 1 - drawn[1] / drawn[0],
        "formula_best_narrower_without_prior_weight_by_expected_data": 1 - expected[1] / expected[0],
        "formula_best_narrower_by_posterior": 1 - widths[tuple(best)] / widths[tuple(theirs)],
        "planned_positives": planned[1],
        "planned_narrower_by_posterior": 1 - widths[tuple(planned)] / widths[tuple(theirs)],
        "posterior_best_positives": narrowest[1],
        "posterior_best_narrower_by_posterior": 1 - widths[tuple(narrowest)] / widths[tuple(theirs)],
    }


def _mean_width(test: tc.Assumed, labels: list[int], model: tc.LabelShift = DEFAULT) -> float:
    plans = [tc.plan(test, model, labels=labels, items=10_000, seed=seed) for seed in range(5)]
    return float(np.mean([max(each.mean_width for each in plan.classes) for plan in plans]))


def cost() -> dict[str, float]:
    """Compare forecasts, and searches for a goal, with one `infer`, in processor time."""
    found = {}
    for classes in (2, 10, 12):
        rows = 0.8 * np.eye(classes) + 0.2 / classes
        counts = tc.simulate.counts(np.full(classes, 1 / classes), rows, labeled=60 * classes, unlabeled=1000, seed=1)
        assumed = tc.Assumed(np.full(classes, 1 / classes), rows)
        sizes, goal, few = {"labels": [100] * classes, "items": 1000}, tc.Goal.narrow(0.06 / classes**0.5), 3
        calls = {
            "infer": lambda c=counts: tc.infer(c),
            "forecast": lambda a=assumed, s=sizes: tc.plan(a, **s),
            "pilot": lambda c=counts: tc.plan(c, labels=[50] * len(c.classes)),
            "goal": lambda c=counts, g=goal: tc.plan(c, goal=g),
        }
        seconds = {name: _seconds(call, few) for name, call in calls.items()}
        found |= {f"{name}_{classes}": each for name, each in seconds.items()}
        found |= {f"{name}_{classes}_ratio": each / seconds["infer"] for name, each in seconds.items()}
    return found


def _seconds(call: Callable[[], object], times: int = 5) -> float:
    call()
    took = []
    for _ in range(times):
        begin = process_time()
        call()
        took.append(process_time() - begin)
    return min(took)


def tables(found: dict) -> str:
    """Return what the documentation shows."""
    goals = [["data: goal", "plans", "carried out", "promised", "met", "width / forecast"]]
    for name, each in found.get("carried", {}).items():
        met = f"{100 * each['met']:.1f} ± {100 * each['error']:.1f} %"
        ratio = each["width_over_forecast"]
        ratio = "" if ratio is None else f"{ratio:.3f} ± {each['width_error']:.3f}"
        promised = f"{100 * each['promised']:.1f} %"
        goals.append([name, f"{each['plans']}", f"{each['carried_out']} times", promised, met, ratio])
    if each := found.get("over_all"):
        met, promised = f"{100 * each['met']:.1f} ± {100 * each['error']:.1f} %", f"{100 * each['promised']:.1f} %"
        name = f"mean of {each['problems']} problems"
        goals.append([name, f"{each['plans']}", f"{each['carried_out']} times", promised, met, ""])
        agree = f"χ² = {each['chi_square']:.1f}, p = {each['p_value']:.2g}"
        goals.append([f"all {each['problems']} against their promises", "", "", "", agree, ""])
    saved = [["data", "runs", "labels, equal split", "labels, adaptive", "saved", "intervals that hold the truth"]]
    for name, each in found.get("batches", {}).items():
        less = f"{100 * each['saved']:.1f} ± {100 * each['saved_error']:.1f} %"
        held = f"{100 * each['adaptive_coverage']:.1f} ± {100 * each['coverage_error']:.1f} %"
        labels = [f"{each[key]:,.0f}" for key in ("equal_labels", "adaptive_labels")]
        saved.append([name, f"{each['runs']}", *labels, less, held])
    return "\n".join(_markdown(rows) for rows in (goals, saved) if len(rows) > 1)


def _markdown(rows: list[list[str]]) -> str:
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main() -> None:
    """Measure one part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("published", "split", "carried", "batches", "cost"))
    parser.add_argument("--runs", type=int, help="as many of every problem; 250 of batches by default")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    if given.part in ("carried", "batches"):
        run = carried if given.part == "carried" else batches
        run(given.runs, given.only)
    else:
        keep(given.part, {"published": published, "split": split, "cost": cost}[given.part]())


if __name__ == "__main__":
    main()
