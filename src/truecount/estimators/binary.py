"""Two classes in closed form: the corrected share of Rogan and Gladen, with the interval of Lang and Reiczigel."""

from dataclasses import dataclass
from math import inf, sqrt
from statistics import NormalDist
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from truecount import _check
from truecount._advice import OTHER_INTERVALS, Advice
from truecount._types import FloatArray, Name
from truecount.counts.table import Counts
from truecount.errors import InputError
from truecount.estimators.rates import harden
from truecount.scores.scores import Scores

Rate: TypeAlias = tuple[float, float] | float
"""So many of so many, ``(103, 122)``; or a share that is known, ``0.84``."""


@dataclass(frozen=True, slots=True)
class RoganGladen:
    """The corrected share of `rogan_gladen` as a method for two classes, with the interval of `lang_reiczigel`.

    Parameters
    ----------
    level
        Of the interval.
    sensitivity, specificity
        Rates of the second class, the positive one, and of the first, where they are known; read off the labels by
        default.

    Examples
    --------
    >>> counts = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
    >>> RoganGladen().interval(counts).round(4)
    array([[0.7373, 0.9436],
           [0.0564, 0.2627]])
    """

    level: float = 0.95
    sensitivity: float | None = None
    specificity: float | None = None
    name: ClassVar[str] = "rogan-gladen"
    needs: ClassVar[Literal["counts"]] = "counts"
    caution: ClassVar[str] = ""

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class, which may be below zero or above one."""
        share = rogan_gladen(*self._rates(data))
        return np.array([1 - share, share])

    def interval(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes, 2): the confidence interval of each share."""
        lower, upper = lang_reiczigel(*self._rates(data), level=self.level)
        return np.array([[1 - upper, 1 - lower], [lower, upper]])

    def _rates(self, data: Counts | Scores) -> tuple[tuple[float, float], Rate, Rate]:
        """Return positives, sensitivity and specificity; counts are worth their effective size."""
        counts = harden(data)
        if counts.is_weighted or counts.clusters is not None:
            labeled, unlabeled = counts.effective
            squares = {"labeled_squares": labeled**2, "unlabeled_squares": unlabeled**2}  # no whole numbers
            counts = Counts(labeled, unlabeled, counts.classes, counts.outputs, **squares)
        positive, sensitivity, specificity = read_test(counts, positive=counts.classes[-1])
        return (
            positive,
            sensitivity if self.sensitivity is None else self.sensitivity,
            specificity if self.specificity is None else self.specificity,
        )


def rogan_gladen(positive: tuple[float, float], sensitivity: Rate, specificity: Rate) -> float:
    """Correct the share of positives for the errors of the test.

    ``(p + Sp − 1) / (Se + Sp − 1)``, which may be negative or above one.

    Parameters
    ----------
    positive
        How many of how many the test called positive.
    sensitivity
        How many of how many true positives it found, or the share where it is known.
    specificity
        How many of how many true negatives it passed, or the share where it is known.

    Notes
    -----
    It is unrestricted `ACC` for two classes. Rogan & Gladen, American Journal of Epidemiology 107 (1978).

    Examples
    --------
    >>> round(rogan_gladen((400, 1000), (180, 200), (140, 200)), 4)
    0.1667
    """
    shares = [_share(*rate) for rate in _checked(positive, sensitivity, specificity)]
    return _corrected(*shares)


