"""Measure how often ``not-identified`` names classes that are alike, and others, at several thresholds.

Classes have rows that lean towards outputs of their own; in half of the data sets two classes have the same row, and
hold at least a tenth of the population together. Each data set is inferred from once, and its draws are judged at the
thresholds of ``diagnostics/blind_spots.py`` and at others.

    python benchmarks/not_identified.py [--sets 60]

*Found*: both classes of the pair were named as one set. *Others*: some set names a class that is like no other one.
*False alarms*: a set was named where no two classes are alike. Results go to ``benchmarks/results/not_identified.json``
and ``.md``.
"""

import argparse
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from machine import about

import truecount as tc
from truecount.diagnostics import blind_spots
from truecount.diagnostics.identify import blind_spots as spots_of
from truecount.models import density

RESULTS = Path(__file__).parent / "results"
SHAPES, ITEMS = ((3, 5), (3, 20), (3, 100), (5, 20), (5, 100)), 1000
"""Classes and labels of each; unlabelled items."""
LEAST = 0.1
"""Share of both classes of a pair together: shares of rarer ones are known to a few points in any case."""
USUAL = {name: getattr(blind_spots, name) for name in ("WIDE", "TRADED", "OPEN")}
CHANGED = (("WIDE", 0.02), ("WIDE", 0.1), ("TRADED", 0.5), ("TRADED", 0.7), ("OPEN", 0.3), ("OPEN", 0.5))
SETTINGS = [USUAL, *(USUAL | {name: value} for name, value in CHANGED)]


def problem(classes: int, labels: int, is_alike: bool, rng: np.random.Generator) -> tc.Counts:
    """Draw counts; where some are alike, they are the first two classes."""
    rows = 0.7 * np.eye(classes) + 0.3 * rng.dirichlet(np.ones(classes), classes)
    if is_alike:
        rows[:2] = rows[:2].mean(axis=0)
    shares = rng.dirichlet(np.ones(classes))
    while is_alike and shares[:2].sum() < LEAST:
        shares = rng.dirichlet(np.ones(classes))
    return tc.Counts(rng.multinomial(labels, rows), rng.multinomial(ITEMS, shares @ rows))


def named(counts: tc.Counts, posterior: tc.Posterior, setting: dict[str, float]) -> list[set[Any]]:
    """Return the sets of classes that are named at some thresholds."""
    model = density(counts, posterior.prior)
    with patch.multiple(blind_spots, **setting):
        found = blind_spots.of_posterior(spots_of(model, counts.labeled * 1.0), counts, model, posterior.prevalence)
    sets = [each.numbers.get("sets", [each.numbers["classes"]]) for each in found if each.code == "not-identified"]
    return [set(names) for each in sets for names in each]


def measured(classes: int, labels: int, sets: int) -> list[dict[str, Any]]:
    """Return a row for each setting of the thresholds."""
    rows = [{"classes": classes, "labels": labels, "sets": sets, **setting} for setting in SETTINGS]
    for row in rows:
        row |= {"found": 0, "others": 0, "alarms": 0}
    for number in range(sets):
        for is_alike in (True, False):
            rng = np.random.default_rng([classes, labels, number, is_alike])
            counts = problem(classes, labels, is_alike, rng)
            posterior = tc.infer(counts, engine=tc.Auto(1000), seed=number)
            for row, setting in zip(rows, SETTINGS, strict=True):
                said, pair = named(counts, posterior, setting), set(counts.classes[:2])
                row["found"] += is_alike and any(pair <= names for names in said)
                row["others"] += is_alike and any(names - pair for names in said)
                row["alarms"] += not is_alike and bool(said)
    return rows


def report(rows: list[dict[str, Any]]) -> list[str]:
    """Return the table: percentages with standard errors."""
    lines = [
        "Made by `benchmarks/not_identified.py`: percentages of data sets, with standard errors; 1,000 items.",
        "",
        "| classes | labels of each | wide | traded | open | found | others | false alarms |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        shares = [row[name] / row["sets"] for name in ("found", "others", "alarms")]
        told = [f"{100 * each:.0f} ({100 * np.sqrt(each * (1 - each) / row['sets']):.0f})" for each in shares]
        given = [f"{row[name]:g}" for name in ("classes", "labels", "WIDE", "TRADED", "OPEN")]
        lines.append(f"| {' | '.join([*given, *told])} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=60)
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for classes, labels in SHAPES:
        rows += measured(classes, labels, options.sets)
        print("\n".join(report(rows)[-len(SETTINGS) :]), flush=True)
        document = {"machine": about(), "rows": rows}
        (RESULTS / "not_identified.json").write_text(json.dumps(document, indent=1) + "\n")
        (RESULTS / "not_identified.md").write_text("\n".join(report(rows)) + "\n")


if __name__ == "__main__":
    main()
