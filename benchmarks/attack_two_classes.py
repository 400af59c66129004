"""Attack the engine for two classes and two outputs: random problems of every regime against oracles of other code.

Mean and standard deviation of the draws are compared with the oracle's, in Monte Carlo standard errors. What is off by
more than four is drawn again with other seeds and sixteen times as many draws, and counts if it is off by more than
four again: of thousands of comparisons a few exceed four by chance, and a bias shows the more the more draws there are.

Up to some hundred unlabelled items the oracle is an exact sum over all allocations; up to 1e9 a quadrature in three
dimensions by the trapezoidal rule, coarse and fine, and where these two differ the problem is left out and counted;
above, the limit in which the shares of the outputs are known, by tanh-sinh quadrature over the two rows.

    python benchmarks/attack_two_classes.py [--problems 2000] [--regime NAME]
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
from truecount.inference import Quadrature
from truecount.models import Density

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from oracle import Mixture, by_quadrature, by_sum

RESULTS = Path(__file__).parent / "results"
DRAWS, LIMIT, AGAIN = 4000, 4.0, 16
NAN = np.full(2, np.nan)


@dataclass(frozen=True)
class Moments:
    """Mean, standard deviation and fourth central moment of the first share."""

    mean: float
    sd: float
    fourth: float

    def errors(self, shares: np.ndarray) -> tuple[float, float]:
        """How many standard errors the mean and the variance of draws are off."""
        of_mean = self.sd / np.sqrt(len(shares))
        of_variance = np.sqrt(max(self.fourth - self.sd**4, 1e-3 * self.sd**4) / len(shares))
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
    return Moments(grids[1].mean, grids[1].sd, float(grids[1].masses @ (shares - grids[1].mean) ** 4))


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
    """How problems are made, what is held against them, and which part of the problems asked for is run."""

    make: Callable[[np.random.Generator], Density]
    oracle: Callable[[Density], Moments | None] = of_sum
    part: float = 1.0


REGIMES = {
    "ordinary": Regime(ordinary),
    "labels against outputs": Regime(contradicting),
    "zero cells": Regime(zero_cells),
    "known rows": Regime(known_rows),
    "strong priors": Regime(strong_priors),
    "prevalence prior below 1": Regime(sparse_shares),
    "empty class": Regime(empty_class),
    "equal rows": Regime(equal_rows),
    "fractional counts": Regime(weighted, of_grid, 0.05),
    "10⁴ to 10⁹ unlabelled": Regime(many_unlabelled, of_grid, 0.05),
    "10¹⁵ to 10¹⁸ unlabelled": Regime(countless, of_limit),
}


def attack(regime: Regime, problems: int, seed: int) -> dict[str, Any]:
    """Run one regime; what is off is told so that it can be run again."""
    worst, off, refused, left_out = 0.0, [], [], 0
    for number in range(problems):
        density = regime.make(np.random.default_rng([seed, number]))
        expected = regime.oracle(density)
        if expected is None or not expected.sd > 1e-9:
            left_out += 1
            continue
        try:
            z = expected.errors(Quadrature(DRAWS).sample(density, number).prevalence[:, 0])
            if max(map(abs, z)) > LIMIT:
                z = expected.errors(Quadrature(AGAIN * DRAWS).sample(density, problems + number).prevalence[:, 0])
                if max(map(abs, z)) > LIMIT:
                    off.append(told(density, number, z, expected))
        except UnsuitableEngineError as refusal:
            refused.append(told(density, number, (), expected) | {"reason": refusal.needed})
        worst = max(worst, *map(abs, z))
    return {"problems": problems, "left_out": left_out, "worst": worst, "off": off, "refused": refused}


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
    parser.add_argument("--regime", choices=REGIMES)
    options = parser.parse_args()
    found = {}
    for seed, (name, regime) in enumerate(REGIMES.items()):
        if options.regime in (None, name):
            found[name] = attack(regime, max(1, int(regime.part * options.problems)), seed)
            print(name, json.dumps(found[name]), flush=True)
    if options.regime is None:
        RESULTS.mkdir(exist_ok=True)
        (RESULTS / "attack_two_classes.json").write_text(
            json.dumps({"machine": about(), "regimes": found}, indent=1) + "\n"
        )
        (RESULTS / "attack_two_classes.md").write_text("\n".join(table(found)) + "\n")
    if any(result["off"] or result["refused"] for result in found.values()):
        raise SystemExit("the engine is off, or refuses")


def table(found: dict[str, Any]) -> list[str]:
    """One row a regime."""
    lines = [
        "| regime | problems | left out by the oracle | off | refused | largest deviation |",
        "|---|---|---|---|---|---|",
    ]
    for name, result in found.items():
        numbers = [result["problems"], result["left_out"], len(result["off"]), len(result["refused"])]
        lines.append(f"| {name} | {' | '.join(map(str, numbers))} | {result['worst']:.1f} standard errors |")
    return lines


if __name__ == "__main__":
    main()
