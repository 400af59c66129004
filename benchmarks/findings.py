"""Measure how often each check fires where it should not, and how often where it should.

Every data set is drawn anew from a truth for which the assumption holds, with prevalences inside the simplex, on an
edge (a class is absent) and at a corner (one class is all there is); then from truths that violate it.

    python benchmarks/findings.py [--sets 1000] [--power-sets 300] [--only labels-by-output]
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from machine import about

import truecount as tc
from truecount.diagnostics.blind_spots import blind_spots
from truecount.diagnostics.homogeneity import design_finding, homogeneity_test, joint_test, not_random, rows_test
from truecount.diagnostics.scores import by_confidence, scores_test
from truecount.diagnostics.shift import label_shift_test, misfit
from truecount.inference.draws import Draws
from truecount.models import density

RESULTS = Path(__file__).parent / "results"
LEVEL, REPLICATES = 0.05, 99
PLACES = ("inside", "edge", "corner")
FLAT = tc.Prior()


@dataclass(frozen=True)
class Shape:
    """How many classes, outputs, labels of each class and unlabelled items."""

    classes: int
    outputs: int
    labeled: int
    unlabeled: int

    def __str__(self) -> str:
        return f"{self.classes} × {self.outputs}, {self.labeled} each, {self.unlabeled:,}"


SHAPES = (Shape(2, 3, 100, 500), Shape(3, 6, 50, 5_000), Shape(5, 9, 200, 500), Shape(2, 30, 30, 300))
SQUARES = (Shape(2, 2, 100, 500), Shape(5, 5, 200, 500))
HARD, AT_RANDOM = Shape(9, 9, 50, 1_000), "rows at random"
"""Classes that outputs hardly tell apart."""


def truth(shape: Shape, place: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A prevalence at that place, and rows that lean towards an output of their own, unless outputs are many."""
    if place == AT_RANDOM:
        return rng.dirichlet(np.ones(shape.classes)), rng.dirichlet(np.ones(shape.outputs), shape.classes)
    rows = rng.dirichlet(np.full(shape.outputs, 0.6), shape.classes)
    if shape.outputs <= 12:
        rows = 0.7 * np.eye(shape.outputs)[np.arange(shape.classes) % shape.outputs] + 0.3 * rows
    return prevalence(shape, place, rng), rows


def prevalence(shape: Shape, place: str, rng: np.random.Generator) -> np.ndarray:
    if place == "corner":
        return np.eye(shape.classes)[rng.integers(shape.classes)]
    shares = rng.dirichlet(np.full(shape.classes, 2.0))
    if place == "edge":
        shares[rng.integers(shape.classes)] = 0.0
    return shares / shares.sum()


def drawn(shape: Shape, pi: np.ndarray, rows: np.ndarray, new: np.ndarray, rng: np.random.Generator) -> tc.Counts:
    outputs = pi @ new
    return tc.Counts(rng.multinomial(shape.labeled, rows), rng.multinomial(shape.unlabeled, outputs / outputs.sum()))


def drifted(rows: np.ndarray, amount: float, rng: np.random.Generator) -> np.ndarray:
    """Rows that moved by so much in total variation, each towards an output drawn at random."""
    moved = rows.copy()
    for row in moved:
        goal = rng.integers(len(row))
        amount_left = min(amount, 1 - row[goal])
        others = np.delete(np.arange(len(row)), goal)
        row[others] -= row[others] / row[others].sum() * amount_left
        row[goal] += amount_left
        row[:] = np.maximum(row, 0.0) / np.maximum(row, 0.0).sum()
    return moved


def shift_p(counts: tc.Counts, seed: int) -> float:
    return label_shift_test(counts, density(counts, FLAT), replicates=REPLICATES, seed=seed).p_value


def rate(fires: Callable[[np.random.Generator, int], bool], sets: int, seed: int) -> float:
    """The share of data sets on which a check fires."""
    return float(np.mean([fires(np.random.default_rng([seed, number]), number) for number in range(sets)]))


def label_shift(shape: Shape, place: str, drift: float) -> Callable[[np.random.Generator, int], bool]:
    def fires(rng: np.random.Generator, number: int) -> bool:
        pi, rows = truth(shape, place, rng)
        new = drifted(rows, drift, rng) if drift else rows
        return shift_p(drawn(shape, pi, rows, new, rng), number) <= LEVEL

    return fires


