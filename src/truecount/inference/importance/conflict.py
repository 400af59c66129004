"""How much labels, prior and unlabelled counts contradict each other.

Each of the three would have its own highest point. Proposals are drawn from what the labels say of the rows and from
what the unlabelled counts say of the outputs, so wherever all three are about as high as each could be alone, proposals
fall. Draws that come close to that show that there is no conflict, and then no mode is out of the proposals' reach.
"""

import numpy as np

from truecount._types import FloatArray
from truecount.inference.importance.proposal import Pool
from truecount.inference.importance.resample import resample
from truecount.models import Density

LOOKED_AT = 150
"""Draws of the pool that are enough to tell."""


def conflict(density: Density, pool: Pool) -> float:
    """Return the nats that draws lack, beyond their usual spread, for each part of the density to be at its highest."""
    chosen = resample(pool.weights, LOOKED_AT, np.random.default_rng(0))
    prevalence, confusion, learned = pool.prevalence[chosen], pool.confusion[chosen], ~density.is_known
    outputs = np.einsum("sl,slk->sk", prevalence, confusion)
    rows = density.rows if density.learned_rows is None else density.rows - density.learned_rows.reference_rows
    judged = np.flatnonzero(learned & (rows.sum(axis=1) > 0))
    rows, of_rows = rows[judged], confusion[:, judged]
    labels = sum(_lacking(row, of_rows[:, number]) for number, row in enumerate(rows))
    spread = _usual(rows[rows > 0]).sum() - _usual(rows.sum(axis=1)).sum()
    free = 0.5 * (min(density.rows.shape) - 1)
    prior = _lacking(np.maximum(density.prevalence - 1, 0.0), prevalence)
    return float(prior + labels + _lacking(density.unlabeled, outputs) - spread - free)


def _lacking(counts: FloatArray, shares: FloatArray) -> float:
    """Return Σ counts · log(share) at its maximum minus its mean over draws of shape (draws, shares)."""
    seen = np.flatnonzero(counts > 0)
    best = counts[seen] / counts[seen].sum()
    return float(counts[seen] @ np.log(best / np.maximum(shares[:, seen], 1e-300)).mean(axis=0))


def _usual(shapes: FloatArray) -> FloatArray:
    """Return a · (log a − E log Gamma(a)), what a gamma of shape a lacks on average: from 1 (small a) to ½ (large)."""
    shifted = shapes + 6.0
    steps = (1 / (shapes[..., None] + np.arange(6))).sum(axis=-1)
    digamma = np.log(shifted) - 1 / (2 * shifted) - 1 / (12 * shifted**2) + 1 / (120 * shifted**4) - steps
    return np.where(shapes > 1e4, 0.5 + 1 / (12 * shapes), shapes * (np.log(shapes) - digamma))
