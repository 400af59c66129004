"""The odds of one class against all others changed at its outputs alike, and the outputs' shares kept.

Where rows are sparse and items outnumber labels, the slowest direction is the share of a whole class: its items at all
outputs belong together by its row, so that none of them can leave alone, and no single other class could take them
all. A tilt multiplies the odds of class l by ``e^t`` at every output, or at those where it may have items, and leaves
the outputs' shares q and the proportions of the other classes at each output as they are. With ``ρ[l|k]`` the share of
class l among the items of output k, and ``D_k = 1 − ρ[l|k] + e^t ρ[l|k]``,

``ρ[l|k] → e^t ρ[l|k] / D_k``, and ``ρ[m|k] → ρ[m|k] / D_k`` for all others m.

On the log-ratios of ρ that is a translation, so that its Jacobian is 1. With concentrations α of the prevalence and a
of the rows, and sums ``a_m`` of a row, the density on this line is, with k over the outputs that are tilted,

``Π_k e^(t a_lk) D_k^(−Σ_m a_mk) · Π_m π_m^(α_m − a_m)``, where ``π_m = Σ q_k ρ[m|k]`` over all outputs.

It has no walls, and cells that are too small for a float do no harm: only their sums enter. The step t is drawn by
slice sampling (Neal, 2003) with steps outwards, whose width is learned in the warm-up, then by shrinkage.

Of very many outputs a class has hardly anything at most. There rows are drawn with empty cells
(`draws.sparse_dirichlet`), which stay empty, and a tilt changes at each output the odds of the class against a few
*rivals*, those with most labels and items there, while all others keep their joint shares. The density is the same,
with m in the power of ``D_k`` over the class and its rivals alone.
"""

from collections.abc import Callable

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.inference.chains.coordinates import expected_items
from truecount.models import Density

PART, MOST_TILTS = 0.5, 200
"""Of the classes, tilted after each sweep, and how many at most."""
MANY_OUTPUTS, RIVALS = 150, 16
"""Outputs beyond which a class is tilted against some others only, and how many these are at each output."""
FIRST_WIDTH, LEAST_WIDTH, MOST_WIDTH = 4.0, 0.1, 40.0
"""Of the slice before any was seen, and its bounds."""
STEPS_OUT = 10
"""Widths that a slice has at most, shared out between both sides at random, which leaves the posterior invariant."""
MOST_PROPOSALS = 60
SMALLEST = 1e-300


class Tilts:
    """Tilts of chains that move together; how wide the slice of each class is, by those of the warm-up."""

    def __init__(self, density: Density) -> None:
        self.rivals: IntArray | None = None
        if has_many_outputs(density):
            held = (density.rows + expected_items(density)).T
            self.rivals = np.argsort(-held, axis=1, kind="stable")[:, :RIVALS]
        self.widths = np.full(density.n_classes, FIRST_WIDTH)
        self._moved, self._times = np.zeros(density.n_classes), np.zeros(density.n_classes)

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
        joint = np.ascontiguousarray((prevalence[:, :, None] * confusion).transpose(0, 2, 1))
        columns, exponents, shares = rows.sum(axis=1), alpha - rows.sum(axis=2), joint.sum(axis=1)
        chosen = rng.permutation(len(self.widths))[: max(1, min(MOST_TILTS, round(PART * len(self.widths))))]
        for own in chosen.tolist():
            if self.rivals is None:
                line: Line | RivalLine = Line(joint, own, rows[:, own].sum(axis=1), columns, exponents)
            else:
                line = RivalLine(joint, shares, own, self.rivals, rows, exponents)
            step = drawn_step(line.log_density, len(joint), self.widths[own], rng)
            line.tilt(step)
            self._moved[own] += np.abs(step).mean()
            self._times[own] += 1
        shares = np.maximum(joint.sum(axis=1), SMALLEST)
        return shares / shares.sum(axis=1, keepdims=True), joint.transpose(0, 2, 1) / shares[:, :, None]


class Line:
    """The posterior along a tilt of one class at all outputs against all others.

    Parameters
    ----------
    joint
        Shape (chains, outputs, classes): joint shares, which a tilt changes in place.
    own
        The class.
    of_odds, of_divisor, of_share
        Exponents of the density: of the class's odds, (chains,), of the divisors, (chains, outputs), and of the shares,
        (chains, classes).
    """

    def __init__(
        self, joint: FloatArray, own: int, of_odds: FloatArray, of_divisor: FloatArray, of_share: FloatArray
    ) -> None:
        self.joint, self.own = joint, own
        self.of_odds, self.of_divisor, self.of_share = of_odds, of_divisor, of_share
        others = joint[:, :, :own].sum(axis=2) + joint[:, :, own + 1 :].sum(axis=2)
        outputs = np.maximum(others + joint[:, :, own], SMALLEST)
        self.part, self.rest = joint[:, :, own] / outputs, np.maximum(others / outputs, SMALLEST)

    def tilt(self, step: FloatArray) -> None:
        """Take a step of each chain."""
        factor = np.exp(step)[:, None]
        self.joint /= (self.rest + factor * self.part)[:, :, None]
        self.joint[:, :, self.own] *= factor

    def log_density(self, step: FloatArray, chains: IntArray) -> FloatArray:
        """Of steps of some chains, shape (chains,), up to a constant."""
        at = chains if len(chains) < len(self.joint) else slice(None)  # a slice copies nothing
        factor = np.exp(step)
        divisor = self.rest[at] + factor[:, None] * self.part[at]
        shares = np.matmul((1 / divisor)[:, None, :], self.joint[at])[:, 0]
        shares[:, self.own] *= factor
        height = step * self.of_odds[at] - (self.of_divisor[at] * np.log(divisor)).sum(axis=1)
        return np.asarray(height + (self.of_share[at] * np.log(np.maximum(shares, SMALLEST))).sum(axis=1))


