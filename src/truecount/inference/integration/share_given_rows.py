"""The share of two classes given both rows: log densities on a mesh in log odds, integrated over and drawn from."""

from dataclasses import dataclass, replace

import numpy as np

from truecount._advice import AUTO, Advice
from truecount._log_sum import finite_log, log_sum, softmax
from truecount._types import FloatArray, IntArray
from truecount.errors import UnsuitableEngineError
from truecount.inference.draws import tells_nothing_new, within_digits
from truecount.models import Density

TEMPER = 1 / 3
"""Nodes are placed in proportion to this power of the density, which makes the error of linear pieces least."""
IN_TAILS, TAIL = 0.4, 10.0
"""Part of the nodes that are spread evenly over how far the log density falls, and how far down (times the power)."""
RESOLVED = 3.0
"""A maximum whose neighbouring nodes lie less than so many nats below it is resolved."""
IN_REACH = 40.0
"""Maxima so many nats below the highest are left out once they are resolved."""


def log_mean_exp_linear(slope: FloatArray) -> FloatArray:
    """Return ``log ∫₀¹ exp(slope (u − ½)) du``."""
    size = np.maximum(np.abs(slope), 1e-4)
    return 0.5 * size + np.log(-np.expm1(-size)) - np.log(size)


def draw_exp_linear(slope: FloatArray, uniform: FloatArray) -> FloatArray:
    """Draw from the density ``exp(slope · u)`` on [0, 1] by inverse transform."""
    size = np.abs(slope)
    safe = np.maximum(size, 1e-6)
    with np.errstate(divide="ignore"):
        from_top = -np.log1p(uniform * np.expm1(-safe)) / safe
    drawn = np.where(size < 1e-6, uniform, np.minimum(from_top, 1.0))
    return np.where(slope > 0, 1 - drawn, drawn)


def log_cell_masses(widths: FloatArray, logs: FloatArray) -> FloatArray:
    """Return the log mass of every cell; shapes (meshes, nodes − 1) and (meshes, nodes) give that of the first."""
    flat = finite_log(widths) + 0.5 * (logs[:, 1:] + logs[:, :-1])
    return flat + log_mean_exp_linear(np.diff(logs)) + bulge(widths, logs)


def cell_shares(widths: FloatArray, logs: FloatArray) -> FloatArray:
    """Return the mass of every cell, as a share of its mesh's."""
    return softmax(log_cell_masses(widths, logs))


def bulge(widths: FloatArray, logs: FloatArray) -> FloatArray:
    """Return by how much a cell's log mass exceeds that of linear pieces, by the change of slope at its nodes."""
    if logs.shape[1] < 3:
        return np.zeros_like(logs[:, 1:])
    rise, wide = np.diff(logs), np.maximum(widths, 1e-300)
    slopes = rise / wide
    bends = (slopes[:, :-1] - slopes[:, 1:]) / (0.5 * (wide[:, :-1] + wide[:, 1:]))
    bends = np.concatenate([bends[:, :1], bends, bends[:, -1:]], axis=1)
    bulges: FloatArray = 0.25 * (bends[:, 1:] + bends[:, :-1]) * wide**2 / (6 + np.abs(rise))
    return np.clip(bulges, -0.3, 0.3)


def sharpness(logs: FloatArray) -> FloatArray:
    """Return how far the neighbours of a maximum lie below it, for the least resolved one that may matter."""
    rise, edge = np.diff(logs), np.zeros((len(logs), 1))
    above_left, above_right = np.concatenate([edge, rise], axis=1), np.concatenate([-rise, edge], axis=1)
    drops, least = np.maximum(above_left, above_right), np.minimum(above_left, above_right)
    top = logs.max(axis=1, keepdims=True)
    may_matter = (least >= 0) & ((logs == top) | (logs + least > top - IN_REACH))
    worst: FloatArray = np.where(may_matter, drops, 0.0).max(axis=1)
    return worst


