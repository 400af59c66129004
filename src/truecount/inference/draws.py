"""What every engine returns, and what every engine is."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from truecount._types import FloatArray
from truecount.inference.run import Run
from truecount.models import Density

CONFUSION_BYTES = 64_000_000
"""How much the kept draws of the confusion may weigh."""
SMALLEST_SHAPE = 0.05
"""Gammas of smaller shapes may all be too small for a float; their logarithms are not."""

UNNAMED = Run(engine="draws")
"""For an engine that says nothing of its run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Equally weighted draws and how they were made.

    Parameters
    ----------
    prevalence
        Shape (draws, classes), chain after chain.
    confusion
        Shape (kept, classes, outputs): belongs to every `stride`-th draw of the prevalence.
    stride
        One draw of the confusion was kept for so many of the prevalence.
    chains
        How many chains there are; None where draws are independent.
    effective
        Shape (classes,): effective number of draws.
    rhat
        Shape (classes,): rank-normalised split R-hat; None where draws are independent.
    log_weights
        Shape (pool,): weights of the pool that independent draws were resampled from; None where there was none.
    run
        How it went: the engine, what it did, and whether the draws are an answer.
    """

    prevalence: FloatArray
    confusion: FloatArray
    stride: int = 1
    chains: int | None = None
    effective: FloatArray
    rhat: FloatArray | None = None
    log_weights: FloatArray | None = None
    run: Run = UNNAMED


class Engine(Protocol):
    """Something that draws from a posterior. Engines are frozen: same seed, same density, same draws."""

    def sample(self, density: Density, seed: int) -> Draws:
        """Draw from the posterior, or refuse by name with `UnsuitableEngineError`."""


def confusion_stride(n_draws: int, cells: int) -> int:
    """Keep every so many-th draw of the confusion, so that those kept weigh at most `CONFUSION_BYTES`."""
    return max(1, -(-n_draws * cells * 8 // CONFUSION_BYTES))


def dirichlet(rng: np.random.Generator, concentration: FloatArray, size: tuple[int, ...]) -> FloatArray:
    """Draw from Dirichlets along the last axis; shape `size` + concentration's shape."""
    shape = size + concentration.shape
    if concentration.min(initial=SMALLEST_SHAPE) >= SMALLEST_SHAPE:
        gammas = rng.standard_gamma(concentration, shape)
    else:
        logs = np.log(rng.standard_gamma(concentration + 1, shape)) + np.log(rng.random(shape)) / concentration
        gammas = np.exp(logs - logs.max(axis=-1, keepdims=True))
    shares: FloatArray = gammas / gammas.sum(axis=-1, keepdims=True)
    return shares


def draw_rows(
    rng: np.random.Generator, density: Density, items: FloatArray | float, size: tuple[int, ...]
) -> FloatArray:
    """Draw confusions given items of each class and output beside the labelled ones; known rows are as they are."""
    confusion = dirichlet(rng, density.rows + items, size)
    confusion[..., density.is_known, :] = density.known[density.is_known]
    return confusion
