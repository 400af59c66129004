"""Compare learned rows with fixed ones on real sets of six classes or more: errors, coverage and width.

    TRUECOUNT_DATA=... python benchmarks/learned_rows.py [--repetitions 8] [--set letter] [--without flat]

Problems are those of ``priors.py``, with scikit-learn's digits besides. Results go to
``benchmarks/results/learned_rows.json`` and ``.md``, row by row; rows that are there already, with as many repetitions
or more, are kept, so that a run that was cut short goes on where it was.
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


def table(entries: list[dict]) -> str:
    """Errors in points of 100, the share of 95 % intervals that hold, and their width in points."""
    head = ["set", "labels", "problems", "counting", *(f"{label}: error · held · width" for label in ROWS)]
    lines = [head, ["---"] * len(head)]
    for entry in entries:
        cells = [_cell(entry[label]) if label in entry else "" for label in ROWS]
        lines.append([entry["set"], entry["labels"], str(entry["problems"]), f"{100 * entry['counting']:.2f}", *cells])
    with_flat = [each for each in entries if "flat" in each]
    for told, chosen in (("mean", entries), ("mean where flat was tried", with_flat)):
        tried = [label for label in ROWS if chosen and all(label in each for each in chosen)]
        means = {label: {key: np.mean([each[label][key] for each in chosen]) for key in KEYS} for label in tried}
        counting = f"{100 * np.mean([each['counting'] for each in chosen]):.2f}" if chosen else ""
        lines.append([told, "", "", counting, *(_cell(means[label]) if label in means else "" for label in ROWS)])
    return "\n".join("| " + " | ".join(each) + " |" for each in lines) + "\n"


def _cell(found: dict[str, float]) -> str:
    error, held, width = (found[key] for key in KEYS)
    return f"{100 * error:.2f} · {held:.1%} · {100 * width:.1f}"


def main() -> None:
    """Measure, print, write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repetitions", type=int, default=8)
    arguments.add_argument("--set", action="append", choices=SETS)
    arguments.add_argument("--without", nargs="*", default=(), choices=tuple(ROWS))
    chosen = arguments.parse_args()
    real_counts._read_uci = read
    rows = {label: prior for label, prior in ROWS.items() if label not in chosen.without}
    path = RESULTS / "learned_rows.json"
    entries = json.loads(path.read_text(encoding="utf-8"))["settings"] if path.exists() else []
    for name in chosen.set or SETS:
        problems = list(real_counts.uci(name, repetitions=chosen.repetitions, designs=priors.DESIGNS))
        for design in priors.DESIGNS:
            same = [each for each in entries if (each["set"], each["labels"]) == (name, design)]
            if any(each["problems"] >= chosen.repetitions and rows.keys() <= each.keys() for each in same):
                continue
            new = line(name, design, [each for each in problems if each.design == design], rows)
            entries = sorted([each for each in entries if each not in same] + [new], key=_place)
            print(table([new]).splitlines()[2], flush=True)
            kept = json.dumps({"machine": about(), "settings": entries}, indent=1)
            path.write_text(kept + "\n", encoding="utf-8")
            (RESULTS / "learned_rows.md").write_text(table(entries), encoding="utf-8")


def _place(entry: dict) -> tuple[int, int]:
    return SETS.index(entry["set"]), priors.DESIGNS.index(entry["labels"])


if __name__ == "__main__":
    main()
