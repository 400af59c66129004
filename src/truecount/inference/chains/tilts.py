"""The odds of one class against all others changed at every output alike, and the outputs' shares kept.

Where rows are sparse and items outnumber labels, the slowest direction is the share of a whole class: its items at all
outputs belong together by its row, so that none of them can leave alone, and no single other class could take them
all. A tilt multiplies the odds of class l at every output by ``e^t`` and leaves the outputs' shares q and the
proportions of the other classes at each output as they are. With ``ρ[l|k]`` the share of class l among the items of
output k, and ``D_k = 1 − ρ[l|k] + e^t ρ[l|k]``,

``ρ[l|k] → e^t ρ[l|k] / D_k``, and ``ρ[m|k] → ρ[m|k] / D_k`` for all others m.

On the log-ratios of ρ that is a translation, so that its Jacobian is 1. With concentrations α of the prevalence, a of
the rows, and sums ``a_l`` and ``a_k`` of a row and of a column, the density is on this line

``e^(t a_l) · Π_k D_k^(−a_k) · Π_m π_m^(α_m − a_m)``, where ``π_m = Σ_k q_k ρ[m|k]``.

It has no walls, and cells that are too small for a float do no harm: only their sums enter. The step t is drawn by
slice sampling (Neal, 2003) with steps outwards, whose width is learned in the warm-up, then by shrinkage.
"""

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.models import Density

PART = 0.5
"""Of the classes, tilted after each sweep."""
FIRST_WIDTH, LEAST_WIDTH, MOST_WIDTH = 4.0, 0.1, 40.0
"""Of the slice before any was seen, and its bounds."""
STEPS_OUT = 10
"""Widths that a slice has at most, shared out between both sides at random, which leaves the posterior invariant."""
MOST_PROPOSALS = 60
SMALLEST = 1e-300


class Tilts:
    """Tilts of chains that move together; how wide the slice of each class is, by those of the warm-up."""

    def __init__(self, n_classes: int) -> None:
        self.widths = np.full(n_classes, FIRST_WIDTH)
        self._moved, self._times = np.zeros(n_classes), np.zeros(n_classes)

    @staticmethod
    def suit(density: Density) -> bool:
        """Whether every row is learned: a tilt changes all of them."""
        return not density.is_known.any()

    def adapt(self) -> None:
        """Take three times the mean step of each class that was tilted for its width."""
        seen = self._times > 0
        widths = 3 * self._moved[seen] / self._times[seen]
        self.widths[seen] = np.clip(widths, LEAST_WIDTH, MOST_WIDTH)
        self._moved[:], self._times[:] = 0.0, 0.0

    def move(
        self,
        prevalence: FloatArray,
        confusion: FloatArray,
        alpha: FloatArray,
        rows: FloatArray,
        rng: np.random.Generator,
    ) -> tuple[FloatArray, FloatArray]:
        """Tilt some classes, drawn at random, one after the other; return prevalence and confusion.

        Prevalence and its concentrations have shape (chains, classes), confusion and its rows (chains, classes,
        outputs).
        """
        joint, n_classes = prevalence[:, :, None] * confusion, prevalence.shape[1]
        line = Line(joint, alpha, rows)
        for own in rng.permutation(n_classes)[: max(1, round(PART * n_classes))]:
            step = line.tilt(int(own), float(self.widths[own]), rng)
            self._moved[own] += np.abs(step).mean()
            self._times[own] += 1
        shares = np.maximum(joint.sum(axis=2), SMALLEST)
        return shares / shares.sum(axis=1, keepdims=True), joint / shares[:, :, None]


class Line:
    """The posterior along a tilt of the joint shares (chains, classes, outputs), which are changed in place."""

    def __init__(self, joint: FloatArray, alpha: FloatArray, rows: FloatArray) -> None:
        self.joint, self.outputs = joint, np.maximum(joint.sum(axis=1), SMALLEST)
        self.of_row, self.of_column = rows.sum(axis=2), rows.sum(axis=1)
        self.of_share = alpha - self.of_row

    def tilt(self, own: int, width: float, rng: np.random.Generator) -> FloatArray:
        """Draw the step of one class in every chain, shape (chains,), and take it."""
        self.own, part = own, self.joint[:, own] / self.outputs
        self.part, self.rest = part, np.maximum(self._others(own) / self.outputs, SMALLEST)
        step = self._drawn(width, rng)
        factor = np.exp(step)[:, None]
        self.joint /= (self.rest + factor * part)[:, None, :]
        self.joint[:, own] *= factor
        return step

    def _others(self, own: int) -> FloatArray:
        """Return joint shares of all other classes, shape (chains, outputs), to full precision however small."""
        return np.asarray(self.joint[:, :own].sum(axis=1) + self.joint[:, own + 1 :].sum(axis=1))

    def log_density(self, step: FloatArray, at: IntArray) -> FloatArray:
        """Of steps of the chains `at`, shape (chains,), up to a constant."""
        factor = np.exp(step)
        divisor = self.rest[at] + factor[:, None] * self.part[at]
        shares = np.matmul(self.joint[at], (1 / divisor)[:, :, None])[:, :, 0]
        shares[:, self.own] *= factor
        height = step * self.of_row[at, self.own] - (self.of_column[at] * np.log(divisor)).sum(axis=1)
        return np.asarray(height + (self.of_share[at] * np.log(np.maximum(shares, SMALLEST))).sum(axis=1))

    def _drawn(self, width: float, rng: np.random.Generator) -> FloatArray:
        chains = len(self.joint)
        open_, step = np.arange(chains), np.zeros(chains)
        level = self.log_density(step, open_) - rng.standard_exponential(chains)
        low = -width * rng.random(chains)
        high, left = low + width, rng.integers(STEPS_OUT, size=chains)
        self._step_out(low, -width, left, level)
        self._step_out(high, width, STEPS_OUT - 1 - left, level)
        for _ in range(MOST_PROPOSALS):
            proposed = low[open_] + rng.random(len(open_)) * (high[open_] - low[open_])
            is_inside = self.log_density(proposed, open_) >= level[open_]
            step[open_[is_inside]] = proposed[is_inside]
            open_, proposed = open_[~is_inside], proposed[~is_inside]
            if not len(open_):
                break
            is_below = proposed < 0
            low[open_[is_below]], high[open_[~is_below]] = proposed[is_below], proposed[~is_below]
        return step

    def _step_out(self, end: FloatArray, width: float, most: IntArray, level: FloatArray) -> None:
        """Move each end outwards, in place, while it is inside the slice, so many times at most."""
        open_, taken = np.flatnonzero(most > 0), 0
        while len(open_):
            open_ = open_[self.log_density(end[open_], open_) > level[open_]]
            end[open_] += width
            taken += 1
            open_ = open_[most[open_] > taken]
