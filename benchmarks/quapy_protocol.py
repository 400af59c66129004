"""Run `Quantifier` unchanged under QuaPy's own protocols and evaluation, beside two of QuaPy's quantifiers.

QuaPy's protocols draw samples of many prevalences from a test set, its evaluation asks each quantifier for the shares.

    TRUECOUNT_DATA=... python benchmarks/quapy_protocol.py
"""

import json
import warnings
from pathlib import Path

import numpy as np
import quapy as qp
from machine import about
from quapy.data import LabelledCollection
from quapy.evaluation import evaluate, evaluation_report
from quapy.method.aggregative import ACC, EMQ
from quapy.protocol import APP, UPP
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from uci import read

from truecount.sklearn import Quantifier

RESULTS = Path(__file__).parent / "results"
SETS = ("spambase", "waveform-21")
TRAINING, SAMPLE = 1000, 200


def classifier() -> object:
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def collections(name: str) -> tuple[LabelledCollection, LabelledCollection]:
    features, labels = read(name, False)
    order = np.random.default_rng(0).permutation(len(labels))
    return tuple(LabelledCollection(features[part], labels[part]) for part in (order[:TRAINING], order[TRAINING:]))


def protocols(test: LabelledCollection) -> dict[str, object]:
    return {
        "APP": APP(test, sample_size=SAMPLE, n_prevalences=11, repeats=5, random_state=0),
        "UPP": UPP(test, sample_size=SAMPLE, repeats=100, random_state=0),
    }


def measure(name: str) -> dict[str, dict[str, float]]:
    """Mean absolute and mean relative absolute error, protocol by protocol, as QuaPy computes them."""
    training, test = collections(name)
    models = {
        "ACC of QuaPy": ACC(classifier()),
        "EMQ of QuaPy": EMQ(classifier()),
        "Quantifier": Quantifier(classifier()),
    }
    found: dict[str, dict[str, float]] = {}
    for label, model in models.items():
        model.fit(*training.Xy)
        for kind, protocol in protocols(test).items():
            report = evaluation_report(model, protocol, error_metrics=["mae", "mrae"])
            mean = float(evaluate(model, protocol, error_metric="mae"))
            if not np.isclose(mean, report["mae"].mean()):
                raise RuntimeError(f"{label}: evaluate says {mean}, evaluation_report {report['mae'].mean()}")
            found.setdefault(f"{kind}, {protocol.total()} samples", {})[label] = mean
    return found


def main() -> None:
    qp.environ["SAMPLE_SIZE"] = SAMPLE
    machine = about()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {name: measure(name) for name in SETS}
    models = list(next(iter(found[SETS[0]].values())))
    lines = [
        "Mean absolute error in points of 100, by QuaPy's own protocols and evaluation;",
        f"{TRAINING} labelled items, samples of {SAMPLE}.",
        "",
        f"| set | protocol | {' | '.join(models)} |",
        f"| --- | --- {'| --- ' * len(models)}|",
    ]
    for name, kinds in found.items():
        for kind, errors in kinds.items():
            lines.append(f"| {name} | {kind} | {' | '.join(f'{100 * errors[model]:.2f}' for model in models)} |")
    print("\n".join(lines))
    document = {"machine": machine, "labeled": TRAINING, "sample": SAMPLE, "mean_absolute_error": found}
    (RESULTS / "quapy_protocol.json").write_text(json.dumps(document, indent=1) + "\n")
    (RESULTS / "quapy_protocol.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
