"""Attack the engine for two classes and two outputs: random problems of every regime against oracles of other code.

Mean and standard deviation of the draws are compared with the oracle's, in Monte Carlo standard errors. What is off by
more than four is drawn again with other seeds and sixteen times as many draws, and counts if it is off by more than
four again: of thousands of comparisons a few exceed four by chance, and a bias shows the more the more draws there are.

Up to some hundred unlabelled items the oracle is an exact sum over all allocations; up to 1e9 a quadrature in three
dimensions by the trapezoidal rule, coarse and fine, and where these two differ the problem is left out and counted;
above, the limit in which the shares of the outputs are known, by tanh-sinh quadrature over the two rows.

What the quadrature refuses is drawn as `Auto` draws it, and compared unless the run says that it has not converged.

    python benchmarks/attack_two_classes.py [--problems 2000] [--first 0] [--regime NAME]

Problems are made from the regime's place in the list and their number. Results are written piece by piece, and a run
that was stopped goes on where it was; another ``--first`` begins afresh.
"""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from machine import about
from scipy.stats import beta

from truecount.errors import UnsuitableEngineError
from truecount.inference import Auto, Quadrature
from truecount.models import Density

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from oracle import Mixture, by_quadrature, by_sum

RESULTS = Path(__file__).parent / "results"
FILE = RESULTS / "attack_two_classes.json"
DRAWS, LIMIT, AGAIN, PIECE = 4000, 4.0, 16, 100
NAN = np.full(2, np.nan)


@dataclass(frozen=True)
class Moments:
    """Mean, standard deviation and fourth central moment of the first share."""

    mean: float
    sd: float
    fourth: float
    mean_error: float = 0.0
    sd_error: float = 0.0

    def errors(self, shares: np.ndarray, effective: float) -> tuple[float, float]:
        """How many standard errors, the oracle's own among them, the mean and the variance of draws are off."""
        of_mean = np.hypot(self.sd / np.sqrt(effective), self.mean_error)
        of_variance = np.sqrt(max(self.fourth - self.sd**4, 1e-3 * self.sd**4) / effective)
        of_variance = np.hypot(of_variance, 2 * self.sd * self.sd_error)
        variance = ((shares - self.mean) ** 2).mean()
        return float((shares.mean() - self.mean) / of_mean), float((variance - self.sd**2) / of_variance)


def of_sum(density: Density) -> Moments:
    """By the exact sum over allocations."""
    found: Mixture = by_sum(density)
    mean, variance, skew, kurtosis = beta.stats(found.first, found.second, moments="mvsk")
    off, third, fourth = mean - found.mean, skew * variance**1.5, (kurtosis + 3) * variance**2
    return Moments(
        found.mean, found.sd, float(found.weights @ (fourth + 4 * off * third + 6 * off**2 * variance + off**4))
    )


def of_grid(density: Density) -> Moments | None:
    """By the trapezoidal rule; None where a finer one says something else."""
    grids = [by_quadrature(density, fineness=fineness) for fineness in (0.4, 0.6)]
    if abs(grids[0].mean - grids[1].mean) > 0.003 * grids[1].sd or abs(grids[0].sd / grids[1].sd - 1) > 0.003:
        return None
    shares = 1 / (1 + np.exp(-grids[1].logits))
    fourth = float(grids[1].masses @ (shares - grids[1].mean) ** 4)
    coarse, fine = grids
    return Moments(fine.mean, fine.sd, fourth, abs(fine.mean - coarse.mean), abs(fine.sd - coarse.sd))