def lang_reiczigel(
    positive: tuple[float, float], sensitivity: Rate, specificity: Rate, *, level: float = 0.95
) -> tuple[float, float]:
    """Return the confidence interval of the corrected share of positives.

    Parameters
    ----------
    positive, sensitivity, specificity
        As in `rogan_gladen`.
    level
        Share of such intervals that should hold the truth, above 0 and below 1.

    Returns
    -------
    Lower and upper end, cut at 0 and 1.

    Notes
    -----
    Every share is drawn towards a half, as by z²/2 more hits and z²/2 more misses of the test, and one more hit and
    miss of sensitivity and specificity; the delta method's interval around the corrected share moves by a term for its
    skewness. A known sensitivity or specificity adds nothing to the width. Where so few labels cannot tell the test
    from chance, so that the shares drawn towards a half sum to no more than 1, the interval is all of 0 to 1. Not for
    the share of three classes or more: use `bootstrap` or `infer`. Lang & Reiczigel, Preventive Veterinary Medicine 113
    (2014), section 2.

    Examples
    --------
    >>> lower, upper = lang_reiczigel((400, 1000), (180, 200), (140, 200))
    >>> round(lower, 4), round(upper, 4)
    (0.0564, 0.2627)
    """
    z = NormalDist().inv_cdf((1 + _check.level(level)) / 2)
    rates = _checked(positive, sensitivity, specificity)
    drawn = [_towards_half(*rate, more) for rate, more in zip(rates, (z**2 / 2, 1.0, 1.0), strict=True)]
    share, found, passed = (_share(*rate) for rate in drawn)
    if found + passed <= 1:
        return 0.0, 1.0
    spread, found_spread, passed_spread = (_variance(*rate) for rate in drawn)
    middle = _corrected(share, found, passed)
    shift = 2 * z**2 * (middle * found_spread - (1 - middle) * passed_spread)
    variance = spread + middle**2 * found_spread + (1 - middle) ** 2 * passed_spread
    width = z * sqrt(variance) / (found + passed - 1)
    return _cut(middle + shift - width), _cut(middle + shift + width)


def read_test(counts: Counts, *, positive: Name) -> tuple[tuple[float, float], ...]:
    """Read counts of two classes and two outputs as a test: positives, sensitivity and specificity.

    Parameters
    ----------
    counts
        Two classes, and two outputs called like them.
    positive
        The class that the test looks for.

    Examples
    --------
    >>> counts = Counts([[140, 60], [20, 180]], [600, 400], classes=["fail", "pass"])
    >>> read_test(counts, positive="pass")
    ((400.0, 1000.0), (180.0, 200.0), (140.0, 200.0))
    """
    if len(counts.classes) != 2 or not counts.outputs_are_classes:
        raise InputError(
            "counts",
            f"have {len(counts.classes)} classes and {len(counts.outputs)} outputs",
            "a test has two classes and two outputs called like them",
            Advice("Merge classes and outputs, or {}", OTHER_INTERVALS),
        )
    _check.one_of("positive", positive, counts.classes)  # type: ignore[arg-type]
    row = counts.classes.index(positive)
    columns = [counts.outputs.index(counts.classes[place]) for place in (row, 1 - row)]
    table = counts.labeled.astype(float)[[row, 1 - row]][:, columns]
    unlabeled = counts.unlabeled.astype(float)[columns]
    hits, trials = (unlabeled[0], table[0, 0], table[1, 1]), (unlabeled.sum(), *table.sum(axis=1))
    return tuple((float(hit), float(of)) for hit, of in zip(hits, trials, strict=True))


def _checked(positive: Rate, sensitivity: Rate, specificity: Rate) -> list[tuple[float, float]]:
    """Return each rate as hits and trials; a known share has endlessly many trials and is its own hits."""
    named = {"positive": positive, "sensitivity": sensitivity, "specificity": specificity}
    rates = [_rate(name, rate) for name, rate in named.items()]
    found, passed = (_share(*rate) for rate in rates[1:])
    if found + passed <= 1:
        raise InputError(
            "sensitivity",
            f"and specificity are {found:.3g} and {passed:.3g}",
            "they must sum to more than 1, or the test says nothing",
            "Check which class is the positive one",
        )
    return rates


def _rate(name: str, rate: Rate) -> tuple[float, float]:
    hits, trials = rate if isinstance(rate, tuple) else (rate, inf)
    known = name != "positive" and trials == inf and 0 <= hits <= 1
    if not known and not (0 < trials < inf and 0 <= hits <= trials):
        raise InputError(name, f"is {rate!r}", "it must be a count and a total, such as (103, 122)", "Check the counts")
    return hits, trials


def _towards_half(hits: float, trials: float, more: float) -> tuple[float, float]:
    return (hits, trials) if trials == inf else (hits + more, trials + 2 * more)


def _share(hits: float, trials: float) -> float:
    return hits if trials == inf else hits / trials


def _variance(hits: float, trials: float) -> float:
    return 0.0 if trials == inf else hits * (trials - hits) / trials**3


def _cut(end: float) -> float:
    return min(max(end, 0.0), 1.0)


def _corrected(share: float, found: float, passed: float) -> float:
    return (share + passed - 1) / (found + passed - 1)
