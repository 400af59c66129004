"""Two classes and two outputs: the posterior integrated by quadrature, and drawn from by inverse transform.

Let a and b be P(first output | class) of the two classes and π the share of the first. Given a and b, the unlabelled items
have the shares q = π a + (1 − π) b, and integrating π out leaves a density of a and b alone,

    Beta(a) · Beta(b) · ∫ Dir(π; α) q^n₀ (1 − q)^n₁ dπ,

which is tabulated on a mesh in log odds of a and b that is adapted to it. With a flat prior of the prevalence the
integral is that of a Beta density between b and a, over a − b; with any other it is a quadrature over logit π. A draw is
a cell of the table, a place in that cell, and π given a and b.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from truecount import _check
from truecount._types import FloatArray
from truecount.errors import UnsuitableEngineError
from truecount.inference.draws import Draws, confusion_stride
from truecount.inference.log_odds import (
    NEGLIGIBLE,
    OutputLikelihood,
    log_difference,
    log_share,
    share,
)
from truecount.inference.mesh import (
    RESOLVED,
    draw_exp_linear,
    find,
    log_cell_masses,
    log_sum,
    remesh,
    sharpness,
)
from truecount.models import Density

TOLERANCE = 0.01
"""How far (in total variation) a mesh of half as many nodes may differ; the error of the whole mesh is a fraction."""
SIZES = (49, 97, 193)
"""Nodes of a row's mesh, tried until the tolerance is met."""
FURTHEST = 1e5
"""Log odds beyond which a share is 0 or 1."""
LOOKS = 25
"""How often a mesh may be adapted before it counts as unresolved."""
LEAST_KEPT = 0.05
"""Share of draws under a flat prior that must be kept under a mild one; below it the prior is integrated too."""
NODES_A_SIDE = 12
"""First nodes on each side of a peak."""
PAIRS_AT_ONCE = 2_000
SHARE_NODES = 33
"""Nodes of a share's mesh, given both rows."""
TRIES = 8
"""How often a share of the outputs is drawn until it lies between the rows, before its truncated density is inverted."""


@dataclass(frozen=True, slots=True)
class Quadrature:
    """Integrate two classes and two outputs by quadrature; draw independently by inverse transform.

    Parameters
    ----------
    draws
        How many to return; all are effective.

    Notes
    -----
    There is nothing to converge and no mode to miss: the whole range of the confusion is covered, whatever the prior and
    the number of unlabelled items. The table is compared with one of half the resolution, made finer where they differ,
    and refused by name where that does not help; the record says how large the difference is. Other shapes are refused.
    """

    draws: int = 4000

    def __post_init__(self) -> None:
        _check.whole_number("draws", self.draws, least=2)

    def sample(self, density: Density, seed: int) -> Draws:
        """Draw, or refuse by name."""
        if density.rows.shape != (2, 2):
            raise refusal(f"it integrates two classes and two outputs, not {density.n_classes} and {density.n_outputs}")
        rng, size = np.random.default_rng(seed), self.draws
        drawn, table = _mildly(density, size, rng) or _directly(density, size, rng)
        rows, shares = drawn[:2], drawn[2]
        stride = confusion_stride(size, density)
        kept = rows.T[::stride]
        confusion = np.stack([share(kept), share(-kept)], axis=-1)
        confusion[:, density.is_known] = density.known[density.is_known]
        return Draws(
            prevalence=np.stack([shares, 1 - shares], axis=1),
            confusion=confusion,
            stride=stride,
            effective=np.full(2, float(size)),
            record={"engine": "Quadrature", "nodes": len(table.first), "quadrature_error": table.error},
        )


def refusal(reason: str) -> UnsuitableEngineError:
    """Say why there is no quadrature."""
    return UnsuitableEngineError("engine", "is Quadrature", reason, "Use Auto(), which chooses another engine")


