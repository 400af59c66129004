"""Labels that err: how often intervals hold the truth where labels are taken for true classes, and where they are not.

    python benchmarks/raters.py [data sets] [independent|clusters]

Each data set: 300 labelled items, 1,000 new ones; class shares of both sides, the error rates of two classes of a
classifier (10 to 25 %) and of raters (5 to 15 %, 10 % on the average) are drawn anew. Two raters label every item and a
third one half of them; or one rater labels all, with errors that are known, or that 100 items of each class validated.
Ways that take longer and are not in doubt have the first hundred data sets. Then the same items as five epochs of each
question, with a class, errors of the classifier and errors of each rater that are alike within a question, by an
intraclass correlation: three raters, with clusters left out and told. A part that is not named stays as it is. Results
go to ``benchmarks/results/raters.json`` and ``.md``.
"""

import json
import sys
from pathlib import Path
from time import process_time

import numpy as np
from machine import about

import truecount as tc
from truecount.inference import raters

RESULTS = Path(__file__).parent / "results"
LABELED, NEW, VALIDATED, LEVEL = 300, 1000, 100, 0.95
ENGINE = tc.Auto(200)
SETS, FEWER_SETS = 800, 100
EPOCHS, CORRELATIONS, CLUSTERED_SETS = 5, (0.1, 0.3, 0.6), 300
FEWER = ("one rater, known errors", "one rater, validated errors")
raters.WARMUP, raters.FIRST = 150, 300
"""Chains a third as long as usual: enough to see whether intervals hold; seconds are of these."""


def said(truth, wrong, rng):
    """Return labels or outputs, wrong with the probability of the item's class."""
    return np.where(rng.random(len(truth)) < np.asarray(wrong)[truth], 1 - truth, truth)


def data_set(rng):
    """Return truth and what was seen of it."""
    share, old = rng.uniform(0.1, 0.9), rng.uniform(0.2, 0.8)
    judge, wrong = rng.uniform(0.10, 0.25, 2), rng.uniform(0.05, 0.15, (3, 2))
    truth, new = (rng.random(LABELED) < old).astype(int), (rng.random(NEW) < share).astype(int)
    labels = [said(truth, rater, rng) for rater in wrong]
    outputs, later = said(truth, judge, rng), said(new, judge, rng)
    some = rng.random(LABELED) < 0.5
    rated = {"ann": labels[0].tolist(), "bob": labels[1].tolist()}
    rated["cy"] = [int(label) if given else None for label, given in zip(labels[2], some, strict=True)]
    known = np.array([[1 - wrong[0, 0], wrong[0, 0]], [wrong[0, 1], 1 - wrong[0, 1]]])
    validation = np.array([rng.multinomial(VALIDATED, row) for row in known])
    return share, truth, labels[0], rated, outputs, later, known, validation


def answers(rng, *, all_ways):
    """Return the share, and what each way to read the labels says of it, with its seconds."""
    share, truth, one, rated, outputs, later, known, validation = data_set(rng)
    counts, names = (
        tc.count(one, outputs, later, classes=[0, 1], outputs=[0, 1]),
        {"classes": [0, 1], "outputs": [0, 1]},
    )
    asked = {
        "true classes, if they were known": lambda: tc.infer(tc.count(truth, outputs, later, **names), engine=ENGINE),
        "one rater, taken for true": lambda: tc.infer(counts, engine=ENGINE),
        "one rater, known errors": lambda: tc.infer(counts, tc.ErringLabels(known=known), engine=ENGINE),
        "one rater, validated errors": lambda: tc.infer(counts, tc.ErringLabels(validation=validation), engine=ENGINE),
        "three raters": lambda: tc.infer(tc.count(rated, outputs, later, **names), engine=ENGINE),
    }
    told = {}
    for name, ask in asked.items():
        if name in FEWER and not all_ways:
            continue
        start = process_time()
        answer = ask()
        seconds = process_time() - start
        low, high = answer.interval(LEVEL)[1]
        told[name] = (answer.mean[1] - share, low <= share <= high, high - low, seconds)
    return told


