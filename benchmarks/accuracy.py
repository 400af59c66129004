"""Measure how far estimates are from the true shares on real data, and how often intervals hold them.

Measured are the error of every registered point estimator (`estimators`, on samples of ``uci.py``), the error and the
intervals of `Quantifier`, the probabilities of `Recalibrated` (`quantifier`, on ``repetitions.py``), and
`Quantifier(classifier)` beside QuaPy's methods (`peers`, on ``peers.py``; needs QuaPy and abstention). Each row of the
last is written as it is done, and is not measured again with as many repetitions.

    TRUECOUNT_DATA=... python benchmarks/accuracy.py estimators [--samples 50]
    TRUECOUNT_DATA=... python benchmarks/accuracy.py quantifier [--set spambase] [--repetitions 2000]
    TRUECOUNT_DATA=... python benchmarks/accuracy.py peers [--set spambase] [--repetitions 100] [--labeled 400]
"""

import argparse
import json
import warnings
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import tables
from machine import about
from quantifier import measure
from repetitions import LABELED, NEW
from repetitions import SETS as QUANTIFIED
from uci import ITEMS, samples

import truecount as tc
from truecount.errors import ConvergenceWarning
from truecount.estimators import EM, METHODS, InvariantRatio

RESULTS = Path(__file__).parent / "results"
SETS = ("spambase", "cmc", "satimage", "optdigits")
CHOICES = {
    **METHODS,
    "invariantratio, unrestricted": InvariantRatio(restricted=False),
    "em, temperature": EM("temperature"),
    "em, bias-corrected": EM("bias-corrected"),
}


def errors(name: str, number: int) -> dict[str, np.ndarray]:
    """The mean absolute error of each sample, method by method."""
    problems = list(samples(name, number=number))
    found = {
        choice: [np.abs(method.prevalence(scores) - shares).mean() for scores, shares in problems]
        for choice, method in CHOICES.items()
    }
    posteriors = tc.infer_many([scores.to_counts() for scores, _ in problems], progress=False)
    pairs = zip(posteriors, problems, strict=True)
    found["posterior mean"] = [np.abs(posterior.mean - shares).mean() for posterior, (_, shares) in pairs]
    return {choice: np.array(values) for choice, values in found.items()}


def estimators(number: int) -> None:
    """The table of point estimators."""
    machine = about()
    found = {name: errors(name, number) for name in SETS}
    lines = [
        f"Mean absolute error, in points of 100 (standard error), over {number} samples of {ITEMS} items.",
        "",
        f"| method | {' | '.join(SETS)} |",
        f"| --- {'| --- ' * len(SETS)}|",
    ]
    for choice in found[SETS[0]]:
        cells = [100 * found[name][choice] for name in SETS]
        shown = [f"{each.mean():.2f} ({each.std(ddof=1) / np.sqrt(len(each)):.2f})" for each in cells]
        lines.append(f"| {choice} | {' | '.join(shown)} |")
    means = {name: {choice: float(values.mean()) for choice, values in each.items()} for name, each in found.items()}
    document = {"machine": machine, "samples": number, "items": ITEMS, "mean_absolute_error": means}
    write("accuracy", document, lines)


def quantifier(name: str, number: int) -> None:
    """One set's part of the tables of quantifiers, which stand in one file."""
    machine, start = about(), perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = measure(name, number)
    found |= {"machine": machine, "seconds": round(perf_counter() - start)}
    path = RESULTS / "quantifier.json"
    document = json.loads(path.read_text()) if path.exists() else {"sets": {}}
    document |= {"labeled": LABELED, "new": NEW}
    document["sets"][name] = found
    document["sets"] = {each: document["sets"][each] for each in QUANTIFIED if each in document["sets"]}
    write("quantifier", document, tables.lines(document))


def peers(names: list[str], kinds: list[str], sizes: list[int], number: int, *, again: bool) -> None:
    """The tables of `Quantifier` and its peers, row by row."""
    import peers

    path = RESULTS / "peers.json"
    rows = json.loads(path.read_text())["rows"] if path.exists() else []
    for labeled in sizes:
        for kind in kinds:
            for name in names:
                key = {"set": name, "classifier": kind, "labeled": labeled}
                same = [row for row in rows if key.items() <= row.items()]
                before = same[0] if again and same else None
                size = number if before is None else before["repetitions"]
                done = before is None and any(row["repetitions"] >= number for row in same)
                if len(peers.items_of(name)[1]) < 1.3 * labeled or done:
                    continue
                rows = [row for row in rows if row not in same] + [peers.measure(name, kind, labeled, size, before)]
                write("peers", {"machine": about(), "rows": rows}, peers.lines(rows))


def write(name: str, document: dict[str, Any], lines: list[str]) -> None:
    print("\n".join(lines))
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    (RESULTS / f"{name}.md").write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["estimators", "quantifier", "peers"])
    parser.add_argument("--samples", type=int, default=50)
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--set", action="append")
    parser.add_argument("--classifier", action="append", choices=["logistic", "forest"])
    parser.add_argument("--labeled", type=int, action="append")
    parser.add_argument("--again", action="store_true", help="keep what QuaPy's methods did in the rows there are")
    options = parser.parse_args()
    if options.part == "peers":
        from peers import CLASSIFIERS
        from peers import SETS as ALL

        return peers(
            options.set or list(ALL),
            options.classifier or list(CLASSIFIERS),
            options.labeled or [400, 2000],
            options.repetitions,
            again=options.again,
        )
    if options.part == "estimators":
        return estimators(options.samples)
    for name in options.set or QUANTIFIED:
        quantifier(name, options.repetitions)


if __name__ == "__main__":
    main()