def remesh(nodes: FloatArray, logs: FloatArray, size: int) -> FloatArray:
    """Place `size` nodes where the density calls for them; widely around a maximum that is not yet resolved."""
    temper = np.minimum(TEMPER, 2 / np.maximum(sharpness(logs), 1e-9))[:, None]
    falls = np.abs(np.diff(np.maximum(temper * (logs - logs.max(axis=1, keepdims=True)), -TAIL)))
    falls /= np.maximum(falls.sum(axis=1, keepdims=True), 1e-300)
    masses = cell_shares(np.diff(nodes), temper * logs) + IN_TAILS * falls + 1e-12
    sums = np.concatenate([np.zeros((len(nodes), 1)), np.cumsum(masses, axis=1)], axis=1)
    sums /= sums[:, -1:]
    wanted = np.linspace(0, 1, size)[None, :]
    cell, row = find(sums, np.broadcast_to(wanted, (len(nodes), size))), np.arange(len(nodes))[:, None]
    inside = np.clip((wanted - sums[row, cell]) / (sums[row, cell + 1] - sums[row, cell]), 0, 1)
    slope = (temper * np.diff(logs))[row, cell]
    placed = nodes[row, cell] + draw_exp_linear(slope, np.where(slope > 0, 1 - inside, inside)) * (
        nodes[row, cell + 1] - nodes[row, cell]
    )
    placed[:, 0], placed[:, -1] = nodes[:, 0], nodes[:, -1]
    return np.sort(placed, axis=1)


def find(sums: FloatArray, wanted: FloatArray) -> IntArray:
    """Return the cell of each mesh in which each wanted sum lies; `sums` rise from 0 to 1 along the second axis."""
    rows, size = sums.shape
    first = 2.0 * np.arange(rows)[:, None]
    found = np.searchsorted((sums + first).ravel(), (wanted + first).ravel(), side="right").reshape(wanted.shape)
    cells: IntArray = np.clip(found - 1 - size * np.arange(rows)[:, None], 0, size - 2)
    return cells


NEGLIGIBLE = 36.0
"""What lies so many nats below the peak is left out."""
EXPONENTIAL = 1e6
"""Slope² over curvature from which on a tail is exponential; its steps may be too short for a float."""
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(24)
TOLERANCE = 0.01
"""How far (in total variation) a mesh of half as many nodes may differ; the error of the whole mesh is a fraction."""
FURTHEST = 1e5
"""Log odds beyond which a share is 0 or 1."""
LOOKS = 25
"""How often a mesh is adapted before a maximum counts as unresolved."""
NODES_A_SIDE = 12
"""First nodes on each side of a peak."""
PAIRS_AT_ONCE = 2_000
TRIES = 8
"""How often a share of the outputs is drawn until it lies between the rows; then the truncated density is inverted."""


def log_share(odds: FloatArray) -> FloatArray:
    """Return log p of log odds; those of 1 − p are the negative."""
    return np.minimum(odds, 0.0) - np.log1p(np.exp(-np.abs(odds)))


def share(odds: FloatArray) -> FloatArray:
    """Return p of log odds."""
    value: FloatArray = np.exp(log_share(odds))
    return value


def log_difference(high: FloatArray, low: FloatArray) -> FloatArray:
    """Return log(p − q) of two log odds, without loss of digits where p and q are close or nearly 0 or 1."""
    with np.errstate(divide="ignore"):
        return log_share(high) + log_share(-low) + np.log(-np.expm1(low - high))


