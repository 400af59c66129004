"""Calibrate draws of many groups by simulation: shares, centre, spread and confusion, and planted bugs.

    python benchmarks/groups_calibration.py [--times 1.0]

The simulation is that of the tests. Results go to ``benchmarks/results/groups_calibration.json`` and ``.md``.
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
    "pooled, 2 classes": 40,
    "walk, 2 classes": 30,
    "varying, 2 classes": 12,
    "pooled, 3 classes, 4 outputs": 24,
    "walk, 3 classes, 4 outputs": 16,
    "pooled, 5 classes": 12,
    "Dirichlet, 3 classes": 16,
    "pooled, 3 classes, 2 outputs": 16,
    "varying, 3 classes, 4 outputs": 6,
    "walk, 5 classes": 8,
    "varying, 5 classes": 4,
}
BUGS = {
    "walk, 2 classes": "items counted sixteen times",
    "pooled, 2 classes": "items counted sixteen times",
    "varying, 2 classes": "items counted sixteen times",
}


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
    """Run every setting, writing results as they come."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=float, default=1.0, help="multiply the number of data sets")
    times = parser.parse_args().times
    rows: list[dict] = []
    bugs = [(name, round(12 * times), bug) for name, bug in BUGS.items()]
    for name, number, bug in [*((name, round(n * times), None) for name, n in DATA_SETS.items()), *bugs]:
        rows.append(measured(name, number, bug))
        document = {"machine": about(), "settings": rows}
        (RESULTS / "groups_calibration.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        (RESULTS / "groups_calibration.md").write_text(text(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
