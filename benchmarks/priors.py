"""Compare priors of the confusion's rows on real data: errors, and how often intervals hold the truth.

    TRUECOUNT_DATA=... python benchmarks/priors.py [--repetitions 6]

Every prior answers the same problems (``real_counts.py``: UCI sets split anew for each repetition, target prevalence
uniform on the simplex), so differences are paired. Results go to ``benchmarks/results/priors.json`` and ``.md``.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import real_counts
from machine import about

import truecount as tc
from truecount.errors import ConvergenceWarning

RESULTS = Path(__file__).parent / "results"
PRIORS = {
    "flat": tc.Prior(),
    "sparse": tc.Prior(confusion="sparse"),
    "diagonal(1)": tc.Prior.diagonal(1),
    "diagonal(2)": tc.Prior.diagonal(2),
}
SETS = ("spambase", "waveform-21", "cmc", "page-blocks", "satimage", "optdigits")
DESIGNS = ("5 each", "20 each", "100 each")
LEVELS = (0.5, 0.8, 0.95)
ENGINE = tc.Auto(effective_draws=1000)


def measured(problems: list[real_counts.Problem], prior: tc.Prior) -> dict[str, np.ndarray]:
    """Error, coverage and width of each problem, averaged over its classes; realized shares are the truth."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        posteriors = tc.infer_many([problem.counts for problem in problems], prior=prior, engine=ENGINE)
    truths = [problem.realized for problem in problems]
    pairs = list(zip(posteriors, truths, strict=True))
    found = {"error": [np.abs(posterior.realized.mean(axis=0) - truth).mean() for posterior, truth in pairs]}
    for level in LEVELS:
        intervals = [posterior.interval(level, target="realized") for posterior in posteriors]
        found[f"held {level}"] = [
            ((low_high[:, 0] <= truth) & (truth <= low_high[:, 1])).mean()
            for low_high, truth in zip(intervals, truths, strict=True)
        ]
    found["width 0.95"] = [np.diff(low_high, axis=1).mean() for low_high in intervals]
    found["unconverged"] = [any(f.code == "not-converged" for f in posterior.findings) for posterior in posteriors]
    found["few-labels"] = [any(f.code == "few-labels" for f in posterior.findings) for posterior in posteriors]
    return {name: np.asarray(values, dtype=float) for name, values in found.items()}


def setting(name: str, design: str, problems: list[real_counts.Problem]) -> dict:
    """All priors on one set with so many labels, and plain counting."""
    by_prior = {label: measured(problems, prior) for label, prior in PRIORS.items()}
    counting = [np.abs(problem.counts.counted - problem.realized).mean() for problem in problems]
    entry = {"set": name, "labels": design, "classes": len(problems[0].counts.classes), "problems": len(problems)}
    entry["counting error"] = float(np.mean(counting))
    for label, found in by_prior.items():
        gain = found["error"] - by_prior["flat"]["error"]
        entry[label] = {key: float(values.mean()) for key, values in found.items()}
        entry[label]["error beyond flat"] = float(gain.mean())
        entry[label]["its standard error"] = float(gain.std(ddof=1) / np.sqrt(len(gain)))
    return entry


def table(entries: list[dict]) -> str:
    """The figures to read, in points of 100."""
    head = [
        "set",
        "classes",
        "labels",
        "counting",
        *PRIORS,
        "sparse − flat (s.e.)",
        "95 % held, flat",
        "sparse",
        "said",
    ]
    lines = [head, ["---"] * len(head), *map(row, entries)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def row(entry: dict) -> list[str]:
    """One line of the table."""
    flat, sparse = entry["flat"], entry["sparse"]
    return [
        entry["set"],
        str(entry["classes"]),
        entry["labels"],
        f"{100 * entry['counting error']:.2f}",
        *(f"{100 * entry[label]['error']:.2f}" for label in PRIORS),
        f"{100 * sparse['error beyond flat']:+.2f} ({100 * sparse['its standard error']:.2f})",
        f"{flat['held 0.95']:.0%}",
        f"{sparse['held 0.95']:.0%}",
        f"{flat['few-labels']:.0%}",
    ]


def main() -> None:
    """Measure, print, write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repetitions", type=int, default=6)
    repetitions = arguments.parse_args().repetitions
    entries = []
    for name in SETS:
        problems = list(real_counts.uci(name, repetitions=repetitions, designs=DESIGNS))
        for design in DESIGNS:
            chosen = [
                problem for problem in problems if problem.design == design and problem.counts.outputs_are_classes
            ]
            if len(chosen) > 1:
                entries.append(setting(name, design, chosen))
                print(table(entries[-1:]).splitlines()[-1], flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "priors.json").write_text(json.dumps({"machine": about(), "settings": entries}, indent=1) + "\n")
    (RESULTS / "priors.md").write_text(table(entries))


if __name__ == "__main__":
    main()
