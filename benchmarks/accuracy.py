"""Measure how far every registered estimator is from the true shares, on real data.

The error is the absolute one, averaged over classes and samples; the samples come from ``uci.py``. The last row is the
mean of the posterior.

    TRUECOUNT_DATA=... python benchmarks/accuracy.py [--samples 50]
"""

import argparse
import json
from pathlib import Path

import numpy as np
from machine import about
from uci import ITEMS, samples

import truecount as tc
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=50)
    options = parser.parse_args()
    machine = about()
    found = {name: errors(name, options.samples) for name in SETS}
    lines = [
        f"Mean absolute error, in points of 100 (standard error), over {options.samples} samples of {ITEMS} items.",
        "",
        f"| method | {' | '.join(SETS)} |",
        f"| --- {'| --- ' * len(SETS)}|",
    ]
    for choice in found[SETS[0]]:
        cells = [100 * found[name][choice] for name in SETS]
        shown = [f"{each.mean():.2f} ({each.std(ddof=1) / np.sqrt(len(each)):.2f})" for each in cells]
        lines.append(f"| {choice} | {' | '.join(shown)} |")
    print("\n".join(lines))
    document = {"machine": machine, "samples": options.samples, "items": ITEMS}
    means = {name: {choice: float(values.mean()) for choice, values in each.items()} for name, each in found.items()}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "accuracy.json").write_text(json.dumps({**document, "mean_absolute_error": means}, indent=1) + "\n")
    (RESULTS / "accuracy.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