@dataclass(frozen=True, slots=True)
class OutputLikelihood:
    """``q^n₀ (1 − q)^n₁`` and its integral, where x = logit q; relative to the peak, so that any count will do."""

    first: float
    second: float

    @property
    def peak(self) -> float:
        """Log odds at which ``q^(n₀+1) (1 − q)^(n₁+1)`` is largest."""
        return float(np.log((self.first + 1) / (self.second + 1)))

    @property
    def spread(self) -> float:
        """About the standard deviation of logit q."""
        return float(np.sqrt(1 / (self.first + 1) + 1 / (self.second + 1)))

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Draw q, or 1 − q where that is the smaller one, from ``Beta(n₀ + 1, n₁ + 1)``, with all its digits."""
        gammas = rng.standard_gamma([[self.first + 1], [self.second + 1]], (2, size))
        smaller: FloatArray = gammas[int(self.peak > 0)] / gammas.sum(axis=0)
        return smaller

    def log_height(self, odds: FloatArray) -> FloatArray:
        """Return ``(n₀+1) log q + (n₁+1) log(1 − q)``: the density of logit q, relative to its peak."""
        side, less, total = self._smaller_side()
        away = side * (odds - self.peak)
        ratio = less / total
        change = np.log1p(ratio * np.expm1(np.clip(away, -1.0, 1.0)))
        is_far = np.abs(away) >= 1
        change[is_far] = np.logaddexp(np.log1p(-ratio), np.log(ratio) + away[is_far])
        height: FloatArray = less * away - total * change
        return height

    def log_value(self, odds: FloatArray) -> FloatArray:
        """Return ``n₀ log q + n₁ log(1 − q)`` up to a constant."""
        return self.log_height(odds) - log_share(odds) - log_share(-odds)

    def log_value_at(self, share: FloatArray, rest: FloatArray) -> FloatArray:
        """Return the same of shares and what they leave to one, which may be far smaller than rounding them."""
        total = self.first + self.second + 2
        peaks = (self.first + 1) / total, (self.second + 1) / total
        away = share - peaks[0] if peaks[0] < peaks[1] else peaks[1] - rest
        value = np.zeros_like(away)
        for items, peak, at, off in zip((self.first, self.second), peaks, (share, rest), (away, -away), strict=True):
            if items:
                near = np.abs(off) < 0.5 * peak
                apart = np.log(np.maximum(at, 1e-300) / peak)
                value += items * np.where(near, np.log1p(np.where(near, off / peak, 0.0)), apart)
        return value

    def log_tails(self, odds: FloatArray) -> FloatArray:
        """Return the log of the integral over logit q from `odds` away from the peak."""
        outward = np.where(odds >= self.peak, 1.0, -1.0)
        height = self.log_height(odds)
        at = share(odds)
        slope = np.abs((self.first + 1) * share(-odds) - (self.second + 1) * at)
        curvature = (self.first + self.second + 2) * at * share(-odds)
        is_exponential = slope**2 > EXPONENTIAL * curvature
        reach = 2 * NEGLIGIBLE / (slope + np.sqrt(slope**2 + 2 * NEGLIGIBLE * curvature) + 1e-300)
        for _ in range(6):
            drop = np.maximum(height - self.log_height(odds + outward * reach), 1e-300)
            reach = np.where(is_exponential, reach, reach * np.clip((NEGLIGIBLE / drop) ** 0.6, 0.1, 100.0))
        steps = 0.5 * (_POINTS + 1) * reach[..., None]
        fallen = self.log_height(odds[..., None] + outward[..., None] * steps) - height[..., None]
        total = np.where(is_exponential, 1 / np.maximum(slope, 1e-300), 0.5 * reach * (np.exp(fallen) @ _WEIGHTS))
        tails: FloatArray = height + np.log(total)
        return tails

    def log_between(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return ``log ∫ q^n₀ (1 − q)^n₁ dq / (q₁ − q₀)`` for every pair: the mean likelihood between two shares.

        Parameters
        ----------
        low, high
            Shapes (..., n, 1) and (..., 1, m), in either order of size.
        """
        ends = np.concatenate([low.ravel(), high.ravel(), [self.peak, np.nextafter(self.peak, -np.inf)]])
        tails = self.log_tails(ends)
        whole = np.logaddexp(tails[-2], tails[-1])
        is_swapped = low > high

        def ordered(values: FloatArray) -> tuple[FloatArray, FloatArray]:
            """Return what belongs to the smaller and to the larger share of every pair."""
            of_low, of_high = values[: low.size].reshape(low.shape), values[low.size : -2].reshape(high.shape)
            return np.where(is_swapped, of_high, of_low), np.where(is_swapped, of_low, of_high)

        (x, y), (at_x, at_y) = ordered(ends), ordered(tails)
        miss_x, hit_y = ordered(log_share(-ends))[0], ordered(log_share(ends))[1]
        is_right, is_left = x >= self.peak, y < self.peak
        more = np.where(is_right, at_x, np.where(is_left, at_y, whole))
        less = np.where(is_right, at_y, np.where(is_left, at_x, np.logaddexp(at_x, at_y)))
        with np.errstate(divide="ignore", invalid="ignore"):
            inside = np.log(np.expm1(np.minimum(less - more, 0.0)) / np.expm1(x - y))
        value: FloatArray = more - hit_y - miss_x + inside
        near = np.nonzero(y - x < 1e-3)
        value[near] = self._between_near(x[near], y[near], value[near])
        return value

    def _between_near(self, low: FloatArray, high: FloatArray, apart: FloatArray) -> FloatArray:
        """Return the value in the middle where little changes between two ends, else what was found by subtraction.

        Far from the peak of very many items nothing may be left of the difference.
        """
        middle = 0.5 * (low + high)
        at, rest = share(middle), share(-middle)
        first, second = self.first + 1, self.second + 1
        steepness = np.abs(first * rest - second * at) + np.sqrt((first + second) * at * rest)
        is_flat = ((high - low) * steepness < 1e-3) | ~np.isfinite(apart)
        value: FloatArray = np.where(is_flat, self.log_value(middle), apart)
        return value

    def _smaller_side(self) -> tuple[float, float, float]:
        """Return the sign of the output with fewer items, how many of it there are, and of both."""
        first, second = self.first + 1, self.second + 1
        return (1.0, first, first + second) if first <= second else (-1.0, second, first + second)


