"""What it costs to count new items by a classifier fitted to all labelled items, and not by those of the folds.

    TRUECOUNT_DATA=... python benchmarks/refitting.py [--repetitions 1000]

Population intervals of `Quantifier` with `Argmax`, on the repetitions of ``repetitions.py``.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from machine import about
from quantifier import ENGINE, LEVELS, counted, coverage
from repetitions import LOGISTIC, repetitions
from sklearn.tree import DecisionTreeClassifier
from tables import shares, table

import truecount as tc
from truecount.sklearn import Argmax

RESULTS = Path(__file__).parent / "results"
SETS = ("spambase", "page-blocks", "waveform-21")
CLASSIFIERS = {"logistic regression": LOGISTIC, "tree of depth 6": DecisionTreeClassifier(max_depth=6, random_state=0)}
WAYS = {"crossed": "those of the folds", "refitted": "one fitted to all"}


def measure(name: str, classifier: str, number: int) -> dict[str, dict]:
    """Coverage and width, by who counts the new items."""
    drawn = [
        ({way: counted(getattr(each, way), Argmax()) for way in WAYS}, each.prevalence)
        for each in repetitions(name, number, CLASSIFIERS[classifier])
    ]
    truths, found = np.array([truth for _, truth in drawn]), {}
    for way in WAYS:
        posteriors = tc.infer_many([counts[way] for counts, _ in drawn], engine=ENGINE, progress=False)
        found[way] = coverage(np.array([[p.interval(level) for level in LEVELS] for p in posteriors]), truths)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=1000)
    number, machine = parser.parse_args().repetitions, about()
    found = {name: {kind: measure(name, kind, number) for kind in CLASSIFIERS} for name in SETS}
    rows = [
        [name, kind, WAYS[way], shares(each["coverage"]), f"{each['width'][-1]:.3f}"]
        for name, kinds in found.items()
        for kind, ways in kinds.items()
        for way, each in ways.items()
    ]
    lines = [
        f"Percentage of population intervals that hold the truth at 50 · 80 · 95 %, over {number:,} repetitions,",
        "and mean width at 95 %, by the classifiers that new items meet.",
        "",
        *table(["set", "classifier", "new items meet", "held", "width"], rows),
    ]
    print("\n".join(lines))
    (RESULTS / "refitting.md").write_text("\n".join(lines) + "\n")
    document = {"machine": machine, "repetitions": number, "sets": found}
    (RESULTS / "refitting.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