def cheap(shape: Shape, place: str, drift: float) -> Callable[[np.random.Generator, int], bool]:
    def fires(rng: np.random.Generator, number: int) -> bool:
        pi, rows = truth(shape, place, rng)
        counts = drawn(shape, pi, rows, drifted(rows, drift, rng) if drift else rows, rng)
        return misfit(counts, density(counts, FLAT)) is not None

    return fires


def audit(size: int, drift: float) -> Callable[[np.random.Generator, int], bool]:
    """An audit of so many target labels in all, of three classes with four outputs."""
    shape = Shape(3, 4, 150, 500)

    def fires(rng: np.random.Generator, number: int) -> bool:
        pi, rows = truth(shape, "inside", rng)
        new = drifted(rows, drift, rng) if drift else rows
        tables = [rng.multinomial(shape.labeled, rows), rng.multinomial(rng.multinomial(size, pi), new)]
        return homogeneity_test(np.array(tables), replicates=REPLICATES, seed=number).p_value <= LEVEL

    return fires


def any_shift(moved: bool) -> Callable[[np.random.Generator, int], bool]:
    shape = Shape(3, 4, 150, 500)

    def fires(rng: np.random.Generator, number: int) -> bool:
        pi, rows = truth(shape, "inside", rng)
        other = prevalence(shape, "inside", rng) if moved else pi
        both = [rng.multinomial(450, pi @ rows), rng.multinomial(500, other @ rows)]
        return homogeneity_test(np.array(both)[:, None], replicates=REPLICATES, seed=number).p_value <= LEVEL

    return fires


def groups_by_rows(drift: float) -> Callable[[np.random.Generator, int], bool]:
    shape = Shape(3, 4, 50, 200)

    def fires(rng: np.random.Generator, number: int) -> bool:
        _, rows = truth(shape, "inside", rng)
        confusions = [rows, rows, drifted(rows, drift, rng) if drift else rows]
        groups = {
            place: drawn(shape, prevalence(shape, "inside", rng), own, own, rng) for place, own in enumerate(confusions)
        }
        return rows_test(groups, seed=number).p_value <= LEVEL

    return fires


def groups_jointly(drift: float) -> Callable[[np.random.Generator, int], bool]:
    shape = Shape(2, 4, 100, 300)

    def fires(rng: np.random.Generator, number: int) -> bool:
        _, rows = truth(shape, "inside", rng)
        labeled = tc.Counts(rng.multinomial(shape.labeled, rows), np.zeros(shape.outputs, int))
        seen = {}
        for place in range(3):
            own = drifted(rows, drift, rng) if drift and place == 2 else rows
            outputs = prevalence(shape, "inside", rng) @ own
            seen[place] = rng.multinomial(shape.unlabeled, outputs / outputs.sum())
        groups = tc.Groups(labeled.labeled, seen)
        return joint_test(groups, density(labeled, FLAT), replicates=REPLICATES, seed=number)[1] <= LEVEL

    return fires


def scores(blunt: float, *, by_cells: bool) -> Callable[[np.random.Generator, int], bool]:
    """Two classes whose logits are normal; a box that lost some of its confidence is blunt."""

    def fires(rng: np.random.Generator, number: int) -> bool:
        labels, share = rng.integers(2, size=300), rng.uniform(0.1, 0.9)
        new = (rng.random(400) < share).astype(int)
        logits = [1.5 * (2 * each - 1) + 1.5 * rng.standard_normal(len(each)) for each in (labels, new)]
        right = [1 / (1 + np.exp(-logit)) for logit in (logits[0], logits[1] * (1 - blunt))]
        made = tc.Scores(
            *(np.column_stack([1 - right[0], right[0]]), labels, np.column_stack([1 - right[1], right[1]]))
        )
        if by_cells:
            return shift_p(by_confidence(made), number) <= LEVEL
        return scores_test(made, replicates=REPLICATES, seed=number)[1] <= LEVEL

    return fires


def alike(distance: float, labels: int) -> Callable[[np.random.Generator, int], bool]:
    """Two of three classes with rows at that total variation from each other."""

    def fires(rng: np.random.Generator, number: int) -> bool:
        rows = np.array([[0.8, 0.1, 0.1], [0.1, 0.45, 0.45], [0.1, 0.45 - distance, 0.45 + distance]])
        counts = tc.Counts(rng.multinomial(labels, rows), [50, 30, 20])
        return (1, 2) in blind_spots(density(counts, FLAT), counts.labeled.astype(float)).groups

    return fires


