"""What labels of a pilot say of the rows: most classes err alike, and any class may err in a way of its own."""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from truecount._types import FloatArray
from truecount.counts import Counts
from truecount.inference.draws import dirichlet, rows_by_labels
from truecount.models import LabelShift
from truecount.models.learned import Learned
from truecount.models.priors import LEARNED, Prior


@dataclass(frozen=True, slots=True, eq=False)
class RowBelief:
    """A prior of every row: with equal odds one that rows have in common, or one of the row alone; labels decide.

    Learned rows are pulled towards each other, so that the class that the classifier gets wrong most often, and whose
    interval is widest, is taken for better than it is. Here a row that the common prior explains badly has the
    reference prior, 1/K for each of K outputs (Berger, Bernardo & Sun 2015, https://doi.org/10.1214/14-BA915), which
    pulls to no other row; and it does not make the common prior vague.

    Parameters
    ----------
    common
        Shape (points, classes, outputs): the grid of learned priors.
    alone
        Shape (classes, outputs): the reference prior.
    probability
        Shape (points,): of each point, given the labels.
    is_common
        Shape (points, classes): probability that a row has the common prior, at each point.
    """

    common: FloatArray
    alone: FloatArray
    probability: FloatArray
    is_common: FloatArray

    @classmethod
    def of(cls, prior: Prior, counts: Counts, labeled: FloatArray | None = None) -> "RowBelief":
        """Weigh the points of the grid, and the two priors of each row, by how well they explain the labels.

        `labeled` has the labels at their effective size; by default it is that of `counts`.
        """
        learned = cast("Learned", replace(prior, confusion=LEARNED).learned_rows_for(counts))
        labeled = counts.effective.labeled if labeled is None else labeled
        common = learned.rows_at(np.arange(len(learned.even)))
        return weighed(common, np.full(labeled.shape, 1 / labeled.shape[1]), labeled, learned.log_prior)

    def draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        """Draw concentrations, shape (size, classes, outputs)."""
        points = np.searchsorted(np.cumsum(self.probability)[:-1], rng.random(size))
        is_common = rng.random((size, len(self.alone))) < self.is_common[points]
        return np.where(is_common[..., None], self.common[points], self.alone)

    @property
    def mean(self) -> FloatArray:
        """Shape (classes, outputs): the mean concentrations."""
        weights = self.probability[:, None] * self.is_common
        mean: FloatArray = np.einsum("pl,plk->lk", weights, self.common)
        mean += (1 - weights.sum(axis=0))[:, None] * self.alone
        return mean


def weighed(common: FloatArray, alone: FloatArray, labeled: FloatArray, log_prior: FloatArray) -> RowBelief:
    """Weigh priors by how well they explain the labels, shape (classes, outputs); `log_prior` is of the points."""
    by_common, by_itself = _log_evidence(common, labeled), _log_evidence(alone, labeled)
    either = np.logaddexp(by_common, by_itself)
    heights = either.sum(axis=1) + log_prior
    weights = np.exp(heights - heights.max())
    return RowBelief(common, alone, weights / weights.sum(), np.exp(by_common - either))


def _log_evidence(rows: FloatArray, labeled: FloatArray) -> FloatArray:
    """Shape (…, classes): log-probability of the labels of each class, for concentrations (…, classes, outputs)."""
    from scipy.special import gammaln

    totals = rows.sum(axis=-1)
    cells = (gammaln(rows + labeled) - gammaln(rows)).sum(axis=-1)
    return np.asarray(cells - gammaln(totals + labeled.sum(axis=1)) + gammaln(totals))


def has_own_prior(model: LabelShift, counts: Counts) -> bool:
    """Whether the rows have a prior of the user's own, which is kept."""
    return model.prior.known is not None or model.prior.resolved(counts).confusion not in (1, "flat", LEARNED)


def believed_rows(
    rng: np.random.Generator, model: LabelShift, counts: Counts, size: int, labeled: FloatArray | None = None
) -> FloatArray:
    """Draw what the rows may be by the labels alone, shape (size, classes, outputs).

    `labeled` has the labels at their effective size; by default it is that of `counts`.
    """
    own = counts.effective.labeled
    labeled = own if labeled is None else labeled
    if has_own_prior(model, counts):
        density = model.density(counts)
        return rows_by_labels(rng, replace(density, rows=density.rows - own + labeled), size)
    concentrations = RowBelief.of(model.prior, counts, labeled).draw(rng, size)
    return dirichlet(rng, concentrations + labeled, ())


def believed_prior(model: LabelShift, counts: Counts, labeled: FloatArray | None = None) -> Prior:
    """Return that prior as one concentration for each cell, for what needs fixed ones."""
    if has_own_prior(model, counts):
        return model.prior
    return replace(model.prior, confusion=RowBelief.of(model.prior, counts, labeled).mean.tolist())
