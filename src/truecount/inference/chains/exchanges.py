"""Items exchanged between two classes at one output, prevalence and confusion left out.

Where rows are sparse, transfers cannot move: a row cannot absorb what another class loses in cells that are all but
empty. Given the items ``z_lk`` of each class and output, with prevalence and rows integrated over, the posterior is

``Π_l Γ(α_l + z_l) / Γ(a_l + z_l) · Π_lk Γ(a_lk + z_lk) / z_lk!``, where ``Σ_l z_lk = unlabeled_k``,

with ``z_l`` and ``a_l`` the sums of a class. Of the items that two classes have at one output together, the part of
the first is drawn given all else by slice sampling with shrinkage (Neal, 2003), on the log-odds of the part, so that
a class with few labels may gain or lose most of its items at once. Its width is that of the labels, not of the items.
"""

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.inference.modes.ascent import share_out
from truecount.models import Density

SPARSE = 0.5
"""Concentration below which most cells of sparse rows are."""
LEAST_ROUNDS, CLASSES_A_ROUND = 6, 8
"""Rounds of exchanges after each imputation, or one for so many classes if that is more; in each, a class takes part
once at most."""
MOST_CANDIDATES = 32
"""Classes that are considered at each output."""
LEAST_ITEMS = 0.01
"""Items that a candidate counts for at least, so that all are tried."""
MOST_PROPOSALS = 40


class Exchanges:
    """Which classes exchange items at which outputs: drawn by a rough fit, then by what the warm-up imputed.

    The choice never depends on where chains are, so that the posterior stays invariant.
    """

    def __init__(self, density: Density) -> None:
        even = np.full(density.n_classes, 1 / density.n_classes)
        prevalence, _ = share_out(density, even, density.mean_confusion)
        joint = prevalence[:, None] * density.mean_confusion
        self.density, self._items, self._sweeps = density, np.zeros_like(joint), 0
        self._choose(joint / np.maximum(joint.sum(axis=0), 1e-300) * density.unlabeled)

    @staticmethod
    def suit(density: Density) -> bool:
        """Whether most cells of the rows to be learned have concentrations far below 1, and there are two such rows."""
        rows = density.rows[~density.is_known]
        return bool(len(rows) > 1 and density.unlabeled.any() and np.median(rows) < SPARSE)

    def watch(self, items: IntArray) -> None:
        """Remember items that were imputed in the warm-up, shape (chains, classes, outputs)."""
        self._items += items.mean(axis=0)
        self._sweeps += 1

    def adapt(self) -> None:
        """Choose by the items that were imputed so far."""
        if self._sweeps:
            self._choose(self._items / self._sweeps)

    def _choose(self, items: FloatArray) -> None:
        """Take the classes with most items at each output, the more often the more they have."""
        weights = np.where(self.density.is_known[:, None], 0.0, np.sqrt(np.maximum(items, LEAST_ITEMS))).T
        most = min(MOST_CANDIDATES, weights.shape[1])
        self.candidates = np.argpartition(-weights, most - 1, axis=1)[:, :most]
        with np.errstate(divide="ignore"):
            self.log_weights = np.log(np.take_along_axis(weights, self.candidates, axis=1))
        self.outputs = np.flatnonzero(self.density.unlabeled > 0)

    def pairs(self, rng: np.random.Generator) -> tuple[IntArray, IntArray, IntArray]:
        """Draw outputs, and two classes for each; no class twice."""
        outputs = rng.permutation(self.outputs)
        keys = self.log_weights[outputs] + rng.gumbel(size=(len(outputs), self.candidates.shape[1]))
        two = np.argpartition(-keys, 1, axis=1)[:, :2]
        pairs, used, kept = np.take_along_axis(self.candidates[outputs], two, axis=1), set[int](), []
        for at, (first, second) in enumerate(pairs.tolist()):
            if first not in used and second not in used:
                used |= {first, second}
                kept.append(at)
        return outputs[kept], pairs[kept, 0], pairs[kept, 1]

    def move(self, items: IntArray, alpha: FloatArray, rows: FloatArray, rng: np.random.Generator) -> None:
        """Exchange items, shape (chains, classes, outputs), in place.

        Concentrations of the prevalence, `alpha`, have shape (chains, classes), and those of rows that of the items.
        """
        of_class, totals = items.sum(axis=2), rows.sum(axis=2)
        for _ in range(max(LEAST_ROUNDS, self.density.n_classes // CLASSES_A_ROUND)):
            output, first, second = self.pairs(rng)
            own, others = items[:, first, output], items[:, second, output]
            sides = [
                _Side(rows[:, who, output], alpha[:, who], totals[:, who], of_class[:, who] - now)
                for who, now in ((first, own), (second, others))
            ]
            gained = drawn_parts(own, own + others, sides[0], sides[1], rng) - own
            items[:, first, output] += gained
            items[:, second, output] -= gained
            of_class[:, first] += gained
            of_class[:, second] -= gained


class _Side:
    """One class of each exchange: its concentrations at the output, of its share and of its row; items elsewhere."""

    def __init__(self, cell: FloatArray, share: FloatArray, row: FloatArray, elsewhere: IntArray) -> None:
        self.cell, self.share, self.row, self.elsewhere = cell, share, row, elsewhere

    def log_density(self, items: IntArray, at: tuple[IntArray, ...]) -> FloatArray:
        """Of so many items at the output, in the exchanges `at`."""
        from scipy.special import gammaln

        total = self.elsewhere[at] + items
        of_cell = gammaln(self.cell[at] + items) - gammaln(items + 1)
        return np.asarray(of_cell + gammaln(self.share[at] + total) - gammaln(self.row[at] + total))


def drawn_parts(now: IntArray, both: IntArray, one: _Side, other: _Side, rng: np.random.Generator) -> IntArray:
    """Draw how many of the items that two classes have at an output are the first one's; any shape."""
    new, at = now.copy(), np.nonzero(both > 0)
    here, all_ = now[at], both[at]

    def log_density(items: IntArray) -> FloatArray:
        width = _log_odds(items + 1, all_) - _log_odds(items, all_)
        return np.asarray(one.log_density(items, at) + other.log_density(all_ - items, at) - np.log(width))

    level = log_density(here) - rng.standard_exponential(len(here))
    low, high = _log_odds(np.zeros(len(here)), all_), _log_odds(all_ + 1, all_)
    start = _log_odds(here, all_)
    start += rng.random(len(here)) * (_log_odds(here + 1, all_) - start)
    for _ in range(MOST_PROPOSALS):
        proposed = low + rng.random(len(low)) * (high - low)
        odds = np.exp(proposed)
        items = np.clip(np.floor((odds * (all_ + 1.5) - 0.5) / (1 + odds)), 0, all_).astype(np.int64)
        is_accepted = log_density(items) >= level
        new[tuple(axis[is_accepted] for axis in at)] = items[is_accepted]
        open_ = ~is_accepted
        if not open_.any():
            break
        proposed, start, level, all_ = proposed[open_], start[open_], level[open_], all_[open_]
        at = tuple(axis[open_] for axis in at)
        is_below = proposed < start
        low, high = np.where(is_below, proposed, low[open_]), np.where(is_below, high[open_], proposed)
    return new


def _log_odds(edge: FloatArray | IntArray, all_: IntArray) -> FloatArray:
    """Where so many items of all begin, on the log-odds of the part; half an item more keeps both ends finite."""
    return np.asarray(np.log((edge + 0.5) / (all_ + 1.5 - edge)))
