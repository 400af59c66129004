"""Many problems at once: ordinary ones solved together in one stack of equations, the rest one by one, on all cores."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count

import numpy as np

from truecount.inference.choose import Auto
from truecount.inference.draws import Draws, Engine
from truecount.inference.exact import HEAVY, resampled
from truecount.inference.proposal import Pool, fill_gammas, prior_term
from truecount.inference.square import solve
from truecount.models import Density

SPARE = 1.6
"""Proposals for each draw asked for; a problem for which that is too few is done by itself."""
STACK_BYTES = 1_500_000
"""A stack no larger than this stays close to the processor."""


def sample_many(engine: Engine, densities: Sequence[Density], seeds: Sequence[int]) -> Iterator[tuple[int, Draws]]:
    """Draw from every posterior; give each problem's number and its draws as they come."""

    def sample(numbers: list[int]) -> list[tuple[int, Draws]]:
        chosen, own_seeds = [densities[number] for number in numbers], [seeds[number] for number in numbers]
        stacked = (
            _stacked(engine, chosen, own_seeds)
            if isinstance(engine, Auto) and len(numbers) > 1
            else [None] * len(numbers)
        )
        return [
            (number, draws or engine.sample(density, seed))
            for number, draws, density, seed in zip(numbers, stacked, chosen, own_seeds, strict=True)
        ]

    with ThreadPoolExecutor(cpu_count()) as threads:
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
    return density.n_classes == density.n_outputs and bool(density.unlabeled.any() and (density.prevalence >= 1).all())


def _stacked(engine: Auto, densities: list[Density], seeds: list[int]) -> list[Draws | None]:
    """Solve for all prevalences in one go; None for a problem whose proposals do not suffice."""
    size = int(SPARE * engine.effective_draws) + 64
    shape, generators = densities[0].rows.shape, [np.random.default_rng(seed) for seed in seeds]
    confusion, outputs = np.empty((*shape, len(seeds), size)), np.empty((shape[1], len(seeds), size))
    for number, (density, rng) in enumerate(zip(densities, generators, strict=True)):
        fill_gammas(density.rows, confusion[:, :, number], rng)
        fill_gammas(density.unlabeled + 1, outputs[:, number], rng)
    confusion /= confusion.sum(axis=1, keepdims=True)
    outputs /= outputs.sum(axis=0)
    for number, density in enumerate(densities):
        confusion[density.is_known, :, number] = density.known[density.is_known][:, :, None]
    solution, log_det = solve(confusion.reshape(*shape, -1), outputs.reshape(shape[1], -1))
    inside = (solution >= 0).all(axis=0) & np.isfinite(log_det)
    results = []
    for number, (density, rng) in enumerate(zip(densities, generators, strict=True)):
        part = np.flatnonzero(inside[number * size : (number + 1) * size])
        prevalence = solution[:, number * size + part].T
        log_weights = prior_term(density, prevalence) - log_det[number * size + part]
        pool = Pool(prevalence, confusion[:, :, number, part].transpose(2, 0, 1), log_weights, size)
        results.append(_drawn(pool, density, engine, rng))
    return results


def _drawn(pool: Pool, density: Density, engine: Auto, rng: np.random.Generator) -> Draws | None:
    if pool.effective < engine.effective_draws or pool.largest > HEAVY:
        return None
    draws = resampled(pool, density, engine.effective_draws, engine.effective_draws, rng)
    return engine.explained(draws) if round(draws.effective.min()) >= engine.effective_draws else None
