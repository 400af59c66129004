"""What all importance sampling has in common: pools that grow until they are worth their draws, and are resampled."""

from typing import Protocol

import numpy as np

from truecount._advice import AUTO, Advice
from truecount.errors import UnsuitableEngineError
from truecount.inference import convergence
from truecount.inference.draws import Draws, confusion_stride
from truecount.inference.importance.proposal import Pool
from truecount.inference.importance.resample import draws_needed, effective_share, resample
from truecount.inference.run import ImportanceRun

HEAVY = 25.0
"""The pool's largest weight, in means, from which on its tail is looked at: one of Pareto k ½ would give more."""
WORTH = 1.1
"""Effective draws in the pool for each one to return."""
POOL_BYTES = 150_000_000
"""What a pool may take, so that an answer stays within a few hundred megabytes."""


class Proposing(Protocol):
    """What draws weighted proposals."""

    @property
    def numbers(self) -> int:
        """How many numbers a draw consists of."""

    @property
    def least_share(self) -> float:
        """Share of the proposals that must count; below it other engines are faster."""

    def draw(self, size: int, rng: np.random.Generator) -> Pool:
        """Draw so many, and keep those that are possible."""


def grow(pool: Pool, proposal: Proposing, size: int, rng: np.random.Generator) -> Pool:
    """Add proposals, first as many as the pool at hand suggests, then more until it is worth its draws."""
    _require_worth(pool, proposal)
    wanted = size * min(max(1.2, 1.1 * pool.largest), 2 / effective_share(pool.weights))
    pool = _enlarged(pool, proposal, int(wanted * pool.proposed / len(pool.log_weights)), rng)
    while pool.effective < WORTH * size:
        pool = _enlarged(pool, proposal, int(1.5 * pool.proposed), rng)
    return pool


def _enlarged(pool: Pool, proposal: Proposing, proposed: int, rng: np.random.Generator) -> Pool:
    """Bring the pool to so many proposals, in batches that stay close to the processor."""
    if proposed * len(pool.log_weights) / pool.proposed * proposal.numbers * 8 > POOL_BYTES:
        raise refusal("the draws to choose from would not fit in memory")
    batch, missing = max(4096, 40_000 // proposal.numbers), proposed - pool.proposed
    sizes = [min(batch, missing - start) for start in range(0, missing, batch)]
    pool = Pool.joined([pool, *(proposal.draw(each, rng) for each in sizes)])
    _require_worth(pool, proposal)
    return pool


def _require_worth(pool: Pool, proposal: Proposing) -> None:
    share = pool.effective / pool.proposed
    if share < proposal.least_share:
        raise refusal(f"only {share:.1%} of the proposals would count")


def tail(pool: Pool) -> float:
    """Pareto k of the weights' tail; zero where no weight is large enough to look."""
    return convergence.pareto_k(pool.log_weights) if pool.largest > HEAVY else 0.0


def resampled(pool: Pool, size: int, asked: int, rng: np.random.Generator) -> Draws:
    """Turn the pool into `size` equally weighted draws, or more until so many as asked are effective."""
    size, effective = draws_needed(pool.prevalence, pool.weights, size, asked)
    if effective.min() < asked / 2:
        raise refusal("a few proposals would outweigh all others")
    chosen, stride = resample(pool.weights, size, rng), confusion_stride(size, pool.confusion[0].size)
    return Draws(
        prevalence=pool.prevalence[chosen],
        confusion=pool.confusion[chosen[::stride]],
        stride=stride,
        effective=effective,
        log_weights=pool.log_weights,
        run=ImportanceRun(
            proposed=pool.proposed,
            share_inside=len(pool.log_weights) / pool.proposed,
            share_effective=pool.effective / pool.proposed,
        ),
    )


def refusal(reason: str) -> UnsuitableEngineError:
    """Say why independent draws are not possible."""
    return UnsuitableEngineError("engine", "is Exact", reason, Advice("Use {}, which then falls back on chains", AUTO))
