"""Items that belong together: what 95 % intervals hold, read as independent and as clusters, and the design effect.

    python benchmarks/clusters.py [--sets N] [--from CASE]

Epochs of a question share a tendency to each class and, within each class, to each output (Dirichlet distributions of
the intraclass correlation). The design effect is held against the truth: the mean square of an estimate that is linear
in the counts, by the true rates, over the variance that independent items would give it; where data sets are quickly
simulated, on `MORE_SETS` that nothing is inferred from. What intervals hold is set
beside what those of as many independent items hold as the clusters count as: at one truth, with few items, a flat prior
may hold more or less often than it promises. Results go to ``benchmarks/results/clusters.json`` and ``.md``.
"""

import argparse
import json
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from machine import about

import truecount as tc
from truecount.counts.weights import design_effect, effective_counts, output_design_effect

RESULTS = Path(__file__).parent / "results"
LEVELS = (0.5, 0.8, 0.95)
USUAL_SIZE, MORE_SETS = 10, 6000
KINDS = ("independent", "clusters", "alone")
TWO = ((0.85, 0.15), (0.2, 0.8))
THREE = ((0.7, 0.2, 0.1), (0.15, 0.7, 0.15), (0.1, 0.2, 0.7))


@dataclass(frozen=True)
class Case:
    """A population of questions."""

    name: str
    correlation: float
    questions: tuple[int, int] = (80, 100)
    epochs: int = 5
    rows: tuple = TWO
    shares: tuple = (0.3, 0.7)
    is_lenient: bool = False
    """Whether a question draws all classes towards the same output."""
    labeled_epochs: int = 0
    """Of each question, with the others unlabelled: one population, and clusters on both sides."""
    weights: float = 0.0
    """Standard deviation of the logarithm of the weights."""
    model: tc.LabelShift | tc.SamePopulation = field(default_factory=tc.LabelShift)
    spread: float = 0.0
    """Standard deviation of the logarithm of the number of epochs."""
    part: float = 1.0
    """Of the data sets."""


CASES = (
    Case("5 epochs, correlation .1", 0.1),
    Case("5 epochs, correlation .3", 0.3),
    Case("5 epochs, correlation .6", 0.6),
    Case("lenient and strict questions, .6", 0.6, is_lenient=True, part=0.4),
    Case("three classes, .3", 0.3, rows=THREE, shares=(0.2, 0.5, 0.3), part=0.4),
    Case("10 epochs of 12 and 15 questions, .3", 0.3, questions=(12, 15), epochs=10, part=0.4),
    Case("25 and 30 questions of very unequal size, .3", 0.3, questions=(25, 30), epochs=100, spread=1.5),
    Case("25 and 30 questions of very unequal size, .6", 0.6, questions=(25, 30), epochs=100, spread=1.5),
    Case("2,000 and 3,000 questions, .6", 0.6, questions=(2000, 3000)),
    Case("weighted, .3", 0.3, weights=0.7, part=0.4),
    Case(
        "a label in each question, .6", 0.6, questions=(0, 150), labeled_epochs=1, model=tc.SamePopulation(), part=0.4
    ),
    Case("independent items", 0.0, part=0.4),
)


def tendencies(rng, number, centre, correlation):
    """Return shares of each question, shape (number, entries), that vary around a centre."""
    if not correlation:
        return np.repeat(np.array(centre)[None], number, axis=0)
    return rng.dirichlet(np.array(centre) * (1 - correlation) / correlation, number)


def answers(rng, number, case, shares):
    """Return the classes and outputs of all epochs, shape (questions, epochs)."""
    rows = np.array(case.rows)
    of_class = tendencies(rng, number, shares, case.correlation)
    classes = drawn(rng, of_class[:, None], (number, case.epochs))
    if case.is_lenient:  # one tendency for all classes, on the logit
        pull = rng.normal(0, 2.0, (number, 1))
        odds = np.log(rows[:, 0] / rows[:, 1]) * 1.6 + pull
        first = 1 / (1 + np.exp(-odds))
        of_output = np.stack([first, 1 - first], axis=-1)
    else:
        of_output = np.stack([tendencies(rng, number, row, case.correlation) for row in rows], axis=1)
    return classes, drawn(rng, of_output[np.arange(number)[:, None], classes], (number, case.epochs))


def drawn(rng, chances, shape):
    cumulated = np.cumsum(chances, axis=-1)
    return np.minimum((rng.random(shape)[..., None] > cumulated).sum(axis=-1), chances.shape[-1] - 1)


