"""Try to make `infer` silently wrong: random problems of awkward kinds against oracles that share no code with it.

    python benchmarks/attack.py [regime …] [--problems 2000] [--first 0] [--quick] [--planted]

Every problem is drawn from its regime, its number being the seed, and answered by ``infer``. The oracles
(`attack_oracle.py`) sum over all allocations of the unlabelled items, exactly, or, where there are too many of them,
take the outputs' shares as known and integrate, with an error of their own. Means and standard deviations of every
class are compared in standard errors of both.

There are two looks. The first asks for 1,000 effective draws; what is then more than three standard errors off is
suspicious, so a bias of a tenth of a standard deviation is as likely as not to be seen. What is suspicious is answered
again with all defaults and eight other seeds. Answers that say that their draws are not to be trusted
(``not-converged``, or ``several-answers`` of unconverged chains, both serious) are left out; that the counts violate
label shift is no excuse. If the average of the others lies beyond four of its standard errors, the deviation is silent;
so it is if the first answer alone was more than five and a half off and did not say so.

Two classes with two outputs have a quadrature of their own and are not among the problems but for the reported ones.

``--planted`` answers as if no mode could be out of reach of the usual proposals: the reported problems must then be
flagged. ``--quick`` takes 20 problems of each regime. Neither writes anything. Otherwise pieces of 25 problems of each
regime in turn are added to ``benchmarks/results/attack.json`` and ``.md``, from where these stand; another ``--first``
number begins afresh.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from math import inf, nan
from pathlib import Path
from unittest import mock

import numpy as np
from attack_oracle import Moments, by_allocations, with_known_outputs
from machine import about

import truecount as tc
from truecount.inference.importance import exact
from truecount.models import density

RESULTS = Path(__file__).parent / "results"
FIRST = tc.Auto(effective_draws=1000)
SUSPICIOUS, LIMIT, FAR = 3.0, 4.0, 5.5
"""Standard errors: of the first look, of all answers together, and of a first look that cannot be chance."""
AGAIN, PIECE = 8, 25
COMMIT = about()["commit"]
RAREST = 1e-3
"""Share of the rarest output of a huge population: the oracle that takes shares as known would miss rarer ones."""
Problem = tuple[tc.Counts, tc.Prior]
REPORTED: list[Problem] = [
    (
        tc.Counts([[0, 8, 0, 12], [4, 7, 6, 13]], [368, 162, 185, 85]),
        tc.Prior.known_confusion(
            [[nan] * 4, [0.3714119675606016, 0.2083646332093629, 0.22302049696666407, 0.1972029022633714]]
        ),
    ),
    (
        tc.Counts([[4, 1, 0, 0, 0], [1, 0, 18, 3, 8]], [21, 6, 270, 16, 187]),
        tc.Prior.known_confusion(
            [
                [nan] * 5,
                [
                    0.07570183466234641,
                    0.05486521541763792,
                    0.44956033715182386,
                    0.08381460070239971,
                    0.3360580120657922,
                ],
            ],
            confusion=5.0,
        ),
    ),
    (tc.Counts([[3, 0], [3, 7]], [2619918, 97380082]), tc.Prior(confusion=0.5)),
    (tc.Counts([[9, 1], [552, 448]], [228769, 771231]), tc.Prior((1.932, 4.475), confusion=5.0)),
    (tc.Counts([[0, 8, 0, 12], [111, 63, 67, 59]], [368, 162, 185, 85]), tc.Prior()),
    (
        tc.Counts([[3, 0, 8, 23], [6, 11, 23, 3]], [91, 37, 57, 7]),
        tc.Prior((10.162343860630601, 4.098740270175751), 9.32503226851349),
    ),
    (
        tc.Counts([[0, 24, 1, 1], [18, 0, 1, 1]], [6170291, 10877641, 82367536, 584532]),
        tc.Prior((4.12183954868358, 3.640920602080875), 3.0),
    ),
    (
        tc.Counts([[12, 7, 3], [7, 5, 1]], [116, 47, 272]),
        tc.Prior.known_confusion([[0.30847971108344546, 0.07416192431869066, 0.6173583645978639], [nan] * 3]),
    ),
    (
        tc.Counts(
            [[0, 0, 1, 0, 0, 1, 3, 0, 0, 0, 0], [2, 1, 4, 0, 0, 2, 2, 1, 2, 8, 0]],
            [20, 11, 93, 2, 2, 18, 27, 3, 11, 141, 15],
        ),
        tc.Prior(),
    ),
]
"""Problems that were once answered wrongly: without a finding, but for the fourth."""


def made(
    rng: np.random.Generator, classes: int, outputs: int, items: int, *, contradicting: float = 0.5, labels: int = 60
) -> tc.Counts:
    """Draw counts; with the probability given, the labels of each class come from another row than its items."""
    sharpness = 10 ** rng.uniform(-0.7, 0.7)
    rows, others = rng.dirichlet(np.full(outputs, sharpness), (2, classes))
    seen = np.where(rng.random(classes)[:, None] < contradicting, others, rows)
    sizes = rng.integers(0, labels + 1, classes)
    sizes[rng.integers(classes)] += 1
    prevalence = rng.dirichlet(np.full(classes, 10 ** rng.uniform(-0.7, 0.7)))
    labeled = np.array([rng.multinomial(size, row) for size, row in zip(sizes, seen, strict=True)])
    return tc.Counts(labeled, rng.multinomial(items, prevalence @ rows))


def contradicting(rng: np.random.Generator) -> Problem:
    return made(rng, 2, int(rng.integers(3, 6)), int(rng.integers(20, 800)), contradicting=1.0), tc.Prior()


def zero_cells(rng: np.random.Generator) -> Problem:
    counts = made(rng, 2, int(rng.integers(3, 7)), int(rng.integers(20, 600)), labels=12)
    return counts, tc.Prior(confusion=float(rng.choice([0.1, 0.5, 1.0])))


def known_row(rng: np.random.Generator) -> Problem:
    outputs = int(rng.integers(3, 6))
    counts, known = made(rng, 2, outputs, int(rng.integers(20, 800))), np.full((2, outputs), nan)
    known[rng.integers(2)] = rng.dirichlet(1 + 20 * counts.unlabeled / counts.unlabeled.sum())
    return counts, tc.Prior.known_confusion(known, confusion=float(rng.choice([0.5, 1.0, 5.0])))


def strong_prior(rng: np.random.Generator) -> Problem:
    counts = made(rng, 2, int(rng.integers(3, 6)), int(rng.integers(20, 600)))
    return counts, tc.Prior(10 ** rng.uniform(0, 2, 2), float(10 ** rng.uniform(-0.5, 1.3)))


def sparse_shares(rng: np.random.Generator) -> Problem:
    counts = made(rng, 2, int(rng.integers(3, 6)), int(rng.integers(20, 400)))
    return counts, tc.Prior(float(10 ** rng.uniform(-1, 0)), float(10 ** rng.uniform(-0.7, 0)))


def huge_population(rng: np.random.Generator) -> Problem:
    outputs = int(rng.integers(3, 5))
    counts = made(rng, 2, outputs, 10**8, labels=30)
    while counts.unlabeled.min() < RAREST * 1e8:
        counts = made(rng, 2, outputs, 10**8, labels=30)
    return counts, tc.Prior(10 ** rng.uniform(0, 0.7, 2), float(rng.choice([0.5, 1.0, 3.0])))


def many_outputs(rng: np.random.Generator) -> Problem:
    return made(rng, 2, int(rng.integers(5, 13)), int(rng.integers(50, 600)), contradicting=0.1, labels=200), tc.Prior()


def three_classes(rng: np.random.Generator) -> Problem:
    counts = made(rng, 3, int(rng.integers(3, 6)), int(rng.integers(5, 31)), labels=30)
    return counts, tc.Prior(float(10 ** rng.uniform(-0.3, 0.7)), float(rng.choice([0.3, 1.0, 3.0])))


def fewer_outputs(rng: np.random.Generator) -> Problem:
    classes = int(rng.integers(3, 5))
    counts = made(rng, classes, 2, int(rng.integers(5, 41 if classes == 3 else 16)), labels=40)
    return counts, tc.Prior(float(10 ** rng.uniform(-0.3, 0.7)))


def four_classes(rng: np.random.Generator) -> Problem:
    return made(rng, 4, int(rng.integers(3, 6)), int(rng.integers(4, 15)), labels=30), tc.Prior()


REGIMES: dict[str, Callable[[np.random.Generator], Problem]] = {
    "labels that contradict the outputs": contradicting,
    "zero cells": zero_cells,
    "a known row": known_row,
    "strong priors": strong_prior,
    "a prevalence prior below 1": sparse_shares,
    "a hundred million unlabelled": huge_population,
    "five to twelve outputs of two classes": many_outputs,
    "three classes": three_classes,
    "fewer outputs than classes": fewer_outputs,
    "four classes": four_classes,
}


def problem_of(regime: str, number: int) -> Problem:
    """Return the problem of this number; the numbers below that of `REPORTED` in regime "reported"."""
    if regime == "reported":
        return REPORTED[number]
    return REGIMES[regime](np.random.default_rng([number, *regime.encode()]))


def truth(counts: tc.Counts, prior: tc.Prior, *, again: bool = False) -> Moments:
    """Return the oracle's moments; those of a second look, if they are drawn, from ten times as many other draws."""
    posed = density(counts, prior)
    if counts.unlabeled.sum() > 5_000:
        return with_known_outputs(posed, np.random.default_rng(again), draws=2_000_000 if again else 200_000)
    return by_allocations(posed)


