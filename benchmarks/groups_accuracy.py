"""Measure answers for many groups: simulated groups, studies that differ, language models, and real judges.

    python benchmarks/groups_accuracy.py small studies models openqa xstest

Results go to ``benchmarks/results/groups_accuracy.json`` and ``.md``; parts that are not named stay as they are.
``openqa`` and ``xstest`` read the folder that ``TRUECOUNT_DATA`` names.
"""

import csv
import json
import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from machine import about

import truecount as tc
from truecount.models.hierarchy.log_ratios import log_ratio_basis

RESULTS = Path(__file__).parent / "results"
ENGINE = tc.Auto(200)
LEVEL = 0.95


def softmax(logs):
    exponents = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return exponents / exponents.sum(axis=-1, keepdims=True)


def logistic(values):
    return 1 / (1 + np.exp(-np.asarray(values)))


def labels(rows, number, rng):
    """Labelled items of each class."""
    return np.stack([rng.multinomial(number, row) for row in rows])


def held(answer, truth, at=0):
    """Whether 95 % intervals of a class hold the truth, and their width, group by group."""
    ends = answer.interval(LEVEL)[:, at]
    return (ends[:, 0] <= truth) & (truth <= ends[:, 1]), ends[:, 1] - ends[:, 0]


def small(data_sets=200):
    """Thirty groups of 50 items, all that is unknown simulated from its prior: error and coverage."""
    rng, basis, shapes = np.random.default_rng(1), log_ratio_basis(2), np.array([[17.0, 3.0], [3.0, 17.0]])
    errors, hits = {"pooled": [], "independent": []}, {"pooled": [], "independent": []}
    for number in range(data_sets):
        spread = abs(rng.normal())
        shares = softmax((rng.logistic() + spread * rng.normal(size=(30, 1))) @ basis.T)
        rows = np.array([rng.dirichlet(shape) for shape in shapes])
        items = {at: rng.multinomial(50, share @ rows) for at, share in enumerate(shares)}
        groups = tc.Groups(labels(rows, 200, rng), items)
        for name, kind in (("pooled", tc.Pooled()), ("independent", tc.Independent())):
            answer = tc.infer(
                groups, tc.LabelShift(tc.Prior(confusion=shapes), groups=kind), engine=ENGINE, seed=number
            )
            errors[name].append(((answer.mean[:, 0] - shares[:, 0]) ** 2).mean())
            hits[name].append(held(answer, shares[:, 0])[0].mean())
    root = {name: float(np.sqrt(np.mean(values))) for name, values in errors.items()}
    return {
        "data_sets": data_sets,
        "root_mean_squared_error": root,
        "ratio": root["pooled"] / root["independent"],
        "coverage": {name: float(np.mean(values)) for name, values in hits.items()},
        "coverage_error": {name: float(np.std(values) / np.sqrt(data_sets)) for name, values in hits.items()},
    }


def studies(data_sets=20, surveys=8):
    """Six studies whose sensitivity and specificity differ, and surveys: coverage of 95 % intervals."""
    rows = []
    for sd in (0.0, 0.5, 0.8):
        rng, hits = np.random.default_rng(2), {"varying": [], "shared": []}
        for number in range(data_sets):
            logits = rng.normal([1.7, 2.5], sd, (6 + surveys, 2))
            rates = logistic(logits)
            tables = np.stack([[[a, 1 - a], [1 - b, b]] for a, b in rates])
            labeled = {f"study {at}": labels(tables[at], 150, rng) for at in range(6)}
            share = rng.uniform(0.05, 0.6, surveys)
            items = {at: rng.multinomial(1000, [share[at], 1 - share[at]] @ tables[6 + at]) for at in range(surveys)}
            groups = tc.Groups(labeled, items, classes=["positive", "negative"])
            for name, kind in (("varying", tc.Varying()), ("shared", None)):
                model = tc.LabelShift(groups=tc.Independent(), confusion=kind)
                answer = tc.infer(groups, model, engine=ENGINE, seed=number)
                hits[name].append(held(answer, share)[0].mean())
        found = {name: float(np.mean(each)) for name, each in hits.items()}
        error = float(np.std(hits["varying"]) / np.sqrt(data_sets))
        rows.append({"sd": sd, "data_sets": data_sets, "surveys": surveys, **found, "varying_error": error})
    return rows