def _directly(density: Density, size: int, rng: np.random.Generator) -> tuple[FloatArray, "RowTable"]:
    """Draw log odds of both rows and the share, shape (3, size); return the rows' table too."""
    table = resolved_table(density)
    rows = table.draw(size, rng)
    return np.stack([*rows, Prevalence.of(density).draw(*rows, rng)]), table


def _mildly(density: Density, size: int, rng: np.random.Generator) -> tuple[FloatArray, "RowTable"] | None:
    """Draw under a flat prior of the prevalence, and keep draws in proportion to the prior that there is.

    That is exact for a prior of 1 or more, whose density has a bound; None where too few would be kept.
    """
    prior = density.prevalence - 1
    if not prior.any() or (prior < 0).any():
        return None
    flat = replace(density, prevalence=np.ones(2))
    highest = sum(part * np.log(part / prior.sum()) for part in prior if part)
    table, kept, tried = resolved_table(flat), [], 0
    while (found := sum(each.shape[1] for each in kept)) < size:
        if tried and found < LEAST_KEPT * tried:
            return None
        more = int(1.1 * (size - found) * tried / found) + 64 if found else size
        rows = table.draw(more, rng)
        drawn = np.stack([*rows, Prevalence.of(flat).draw(*rows, rng)])
        with np.errstate(divide="ignore", invalid="ignore"):
            heights = sum(part * np.log(each) for part, each in zip(prior, (drawn[2], 1 - drawn[2]), strict=True) if part)
        kept.append(drawn[:, np.log(rng.random(more)) < heights - highest])
        tried += more
    return np.concatenate(kept, axis=1)[:, :size], table


def _power(exponents: FloatArray, odds: Any) -> Any:
    """Return ``Σ exponent · log(share)`` of log odds."""
    return exponents[0] * log_share(odds) + exponents[1] * log_share(-odds)


