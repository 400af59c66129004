"""Measure whether `Quantifier(classifier)` holds the shares where scores are too flat or too steep.

    python benchmarks/shrunken.py [--repetitions 200]

Two normal classes, 400 labelled items of which a tenth are positive, 2,000 new items of which half are. Logistic
regressions are shrunk more and less, naive Bayes counts three copies of two features as independent, boosted trees are
few. Results go to ``benchmarks/results/shrunken.json`` and ``.md``, row by row.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from machine import about
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from truecount.sklearn import Quantifier

RESULTS = Path(__file__).parent / "results"
LABELED, POSITIVE, NEW, TARGET = 400, 0.1, 2000, 0.5
GAPS, NOISE = np.array([1.5, 0.75, 0.0, 0.0, 0.0]), 0.3
LEVELS = (0.5, 0.8, 0.95)
CLASSIFIERS: dict[str, BaseEstimator] = {
    **{f"logistic, C = {C:g}": LogisticRegression(C=C, max_iter=1000) for C in (1e-3, 3e-3, 1e-2, 1e-1, 1.0, 1e4)},
    "naive Bayes": GaussianNB(),
    "boosted trees": GradientBoostingClassifier(n_estimators=30, random_state=0),
}


def items(rng: np.random.Generator, size: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Features, the first two of them three times over, and classes."""
    labels = (rng.random(size) < share).astype(int)
    plain = rng.standard_normal((size, len(GAPS))) + GAPS * labels[:, None]
    copies = np.tile(plain[:, :2], 2) + NOISE * rng.standard_normal((size, 4))
    return np.column_stack([plain, copies]), labels


def measured(name: str, repetitions: int) -> dict:
    """One classifier: how often intervals hold, their width, the error, how often scores were calibrated."""
    held, widths, errors, calibrated = [], [], [], []
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        quantifier = Quantifier(clone(CLASSIFIERS[name])).fit(*items(rng, LABELED, POSITIVE))
        posterior = quantifier.posterior(items(rng, NEW, TARGET)[0])
        ends = np.array([posterior.interval(level)[1] for level in LEVELS])
        held.append((ends[:, 0] <= TARGET) & (ends[:, 1] >= TARGET))
        widths.append(float(np.diff(ends[-1])[0]))
        errors.append(abs(float(posterior.mean[1]) - TARGET))
        calibrated.append(quantifier.score_model_.fitted is not None)
    return {
        "classifier": name,
        "repetitions": repetitions,
        "coverage": np.mean(held, axis=0).tolist(),
        "width": float(np.mean(widths)),
        "error": float(np.mean(errors)),
        "calibrated": float(np.mean(calibrated)),
    }


def table(rows: list[dict]) -> str:
    """Percentages (standard error), and points of 100."""
    head = ["classifier", "repetitions", *(f"{level:.0%} held" for level in LEVELS), "width", "error", "calibrated"]
    lines = [head, ["---"] * len(head)]
    for row in rows:
        shares = [(share, np.sqrt(share * (1 - share) / row["repetitions"])) for share in row["coverage"]]
        cells = [f"{100 * share:.1f} ({100 * error:.1f})" for share, error in shares]
        told = [f"{100 * row['width']:.1f}", f"{100 * row['error']:.2f}", f"{row['calibrated']:.2f}"]
        lines.append([row["classifier"], str(row["repetitions"]), *cells, *told])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main() -> None:
    """Measure, print, write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repetitions", type=int, default=200)
    number = arguments.parse_args().repetitions
    rows: list[dict] = []
    for name in CLASSIFIERS:
        rows.append(measured(name, number if name != "boosted trees" else number // 4))
        print(table(rows[-1:]).splitlines()[-1], flush=True)
        document = {"machine": about(), "rows": rows}
        (RESULTS / "shrunken.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        (RESULTS / "shrunken.md").write_text(table(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
