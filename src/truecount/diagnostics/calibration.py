"""Do intervals hold? Simulation-based calibration, and empirical coverage at given sizes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from truecount import _check
from truecount._types import FloatArray, IntArray, Name
from truecount.counts import Counts
from truecount.errors import InputError
from truecount.inference.draws import Draws, dirichlet
from truecount.models import Density, Prior, density
from truecount.models.learned import CONCENTRATIONS
from truecount.models.priors import LEARNED
from truecount.results.check import value_lines

Draw: TypeAlias = Callable[[Counts, Prior, int], Draws]
"""Counts, prior and seed become draws."""

SEEDS = 2**31
FALSE_ALARMS = 0.001
"""How often the right posterior is called wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Where truths stood among the draws.

    Parameters
    ----------
    ranks
        Shape (data sets, quantities): how many of the draws lie below the truth, ties broken at random. Quantities are
        the share of each class, then the log-likelihood of the unlabelled counts, then the log of the joint density.
    draws
        How many draws each truth was ranked among.
    least_effective
        The smallest effective number of draws of all data sets; ranks mean something only if it is above `draws`.
    classes
        Names of the classes.
    """

    ranks: IntArray
    draws: int
    least_effective: float
    classes: tuple[Name, ...]

    @property
    def p_values(self) -> FloatArray:
        """Shape (quantities,): chi-square test of each, that all ranks come alike."""
        from scipy.special import gammaincc

        expected = len(self.ranks) / (self.draws + 1)
        seen = np.apply_along_axis(np.bincount, 0, self.ranks, minlength=self.draws + 1)
        misfit = ((seen - expected) ** 2 / expected).sum(axis=0)
        p_values: FloatArray = gammaincc(self.draws / 2, misfit / 2)
        return p_values

    @property
    def p_value(self) -> float:
        """The smallest of them, corrected for how many there are."""
        return min(1.0, float(self.p_values.min() * len(self.p_values)))

    @property
    def verdict(self) -> str:
        """Say whether the draws are those of the right posterior, as far as so many data sets can show."""
        if self.least_effective < 2 * self.draws:
            return "The draws are too few to be ranked: ask the engine for more."
        if self.p_value < FALSE_ALARMS:
            return f"The draws are not those of the posterior (p = {self.p_value:.2g}): do not use this engine here."
        return "The draws rank the truth as the right posterior does."

    def rows(self) -> tuple[dict[str, Any], ...]:
        """Return plain values, a row for each quantity: its p-value and how often the truth had each rank."""
        names = [*(f"share of {name}" for name in self.classes), "log-likelihood", "log joint density"]
        seen = np.apply_along_axis(np.bincount, 0, self.ranks, minlength=self.draws + 1).T
        return tuple(
            {"quantity": name, "p_value": float(p_value), "ranks": ranks.tolist()}
            for name, p_value, ranks in zip(names, self.p_values, seen, strict=True)
        )


def calibrate(
    draw: Draw,
    prior: Prior,
    *,
    labeled: Sequence[int],
    unlabeled: int,
    outputs: int | Sequence[Name],
    classes: Sequence[Name] | None = None,
    data_sets: int = 500,
    draws: int = 19,
    seed: int = 0,
) -> Calibration:
    """Draw truths from the prior and data from the truths, and rank each truth among the draws given its data.

    Parameters
    ----------
    draw
        What is put to the test, such as ``lambda counts, prior, seed: infer(counts, prior=prior, seed=seed).draws``.
        It should return at least twice as many effective draws as `draws`, which are taken from them at even spacing.
    prior
        Where truths come from and what `draw` is told; an asymmetric one sees more.
    labeled
        Labelled items of each class; as many classes as entries.
    unlabeled, outputs
        How many there are; of the outputs, or their names.
    classes
        Their names, where they are not 0, 1, …; a prior may go by names.
    data_sets, draws, seed
        How many truths, how many draws each is ranked among, and the seed of it all.

    Notes
    -----
    Ranks of the shares alone cannot tell the posterior from the prior; those of the log-likelihood and of the joint
    density can. Talts, Betancourt, Simpson, Vehtari & Gelman (2018); Modrák et al. (2023).

    Examples
    --------
    >>> from truecount.inference import Exact
    >>> def exact(counts, prior, seed):
    ...     return Exact(50).sample(density(counts, prior), seed)
    >>> result = calibrate(exact, Prior([2, 1]), labeled=[9, 5], unlabeled=20, outputs=2, data_sets=40, draws=3)
    >>> result.ranks.shape, bool(result.p_value > 0.001)
    ((40, 4), True)
    """
    for argument, value in (("data_sets", data_sets), ("draws", draws)):
        _check.whole_number(argument, value, least=1)
    rng = np.random.default_rng(_check.whole_number("seed", seed, least=0))
    empty = _empty(len(labeled), outputs, classes)
    ranks, least = [], np.inf
    for _ in range(data_sets):
        truth = _truth(prior, empty, rng)
        prevalence, confusion = truth
        items = rng.multinomial(labeled, confusion), rng.multinomial(unlabeled, prevalence @ confusion)
        counts = replace(empty, labeled=items[0], unlabeled=items[1])
        drawn = draw(counts, prior, int(rng.integers(SEEDS)))
        ranks.append(_ranks(truth, drawn, density(counts, prior), draws, rng))
        least = min(least, float(drawn.effective.min()))
    return Calibration(ranks=np.array(ranks), draws=draws, least_effective=least, classes=empty.classes)


def _empty(n_classes: int, outputs: int | Sequence[Name], classes: Sequence[Name] | None) -> Counts:
    """Counts of no items, with the names that data sets get."""
    names = outputs if isinstance(outputs, Sequence) else None
    size = _check.whole_number("outputs", outputs if names is None else len(names), least=1)
    return Counts(np.zeros((n_classes, size), np.int64), np.zeros(size, np.int64), classes, names)


def _truth(prior: Prior, empty: Counts, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """A prevalence and a confusion from the prior; known rows as they are."""
    known = prior.known_for(empty)
    rows, shares = prior.confusion_for(empty), prior.prevalence_for(empty)
    if (learned := prior.learned_rows_for(empty)) is not None:
        rows = learned.rows_at(learned.draw(rng, 1))[0]
    if prior.prevalence == LEARNED:
        shares = shares * rng.choice(CONCENTRATIONS)
    confusion = dirichlet(rng, np.where(np.isnan(known), rows, 1.0), ())
    return dirichlet(rng, shares, ()), np.where(np.isnan(known), confusion, known)


def _ranks(
    truth: tuple[FloatArray, FloatArray], drawn: Draws, posed: Density, size: int, rng: np.random.Generator
) -> IntArray:
    """Shape (quantities,): how many of `size` evenly spaced draws lie below the truth."""
    prevalence, confusion = drawn.prevalence[:: drawn.stride], drawn.confusion
    if len(prevalence) < size:
        raise InputError("draw", f"gave {len(prevalence)} draws", f"ranks need {size}", "Let it draw more")
    chosen = np.arange(size) * len(prevalence) // size
    seen = _quantities(prevalence[chosen], confusion[chosen], posed)
    true = _quantities(truth[0], truth[1], posed)
    ties: IntArray = rng.integers((seen == true).sum(axis=0) + 1)
    total: IntArray = (seen < true).sum(axis=0) + ties
    return total


def _quantities(prevalence: FloatArray, confusion: FloatArray, posed: Density) -> FloatArray:
    """Shares, log-likelihood, log joint; along the last axis."""
    heights = [posed.log_likelihood(prevalence, confusion), posed.log_joint(prevalence, confusion)]
    return np.concatenate([prevalence, np.stack(heights, axis=-1)], axis=-1)


Answer: TypeAlias = Callable[[list[Counts]], Sequence[Draws]]
"""Counts of many data sets become draws of each."""
LEVELS = (0.5, 0.8, 0.9, 0.95)
SURE = 3.0
"""Standard errors from the level, beyond which intervals are said not to hold at their level."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Coverage:
    """How often equal-tailed intervals held a fixed truth.

    Parameters
    ----------
    levels
        Shape (levels,): nominal levels.
    held
        Shape (levels, classes): share of the data sets in which they held the truth.
    width
        Shape (levels, classes): their mean width.
    data_sets
        How many there were.
    truth
        Shape (classes,): the shares that data were simulated from.
    classes
        Their names.
    """

    levels: FloatArray
    held: FloatArray
    width: FloatArray
    data_sets: int
    truth: FloatArray
    classes: tuple[Name, ...]

    @property
    def error(self) -> FloatArray:
        """Shape (levels,): standard error of the coverage, if it is nominal."""
        return np.asarray(np.sqrt(self.levels * (1 - self.levels) / self.data_sets))

    @property
    def verdict(self) -> str:
        """Say whether the intervals hold as often as their level says at this truth."""
        short = (self.held < (self.levels - SURE * self.error)[:, None]).any(axis=0)
        if not short.any():
            return "Intervals hold the truth as often as they promise, or more often, at sizes and shares like these."
        names = ", ".join(str(self.classes[row]) for row in np.flatnonzero(short))
        return f"Intervals of {names} hold the truth less often than they promise, at sizes and shares like these."

    def __str__(self) -> str:
        return "\n".join([*value_lines(self.rows()), self.verdict])

    def rows(self) -> tuple[dict[str, Any], ...]:
        """Return plain values, a row for each level and class."""
        return tuple(
            {"level": level, "class": name, "truth": truth, "held": held, "error": error, "width": width}
            for level, error, of_level, widths in zip(
                self.levels.tolist(), self.error.tolist(), self.held.tolist(), self.width.tolist(), strict=True
            )
            for name, truth, held, width in zip(self.classes, self.truth.tolist(), of_level, widths, strict=True)
        )


