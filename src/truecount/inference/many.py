"""Many problems at once: ordinary ones solved together in one stack of equations, the rest one by one, on all cores."""

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import lgamma, log
from typing import NamedTuple

import numpy as np

from truecount._types import FloatArray, IntArray
from truecount.inference.choose import Auto
from truecount.inference.draws import SMALLEST_SHAPE, Draws, Engine, confusion_stride
from truecount.inference.exact import HEAVY, NO_CONFLICT, nats_of_conflict
from truecount.inference.proposal import Pool, prior_term
from truecount.inference.resample import all_draws_needed, normalised, pick
from truecount.inference.run import ImportanceRun
from truecount.inference.square import solve
from truecount.models import Density

SPARE = 1.25
"""Proposals for each draw asked for; a problem for which that is too few is done by itself."""
APART, LEFT_OUT = 0.1, 1e-4
"""How far apart two rows are to be for a bound on weights, and the part of a posterior that may be nearer."""
STACK_BYTES = 4_000_000
"""A stack no larger than this stays close to the processor; a much smaller one makes threads wait for each other."""


def own_seeds(seed: int, number: int) -> list[int]:
    """Return a seed for each problem."""
    return [int(state) for state in np.random.SeedSequence(seed).generate_state(number, np.uint64) >> 1]


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
    can_stack = is_square and is_plain and not density.is_learning and density.unlabeled.any()
    return bool(can_stack and (density.n_classes > 2 or _is_bounded(density)))


def _is_bounded(density: Density) -> bool:
    """Whether two classes' proposals have weights with a bound, but for a negligible part, so that none can be missed.

    Under a flat prior of the prevalence a weight is 1 / |a − b|, for rows a and b. Where most proposals lie inside,
    which is seen when they are made, the part of the posterior with |a − b| < APART is at most P(|a − b| < APART) times
    the largest density of the outputs' share, and a Beta's tails are those of a Gaussian of variance
    1 / (4 (its sum + 1)). Other problems are integrated one by one.
    """
    variance = np.where(density.is_known, 0.0, 0.25 / (density.rows.sum(axis=1) + 1)).sum()
    first, second = density.mean_confusion[:, 0]
    beyond = max(abs(first - second) - APART, 0.0)
    first_count, second_count = density.unlabeled
    items = first_count + second_count
    share = first_count / items
    log_highest = lgamma(items + 2) - lgamma(first_count + 1) - lgamma(second_count + 1)
    log_highest += sum(
        count * log(part) for count, part in zip(density.unlabeled, (share, 1 - share), strict=True) if count
    )
    log_left_out = log_highest - 0.5 * beyond**2 / max(variance, 1e-300)
    return bool((density.prevalence == 1).all() and log_left_out < log(LEFT_OUT))


def _cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _stacked(engine: Auto, densities: list[Density], seeds: list[int]) -> list[Draws | None]:
    """Draw for all problems in one go; None where proposals do not suffice or may miss a mode."""
    asked = engine.effective_draws
    generators = [np.random.Generator(np.random.SFC64(seed)) for seed in seeds]
    pools = _propose(densities, generators, int(SPARE * asked) + 64)
    drawn: list[Draws | None] = [None] * len(densities)
    if len(full := np.flatnonzero(pools.inside >= asked)):
        weights = normalised(pools.log_weights[full])
        sizes, effective = all_draws_needed(pools.prevalence[:, full], weights, asked, asked)
        is_sound = (np.round(effective.min(axis=0)) >= asked) & (weights.max(axis=1) * pools.inside[full] <= HEAVY)
        shares, sums = 1 / np.vecdot(weights, weights) / weights.shape[1], np.cumsum(weights, axis=1)
        for place in np.flatnonzero(is_sound):
            number = full[place]
            if nats_of_conflict(densities[number], pools.of(number)) > NO_CONFLICT:
                continue
            chosen = pick(sums[place], int(sizes[place]), generators[number])
            stride = confusion_stride(len(chosen), densities[number].rows.size)
            draws = pools.draws(number, chosen, stride, effective[:, place], float(shares[place]))
            drawn[number] = engine.explained(draws)
    return drawn


class _Pools(NamedTuple):
    """Proposals of each problem; those outside the simplex have no weight."""

    prevalence: FloatArray
    confusion: FloatArray
    log_weights: FloatArray
    inside: IntArray

    def of(self, number: int) -> Pool:
        """Return one problem's, those outside the simplex among them."""
        log_weights = self.log_weights[number]
        confusion = self.confusion[:, :, number].transpose(2, 0, 1)
        return Pool(self.prevalence[:, number].T, confusion, log_weights, len(log_weights))

    def draws(self, number: int, chosen: IntArray, stride: int, effective: FloatArray, share: float) -> Draws:
        """Return those that were chosen of one problem's."""
        proposed, inside = self.log_weights.shape[1], int(self.inside[number])
        log_weights = self.log_weights[number]
        return Draws(
            prevalence=self.prevalence[:, number, chosen].T,
            confusion=self.confusion[:, :, number, chosen[::stride]].transpose(2, 0, 1),
            stride=stride,
            effective=effective,
            log_weights=log_weights[np.isfinite(log_weights)],
            run=ImportanceRun(
                proposed=proposed, share_inside=inside / proposed, share_effective=share, is_stacked=True
            ),
        )


def _propose(densities: list[Density], generators: list[np.random.Generator], size: int) -> _Pools:
    """Solve for all prevalences in one stack of equations; problems are the last axis but one."""
    confusion, outputs = _gammas(densities, generators, size)
    confusion /= confusion.sum(axis=1, keepdims=True)
    outputs /= outputs.sum(axis=0)
    for number, density in enumerate(densities):
        for row in np.flatnonzero(density.is_known):
            confusion[row, :, number] = density.known[row, :, None]
    solution, log_det = solve(confusion, outputs)
    inside = (solution >= 0).all(axis=0)
    log_weights = np.where(inside, -log_det, -np.inf)
    solution = np.where(inside, solution, 1 / len(solution))
    for number, density in enumerate(densities):
        log_weights[number] += prior_term(density, solution[:, number].T)
    return _Pools(solution, confusion, log_weights, inside.sum(axis=1))


def _gammas(
    densities: list[Density], generators: list[np.random.Generator], size: int
) -> tuple[FloatArray, FloatArray]:
    """Shapes (classes, outputs, problems, size) and (outputs, problems, size).

    One call a problem, though one a cell takes less of a processor: threads wait for each other before every call.
    """
    n_classes, n_outputs = densities[0].rows.shape
    gammas = np.empty((len(densities), n_classes + 1, n_outputs, size))
    for density, rng, out in zip(densities, generators, gammas, strict=True):
        rng.standard_gamma(np.vstack([density.rows, density.unlabeled + 1])[:, :, None], out=out)
    cells = gammas.transpose(1, 2, 0, 3)
    return cells[:-1], cells[-1]
