"""What if the confusion drifted? Bounds for any drift, and posteriors in which unlabelled items move the rows less."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from truecount._log_sum import SMALLEST, finite_log
from truecount._types import FloatArray, IntArray
from truecount.errors import InputError
from truecount.inference.draws import Draws, Engine, draw_rows
from truecount.models import Density

CLOSE = 1e-3
"""How exactly the smallest drift is found."""


def reach(prevalence: FloatArray, confusion: FloatArray, row: int, *, drift: float, largest: bool) -> FloatArray:
    """Shape (draws,): the smallest or largest share of one class that is possible after a drift, draw by draw.

    The outputs keep their shares ``q = φᵀπ``, which is what was seen. Any joint table T of class and output with these
    column sums is possible whose rows, divided by their sums, lie within a total variation of `drift` of φ's. That is
    linear in T: with ``x ≥ φ_l ΣT_l − T_l`` and ``x ≥ 0``, what leaves an output, ``Σ_k x_lk ≤ drift · ΣT_l``.

    Parameters
    ----------
    prevalence, confusion
        Draws, shapes (draws, classes) and (draws, classes, outputs).
    row
        The class.
    drift
        Total variation that every row may have moved, from 0 to 1.
    largest
        Whether to look for the largest share.
    """
    from scipy.optimize import linprog
    from scipy.sparse import block_diag

    outputs = np.einsum("dl,dlk->dk", prevalence, confusion)
    n_draws, n_classes, n_outputs = confusion.shape
    of_class = np.zeros((n_classes, n_outputs))
    of_class[row] = -1.0 if largest else 1.0
    cost = np.concatenate([of_class.ravel(), np.zeros(of_class.size)])
    limits = block_diag([_limits(each, drift) for each in confusion], format="csr")
    sums = block_diag([_column_sums(n_classes, n_outputs)] * n_draws, format="csr")
    found = linprog(
        np.tile(cost, n_draws), A_ub=limits, b_ub=np.zeros(limits.shape[0]), A_eq=sums, b_eq=outputs.ravel()
    )
    if not found.success:
        raise InputError(
            "drift",
            f"is {drift:g}, and its linear programs were not solved ({found.message})",
            "without them nothing is known of what it would do",
            "Try a slightly different drift, or fewer draws",
        )
    tables = found.x.reshape(n_draws, 2, n_classes, n_outputs)[:, 0]
    shares: FloatArray = tables[:, row].sum(axis=1).clip(0.0, 1.0)
    return shares


def _limits(confusion: FloatArray, drift: float) -> Any:
    """The inequalities of one draw, over T and then x, each class after class."""
    from scipy.sparse import csr_matrix

    n_classes, n_outputs = confusion.shape
    size = n_classes * n_outputs
    limits = np.zeros((size + n_classes, 2 * size))
    for row in range(n_classes):
        own = slice(row * n_outputs, (row + 1) * n_outputs)
        limits[own, own] = confusion[row][:, None] - np.eye(n_outputs)
        limits[size + row, own] = -drift
        limits[size + row, size + own.start : size + own.stop] = 1.0
    limits[:size, size:] = -np.eye(size)
    return csr_matrix(limits)


def _column_sums(n_classes: int, n_outputs: int) -> Any:
    from scipy.sparse import csr_matrix

    sums = np.tile(np.eye(n_outputs), n_classes)
    return csr_matrix(np.hstack([sums, np.zeros_like(sums)]))


def interval_under(
    prevalence: FloatArray, confusion: FloatArray, row: int, *, drift: float, level: float
) -> tuple[float, float]:
    """The interval of one class that holds whatever the drift was, within its bound."""
    low, high = (reach(prevalence, confusion, row, drift=drift, largest=largest) for largest in (False, True))
    return float(np.quantile(low, (1 - level) / 2)), float(np.quantile(high, (1 + level) / 2))


def smallest_drift(
    prevalence: FloatArray, confusion: FloatArray, row: int, *, bound: float, is_above: bool, level: float
) -> float | None:
    """The smallest drift at which the interval no longer lies on one side of a bound; None if no drift does that.

    Zero means that it does not lie there even without a drift.
    """
    probability = (1 - level) / 2 if is_above else (1 + level) / 2

    def holds(drift: float) -> bool:
        end = float(np.quantile(reach(prevalence, confusion, row, drift=drift, largest=not is_above), probability))
        return end > bound if is_above else end < bound

    if not holds(0.0):
        return 0.0
    if holds(1.0):
        return None
    low, high = 0.0, 1.0
    while high - low > CLOSE:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return high


STEPS = 20
"""Moves for every share that is free."""
WINDOW = 8.0
"""How far a move looks, in standard deviations."""
MOST_CLIMBS, LEVEL = 60, 1e-2
MOST_ODDS = 690.0
Heights: TypeAlias = Callable[[IntArray, FloatArray], FloatArray]
"""Log-densities of some of the draws, each so far along."""


def cut_draws(model: Density, *, draws: int = 1000, seed: int = 0) -> FloatArray:
    """Shape (draws, classes): shares given rows that only the labels may move.

    Every draw takes the rows from the labels alone, ``φ ~ Dir(β + F)``, and then the shares from ``p(π | φ, n)`` of
    exactly those rows. Reweighting would give the full posterior back; here a misspecified unlabelled side cannot move
    φ.
    """
    rng = np.random.default_rng(seed)
    return draw_shares(rng, model, draw_rows(rng, model, 0.0, (draws,)))


def draw_shares(rng: np.random.Generator, model: Density, confusion: FloatArray) -> FloatArray:
    """Shape (draws, classes): for each φ, a draw of ``p(π | φ, n) ∝ Π_l π_l^(α_l − 1) Π_k (φᵀπ)_k^n_k``.

    Each π starts where the log-density with ``max(α, 1)`` in place of ``α − 1`` is highest, a concave problem, and
    moves along random lines by slice sampling. The curvature there gives the lines their directions and their scale,
    so that moves are as long as the density is wide, however alike the rows are and however near an edge it lies.
    """
    shares = modes = _modes(model, confusion)
    curvature = _slopes(model, confusion, modes)[1]
    root, inverse = _inverted(curvature)
    piled = np.flatnonzero(model.prevalence < 1).tolist()
    for step in range(STEPS * (model.n_classes - 1)):
        normal = np.matmul(root, rng.standard_normal((*modes.shape, 1)))[..., 0]
        relative = _within(normal, inverse, modes)
        length = np.sqrt((relative * np.matmul(curvature, relative[..., None])[..., 0]).sum(axis=1))
        shares = _moved(rng, model, confusion, shares, modes * relative / length[:, None])
        if piled:
            shares = _resized(rng, model, confusion, shares, piled[step % len(piled)])
    return shares


def _modes(model: Density, confusion: FloatArray) -> FloatArray:
    """Maximise by Newton's method, all draws at once; each step changes a share by a part of itself."""
    shares = np.full(confusion.shape[:2], 1 / model.n_classes)
    for _ in range(MOST_CLIMBS):
        slope, curvature = _slopes(model, confusion, shares)
        inverse = _inverted(curvature)[1]
        relative = _within(np.matmul(inverse, slope[..., None])[..., 0], inverse, shares)
        if np.abs(relative).max(initial=0.0) < LEVEL:
            break
        shares = _climbed(model, confusion, shares, relative)
    return shares