def coverage_at(
    answer: Answer,
    counts: Counts,
    prevalence: FloatArray,
    confusion: FloatArray,
    *,
    data_sets: int,
    seed: int,
    levels: Sequence[float] = LEVELS,
) -> Coverage:
    """Simulate data of the sizes of these counts from a fixed truth, and see which intervals hold it.

    Parameters
    ----------
    answer
        What is put to the test.
    counts
        Their labelled items in each class and unlabelled items are the sizes; weighted ones have their effective size.
    prevalence, confusion
        The truth.
    data_sets, seed, levels
        How many, from which seed, and nominal levels.
    """
    rng = np.random.default_rng(_check.whole_number("seed", seed, least=0))
    labeled, unlabeled = counts.effective
    sizes, items = np.rint(labeled.sum(axis=1)).astype(int), round(float(unlabeled.sum()))
    outputs = prevalence @ confusion
    drawn = [
        Counts(
            rng.multinomial(sizes, confusion),
            rng.multinomial(items, outputs / outputs.sum()),
            counts.classes,
            counts.outputs,
        )
        for _ in range(data_sets)
    ]
    wanted = np.asarray([_check.level(level) for level in levels])
    tails = np.concatenate([(1 - wanted) / 2, (1 + wanted) / 2])
    ends = np.array([np.quantile(draws.prevalence, tails, axis=0) for draws in answer(drawn)])
    low, high = ends[:, : len(wanted)], ends[:, len(wanted) :]
    return Coverage(
        levels=wanted,
        held=((low <= prevalence) & (prevalence <= high)).mean(axis=0),
        width=(high - low).mean(axis=0),
        data_sets=data_sets,
        truth=prevalence,
        classes=counts.classes,
    )
