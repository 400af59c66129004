"""Blind spots: classes, and mixes of classes, that the outputs cannot tell apart, by the labels and by the draws."""

from dataclasses import dataclass

import numpy as np

from truecount._chi_square import chi_square_quantile
from truecount._types import FloatArray
from truecount.models import Density

LEVEL = 0.95
"""How often classes whose rows are really equal are found to be alike."""
BARELY = 0.2
"""Standard error of a traded share, from which on classes are said to be barely told apart."""
WIDE = 0.05
"""Width of a share's 95 % interval from which on it matters that classes are not told apart."""
TRADED = 0.5
"""By how much the others of a set fall, on the average, as the share of one rises by one, from which on they trade."""
OPEN = 0.5
"""Standard deviation of how a sum is divided, over that of a division by chance, from which on it is not known."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BlindSpots:
    """What these outputs cannot see, as far as the labels show.

    Parameters
    ----------
    groups
        Positions of classes whose rows of the confusion may as well be equal, group by group.
    directions
        Shape (directions, classes): trades of classes that leave the outputs as they are, up to the labels' noise. What
        is added sums to one, and so does what is removed.
    faint
        Shape (directions, classes): trades that leave so faint a trace that with these labels what was traded is known
        to 20 points at best, one standard error, however many items are counted.
    """

    groups: tuple[tuple[int, ...], ...]
    directions: FloatArray
    faint: FloatArray


def blind_spots(model: Density, labeled: FloatArray) -> BlindSpots:
    """Merge classes whose labels look alike, and find the trades between the rest that no output shows.

    Two rows are alike where their chi-square distance is what sampling makes of equal ones, 19 times in 20. Classes
    without labels are left out: nothing is known of them.
    """
    rows, weights = model.mean_confusion, np.where(model.is_known, np.inf, model.rows.sum(axis=1))
    has_labels = np.flatnonzero((labeled.sum(axis=1) > 0) | model.is_known)
    groups = [[int(row)] for row in has_labels]
    rows, weights = rows[has_labels], weights[has_labels]
    while len(groups) > 1 and (pair := _most_alike(rows, weights)) is not None:
        kept, gone = pair
        share = 0.5 if np.isinf(weights[kept]) else weights[kept] / (weights[kept] + weights[gone])
        rows[kept], weights[kept] = share * rows[kept] + (1 - share) * rows[gone], weights[kept] + weights[gone]
        groups[kept] += groups.pop(gone)
        rows, weights = np.delete(rows, gone, axis=0), np.delete(weights, gone)
    hidden, faint = (_over_classes(found, groups, model.n_classes) for found in _trades(rows, weights))
    alike = tuple(tuple(sorted(group)) for group in groups if len(group) > 1)
    return BlindSpots(groups=alike, directions=hidden, faint=faint)


def _over_classes(found: FloatArray, groups: list[list[int]], n_classes: int) -> FloatArray:
    """Share what is traded of a group among its classes."""
    directions = np.zeros((len(found), n_classes))
    for place, group in enumerate(groups):
        directions[:, group] = found[:, [place]] / len(group)
    return directions


def _most_alike(rows: FloatArray, weights: FloatArray) -> tuple[int, int] | None:
    """The pair of rows that are closest for their noise; None where every pair can be told apart."""
    first, second = np.triu_indices(len(rows), 1)
    heavy = np.where(np.isinf(weights), 1e12, weights)
    share = (heavy[first] / (heavy[first] + heavy[second]))[:, None]
    pooled = np.maximum(share * rows[first] + (1 - share) * rows[second], 1e-12)
    distance = ((rows[first] - rows[second]) ** 2 / pooled).sum(axis=1) / (1 / heavy[first] + 1 / heavy[second])
    closest = int(distance.argmin())
    if rows.shape[1] > 1 and distance[closest] > chi_square_quantile(rows.shape[1] - 1, LEVEL):
        return None
    return int(first[closest]), int(second[closest])


def _trades(rows: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Shapes (directions, rows): trades without any effect on the outputs, and with a faint one; parts sum to one."""
    n_rows, n_outputs = rows.shape
    if n_rows < 2:
        return np.zeros((0, n_rows)), np.zeros((0, n_rows))
    mixed = np.maximum(rows.mean(axis=0), 1e-12)
    sum_zero = np.linalg.qr(np.column_stack([np.ones(n_rows), np.eye(n_rows)[:, 1:]]))[0][:, 1:]
    turned, sizes, _ = np.linalg.svd(sum_zero.T @ (rows / np.sqrt(mixed)))
    vectors = (sum_zero @ turned).T
    lengths = np.abs(vectors).sum(axis=1) / 2
    vectors /= lengths[:, None]
    seen = np.zeros(len(vectors))
    seen[: len(sizes)] = (sizes / lengths[: len(sizes)]) ** 2
    noise = vectors**2 @ ((rows * (1 - rows) / mixed).sum(axis=1) / weights) / max(n_outputs - 1, 1)
    hidden = seen <= noise * chi_square_quantile(max(n_outputs - n_rows + 1, 1), LEVEL) + 1e-20
    if n_rows < 3:
        hidden[:] = False  # a pair is merged where nothing tells it apart
    faint = ~hidden & (noise > BARELY**2 * seen)
    return vectors[hidden], vectors[faint]