def errors(posterior: tc.Posterior, expected: Moments) -> np.ndarray:
    """Deviations of means and sds and their standard errors; shape (2, 2, classes)."""
    effective = np.maximum(posterior.effective_draws, 1.0)
    mean_error = np.hypot(expected.sd / np.sqrt(effective), expected.mean_error)
    sd_error = np.hypot(expected.sd * np.sqrt((expected.kurtosis - 1) / 4 / effective), expected.sd_error)
    floor = 1e-12 + 1e-9 * expected.mean
    return np.array(
        [
            [posterior.mean - expected.mean, posterior.sd - expected.sd],
            [np.maximum(mean_error, floor), np.maximum(sd_error, floor)],
        ]
    )


def is_told(posterior: tc.Posterior) -> bool:
    """Whether the answer says that its draws are not to be trusted."""
    return any(
        each.code in ("not-converged", "several-answers") and each.severity == "serious" for each in posterior.findings
    )


def attacked(regime: str, number: int, *, planted: bool = False) -> dict:
    """Answer one problem, compare, and look again if it is off."""
    counts, prior = problem_of(regime, number)
    limits = {"NO_CONFLICT": inf, "MOST_CELLS": 0} if planted else {"NO_CONFLICT": exact.NO_CONFLICT}
    with warnings.catch_warnings(), mock.patch.multiple(exact, **limits):
        warnings.simplefilter("ignore")
        started = time.process_time()
        posterior, expected = tc.infer(counts, prior=prior, engine=FIRST, seed=number), truth(counts, prior)
        off, error = errors(posterior, expected)
        result = {
            "regime": regime,
            "number": number,
            "engine": posterior.run.engine,
            "deviation": float(np.abs(off / error).max()),
            "is_told": is_told(posterior),
        }
        if result["deviation"] > SUSPICIOUS:
            answers = [tc.infer(counts, prior=prior, seed=10**6 + again) for again in range(AGAIN)]
            expected = truth(counts, prior, again=True)
            off, error = errors(posterior, expected)
            result["deviation"] = float(np.abs(off / error).max())
            result |= compared([answer for answer in answers if not is_told(answer)], expected)
    return result | {"seconds": time.process_time() - started}


