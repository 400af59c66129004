"""What every engine returns, and what every engine is."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from truecount._advice import AUTO, Advice
from truecount._types import FloatArray
from truecount.errors import UnsuitableEngineError
from truecount.inference.run import JointRun, Run, status_of
from truecount.models import Density

Done = TypeVar("Done")
CONFUSION_BYTES = 64_000_000
"""How much the kept draws of the confusion may weigh."""
SMALLEST_SHAPE = 0.05
"""Gammas of smaller shapes may all be too small for a float; their logarithms are not."""
EMPTY = 1e-20
"""Part of a row that a cell of sparse rows need not have."""

ENOUGH, RARE, LABELS = 1e12, 1e-3, 1e8
"""Unlabelled items beyond which more say nothing new: where no output that was seen is rarer, with fewer labels."""

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
    realized
        Shape (draws, classes): shares among the unlabelled items themselves, where they were drawn item by item; None
        where they follow from prevalence and confusion.
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
    realized: FloatArray | None = None
    run: Run = UNNAMED


class Engine(Protocol):
    """Something that draws from posteriors. Engines are frozen: same seed, same density, same draws.

    What an engine does not say otherwise, it does as here: many problems one by one, and none jointly.
    """

    @property
    def open_choice(self) -> int | None:
        """Effective draws that are wanted of any engine that suits; None where this one and no other is to draw."""
        return None

    @property
    def open_choice_of_many(self) -> int | None:
        """The same of groups, of which fewer draws are wanted."""
        return self.open_choice

    def sample(self, density: Density, seed: int) -> Draws:
        """Draw from the posterior, or refuse by name with `UnsuitableEngineError`."""

    def sample_many(self, densities: Sequence[Density], seeds: Sequence[int]) -> Iterator[tuple[int, Draws]]:
        """Draw from every posterior, on all cores; yield each problem's number and its draws as they come."""
        yield from enumerate(on_all_cores(self.sample, densities, seeds))

    def sample_jointly(self, densities: Sequence[Density], seed: int) -> list[Draws]:
        """Draw from the posterior of all groups at once; the draws of the groups belong together, one by one.

        Densities are alike but for the unlabelled counts.
        """
        raise UnsuitableEngineError(
            "engine", f"is {self!r}", "joint draws are Exact's or Gibbs'", Advice("Pass {}", AUTO)
        )


def cores_here() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def on_all_cores(do: Callable[..., Done], *arguments: Iterable[Any]) -> Iterator[Done]:
    """Do the same with each set of arguments, in threads; yield the results in order."""
    with ThreadPoolExecutor(cores_here()) as threads:
        yield from threads.map(do, *arguments)


def within_digits(density: Density) -> Density:
    """Return the density with `ENOUGH` unlabelled items at most: floats have too few digits for the likelihood of more.

    The outputs' shares are then known far better than the rows, so nothing changes; where that may not be, refuse.
    """
    items = density.unlabeled.sum()
    if items <= ENOUGH:
        return density
    if not tells_nothing_new(density):
        found, needed = f"has {items:.3g} items, of which some output is rare", "floats have too few digits for them"
        remedy = f"Divide the unlabelled counts by {10 ** np.ceil(np.log10(items / ENOUGH)):.0f}"
        raise UnsuitableEngineError("unlabeled", found, needed, remedy)
    return replace(density, unlabeled=density.unlabeled * (ENOUGH / items))


def tells_nothing_new(density: Density) -> bool:
    """Whether so many unlabelled items that more would say nothing new tell the outputs' shares."""
    items, seen = density.unlabeled.sum(), density.unlabeled[density.unlabeled > 0]
    return bool(items > ENOUGH and seen.min() > RARE * items and density.rows.sum() < LABELS)


def confusion_stride(n_draws: int, cells: int) -> int:
    """Keep every n-th draw of the confusion, so that those kept weigh at most `CONFUSION_BYTES`."""
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


def sparse_dirichlet(rng: np.random.Generator, concentration: FloatArray) -> FloatArray:
    """Draw from Dirichlets along the last axis, entries below about `EMPTY` of a gamma with one count left at zero.

    A gamma of shape a is one of shape a + 1 times ``exp(−e/a)``, with e exponential; where that factor is below `EMPTY`
    the first is not drawn. The sum of the concentrations should not be far below 1, or all of an axis may be empty.
    """
    fall = rng.standard_exponential(concentration.shape)
    kept = fall < -np.log(EMPTY) * concentration
    shapes = concentration[kept]
    logs = np.log(rng.standard_gamma(shapes + 1)) - fall[kept] / shapes
    sizes = kept.sum(axis=-1).ravel()
    starts = np.cumsum(sizes) - sizes
    gammas = np.exp(logs - np.repeat(np.maximum.reduceat(logs, starts), sizes))
    shares = np.zeros(concentration.shape)
    shares[kept] = gammas / np.repeat(np.add.reduceat(gammas, starts), sizes)
    return shares


def draw_rows(
    rng: np.random.Generator, density: Density, items: FloatArray | float, size: tuple[int, ...]
) -> FloatArray:
    """Draw confusions given items of each class and output beside the labelled ones; known rows are as they are."""
    confusion = dirichlet(rng, density.rows + items, size)
    confusion[..., density.is_known, :] = density.known[density.is_known]
    return confusion


def rows_by_labels(rng: np.random.Generator, density: Density, size: int) -> FloatArray:
    """Draw confusions from what labels and prior say; where the prior is learned, each with a prior of its own."""
    learned = density.learned_rows
    if learned is None:
        return draw_rows(rng, density, 0.0, (size,))
    rows = learned.rows_at(learned.draw(rng, size)) + (density.rows - learned.reference_rows)
    rows[:, density.is_known] = 1.0
    confusion = dirichlet(rng, rows, ())
    confusion[:, density.is_known] = density.known[density.is_known]
    return confusion


def prior_prevalence(rng: np.random.Generator, density: Density, size: int) -> FloatArray:
    """Draw from the prior of the prevalence, shape (size, classes)."""
    learned = density.learned_prevalence
    if learned is None:
        return dirichlet(rng, density.prevalence, (size,))
    return dirichlet(rng, learned.rows_at(rng.integers(len(learned.even), size=size))[:, 0], ())


def groups_apart(together: Draws, joint: JointRun) -> list[Draws]:
    """Return each group's draws, with the columns of its classes and a status of its own."""
    size, run = together.prevalence.shape[1] // joint.groups, together.run
    parts = []
    for group in range(joint.groups):
        columns = slice(group * size, (group + 1) * size)
        rhat = None if together.rhat is None else together.rhat[columns]
        status = status_of(run.not_converged, rhat)
        parts.append(
            replace(
                together,
                prevalence=together.prevalence[:, columns],
                effective=together.effective[columns],
                rhat=rhat,
                run=replace(run, status=status, joint=replace(joint, group=group)),
            )
        )
    return parts
