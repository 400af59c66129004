"""Compare partitions at ten classes: error, width, coverage and time of one answer.

    TRUECOUNT_DATA=... python benchmarks/many_cells.py [--repetitions 6] [--cells 20]

Ten digits (UCI optdigits), logistic regression, 400 labelled and 200 new items, their prevalence uniform on the
simplex, sparse rows. Results go to ``benchmarks/results/many_cells.json`` and ``.md``.
"""

import argparse
import json
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import real_counts
from machine import about
from sklearn.linear_model import LogisticRegression

import truecount as tc
from truecount.errors import ConvergenceWarning
from truecount.sklearn import Argmax, Clusters, Quantifier, Tree

RESULTS = Path(__file__).parent / "results"
LABELED, NEW = 400, 200


def measured(partition: object, repetitions: int) -> dict:
    """Means over repetitions; the realized share is the truth."""
    features, labels = real_counts._read_uci("optdigits")
    features = features / 16
    rows = []
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(labels))
        known, pool = order[:LABELED], order[LABELED:]
        composition = rng.multinomial(NEW, rng.dirichlet(np.ones(10)))
        new = np.concatenate([pool[labels[pool] == code][:items] for code, items in enumerate(composition)])
        truth = np.bincount(labels[new], minlength=10) / len(new)
        start = perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            quantifier = Quantifier(LogisticRegression(max_iter=500), partition, prior=tc.Prior(confusion="sparse"))
            answer = quantifier.fit(features[known], labels[known]).posterior(features[new])
        seconds = perf_counter() - start
        lower, upper = answer.interval(0.95, target="realized").T
        error = np.abs(answer.realized.mean(axis=0) - truth).mean()
        rows.append([error, (upper - lower).mean(), ((lower <= truth) & (truth <= upper)).mean(), seconds])
        print(partition, seed, np.round(rows[-1], 4), answer.run.engine, flush=True)
    error, width, held, seconds = np.mean(rows, axis=0)
    found = {"error": error, "width": width, "held": held, "seconds": float(np.median([row[3] for row in rows]))}
    return {
        "partition": type(partition).__name__,
        "errors": [float(row[0]) for row in rows],
        "repetitions": repetitions,
        **{key: float(each) for key, each in found.items()},
    }


def table(entries: list[dict]) -> str:
    head = [
        "partition of ten classes",
        "repetitions",
        "error",
        "beyond Argmax (s.e.)",
        "width",
        "95 % held",
        "seconds, median",
    ]
    lines = [head, ["---"] * len(head)]
    for entry in entries:
        gain = 100 * (np.array(entry["errors"]) - entries[0]["errors"])
        beyond = f"{gain.mean():+.2f} ({gain.std(ddof=1) / np.sqrt(len(gain)):.2f})"
        numbers = [f"{100 * entry['error']:.2f}", beyond, f"{entry['width']:.3f}", f"{entry['held']:.0%}"]
        lines.append([f"`{entry['partition']}`", str(entry["repetitions"]), *numbers, f"{entry['seconds']:.1f}"])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main() -> None:
    """Measure, print, write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repetitions", type=int, default=6)
    arguments.add_argument("--cells", type=int, default=20)
    asked = arguments.parse_args()
    partitions = (Argmax(), Clusters(asked.cells), Tree(asked.cells))
    entries = [measured(partition, asked.repetitions) for partition in partitions]
    (RESULTS / "many_cells.json").write_text(json.dumps({"machine": about(), "partitions": entries}, indent=1) + "\n")
    (RESULTS / "many_cells.md").write_text(table(entries))


if __name__ == "__main__":
    main()