def compared(answers: list[tc.Posterior], expected: Moments) -> dict:
    """How far the average of these answers is off: in its standard errors, and in standard deviations."""
    if not answers:
        return {"untold": 0, "again": 0.0, "of_sd": 0.0}
    off, error = np.mean([errors(answer, expected) for answer in answers], axis=0)
    oracle = np.array([expected.mean_error, expected.sd_error])
    error = np.hypot(np.sqrt(np.maximum(error**2 - oracle**2, 0) / len(answers)), oracle)
    worst = np.abs(off / error).max(), np.abs(off / expected.sd).max()
    return {"untold": len(answers), "again": float(worst[0]), "of_sd": float(worst[1])}


def is_silently_wrong(result: dict) -> bool:
    is_far = result["deviation"] > FAR and not result["is_told"]
    return is_far or result.get("again", 0.0) > LIMIT


def summary(regime: str, results: list[dict]) -> dict:
    return {
        "regime": regime,
        "first": results[0]["number"],
        "problems": len(results),
        "exact": sum(each["engine"] == "Exact" for each in results),
        "told": sum(each["is_told"] for each in results),
        "suspicious": [each for each in results if each["deviation"] > SUSPICIOUS],
        "silent": [each for each in results if is_silently_wrong(each)],
        "minutes": sum(each["seconds"] for each in results) / 60,
        "commits": [COMMIT],
    }


