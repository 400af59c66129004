"""Measure answers for many groups that are simulated: small groups, and language models.

    python benchmarks/groups_accuracy.py small models

Results go to ``benchmarks/results/groups_accuracy.json`` and ``.md``; parts that are not named stay as they are.
``groups_real.py`` has real judges, ``studies.py`` studies that differ.
"""

import json
import sys
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


def small(before, data_sets=240, batch=20):
    """Yield error and coverage of thirty groups of 50 items, all that is unknown simulated from its prior.

    Data sets that were done before are kept; results come after every batch of new ones.
    """
    basis, shapes = log_ratio_basis(2), np.array([[17.0, 3.0], [3.0, 17.0]])
    errors = {name: list(before.get("squared_errors", {}).get(name, [])) for name in ("pooled", "independent")}
    hits = {name: list(before.get("held", {}).get(name, [])) for name in errors}
    for number in range(len(hits["pooled"]), data_sets):
        rng = np.random.default_rng([1, number])
        spread = abs(rng.normal())
        shares = softmax((rng.logistic() + spread * rng.normal(size=(30, 1))) @ basis.T)
        rows = np.array([rng.dirichlet(shape) for shape in shapes])
        items = {at: rng.multinomial(50, share @ rows) for at, share in enumerate(shares)}
        groups = tc.Groups(labels(rows, 200, rng), items)
        for name, kind in (("pooled", tc.Pooled()), ("independent", tc.Independent())):
            answer = tc.infer(
                groups, tc.LabelShift(tc.Prior(confusion=shapes), groups=kind), engine=ENGINE, seed=number
            )
            errors[name].append(float(((answer.mean[:, 0] - shares[:, 0]) ** 2).mean()))
            hits[name].append(float(held(answer, shares[:, 0])[0].mean()))
        if (number + 1) % batch == 0:
            yield summary_of_small(errors, hits)


def summary_of_small(errors, hits):
    """Return error and coverage over all data sets, and what they come from."""
    root = {name: float(np.sqrt(np.mean(values))) for name, values in errors.items()}
    number = len(hits["pooled"])
    return {
        "data_sets": number,
        "root_mean_squared_error": root,
        "ratio": root["pooled"] / root["independent"],
        "coverage": {name: float(np.mean(values)) for name, values in hits.items()},
        "coverage_error": {name: float(np.std(values) / np.sqrt(number)) for name, values in hits.items()},
        "squared_errors": errors,
        "held": hits,
    }


def models(_before, data_sets=50):
    """Yield two to eight language models, verdicts pass, fail and unsure: convergence, and P(B better than A)."""
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
    yield {"data_sets": data_sets, "converged": int(np.sum(converged)), "better": table}


PARTS = {
    "small": small,
    "models": models,
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
    if found := document.get("models"):
        lines += [
            f"**Two to eight language models, verdicts pass, fail, unsure, 250 or 1,000 labels.** Converged: "
            f"{found['converged']} of {found['data_sets']} data sets. P(better than the first):",
            "",
            "| said | came true | pairs |",
            "| --- | --- | --- |",
        ]
        lines += [f"| {row['said']:.2f} | {row['came_true']:.2f} | {row['pairs']} |" for row in found["better"]] + [""]
    return "\n".join(lines)


def main():
    """Run the parts that are named, and write results as they come."""
    path = RESULTS / "groups_accuracy.json"
    document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    document = {name: found for name, found in document.items() if name in ("machine", *PARTS)}
    for part in sys.argv[1:] or PARTS:
        for found in PARTS[part](document.get(part, {})):
            document |= {"machine": about(), part: found}
            path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
            path.with_suffix(".md").write_text(text(document), encoding="utf-8")


if __name__ == "__main__":
    main()