def alike(mean, correlation, questions, rng):
    """Return a probability of each item, which the epochs of a question have in common."""
    scale = (1 - correlation) / correlation
    return rng.beta(scale * mean, scale * (1 - mean), questions).repeat(EPOCHS)


def clustered_answers(correlation, rng):
    """Return the same for epochs of questions: three raters, with clusters left out and told."""
    share, old = rng.uniform(0.1, 0.9), rng.uniform(0.2, 0.8)
    judge, wrong = rng.uniform(0.10, 0.25, 2), rng.uniform(0.05, 0.15, (3, 2))

    def drawn(number, rates):
        return np.array([alike(rate, correlation, number, rng) for rate in rates])

    def seen(truth, rates):
        by_class = drawn(len(truth) // EPOCHS, rates)
        return np.where(rng.random(len(truth)) < by_class[truth, np.arange(len(truth))], 1 - truth, truth)

    questions, more = LABELED // EPOCHS, NEW // EPOCHS
    truth, new = ((rng.random(EPOCHS * n) < drawn(n, [s])[0]).astype(int) for n, s in ((questions, old), (more, share)))
    rated = {name: seen(truth, rates) for name, rates in zip(("ann", "bob", "cy"), wrong, strict=True)}
    sides = rated, seen(truth, judge), seen(new, judge)
    clusters = {"cluster": np.arange(questions).repeat(EPOCHS), "new_cluster": 1000 + np.arange(more).repeat(EPOCHS)}
    told = {}
    for name, options in (("left out", {}), ("told", clusters)):
        counts, start = tc.count(*sides, classes=[0, 1], outputs=[0, 1], **options), process_time()
        answer = tc.infer(counts, engine=ENGINE)
        seconds = process_time() - start
        low, high = answer.interval(LEVEL)[1]
        where = f"three raters, correlation {correlation:g}, clusters {name}"
        told[where] = (answer.mean[1] - share, low <= share <= high, high - low, seconds)
    return told


def main():
    """Measure, and write."""
    parts = [part for part in sys.argv[1:] if not part.isdigit()] or ["independent", "clusters"]
    sizes = [int(part) for part in sys.argv[1:] if part.isdigit()]
    if "independent" in parts:
        rng, found = np.random.default_rng(0), {}
        for done in range(sizes[0] if sizes else SETS):
            for name, told in answers(rng, all_ways=done < FEWER_SETS).items():
                found.setdefault(name, []).append(told)
            if (done + 1) % 50 == 0:
                write(found)
    if "clusters" in parts:
        rng, found = np.random.default_rng(1), {}
        for done in range(sizes[0] if sizes else CLUSTERED_SETS):
            for correlation in CORRELATIONS:
                for name, told in clustered_answers(correlation, rng).items():
                    found.setdefault(name, []).append(told)
            if (done + 1) % 50 == 0:
                write(found)


def write(found):
    """Write what was found so far, beside rows of the other part."""
    kept = RESULTS / "raters.json"
    rows = json.loads(kept.read_text(encoding="utf-8"))["rows"] if kept.exists() else {}
    for name, told in found.items():
        error, held, width, seconds = np.array(told, float).T
        number = len(told)
        rows[name] = {
            "data_sets": number,
            "error": np.abs(error).mean(),
            "coverage": held.mean(),
            "coverage_se": np.sqrt(held.mean() * (1 - held.mean()) / number),
            "width": width.mean(),
            "seconds": np.median(seconds),
        }
    result = {"rows": rows, "about": about()}
    (RESULTS / "raters.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    lines = ["# Labels that err, 10 % on the average", "", "Simulated data sets, 95 % intervals.", ""]
    lines += ["| labels | data sets | mean absolute error | coverage | width | seconds |", "|---|---|---|---|---|---|"]
    for name, row in rows.items():
        cover = f"{100 * row['coverage']:.1f} ± {100 * row['coverage_se']:.1f} %"
        size = f"{100 * row['width']:.1f} | {row['seconds']:.3f}"
        lines.append(f"| {name} | {row['data_sets']} | {100 * row['error']:.1f} | {cover} | {size} |")
    lines += ["", "Errors and widths in points; seconds of processor time for one answer, the median."]
    (RESULTS / "raters.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