def refusal(reason: str) -> UnsuitableEngineError:
    """Say why there is no quadrature."""
    return UnsuitableEngineError(
        "engine", "is Quadrature", reason, Advice("Use {}, which chooses another engine", AUTO)
    )


@dataclass(frozen=True, slots=True)
class ShareGivenRows:
    """The share of the first class given both rows: its prior and the likelihood of the unlabelled items."""

    prior: FloatArray
    likelihood: OutputLikelihood
    nodes: int = 33

    @classmethod
    def of(cls, density: Density) -> "ShareGivenRows":
        """Take the prior and the unlabelled counts.

        A prior that is not flat is integrated over logit π, for which more than `ENOUGH` items leave too few digits.
        They count for so many where that tells the outputs' shares far better than the labels tell the rows.
        """
        is_flat = (density.prevalence == 1).all()
        few = density if is_flat or not tells_nothing_new(density) else within_digits(density)
        return cls(density.prevalence, OutputLikelihood(*few.unlabeled))

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
        meshes = (log_cell_masses(np.diff(nodes[:, ::step]), logs[:, ::step]) for step in (1, 2))
        fine, coarse = (log_sum(masses, axis=1)[:, 0] for masses in meshes)
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
        nodes, logs, masses = self._resolved(first, second)
        sums = np.concatenate([np.zeros((len(nodes), 1)), np.cumsum(masses, axis=1)], axis=1)
        row, cell = np.arange(len(nodes)), find(sums / sums[:, -1:], rng.random((len(nodes), 1)))[:, 0]
        inside = draw_exp_linear(np.diff(logs)[row, cell], rng.random(len(nodes)))
        return share(nodes[row, cell] + inside * np.diff(nodes)[row, cell])

    def _resolved(self, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return nodes, log densities and cell masses, with as many nodes as the tolerance needs, or refuse."""
        for number in (self.nodes, 2 * self.nodes - 1, 4 * self.nodes - 3):
            nodes, logs, unresolved = replace(self, nodes=number).mesh(first, second)
            fine, coarse = (cell_shares(np.diff(nodes[:, ::step]), logs[:, ::step]) for step in (1, 2))
            error = 0.5 * np.abs(fine[:, ::2] + fine[:, 1::2] - coarse).sum(axis=1).mean()
            if error <= TOLERANCE and unresolved.max() <= RESOLVED:
                return nodes, logs, fine
        raise refusal(f"meshes of a class's share differ by {error:.1%} in total variation")

    def log_density(self, odds: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
        """Return the log density of logit π given the rows."""
        small = np.exp(-np.abs(odds))
        both = -np.log1p(small)
        prior = self.prior.sum() * both + self.prior[0] * np.minimum(odds, 0.0) - self.prior[1] * np.maximum(odds, 0.0)
        large = 1 / (1 + small)
        own, other = np.where(odds > 0, large, small * large), np.where(odds > 0, small * large, large)
        outputs = own * share(first) + other * share(second), own * share(-first) + other * share(-second)
        density: FloatArray = prior + self.likelihood.log_value_at(*outputs)
        return density

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
            nodes = remesh(nodes, logs, self.nodes)
            logs = self.log_density(nodes, a, b)
        return nodes, logs, sharpness(logs)

    def _first_nodes(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Return nodes around the prior's and around the likelihood's peak."""
        ends = reach_of(self.prior, self.likelihood)
        prior = around(self.prior, *ends)
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


def around(concentration: FloatArray, low: float, high: float) -> FloatArray:
    """Return nodes around the peak of a Beta, out to both ends."""
    first, second = concentration
    return cluster(float(np.log(first / second)), float(np.sqrt(1 / first + 1 / second)), low, high)


def cluster(centre: float, spread: float, low: float, high: float) -> FloatArray:
    """Return nodes at distances that grow from a quarter of the spread on both sides of a centre, out to both ends."""
    away = growing(0.25 * spread, max(high - low, spread), NODES_A_SIDE)
    nodes: FloatArray = np.clip(np.concatenate([centre - away[::-1], [centre], centre + away]), low, high)
    return nodes


def growing(first: float, last: float, number: int) -> FloatArray:
    """Return distances that grow by the same factor: ``np.geomspace``, which spends most of its time on other cases."""
    low, high = np.log10(first), np.log10(last)
    distances: FloatArray = np.power(10.0, np.arange(number) * ((high - low) / (number - 1)) + low)
    distances[0], distances[-1] = first, last
    return distances
