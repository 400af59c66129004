"""Two classes and two outputs: the posterior integrated by quadrature, and drawn from by inverse transform.

Let a and b be P(first output | class) of the two classes and π the share of the first. Given a and b, the unlabelled
items have the shares q = π a + (1 − π) b, and integrating π out leaves a density of a and b alone,

    Beta(a) · Beta(b) · ∫ Dir(π; α) q^n₀ (1 − q)^n₁ dπ,

which is tabulated on a mesh in log odds of a and b that is adapted to it. With a flat prior of the prevalence the
integral is that of a Beta density between b and a, over a − b; with any other it is a quadrature over logit π. A draw
is a cell of the table, a place in that cell, and π given a and b.
"""

from dataclasses import dataclass, replace

import numpy as np

from truecount import _check
from truecount._log_sum import log_sum
from truecount._types import FloatArray
from truecount.inference.draws import Draws, Engine
from truecount.inference.integration.share_given_rows import (
    FURTHEST,
    LOOKS,
    RESOLVED,
    TOLERANCE,
    OutputLikelihood,
    ShareGivenRows,
    around,
    cluster,
    draw_exp_linear,
    growing,
    log_cell_masses,
    log_share,
    reach_of,
    refusal,
    remesh,
    share,
    sharpness,
)
from truecount.inference.run import QuadratureRun
from truecount.models import Density

SIZES = ((49, 33), (97, 65), (193, 129))
"""Nodes of a row's mesh, and of a share's given both rows, tried until the tolerance is met."""
LEAST_KEPT = 0.05
"""Share of draws under a flat prior that must be kept under a mild one; below it the prior is integrated too."""


@dataclass(frozen=True, slots=True)
class Quadrature(Engine):
    """Integrate two classes and two outputs by quadrature; draw independently by inverse transform.

    Parameters
    ----------
    draws
        How many to return; all are effective.

    Notes
    -----
    There is nothing to converge and no mode to miss: the whole range of the confusion is covered, whatever the prior
    and the number of unlabelled items. The table is compared with one of half the resolution, made finer where they
    differ, and refused by name where that does not help; the run says how large the difference is. Other shapes are
    refused.
    """

    draws: int = 4000

    def __post_init__(self) -> None:
        _check.whole_number("draws", self.draws, least=2)

    def sample(self, density: Density, seed: int) -> Draws:
        """Draw, or refuse by name."""
        if density.rows.shape != (2, 2):
            raise refusal(f"it integrates two classes and two outputs, not {density.n_classes} and {density.n_outputs}")
        if density.is_learning:
            raise refusal("it integrates with a fixed prior, and this one is learned")
        rng, size = np.random.default_rng(seed), self.draws
        if found := _with_mild_prior(density, size, rng):
            drawn, table = found
        else:
            table = resolved_table(density)
            drawn = table.draw(size, rng)
        rows = drawn[:2].T
        confusion = np.stack([share(rows), share(-rows)], axis=-1)
        confusion[:, density.is_known] = density.known[density.is_known]
        return Draws(
            prevalence=np.stack([drawn[2], 1 - drawn[2]], axis=1),
            confusion=confusion,
            effective=np.full(2, float(size)),
            run=QuadratureRun(nodes=len(table.first), error=table.error),
        )


def _with_mild_prior(density: Density, size: int, rng: np.random.Generator) -> tuple[FloatArray, "RowTable"] | None:
    """Draw under a flat prior of the prevalence, and keep draws in proportion to the prior that there is.

    That is exact for a prior of 1 or more, whose density has a bound; None where too few would be kept.
    """
    prior = density.prevalence - 1
    if not prior.any() or (prior < 0).any():
        return None
    flat = replace(density, prevalence=np.ones(2))
    highest = sum(part * np.log(part / prior.sum()) for part in prior if part)
    table, tried = resolved_table(flat), 0
    kept: list[FloatArray] = []
    while (found := sum(each.shape[1] for each in kept)) < size:
        if tried and found < LEAST_KEPT * tried:
            return None
        more = int(1.1 * (size - found) * tried / found) + 64 if found else size
        drawn = table.draw(more, rng)
        with np.errstate(divide="ignore"):
            logs = np.log([drawn[2], 1 - drawn[2]])
        heights = prior[prior > 0] @ logs[prior > 0]
        kept.append(drawn[:, np.log(rng.random(more)) < heights - highest])
        tried += more
    return np.concatenate(kept, axis=1)[:, :size], table