def in_draws(spots: BlindSpots, model: Density, prevalence: FloatArray) -> BlindSpots:
    """Keep what the posterior shows too: wide shares whose sum is narrower than they are, and its division unknown.

    Labels that are few make rows look alike which the posterior tells apart well enough: where classes are rare, or
    where what all classes have in common says how the classifier treats them. Rows that are known and equal, and
    directions that fewer outputs than classes leave open, are kept whatever the draws say.

    Parameters
    ----------
    prevalence
        Shape (draws, populations, classes); what one population shows is kept.
    """
    if not (spots.groups or len(spots.directions) or len(spots.faint)):
        return spots
    populations = prevalence.swapaxes(0, 1)
    groups = [
        group
        if model.is_known[list(group)].all()
        else sorted({row for shares in populations for row in _traded(group, shares)})
        for group in spots.groups
    ]
    groups.sort(key=lambda group: -prevalence[..., list(group)].std(axis=0).max(initial=0.0))
    is_open = model.n_outputs < model.n_classes
    hidden = [is_open or _is_seen(each, prevalence, WIDE) for each in spots.directions]
    faint = [_is_seen(each, prevalence, BARELY) for each in spots.faint]
    return BlindSpots(
        groups=tuple(tuple(group) for group in groups if group),
        directions=spots.directions[np.array(hidden, dtype=bool)],
        faint=spots.faint[np.array(faint, dtype=bool)],
    )


def _traded(group: tuple[int, ...], shares: FloatArray) -> list[int]:
    """The classes of a group whose shares are wide and traded for one another; none where the posterior tells them."""
    rows = np.array([row for row in group if _width(shares[:, row]) >= WIDE], dtype=np.int64)
    while len(rows) > 1:
        spread = np.cov(shares[:, rows], rowvar=False)
        fall = 1 - spread.sum(axis=1) / np.diag(spread)
        if fall.min() >= TRADED:
            return rows.tolist() if _split_is_open(shares[:, rows]) else []
        rows = np.delete(rows, int(fall.argmin()))
    return []


def _split_is_open(shares: FloatArray) -> bool:
    """Whether little is known of how the sum of these shares is divided; a split by chance is a flat Dirichlet."""
    number = shares.shape[1]
    split = shares / np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    by_chance = (number - 1) / number**2 / (number + 1)
    return bool(split.var(axis=0).mean() >= OPEN**2 * by_chance)


def _width(draws: FloatArray) -> FloatArray:
    """Width of the 95 % interval."""
    width: FloatArray = np.subtract(*np.quantile(draws, [0.975, 0.025], axis=0))
    return width


def _is_seen(direction: FloatArray, prevalence: FloatArray, least: float) -> bool:
    """Whether one side of a trade rises as the other falls, over at least so much, in one of the populations."""
    sides = (np.maximum(direction, 0.0), np.maximum(-direction, 0.0))
    rises, falls = (prevalence @ side / (side @ side) for side in sides)
    is_trade = np.var(rises + falls, axis=0) <= TRADED * (np.var(rises, axis=0) + np.var(falls, axis=0))
    return bool((is_trade & (_width((rises - falls) / 2) >= least)).any())
