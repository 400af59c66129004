"""The highest point of the posterior, and a proof that it has arrived."""

from dataclasses import dataclass, replace

import numpy as np

from truecount._types import FloatArray
from truecount.errors import InputError
from truecount.inference.modes.ascent import Ascent
from truecount.models import Density

LEAPS_BETWEEN_CHECKS = 8
MOST_RIVALS = 24
"""How many other points an ascent starts from, at most."""
SHUFFLES = 8
"""How many of them are chosen by chance."""
RIVAL_ROUNDS = 12
"""Rounds of leaps that an ascent from another point gets before it is judged."""
RIVAL_STEPS = 5_000
"""Steps that the best of them may take after that."""
MOST_STEPS, FEWEST_STEPS, CELLS_OF_STEPS = 100_000, 2_000, 2_000_000_000
"""Bounds of the usual budget of steps, and the cells of all its steps together: of a thousand classes, minutes."""
CELLS_OF_STARTS = 2_000_000
"""Cells of all such points together: of very many classes fewer points are tried."""
CLOSE = 1e-3
"""Nats, and shares, below which two modes are one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeRecord:
    """Where the density is highest.

    Parameters
    ----------
    prevalence
        Shape (classes,).
    confusion
        Shape (classes, outputs); known rows as they are.
    iterations
        Steps of expectation-maximisation.
    kkt_residual
        Nats that could be gained, at most, by moving the prevalence, or any one row of the confusion, anywhere while
        all else is held. It is zero exactly where the Karush-Kuhn-Tucker conditions hold.
    is_converged
        Whether that is negligible.
    is_unique
        Whether no other prevalence next to this one is as high.
    rival
        Shape (classes,): the prevalence of the second highest mode seen; None where none was.
    rival_gap
        Nats by which it is lower.
    """

    prevalence: FloatArray
    confusion: FloatArray
    iterations: int
    kkt_residual: float
    is_converged: bool
    is_unique: bool
    rival: FloatArray | None = None
    rival_gap: float | None = None


def find_mode(density: Density, *, budget: int | None = None) -> ModeRecord:
    """Find the maximum a posteriori point of prevalence and confusion.

    It maximises ``Σ (a_l - 1) log π_l + Σ (b_lk - 1) log φ_lk + Σ n_k log q_k``, where ``q = φᵀπ`` and a and b are the
    concentrations of prevalence and rows (labels included). Each step allocates the unlabelled items to classes as the
    point says, and moves to what the allocation says (expectation-maximisation); every two steps a leap extrapolates
    them, if that leads higher (SQUAREM). Where unlabelled items outnumber labels by far the ridge is too narrow to leap
    along, so they are let in by degrees.

    Parameters
    ----------
    density
        With no exponent below zero, that is no concentration below one where nothing was counted.
    budget
        Steps to take at most; None takes a bound that falls with the size of the problem.

    Notes
    -----
    The density has one peak in the prevalence for any confusion, and in the confusion for any prevalence, but may have
    several in both together. The ascent starts from even shares, and, unless it ends where nothing can be higher, again
    from points where one class holds nearly all and from some chosen by chance; the highest mode is returned, the
    second highest recorded. A mode that none of these leads to stays unseen.
    """
    if density.is_learning:
        found, needed = "has a prior that is learned", "a mode is that of fixed concentrations of 1 or more"
        raise InputError("prior", found, needed, "Pass Prior(confusion='flat')")
    if budget is None:
        budget = int(np.clip(CELLS_OF_STEPS // density.rows.size, FEWEST_STEPS, MOST_STEPS))
    ascent = Ascent(density)
    point, iterations = _climb(density, even_start(density), budget)
    rival: FloatArray | None = None
    if iterations < budget and density.unlabeled.any() and ascent.height(point) < ascent.ceiling() - CLOSE:
        point, rival, more = _against_rivals(density, ascent, point, budget - iterations)
        iterations += more
    residual = float(ascent.residual(point))
    return ModeRecord(
        prevalence=point[:, 0].copy(),
        confusion=point[:, 1:].copy(),
        iterations=iterations,
        kkt_residual=residual,
        is_converged=residual <= ascent.tolerance,
        is_unique=ascent.is_peak(point),
        rival=None if rival is None else rival[:, 0].copy(),
        rival_gap=None if rival is None else float(ascent.height(point) - ascent.height(rival)),
    )


def even_start(density: Density) -> FloatArray:
    """Even shares, and rows that the labels suggest, with something in every cell."""
    seen = density.rows - 1 + 1 / density.n_outputs
    rows = np.where(density.is_known[:, None], density.known, seen / seen.sum(axis=1, keepdims=True))
    return np.hstack([np.full((density.n_classes, 1), 1 / density.n_classes), rows])


def one_class_starts(density: Density) -> FloatArray:
    """Nearly all items in one class, its row bent to explain them; shape (starts, classes, 1 + outputs).

    With very many classes, those whose bent rows explain the outputs best by the labels alone.
    """
    even, labels = even_start(density), density.rows.sum(axis=1)
    explained = density.rows / labels[:, None] @ density.unlabeled
    tried = np.sort(np.argsort(-explained, kind="stable")[: _affordable(MOST_RIVALS, density)])
    points = np.repeat(even[None], len(tried), axis=0)
    points[:, :, 0] = 0.02 / density.n_classes
    points[np.arange(len(tried)), tried, 0] += 0.98
    bent = density.rows + density.unlabeled + 1 / density.n_outputs
    learned = ~density.is_known[tried]
    points[np.flatnonzero(learned), tried[learned], 1:] = (bent / bent.sum(axis=1, keepdims=True))[tried[learned]]
    return points


def shuffled_starts(density: Density) -> FloatArray:
    """Items of each output given to classes by chance, the same ones every time; shape as of `one_class_starts`.

    Classes and outputs are dealt with in an order of their own, so that naming them otherwise changes nothing.
    """
    rng, rows, unlabeled = np.random.default_rng(0), density.rows, density.unlabeled
    classes = np.argsort(np.lexsort([(rows**2).sum(axis=1), rows.sum(axis=1), rows @ unlabeled]))
    outputs = np.argsort(np.lexsort([(rows**2).sum(axis=0), rows.sum(axis=0), unlabeled]))
    size = _affordable(SHUFFLES, density), density.n_outputs
    shares = rng.dirichlet(np.full(density.n_classes, 0.5), size)
    items = shares[:, outputs][:, :, classes].transpose(0, 2, 1) * unlabeled
    seen = rows - 1 + 1 / density.n_outputs + items
    confusion = np.where(density.is_known[:, None], density.known, seen / seen.sum(axis=2, keepdims=True))
    held = items.sum(axis=2, keepdims=True) + 1 / density.n_classes
    return np.concatenate([held / held.sum(axis=1, keepdims=True), confusion], axis=2)


def _affordable(most: int, density: Density) -> int:
    return max(2, min(most, CELLS_OF_STARTS // density.rows.size))


def ascend_together(density: Density, points: FloatArray, rounds: int) -> FloatArray:
    """Take so many rounds of ascending leaps from each point; all items at once, so that modes stay apart."""
    ascent = Ascent(density)
    for _ in range(rounds):
        for _ in range(LEAPS_BETWEEN_CHECKS):
            points = ascent.leap(points)
        if (ascent.residual(points) <= ascent.tolerance).all():
            break
    return points


def by_degrees(density: Density) -> list[FloatArray]:
    """Unlabelled counts scaled down to about the labels' number, then ten times as many each time, then all."""
    counts = [density.unlabeled]
    labels = max(density.rows[~density.is_known].sum(), 1.0)
    while counts[-1].sum() > 10 * labels and not density.is_known.all():
        counts.append(counts[-1] / 10)
    return counts[::-1]


