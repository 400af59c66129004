"""Validation studies that differ: what 95 % intervals of surveys hold whose test has rates of its own.

    python benchmarks/studies.py [PART ...]

Each data set has studies of a test, whose sensitivity and specificity vary on the logit, and surveys of populations,
each of which is a new study without labels. Results go to ``benchmarks/results/studies.json`` and ``.md``, row by row;
rows that are there already are kept, and those of the parts that are named are measured anew.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from machine import about

import truecount as tc

RESULTS = Path(__file__).parent / "results"
ENGINE = tc.Auto(200)
LEVEL = 0.95
LOGITS = (1.7, 2.5)
"""Of sensitivity and specificity at the centre: 85 and 92 %."""
PER_CLASS = (40, 300)
"""Labelled items of a class in a study, at least and at most."""
TESTED, SURVEYS = 1000, 6
SPREADS = (0.0, 0.5, 0.8)
"""Standard deviations between studies, on the logit."""
PARTS = {
    "5 studies": {"studies": 5, "data_sets": 60, "scales": (0.5,)},
    "8 studies": {"studies": 8, "data_sets": 60, "scales": (0.5,)},
    "3 studies": {"studies": 3, "data_sets": 30, "scales": (0.25, 0.5, 1.0)},
    "2 studies": {"studies": 2, "data_sets": 30, "scales": (0.25, 0.5, 1.0)},
}


def simulated(studies, sd, rng):
    """Return groups, and the true share of positives in each survey."""
    rates = 1 / (1 + np.exp(-rng.normal(LOGITS, sd, (studies + SURVEYS, 2))))
    tables = np.stack([[[sens, 1 - sens], [1 - spec, spec]] for sens, spec in rates])
    labeled = {
        f"study {at}": [rng.multinomial(rng.integers(*PER_CLASS), row) for row in tables[at]] for at in range(studies)
    }
    shares = rng.uniform(0.05, 0.6, SURVEYS)
    items = {
        f"survey {at}": rng.multinomial(TESTED, [share, 1 - share] @ tables[studies + at])
        for at, share in enumerate(shares)
    }
    return tc.Groups(labeled, items, classes=["positive", "negative"]), shares


def measured(studies, sd, data_sets, scales):
    """Return what intervals hold and how wide they are, under each model, with standard errors between data sets."""
    models = {"one confusion": tc.LabelShift(groups=tc.Pooled())}
    models |= {f"varying, scale {scale:g}": varying(scale) for scale in scales}
    held, width = {name: [] for name in models}, {name: [] for name in models}
    converged = 0
    for number in range(data_sets):
        groups, shares = simulated(studies, sd, np.random.default_rng([2, studies, round(10 * sd), number]))
        for name, model in models.items():
            answer = tc.infer(groups, model, engine=ENGINE, seed=number)
            ends = answer.interval(LEVEL)[:, 0]
            held[name].append(float(((ends[:, 0] <= shares) & (shares <= ends[:, 1])).mean()))
            width[name].append(float((ends[:, 1] - ends[:, 0]).mean()))
            converged += answer.status == "ok"
    return {
        "studies": studies,
        "sd": sd,
        "data_sets": data_sets,
        "converged": converged / (data_sets * len(models)),
        "held": {name: float(np.mean(each)) for name, each in held.items()},
        "held_error": {name: float(np.std(each, ddof=1) / np.sqrt(data_sets)) for name, each in held.items()},
        "width": {name: float(np.mean(each)) for name, each in width.items()},
    }


def varying(scale):
    """Return the model in which the confusion varies, with this scale of the prior of the spread."""
    return tc.LabelShift(groups=tc.Pooled(), confusion=tc.Varying(spread=scale))


def text(document):
    """Return a table: a row for each number of studies, spread and model."""
    lines = [
        f"**Validation studies that differ.** {SURVEYS} surveys of {TESTED:,} people, each with a sensitivity and a "
        f"specificity of its own, {PER_CLASS[0]} to {PER_CLASS[1]} labelled items of a class in a study. What 95 % "
        "intervals of the share hold (standard error between data sets), and how wide they are. The scale is that of "
        "the half-normal prior of the spread between studies.",
        "",
        "| studies | sd between studies, logit | data sets | model | 95 % hold | width, points | converged |",
        "|" + " --- |" * 7,
    ]
    for row in document["rows"].values():
        lines += [
            f"| {row['studies']} | {row['sd']} | {row['data_sets']} | {name} | {100 * row['held'][name]:.1f} % "
            f"({100 * row['held_error'][name]:.1f}) | {100 * row['width'][name]:.1f} | {100 * row['converged']:.0f} % |"
            for name in row["held"]
        ]
    return "\n".join([*lines, ""])


def main():
    """Measure the parts that are named, and write results as they come."""
    path = RESULTS / "studies.json"
    document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"rows": {}}
    for part in sys.argv[1:] or PARTS:
        for sd in SPREADS:
            started = time.perf_counter()
            document["rows"][f"{part}, sd {sd}"] = measured(sd=sd, **PARTS[part])
            document |= {"machine": about()}
            path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
            path.with_suffix(".md").write_text(text(document), encoding="utf-8")
            print(f"{part}, sd {sd}: {time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
