"""Many problems at once: ordinary ones solved together in one stack of equations, the rest one by one, on all cores."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from truecount._types import FloatArray
from truecount.inference.choose import Auto
from truecount.inference.draws import SMALLEST_SHAPE, Draws, Engine, confusion_stride
from truecount.inference.exact import HEAVY, exact_record
from truecount.inference.proposal import fill_gammas, prior_term
from truecount.inference.resample import draws_needed, effective_share, normalised, resample
from truecount.inference.square import solve
from truecount.models import Density

SPARE = 1.25
"""Proposals for each draw asked for; a problem for which that is too few is done by itself."""
STACK_BYTES = 3_000_000
"""A stack no larger than this stays close to the processor."""


def sample_many(engine: Engine, densities: Sequence[Density], seeds: Sequence[int]) -> Iterator[tuple[int, Draws]]:
    """Draw from every posterior; give each problem's number and its draws as they come."""

    def sample(numbers: list[int]) -> list[tuple[int, Draws]]:
        chosen, own_seeds = [densities[number] for number in numbers], [seeds[number] for number in numbers]
        stacked: list[Draws | None] = [None] * len(numbers)
        if isinstance(engine, Auto) and _can_stack(chosen[0]):
            stacked = _stacked(engine, chosen, own_seeds)
        return [
            (number, draws or engine.sample(density, seed))
            for number, draws, density, seed in zip(numbers, stacked, chosen, own_seeds, strict=True)
        ]

    with ThreadPoolExecutor(_cores()) as threads:
        for finished in threads.map(sample, _stacks(engine, densities)):
            yield from finished


def _stacks(engine: Engine, densities: Sequence[Density]) -> list[list[int]]:
    """Put problems of one shape together, as many as memory close to the processor holds; the others alone."""
    alike: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for number, density in enumerate(densities):
        alike[density.rows.shape if _can_stack(density) else (number,)].append(number)
    stacks = []
    for numbers in alike.values():
        asked = engine.effective_draws if isinstance(engine, Auto) else 1
        most = max(1, STACK_BYTES // int(8 * SPARE * asked * densities[numbers[0]].rows.size))
        stacks += [numbers[start : start + most] for start in range(0, len(numbers), most)]
    return stacks


def _can_stack(density: Density) -> bool:
    is_square = density.n_classes == density.n_outputs
    is_plain = (density.prevalence >= 1).all() and density.rows.min() >= SMALLEST_SHAPE
    return bool(is_square and is_plain and density.unlabeled.any())


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _stacked(engine: Auto, densities: list[Density], seeds: list[int]) -> list[Draws | None]:
    """Solve for all prevalences in one go; None for a problem whose proposals do not suffice."""
    size = int(SPARE * engine.effective_draws) + 64
    generators = [np.random.Generator(np.random.SFC64(seed)) for seed in seeds]
    confusion, outputs = _gammas(densities, generators, size)
    confusion /= confusion.sum(axis=1, keepdims=True)
    outputs /= outputs.sum(axis=0)
    for number, density in enumerate(densities):
        confusion[density.is_known, :, number] = density.known[density.is_known][:, :, None]
    solution, log_det = solve(confusion.reshape(*confusion.shape[:2], -1), outputs.reshape(len(outputs), -1))
    solution, log_det = solution.reshape(-1, len(seeds), size), log_det.reshape(len(seeds), size)
    inside = (solution >= 0).all(axis=0)
    log_weights = np.where(inside, -log_det, -np.inf)
    solution = np.where(inside, solution, 1 / len(solution))
    parts = zip(
        densities, generators, solution.transpose(1, 2, 0), confusion.transpose(2, 3, 0, 1), log_weights, strict=True
    )
    return [_drawn(engine, *part) for part in parts]


def _gammas(
    densities: list[Density], generators: list[np.random.Generator], size: int
) -> tuple[FloatArray, FloatArray]:
    """Shapes (classes, outputs, problems, size) and (outputs, problems, size)."""
    shape = densities[0].rows.shape
    confusion, outputs = np.empty((*shape, len(densities), size)), np.empty((shape[1], len(densities), size))
    for number, (density, rng) in enumerate(zip(densities, generators, strict=True)):
        fill_gammas(density.rows, confusion[:, :, number], rng)
        fill_gammas(density.unlabeled + 1, outputs[:, number], rng)
    return confusion, outputs


def _drawn(
    engine: Auto,
    density: Density,
    rng: np.random.Generator,
    prevalence: FloatArray,
    confusion: FloatArray,
    log_weights: FloatArray,
) -> Draws | None:
    """Resample one problem's proposals, of which those outside the simplex have no weight."""
    asked, inside = engine.effective_draws, int(np.isfinite(log_weights).sum())
    if inside < asked:
        return None
    log_weights = log_weights + prior_term(density, prevalence)
    weights = normalised(log_weights)
    size, effective = draws_needed(prevalence, weights, asked, asked)
    if round(effective.min()) < asked or weights.max() * inside > HEAVY:
        return None
    chosen, stride = resample(weights, size, rng), confusion_stride(size, density)
    record = {**exact_record(len(weights), inside / len(weights), effective_share(weights)), "stacked": True}
    draws = Draws(
        prevalence=prevalence[chosen],
        confusion=confusion[chosen[::stride]],
        stride=stride,
        effective=effective,
        log_weights=log_weights[np.isfinite(log_weights)],
        record=record,
    )
    return engine.explained(draws)
