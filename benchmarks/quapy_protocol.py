"""Run `Quantifier` unchanged under QuaPy's own protocols and evaluation, beside two of QuaPy's quantifiers.

QuaPy's protocols draw samples of many prevalences from a test set, its evaluation asks each quantifier for the shares.
All samples of one split share the luck of its labelled items, so the standard error is over splits.

    TRUECOUNT_DATA=... python benchmarks/quapy_protocol.py [--splits 30]
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import quapy as qp
from machine import about
from quantifier import summary
from quapy.data import LabelledCollection
from quapy.evaluation import evaluate, evaluation_report
from quapy.method.aggregative import ACC, EMQ
from quapy.protocol import APP, UPP
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tables import table
from uci import read

from truecount.sklearn import Argmax, Quantifier

RESULTS = Path(__file__).parent / "results"
SETS = ("spambase", "waveform-21")
TRAINING, SAMPLE = 1000, 200
PEER, OURS = "ACC of QuaPy", "Quantifier"


def classifier() -> object:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def collections(name: str, split: int) -> tuple[LabelledCollection, LabelledCollection]:
    features, labels = read(name)
    order = np.random.default_rng(split).permutation(len(labels))
    return tuple(LabelledCollection(features[part], labels[part]) for part in (order[:TRAINING], order[TRAINING:]))


def protocols(test: LabelledCollection, split: int) -> dict[str, object]:
    return {
        "APP": APP(test, sample_size=SAMPLE, n_prevalences=11, repeats=2, random_state=split),
        "UPP": UPP(test, sample_size=SAMPLE, repeats=50, random_state=split),
    }


def models() -> dict[str, object]:
    return {
        PEER: ACC(classifier()),
        "EMQ of QuaPy": EMQ(classifier()),
        OURS: Quantifier(classifier(), Argmax(), target="realized"),
    }


def measure(name: str, splits: int) -> dict[str, dict[str, list[float]]]:
    """Mean absolute error as QuaPy computes it, protocol by protocol, of each split.

    APP's grid has samples that lack a class altogether; they are shown by themselves.
    """
    found: dict[str, dict[str, list[float]]] = {}
    for split in range(splits):
        training, test = collections(name, split)
        for label, model in models().items():
            model.fit(*training.Xy)
            for kind, protocol in protocols(test, split).items():
                report = evaluation_report(model, protocol, error_metrics=["mae", "mrae"])
                if split == 0 and not np.isclose(mean := evaluate(model, protocol, "mae"), report["mae"].mean()):
                    raise RuntimeError(f"{label}: evaluate says {mean}, evaluation_report {report['mae'].mean()}")
                for part, chosen in parts(kind, report).items():
                    errors = found.setdefault(f"{part}, {chosen.sum()} samples", {})
                    errors.setdefault(label, []).append(float(report["mae"][chosen].mean()))
    return found


def parts(kind: str, report: pd.DataFrame) -> dict[str, np.ndarray]:
    if kind != "APP":
        return {kind: np.ones(len(report), bool)}
    is_inner = np.array([min(shares) > 0 for shares in report["true-prev"]])
    return {"APP, every class occurs": is_inner, "APP, a class is absent": ~is_inner}


def shown(values: list[float], form: str = ".2f") -> str:
    found = summary([100 * value for value in values])
    return f"{found['mean']:{form}} ({found['standard_error']:.2f})"


def rows(found: dict[str, dict[str, dict[str, list[float]]]]) -> list[list[str]]:
    return [
        [name, kind, *map(shown, errors.values()), shown(list(np.subtract(errors[OURS], errors[PEER])), "+.2f")]
        for name, kinds in found.items()
        for kind, errors in kinds.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=30)
    splits, machine = parser.parse_args().splits, about()
    qp.environ["SAMPLE_SIZE"] = SAMPLE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: measure(name, splits) for name in SETS}
    lines = [
        "Mean absolute error in points of 100 (standard error), by QuaPy's own protocols and evaluation;",
        f"{TRAINING} labelled items, samples of {SAMPLE}, {splits} splits. The last column is {OURS} less {PEER},",
        "split by split.",
        "",
        *table(["set", "samples of each split", *models(), "difference"], rows(found)),
    ]
    print("\n".join(lines))
    document = {"machine": machine, "labeled": TRAINING, "sample": SAMPLE, "mean_absolute_error": found}
    (RESULTS / "quapy_protocol.json").write_text(json.dumps(document, indent=1) + "\n")
    (RESULTS / "quapy_protocol.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