def _slopes(model: Density, confusion: FloatArray, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Slope and curvature, downwards, for relative changes of the shares."""
    given_output = shares[..., None] * confusion / _outputs(shares, confusion)[:, None]
    allocated, prior = given_output * model.unlabeled, np.maximum(model.prevalence, 1.0)
    return prior + allocated.sum(axis=2), np.diag(prior) + np.matmul(allocated, given_output.swapaxes(1, 2))


def _inverted(curvature: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the inverse, and before it a root of it."""
    root: FloatArray = np.linalg.inv(np.linalg.cholesky(curvature)).swapaxes(1, 2).astype(np.float64)
    return root, np.matmul(root, root.swapaxes(1, 2))


def _within(relative: FloatArray, inverse: FloatArray, shares: FloatArray) -> FloatArray:
    """Let relative changes leave the sum of the shares as it is, along the least curvature."""
    towards = np.matmul(inverse, shares[..., None])[..., 0]
    excess = (shares * relative).sum(axis=1) / (shares * towards).sum(axis=1)
    level: FloatArray = relative - excess[:, None] * towards
    return level


def _climbed(model: Density, confusion: FloatArray, shares: FloatArray, relative: FloatArray) -> FloatArray:
    """Take the step, or half of it as often as needed not to fall."""
    prior = np.maximum(model.prevalence, 1.0)
    size = np.minimum(1.0, 0.9 / np.maximum(-relative.min(axis=1), 0.9))
    before = _heights(prior, model.unlabeled, shares, _outputs(shares, confusion))
    for _ in range(30):
        tried = shares * (1 + size[:, None] * relative)
        is_lower = _heights(prior, model.unlabeled, tried, _outputs(tried, confusion)) < before
        if not is_lower.any():
            break
        size = np.where(is_lower, size / 2, size)
    better: FloatArray = tried / tried.sum(axis=1, keepdims=True)
    return better


def _moved(
    rng: np.random.Generator, model: Density, confusion: FloatArray, shares: FloatArray, direction: FloatArray
) -> FloatArray:
    """Move along a line by slice sampling."""
    powers, outputs, change = model.prevalence - 1, _outputs(shares, confusion), _outputs(direction, confusion, 0.0)

    def heights(which: IntArray, at: FloatArray) -> FloatArray:
        along = at[:, None]
        moved = shares[which] + along * direction[which], outputs[which] + along * change[which]
        return _heights(powers, model.unlabeled, *moved)

    kept = _sliced(rng, heights, *_window(rng, shares, direction))
    moved = np.maximum(shares + kept[:, None] * direction, SMALLEST)
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


def _resized(
    rng: np.random.Generator, model: Density, confusion: FloatArray, shares: FloatArray, row: int
) -> FloatArray:
    """Move the log-odds of one class by slice sampling, where the others keep their proportions.

    A prior below one piles a share up at zero over many orders of magnitude, which no straight line crosses.
    """
    others = np.delete(shares, row, axis=1)
    rest = others.sum(axis=1, keepdims=True)
    outputs = _outputs(others / rest, np.delete(confusion, row, axis=1), 0.0)
    odds = np.log(shares[:, row] / rest[:, 0]).clip(-MOST_ODDS, MOST_ODDS)
    prior = np.array([model.prevalence[row], model.prevalence.sum() - model.prevalence[row]])

    def heights(which: IntArray, at: FloatArray) -> FloatArray:
        parts = _parts(odds[which] + at)
        return _heights(
            prior, model.unlabeled, parts, parts[:, :1] * confusion[which, row] + parts[:, 1:] * outputs[which]
        )

    width = WINDOW / prior[0]
    start = -width * rng.random(len(odds))
    ends = np.maximum(start, -MOST_ODDS - odds), np.minimum(start + width, MOST_ODDS - odds)
    parts = _parts(odds + _sliced(rng, heights, *ends))
    return np.insert(parts[:, 1:] * others / rest, row, parts[:, 0], axis=1)


def _parts(odds: FloatArray) -> FloatArray:
    """Shape (draws, 2): the share with these log-odds, and what it leaves."""
    return np.asarray(1 / (1 + np.exp(np.column_stack([-odds, odds]))))


def _sliced(rng: np.random.Generator, heights: Heights, low: FloatArray, high: FloatArray) -> FloatArray:
    """Shape (draws,): where each goes, from 0, as its window shrinks towards it until a point is high enough."""
    left, kept = np.arange(len(low)), np.zeros(len(low))
    level = heights(left, kept) - rng.standard_exponential(len(low))
    while len(left):
        tried = low[left] + (high[left] - low[left]) * rng.random(len(left))
        is_kept = heights(left, tried) >= level[left]
        kept[left[is_kept]] = tried[is_kept]
        left, tried = left[~is_kept], tried[~is_kept]
        low[left], high[left] = np.where(tried < 0, tried, low[left]), np.where(tried < 0, high[left], tried)
    return kept


def _window(rng: np.random.Generator, shares: FloatArray, direction: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Place a window at random around each point, within the simplex."""
    ends = np.divide(-shares, direction, out=np.full_like(shares, np.inf), where=direction != 0)
    start = -WINDOW * rng.random(len(shares))
    low = np.where(ends < 0, ends, -np.inf).max(axis=1)
    high = np.where(ends > 0, ends, np.inf).min(axis=1)
    return np.maximum(low, start), np.minimum(high, start + WINDOW)


def _outputs(shares: FloatArray, confusion: FloatArray, least: float = SMALLEST) -> FloatArray:
    found: FloatArray = np.matmul(shares[:, None], confusion)[:, 0]
    return np.maximum(found, least) if least else found


def _heights(powers: FloatArray, items: FloatArray, shares: FloatArray, outputs: FloatArray) -> FloatArray:
    """Log-density at each draw, up to a constant."""
    seen = items > 0
    found: FloatArray = finite_log(outputs[:, seen]) @ items[seen]
    return found + finite_log(shares) @ powers if powers.any() else found


def tempered_draws(model: Density, engine: Engine, *, power: float = 0.5, seed: int = 0) -> Draws:
    """Draw where every unlabelled item counts for a part of one: their likelihood raised to a power."""
    return engine.sample(replace(model, unlabeled=power * model.unlabeled), seed)
