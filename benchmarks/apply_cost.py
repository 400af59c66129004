"""Measure what applying a fitted quantifier to a million new items costs beside the classifier's own predict.

Both run in turns in one process; the figure is the median of their ratios. The classifiers are fast ones, for which
anything on top shows most; for slower ones the ratio is nearer to one.

    python benchmarks/apply_cost.py [--items 1000000]
"""

import argparse
import json
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from machine import about
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from truecount import infer
from truecount.sklearn import Argmax, Bins, Clusters, Quantifier, Recalibrated, Tree

RESULTS = Path(__file__).parent / "results"
FEATURES, LABELED, ROUNDS = 20, 2000, 5
CLASSIFIERS = {
    "logistic regression": LogisticRegression(max_iter=1000),
    "naive Bayes": GaussianNB(),
    "forest of 20 trees": RandomForestClassifier(20, random_state=0),
}
PARTITIONS = {"Argmax()": Argmax(), "Bins(5)": Bins(5), "Tree(5)": Tree(5), "Clusters(5)": Clusters(5)}


def seconds(call: Any, *arguments: Any) -> float:
    start = perf_counter()
    call(*arguments)
    return perf_counter() - start


def measure(classifier: Any, items: np.ndarray, features: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    """Seconds of the classifier's own predict, ratios of ours to it, and seconds of the posteriors."""
    fitted = {name: Quantifier(classifier, kind).fit(features, labels) for name, kind in PARTITIONS.items()}
    corrected = Recalibrated(classifier).fit(features, labels).adapt(items[:10_000])
    plain = fitted["Argmax()"].estimator_
    counting = {f"counts, {name}": each.counts for name, each in fitted.items()}
    calls = {
        "predict_proba": plain.predict_proba,
        "predict, Argmax()": fitted["Argmax()"].predict,
        **counting,
        "Recalibrated.predict_proba": corrected.predict_proba,
    }
    own, times = [], []
    for _ in range(ROUNDS):
        own.append(seconds(plain.predict, items))
        times.append([seconds(call, items) for call in calls.values()])
    ratios = np.median(np.array(times) / np.array(own)[:, None], axis=0)
    return {
        "predict_seconds": float(np.median(own)),
        "ratio": dict(zip(calls, ratios.tolist(), strict=True)),
        "posterior_seconds": {name: seconds(infer, each.counts(items)) for name, each in fitted.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=1_000_000)
    options = parser.parse_args()
    machine = about()
    made, classes = make_classification(LABELED + options.items, FEATURES, flip_y=0.1, random_state=0)
    features, labels, items = made[:LABELED], classes[:LABELED], made[LABELED:]
    found = {name: measure(classifier, items, features, labels) for name, classifier in CLASSIFIERS.items()}
    names = list(next(iter(found.values()))["ratio"])
    lines = [
        f"Time for {options.items:,} new items of {FEATURES} features, as a multiple of the classifier's own predict;",
        f"median of {ROUNDS} rounds in one run. The first ratio is the classifier's own predict_proba.",
        "",
        f"| classifier | predict, s | {' | '.join(names)} |",
        f"| --- | --- {'| --- ' * len(names)}|",
    ]
    for name, each in found.items():
        ratios = " | ".join(f"{each['ratio'][kind]:.2f}" for kind in names)
        lines.append(f"| {name} | {each['predict_seconds']:.2f} | {ratios} |")
    lines += ["", "Seconds of the posterior, which do not depend on how many items were counted.", ""]
    lines += [f"| classifier | {' | '.join(PARTITIONS)} |", f"| --- {'| --- ' * len(PARTITIONS)}|"]
    for name, each in found.items():
        spent = [f"{each['posterior_seconds'][kind]:.2f}" for kind in PARTITIONS]
        lines.append(f"| {name} | {' | '.join(spent)} |")
    print("\n".join(lines))
    document = {"machine": machine, "items": options.items, "features": FEATURES, "classifiers": found}
    (RESULTS / "apply_cost.json").write_text(json.dumps(document, indent=1) + "\n")
    (RESULTS / "apply_cost.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
