"""Calibrate draws of many groups by simulation: shares, centre, spread and confusion, and planted bugs.

    python benchmarks/groups_calibration.py [--times 1.0] [--settings "pooled, 2 classes" ...] [--only planted]

The simulation is that of the tests. Each setting is also run with a planted bug. Results go to
``benchmarks/results/groups_calibration.json`` and ``.md``; settings that are not named stay as they are. Ranks are
written after every few data sets, and those that are there are not made again: a run that was stopped goes on. Remove
the file to begin anew.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from machine import about

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from sbc_groups import SETTINGS, p_values, ranks_of_truth

PATH = Path(__file__).parent / "results" / "groups_calibration.json"
DATA_SETS = {
    "pooled, 2 classes": 100,
    "Dirichlet, 2 classes": 100,
    "Dirichlet, 3 classes": 24,
    "pooled, 5 classes": 24,
    "pooled, 3 classes, 4 outputs": 24,
    "pooled, 3 classes, 2 outputs": 16,
    "sparse rows, 3 classes, 4 outputs": 24,
    "walk, 2 classes": 40,
    "walk, 3 classes, 4 outputs": 24,
    "walk, 5 classes": 24,
    "varying, 2 classes": 16,
    "varying, 3 classes, 4 outputs": 48,
    "varying, 5 classes": 12,
    "one new study, 2 classes": 20,
    "random labels, 2 classes": 16,
    "random labels, 3 classes, 4 outputs": 16,
}
BUGS = ("items left out", "items counted four times", "items counted sixteen times")
"""The posterior with the first is drawn as fast as that without; one with items that count too often is slower to
draw the more often they do."""
WITH_BUG = 0.5
"""Data sets with the bug, for each one without; at least as many as tests of ranks need."""
FEWEST_WITH_BUG = 12
BATCH = 4
"""Data sets of one seed."""


def rows_so_far() -> dict[tuple[str, str | None], dict]:
    """Return what was measured, by setting and bug."""
    settings = json.loads(PATH.read_text(encoding="utf-8"))["settings"] if PATH.exists() else []
    return {(row["setting"], row["bug"]): row for row in settings}


def ranked(name: str, data_sets: int, bug: str | None, before: dict) -> Iterator[dict]:
    """Yield the ranks of the truths, with one more batch each time, until there are so many data sets."""
    ranks = before.get("ranks", [])
    while len(ranks) < data_sets:
        names, more = ranks_of_truth(SETTINGS[name], 42 + len(ranks) // BATCH, BATCH, bug=bug)
        ranks = ranks + more.round(4).tolist()
        yield {"setting": name, "bug": bug, "quantities": names, "ranks": ranks}


def summarised(row: dict) -> tuple[list[str], int, np.ndarray, np.ndarray, np.ndarray]:
    """Quantities, data sets, and for each quantity p-value, mean rank and what 80 % intervals hold.

    Rows that were measured before ranks were kept have these alone.
    """
    if "ranks" in row:
        ranks = np.array(row["ranks"])
        held = (np.abs(ranks - 0.5) < 0.4).mean(axis=0)
        return row["quantities"], len(ranks), p_values(ranks), ranks.mean(axis=0), held
    kept = [np.array(list(row[key].values())) for key in ("p_values", "mean_rank", "held_by_80_percent")]
    return list(row["p_values"]), row["data_sets"], kept[0], kept[1], kept[2]


def text(rows: list[dict]) -> str:
    """A table, a line for each setting."""
    lines = [
        "Truths from the prior, data from the truths, ranks of the truths among draws; five groups of 60 items,",
        "15 labels of each class in four studies. Cells of rows have the prior 1, sparse ones 0.05, and 4 more where",
        "class and output are the same. Least p-value of uniform ranks among all quantities (times their",
        "number); what central intervals of 80 % hold, all quantities together (standard error between data sets)",
        "and from the least to the most of them, each with the standard error that a sound one has; and how far the",
        "mean rank of a quantity is from one half at most, in its standard errors.",
        "",
        "| setting | planted bug | data sets | least p-value | 80 % hold | by quantity | its error | mean rank off |",
        "|" + " --- |" * 8,
    ]
    for row in rows:
        names, number, found, mean, each = summarised(row)
        least, far = min(1.0, found.min() * len(names)), np.abs(mean - 0.5).max() * np.sqrt(12 * number)
        together = f"{100 * each.mean():.0f} %"
        if "ranks" in row:
            by_set = (np.abs(np.array(row["ranks"]) - 0.5) < 0.4).mean(axis=1)
            together += f" ({100 * by_set.std(ddof=1) / np.sqrt(number):.0f})"
        lines.append(
            f"| {row['setting']} | {row['bug'] or '–'} | {number} | {least:.2g} ({names[found.argmin()]}) | "
            f"{together} | {100 * each.min():.0f} – {100 * each.max():.0f} % | "
            f"{100 * np.sqrt(0.8 * 0.2 / number):.0f} | {far:.1f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run every setting that is asked for, writing results as they come."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=float, default=1.0, help="multiply the number of data sets")
    parser.add_argument("--settings", nargs="*", default=list(DATA_SETS), choices=list(DATA_SETS))
    parser.add_argument("--only", choices=["sound", "planted"], help="only the model as it is, or with the bug")
    parser.add_argument("--bug", choices=BUGS, default=BUGS[0], help="the bug that is planted")
    asked, order = parser.parse_args(), list(DATA_SETS)
    for name in asked.settings:
        number = round(DATA_SETS[name] * asked.times)
        sizes = {None: number, asked.bug: max(FEWEST_WITH_BUG, round(WITH_BUG * number))}
        for bug in {"sound": [None], "planted": [asked.bug]}.get(asked.only, [None, asked.bug]):
            for row in ranked(name, sizes[bug], bug, rows_so_far().get((name, bug), {})):
                rows = rows_so_far() | {(name, bug): row}
                found = sorted(rows.values(), key=lambda each: (order.index(each["setting"]), each["bug"] or ""))
                document = {"machine": about(), "settings": found}
                PATH.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
                PATH.with_suffix(".md").write_text(text(found), encoding="utf-8")
                print(name, bug, len(row["ranks"]), flush=True)


if __name__ == "__main__":
    main()