def models(data_sets=50):
    """Two to eight language models, verdicts pass, fail and unsure: convergence, and P(B better than A)."""
    rng = np.random.default_rng(3)
    rows, converged, said, true = np.array([[0.75, 0.12, 0.13], [0.15, 0.7, 0.15]]), [], [], []
    for number in range(data_sets):
        n_models, n_labels = int(rng.integers(2, 9)), (250, 1000)[number % 2]
        logits = rng.normal(0.8, 0.4, n_models)
        shares = np.stack([logistic(logits), 1 - logistic(logits)], axis=1)
        items = {f"model {at}": rng.multinomial(400, share @ rows) for at, share in enumerate(shares)}
        labeled = np.stack(
            [rng.multinomial(round(n_labels * part), row) for part, row in zip((0.6, 0.4), rows, strict=True)]
        )
        groups = tc.Groups(labeled, items, classes=["pass", "fail"], outputs=["pass", "fail", "unsure"])
        answer = tc.infer(groups, seed=number)
        converged.append(answer.status == "ok")
        above = (answer.prevalence[:, 1:, 0] > answer.prevalence[:, :1, 0]).mean(axis=0)
        said += above.tolist()
        true += (shares[1:, 0] > shares[0, 0]).tolist()
    said_array, true_array = np.array(said), np.array(true)
    bins = [(0, 0.1), (0.1, 0.3), (0.3, 0.7), (0.7, 0.9), (0.9, 1.001)]
    table = []
    for low, high in bins:
        inside = (said_array >= low) & (said_array < high)
        if inside.any():
            mean, frequency, number = said_array[inside].mean(), true_array[inside].mean(), int(inside.sum())
            table.append({"said": float(mean), "came_true": float(frequency), "pairs": number})
    return {"data_sets": data_sets, "converged": int(np.sum(converged)), "better": table}


def judged(folder, column, classes):
    """Items of each system by question half: {system: [(truth, output, half)]}."""
    path = Path(os.environ["TRUECOUNT_DATA"]) / folder / "labels.csv"
    systems: dict[str, list] = {}
    with path.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            key = row.get("question") or row["id"]
            half = sum(map(ord, key)) % 2
            if row["truth"] in classes and row[column]:
                systems.setdefault(row["group"], []).append((row["truth"], row[column], half))
    return systems


def tabled(items, classes, outputs):
    counted = Counter((truth, output) for truth, output, _ in items)
    return np.array([[counted[truth, output] for output in outputs] for truth in classes])