def joined(one: dict, other: dict) -> dict:
    """Add the summary of more problems of a regime."""
    numbers = ("problems", "exact", "told", "suspicious", "silent", "minutes")
    commits = list(dict.fromkeys(one["commits"] + other["commits"]))
    return {
        "regime": one["regime"],
        "first": one["first"],
        **{key: one[key] + other[key] for key in numbers},
        "commits": commits,
    }


def table(rows: list[dict]) -> str:
    heads = ("problems", "numbers", "by Exact", "said not to be trusted", "looked at again", "silently off", "minutes")
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for row in rows:
        numbers = f"{row['first']}–{row['first'] + row['problems'] - 1}"
        figures = [row["exact"], row["told"], len(row["suspicious"]), len(row["silent"])]
        cells = [row["regime"], numbers, *figures, f"{row['minutes']:.1f}"]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


def saved() -> dict[str, dict]:
    """What earlier runs found, by regime."""
    path = RESULTS / "attack.json"
    return {row["regime"]: row for row in json.loads(path.read_text())} if path.exists() else {}


def write(row: dict) -> None:
    """Replace what was found in one regime."""
    found = {**saved(), row["regime"]: row}
    rows = [found[regime] for regime in ("reported", *REGIMES) if regime in found]
    (RESULTS / "attack.json").write_text(json.dumps(rows, indent=1) + "\n")
    (RESULTS / "attack.md").write_text(table(rows))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("regimes", nargs="*", default=["reported", *REGIMES])
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--planted", action="store_true")
    options = parser.parse_args()
    writes = not (options.quick or options.planted)
    problems = 20 if options.quick else options.problems
    found = {}
    for regime, row in (saved() if writes else {}).items():
        if regime in options.regimes and row["first"] == (0 if regime == "reported" else options.first):
            found[regime] = row
    for end in range(min(PIECE, problems), problems + PIECE, PIECE):
        for regime in options.regimes:
            first, most = (0, len(REPORTED)) if regime == "reported" else (options.first, problems)
            last = first + min(end, most)
            numbers = range(first + (found[regime]["problems"] if regime in found else 0), last)
            if not numbers:
                continue
            row = summary(regime, [attacked(regime, number, planted=options.planted) for number in numbers])
            found[regime] = joined(found[regime], row) if regime in found else row
            print(f"{regime}: {last}", *row["silent"], sep="\n  ", flush=True)
            if writes:
                write(found[regime])
    print(table(list(found.values())))


if __name__ == "__main__":
    main()