@dataclass(frozen=True, slots=True)
class Prevalence:
    """The share of the first class given both rows: its prior and the likelihood of the unlabelled items."""

    prior: FloatArray
    likelihood: OutputLikelihood

    @classmethod
    def of(cls, density: Density) -> "Prevalence":
        """Take the prior and the unlabelled counts."""
        return cls(density.prevalence, OutputLikelihood(*density.unlabeled))

    @property
    def is_flat(self) -> bool:
        """Whether the prior is flat, so that the integral over the share is a closed form."""
        return bool((self.prior == 1).all())

    def log_integral(self, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``log ∫ Dir(π) q^n₀ (1 − q)^n₁ dπ`` of every pair of rows, shape (n, m), and by half as many nodes."""
        if self.is_flat:
            closed = self.likelihood.log_between(first[:, None], second[None, :])
            return closed, closed
        shape = len(first), len(second)
        pairs = [np.broadcast_to(each, shape).ravel() for each in (first[:, None], second[None, :])]
        parts = -(-len(pairs[0]) // PAIRS_AT_ONCE)
        done = [self._integrated(*part) for part in zip(*(np.array_split(each, parts) for each in pairs), strict=True)]
        fine, coarse = np.concatenate(done, axis=1)
        return fine.reshape(shape), coarse.reshape(shape)

    def _integrated(self, first: FloatArray, second: FloatArray) -> FloatArray:
        nodes, logs, unresolved = self.mesh(first, second)
        fine, coarse = (log_sum(log_cell_masses(np.diff(nodes[:, ::step]), logs[:, ::step])) for step in (1, 2))
        return np.array([fine, np.where(unresolved > RESOLVED, fine + 1, coarse)])

    def draw(self, first: FloatArray, second: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw a share of the first class for every pair of rows."""
        if not self.is_flat:
            return self._inverse_transform(first, second, rng)
        side = -1.0 if self.likelihood.peak > 0 else 1.0
        a, b, shares, rest = share(side * first), share(side * second), np.empty(len(first)), np.arange(len(first))
        for _ in range(TRIES):
            q = self.likelihood.draw(len(rest), rng)
            above, below = q - b[rest], a[rest] - q
            is_between = above * below > 0
            shares[rest[is_between]] = above[is_between] / (above + below)[is_between]
            rest = rest[~is_between]
            if not len(rest):
                return shares
        shares[rest] = self._inverse_transform(first[rest], second[rest], rng)
        return shares

    def _inverse_transform(self, first: FloatArray, second: FloatArray, rng: np.random.Generator) -> FloatArray:
        parts = np.array_split(np.arange(len(first)), -(-len(first) // PAIRS_AT_ONCE))
        return np.concatenate([self._inverted(first[part], second[part], rng) for part in parts])

    def _inverted(self, first: FloatArray, second: FloatArray, rng: np.random.Generator) -> FloatArray:
        nodes, logs, unresolved = self.mesh(first, second)
        if unresolved.max() > RESOLVED:
            raise refusal("the share of a class given its rows is too sharp for a mesh")
        masses = log_cell_masses(np.diff(nodes), logs)
        sums = np.cumsum(np.exp(masses - masses.max(axis=1, keepdims=True)), axis=1)
        sums = np.concatenate([np.zeros((len(nodes), 1)), sums / sums[:, -1:]], axis=1)
        row, cell = np.arange(len(nodes)), find(sums, rng.random((len(nodes), 1)))[:, 0]
        inside = draw_exp_linear(np.diff(logs)[row, cell], rng.random(len(nodes)))
        return share(nodes[row, cell] + inside * np.diff(nodes)[row, cell])

    def log_density(self, odds: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return the log density of logit π given the rows."""
        small = np.exp(-np.abs(odds))
        both = -np.log1p(small)
        prior = self.prior.sum() * both + self.prior[0] * np.minimum(odds, 0.0) - self.prior[1] * np.maximum(odds, 0.0)
        large = 1 / (1 + small)
        own, other = np.where(odds > 0, large, small * large), np.where(odds > 0, small * large, large)
        outputs = own * share(first) + other * share(second), own * share(-first) + other * share(-second)
        return prior + self.likelihood.log_value_at(*outputs)

    def mesh(self, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return nodes of logit π adapted to each pair of rows, and the log density there; shapes (pairs, nodes).

        The third array, shape (pairs,), says by how many nats a maximum still stands out from its neighbours.
        """
        a, b = first[:, None], second[:, None]
        nodes = self._first_nodes(a, b)
        logs, rest = self.log_density(nodes, a, b), np.arange(len(a))
        for _ in range(LOOKS):
            rest = rest[sharpness(logs[rest]) > RESOLVED]
            if not len(rest):
                break
            nodes[rest] = remesh(nodes[rest], logs[rest], nodes.shape[1])
            logs[rest] = self.log_density(nodes[rest], a[rest], b[rest])
        for _ in range(2):
            nodes = remesh(nodes, logs, SHARE_NODES)
            logs = self.log_density(nodes, a, b)
        return nodes, logs, sharpness(logs)

    def _first_nodes(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return nodes around the prior's and around the likelihood's peak."""
        ends = reach_of(self.prior, self.likelihood)
        prior = _around(self.prior, *ends)
        outputs = cluster(self.likelihood.peak, self.likelihood.spread, -FURTHEST, FURTHEST)
        solved = _solved(outputs, a, b)
        is_between = (outputs > np.minimum(a, b)) & (outputs < np.maximum(a, b)) & np.isfinite(solved)
        solved = np.where(is_between, solved, prior[len(prior) // 2])
        everywhere = np.broadcast_to(prior, (len(solved), len(prior)))
        return np.sort(np.clip(np.concatenate([everywhere, solved], axis=1), *ends), axis=1)


def _solved(outputs: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Return logit π where ``π a + (1 − π) b = q``, all by their log odds; of no use where q is not between a and b."""
    with np.errstate(invalid="ignore"):
        above = log_difference(np.maximum(outputs, second), np.minimum(outputs, second))
        return above - log_difference(np.maximum(outputs, first), np.minimum(outputs, first))


@dataclass(frozen=True, slots=True)
class RowTable:
    """The log density of both rows' log odds at the nodes of a mesh; `error` is its distance to a coarser one."""

    first: FloatArray
    second: FloatArray
    logs: FloatArray
    error: float

    def draw(self, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw log odds of both rows: a cell by its mass, then a place in it."""
        edges = _edge_masses(self.second, self.logs)
        masses = _cell_masses(self.first, edges)
        sums = np.cumsum(masses.ravel())
        chosen = np.searchsorted(sums, rng.random(size) * sums[-1], side="right")
        i, j = np.divmod(np.minimum(chosen, masses.size - 1), masses.shape[1])
        u = draw_exp_linear(edges[i + 1, j] - edges[i, j], rng.random(size))
        rise = np.diff(self.logs)
        v = draw_exp_linear((1 - u) * rise[i, j] + u * rise[i + 1, j], rng.random(size))
        first = self.first[i] + u * (self.first[i + 1] - self.first[i])
        second = self.second[j] + v * (self.second[j + 1] - self.second[j])
        return first, second


def resolved_table(density: Density) -> RowTable:
    """Tabulate with as many nodes as the tolerance needs, or refuse."""
    prevalence = Prevalence.of(density)
    axes = [_row_nodes(density, row, prevalence.likelihood) for row in (0, 1)]
    axes, logs = _adapted(density, prevalence, axes)
    error = np.inf
    for size in SIZES:
        table = _tabulated(density, prevalence, axes, logs, size)
        error = table.error
        if error <= TOLERANCE:
            return table
        axes, logs = [table.first, table.second], table.logs
    raise refusal(f"meshes of {SIZES[-1]} and half as many nodes differ by {error:.1%} in total variation")


def _tabulated(
    density: Density, prevalence: Prevalence, axes: list[FloatArray], logs: FloatArray, size: int
) -> RowTable:
    """Place nodes by the densities of each row alone, with more around what the unlabelled outputs say; tabulate."""
    around = (size - 1) // 3
    first, second = (
        axis
        if density.is_known[row]
        else np.sort(
            np.concatenate(
                [
                    remesh(axis[None], marginal[None], size - 2 * (around // 2))[0],
                    _within(axis, prevalence.likelihood, around // 2),
                ]
            )
        )
        for row, (axis, marginal) in enumerate(zip(axes, _marginals(axes, logs), strict=True))
    )
    logs, coarse_logs = _row_logs(density, prevalence, [first, second])
    fine = _cell_masses(first, _edge_masses(second, logs))
    coarse = _cell_masses(first[::2], _edge_masses(second[::2], coarse_logs[::2, ::2]))
    fine = fine[::2, ::2] + fine[1::2, ::2] + fine[::2, 1::2] + fine[1::2, 1::2]
    difference = 0.5 * np.abs(fine - coarse).sum()
    return RowTable(first, second, logs, float(difference))


def _within(axis: FloatArray, likelihood: OutputLikelihood, size: int) -> FloatArray:
    """Return 2 · size nodes around the likelihood's peak, within the ends of an axis."""
    reach = max(axis[-1] - axis[0], 2 * likelihood.spread)
    away = np.geomspace(0.3 * likelihood.spread, reach, size)
    return np.clip(likelihood.peak + np.concatenate([-away, away]), axis[0], axis[-1])


def _adapted(
    density: Density, prevalence: Prevalence, axes: list[FloatArray]
) -> tuple[list[FloatArray], FloatArray]:
    """Adapt both axes until their maxima are resolved, or for long enough: the comparison of two tables decides."""
    free = [row for row in (0, 1) if not density.is_known[row]]
    for look in range(LOOKS):
        logs, _ = _row_logs(density, prevalence, axes)
        marginals = _marginals(axes, logs)
        if look == LOOKS - 1 or all(sharpness(marginals[row][None])[0] <= RESOLVED for row in free):
            break
        axes = list(axes)
        for row in free:
            axes[row] = remesh(axes[row][None], marginals[row][None], len(axes[row]))[0]
    return axes, logs


def _row_logs(density: Density, prevalence: Prevalence, axes: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return the log density at all pairs of nodes, and with a coarser integral over the share."""
    logs, coarse = prevalence.log_integral(*axes)
    for row, axis in enumerate(axes):
        if not density.is_known[row]:
            own = _power(density.rows[row], axis)
            own = own[:, None] if row == 0 else own
            logs, coarse = logs + own, coarse + own
    return logs - logs.max(), coarse - coarse.max()


def _marginals(axes: list[FloatArray], logs: FloatArray) -> list[FloatArray]:
    """Return the log density of each row alone at its nodes."""
    return [log_sum(log_cell_masses(_widths(axes[1])[None], logs)), log_sum(log_cell_masses(_widths(axes[0])[None], logs.T))]


def _edge_masses(second: FloatArray, logs: FloatArray) -> FloatArray:
    """Return the log mass along every cell of the second row's mesh, at each node of the first's."""
    return log_cell_masses(_widths(second)[None], logs)


def _cell_masses(first: FloatArray, edges: FloatArray) -> FloatArray:
    """Return the share of the mass in every cell, from its edges."""
    masses = log_cell_masses(_widths(first)[None], edges.T).T
    masses = np.exp(masses - masses.max())
    return masses / masses.sum()


def _widths(axis: FloatArray) -> FloatArray:
    """Return the widths of cells; a known row is one point, of weight one."""
    widths = np.diff(axis)
    return widths if widths.any() else np.ones_like(widths)


def _row_nodes(density: Density, row: int, likelihood: OutputLikelihood) -> FloatArray:
    """Return first nodes of a row: around what its labels say and around what the unlabelled outputs say."""
    if density.is_known[row]:
        with np.errstate(divide="ignore"):
            odds = np.log(density.known[row, 0]) - np.log(density.known[row, 1])
        return np.full(3, np.clip(odds, -FURTHEST, FURTHEST))
    low, high = reach_of(density.rows[row], likelihood)
    labels, outputs = _around(density.rows[row], low, high), cluster(likelihood.peak, likelihood.spread, low, high)
    return np.sort(np.concatenate([labels, outputs]))


def reach_of(concentration: FloatArray, likelihood: OutputLikelihood) -> tuple[float, float]:
    """Return the log odds beyond which nothing is left of a share, however the unlabelled items pull at it.

    They pull no harder than if all were of one output: beyond the log odds at which that is balanced, the density falls
    as its concentration says.
    """
    first, second = concentration
    items = likelihood.first + likelihood.second
    low = np.log(first / max(second, first + items)) - 3 - 1.2 * NEGLIGIBLE / first
    high = np.log(max(first, second + items) / second) + 3 + 1.2 * NEGLIGIBLE / second
    return max(float(low), -FURTHEST), min(float(high), FURTHEST)


def _around(concentration: FloatArray, low: float, high: float) -> FloatArray:
    """Return nodes around the peak of a Beta, out to both ends."""
    first, second = concentration
    return cluster(float(np.log(first / second)), float(np.sqrt(1 / first + 1 / second)), low, high)


def cluster(centre: float, spread: float, low: float, high: float) -> FloatArray:
    """Return nodes at distances that grow from a quarter of the spread on both sides of a centre, out to both ends."""
    away = np.geomspace(0.25 * spread, max(high - low, spread), NODES_A_SIDE)
    return np.clip(np.concatenate([centre - away[::-1], [centre], centre + away]), low, high)