def tanh_sinh(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of [0, 1] and weights, for integrands with poles at the ends."""
    t = np.linspace(-3.4, 3.4, number)
    g = 0.5 * np.pi * np.sinh(t)
    low, high = 1 / (1 + np.exp(-2 * g)), 1 / (1 + np.exp(2 * g))
    return low, np.pi * np.cosh(t) * low * high * (t[1] - t[0])


def of_limit(density: Density) -> Moments | None:
    """By two dimensions, with the outputs' shares known; None where a row would have to lie too far in its tail."""
    q = (density.unlabeled[0] + 1) / (density.unlabeled.sum() + 2)
    rows = [beta(*row) for row in density.rows]
    low, weight = tanh_sinh(241)
    parts = []
    for above in (0, 1):
        up, down = rows[above], rows[1 - above]
        if up.sf(q) < 1e-250 or down.cdf(q) < 1e-250:
            continue
        x, y = up.isf(up.sf(q) * low), down.ppf(down.cdf(q) * low)
        x_gap, y_gap = np.maximum(x - q, 0), np.maximum(q - y, 0)
        both = x_gap[:, None] + y_gap
        with np.errstate(all="ignore"):
            of_above = y_gap / both
            of_below = x_gap[:, None] / both
            first, second = (of_above, of_below) if above == 0 else (of_below, of_above)
            height = first ** (density.prevalence[0] - 1) * second ** (density.prevalence[1] - 1) / both
        mass = np.where(np.isfinite(height), height, 0) * weight[:, None] * weight * up.sf(q) * down.cdf(q)
        parts.append((np.where(np.isfinite(first), first, 0.5), mass))
    if not parts or not (total := sum(mass.sum() for _, mass in parts)):
        return None
    mean = sum((mass * share).sum() for share, mass in parts) / total
    moments = [sum((mass * (share - mean) ** power).sum() for share, mass in parts) / total for power in (2, 4)]
    return Moments(float(mean), float(np.sqrt(moments[0])), float(moments[1]))


def problem(labeled: Any, unlabeled: Any, *, alpha: Any = 1.0, rows: Any = 1.0, known: Any = (NAN, NAN)) -> Density:
    """Put a problem together."""
    return Density(
        np.full(2, 1.0) * alpha, np.array(labeled, float) + rows, np.array(unlabeled, float), np.array(known, float)
    )


def labels(rng: np.random.Generator, most: float) -> np.ndarray:
    """Labelled items, up to so many of each class on a logarithmic scale."""
    return np.array([rng.multinomial(int(most ** rng.random()), rng.dirichlet([0.7, 0.7])) for _ in (0, 1)])


def outputs(rng: np.random.Generator, most: int = 700) -> np.ndarray:
    """Unlabelled items, whatever the labels say."""
    return rng.multinomial(int((most + 1) ** rng.random()) - 1, rng.dirichlet([0.7, 0.7]))


def ordinary(rng: np.random.Generator) -> Density:
    rows = np.array([[a := rng.uniform(0.6, 0.98), 1 - a], [b := rng.uniform(0.02, 0.4), 1 - b]])
    labeled = np.array([rng.multinomial(int(rng.integers(20, 500)), row) for row in rows])
    return problem(labeled, rng.multinomial(int(rng.integers(50, 700)), rng.dirichlet([1, 1]) @ rows))


def contradicting(rng: np.random.Generator) -> Density:
    """Labels and outputs have nothing to do with each other."""
    return problem(labels(rng, 10_000), outputs(rng))


def zero_cells(rng: np.random.Generator) -> Density:
    labeled = labels(rng, 300)
    labeled[rng.integers(2), rng.integers(2)] = 0
    labeled[rng.integers(2), rng.integers(2)] = 0
    return problem(labeled, outputs(rng) * rng.integers(0, 2, 2), rows=rng.choice([0.5, 1.0, 0.05, 0.25]))


def known_rows(rng: np.random.Generator) -> Density:
    known = np.array([[p := rng.choice([0.0, 1.0, rng.random(), rng.random()]), 1 - p] for _ in (0, 1)])
    if rng.random() < 0.6:
        known[rng.integers(2)] = np.nan
    unlabeled = outputs(rng)
    unlabeled[(known == 0).all(axis=0)] = 0
    return problem(labels(rng, 1000), unlabeled, known=known, alpha=rng.choice([1.0, 1.0, 0.5, 2.0]))


def strong_priors(rng: np.random.Generator) -> Density:
    return problem(labels(rng, 500), outputs(rng), alpha=200 ** rng.random(2), rows=60 ** rng.random((2, 2)))


def sparse_shares(rng: np.random.Generator) -> Density:
    return problem(labels(rng, 1000), outputs(rng), alpha=rng.uniform(0.03, 1, 2), rows=rng.choice([0.5, 1.0]))


def empty_class(rng: np.random.Generator) -> Density:
    labeled = labels(rng, 2000)
    labeled[rng.integers(2)] = 0
    return problem(labeled, outputs(rng), rows=rng.choice([0.1, 0.5, 1.0, 3.0]))


def equal_rows(rng: np.random.Generator) -> Density:
    row, items = rng.dirichlet([2, 2]), int(10 ** rng.uniform(0, 6))
    return problem(rng.multinomial(items, [row, row]), rng.multinomial(int(rng.integers(1, 700)), row))


def weighted(rng: np.random.Generator) -> Density:
    """Fractions of items, as effective counts have them."""
    drawn = contradicting(rng)
    return problem(drawn.rows * rng.uniform(0.2, 1), drawn.unlabeled * rng.uniform(0.2, 1) + 1, rows=0.0)


def many_unlabelled(rng: np.random.Generator) -> Density:
    return problem(
        labels(rng, 2000),
        np.rint(10 ** rng.uniform(4, 9) * rng.dirichlet([0.7, 0.7])),
        alpha=rng.choice([1.0, 1.0, 0.5, 2.0, 5.0]),
        rows=rng.choice([0.5, 1.0, 5.0]),
    )


def countless(rng: np.random.Generator) -> Density:
    """So many unlabelled items that the outputs' shares are known."""
    shares = rng.uniform(0.02, 0.98)
    return problem(
        labels(rng, 300),
        np.rint(10 ** rng.uniform(15, 18) * np.array([shares, 1 - shares])),
        alpha=rng.choice([1.0, 1.0, 0.5, 2.0, 5.0]),
        rows=rng.choice([0.5, 1.0, 5.0]),
    )


@dataclass(frozen=True)
class Regime:
    """How problems are made, and what is held against them."""

    make: Callable[[np.random.Generator], Density]
    oracle: Callable[[Density], Moments | None] = of_sum


REGIMES = {
    "ordinary": Regime(ordinary),
    "labels against outputs": Regime(contradicting),
    "zero cells": Regime(zero_cells),
    "known rows": Regime(known_rows),
    "strong priors": Regime(strong_priors),
    "prevalence prior below 1": Regime(sparse_shares),
    "empty class": Regime(empty_class),
    "equal rows": Regime(equal_rows),
    "fractional counts": Regime(weighted, of_grid),
    "10⁴ to 10⁹ unlabelled": Regime(many_unlabelled, of_grid),
    "10¹⁵ to 10¹⁸ unlabelled": Regime(countless, of_limit),
}


def attack(regime: Regime, seed: int, numbers: range) -> dict[str, Any]:
    """Run some problems of a regime; what is off is told so that it can be run again."""
    found: dict[str, Any] = {"problems": len(numbers), "left_out": 0, "compared": 0, "squares": 0.0, "worst": 0.0}
    found |= {"again": [], "off": [], "refused": []}
    for number in numbers:
        density = regime.make(np.random.default_rng([seed, number]))
        expected = regime.oracle(density)
        if expected is None or not expected.sd > 1e-9:
            found["left_out"] += 1
            continue
        z = deviations(density, expected, DRAWS, number, found)
        if max(map(abs, z), default=0.0) > LIMIT:
            found["again"].append(told(density, number, z, expected))
            z = deviations(density, expected, AGAIN * DRAWS, 10**6 + number, found)
            if max(map(abs, z), default=0.0) > LIMIT:
                found["off"].append(told(density, number, z, expected))
        elif z:
            found["compared"], found["squares"] = found["compared"] + 1, found["squares"] + z[0] ** 2
        found["worst"] = max(found["worst"], *map(abs, z), 0.0)
    return found


def deviations(
    density: Density, expected: Moments, draws: int, seed: int, found: dict[str, Any]
) -> tuple[float, float] | tuple[()]:
    """Deviations of the quadrature, or, where it refuses, of what is drawn instead; none where that is not trusted."""
    try:
        drawn = Quadrature(draws).sample(density, seed)
    except UnsuitableEngineError as refusal:
        drawn = Auto(draws).sample(density, seed)
        refused = told(density, seed, (), expected) | {"reason": refusal.needed, "status": drawn.run.status}
        found["refused"].append(refused)
        if drawn.run.status != "ok":
            return ()
    return expected.errors(drawn.prevalence[:, 0], drawn.effective[0])


def joined(one: dict[str, Any] | None, other: dict[str, Any]) -> dict[str, Any]:
    """Add what more problems of a regime showed."""
    if one is None:
        return other
    sums = ("problems", "left_out", "compared", "squares", "again", "off", "refused")
    return {**{key: one[key] + other[key] for key in sums}, "worst": max(one["worst"], other["worst"])}


def told(density: Density, number: int, z: tuple[float, ...], expected: Moments) -> dict[str, Any]:
    parts = {
        "prevalence": density.prevalence,
        "rows": density.rows,
        "unlabeled": density.unlabeled,
        "known": density.known,
    }
    plain = {name: np.round(part, 6).tolist() for name, part in parts.items()}
    return {"number": number, "z": [round(each, 1) for each in z], "mean": expected.mean, "sd": expected.sd, **plain}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--regime", choices=REGIMES)
    options = parser.parse_args()
    saved = json.loads(FILE.read_text())["regimes"] if FILE.exists() else {}
    for seed, (name, regime) in enumerate(REGIMES.items()):
        found = saved.get(name) if saved.get(name, {}).get("first") == options.first else None
        while options.regime in (None, name) and (done := found["problems"] if found else 0) < options.problems:
            start = options.first + done
            piece = attack(regime, seed, range(start, min(start + PIECE, options.first + options.problems)))
            found = joined(found, piece) | {"first": options.first, "commit": about()["commit"]}
            saved[name] = found
            print(name, found["problems"], f"worst {found['worst']:.1f}", *piece["off"], sep="\n  ", flush=True)
            write({name: saved[name] for name in REGIMES if name in saved})
    if any(result["off"] for result in saved.values()):
        raise SystemExit("the engine is off")


def write(found: dict[str, Any]) -> None:
    """Write what was found, so that a run that was stopped goes on from here."""
    RESULTS.mkdir(exist_ok=True)
    FILE.write_text(json.dumps({"machine": about(), "regimes": found}) + "\n")
    (RESULTS / "attack_two_classes.md").write_text("\n".join(table(found)) + "\n")


def table(found: dict[str, Any]) -> list[str]:
    """One row a regime."""
    heads = (
        "regime",
        "numbers",
        "left out by the oracle",
        "drawn by another engine",
        "of these not trusted",
        "looked at again",
        "off",
        "largest deviation",
        "root mean square",
    )
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for name, result in found.items():
        untrusted = sum(each["status"] != "ok" for each in result["refused"])
        numbers = f"{result['first']}–{result['first'] + result['problems'] - 1}"
        figures = [result["left_out"], len(result["refused"]), untrusted, len(result["again"]), len(result["off"])]
        largest, usual = f"{result['worst']:.1f}", f"{np.sqrt(result['squares'] / max(result['compared'], 1)):.3f}"
        lines.append("| " + " | ".join(map(str, [name, numbers, *figures, largest, usual])) + " |")
    return [*lines, "", "Deviations are in standard errors; the root mean square, of the means, is 1 on average."]


if __name__ == "__main__":
    main()
