"""Judges of language models: each system in turn is the target, with some labels of its own or none.

    python benchmarks/groups_real.py [openqa] [xstest] [--most TARGETS] [--labels 0 50] [--models pooled ...]

Reads the folder that ``TRUECOUNT_DATA`` names. Questions are split in halves, anew for each repetition: labels are of
one half, the items whose shares are inferred of the other, then the other way round. Targets are taken in this order:
all systems in the order of their names with the first half labelled, then all with the second. Results go to
``benchmarks/results/groups_real.json`` and ``.md``; targets that are done stay as they are, so that a run that was
stopped goes on. Remove the file to begin anew.
"""

import argparse
import csv
import hashlib
import json
import os
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
from machine import about

import truecount as tc

RESULTS = Path(__file__).parent / "results"
ENGINE = tc.Auto(200)
LEVEL = 0.95
NUMBERS = (0, 20, 50, 100)
"""Labels of the target."""
JOINT = {
    "independent": tc.LabelShift(groups=tc.Independent()),
    "pooled": tc.LabelShift(groups=tc.Pooled()),
    "pooled, varying confusion": tc.LabelShift(groups=tc.Pooled(), confusion=tc.Varying()),
    "varying confusion, labels a random sample": tc.LabelShift(
        groups=tc.Pooled(), confusion=tc.Varying(random_labels=True)
    ),
}
PARTS = {
    "openqa": {"folder": "openqa_judges", "item": "question", "splits": 1},
    "xstest": {"folder": "xstest_refusals", "item": "id", "splits": 1},
}


def read(folder):
    """Return the rows that people and the GPT-4 judge labelled."""
    path = Path(os.environ["TRUECOUNT_DATA"]) / folder / "labels.csv"
    with path.open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["truth"] and row["gpt4_label"]]


def half_of(item, split):
    """Return the half of a question, 0 or 1, by a hash of it."""
    return hashlib.sha256(f"{split} {item}".encode()).digest()[0] % 2


def tabled(rows, classes, outputs):
    """Return a table (class, output) of labelled rows."""
    counted = Counter((row["truth"], row["gpt4_label"]) for row in rows)
    return np.array([[counted[truth, output] for output in outputs] for truth in classes])


def targets(folder, item, splits):
    """Yield each target: its name among all, its labels in random order, all labels, all items, and its true shares."""
    rows = read(folder)
    classes, outputs = (sorted({row[column] for row in rows}) for column in ("truth", "gpt4_label"))
    systems = sorted({row["group"] for row in rows})
    for split, labeled_half in product(range(splits), (0, 1)):
        sides = {system: ([], []) for system in systems}
        for row in rows:
            sides[row["group"]][half_of(row[item], split) != labeled_half].append(row)
        items = {system: tabled(side[1], classes, outputs) for system, side in sides.items()}
        for at, target in enumerate(systems):
            order = np.random.default_rng([5, split, labeled_half, at]).permutation(len(sides[target][0]))
            own = [
                tabled([sides[target][0][place] for place in order[:number]], classes, outputs) for number in NUMBERS
            ]
            others = {name: tabled(side[0], classes, outputs) for name, side in sides.items() if name != target}
            yield f"{split} {labeled_half} {target}", target, (classes, outputs), own, others, items


def answers(target, names, own, others, items, asked, done):
    """Yield a model, the number of the target's labels, draws of its shares and whether they converged.

    Those that are not asked for or done are left out.
    """
    unlabeled = {system: table.sum(axis=0) for system, table in items.items()}
    for number, table in zip(NUMBERS, own, strict=True):
        if number not in asked.labels:
            continue
        groups = tc.Groups(others | ({target: table} if number else {}), unlabeled, *names)
        for name, model in JOINT.items():
            if name in asked.models and (number, name) not in done:
                answer = tc.infer(groups, model, engine=ENGINE, seed=1)
                yield name, number, answer.realized(target), answer.status == "ok"
        alone = tc.Counts(table, unlabeled[target], *names)
        of_all = tc.Counts(groups.labeled.sum(axis=0), unlabeled[target], *names)
        by_itself = {"target by itself, labels of all": (of_all, tc.LabelShift())}
        if number:
            by_itself["target by itself, its labels"] = (alone, tc.LabelShift())
            by_itself["the same, a random sample"] = (alone, tc.SamePopulation())
        for name, (counts, model) in by_itself.items():
            if (number, name) in done:
                continue
            posterior = tc.infer(counts, model, engine=tc.Auto(400), seed=1)
            yield name, number, posterior.realized, posterior.status == "ok"


