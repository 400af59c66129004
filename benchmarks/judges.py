"""Three judges of answers to questions, each alone and all at once; and three algorithms on the same deaths.

    python benchmarks/judges.py [pairs [part ...]]

Reads the folder that ``TRUECOUNT_DATA`` names. OpenQA: labels are of one system, the items whose share of right answers
is inferred are of another one, with other questions: questions are split in halves, anew for each pair of systems. The
truth is the share among these items. Ways that take seconds have fewer pairs. The prior of joint outputs and the rule
for rare ones were chosen on OpenQA, so two other sets, each judged twice, are looked at as well: PandaLM (comparisons
of two models' answers, five pairs of models labelled and five new) and XSTest (refusals, halves of one model's
prompts), split anew each time. Mozambique: no truth; three algorithms said what 940 neonates died of, and the answer
from two of them on the same deaths, whose table is published, is set beside those that multiply two and three of them
as if they were other deaths.
Results go to ``benchmarks/results/judges.json`` and ``.md``.
"""

import csv
import hashlib
import json
import os
import sys
from itertools import permutations
from pathlib import Path
from time import process_time

import numpy as np
from machine import about

import truecount as tc

RESULTS = Path(__file__).parent / "results"
JUDGES = {"gpt4": "gpt4_label", "davinci": "davinci003_label", "bem": "bem_label"}
ENGINE = tc.Auto(200)
LEVEL = 0.95
PAIRS, PAIRS_OF_SLOW = 132, 12
SLOW = ("all, flat rows", "all, taken for independent")
SPLITS = 15
PARTS = ("others", "openqa", "mozambique")
OTHERS = {
    "PandaLM": ("pandalm_judges", {"gpt35": "gpt35_label", "pandalm": "pandalm7b_label"}),
    "XSTest": ("xstest_refusals", {"gpt4": "gpt4_label", "strmatch": "strmatch_label"}),
}
ALL = list(JUDGES)
ASKED = {
    "GPT-4 alone": (["gpt4"], tc.LabelShift()),
    "davinci-003 alone": (["davinci"], tc.LabelShift()),
    "BEM alone": (["bem"], tc.LabelShift()),
    "all, learned rows (default)": (ALL, tc.LabelShift()),
    "all, flat rows": (ALL, tc.LabelShift(tc.Prior(confusion="flat"))),
    "all, taken for independent": (ALL, tc.IndependentClassifiers()),
}


def read(folder="openqa_judges"):
    """Return the rows that have a truth."""
    path = Path(os.environ["TRUECOUNT_DATA"]) / folder / "labels.csv"
    with path.open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["truth"]]


def half_of(question, split):
    """Return the half of a question, 0 or 1, by a hash of it."""
    return hashlib.sha256(f"{split} {question}".encode()).digest()[0] % 2


def outputs(rows, judges, columns_of=None):
    """Return the outputs of one judge, or those of several by name."""
    columns = {judge: [row[(columns_of or JUDGES)[judge]] or None for row in rows] for judge in judges}
    return columns if len(judges) > 1 else [each or "missing" for each in columns[judges[0]]]


def problems(rows, number):
    """Yield labelled and new rows of pairs of systems, with disjoint questions."""
    systems = sorted({row["group"] for row in rows})
    pairs = list(permutations(systems, 2))
    np.random.default_rng(0).shuffle(pairs)
    for split, (one, other) in enumerate(pairs[:number]):
        labeled = [row for row in rows if row["group"] == one and half_of(row["question"], split) == 0]
        new = [row for row in rows if row["group"] == other and half_of(row["question"], split) == 1]
        yield labeled, new


