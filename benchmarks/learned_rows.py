"""Compare learned rows with fixed ones on real sets of six classes or more: errors, coverage and width.

    TRUECOUNT_DATA=... python benchmarks/learned_rows.py [--repetitions 8] [--without flat]

Problems are those of ``priors.py``, with scikit-learn's digits besides. Results go to
``benchmarks/results/learned_rows.json`` and ``.md``, row by row, so that a run that is cut short leaves both.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import priors
import real_counts
from machine import about
from sklearn.datasets import load_digits

import truecount as tc

RESULTS = Path(__file__).parent / "results"
SETS = ("satimage", "digits", "optdigits", "letter")
ROWS = {
    "flat": tc.Prior(1.0, "flat"),
    "sparse": tc.Prior(1.0, "sparse"),
    "diagonal(1)": tc.Prior.diagonal(1, prevalence=1.0),
    "learned": tc.Prior(1.0, "learned"),
}
KEYS = ("error", "held 0.95", "width 0.95")
read_uci = real_counts._read_uci


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and class codes, of a UCI set or of scikit-learn's digits."""
    return load_digits(return_X_y=True) if name == "digits" else read_uci(name)


def line(name: str, design: str, problems: list[real_counts.Problem], rows: dict[str, tc.Prior]) -> dict:
    """All priors on one set with so many labels."""
    counting = [np.abs(problem.counts.counted - problem.realized).mean() for problem in problems]
    found = {label: priors.measured(problems, prior) for label, prior in rows.items()}
    means = {label: {key: float(values.mean()) for key, values in each.items()} for label, each in found.items()}
    return {"set": name, "labels": design, "problems": len(problems), "counting": float(np.mean(counting)), **means}


def table(entries: list[dict], rows: dict[str, tc.Prior]) -> str:
    """Errors in points of 100, the share of 95 % intervals that hold, and their width in points."""
    head = ["set", "labels", "counting", *(f"{label}: error · held · width" for label in rows)]
    lines = [head, ["---"] * len(head)]
    for entry in entries:
        each = [[entry[label][name] for name in KEYS] for label in rows]
        cells = [f"{100 * error:.2f} · {held:.1%} · {100 * width:.1f}" for error, held, width in each]
        lines.append([entry["set"], entry["labels"], f"{100 * entry['counting']:.2f}", *cells])
    means = [[np.mean([each[label][name] for each in entries]) for name in KEYS] for label in rows]
    cells = [f"{100 * error:.2f} · {held:.1%} · {100 * width:.1f}" for error, held, width in means]
    lines.append(["mean", "", f"{100 * np.mean([each['counting'] for each in entries]):.2f}", *cells])
    return "\n".join("| " + " | ".join(each) + " |" for each in lines) + "\n"


def main() -> None:
    """Measure, print, write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repetitions", type=int, default=8)
    arguments.add_argument("--without", nargs="*", default=(), choices=tuple(ROWS))
    chosen = arguments.parse_args()
    real_counts._read_uci = read
    rows = {label: prior for label, prior in ROWS.items() if label not in chosen.without}
    entries = []
    for name in SETS:
        problems = list(real_counts.uci(name, repetitions=chosen.repetitions, designs=priors.DESIGNS))
        for design in priors.DESIGNS:
            entries.append(line(name, design, [each for each in problems if each.design == design], rows))
            print(table(entries[-1:], rows).splitlines()[-2], flush=True)
            kept = json.dumps({"machine": about(), "settings": entries}, indent=1)
            (RESULTS / "learned_rows.json").write_text(kept + "\n", encoding="utf-8")
            (RESULTS / "learned_rows.md").write_text(table(entries, rows), encoding="utf-8")


if __name__ == "__main__":
    main()
