"""Measure whether intervals of `Quantifier` hold where labels are few, and both train and calibrate the classifier.

    TRUECOUNT_DATA=... python benchmarks/few_labels.py [--repetitions 200]

Logistic regression on the splits of ``peers.py``, 200 new items (100 of breast cancer). *Held out*: the labelled items
both train the classifier and calibrate its scores, each scored as if it had been left out, as `Quantifier` does by
default. *Separate*: as many other labelled items calibrate a classifier that they did not train (``cv="prefit"``).
Results go to ``benchmarks/results/few_labels.json`` and ``.md``, row by row.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from machine import about
from peers import CLASSIFIERS, FEWEST, LEVELS, items_of, splits
from sklearn.base import clone

from truecount.sklearn import Quantifier

RESULTS = Path(__file__).parent / "results"
ROWS = {
    "page-blocks": (120, 400),
    "wine-quality-red": (60, 120),
    "wine-quality-white": (60, 120),
    "spambase": (60, 120),
    "breast cancer": (60, 120),
    "waveform-21": (60, 120),
}
WAYS = ("held out", "separate")


def quantifiers(name: str, labeled: int, number: int) -> dict[str, list[tuple[Quantifier, np.ndarray, np.ndarray]]]:
    """Fitted quantifiers of both ways, with new items and the prevalence that they are drawn from.

    Splits in which either half of the labelled items lacks `FEWEST` of a class are left out.
    """
    found: dict[str, list[tuple[Quantifier, np.ndarray, np.ndarray]]] = {way: [] for way in WAYS}
    for known, labels, new, _, prevalence in splits(name, 2 * labeled, number):
        train, other = slice(None, labeled), slice(labeled, None)
        if min(np.bincount(labels[half], minlength=len(prevalence)).min() for half in (train, other)) < FEWEST:
            continue
        classifier = clone(CLASSIFIERS["logistic"])
        found["held out"].append((Quantifier(classifier).fit(known[train], labels[train]), new, prevalence))
        fitted = clone(classifier).fit(known[train], labels[train])
        found["separate"].append((Quantifier(fitted, cv="prefit").fit(known[other], labels[other]), new, prevalence))
    return found


def measured(each: list[tuple[Quantifier, np.ndarray, np.ndarray]]) -> dict:
    """Coverage at all levels with its standard errors, width at 95 %, and the mean squared error in posterior sd."""
    held, widths, squares = [], [], []
    for quantifier, new, prevalence in each:
        posterior = quantifier.posterior(new)
        ends = np.array([posterior.interval(level) for level in LEVELS])
        held.append(((ends[..., 0] <= prevalence) & (prevalence <= ends[..., 1])).mean(axis=1))
        widths.append(float(np.diff(ends[-1], axis=1).mean()))
        squares.append(float((((posterior.mean - prevalence) / posterior.sd) ** 2).mean()))
    errors = np.std(held, axis=0, ddof=1) / np.sqrt(len(held))
    return {
        "coverage": np.mean(held, axis=0).tolist(),
        "standard error": errors.tolist(),
        "width": float(np.mean(widths)),
        "squared": float(np.mean(squares)),
        "repetitions": len(held),
    }


def table(rows: list[dict]) -> str:
    """Percentages (standard error), points of 100, and squares."""
    levels = [f"{level:.0%} held" for level in LEVELS]
    head = ["set", "labels", "of the rarest class", "calibrated by", *levels, "width", "(error / sd)²"]
    lines = [head, ["---"] * len(head)]
    for row in rows:
        for way in WAYS:
            found = row[way]
            pairs = zip(found["coverage"], found["standard error"], strict=True)
            cells = [f"{100 * share:.1f} ({100 * error:.1f})" for share, error in pairs]
            told = [f"{100 * found['width']:.1f}", f"{found['squared']:.2f}"]
            lines.append([row["set"], str(row["labels"]), f"{row['rarest']:.0f}", way, *cells, *told])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main() -> None:
    """Measure, print, write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repetitions", type=int, default=200)
    number, rows = arguments.parse_args().repetitions, []
    for name, sizes in ROWS.items():
        rarest = np.bincount(items_of(name)[1]).min() / len(items_of(name)[1])
        for labeled in sizes:
            row = {"set": name, "labels": labeled, "rarest": labeled * rarest}
            row |= {way: measured(each) for way, each in quantifiers(name, labeled, number).items()}
            rows.append(row)
            document = {"machine": about(), "rows": rows}
            (RESULTS / "few_labels.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
            (RESULTS / "few_labels.md").write_text(table(rows), encoding="utf-8")
    print(table(rows))


if __name__ == "__main__":
    main()
