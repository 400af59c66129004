"""Calibrate draws of many groups by simulation: shares, centre, spread and confusion, and planted bugs.

    python benchmarks/groups_calibration.py [--times 1.0] [--settings "pooled, 2 classes" ...] [--only planted]

The simulation is that of the tests. Each setting is also run with a planted bug. Results go to
``benchmarks/results/groups_calibration.json`` and ``.md``; settings that are not named stay as they are.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from machine import about

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from sbc_groups import SETTINGS, p_values, ranks_of_truth

RESULTS = Path(__file__).parent / "results"
DATA_SETS = {
    "pooled, 2 classes": 100,
    "Dirichlet, 2 classes": 100,
    "Dirichlet, 3 classes": 24,
    "pooled, 5 classes": 24,
    "pooled, 3 classes, 4 outputs": 24,
    "walk, 3 classes, 4 outputs": 16,
    "varying, 3 classes, 4 outputs": 6,
    "walk, 2 classes": 30,
    "varying, 2 classes": 12,
    "one new study, 2 classes": 20,
    "pooled, 3 classes, 2 outputs": 16,
    "walk, 5 classes": 8,
    "varying, 5 classes": 4,
    "random labels, 2 classes": 12,
    "random labels, 3 classes, 4 outputs": 6,
}
BUG = "items counted sixteen times"
WITH_BUG = 0.5
"""Data sets with the bug, for each one without; at least as many as tests of ranks need."""
FEWEST_WITH_BUG = 8


def measured(name: str, data_sets: int, bug: str | None) -> dict:
    """Ranks of the truths, summarised."""
    names, ranks = ranks_of_truth(SETTINGS[name], 42, data_sets, bug=bug)
    return {
        "setting": name,
        "bug": bug,
        "data_sets": data_sets,
        "p_values": dict(zip(names, p_values(ranks).tolist(), strict=True)),
        "mean_rank": dict(zip(names, ranks.mean(axis=0).tolist(), strict=True)),
        "held_by_80_percent": dict(zip(names, (np.abs(ranks - 0.5) < 0.4).mean(axis=0).tolist(), strict=True)),
    }


def text(rows: list[dict]) -> str:
    """A table, a line for each setting."""
    lines = [
        "Truths from the prior, data from the truths, ranks of the truths among draws; five groups of 60 items,",
        "15 labels of each class in four studies. Least p-value of uniform ranks among all quantities (times their",
        "number), and what central intervals of 80 % hold, from the least to the most of the quantities.",
        "",
        "| setting | planted bug | data sets | least p-value | 80 % hold |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        found, held = row["p_values"], row["held_by_80_percent"].values()
        name = min(found, key=lambda each: found[each])
        least = min(1.0, found[name] * len(found))
        lines.append(
            f"| {row['setting']} | {row['bug'] or '–'} | {row['data_sets']} | {least:.2g} ({name}) | "
            f"{100 * min(held):.0f} – {100 * max(held):.0f} % |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run every setting that is asked for, writing results as they come."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=float, default=1.0, help="multiply the number of data sets")
    parser.add_argument("--settings", nargs="*", default=list(DATA_SETS), choices=list(DATA_SETS))
    parser.add_argument("--only", choices=["sound", "planted"], help="only the model as it is, or with the bug")
    asked = parser.parse_args()
    path = RESULTS / "groups_calibration.json"
    before = json.loads(path.read_text(encoding="utf-8"))["settings"] if path.exists() else []
    rows = {(row["setting"], row["bug"]): row for row in before}
    for name in asked.settings:
        number = round(DATA_SETS[name] * asked.times)
        sizes = {None: number, BUG: max(FEWEST_WITH_BUG, round(WITH_BUG * number))}
        for bug in {"sound": [None], "planted": [BUG]}.get(asked.only, [None, BUG]):
            rows[name, bug] = measured(name, sizes[bug], bug)
            found = [rows[key] for each in DATA_SETS for key in ((each, None), (each, BUG)) if key in rows]
            document = {"machine": about(), "settings": found}
            path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
            path.with_suffix(".md").write_text(text(found), encoding="utf-8")


if __name__ == "__main__":
    main()
