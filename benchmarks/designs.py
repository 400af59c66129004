"""Measure priors of P(class | output), the designs ``by_prediction`` and ``same_population``: bias and coverage.

    python benchmarks/designs.py [--sets 400]

Every prior answers the same simulated data sets. Classes of 0.1 % and ordinary ones, and two sets that are read from
the folder that ``TRUECOUNT_DATA`` names; 95 % intervals. Results go to ``benchmarks/results/designs.json`` and ``.md``.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from machine import about
from plan_populations import uci

import truecount as tc
from truecount.models.register import MODELS

RESULTS = Path(__file__).parent / "results"
UNLABELED, ENGINE = 100_000, tc.Auto(1000)
PRIORS = ("1/L", "1/(LK)", "m/2 + (L − 1)/(LK)", "pooled", "default")


@dataclass(frozen=True, eq=False)
class Case:
    """A population: shares of the outputs, and of the classes behind each (class × output)."""

    name: str
    outputs: np.ndarray
    classes: np.ndarray
    labels: int
    design: str = "by_prediction"

    @property
    def truth(self) -> np.ndarray:
        """Shape (classes,): the share of each class."""
        return self.classes @ self.outputs

    def counts(self, rng: np.random.Generator) -> tc.Counts:
        """So many labels of each output or, of the same population, as many in all at random."""
        n_outputs = len(self.outputs)
        each = [self.labels] * n_outputs
        if self.design == "same_population":
            each = rng.multinomial(self.labels * n_outputs, self.outputs).tolist()
        labeled = [rng.multinomial(items, self.classes[:, place]) for place, items in enumerate(each)]
        return tc.Counts(np.array(labeled).T, rng.multinomial(UNLABELED, self.outputs))


def cases() -> Iterator[Case]:
    mine = np.array([0.001, 0.999]), np.array([[0.4, 0.0006], [0.6, 0.9994]])
    area = np.array([[0.8, 0.01, 0.0003, 0.00005], [0, 0.9, 0.002, 0.001], [0.1, 0.05, 0.95, 0.03], [0, 0, 0, 0]])
    area[-1] = 1 - area.sum(axis=0)
    rng = np.random.default_rng(5)
    outputs, rare, spread = rng.dirichlet(np.ones(27)), 0.002 * rng.random(27), rng.beta(0.5, 0.5, 27)
    for labels in (100, 300, 1000):
        yield Case("mine, 2 × 2", *mine, labels)
    for labels in (100, 400):
        yield Case("map, 4 × 4", np.array([0.001, 0.019, 0.32, 0.66]), area, labels)
    yield Case("rare, 2 × 27", outputs, np.array([rare, 1 - rare]), 30)
    for labels in (10, 50):
        yield Case("ordinary, 3 × 3", np.array([0.5, 0.3, 0.2]), 0.7 * np.eye(3) + 0.1, labels)
    yield Case("ordinary, 10 × 10", np.full(10, 0.1), 0.7 * np.eye(10) + 0.03, 10)
    yield Case("sharp, 10 × 10", np.full(10, 0.1), 0.95 * np.eye(10) + 0.005, 30)
    yield Case("ordinary, 2 × 27", outputs, np.array([spread, 1 - spread]), 10)
    for number in range(1, 4):
        yield rare_classes(number)
    for name in ("wine-quality-white", "optdigits"):
        yield real(name)
    yield Case("map, 4 × 4", np.array([0.001, 0.019, 0.32, 0.66]), area, 400, "same_population")
    yield Case("ordinary, 3 × 3", np.array([0.5, 0.3, 0.2]), 0.7 * np.eye(3) + 0.1, 20, "same_population")


def rare_classes(seed: int) -> Case:
    """Five classes, some of them rare, by a classifier with three outputs for each."""
    rng = np.random.default_rng(seed)
    rows = [rng.dirichlet(np.where(np.arange(15) % 5 == place, 6.3, 0.3)) for place in range(5)]
    joint = np.array([0.001, 0.005, 0.03, 0.2, 0.764])[:, None] * rows
    return Case(f"rare classes {seed}, 5 × 15", joint.sum(axis=0), joint / joint.sum(axis=0), 10)


def real(name: str) -> Case:
    """A set that no default was chosen on, by the classes of a logistic regression in three ranges of confidence."""
    population = uci(name, 3, is_shifted=False)(np.random.default_rng(0))
    joint = population.shares[:, None] * population.rows
    joint = joint[:, joint.sum(axis=0) > 0]
    shape = f"{joint.shape[0]} × {joint.shape[1]}"
    return Case(f"{name}, {shape}", joint.sum(axis=0), joint / joint.sum(axis=0), 40)


def given_output(name: str, counts: tc.Counts) -> float | np.ndarray | None:
    """The prior of that name; *pooled* is one item for each output, divided as the classes are, and no more."""
    n_classes, n_outputs = counts.labeled.shape
    if name == "default":
        return None
    if name in ("1/L", "1/(LK)"):
        return 1 / n_classes if name == "1/L" else 1 / (n_classes * n_outputs)
    items = counts.labeled.sum(axis=0)
    shares = counts.labeled / np.maximum(items, 1) @ (counts.unlabeled / counts.unlabeled.sum())
    pooled = (items.sum() * shares + 1 / n_classes) / (items.sum() + 1)
    return pooled if name == "pooled" else pooled / 2 + (n_classes - 1) / counts.labeled.size


def measured(case: Case, sets: int) -> dict:
    """Bias, error and coverage of every prior; of the rarest class, and the lowest of all classes."""
    means: dict[str, list] = {name: [] for name in PRIORS}
    held: dict[str, list] = {name: [] for name in PRIORS}
    rng = np.random.default_rng(1)
    for number in range(sets):
        counts = case.counts(rng)
        for name in PRIORS:
            model = MODELS[case.design](given_output(name, counts))
            answer = tc.infer(counts, model, engine=ENGINE, seed=number)
            lower, upper = answer.interval().T
            means[name].append(answer.mean)
            held[name].append((lower <= case.truth) & (case.truth <= upper))
    rarest = int(case.truth.argmin())
    found = {"case": case.name, "design": case.design, "labels": case.labels, "share": float(case.truth[rarest])}
    for name in PRIORS:
        mean, kept = np.array(means[name]), np.array(held[name])
        found[name] = {
            "relative bias": float(mean[:, rarest].mean() / case.truth[rarest] - 1),
            "its standard error": float(mean[:, rarest].std(ddof=1) / np.sqrt(sets) / case.truth[rarest]),
            "held": float(kept[:, rarest].mean()),
            "lowest held": float(kept.mean(axis=0).min()),
            "error": float(np.abs(mean - case.truth).mean()),
        }
    return found


def table(entries: list[dict]) -> str:
    head = ["population", "design", "labels", "rarest class", *(f"bias, {name}" for name in PRIORS)]
    head += [f"held, {name}" for name in PRIORS]
    lines = [head, ["---"] * len(head)]
    for entry in entries:
        line = [entry["case"], f"`{entry['design']}`", f"{entry['labels']} an output", f"{100 * entry['share']:.2g} %"]
        line += [f"{100 * entry[name]['relative bias']:+.1f} %" for name in PRIORS]
        line += [f"{100 * entry[name]['held']:.0f} · {100 * entry[name]['lowest held']:.0f}" for name in PRIORS]
        lines.append(line)
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main() -> None:
    """Measure, print, write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sets", type=int, default=400)
    sets = arguments.parse_args().sets
    entries = []
    for case in cases():
        entries.append(measured(case, sets))
        print(table(entries[-1:]).splitlines()[-1], flush=True)
    (RESULTS / "designs.json").write_text(
        json.dumps({"machine": about(), "sets": sets, "cases": entries}, indent=1) + "\n"
    )
    (RESULTS / "designs.md").write_text(table(entries))


if __name__ == "__main__":
    main()