def openqa(number):
    """Return bias, error, coverage, width and seconds of every way to use the judges."""
    found = {name: [] for name in ASKED}
    for place, (labeled, new) in enumerate(problems(read(), number)):
        truth = np.mean([row["truth"] == "Yes" for row in new])
        for name, (judges, model) in ASKED.items():
            if name in SLOW and place >= PAIRS_OF_SLOW:
                continue
            counts = tc.count([row["truth"] for row in labeled], outputs(labeled, judges), outputs(new, judges))
            start = process_time()
            answer = tc.infer(counts, model, engine=ENGINE)
            seconds = process_time() - start
            shares = answer.realized[:, answer.place("Yes")]
            low, high = np.quantile(shares, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
            found[name].append((shares.mean() - truth, low - 1e-9 <= truth <= high + 1e-9, high - low, seconds))
    return {name: summary(np.array(values, float)) for name, values in found.items()}


def split(rows, name, rng):
    """Return labelled and new rows: of other pairs of models, or halves of one model's prompts."""
    groups = sorted({row["group"] for row in rows})
    if name == "PandaLM":
        known = set(rng.permutation(groups)[: len(groups) // 2])
        return [row for row in rows if row["group"] in known], [row for row in rows if row["group"] not in known]
    model = rng.choice(groups)
    own = [row for row in rows if row["group"] == model]
    order = rng.permutation(len(own))
    return tuple([own[place] for place in half] for half in np.array_split(order, 2))


def others():
    """Return the same of sets on which nothing was chosen; errors, coverage and widths are means over classes."""
    found = {}
    for name, (folder, columns) in OTHERS.items():
        rows, rng = read(folder), np.random.default_rng(0)
        for _ in range(SPLITS):
            labeled, new = split(rows, name, rng)
            for judges in (*([judge] for judge in columns), list(columns)):
                told = one_of_others(labeled, new, judges, columns)
                found.setdefault(f"{name}, {' and '.join(judges)}", []).append(told)
    return {name: summary(np.array(values, float)) for name, values in found.items()}


def one_of_others(labeled, new, judges, columns):
    """Return bias, coverage and width, means over classes, and seconds."""
    classes = sorted({row["truth"] for row in labeled} | {row["truth"] for row in new})
    truth = np.array([np.mean([row["truth"] == each for row in new]) for each in classes])
    start = process_time()
    known = [row["truth"] for row in labeled]
    sides = outputs(labeled, judges, columns), outputs(new, judges, columns)
    answer = tc.infer(tc.count(known, *sides, classes=classes), engine=ENGINE)
    seconds = process_time() - start
    low, high = np.quantile(answer.realized, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    held = ((low - 1e-9 <= truth) & (truth <= high + 1e-9)).mean()
    return np.abs(answer.realized.mean(axis=0) - truth).mean(), held, (high - low).mean(), seconds


def summary(values):
    """Return means over pairs of systems, with standard errors of coverage and width."""
    error, held, width, seconds = values.T
    number = len(values)
    return {
        "pairs": number,
        "bias": error.mean(),
        "error": np.abs(error).mean(),
        "coverage": held.mean(),
        "coverage_se": held.std() / np.sqrt(number),
        "width": width.mean(),
        "width_se": width.std() / np.sqrt(number),
        "seconds": np.median(seconds),
    }


def mozambique():
    """Return mean widths of the six causes: on the same deaths, and multiplied as if they were other deaths."""
    path = Path(os.environ["TRUECOUNT_DATA"]) / "published" / "vacalibration_mozambique_neonates.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    classes, used = data["classes"], ("insilicova", "interva")
    rows = [np.array(data["dirichlet_rows"][name]) for name in used]
    cross = np.array(data["cross_insilicova_interva"])
    names = [f"{one}, {two}" for one in classes for two in classes]
    widths = {}
    products = (rows[0] / rows[0].sum(1, keepdims=True))[:, :, None] * (rows[1] / rows[1].sum(1, keepdims=True))[
        :, None
    ]
    strength = min(each.sum() for each in rows) / len(classes)
    joint = (strength * products).reshape(len(classes), -1)
    counts = tc.Counts(np.zeros((6, 36), int), cross.ravel(), classes, names)
    same = tc.infer(counts, tc.LabelShift(tc.Prior(confusion=joint)), engine=ENGINE)
    widths["the same deaths, combinations of both"] = np.diff(same.interval()).mean()
    blocks = np.hstack([rows[0] / 2, rows[1] / 2])
    apart = tc.Counts(
        np.zeros((6, 12), int),
        np.concatenate([cross.sum(axis=1), cross.sum(axis=0)]),
        classes,
        [f"{name}: {cause}" for name in used for cause in classes],
    )
    naive = tc.infer(apart, tc.LabelShift(tc.Prior(confusion=2 * blocks)), engine=ENGINE)
    widths["as if they were other deaths, multinomials multiplied"] = np.diff(naive.interval()).mean()
    three, tables = [*used, "eava"], [*rows, np.array(data["dirichlet_rows"]["eava"])]
    items = [cross.sum(axis=1), cross.sum(axis=0), np.array(data["counts"]["eava"])]
    apart = tc.Counts(
        np.zeros((6, 18), int),
        np.concatenate(items),
        classes,
        [f"{name}: {cause}" for name in three for cause in classes],
    )
    naive = tc.infer(apart, tc.LabelShift(tc.Prior(confusion=np.hstack(tables))), engine=ENGINE)
    widths["eava too as if they were other deaths, three multiplied"] = np.diff(naive.interval()).mean()
    for name, own, items in zip(used, rows, (cross.sum(axis=1), cross.sum(axis=0)), strict=True):
        alone = tc.infer(tc.Counts(np.zeros((6, 6), int), items, classes), tc.LabelShift(tc.Prior(confusion=own)))
        widths[f"{name} alone"] = np.diff(alone.interval()).mean()
    return {name: float(width) for name, width in widths.items()}


def last_cells(each):
    """Return coverage and width with their standard errors, and seconds of processor time."""
    cover = f"{100 * each['coverage']:.1f} ± {100 * each['coverage_se']:.1f} %"
    return f"{cover} | {100 * each['width']:.1f} ± {100 * each['width_se']:.1f} | {each['seconds']:.2f}"


def main():
    """Measure, and write."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    kept = RESULTS / "judges.json"
    found = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for part, measure in {"others": others, "openqa": lambda: openqa(number), "mozambique": mozambique}.items():
        if part in (sys.argv[2:] or PARTS):
            found |= {part: measure(), "about": about()}
            write(found)


def write(found):
    """Write what was measured so far."""
    (RESULTS / "judges.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    lines = [
        "# Three judges, each alone and all at once",
        "",
        "OpenQA, pairs of systems with disjoint questions, 95 % intervals of the share of right answers.",
        "",
        "| judges | pairs | bias | mean absolute error | coverage | width | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, each in found["openqa"].items():
        points = f"{each['pairs']} | {100 * each['bias']:+.1f} | {100 * each['error']:.1f}"
        lines.append(f"| {name} | {points} | {last_cells(each)} |")
    lines += ["", "Bias, error and width in points. Systems and questions are shared between pairs.", ""]
    lines += [f"Sets on which nothing was chosen, {SPLITS} splits each, means over classes:", ""]
    lines += ["| judges | mean absolute error | coverage | width | seconds |", "|---|---|---|---|---|"]
    lines += [
        f"| {name} | {100 * each['error']:.1f} | {last_cells(each)} |" for name, each in found.get("others", {}).items()
    ]
    lines += [""]
    lines += ["Neonatal deaths in Mozambique, mean width of the 95 % intervals of six causes:", ""]
    lines += ["| outputs | width |", "|---|---|"]
    lines += [f"| {name} | {100 * width:.1f} |" for name, width in found["mozambique"].items()]
    (RESULTS / "judges.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