def designs(moved: bool) -> Callable[[np.random.Generator, int], bool]:
    shape = Shape(3, 3, 100, 500)

    def fires(rng: np.random.Generator, number: int) -> bool:
        pi, rows = truth(shape, "inside", rng)
        other = prevalence(shape, "inside", rng) if moved else pi
        labeled = rng.multinomial(300, (pi[:, None] * rows).ravel()).reshape(3, 3)
        counts = tc.Counts(labeled, rng.multinomial(500, other @ rows))
        shift = tc.infer(counts, engine=tc.Auto(400), seed=number)
        same = tc.infer(counts, tc.SamePopulation(), engine=tc.Auto(400), seed=number)
        return design_finding(shift, same) is not None

    return fires


def random_sample(moved: bool) -> Callable[[np.random.Generator, int], bool]:
    shape = Shape(3, 4, 100, 500)

    def fires(rng: np.random.Generator, number: int) -> bool:
        pi, rows = truth(shape, "inside", rng)
        other = prevalence(shape, "inside", rng) if moved else pi
        labeled = rng.multinomial(300, (pi[:, None] * rows).ravel()).reshape(rows.shape)
        return not_random(tc.Counts(labeled, rng.multinomial(500, other @ rows))) is not None

    return fires


def by_output(chosen: bool) -> Callable[[np.random.Generator, int], bool]:
    """Labels of three classes, taken at random or 50 of each of three outputs."""

    def fires(rng: np.random.Generator, number: int) -> bool:
        pi, rows = truth(Shape(3, 3, 50, 500), "inside", rng)
        joint = pi[:, None] * rows
        if chosen:
            labeled = np.array([rng.multinomial(50, column / column.sum()) for column in joint.T]).T
        else:
            labeled = rng.multinomial(rng.integers(100, 200), joint.ravel()).reshape(3, 3)
        counts = tc.Counts(labeled, rng.multinomial(500, pi @ rows))
        return "labels-by-output" in {each.code for each in tc.infer(counts, engine=Idle()).findings}

    return fires


def edge(missed: bool) -> Callable[[np.random.Generator, int], bool]:
    """A share of 1 % and a weak box, where the equal-tailed interval begins above it; or shares well inside."""
    shape = Shape(2, 2, 20, 200) if missed else Shape(2, 2, 200, 1_000)
    quality, share = (0.65, 0.01) if missed else (0.85, 0.4)

    def fires(rng: np.random.Generator, number: int) -> bool:
        rows, pi = tc.simulate.confusion(quality, 2), np.array([share, 1 - share])
        while True:
            counts = drawn(shape, pi, rows, rows, rng)
            posterior = tc.infer(counts, engine=tc.Auto(1000), seed=number)
            if not missed or posterior.interval()[0, 0] > share:
                unclear = {"edge-not-excluded", "not-identified", "prior-dominated"}
                return bool(unclear & {finding.code for finding in posterior.findings})

    return fires


class Idle:
    """Draws that cost nothing, for findings that do not read them."""

    def sample(self, model: Any, seed: int) -> Draws:
        """Return even shares."""
        shares = np.full((40, model.n_classes), 1 / model.n_classes)
        return Draws(
            prevalence=shares, confusion=np.repeat(model.mean_confusion[None], 40, axis=0), effective=shares[0] * 0 + 40
        )


