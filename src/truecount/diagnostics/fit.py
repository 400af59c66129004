"""The rows and shares under which label shift makes the counts most likely, for many tables at once.

Label shift says that the unlabelled outputs are a mix of the rows P(output | class) behind the labelled ones. The
deviance, ``G² = 2 (log-likelihood of the shares as seen − log-likelihood of the best fit)``, is zero where some mix of
the labelled rows explains the unlabelled outputs exactly, and grows with the distance to the nearest mix.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truecount._simplex import project_to_simplex
from truecount._types import FloatArray
from truecount.inference.modes.ascent import extrapolate
from truecount.models import Density

MOST_TIMES = 10.0
"""Unlabelled items count for so many times the labelled ones at most: beyond that the labels' noise decides."""
LEAST_SHARE = 1e-4
STEPS_BETWEEN_LOOKS = 4
LONGEST_LEAP = 1e4
CONVERGED = 1e-3
"""A deviance that falls by less between two looks has converged, and one that is smaller counts as none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Counts of many data sets of one shape.

    Parameters
    ----------
    labeled
        Shape (sets, classes, outputs): labelled items; zero in rows that are known.
    unlabeled
        Shape (sets, outputs), or (sets, groups, outputs) where several populations share the labelled items.
    known
        Shape (classes, outputs): rows that are known, NaN elsewhere.
    """

    labeled: FloatArray
    unlabeled: FloatArray
    known: FloatArray

    @property
    def is_known(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Shape (classes,): whether a row is known."""
        return ~np.isnan(self.known[:, 0])

    @property
    def saturated(self) -> FloatArray:
        """Shape (sets,): log-likelihood where every sample has shares of its own."""
        seen = _log_likelihood(self.labeled, self.labeled / _at_least_one(self.labeled))
        return seen + _log_likelihood(self.unlabeled, self.unlabeled / _at_least_one(self.unlabeled))

    def take(self, chosen: Any) -> "Tables":
        """Return some of the data sets."""
        return replace(self, labeled=self.labeled[chosen], unlabeled=self.unlabeled[chosen])


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """The best fit of each data set.

    Parameters
    ----------
    deviance
        Shape (sets,): G².
    prevalence
        Shape (sets, groups, classes).
    confusion
        Shape (sets, classes, outputs).
    """

    deviance: FloatArray
    prevalence: FloatArray
    confusion: FloatArray

    @property
    def parts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """All three."""
        return self.deviance, self.prevalence, self.confusion


def tables_of(model: Density, labeled: FloatArray) -> Tables:
    """Return the counts of one data set, where far more unlabelled than labelled items are taken for fewer."""
    seen = np.where(model.is_known[:, None], 0.0, labeled)
    most = MOST_TIMES * max(seen.sum(), 1.0) if not model.is_known.all() else np.inf
    unlabeled = model.unlabeled * min(1.0, most / max(model.unlabeled.sum(), 1.0))
    return Tables(labeled=seen[None], unlabeled=unlabeled[None], known=model.known)


def best_fit(tables: Tables, *, enough: float = 0.0, absent: Sequence[int] = (), budget: int = 600) -> Fit:
    """Fit every data set by expectation-maximisation in leaps.

    From the nearest mix of the labelled rows and, where that is not good enough, once more from even shares: rows that
    are hard to tell apart put the nearest mix near a wrong edge, from which the way up may end far below the top.

    Parameters
    ----------
    tables
        The data sets.
    enough
        Stop with a data set once its deviance is below this.
    absent
        Classes that are to have no share.
    budget
        Steps to take at most from each start; the deviance only falls, so one that ran out of them is too large.
    """
    grouped = tables.unlabeled if tables.unlabeled.ndim == 3 else tables.unlabeled[:, None]
    tables = replace(tables, unlabeled=grouped)
    fit = _fit_from(_nearest_mix(tables, absent), tables, enough, budget)
    left = np.flatnonzero(fit.deviance > enough)
    if len(left):
        part = tables.take(left)
        other = _fit_from(_even_mix(part, absent), part, enough, budget)
        better = other.deviance < fit.deviance[left]
        for one, two in zip(fit.parts, other.parts, strict=True):
            one[left[better]] = two[better]
    return fit


def _fit_from(point: tuple[FloatArray, FloatArray], tables: Tables, enough: float, budget: int) -> Fit:
    """Go uphill from shares and rows of every data set."""
    saturated = tables.saturated
    deviance = 2 * (saturated - _height(tables, *point))
    going = np.flatnonzero(deviance > enough)
    for _ in range(0, budget, 3 * STEPS_BETWEEN_LOOKS):
        if not len(going):
            break
        part, some = tables.take(going), tuple(each[going] for each in point)
        for _ in range(STEPS_BETWEEN_LOOKS):
            some = _leap(part, *some)
        for whole, each in zip(point, some, strict=True):
            whole[going] = each
        now = 2 * (saturated[going] - _height(part, *some))
        moving = (deviance[going] - now > CONVERGED) & (now > enough)
        deviance[going] = now
        going = going[moving]
    deviance = np.where(deviance > CONVERGED, deviance, 0.0)
    return Fit(deviance=deviance, prevalence=point[0], confusion=point[1])


def deviance_at(tables: Tables, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
    """Shape (points,): the deviance of one data set at shares (points, groups, classes) and rows.

    It is that of the best fit or larger.
    """
    one = replace(tables, unlabeled=tables.unlabeled.reshape(1, -1, tables.unlabeled.shape[-1]))
    return np.asarray(2 * (one.saturated - _height(one, prevalence, confusion)))


def _nearest_mix(tables: Tables, absent: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """The labelled rows with something in every cell, and the shares that mix them best by least squares."""
    rows = _labeled_rows(tables)
    outputs = tables.unlabeled / _at_least_one(tables.unlabeled)
    shares = project_to_simplex(outputs @ np.linalg.pinv(rows))
    return _without(np.maximum(shares, LEAST_SHARE), absent), rows


def _even_mix(tables: Tables, absent: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    shares = np.ones((*tables.unlabeled.shape[:-1], tables.labeled.shape[1]))
    return _without(shares, absent), _labeled_rows(tables)


def _labeled_rows(tables: Tables) -> FloatArray:
    rows = tables.labeled + 1 / tables.labeled.shape[-1]
    return np.where(tables.is_known[:, None], tables.known, rows / rows.sum(axis=-1, keepdims=True))


def _without(shares: FloatArray, absent: Sequence[int]) -> FloatArray:
    shares[..., list(absent)] = 0.0
    summed: FloatArray = shares / shares.sum(axis=-1, keepdims=True)
    return summed


def _step(tables: Tables, prevalence: FloatArray, confusion: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Allocate the unlabelled items to classes as the point says, and go where that leads."""
    outputs = prevalence @ confusion
    per_item = np.divide(tables.unlabeled, outputs, out=np.zeros_like(outputs), where=outputs > 0)
    items = prevalence * (per_item @ confusion.swapaxes(-1, -2))
    seen = tables.labeled + confusion * (prevalence.swapaxes(-1, -2) @ per_item)
    total = seen.sum(axis=-1, keepdims=True)
    rows = np.divide(seen, total, out=confusion.copy(), where=(total > 0) & ~tables.is_known[:, None])
    return items / _at_least_one(items), rows


def _leap(tables: Tables, prevalence: FloatArray, confusion: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Take two steps, extrapolate, take one more; stay with the two where that was not uphill (SQUAREM)."""
    once = _step(tables, prevalence, confusion)
    twice = _step(tables, *once)
    points = (_flat(*each) for each in ((prevalence, confusion), once, twice))
    far = extrapolate(*points, longest=LONGEST_LEAP, axes=(1,))
    split = prevalence[0].size
    there = (far[:, :split].reshape(prevalence.shape), far[:, split:].reshape(confusion.shape))
    there = _step(tables, *(each / _at_least_one(each) for each in there))
    better = _height(tables, *there) >= _height(tables, *twice)
    chosen = better[:, None, None]
    return np.where(chosen, there[0], twice[0]), np.where(chosen, there[1], twice[1])


def _flat(prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
    size = len(prevalence)
    return np.concatenate([prevalence.reshape(size, -1), confusion.reshape(size, -1)], axis=1)


def _height(tables: Tables, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
    return _log_likelihood(tables.labeled, confusion) + _log_likelihood(tables.unlabeled, prevalence @ confusion)


def _log_likelihood(counts: FloatArray, shares: FloatArray) -> FloatArray:
    """``Σ count · log(share)`` of each data set; where a count is zero its share may be too."""
    logs = np.log(np.where(counts > 0, np.maximum(shares, 1e-300), 1.0))
    total: FloatArray = (counts * logs).sum(axis=(1, 2))
    return total


def _at_least_one(counts: FloatArray) -> FloatArray:
    """Sums along the last axis, or one where there is nothing to sum."""
    sums = counts.sum(axis=-1, keepdims=True)
    return np.where(sums > 0, sums, 1.0)