def real(folder, column, numbers=(0, 20, 50, 100), most=None):
    """Each system in turn is the target: labels of the others, and some of its own; error, coverage and width."""
    with (Path(os.environ["TRUECOUNT_DATA"]) / folder / "labels.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    classes = sorted({row["truth"] for row in rows})
    outputs = sorted({row[column] for row in rows} - {""})
    systems, found = judged(folder, column, classes), {}
    for number in numbers:
        for target, items in list(systems.items())[:most]:
            rng = np.random.default_rng([5, number, len(found)])
            one = [item for item in items if item[2] == 1]
            truth = np.array([sum(item[0] == name for item in one) for name in classes]) / len(one)
            labeled = {
                name: tabled([item for item in each if item[2] == 0], classes, outputs)
                for name, each in systems.items()
                if name != target
            }
            own = [items[at] for at in rng.permutation(len(items)) if items[at][2] == 0][:number]
            if number:
                labeled[target] = tabled(own, classes, outputs)
            unlabeled = {
                system: [sum(item[1] == name and item[2] == 1 for item in each) for name in outputs]
                for system, each in systems.items()
            }
            groups = tc.Groups(labeled, unlabeled, classes=classes, outputs=outputs)
            for name, model in {
                "independent": tc.LabelShift(groups=tc.Independent()),
                "pooled": tc.LabelShift(groups=tc.Pooled()),
                "pooled, varying": tc.LabelShift(groups=tc.Pooled(), confusion=tc.Varying()),
            }.items():
                answer = tc.infer(groups, model, engine=ENGINE, seed=1)
                _note(found, (name, number), answer.realized(target), truth, answer.status)
            if number:
                alone = tc.Counts(labeled[target], unlabeled[target], classes, outputs)
                _note(found, ("target labels alone", number), tc.infer(alone, seed=1).realized, truth, "ok")
    return [{"model": name, "target_labels": number, **_mean(each)} for (name, number), each in found.items()]


def _note(found, key, draws, truth, status):
    ends = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    entry = found.setdefault(key, {"held": [], "width": [], "error": [], "ok": []})
    entry["held"].append(float(((ends[0] <= truth) & (truth <= ends[1])).mean()))
    entry["width"].append(float((ends[1] - ends[0]).mean()))
    entry["error"].append(float(np.abs(draws.mean(axis=0) - truth).mean()))
    entry["ok"].append(status == "ok")


def _mean(entry):
    return {"targets": len(entry["held"]), **{name: float(np.mean(values)) for name, values in entry.items()}}


PARTS = {
    "small": small,
    "studies": studies,
    "models": models,
    "openqa": lambda: real("openqa_judges", "gpt4_label", most=5),
    "xstest": lambda: real("xstest_refusals", "gpt4_label"),
}


def text(document):
    """All parts in words and tables."""
    lines = []
    if found := document.get("small"):
        root = found["root_mean_squared_error"]
        lines += [
            f"**30 groups of 50 items, {found['data_sets']} data sets from the model.** Root mean squared error pooled "
            f"{100 * root['pooled']:.2f}, independent {100 * root['independent']:.2f} points: ratio "
            f"{found['ratio']:.2f}. 95 % intervals hold {100 * found['coverage']['pooled']:.1f} % (standard error "
            f"{100 * found['coverage_error']['pooled']:.1f}) and {100 * found['coverage']['independent']:.1f} %.",
            "",
        ]
    if found := document.get("studies"):
        lines += ["**Six studies that differ, and eight surveys.** What 95 % intervals hold.", ""]
        lines += ["| sd between studies, logit | data sets | varying | one confusion |", "| --- | --- | --- | --- |"]
        lines += [
            f"| {row['sd']} | {row['data_sets']} | {100 * row['varying']:.0f} % (standard error "
            f"{100 * row['varying_error']:.0f}) | {100 * row['shared']:.0f} % |"
            for row in found
        ] + [""]
    if found := document.get("models"):
        lines += [
            f"**Two to eight language models, verdicts pass, fail, unsure, 250 or 1,000 labels.** Converged: "
            f"{found['converged']} of {found['data_sets']} data sets. P(better than the first):",
            "",
            "| said | came true | pairs |",
            "| --- | --- | --- |",
        ]
        lines += [f"| {row['said']:.2f} | {row['came_true']:.2f} | {row['pairs']} |" for row in found["better"]] + [""]
    for part in ("openqa", "xstest"):
        if found := document.get(part):
            lines += [f"**{part}**, each system in turn the target, questions of labels and target apart.", ""]
            lines += [
                "| model | target labels | targets | error, points | 95 % hold | width | converged |",
                "|" + " --- |" * 7,
            ]
            lines += [
                f"| {row['model']} | {row['target_labels']} | {row['targets']} | {100 * row['error']:.1f} | "
                f"{100 * row['held']:.0f} % | {row['width']:.2f} | {100 * row['ok']:.0f} % |"
                for row in found
            ] + [""]
    return "\n".join(lines)


def main():
    """Run the parts that are named, and write results as they come."""
    path = RESULTS / "groups_accuracy.json"
    document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for part in sys.argv[1:] or PARTS:
        document |= {"machine": about(), part: PARTS[part]()}
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        path.with_suffix(".md").write_text(text(document), encoding="utf-8")


if __name__ == "__main__":
    main()
