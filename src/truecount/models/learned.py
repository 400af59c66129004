"""Concentrations that the data decide: Dirichlets that share a prior, whose weight is learned on a grid.

Rows of the confusion have the concentration ``even · spread + own · peak``: a weight spread over all outputs alike, and
one on the output called like the class. Both are unknown. Their strength ``s = even + own`` is log-normal and the part
``d = own / s`` uniform. Where outputs are not the classes there is no such output, and d is 0. Given a point of the
grid everything is Dirichlet, and what labels say of the points has a closed form, the product of
Dirichlet-multinomials. The prevalence is the same with one row: every class has the concentration `even`. Labels from
elsewhere have other tables in place of these two, and a third (``models/target_labels.py``).

An engine either draws a point of the grid first, or moves on the mixture of all points: it differs from
the Dirichlet at the point `reference` by `log_ratio`, whose slope is a change of the concentrations, `surplus`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from truecount._log_sum import log_sum
from truecount._types import FloatArray, IntArray

STRENGTHS = np.geomspace(2.0, 300.0, 24)
"""Of the prior of a row, in labels; where it may weigh less, a class with few labels may be taken for any other one."""
USUAL_STRENGTH, SPREAD_OF_STRENGTHS = 5.0, 1.5
"""The likeliest strength before any label, and standard deviation of its logarithm. With few labels a flat prior of the
logarithm would let rows be all alike, which those of real classifiers seldom are."""
PARTS = np.linspace(0.0, 0.95, 20)
"""Of that strength, how much is on the output called like the class."""
CONCENTRATIONS = np.geomspace(0.02, 2.0, 25)
"""Of every class, in the prior of the prevalence."""
MANY = 10_000
"""Cells from which on those without items, which add nothing, are left out of the evidence."""


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """A grid of Dirichlet priors, one of which all rows share.

    Parameters
    ----------
    tables
        Shape (tables, rows, entries): concentrations for one unit of weight, first `spread`, then `peak`; zero in rows
        that are known.
    weights
        Shape (points, tables): the grid, first `even`, then `own`.
    log_prior
        Shape (points,): log-probability of each point before any data, up to a constant.
    probability
        Shape (points,): of each point, given the labels; of the prevalence, given a rough fit.
    log_norms
        Shape (points,): logarithms of what the Dirichlet densities are divided by.
    """

    tables: FloatArray
    weights: FloatArray
    log_prior: FloatArray
    probability: FloatArray
    log_norms: FloatArray

    @classmethod
    def from_items(
        cls, items: FloatArray, *, tables: FloatArray, weights: FloatArray, log_prior: FloatArray
    ) -> "Learned":
        """Weigh the points of the grid by these items, shape (rows, entries)."""
        blank = cls(tables, weights, log_prior, log_prior, log_prior)
        heights = blank.log_evidence(items) + log_prior
        probability = np.exp(heights - heights.max())
        return replace(blank, probability=probability / probability.sum(), log_norms=blank._log_norms())

    @property
    def spread(self) -> FloatArray:
        """Shape (rows, entries): concentrations for one unit of `even`."""
        return np.asarray(self.tables[0])

    @property
    def peak(self) -> FloatArray:
        """Shape (rows, entries): concentrations for one unit of `own`."""
        return np.asarray(self.tables[1])

    @property
    def even(self) -> FloatArray:
        """Shape (points,): the weight of `spread`."""
        return np.asarray(self.weights[:, 0])

    @property
    def own(self) -> FloatArray:
        """Shape (points,): the weight of `peak`."""
        return np.asarray(self.weights[:, 1])

    @property
    def strengths(self) -> FloatArray:
        """Shape (points,): the sum of all weights."""
        return np.asarray(self.weights.sum(axis=1))

    @property
    def reference(self) -> FloatArray:
        """Shape (tables,): weights at the geometric mean of the strength and the mean of the parts of it."""
        strength = np.exp(self.probability @ np.log(self.strengths))
        return np.asarray(strength * (self.probability @ (self.weights / self.strengths[:, None])))

    @property
    def reference_rows(self) -> FloatArray:
        """Shape (rows, entries): the concentrations at the reference."""
        return np.asarray(np.einsum("t,tlk->lk", self.reference, self.tables))

    def strength_interval(self, level: float) -> tuple[float, float]:
        """Return the central interval for the strength."""
        total = self.strengths
        order = np.argsort(total, kind="stable")
        low, high = np.searchsorted(np.cumsum(self.probability[order]), [(1 - level) / 2, (1 + level) / 2])
        return float(total[order][low]), float(total[order][min(high, len(total) - 1)])

    def rows_at(self, points: IntArray) -> FloatArray:
        """Shape (…, rows, entries): the concentrations at points of the grid of shape (…)."""
        return np.asarray(np.tensordot(self.weights[points], self.tables, axes=1))

    @property
    def largest_step(self) -> float:
        """The largest factor between the concentrations of neighbouring points of the grid."""
        totals = self.even * self.spread.sum() + self.own * self.peak.sum()
        return float((totals[1:] / totals[:-1]).max())

    def draw(self, rng: np.random.Generator, size: int) -> IntArray:
        """Draw so many points by their probability."""
        return np.searchsorted(np.cumsum(self.probability)[:-1], rng.random(size))

    def log_densities(self, logs: FloatArray) -> FloatArray:
        """Shape (…, points): log-density of rows whose logarithms are of shape (…, rows, entries), on that scale."""
        return np.asarray(self._sums(logs) @ self.weights.T + (self.log_prior - self.log_norms))

    def log_ratio(self, logs: FloatArray) -> FloatArray:
        """Shape (…): log-density of rows under the mixture of all points, over that at the reference, but a constant.

        Rows enter by their logarithms, shape (…, rows, entries).
        """
        each = self._sums(logs) @ (self.weights - self.reference).T
        each += self.log_prior - self.log_norms
        return log_sum(each, axis=-1)[..., 0]

    def surplus(self, logs: FloatArray) -> FloatArray:
        """Shape (…, rows, entries): the mean concentrations given these rows, beyond those at the reference."""
        each = self.log_densities(logs)
        chances = np.exp(each - each.max(axis=-1, keepdims=True))
        chances /= chances.sum(axis=-1, keepdims=True)
        return np.asarray(np.tensordot(chances @ self.weights - self.reference, self.tables, axes=1))

    def log_evidence(self, items: FloatArray) -> FloatArray:
        """Shape (points,): log-probability of items, shape (rows, entries), at each point of the grid."""
        from scipy.special import gammaln

        number, seen = len(self.tables), items > 0
        cells, times = np.unique(np.column_stack([*self.tables[:, seen], items[seen]]), axis=0, return_counts=True)
        start = self.weights @ cells[:, :number].T
        of_rows = np.column_stack([*self.tables.sum(axis=2), items.sum(axis=1)])
        sums, rows = np.unique(of_rows, axis=0, return_counts=True)
        total = self.weights @ sums[:, :number].T
        free = total[0] > 0
        by_row = (gammaln(total[:, free] + sums[free, -1]) - gammaln(total[:, free])) @ rows[free]
        learned = start[0] > 0
        by_cell = (gammaln(start[:, learned] + cells[learned, -1]) - gammaln(start[:, learned])) @ times[learned]
        return np.asarray(by_cell - by_row)

    def log_evidence_at(self, points: IntArray, items: FloatArray) -> FloatArray:
        """Shape (…): log-probability of items, (…, rows, entries), at points of shape (…)."""
        from scipy.special import gammaln

        free = self.spread.sum(axis=1) > 0
        if items.shape[:-2] == points.shape and items.size >= MANY:
            return self._log_evidence_of_few(points, np.where(free[:, None], items, 0))
        rows, items = self.rows_at(points)[..., free, :], items[..., free, :]
        totals = rows.sum(axis=-1)
        by_row = (gammaln(totals + items.sum(axis=-1)) - gammaln(totals)).sum(axis=-1)
        return np.asarray((gammaln(rows + items) - gammaln(rows)).sum(axis=(-2, -1)) - by_row)

    def _log_evidence_of_few(self, points: IntArray, items: FloatArray) -> FloatArray:
        """Return the same of items, (…, rows, entries), most of whose cells are empty, as are rows that are known."""
        from scipy.special import gammaln

        even, own, flat = self.even[points].ravel(), self.own[points].ravel(), items.reshape(points.size, -1)
        case, cell = np.nonzero(flat)
        start = even[case] * self.spread.ravel()[cell] + own[case] * self.peak.ravel()[cell]
        by_cell = np.bincount(case, gammaln(start + flat[case, cell]) - gammaln(start), minlength=points.size)
        free = self.spread.sum(axis=1) > 0
        spread, peak = self.spread[free].sum(axis=1), self.peak[free].sum(axis=1)
        totals = even[:, None] * spread + own[:, None] * peak
        held = items.sum(axis=-1).reshape(points.size, -1)[:, free]
        by_row = (gammaln(totals + held) - gammaln(totals)).sum(axis=1)
        return np.asarray((by_cell - by_row).reshape(points.shape))

    def _sums(self, logs: FloatArray) -> FloatArray:
        """Shape (…, tables): of the logarithms, weighed by each table."""
        return np.stack([np.einsum("...lk,lk->...", logs, table) for table in self.tables], axis=-1)

    def _log_norms(self) -> FloatArray:
        """Shape (points,): log of what the Dirichlet densities of all rows are divided by."""
        from scipy.special import gammaln

        tables = self.tables[:, self.spread.sum(axis=1) > 0]
        cells, times = np.unique(tables.reshape(len(tables), -1).T, axis=0, return_counts=True)
        sums, rows = np.unique(tables.sum(axis=2).T, axis=0, return_counts=True)
        return np.asarray(gammaln(self.weights @ cells.T) @ times - gammaln(self.weights @ sums.T) @ rows)


def learned_rows(labeled: FloatArray, own_outputs: Sequence[Sequence[int]] | None, is_known: np.ndarray) -> Learned:
    """Learn the prior of the rows from the labels.

    Parameters
    ----------
    labeled
        Shape (classes, outputs).
    own_outputs
        For each class the outputs called like it, one or more; None where outputs are not the classes.
    is_known
        Shape (classes,): rows that are known, and tell nothing of the others.
    """
    spread, peak = np.full(labeled.shape, 1 / labeled.shape[1]), np.zeros(labeled.shape)
    for row, own in enumerate(own_outputs or ()):
        peak[row, own] = 1 / len(own)
    spread[is_known], peak[is_known] = 0.0, 0.0
    parts = PARTS if own_outputs else PARTS[:1]
    strength, part = (axis.ravel() for axis in np.meshgrid(STRENGTHS, parts, indexing="ij"))
    return Learned.from_items(
        labeled,
        tables=np.stack([spread, peak]),
        weights=np.stack([strength * (1 - part), strength * part], axis=1),
        log_prior=-0.5 * (np.log(strength / USUAL_STRENGTH) / SPREAD_OF_STRENGTHS) ** 2,
    )


def learned_prevalence(items: FloatArray) -> Learned:
    """Learn the concentration of the prevalence; `items` of each class, by a rough fit, say where to look for it."""
    spread, none = np.ones((1, len(items))), np.zeros_like(CONCENTRATIONS)
    return Learned.from_items(
        items[None],
        tables=np.stack([spread, np.zeros_like(spread)]),
        weights=np.stack([CONCENTRATIONS, none], axis=1),
        log_prior=none,
    )
