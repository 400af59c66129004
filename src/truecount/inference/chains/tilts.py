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
"""

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.inference.chains.coordinates import expected_items
from truecount.models import Density

PART, MOST_TILTS = 0.5, 100
"""Of the classes, tilted after each sweep, and how many at most."""
MANY_OUTPUTS, LIKELY_OUTPUTS = 150, 64
"""Outputs beyond which a class is tilted at some only: those with most of its labels and items, by a rough fit."""
FIRST_WIDTH, LEAST_WIDTH, MOST_WIDTH = 4.0, 0.1, 40.0
"""Of the slice before any was seen, and its bounds."""
STEPS_OUT = 10
"""Widths that a slice has at most, shared out between both sides at random, which leaves the posterior invariant."""
MOST_PROPOSALS = 60
SMALLEST = 1e-300


class Tilts:
    """Tilts of chains that move together; how wide the slice of each class is, by those of the warm-up."""

    def __init__(self, density: Density) -> None:
        self.outputs: list[slice | IntArray] = [slice(None)] * density.n_classes
        if density.n_outputs > MANY_OUTPUTS:
            held = density.rows + expected_items(density)
            self.outputs = list(np.argpartition(-held, LIKELY_OUTPUTS, axis=1)[:, :LIKELY_OUTPUTS])
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
            at = self.outputs[own]
            here = joint[:, at]
            elsewhere = 0.0 if isinstance(at, slice) else np.maximum(shares - here.sum(axis=1), 0.0)
            line = Line(here, elsewhere, own, rows[:, own, at].sum(axis=1), columns[:, at], exponents)
            step = line.drawn(self.widths[own], rng)
            joint[:, at] = line.tilted(step)
            shares = elsewhere + joint[:, at].sum(axis=1)
            self._moved[own] += np.abs(step).mean()
            self._times[own] += 1
        shares = np.maximum(joint.sum(axis=1), SMALLEST)
        return shares / shares.sum(axis=1, keepdims=True), joint.transpose(0, 2, 1) / shares[:, :, None]


class Line:
    """The posterior along a tilt of one class at some outputs.

    Parameters
    ----------
    here
        Shape (chains, outputs, classes): joint shares at these outputs.
    elsewhere
        Shares of the classes at all other outputs, (chains, classes); 0 where there are none.
    own
        The class.
    of_odds, of_divisor, of_share
        Exponents of the density: of the class's odds, (chains,), of the divisors, (chains, outputs), and of the shares,
        (chains, classes).
    """

    def __init__(
        self,
        here: FloatArray,
        elsewhere: FloatArray | float,
        own: int,
        of_odds: FloatArray,
        of_divisor: FloatArray,
        of_share: FloatArray,
    ) -> None:
        self.here, self.own = here, own
        self.elsewhere = np.broadcast_to(elsewhere, of_share.shape)
        self.of_odds, self.of_divisor, self.of_share = of_odds, of_divisor, of_share
        others = here[:, :, :own].sum(axis=2) + here[:, :, own + 1 :].sum(axis=2)
        outputs = np.maximum(others + here[:, :, own], SMALLEST)
        self.part, self.rest = here[:, :, own] / outputs, np.maximum(others / outputs, SMALLEST)

    def tilted(self, step: FloatArray) -> FloatArray:
        """Return the joint shares after a step of each chain."""
        factor = np.exp(step)[:, None]
        after: FloatArray = self.here / (self.rest + factor * self.part)[:, :, None]
        after[:, :, self.own] *= factor
        return after

    def log_density(self, step: FloatArray, chains: IntArray) -> FloatArray:
        """Of steps of some chains, shape (chains,), up to a constant."""
        at = chains if len(chains) < len(self.here) else slice(None)  # a slice copies nothing
        factor = np.exp(step)
        divisor = self.rest[at] + factor[:, None] * self.part[at]
        shares = np.matmul((1 / divisor)[:, None, :], self.here[at])[:, 0]
        shares[:, self.own] *= factor
        shares += self.elsewhere[at]
        height = step * self.of_odds[at] - (self.of_divisor[at] * np.log(divisor)).sum(axis=1)
        return np.asarray(height + (self.of_share[at] * np.log(np.maximum(shares, SMALLEST))).sum(axis=1))

    def drawn(self, width: float, rng: np.random.Generator) -> FloatArray:
        """Draw a step of each chain, shape (chains,)."""
        chains = len(self.here)
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