@dataclass(frozen=True, slots=True)
class RowTable:
    """The log density of both rows' log odds at the nodes of a mesh; `error` is its distance to a coarser one.

    `edges` are log masses along the cells of the second row's mesh, `masses` the shares of the mass in every cell.
    """

    prevalence: ShareGivenRows
    first: FloatArray
    second: FloatArray
    logs: FloatArray
    edges: FloatArray
    masses: FloatArray
    error: float

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw log odds of both rows (a cell by its mass, then a place in it), and the share; shape (3, size)."""
        sums, edges = np.cumsum(self.masses.ravel()), self.edges
        wanted = rng.random(size) * sums[-1]
        order, chosen = np.argsort(wanted), np.empty(size, dtype=np.intp)
        chosen[order] = np.searchsorted(sums, wanted[order], side="right")  # sorted: a third of the time
        i, j = np.divmod(np.minimum(chosen, sums.size - 1), self.masses.shape[1])
        u = draw_exp_linear(edges[i + 1, j] - edges[i, j], rng.random(size))
        rise = np.diff(self.logs)
        v = draw_exp_linear((1 - u) * rise[i, j] + u * rise[i + 1, j], rng.random(size))
        first = self.first[i] + u * (self.first[i + 1] - self.first[i])
        second = self.second[j] + v * (self.second[j + 1] - self.second[j])
        return np.stack([first, second, self.prevalence.draw(first, second, rng)])


def resolved_table(density: Density) -> RowTable:
    """Tabulate with as many nodes as the tolerance needs, or refuse."""
    prevalence = ShareGivenRows.of(density)
    axes = [_row_nodes(density, row, prevalence.likelihood) for row in (0, 1)]
    axes, marginals = _adapted(density, prevalence, axes)
    error = np.inf
    for size, nodes in SIZES:
        table = _tabulated(density, replace(prevalence, nodes=nodes), axes, marginals, size)
        error = table.error
        if error <= TOLERANCE:
            return table
        axes = [table.first, table.second]
        marginals = _marginals(axes, table.logs)
    raise refusal(f"meshes of {SIZES[-1][0]} and half as many nodes differ by {error:.1%} in total variation")


def _tabulated(
    density: Density, prevalence: ShareGivenRows, axes: list[FloatArray], marginals: list[FloatArray], size: int
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
        for row, (axis, marginal) in enumerate(zip(axes, marginals, strict=True))
    )
    logs, coarse_logs = _row_logs(density, prevalence, [first, second])
    edges = _edge_masses(second, logs)
    masses = _cell_masses(first, edges)
    coarse = _cell_masses(first[::2], _edge_masses(second[::2], coarse_logs[::2, ::2]))
    fine = masses[::2, ::2] + masses[1::2, ::2] + masses[::2, 1::2] + masses[1::2, 1::2]
    difference = 0.5 * np.abs(fine - coarse).sum()
    return RowTable(prevalence, first, second, logs, edges, masses, float(difference))


def _within(axis: FloatArray, likelihood: OutputLikelihood, size: int) -> FloatArray:
    """Return 2 · size nodes around the likelihood's peak, within the ends of an axis."""
    reach = max(axis[-1] - axis[0], 2 * likelihood.spread)
    away = growing(0.3 * likelihood.spread, reach, size)
    return np.clip(likelihood.peak + np.concatenate([-away, away]), axis[0], axis[-1])


def _adapted(
    density: Density, prevalence: ShareGivenRows, axes: list[FloatArray]
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Adapt both axes until their maxima are resolved, or for long enough: the comparison of two tables decides.

    Return the axes, and the log density of each row alone at its nodes.
    """
    free = [row for row in (0, 1) if not density.is_known[row]]
    for look in range(LOOKS):
        logs, _ = _row_logs(density, prevalence, axes)
        marginals = _marginals(axes, logs)
        if look == LOOKS - 1 or all(sharpness(marginals[row][None])[0] <= RESOLVED for row in free):
            break
        axes = list(axes)
        for row in free:
            axes[row] = remesh(axes[row][None], marginals[row][None], len(axes[row]))[0]
    return axes, marginals


def _row_logs(density: Density, prevalence: ShareGivenRows, axes: list[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return the log density at all pairs of nodes, and with a coarser integral over the share."""
    logs, coarse = prevalence.log_integral(*axes)
    for row, axis in enumerate(axes):
        if not density.is_known[row]:
            own = density.rows[row, 0] * log_share(axis) + density.rows[row, 1] * log_share(-axis)
            own = own[:, None] if row == 0 else own
            logs, coarse = logs + own, coarse + own
    return logs - logs.max(), coarse - coarse.max()


def _marginals(axes: list[FloatArray], logs: FloatArray) -> list[FloatArray]:
    """Return the log density of each row alone at its nodes."""
    along = (log_cell_masses(_widths(axis)[None], each) for axis, each in zip(axes[::-1], (logs, logs.T), strict=True))
    return [log_sum(masses, axis=1)[:, 0] for masses in along]


def _edge_masses(second: FloatArray, logs: FloatArray) -> FloatArray:
    """Return the log mass along every cell of the second row's mesh, at each node of the first's."""
    return log_cell_masses(_widths(second)[None], logs)


def _cell_masses(first: FloatArray, edges: FloatArray) -> FloatArray:
    """Return the share of the mass in every cell, from its edges."""
    masses = log_cell_masses(_widths(first)[None], edges.T).T
    masses = np.exp(masses - masses.max())
    total: FloatArray = masses / masses.sum()
    return total


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
    labels, outputs = around(density.rows[row], low, high), cluster(likelihood.peak, likelihood.spread, low, high)
    return np.sort(np.concatenate([labels, outputs]))