def cases() -> list[tuple[str, str, str, float, Callable[[np.random.Generator, int], bool]]]:
    """Finding, data, what is true, how often it may fire there (or −1: as often as it can), and the check."""
    found: list[Any] = []
    for shape in (*SHAPES, *SQUARES):
        for place in PLACES:
            found.append(("label-shift-violated, check", str(shape), place, LEVEL, label_shift(shape, place, 0.0)))
            found.append(("label-shift-violated, infer", str(shape), place, 1e-4, cheap(shape, place, 0.0)))
    found.append(("label-shift-violated, infer", str(HARD), AT_RANDOM, 1e-4, cheap(HARD, AT_RANDOM, 0.0)))
    for shape in (*SHAPES, *SQUARES):
        for drift in (0.1, 0.3):
            said = f"rows drifted by {drift:.0%}"
            found.append(("label-shift-violated, check", str(shape), said, -1.0, label_shift(shape, "inside", drift)))
            found.append(("label-shift-violated, infer", str(shape), said, -1.0, cheap(shape, "inside", drift)))
    for size in (50, 100):
        for drift in (0.0, 0.1, 0.3):
            said, allowed = (f"rows drifted by {drift:.0%}", -1.0) if drift else ("the same rows", LEVEL)
            found.append((f"confusion-drifted, audit of {size}", "3 × 4, 150 each", said, allowed, audit(size, drift)))
    for name, make, data in (
        ("confusion-drifted, groups", groups_by_rows, "3 groups, 3 × 4, 50 each"),
        ("label-shift-violated, groups", groups_jointly, "3 groups, 2 × 4, 100 each"),
    ):
        found.append((name, data, "the same rows", LEVEL, make(0.0)))
        found.append((name, data, "one group drifted by 30%", -1.0, make(0.3)))
    for by_cells, name in ((True, "label-shift-violated, by confidence"), (False, "label shift on scores")):
        found.append((name, "300 and 400 scores", "label shift", LEVEL, scores(0.0, by_cells=by_cells)))
        found.append((name, "300 and 400 scores", "logits shrunk by 50%", -1.0, scores(0.5, by_cells=by_cells)))
    found.append(("anything shifted at all", "3 × 4, 450 and 500", "the same shares", LEVEL, any_shift(False)))
    found.append(("anything shifted at all", "3 × 4, 450 and 500", "other shares", -1.0, any_shift(True)))
    found.append(("not-identified", "3 × 3, 100 each", "equal rows", -1.0, alike(0.0, 100)))
    found.append(("not-identified", "3 × 3, 100 each", "rows 0.1 apart", -1.0, alike(0.1, 100)))
    found.append(("not-identified", "3 × 3, 100 each", "rows 0.35 apart", 0.001, alike(0.35, 100)))
    name = "edge-not-excluded, not-identified or prior-dominated"
    found.append((name, "2 × 2, 200 each, 1,000, right 85 %", "a share of 40 %", 0.0, edge(False)))
    found.append((name, "2 × 2, 20 each, 200, right 65 %", "1 %, missed by the interval", -1.0, edge(True)))
    found.append(("designs-disagree", "3 × 3, 300 and 500", "one population", 0.001, designs(False)))
    found.append(("designs-disagree", "3 × 3, 300 and 500", "other shares", -1.0, designs(True)))
    found.append(("not-a-random-sample", "3 × 4, 300 and 500", "a random sample", 1e-4, random_sample(False)))
    found.append(("not-a-random-sample", "3 × 4, 300 and 500", "other shares", -1.0, random_sample(True)))
    found.append(("labels-by-output", "3 × 3", "labels at random", 0.01, by_output(False)))
    found.append(("labels-by-output", "3 × 3", "50 of each output", -1.0, by_output(True)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--power-sets", type=int, default=300)
    parser.add_argument("--only", default="", help="measure again only rows that hold this, such as audit or 2 × 30")
    options = parser.parse_args()
    path, start = RESULTS / "findings.json", perf_counter()
    before = json.loads(path.read_text())["rows"] if options.only else []
    known = {said(row): row for row in before}
    for number, (name, data, true, level, fires) in enumerate(cases()):
        row = {"check": name, "data": data, "truth": true, "level": level}
        if options.only in said(row) or said(row) not in known:
            known[said(row)] = row | measured(fires, level, options.sets if level >= 0 else options.power_sets, number)
            print(f"{said(row)} | {100 * known[said(row)]['rate']:.1f} % | {perf_counter() - start:.0f} s", flush=True)
    document = {"machine": about(), "rows": list(known.values())}
    path.write_text(json.dumps(document, indent=1) + "\n")
    (RESULTS / "findings.md").write_text("\n".join(report(document["rows"])) + "\n")


def measured(fires: Callable[[np.random.Generator, int], bool], level: float, sets: int, seed: int) -> dict[str, Any]:
    """How often a check fires, and how often it may at most: three standard errors above what it promises."""
    most = level + 3 * np.sqrt(max(level, 1 / sets) * (1 - level) / sets) if level >= 0 else None
    return {"sets": sets, "rate": rate(fires, sets, seed=seed), "most": most}


def said(row: dict[str, Any]) -> str:
    return f"{row['check']} | {row['data']} | {row['truth']}"


def report(rows: list[dict[str, Any]]) -> list[str]:
    """False alarms, then power."""
    lines = ["| check | data | truth | promised | fired |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        if row["level"] >= 0:
            mark = "" if row["rate"] <= row["most"] else " **too often**"
            lines.append(f"| {said(row)} | {100 * row['level']:g} % | {100 * row['rate']:.1f} %{mark} |")
    lines += ["", "| check | data | truth | fired |", "| --- | --- | --- | --- |"]
    lines += [f"| {said(row)} | {100 * row['rate']:.0f} % |" for row in rows if row["level"] < 0]
    return lines


if __name__ == "__main__":
    main()
