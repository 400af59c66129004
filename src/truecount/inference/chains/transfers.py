"""Moves of prevalence between classes that leave the outputs' shares as they are.

Imputed items hold a row of the confusion still where they outnumber its labels, and with it the prevalence of each
class that is mistaken for the row's. Given the outputs' shares ``q = φᵀπ`` the unlabelled counts say nothing more:
along a line on which q is constant a chain meets only the labels and the priors. Let one class b *absorb* what others
lose, so that its joint shares are ``T = q − Σ_l π_l φ_l`` over the other classes l. In the coordinates π, q and the
other rows the density is, with concentrations α of the prevalence and a of the absorbing row,

``Π_l π_l^(α_l − 1) · Π_k T_k^(a_k − 1) · π_b^(α_b − Σ_k a_k)``, where every ``T_k > 0``:

the row's Dirichlet, and ``π_b^(1 − K)`` from ``dφ_b = dT / π_b``. The share x of one class, or of several in constant
proportion, for which α adds up, is drawn along this line by slice sampling with shrinkage (Neal, 2003), on the scale
``x^min(α, 1)``, on which the pole of a prior below 1 is flat.
"""

from dataclasses import dataclass

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.models import Density

SMALLEST = 1e-300
MOST_PROPOSALS = 40
"""After which a chain stays where it is. A move and its reverse need as many, so that the posterior stays invariant."""


@dataclass(slots=True)
class Absorbing:
    """The class that absorbs: its joint shares (chains, outputs), its prevalence and the exponents of both."""

    joint: FloatArray
    prevalence: FloatArray
    of_joint: FloatArray
    of_prevalence: FloatArray

    def log_density(self, given: FloatArray, row: FloatArray, at: slice | IntArray = slice(None)) -> FloatArray:
        """Log-density of the chains `at` after another class, with this row, has been `given` so much."""
        logs = np.log(self.joint[at] - given[:, None] * row)
        height = np.einsum("ck,ck->c", logs, self.of_joint[at])
        return np.asarray(height + self.of_prevalence[at] * np.log(self.prevalence[at] - given))

    def give(self, share: FloatArray, row: FloatArray, alpha: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Draw another class's share, shape (chains,), given all else; what it gains this class loses."""
        power = np.minimum(alpha, 1.0)
        rest, scale = alpha - power, 1 / power
        here, low, high = share**power, np.zeros(len(share)), (share + (self.joint / row).min(axis=1)) ** power
        level = self.log_density(np.zeros(len(share)), row) + rest * np.log(share)
        level -= rng.standard_exponential(len(share))
        new, open_ = share.copy(), np.arange(len(share))
        for _ in range(MOST_PROPOSALS):
            proposed = low[open_] + rng.random(len(open_)) * (high[open_] - low[open_])
            there = np.maximum(proposed ** scale[open_], SMALLEST)
            height = self.log_density(there - share[open_], row[open_], open_) + rest[open_] * np.log(there)
            accepted = height >= level[open_]
            new[open_[accepted]] = there[accepted]
            refused, proposed = open_[~accepted], proposed[~accepted]
            is_below = proposed < here[refused]
            low[refused[is_below]], high[refused[~is_below]] = proposed[is_below], proposed[~is_below]
            open_ = refused
            if not len(open_):
                break
        given = new - share
        self.joint = np.maximum(self.joint - given[:, None] * row, SMALLEST)
        self.prevalence = np.maximum(self.prevalence - given, SMALLEST)
        return new


def absorbing_chances(density: Density, prevalence: FloatArray) -> FloatArray:
    """How often each class absorbs: the more, the more its unlabelled items outnumber the labels of its row."""
    ratio = density.unlabeled.sum() * prevalence / density.rows.sum(axis=1)
    weight = np.where(density.is_known, 0.0, ratio**2)
    return weight / weight.sum() if weight.any() else weight


def transfer(
    prevalence: FloatArray,
    confusion: FloatArray,
    *,
    absorbing: int,
    alpha: FloatArray,
    rows: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Draw the share of every other class in turn, then of all of them together, in place.

    Parameters
    ----------
    prevalence, confusion
        Shapes (chains, classes) and (chains, classes, outputs).
    absorbing
        The class that absorbs.
    alpha, rows
        Concentrations of the prevalence, (chains, classes), and of the absorbing row, (chains, outputs).
    rng
        What draws.
    """
    np.maximum(prevalence, SMALLEST, out=prevalence)
    np.maximum(confusion, SMALLEST, out=confusion)
    own = prevalence[:, absorbing]
    of_prevalence = alpha[:, absorbing] - rows.sum(axis=1)
    taker = Absorbing(own[:, None] * confusion[:, absorbing], own.copy(), rows - 1, of_prevalence)
    others = np.delete(np.arange(prevalence.shape[1]), absorbing)
    with np.errstate(all="ignore"):
        for other in rng.permutation(others):
            prevalence[:, other] = taker.give(prevalence[:, other], confusion[:, other], alpha[:, other], rng)
        together = prevalence[:, others].sum(axis=1)
        row = np.einsum("cl,clk->ck", prevalence[:, others], confusion[:, others]) / together[:, None]
        new = taker.give(together, row, alpha[:, others].sum(axis=1), rng)
    prevalence[:, others] *= (new / together)[:, None]
    prevalence[:, absorbing] = taker.prevalence
    confusion[:, absorbing] = taker.joint / taker.joint.sum(axis=1, keepdims=True)
