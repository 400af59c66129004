"""Items of one class at one output that move to another class together, prevalence and confusion left out.

Where rows are sparse, an output's items that few labels explain may be due to any of many classes, each of them alone
improbable. Given the items ``z_lk`` of each class and output, with prevalence and rows integrated over, the posterior
is

``Π_l Γ(α_l + z_l) / Γ(a_l + z_l) · Π_lk Γ(a_lk + z_lk) / z_lk!``, where ``Σ_l z_lk = unlabeled_k``,

with ``z_l`` and ``a_l`` the sums of a class. Some items of one class at one output, a *pile*, are removed, and the
class that has them next is drawn among all classes, given all other items. The class is that of an item drawn at
random, and the pile, with probability ½ each, all that it has there or a uniform number v of them. Together these have
a probability in proportion to ``1 + z_lk [v = z_lk]``, by which the posterior of each new class is multiplied, so that
it stays invariant.
"""

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.inference.chains.coordinates import expected_items
from truecount.models import Density

SPARSE = 0.5
"""Concentration below which most cells of sparse rows are."""
MOST_CLASSES = 64
"""That give and take piles at an output: half of them those with most labels and items there, by a rough fit, and half
drawn anew each time, whatever the chains have."""


class Piles:
    """Which classes give and take piles at each output: all, or many of them; those whose row is known never do."""

    def __init__(self, density: Density) -> None:
        held = (density.rows + expected_items(density)).T
        held[:, density.is_known] = -np.inf
        self.order = np.argsort(-held, axis=1)[:, : int((~density.is_known).sum())]
        self.outputs = np.flatnonzero(np.rint(density.unlabeled))

    @staticmethod
    def suit(density: Density) -> bool:
        """Whether most cells of the rows to be learned have concentrations far below 1, and there are two such rows."""
        rows = density.rows[~density.is_known]
        return bool(len(rows) > 1 and density.unlabeled.any() and np.median(rows) < SPARSE)

    def classes(self, output: int, rng: np.random.Generator) -> IntArray:
        """Choose the classes of one output."""
        order: IntArray = self.order[output]
        if len(order) <= MOST_CLASSES:
            return order
        likely = MOST_CLASSES // 2
        return np.concatenate([order[:likely], rng.choice(order[likely:], MOST_CLASSES - likely, replace=False)])

    def move(self, items: IntArray, alpha: FloatArray, rows: FloatArray, rng: np.random.Generator) -> IntArray:
        """Move one pile at every output, in place, and return the items.

        Parameters
        ----------
        items
            Shape (chains, outputs, classes).
        alpha, rows
            Concentrations of the prevalence, (chains, classes), and of the rows, (chains, classes, outputs).
        rng
            What draws.
        """
        of_class, totals = items.sum(axis=1), rows.sum(axis=2)
        for output in rng.permutation(self.outputs):
            among = self.classes(output, rng)
            pile = Pile(items[:, output, among], of_class[:, among], rng)
            height = pile.log_density(rows[:, among, output], alpha[:, among], totals[:, among])
            height += np.log(1 + np.where(pile.others == 0, pile.size[:, None], 0))
            new = (height + rng.gumbel(size=height.shape)).argmax(axis=1)
            pile.give(new)
            items[:, output, among], of_class[:, among] = pile.others, pile.of_class
        return items


class Pile:
    """Items of one output that are removed from a class, and all that are left.

    Parameters
    ----------
    items, of_class
        Shape (chains, classes): items at the output and at all outputs.
    rng
        What draws the pile.
    """

    def __init__(self, items: IntArray, of_class: IntArray, rng: np.random.Generator) -> None:
        self.chains, so_far = np.arange(len(items)), items.cumsum(axis=1)
        own = (so_far > rng.random((len(items), 1)) * so_far[:, -1:]).argmax(axis=1)
        held, thrown = items[self.chains, own], rng.random((2, len(items)))
        self.size = np.where(thrown[0] < 0.5, held, np.minimum(1 + (thrown[1] * held).astype(np.int64), held))
        self.others, self.of_class = items, of_class
        self.others[self.chains, own] -= self.size
        self.of_class[self.chains, own] -= self.size

    def log_density(self, cells: FloatArray, share: FloatArray, row: FloatArray) -> FloatArray:
        """Log of the factor by which the pile changes the posterior where each class has it, (chains, classes).

        Concentrations of the classes' cells at the output, of their shares and of their rows have that shape too.
        """
        from scipy.special import gammaln

        with_pile, total = self.others + self.size[:, None], self.of_class + self.size[:, None]
        of_cell = gammaln(cells + with_pile) - gammaln(cells + self.others)
        of_cell += gammaln(self.others + 1) - gammaln(with_pile + 1)
        of_share = gammaln(share + total) - gammaln(share + self.of_class)
        return np.asarray(of_cell + of_share - gammaln(row + total) + gammaln(row + self.of_class))

    def give(self, new: IntArray) -> None:
        """Let one class of each chain, shape (chains,), have the pile."""
        self.others[self.chains, new] += self.size
        self.of_class[self.chains, new] += self.size
