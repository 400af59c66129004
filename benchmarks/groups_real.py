"""Judges of language models: each system in turn is the target, with some labels of its own or none.

    python benchmarks/groups_real.py [openqa] [xstest]

Reads the folder that ``TRUECOUNT_DATA`` names. Questions are split in halves, anew for each repetition: labels are of
one half, the items whose shares are inferred of the other, then the other way round. Results go to
``benchmarks/results/groups_real.json`` and ``.md``; parts that are not named stay as they are.
"""

import csv
import hashlib
import json
import os
import sys
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


def real(folder, item, splits):
    """Yield error, coverage and width by model and number of the target's own labels, of more and more targets."""
    rows, found = read(folder), {}
    classes, outputs = (sorted({row[column] for row in rows}) for column in ("truth", "gpt4_label"))
    systems = sorted({row["group"] for row in rows})
    for split, labeled_half in product(range(splits), (0, 1)):
        sides = {system: ([], []) for system in systems}
        for row in rows:
            sides[row["group"]][half_of(row[item], split) != labeled_half].append(row)
        items = {system: tabled(side[1], classes, outputs) for system, side in sides.items()}
        for at, target in enumerate(systems):
            labeled, unlabeled = sides[target][0], {system: table.sum(axis=0) for system, table in items.items()}
            order = np.random.default_rng([5, split, labeled_half, at]).permutation(len(labeled))
            others = {name: tabled(side[0], classes, outputs) for name, side in sides.items() if name != target}
            truth = items[target].sum(axis=1) / items[target].sum()
            for number in NUMBERS:
                own = tabled([labeled[place] for place in order[:number]], classes, outputs)
                groups = tc.Groups(others | ({target: own} if number else {}), unlabeled, classes, outputs)
                for name, model in JOINT.items():
                    answer = tc.infer(groups, model, engine=ENGINE, seed=1)
                    note(found, (name, number), answer.realized(target), truth, answer.status)
                of_all = tc.Counts(groups.labeled.sum(axis=0), unlabeled[target], classes, outputs)
                alone = tc.Counts(own, unlabeled[target], classes, outputs)
                by_itself = {"target by itself, labels of all": (of_all, tc.LabelShift())}
                if number:
                    by_itself["target by itself, its labels"] = (alone, tc.LabelShift())
                    by_itself["the same, a random sample"] = (alone, tc.SamePopulation())
                for name, (counts, model) in by_itself.items():
                    posterior = tc.infer(counts, model, engine=tc.Auto(400), seed=1)
                    note(found, (name, number), posterior.realized, truth, posterior.status)
            print(f"{folder}: half {labeled_half} of split {split}, {target}", flush=True)
            order = sorted(found, key=lambda key: (key[1], list(found).index((key[0], max(key[1], 20)))))
            yield [{"model": name, "target_labels": number, **mean(found[name, number])} for name, number in order]


def note(found, key, draws, truth, status):
    """Add one target to what was found."""
    ends = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    entry = found.setdefault(key, {"held": [], "width": [], "error": [], "converged": []})
    entry["held"].append(float(((ends[0] <= truth) & (truth <= ends[1])).mean()))
    entry["width"].append(float((ends[1] - ends[0]).mean()))
    entry["error"].append(float(np.abs(draws.mean(axis=0) - truth).mean()))
    entry["converged"].append(status == "ok")


def mean(entry):
    """Return means over targets and classes, and the standard error of what intervals hold."""
    number = len(entry["held"])
    error = float(np.std(entry["held"], ddof=1) / np.sqrt(number)) if number > 1 else None
    return {"targets": number, "held_error": error, **{name: float(np.mean(each)) for name, each in entry.items()}}


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
                for row in found
            ] + [""]
    return "\n".join(lines)


def main():
    """Run the parts that are named, and write results as they come."""
    path = RESULTS / "groups_real.json"
    document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for part in sys.argv[1:] or PARTS:
        for rows in real(**PARTS[part]):
            document |= {"machine": about(), part: rows}
            path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
            path.with_suffix(".md").write_text(text(document), encoding="utf-8")


if __name__ == "__main__":
    main()