class RivalLine:
    """The same against some classes at each output; empty cells of the class stay empty, and their outputs as they are.

    Parameters
    ----------
    joint, shares
        Joint shares, (chains, outputs, classes), and those of the classes, which a tilt changes in place.
    own, rivals
        The class, and those that it is tilted against, shape (outputs, rivals).
    rows, of_share
        Concentrations of the rows, (chains, classes, outputs), and the exponents of the shares.
    """

    def __init__(
        self,
        joint: FloatArray,
        shares: FloatArray,
        own: int,
        rivals: IntArray,
        rows: FloatArray,
        of_share: FloatArray,
    ) -> None:
        self.joint, self.shares, self.own, self.of_share = joint, shares, own, of_share
        mine = joint[:, :, own]
        most = max(1, int((mine > 0).sum(axis=1).max()))
        self.at = np.argsort(mine <= 0, axis=1, kind="stable")[
            :, :most
        ]  # beyond those with a share, outputs without one
        self.chain = np.arange(len(joint))[:, None]
        self.rivals, self.mine = rivals[self.at], mine[self.chain, self.at]
        others = joint[self.chain[:, :, None], self.at[:, :, None], self.rivals]
        is_own = self.rivals == own
        self.others: FloatArray = np.where(is_own, 0.0, others)
        held = self.others.sum(axis=2)
        outputs = np.maximum(held + self.mine, SMALLEST)
        self.part, self.rest = self.mine / outputs, np.maximum(held / outputs, SMALLEST)
        of_rivals = rows[self.chain[:, :, None], self.rivals, self.at[:, :, None]]
        self.of_divisor = np.where(is_own, 0.0, of_rivals).sum(axis=2) + rows[self.chain, own, self.at]
        self.of_odds = rows[:, own].sum(axis=1)
        self.elsewhere = np.maximum(shares - self._of_class(self.others, slice(None)), 0.0)
        self.elsewhere[:, own] = 0.0

    def _of_class(self, values: FloatArray, at: IntArray | slice) -> FloatArray:
        """Sum what rivals have to (chains, classes)."""
        cells = self.rivals[at] + self.shares.shape[1] * np.arange(len(values))[:, None, None]
        sums = np.bincount(cells.ravel(), values.ravel(), minlength=len(values) * self.shares.shape[1])
        return np.asarray(sums.reshape(len(values), -1), dtype=float)

    def _after(self, factor: FloatArray, at: IntArray | slice) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return divisors, what the class has then, and the shares of all classes."""
        divisor = self.rest[at] + factor[:, None] * self.part[at]
        shares = self.elsewhere[at] + self._of_class(self.others[at] / divisor[:, :, None], at)
        mine = self.mine[at] * (factor[:, None] / divisor)
        shares[:, self.own] = mine.sum(axis=1)
        return divisor, mine, shares

    def tilt(self, step: FloatArray) -> None:
        """Take a step of each chain."""
        divisor, mine, self.shares[:] = self._after(np.exp(step), slice(None))
        self.joint[self.chain[:, :, None], self.at[:, :, None], self.rivals] = self.others / divisor[:, :, None]
        self.joint[self.chain, self.at, self.own] = mine

    def log_density(self, step: FloatArray, chains: IntArray) -> FloatArray:
        """Of steps of some chains, shape (chains,), up to a constant."""
        at = chains if len(chains) < len(self.joint) else slice(None)
        divisor, _, shares = self._after(np.exp(step), at)
        height = step * self.of_odds[at] - (self.of_divisor[at] * np.log(divisor)).sum(axis=1)
        return np.asarray(height + (self.of_share[at] * np.log(np.maximum(shares, SMALLEST))).sum(axis=1))


def has_many_outputs(density: Density) -> bool:
    """Whether a class is tilted against rivals alone, and its row has empty cells."""
    return density.n_outputs > MANY_OUTPUTS


def drawn_step(
    log_density: Callable[[FloatArray, IntArray], FloatArray], chains: int, width: float, rng: np.random.Generator
) -> FloatArray:
    """Draw a step of each chain, shape (chains,)."""
    open_, step = np.arange(chains), np.zeros(chains)
    level = log_density(step, open_) - rng.standard_exponential(chains)
    low = -width * rng.random(chains)
    high, left = low + width, rng.integers(STEPS_OUT, size=chains)
    _step_out(log_density, low, -width, left, level)
    _step_out(log_density, high, width, STEPS_OUT - 1 - left, level)
    for _ in range(MOST_PROPOSALS):
        proposed = low[open_] + rng.random(len(open_)) * (high[open_] - low[open_])
        is_inside = log_density(proposed, open_) >= level[open_]
        step[open_[is_inside]] = proposed[is_inside]
        open_, proposed = open_[~is_inside], proposed[~is_inside]
        if not len(open_):
            break
        is_below = proposed < 0
        low[open_[is_below]], high[open_[~is_below]] = proposed[is_below], proposed[~is_below]
    return step


def _step_out(
    log_density: Callable[[FloatArray, IntArray], FloatArray],
    end: FloatArray,
    width: float,
    most: IntArray,
    level: FloatArray,
) -> None:
    """Move each end outwards, in place, while it is inside the slice, so many times at most."""
    open_, taken = np.flatnonzero(most > 0), 0
    while len(open_):
        open_ = open_[log_density(end[open_], open_) > level[open_]]
        end[open_] += width
        taken += 1
        open_ = open_[most[open_] > taken]
