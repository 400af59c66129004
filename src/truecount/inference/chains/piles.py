"""Items of one class at one output that move to another class together, prevalence and confusion left out.

Where rows are sparse, an output's items that few labels explain may be due to any of many classes, each of them alone
improbable. Given the items ``z_lk`` of each class and output, with prevalence and rows integrated over, the posterior
is

``Π_l Γ(α_l + z_l) / Γ(a_l + z_l) · Π_lk Γ(a_lk + z_lk) / z_lk!``, where ``Σ_l z_lk = unlabeled_k``,

with ``z_l`` and ``a_l`` the sums of a class. Some items of one class at one output, a *pile*, are taken away, and the
class that has them next is drawn among all classes, given all other items. The class is that of an item drawn at
random, and the pile, with probability ½ each, all that it has there or a uniform number v of them. Together these have
a probability in proportion to ``1 + z_lk [v = z_lk]``, by which the posterior of each new class is multiplied, so that
it stays invariant.
"""

import numpy as np

from truecount._types import BoolArray, FloatArray, IntArray
from truecount.models import Density

SPARSE = 0.5
"""Concentration below which most cells of sparse rows are."""


def piles_suit(density: Density) -> bool:
    """Whether most cells of the rows to be learned have concentrations far below 1, and there are two such rows."""
    rows = density.rows[~density.is_known]
    return bool(len(rows) > 1 and density.unlabeled.any() and np.median(rows) < SPARSE)


def move_piles(
    items: IntArray, alpha: FloatArray, rows: FloatArray, is_free: BoolArray, rng: np.random.Generator
) -> IntArray:
    """Move one pile at every output, and return the items.

    Parameters
    ----------
    items
        Shape (chains, classes, outputs).
    alpha, rows
        Concentrations of the prevalence, (chains, classes), and of the rows, which have the shape of the items.
    is_free
        Shape (classes,): classes that give and take; those whose row is known do neither.
    rng
        What draws.
    """
    columns = np.ascontiguousarray(items[:, is_free].transpose(2, 0, 1))
    pile_up = _Piles(columns.sum(axis=0), alpha[:, is_free], rows[:, is_free].sum(axis=2))
    cells = np.ascontiguousarray(rows[:, is_free].transpose(2, 0, 1))
    for output in rng.permutation(np.flatnonzero(columns.any(axis=(1, 2)))):
        pile_up.move(columns[output], cells[output], rng)
    moved = items.copy()
    moved[:, is_free] = columns.transpose(1, 2, 0)
    return moved


class _Piles:
    """Items of each class at all outputs, (chains, classes), and concentrations of its share and of its row."""

    def __init__(self, of_class: IntArray, share: FloatArray, row: FloatArray) -> None:
        self.of_class, self.share, self.row, self.chains = of_class, share, row, np.arange(len(of_class))

    def move(self, here: IntArray, cells: FloatArray, rng: np.random.Generator) -> None:
        """Move a pile of items at one output, (chains, classes), in place; `cells` are the rows' concentrations."""
        so_far = here.cumsum(axis=1)
        own = (so_far > rng.random((len(here), 1)) * so_far[:, -1:]).argmax(axis=1)
        held = here[self.chains, own]
        pile = np.where(rng.random(len(here)) < 0.5, held, 1 + np.floor(rng.random(len(here)) * held).astype(np.int64))
        pile = np.minimum(pile, held)
        here[self.chains, own] -= pile
        self.of_class[self.chains, own] -= pile
        height = self.log_density(here, here + pile[:, None], cells)
        height += np.log(1 + np.where(here == 0, pile[:, None], 0))
        new = (height + rng.gumbel(size=height.shape)).argmax(axis=1)
        here[self.chains, new] += pile
        self.of_class[self.chains, new] += pile

    def log_density(self, without: IntArray, with_pile: IntArray, cells: FloatArray) -> FloatArray:
        """Log of the factor by which a pile changes the posterior where each class has it, (chains, classes)."""
        from scipy.special import gammaln

        total = self.of_class + (with_pile - without)
        of_cell = gammaln(cells + with_pile) - gammaln(with_pile + 1) - gammaln(cells + without) + gammaln(without + 1)
        of_share = gammaln(self.share + total) - gammaln(self.share + self.of_class)
        return np.asarray(of_cell + of_share - gammaln(self.row + total) + gammaln(self.row + self.of_class))
