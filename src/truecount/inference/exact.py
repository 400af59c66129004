"""Independent draws from the exact posterior: no chains, no warm-up, nothing to converge.

The prevalence π follows from the outputs' shares q and the confusion φ by solving φᵀπ = q. So draw q and φ from their
Dirichlets, solve, keep what lies in the simplex, and weight by the prior of π over |det φ|: these are independent, weighted
draws of the posterior, whatever the number of unlabelled items. `square` says what happens when outputs and classes differ
in number.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import lgamma

import numpy as np

from truecount import _check
from truecount._types import FloatArray
from truecount.errors import UnsuitableEngineError
from truecount.inference import convergence
from truecount.inference.draws import Draws, confusion_stride, dirichlet
from truecount.inference.resample import effective_draws, effective_share, normalised, resample
from truecount.inference.square import SquareSystem, merge_columns, solve, square_system
from truecount.models import Density

PILOT = 512
LEAST_SHARE = 0.03
POOL_BYTES = 150_000_000
SUSPICIOUS_WEIGHT = 25.0
"""A largest weight this many times the mean gets its tail looked at: with a tail of Pareto k ½ it would be larger."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Independent weighted draws that fell inside the simplex; `proposed` counts those outside too."""

    prevalence: FloatArray
    confusion: FloatArray
    log_weights: FloatArray
    proposed: int

    def __add__(self, other: "Pool") -> "Pool":
        parts = zip(
            (self.prevalence, self.confusion, self.log_weights), (other.prevalence, other.confusion, other.log_weights), strict=True
        )
        return Pool(*(np.concatenate(part) for part in parts), proposed=self.proposed + other.proposed)

    @property
    def effective(self) -> float:
        """Kish's effective number of draws."""
        return effective_share(normalised(self.log_weights)) * len(self.log_weights) if len(self.log_weights) else 0.0


@dataclass(frozen=True, slots=True)
class Exact:
    """Independent draws from the exact posterior.

    Parameters
    ----------
    draws
        How many to return.
    effective_draws
        Return more where needed, so that so many are effective for every class.

    Notes
    -----
    It refuses problems where too few proposals would count: many classes near zero, outputs that hardly tell the classes
    apart, many more unlabelled than labelled items with more outputs than classes, or a prevalence prior below 1.
    """

    draws: int = 4000
    effective_draws: int | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        _check.whole_number("draws", self.draws, least=1)
        if self.effective_draws is not None:
            _check.whole_number("effective_draws", self.effective_draws, least=1)

    def sample(self, density: Density, seed: int) -> Draws:
        """Draw, or refuse by name."""
        rng, size = np.random.default_rng(seed), max(self.draws, self.effective_draws or 0)
        if not density.unlabeled.any():
            return _prior_draws(density, size, rng)
        pool = _fill_pool(density, size, rng)
        weights = normalised(pool.log_weights)
        effective = effective_draws(pool.prevalence, weights, size)
        asked = self.effective_draws or 0
        while round(effective.min()) < asked and size < 8 * asked:
            size = int(1.02 * size * asked / effective.min()) + 1
            effective = effective_draws(pool.prevalence, weights, size)
        chosen = resample(weights, size, rng)
        stride = confusion_stride(size, density)
        return Draws(
            prevalence=pool.prevalence[chosen],
            confusion=pool.confusion[chosen[::stride]],
            stride=stride,
            effective=effective,
            record={
                "engine": "Exact",
                "proposed": pool.proposed,
                "share_inside": len(weights) / pool.proposed,
                "share_effective": pool.effective / pool.proposed,
            },
        )


def _prior_draws(density: Density, size: int, rng: np.random.Generator) -> Draws:
    """Without unlabelled items the prevalence keeps its prior and the rows what the labels say."""
    stride = confusion_stride(size, density)
    confusion = dirichlet(rng, density.rows, (len(range(0, size, stride)),))
    confusion[:, density.is_known] = density.known[density.is_known]
    return Draws(
        prevalence=dirichlet(rng, density.prevalence, (size,)),
        confusion=confusion,
        stride=stride,
        effective=np.full(density.n_classes, float(size)),
        record={"engine": "Exact", "proposed": size, "share_inside": 1.0, "share_effective": 1.0},
    )


def _fill_pool(density: Density, size: int, rng: np.random.Generator) -> Pool:
    """Propose until the pool is worth `size` draws after resampling."""
    if (density.prevalence < 1).any():
        raise _refusal("the prevalence prior is below 1, which makes the weights' tail too heavy")
    system = square_system(density)
    shares = _FreeShares.prior(density, system)
    pool = _propose(density, system, shares, PILOT, rng)
    _require_worth(pool)
    if len(system.free):
        shares = shares.fitted(pool, system)
        pool = _propose(density, system, shares, PILOT, rng)
        _require_worth(pool)
    for more in _batches(density, pool, size):
        pool += _propose(density, system, shares, more, rng)
        _require_worth(pool)
    _require_light_tail(pool)
    return pool