def counted(rng, case):
    """Return counts without and with clusters."""
    names, even = list(range(len(case.shares))), np.full(len(case.shares), 1 / len(case.shares))
    classes, outputs = answers(rng, case.questions[1], case, case.shares)
    questions = np.repeat(np.arange(case.questions[1])[:, None], case.epochs, axis=1)
    is_labeled = np.arange(case.epochs) < case.labeled_epochs
    known = classes[:, is_labeled], outputs[:, is_labeled], questions[:, is_labeled]
    new = outputs[:, ~is_labeled], questions[:, ~is_labeled]
    if not case.labeled_epochs:
        number = case.questions[0]
        known = *answers(rng, number, case, even), np.repeat(10**6 + np.arange(number)[:, None], case.epochs, axis=1)
    if case.weights:
        return weighted(rng, case, [each.ravel() for each in known], [each.ravel() for each in new])
    if case.spread:
        known, new = (_of_sizes(rng, side, case) for side in (known, new))
    labels, said, clusters = (each.ravel() for each in known)
    options = {"classes": names, "outputs": names}
    together = {"cluster": clusters, "new_cluster": new[1].ravel()}
    plain = tc.count(labels, said, new[0].ravel(), **options)
    return plain, tc.count(labels, said, new[0].ravel(), **options, **together)


def _of_sizes(rng, side, case):
    """Keep the first epochs of each question, so many that their numbers are log-normal around `USUAL_SIZE`."""
    sizes = USUAL_SIZE * np.exp(rng.normal(-(case.spread**2) / 2, case.spread, len(side[0])))
    kept = np.arange(case.epochs) < np.maximum(np.rint(sizes), 1)[:, None]
    return [each[kept] for each in side]


def weighted(rng, case, known, new):
    """Count a table with weights, which differ between questions."""
    import pandas as pd

    frames = [pd.DataFrame(dict(zip(("label", "output", "question"), known, strict=True)))]
    frames.append(pd.DataFrame(dict(zip(("output", "question"), new, strict=True))))
    table = pd.concat(frames, ignore_index=True)
    table["weight"] = np.exp(rng.normal(0, case.weights, table["question"].nunique()))[
        pd.factorize(table["question"])[0]
    ]
    columns = {"label": "label", "prediction": "output", "weight": "weight"}
    return tc.count_table(table, **columns), tc.count_table(table, **columns, cluster="question")


def true_rows(case):
    """Return the rates of the population of questions."""
    if not case.is_lenient:
        return np.array(case.rows)
    number = len(case.shares)
    classes, outputs = answers(np.random.default_rng(0), 200_000, case, np.full(number, 1 / number))
    table = np.zeros((number, number))
    np.add.at(table, (classes.ravel(), outputs.ravel()), 1)
    return table / table.sum(axis=1, keepdims=True)


def linear_error(plain, case, rows):
    """Return squares of the errors of linear estimates of the shares, and their variances for independent items."""
    shares = np.array(case.shares)
    joint = shares[:, None] * rows
    known, new = effective_counts(plain)
    outputs = joint.sum(axis=0)
    if isinstance(case.model, tc.SamePopulation):
        given, seen = joint / outputs, plain.labeled.sum(axis=0) + plain.unlabeled
        by_output = plain.labeled.sum(axis=0)
        error = given @ (seen / seen.sum() - outputs) + (plain.labeled / by_output - given) @ outputs
        variance = (given**2 @ outputs - shares**2) / seen.sum()
        return error**2, variance + (given * (1 - given)) @ (outputs**2 / by_output)
    solve, sizes = np.linalg.inv(rows.T), known.sum(axis=1)
    error = solve @ (new / new.sum() - shares @ (known / sizes[:, None]))
    spread = covariance(outputs) / new.sum()
    spread += sum(share**2 * covariance(row) / size for share, row, size in zip(shares, rows, sizes, strict=True))
    return error**2, np.diag(solve @ spread @ solve.T)


def simulated_errors(case, rows):
    """Return what `linear_error` says of data sets that are only counted."""
    even, found = np.full(len(rows), 1 / len(rows)), []
    for seed in range(MORE_SETS):
        rng = np.random.default_rng([seed, 99])
        new = np.bincount(answers(rng, case.questions[1], case, case.shares)[1].ravel(), minlength=len(rows))
        labeled = np.zeros(rows.shape, int)
        np.add.at(labeled, tuple(each.ravel() for each in answers(rng, case.questions[0], case, even)), 1)
        found.append(linear_error(tc.Counts(labeled, new), case, rows))
    return found