def _climb(density: Density, point: FloatArray, budget: int, *, gently: bool = True) -> tuple[FloatArray, int]:
    """Ascend until there is nothing to gain or the budget is used up; the point reached and the steps taken."""
    iterations = 0
    for unlabeled in by_degrees(density) if gently else [density.unlabeled]:
        ascent = Ascent(replace(density, unlabeled=unlabeled))
        while iterations < budget and ascent.residual(point) > ascent.tolerance:
            for _ in range(LEAPS_BETWEEN_CHECKS):
                point = ascent.leap(point)
            iterations += 3 * LEAPS_BETWEEN_CHECKS
    return point, iterations


def _against_rivals(
    density: Density, ascent: Ascent, point: FloatArray, budget: int
) -> tuple[FloatArray, FloatArray | None, int]:
    """Ascend from elsewhere too: the highest point, the second highest that lies apart, and the steps taken."""
    starts = np.concatenate([one_class_starts(density), shuffled_starts(density)])
    others, steps = _still_apart(density, ascent, starts, point)
    if not others:
        return point, None, steps
    challenger = max(others, key=ascent.height)
    if _is_apart(challenger, point):
        challenger, more = _climb(density, challenger, min(budget, RIVAL_STEPS), gently=False)
        steps += more
    has_arrived = ascent.residual(challenger) <= ascent.tolerance
    if has_arrived and ascent.height(challenger) > ascent.height(point) + CLOSE:
        point, challenger = challenger, point
    converged = [other for other in others if ascent.residual(other) <= CLOSE]
    rivals = [other for other in (challenger, *converged) if _is_apart(other, point)]
    return point, max(rivals, key=ascent.height, default=None), steps


def _still_apart(
    density: Density, ascent: Ascent, points: FloatArray, highest: FloatArray
) -> tuple[list[FloatArray], int]:
    """Ascend from each point for some rounds, and leave out those that reached the highest one; count the steps."""
    rounds = 0
    while len(points) and rounds < RIVAL_ROUNDS:
        points, rounds = ascend_together(density, points, 1), rounds + 1
        is_there = np.abs(points[..., 0] - highest[:, 0]).max(axis=1) <= CLOSE
        is_there &= np.abs(ascent.height(points) - ascent.height(highest)) <= CLOSE
        points = points[~is_there]
    return list(points), 3 * LEAPS_BETWEEN_CHECKS * rounds


def _is_apart(one: FloatArray, other: FloatArray) -> bool:
    return bool(np.abs(one[:, 0] - other[:, 0]).max() > CLOSE)