def _batches(density: Density, pilot: Pool, size: int) -> Iterator[int]:
    """How many to propose next, so that no draw is needed more often than it was drawn."""
    weights = normalised(pilot.log_weights)
    wanted = size * min(max(1.2, 1.1 * weights.max() * len(weights)), 2 / effective_share(weights))
    needed = int(wanted * pilot.proposed / len(weights)) - pilot.proposed
    if wanted * density.rows.size * 8 > POOL_BYTES:
        raise _refusal("the draws to choose from would not fit in memory")
    batch = max(PILOT, min(20_000, 400_000 // density.rows.size))
    while needed > 0:
        yield min(needed, batch)
        needed -= batch


def _require_worth(pool: Pool) -> None:
    share = pool.effective / pool.proposed
    if share < LEAST_SHARE:
        raise _refusal(f"only {share:.2%} of the proposals would count")


def _require_light_tail(pool: Pool) -> None:
    weights = normalised(pool.log_weights)
    if weights.max() * len(weights) > SUSPICIOUS_WEIGHT:
        k = convergence.pareto_k(pool.log_weights)
        if k > convergence.PARETO_K_LIMIT:
            raise _refusal(f"the weights' tail is too heavy (Pareto k {k:.2f})")


def _refusal(reason: str) -> UnsuitableEngineError:
    return UnsuitableEngineError("engine", "is Exact", reason, "Use Auto(), which then falls back on Hamiltonian()")


def _propose(density: Density, system: SquareSystem, shares: "_FreeShares", size: int, rng: np.random.Generator) -> Pool:
    """Draw q, φ and the free shares, solve for the rest, and weight."""
    confusion = _confusion_draws(density, size, rng)
    merged = merge_columns(confusion, system.groups, system.size)
    outputs = _outputs_draws(density, system, size, rng)
    free, log_proposal = shares.draw(size, rng)
    right = outputs - np.einsum("fs,fgs->gs", free, merged[system.free]) if len(free) else outputs
    solution, log_det = solve(merged[system.solved], right)
    inside = np.flatnonzero((solution >= 0).all(axis=0))
    prevalence = np.empty((len(inside), density.n_classes))
    prevalence[:, system.solved], prevalence[:, system.free] = solution[:, inside].T, free[:, inside].T
    kept = np.ascontiguousarray(confusion[:, :, inside].transpose(2, 0, 1))
    log_weights = _prior_term(density, prevalence) - log_det[inside] - log_proposal[inside]
    return Pool(prevalence, kept, log_weights + _merging_term(density, system, prevalence, kept), size)


def _confusion_draws(density: Density, size: int, rng: np.random.Generator) -> FloatArray:
    """Shape (classes, outputs, draws): one plain call a cell is faster than one call with many shapes."""
    gammas = np.empty((*density.rows.shape, size))
    for row, known, draws, is_known in zip(density.rows, density.known, gammas, density.is_known, strict=True):
        for concentration, probability, cell in zip(row, known, draws, strict=True):
            if is_known:
                cell[:] = probability
            else:
                rng.standard_gamma(concentration, out=cell)
    total = gammas.sum(axis=1, keepdims=True)
    return np.divide(gammas, total, out=gammas)


def _outputs_draws(density: Density, system: SquareSystem, size: int, rng: np.random.Generator) -> FloatArray:
    """Shape (groups, draws): the shares of the groups of outputs, given how often each was seen."""
    counts = np.bincount(system.groups, weights=density.unlabeled, minlength=system.size)
    gammas = np.stack([rng.standard_gamma(count + 1, size) for count in counts])
    shares: FloatArray = gammas / gammas.sum(axis=0)
    return shares


def _prior_term(density: Density, prevalence: FloatArray) -> FloatArray:
    exponents = density.prevalence - 1
    if not exponents.any():
        return np.zeros(len(prevalence))
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = exponents * np.log(prevalence)
    total: FloatArray = np.where(exponents == 0, 0.0, terms).sum(axis=1)
    return total


def _merging_term(density: Density, system: SquareSystem, prevalence: FloatArray, confusion: FloatArray) -> FloatArray:
    """Log-likelihood of how the unlabelled items fall within each group of outputs."""
    if density.n_outputs == system.size:
        return np.zeros(len(prevalence))
    shares = np.einsum("sl,slk->ks", prevalence, confusion)
    together = merge_columns(shares[None], system.groups, system.size)[0]
    return density.unlabeled @ np.log(shares / together[system.groups])


@dataclass(frozen=True, slots=True)
class _FreeShares:
    """Where the shares of classes that the outputs cannot tell apart are drawn from: a mixture of Dirichlets.

    Shape (components, free classes + 1): the last entry stands for all solved classes together.
    """

    concentrations: FloatArray

    @classmethod
    def prior(cls, density: Density, system: SquareSystem) -> "_FreeShares":
        rest = density.prevalence[system.solved].sum()
        return cls(np.append(density.prevalence[system.free], rest)[None])

    def fitted(self, pool: Pool, system: SquareSystem) -> "_FreeShares":
        """Add a component with the mean and spread that the pilot saw; the prior stays, so that nothing is out of reach."""
        weights, shares = normalised(pool.log_weights), pool.prevalence[:, system.free]
        mean = weights @ shares
        variance = weights @ (shares - mean) ** 2
        total = np.median(mean * (1 - mean) / variance) - 1
        component = np.maximum(np.append(mean, 1 - mean.sum()) * max(total, 1.0), 0.5)
        return _FreeShares(np.vstack([self.concentrations, component]))

    def draw(self, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Shapes (free, draws) and (draws,): shares and their log-density."""
        if self.concentrations.shape[1] == 1:
            return np.empty((0, size)), np.zeros(size)
        chosen = self.concentrations[rng.integers(len(self.concentrations), size=size)]
        shares = dirichlet(rng, chosen, ()).T
        logs = np.log(np.maximum(shares, 1e-300))
        each = np.array([(c - 1) @ logs + lgamma(c.sum()) - sum(map(lgamma, c)) for c in self.concentrations])
        return shares[:-1], np.logaddexp.reduce(each, axis=0)
