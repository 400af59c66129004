"""Where the posterior piles up, and where chains begin: dispersed, and on every mode worth knowing."""

from dataclasses import dataclass, replace
from itertools import chain, combinations

import numpy as np

from truecount._types import BoolArray, FloatArray
from truecount.inference.draws import Draws, dirichlet, draw_rows
from truecount.inference.modes.ascent import Ascent, share_out
from truecount.inference.modes.mode import ascend_together, by_degrees, even_start, one_class_starts, shuffled_starts
from truecount.models import Density

ROUNDS, ARRIVED = 6, 1e-4
"""Rounds of leaps, and nats that may be left to gain: a point that is still under way, as on a ridge, is no mode."""
ROUNDING = 1e-10
"""Nats for each item by which rounding hides what is left to gain."""
APART = 0.02
"""Shares by which modes differ, at the least."""
NEGLIGIBLE = 40.0
"""Nats below which a mode's mass is left out."""
NEGLIGIBLE_CORNER, MOST_CLASSES = 15.0, 8
"""The same for a corner; with more classes than this its mass cannot be judged by its height and width."""
NEARLY_AS_HEAVY = 3.0
"""Nats: a mode whose mass is within this of the largest must have draws about it."""
ON_THE_WAY = (0.2, 0.4, 0.6, 0.8, 0.95)
"""How far points on the way from a mode to a single class are from the mode."""
MOST_EDGES, MOST_CELLS, EDGE_LEAPS = 128, 24, 12
"""Edges looked at, of a confusion with so many cells at most, and leaps upwards along each."""


