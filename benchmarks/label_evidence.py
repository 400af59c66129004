"""Measure whether the row prior that explains the labels better also gives the better answer: it need not.

    TRUECOUNT_DATA=... python benchmarks/label_evidence.py [--repetitions 8] [--sets 24]

Flat and sparse rows answer the same problems: those of ``priors.py``, and simulated judges. Three judges say fail,
unsure or pass, so that there are 27 joint outputs, and there are 300 labels. The columns *labels prefer* count how
often the labels are 1,000 times likelier under one of the two priors. Results go to
``benchmarks/results/label_evidence.json`` and ``.md``.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
import real_counts
from machine import about
from priors import DESIGNS, SETS

import truecount as tc
from truecount.errors import ConvergenceWarning

RESULTS = Path(__file__).parent / "results"
NAMES = ("flat", "sparse")
ENGINE = tc.Auto(effective_draws=400)
JUDGES = (
    ((0.8, 0.75, 0.7), 45, 0.3),
    ((0.8, 0.75, 0.7), 150, 0.1),
    ((0.9, 0.85, 0.8), 45, 0.3),
)
"""How often each judge is right, labels of the class fail among 300, and its share in the population."""


def judged(right: tuple[float, ...], failing: int, share: float, sets: int) -> list[tuple[tc.Counts, np.ndarray]]:
    """Counts of joint outputs, of judges that err independently; the truth is the population's share."""
    each = [np.array([p, 0.6 * (1 - p), 0.4 * (1 - p)]) for p in right]
    rows = np.array([np.einsum("i,j,k->ijk", *side).ravel() for side in (each, [row[::-1] for row in each])])
    rng, truth = np.random.default_rng(1), np.array([share, 1 - share])
    return [
        (
            tc.Counts([rng.multinomial(failing, rows[0]), rng.multinomial(300 - failing, rows[1])], new),
            truth,
        )
        for new in rng.multinomial(1500, truth @ rows, size=sets)
    ]


def measured(problems: list[tuple[tc.Counts, np.ndarray]], target: str) -> dict:
    """Error, bias of the first class and coverage of both priors, and which of them the labels prefer."""
    found: dict = {"problems": len(problems)}
    for name in NAMES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            answers = tc.infer_many([counts for counts, _ in problems], prior=tc.Prior(confusion=name), engine=ENGINE)
        truths = np.array([truth for _, truth in problems])
        means = np.array([answer.shares(target).mean(axis=0) for answer in answers])
        lower, upper = np.array([answer.interval(0.95, target=target) for answer in answers]).transpose(2, 0, 1)
        codes = [[finding.code for finding in answer.findings] for answer in answers]
        found[name] = {
            "error": float(np.abs(means - truths).mean()),
            "bias of the first class": float((means - truths)[:, 0].mean()),
            "held": float(((lower <= truths) & (truths <= upper)).mean()),
            "labels prefer the other": float(np.mean(["prior-against-labels" in each for each in codes])),
        }
    return found


def table(entries: list[dict]) -> str:
    head = ["problem", "labels", "error, flat", "error, sparse", "bias, flat", "bias, sparse"]
    head += ["95 % held by flat", "by sparse", "labels prefer sparse", "labels prefer flat"]
    lines = [head, ["---"] * len(head)]
    for entry in entries:
        sides = [entry[name] for name in NAMES]
        line = [entry["problem"], entry["labels"], *(f"{100 * side['error']:.2f}" for side in sides)]
        line += [f"{100 * side['bias of the first class']:+.1f}" for side in sides]
        line += [f"{side['held']:.0%}" for side in sides]
        lines.append([*line, *(f"{side['labels prefer the other']:.0%}" for side in sides)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main() -> None:
    """Measure, print, write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--repetitions", type=int, default=8)
    arguments.add_argument("--sets", type=int, default=24)
    asked = arguments.parse_args()
    entries = []

    def add(problem: str, labels: str, found: dict) -> None:
        entries.append({"problem": problem, "labels": labels, **found})
        print(table(entries[-1:]).splitlines()[-1], flush=True)

    for right, failing, share in JUDGES:
        name = f"judges right {' · '.join(f'{p:.0%}' for p in right)}, fail {share:.0%}"
        add(name, f"{failing} + {300 - failing}", measured(judged(right, failing, share, asked.sets), "population"))
    for name in SETS:
        problems = list(real_counts.uci(name, repetitions=asked.repetitions, designs=DESIGNS))
        for design in DESIGNS:
            chosen = [(each.counts, each.realized) for each in problems if each.design == design]
            add(name, design, measured(chosen, "realized"))
    document = {"machine": about(), "settings": entries}
    (RESULTS / "label_evidence.json").write_text(json.dumps(document, indent=1) + "\n")
    (RESULTS / "label_evidence.md").write_text(table(entries))


if __name__ == "__main__":
    main()