def entry(draws, truth, converged):
    """Return what one answer is worth: means over classes."""
    ends = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return {
        "held": float(((ends[0] <= truth) & (truth <= ends[1])).mean()),
        "width": float((ends[1] - ends[0]).mean()),
        "error": float(np.abs(draws.mean(axis=0) - truth).mean()),
        "converged": float(converged),
    }


def added(row, new):
    """Return the means of a row with one more target, and the standard error of what intervals hold."""
    number = row.get("targets", 0)
    squares = (row.get("held_error") or 0.0) ** 2 * number * (number - 1)
    squares += (new["held"] - row.get("held", 0.0)) ** 2 * number / (number + 1)
    means = {name: (number * row.get(name, 0.0) + value) / (number + 1) for name, value in new.items()}
    error = float(np.sqrt(squares / (number * (number + 1)))) if number else None
    return row | means | {"targets": number + 1, "held_error": error}


def real(found, part, asked):
    """Yield what was found so far with one more target, until so many are added or all are done."""
    most = asked.most
    rows = {(row["target_labels"], row["model"]): row for row in found.get("rows", [])}
    for key, target, names, own, others, items in targets(**PARTS[part]):
        truth, done = items[target].sum(axis=1) / items[target].sum(), {at for at in rows if key in rows[at]["done"]}
        new = list(answers(target, names, own, others, items, asked, done))
        for name, number, draws, converged in new:
            row = rows.get((number, name), {"model": name, "target_labels": number, "done": []})
            rows[number, name] = added(row, entry(draws, truth, converged)) | {"done": [*row["done"], key]}
        if not new:
            continue
        yield {"rows": [rows[each] for each in sorted(rows, key=lambda each: each[0])]}
        most -= 1
        if not most:
            return


def text(document):
    """Return a table for each part."""
    lines = []
    for part in PARTS:
        if found := document.get(part):
            lines += [
                f"**{part}**, GPT-4 as judge: each system in turn the target, questions of labels and target apart, "
                "halves both ways. Share of each class among the target's items: mean absolute error, what 95 % "
                "intervals hold (standard error between targets), width.",
                "",
                "| target labels | model | targets | error, points | 95 % hold | width, points | converged |",
                "|" + " --- |" * 7,
            ]
            lines += [
                f"| {row['target_labels']} | {row['model']} | {row['targets']} | {100 * row['error']:.1f} | "
                f"{100 * row['held']:.0f} % ({100 * (row['held_error'] or 0):.0f}) | {100 * row['width']:.1f} | "
                f"{100 * row['converged']:.0f} % |"
                for row in found["rows"]
            ] + [""]
    return "\n".join(lines)


def main():
    """Add targets to the parts that are named, and write results as they come."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--most", type=int, default=1000, help="targets to add to each part")
    parser.add_argument("--labels", nargs="*", type=int, default=NUMBERS, choices=NUMBERS, help="of the target")
    parser.add_argument("--models", nargs="*", default=list(JOINT), choices=list(JOINT), help="of all systems together")
    asked = parser.parse_args()
    path = RESULTS / "groups_real.json"
    document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for part in asked.parts:
        for found in real(document.get(part, {}), part, asked):
            document |= {"machine": about(), part: found}
            path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
            path.with_suffix(".md").write_text(text(document), encoding="utf-8")
            print(part, found["rows"][-1]["done"][-1], flush=True)


if __name__ == "__main__":
    main()