@dataclass(frozen=True, slots=True)
class Landscape:
    """The modes of a posterior, from the highest down, and the corners in which it may pile up.

    Parameters
    ----------
    density
        The posterior.
    modes
        Shape (modes, classes, 1 + outputs): prevalence and confusion of each.
    corners
        The same for points where one class holds nearly all, those whose mass is not negligible.
    edges
        The same for points where some cells of a prior below 1 are empty: on a logarithmic scale the density runs flat
        towards such an edge, so that it piles up there although it has no maximum.
    log_masses
        Shape (modes,): about how much of the posterior each mode has, up to a constant.
    """

    density: Density
    modes: FloatArray
    corners: FloatArray
    edges: FloatArray
    log_masses: FloatArray

    @property
    def is_plain(self) -> bool:
        """Whether there is one mode and nothing else."""
        return len(self.modes) + len(self.corners) + len(self.edges) == 1

    def is_missed_by(self, prevalence: FloatArray) -> bool:
        """Tell whether draws of the prevalence, shape (draws, classes), all lie to one side of a mode that counts."""
        heavy = self.modes[self.log_masses > self.log_masses.max() - NEARLY_AS_HEAVY, :, 0]
        return bool(((heavy < prevalence.min(axis=0) - APART) | (heavy > prevalence.max(axis=0) + APART)).any())

    @property
    def is_left_by_a_chain(self) -> bool:
        """Whether there is one mode, of so many classes that it may have hardly any mass about it.

        A chain begins there, and its agreement with the others tells what the distance of the draws from it cannot.
        """
        return self.is_plain and self.density.n_classes > MOST_CLASSES

    def judged(self, draws: Draws) -> Draws:
        """Say of chains that agree with each other whether they all missed a mode."""
        told = draws.run.not_converged is not None or self.is_left_by_a_chain
        if told or not self.is_missed_by(draws.prevalence):
            return draws
        missed = "no chain stayed on a mode that was found"
        return replace(draws, run=replace(draws.run, not_converged=missed, status="not-converged"))

    @property
    def prevalence_of_modes(self) -> tuple[tuple[float, ...], ...]:
        """The prevalence of each mode, where there are several."""
        return tuple(map(tuple, self.modes[:, :, 0].tolist())) if len(self.modes) > 1 else ()

    def starting_points(self, chains: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return a prevalence and a confusion for each chain to begin with.

        Rows are drawn from what the labels alone say, with a prevalence that explains the outputs by them. Unless the
        landscape is plain, every second chain begins on a mode or in a corner; of many classes, the last on the mode.
        """
        prevalence, confusion = _by_labels(self.density, chains, rng)
        if self.is_left_by_a_chain:
            prevalence[-1], confusion[-1] = self.modes[0, :, 0], self.modes[0, :, 1:]
        if not self.is_plain:
            taken = np.concatenate([self.modes, self.corners, self.edges])
            taken = taken[np.arange(chains // 2) % len(taken)]
            prevalence[1::2], confusion[1::2] = taken[:, :, 0], taken[:, :, 1:]
        return prevalence, confusion

    def allocations(self) -> FloatArray:
        """Shape (guesses, classes, outputs): items of each class and output, as on each mode, or all in a corner."""
        held = self.corners[:, :, :1] == self.corners[:, :, :1].max(axis=1, keepdims=True)
        one_class, ascent = held * self.density.unlabeled, Ascent(_logarithmic(self.density))
        return np.concatenate([ascent.allocated(self.modes), one_class, ascent.allocated(self.edges)])

    def every_allocation(self) -> FloatArray:
        """Return guesses on modes, corners and edges, and on the way between."""
        return np.concatenate([self.allocations(), self.allocations_on_the_way()])

    def allocations_on_the_way(self) -> FloatArray:
        """Shape (guesses, classes, outputs): items as they lie on the way from the first mode to each class alone.

        The prevalence is on a straight line, and the rows are the best ones there. A shoulder of the posterior has no
        maximum, but mass.
        """
        n_classes, moved_on = self.density.n_classes, _logarithmic(self.density)
        if n_classes > MOST_CLASSES:
            return np.zeros((0, *self.density.rows.shape))
        share = np.array(ON_THE_WAY)[:, None, None]
        points = np.tile(self.modes[0], (len(ON_THE_WAY), n_classes, 1, 1))
        points[..., 0] = (1 - share) * points[..., 0] + share * np.eye(n_classes)
        points = points.reshape(-1, *self.modes[0].shape)
        for unlabeled in by_degrees(moved_on):
            ascent = Ascent(replace(moved_on, unlabeled=unlabeled), keeps_prevalence=True)
            for _ in range(EDGE_LEAPS):
                points = ascent.leap(points)
        mass = _log_mass(self.density, ascent, points)
        return ascent.allocated(points[mass > self.log_masses[0] - NEGLIGIBLE_CORNER])


def survey(density: Density) -> Landscape:
    """Look for modes of the density of the logarithms, which is what chains move on: it has none on the edge."""
    moved_on = _logarithmic(density)
    corners = one_class_starts(moved_on)
    starts = np.concatenate([even_start(moved_on)[None], corners, shuffled_starts(moved_on)])
    points = ascend_together(moved_on, starts, ROUNDS)
    ascent = Ascent(moved_on)
    if len(degrees := by_degrees(moved_on)) > 1:
        points = np.concatenate([points, _climb_by_degrees(moved_on, starts, degrees)])
    mass = _log_mass(density, ascent, points)
    has_arrived = ascent.residual(points) < max(ARRIVED, ROUNDING * ascent.total)
    first, *others = np.lexsort([-mass, ~has_arrived])
    kept = [first]
    for number in others:
        counts = has_arrived[number] and mass[number] > mass[first] - NEGLIGIBLE
        if counts and all(_is_apart(points[number], points[mode]) for mode in kept):
            kept.append(number)
    is_near = _log_mass(density, ascent, corners) > mass[first] - NEGLIGIBLE_CORNER
    corners = corners[is_near & (density.n_classes <= MOST_CLASSES)]
    return Landscape(density, points[kept], corners, _edges(density, points[kept]), mass[kept])


def _climb_by_degrees(density: Density, points: FloatArray, degrees: list[FloatArray]) -> FloatArray:
    """Ascend with few of the unlabelled items, then with more: with very many, steps are short from anywhere else."""
    for unlabeled in degrees:
        points = ascend_together(replace(density, unlabeled=unlabeled), points, ROUNDS)
    return points


def _edges(density: Density, modes: FloatArray) -> FloatArray:
    """Return the edges whose mass is not negligible, apart from the modes and from each other."""
    is_empty = _empty_cells(density)
    if not len(is_empty):
        return modes[:0]
    ascent = Ascent(_logarithmic(density), is_empty)
    points = np.where(np.pad(is_empty, ((0, 0), (0, 0), (1, 0))), 0.0, modes[0])
    points[..., 1:] /= points[..., 1:].sum(axis=-1, keepdims=True)
    for _ in range(EDGE_LEAPS):
        points = ascent.leap(points)
    items = ascent.allocated(np.concatenate([modes, points]))
    mass = _log_mass_of_allocations(density, items)
    kept = list(modes)
    for number in np.argsort(-mass[len(modes) :], kind="stable"):
        is_heavy = mass[len(modes) + number] > mass.max() - NEGLIGIBLE_CORNER
        if is_heavy and all(_is_apart(points[number], other) for other in kept):
            kept.append(points[number])
    return np.array(kept[len(modes) :]).reshape(-1, *modes.shape[1:])


def _empty_cells(density: Density) -> BoolArray:
    """Shape (edges, classes, outputs): cells of a prior below 1 that may be empty at once, first few, then more."""
    n_classes, n_outputs = density.rows.shape
    may_be_empty = (density.rows < 1) & ~density.is_known[:, None] & (density.unlabeled > 0)
    if not may_be_empty.any() or may_be_empty.size > MOST_CELLS:
        return np.zeros((0, n_classes, n_outputs), bool)
    cells = np.argwhere(may_be_empty)
    choices = chain.from_iterable(combinations(range(len(cells)), size) for size in range(1, len(cells) + 1))
    found = []
    for chosen in choices:
        is_empty = np.zeros((n_classes, n_outputs), bool)
        is_empty[tuple(cells[list(chosen)].T)] = True
        if not is_empty.all(axis=0).any() and not is_empty.all(axis=1).any():
            found.append(is_empty)
        if len(found) == MOST_EDGES:
            break
    return np.array(found).reshape(-1, n_classes, n_outputs)


def _log_mass_of_allocations(density: Density, items: FloatArray) -> FloatArray:
    """Log of the posterior mass of allocations about each of (…, classes, outputs), up to a constant.

    Given an allocation all is conjugate, so its mass is a closed form; about as many are as heavy as their standard
    deviations say.
    """
    from scipy.special import gammaln, xlogy

    held, learned = items.sum(axis=-1), ~density.is_known
    by_cell = gammaln(density.rows + items).sum(axis=-1) - gammaln(density.rows.sum(axis=1) + held)
    by_cell = np.where(learned, by_cell, xlogy(items, density.known).sum(axis=-1))
    value = gammaln(density.prevalence + held).sum(axis=-1) + by_cell.sum(axis=-1) - gammaln(items + 1).sum((-2, -1))
    shares = items / np.maximum(density.unlabeled, 1e-300)
    spread = np.pi * density.unlabeled * np.maximum(1 - (shares**2).sum(axis=-2), 0.0) + 1
    return np.asarray(value + 0.5 * (density.n_classes - 1) * np.log(spread).sum(axis=-1))


def _logarithmic(density: Density) -> Density:
    return replace(density, prevalence=density.prevalence + 1, rows=density.rows + 1)


def _is_apart(one: FloatArray, other: FloatArray) -> bool:
    return bool(np.abs(one[:, 0] - other[:, 0]).max() > APART)


def _log_mass(density: Density, ascent: Ascent, points: FloatArray) -> FloatArray:
    """Height and width of each mode: about one over the root of the items behind each coordinate."""
    items = ascent.allocated(points)
    by_class = np.log(density.prevalence + items.sum(axis=-1)).sum(axis=-1)
    by_cell = np.log(density.rows + items).sum(axis=(-2, -1))
    return np.asarray(ascent.height(points) - 0.5 * (by_class + by_cell))


def _by_labels(density: Density, chains: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Rows from the labels alone, and for each chain a prevalence that explains the outputs with them."""
    confusion = np.maximum(draw_rows(rng, density, 0.0, (chains,)), 1e-30)
    prevalence = dirichlet(rng, np.maximum(density.prevalence, 1), (chains,))
    return share_out(density, prevalence, confusion)[0], confusion
