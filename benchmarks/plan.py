"""Carry plans out: published widths, goals met as promised, labels saved by adaptive batches, cost of a forecast.

    python benchmarks/plan.py published|split|carried|batches|cost [--runs 500] [--only NAME]

Real data are read from the folder that ``TRUECOUNT_DATA`` names. Results go to ``benchmarks/results/plan.json``, one
key for each part.
"""

import argparse
import csv
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import numpy as np
from machine import about

import truecount as tc

RESULTS = Path(__file__).parent / "results" / "plan.json"
DATA = Path(os.environ.get("TRUECOUNT_DATA", "."))
PILOT_LABELS, PILOT_ITEMS, ASSURANCE, NARROWER = 60, 400, 0.8, 0.65
"""Labels of each class and items of a pilot, the assurance, and by how much to get narrower than the pilot."""
BATCH, FIRST, MOST = 30, 3, 3000
"""Labels of a batch, labels of each output to begin with, and labels at which to give up."""


@dataclass(frozen=True)
class Population:
    """Items that can be drawn: the outputs of the items of each class, and the shares of the classes."""

    outputs: list[np.ndarray]
    shares: np.ndarray
    n_outputs: int

    def labels(self, sizes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw so many items of each class; shape (classes, outputs)."""
        drawn = [rng.choice(own, size) for own, size in zip(self.outputs, sizes, strict=True)]
        return np.array([np.bincount(each, minlength=self.n_outputs) for each in drawn])

    def items(self, number: int, rng: np.random.Generator) -> np.ndarray:
        """Draw items of all classes; shape (classes, outputs)."""
        return self.labels(rng.multinomial(number, self.shares), rng)


def simulated(classes: int) -> Callable[[np.random.Generator], Population]:
    """Truths that differ from run to run."""

    def draw(rng: np.random.Generator) -> Population:
        quality = rng.uniform(0.7, 0.95, classes)
        rows = [np.where(np.arange(classes) == k, q, (1 - q) / (classes - 1)) for k, q in enumerate(quality)]
        outputs = [rng.choice(classes, 20_000, p=row) for row in rows]
        return Population(outputs, rng.dirichlet(np.full(classes, 2.0)), classes)

    return draw


def uci(name: str, cells: int = 1) -> Callable[[np.random.Generator], Population]:
    """A logistic regression trained on a third of a set; the rest is drawn from, in shares of their own each run."""
    from uci import read

    features, labels = read(name)
    kept: list[np.ndarray] = []

    def draw(rng: np.random.Generator) -> Population:
        if not kept or rng.random() < 0.05:
            kept[:] = [_outputs(features, labels, rng, cells)]
        classes, outputs = kept[0]
        n_classes = int(labels.max()) + 1
        own = [outputs[classes == k] for k in range(n_classes)]
        natural = np.bincount(classes, minlength=n_classes) / len(classes)
        shares = rng.dirichlet(np.full(n_classes, 2.0)) if cells == 1 else natural
        return Population(own, shares, n_classes * cells)

    return draw


def _outputs(features: np.ndarray, labels: np.ndarray, rng: np.random.Generator, cells: int) -> np.ndarray:
    """Return classes and outputs of the items that were not trained on; outputs are predictions by confidence."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    order = rng.permutation(len(labels))
    training, rest = np.split(order, [len(order) // 3])
    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    scores = classifier.fit(features[training], labels[training]).predict_proba(features)
    predicted, sure = scores.argmax(axis=1), scores.max(axis=1)
    fine = np.zeros(len(labels), int)
    for output in np.unique(predicted):
        edges = np.quantile(sure[training][predicted[training] == output], np.arange(1, cells) / cells)
        fine[predicted == output] = np.searchsorted(edges, sure[predicted == output])
    return np.array([labels[rest], (predicted * cells + fine)[rest]])


def openqa(judge: str) -> Callable[[np.random.Generator], Population]:
    """Answers of all systems, judged by people and by a model."""
    with (DATA / "openqa_judges" / "labels.csv").open(encoding="utf-8") as stream:
        rows = [row for row in csv.DictReader(stream) if row["truth"] in YES_NO and row[judge] in YES_NO]
    classes, outputs = (np.array([row[column] == "Yes" for row in rows]).astype(int) for column in ("truth", judge))
    own = [outputs[classes == k] for k in (0, 1)]
    return lambda rng: Population(own, rng.dirichlet(np.full(2, 2.0)), 2)


YES_NO = ("Yes", "No")
CARRIED: dict[str, Callable[[], Callable[[np.random.Generator], Population]]] = {
    "simulated, 2 classes": lambda: simulated(2),
    "OpenQA, BEM": lambda: openqa("bem_label"),
    "spambase": lambda: uci("spambase"),
    "simulated, 3 classes": lambda: simulated(3),
    "waveform-21": lambda: uci("waveform-21"),
    "OpenQA, GPT-4": lambda: openqa("gpt4_label"),
}
BATCHES = {
    name: lambda name=name: uci(name, 3)
    for name in (
        *("page-blocks", "satimage", "nursery", "yeast"),
        *("spambase", "wine-quality-red", "waveform-21", "cmc"),
    )
}


def carried(make: Callable[[], Callable[[np.random.Generator], Population]], runs: int) -> dict[str, float]:
    """Make a plan from a pilot, carry it out, and see whether the goal is met; another pilot each time."""
    draw, found = make(), []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        population = draw(rng)
        n_classes = len(population.shares)
        labeled = population.labels(np.full(n_classes, PILOT_LABELS), rng)
        unlabeled = population.items(PILOT_ITEMS, rng).sum(axis=0)
        pilot = tc.Counts(labeled, unlabeled)
        now = np.diff(tc.infer(pilot, seed=seed).interval(), axis=1).max()
        goal = tc.Goal.narrow(min(NARROWER * now / 2, 0.45), assurance=ASSURANCE)
        plan = tc.plan(pilot, goal=goal, labels=None, items=2 * PILOT_ITEMS, seed=seed)
        labeled = labeled + population.labels(np.rint(plan.sizes.labels).astype(int), rng)
        unlabeled = unlabeled + population.items(plan.items, rng).sum(axis=0)
        widths = np.diff(tc.infer(tc.Counts(labeled, unlabeled), seed=seed).interval(), axis=1)
        forecast = max(each.mean_width for each in plan.classes)
        found.append((plan.probability, widths.max() <= 2 * goal.share, widths.max(), forecast, plan.is_reached))
    promised, met, width, forecast, reached = np.array(found, float).T
    return {
        "runs": runs,
        "promised": float(promised.mean()),
        "met": float(met.mean()),
        "met_error": float(np.sqrt(met.mean() * (1 - met.mean()) / runs)),
        "promised_where_reached": float(promised[reached == 1].mean()),
        "met_where_reached": float(met[reached == 1].mean()),
        "reached": float(reached.mean()),
        "width_over_forecast": float(width.mean() / forecast.mean()),
        "median_ratio": float(np.median(width / forecast)),
    }


def batches(make: Callable[[], Callable[[np.random.Generator], Population]], runs: int) -> dict[str, float]:
    """Label in batches until the widest interval is narrow enough; chosen by the expected drop, and equally split."""
    draw = make()
    found = {"adaptive": [], "equal": []}
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        population = draw(rng)
        joint = population.items(200_000, rng)
        joint = joint[:, joint.sum(axis=0) > 0]
        truth, outputs = joint.sum(axis=1) / joint.sum(), joint.sum(axis=0)
        unlabeled = rng.multinomial(20_000, outputs / outputs.sum())
        target = 0.06 if len(truth) <= 3 else 0.04
        for name in found:
            found[name].append(_until_narrow(name, joint / outputs, unlabeled, target, truth, rng))
    result = {"runs": runs}
    for name, each in found.items():
        numbers, held = zip(*each, strict=True)
        result |= {f"{name}_labels": float(np.mean(numbers)), f"{name}_coverage": float(np.mean(held))}
    return result | {"saved": 1 - result["adaptive_labels"] / result["equal_labels"]}


def _until_narrow(
    name: str,
    given: np.ndarray,
    unlabeled: np.ndarray,
    target: float,
    truth: np.ndarray,
    rng: np.random.Generator,
) -> tuple[int, float]:
    """Return how many labels it took, and how many of the classes' intervals hold the truth then."""
    n_outputs, model = len(unlabeled), tc.ByPrediction()
    blank = tc.Counts(np.zeros(given.shape, int), unlabeled)
    table = _labelled(np.minimum(FIRST, unlabeled), given, rng)
    while True:
        posterior = tc.infer(*tc.with_target_labels(blank, table, model), engine=tc.Auto(2000))
        ends = posterior.interval()
        if tc.may_stop(blank, target / 2, target=table, model=model) or table.sum() >= MOST:
            return int(table.sum()), float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).mean())
        if name == "adaptive":
            widest = posterior.classes[int(np.diff(ends, axis=1).argmax())]
            batch = tc.next_batch(blank, BATCH, target=table, model=model, of=widest)
            more = np.array(list(batch.values()))
        else:
            more = np.full(n_outputs, BATCH // n_outputs) + (rng.permutation(n_outputs) < BATCH % n_outputs)
        table = table + _labelled(np.minimum(more, unlabeled - table.sum(axis=0)), given, rng)


def _labelled(sizes: np.ndarray, given: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Label so many random items of each output."""
    return np.array([rng.multinomial(size, row) for size, row in zip(sizes, given.T, strict=True)]).T


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
    """Compare Lee et al.'s split of 200 labels with the formula's best one: by the formula, and by the posterior."""
    lee = json.loads((DATA / "published" / "sample_sizes.json").read_text(encoding="utf-8"))["lee_allocation"]
    share = (lee["p"] + lee["q0"] - 1) / (lee["q0"] + lee["q1"] - 1)
    test = tc.Assumed.test(prevalence=share, sensitivity=lee["q1"], specificity=lee["q0"])
    theirs, best = lee["theirs_m0_m1"], lee["variance_optimal_m0_m1"]
    found = {}
    for items in (1000, 10_000, 1_000_000):
        plans = [tc.plan(test, labels=labels, items=items, seed=seed) for seed in range(5) for labels in (theirs, best)]
        widths = np.array([max(each.mean_width for each in plan.classes) for plan in plans]).reshape(5, 2).mean(axis=0)
        found[f"narrower_by_posterior_{items}_items"] = float(1 - widths[1] / widths[0])
    widths = [tc.plan(test, labels=labels, items=10**9, large_sample=True).width for labels in (theirs, best)]
    return {"narrower_by_formula": 1 - widths[1] / widths[0], **found}


def cost() -> dict[str, float]:
    """Compare a forecast with one `infer`, in processor time."""
    found = {}
    for classes in (2, 10):
        rows = 0.8 * np.eye(classes) + 0.2 / classes
        counts = tc.simulate.counts(np.full(classes, 1 / classes), rows, labeled=100 * classes, unlabeled=1000, seed=1)
        assumed = tc.Assumed(np.full(classes, 1 / classes), rows)
        sizes = {"labels": [100] * classes, "items": 1000}
        one, forecast = _seconds(lambda c=counts: tc.infer(c)), _seconds(lambda a=assumed, s=sizes: tc.plan(a, **s))
        pilot = _seconds(lambda c=counts: tc.plan(c, labels=[50] * len(c.classes)))
        found |= {f"infer_{classes}": one, f"forecast_{classes}": forecast, f"pilot_{classes}": pilot}
        found |= {f"ratio_{classes}": forecast / one}
    return found


def _seconds(call: Callable[[], object], times: int = 5) -> float:
    call()
    took = []
    for _ in range(times):
        begin = process_time()
        call()
        took.append(process_time() - begin)
    return min(took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("published", "split", "carried", "batches", "cost"))
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    kept = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    if given.part in ("published", "split", "cost"):
        kept[given.part] = {"published": published, "split": split, "cost": cost}[given.part]()
    else:
        problems, run = (CARRIED, carried) if given.part == "carried" else (BATCHES, batches)
        for name, make in problems.items():
            if given.only in name:
                found = run(make, given.runs)
                print(name, found, flush=True)
                now = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
                kept = now | {given.part: {**now.get(given.part, {}), name: found}}
                RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    kept["machine"] = about()
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