def covariance(shares):
    return np.diag(shares) - np.outer(shares, shares)


def alone(rng, counts, effect, case, rows):
    """Return counts of independent items, as many as those of the clusters count as."""
    shares, divisor = np.array(case.shares), effect.divisor
    new = rng.multinomial(round(counts.unlabeled.sum() / divisor), shares @ rows)
    if isinstance(case.model, tc.SamePopulation):
        joint = (shares[:, None] * rows).ravel()
        return tc.Counts(rng.multinomial(round(counts.labeled.sum() / divisor), joint).reshape(rows.shape), new)
    sizes = np.maximum(np.rint(counts.labeled.sum(axis=1) / divisor), 1).astype(int)
    return tc.Counts(np.array([rng.multinomial(size, row) for size, row in zip(sizes, rows, strict=True)]), new)


def measured(case, sets):
    """Infer from simulated data sets, with and without clusters."""
    sets, truth, rows = max(int(sets * case.part), 20), np.array(case.shares), true_rows(case)
    held, errors, effects, seconds = {name: [] for name in KINDS}, [], [], {}
    for seed in range(sets):
        rng = np.random.default_rng([seed, 17])
        plain, together = counted(rng, case)
        is_same = isinstance(case.model, tc.SamePopulation)
        effect = output_design_effect(together, labels_tell_outputs=True) if is_same else design_effect(together)
        effects.append(effect.value)
        errors.append(linear_error(plain, case, rows))
        for name, counts in zip(KINDS, (plain, together, alone(rng, plain, effect, case, rows)), strict=True):
            start = time.process_time()
            found = tc.infer(counts, case.model, engine=tc.Auto(1000), seed=seed)
            seconds[name] = seconds.get(name, 0) + time.process_time() - start
            ends = [found.interval(level) for level in LEVELS]
            held[name].append([np.mean((each[:, 0] <= truth) & (truth <= each[:, 1])) for each in ends])
    is_quick = case.questions[1] < 1000 and not (case.weights or case.spread or case.labeled_epochs)
    errors = simulated_errors(case, rows) if is_quick else errors
    squares, variances = np.transpose(errors, (1, 0, 2))
    really = float(np.max(squares.sum(axis=0) / variances.sum(axis=0)))
    return {
        "case": case.name,
        "data_sets": sets,
        "held": {name: np.mean(each, axis=0).tolist() for name, each in held.items()},
        "held_error": float(np.sqrt(0.95 * 0.05 / sets)),
        "design_effect": float(np.mean(effects)),
        "design_effect_sd": float(np.std(effects, ddof=1)),
        "true_design_effect": really,
        "true_design_effect_error": really * float(np.sqrt(2 / len(errors))),
        "milliseconds": {name: 1000 * each / sets for name, each in seconds.items()},
    }


def table(entries):
    head = ["questions", "data sets", "read as independent: held at 50 · 80 · 95 %", "as clusters"]
    head += ["independent items, as many as clusters count as", "design effect (its standard deviation)"]
    head += ["true design effect", "ms each"]
    lines = [head, ["---"] * len(head)]
    for entry in entries:
        held = [" · ".join(f"{100 * each:.1f}" for each in entry["held"][name]) for name in KINDS]
        effect = f"{entry['design_effect']:.2f} ({entry['design_effect_sd']:.2f})"
        ratio = f"{entry['true_design_effect']:.2f} ± {entry['true_design_effect_error']:.2f}"
        spent = " and ".join(f"{entry['milliseconds'][name]:.0f}" for name in ("independent", "clusters"))
        lines.append([entry["case"], f"{entry['data_sets']:,}", *held, effect, ratio, spent])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def main() -> None:
    """Measure, print, write."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sets", type=int, default=1000)
    arguments.add_argument("--from", type=int, default=1, dest="first", help="the case to begin with; others stay")
    asked = arguments.parse_args()
    kept, names = RESULTS / "clusters.json", [case.name for case in CASES]
    entries = {each["case"]: each for each in json.loads(kept.read_text())["cases"]} if kept.exists() else {}
    for case in CASES[asked.first - 1 :]:
        entries[case.name] = measured(case, asked.sets)
        print(table([entries[case.name]]).splitlines()[-1], flush=True)
        found = [entries[name] for name in names if name in entries]
        document = {"machine": about(), "sets": asked.sets, "cases": found}
        kept.write_text(json.dumps(document, indent=1) + "\n")
        (RESULTS / "clusters.md").write_text(table(found))


if __name__ == "__main__":
    main()
