"""Many problems at once: ordinary ones solved together in one stack of equations, the rest one by one, on all cores."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from math import lgamma, log
from typing import NamedTuple

import numpy as np

from truecount._log_sum import softmax
from truecount._types import FloatArray, IntArray
from truecount.inference.draws import SMALLEST_SHAPE, Draws, confusion_stride, on_all_cores
from truecount.inference.importance.driver import HEAVY
from truecount.inference.importance.exact import NO_CONFLICT, nats_of_conflict
from truecount.inference.importance.proposal import Pool, prior_term
from truecount.inference.importance.resample import all_draws_needed, pick
from truecount.inference.importance.square import solve
from truecount.inference.run import ImportanceRun
from truecount.models import Density

SPARE, INSIDE = 1.25, 0.75
"""Proposals for each draw asked for, and the share of them that falls inside at the least: a problem for which that is
too few is done by itself."""
APART, LEFT_OUT = 0.1, 1e-4
"""How far apart two rows are to be for a bound on weights, and the part of a posterior that may be nearer."""
STACK_BYTES = 4_000_000
"""A stack no larger than this stays close to the processor; a much smaller one makes threads wait for each other."""


def own_seeds(seed: int, number: int) -> list[int]:
    """Return a seed for each problem."""
    return [int(state) for state in np.random.SeedSequence(seed).generate_state(number, np.uint64) >> 1]


def sample_stacked(
    densities: Sequence[Density], seeds: Sequence[int], asked: int, alone: Callable[[Density, int], Draws]
) -> Iterator[tuple[int, Draws]]:
    """Draw from every posterior; yield each problem's number and its draws as they come.

    Parameters
    ----------
    densities, seeds
        The problems, and a seed for each.
    asked
        Effective draws of every class.
    alone
        What draws where a stack does not suffice.
    """

    def sample(numbers: list[int]) -> list[tuple[int, Draws]]:
        chosen, own_seeds = [densities[number] for number in numbers], [seeds[number] for number in numbers]
        stacked = _stacked(asked, chosen, own_seeds) if _can_stack(chosen[0]) else [None] * len(numbers)
        return [
            (number, draws or alone(density, seed))
            for number, draws, density, seed in zip(numbers, stacked, chosen, own_seeds, strict=True)
        ]

    for finished in on_all_cores(sample, _stacks(densities, asked)):
        yield from finished


def _stacks(densities: Sequence[Density], asked: int) -> list[list[int]]:
    """Put problems of one shape together, as many as memory close to the processor holds; the others alone."""
    alike: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for number, density in enumerate(densities):
        alike[density.rows.shape if _can_stack(density) else (number,)].append(number)
    stacks = []
    for numbers in alike.values():
        most = max(1, STACK_BYTES // int(8 * SPARE * asked * densities[numbers[0]].rows.size))
        stacks += [numbers[start : start + most] for start in range(0, len(numbers), most)]
    return stacks


def _can_stack(density: Density) -> bool:
    is_square = density.n_classes == density.n_outputs
    is_plain = (density.prevalence >= 1).all() and density.rows.min() >= SMALLEST_SHAPE
    can_stack = is_square and is_plain and not density.is_learning and density.unlabeled.any()
    return bool(can_stack and (density.n_classes > 2 or _is_bounded(density)))


def _is_bounded(density: Density) -> bool:
    """Whether two classes' weights are at most 1 / APART but for a negligible part of a posterior with a flat prior."""
    return bool((density.prevalence == 1).all() and log_left_out(density) < log(LEFT_OUT))


def log_left_out(density: Density) -> float:
    """Return the log of a bound on the posterior mass where two rows a and b are less than d = APART from each other.

    Proposals draw a, b ~ Beta by the labels and q ~ f = Beta(n₀ + 1, n₁ + 1); the weight is w = 1{q between}/|a − b|.
    The mass is E[w 1{|a − b| < d}] / E w. Above: P(q between | a, b) ≤ |a − b| max f, so E[…] ≤ max f P(|a − b| < d).
    Below: |a − b| ≤ 1, so E w ≥ P(q between), which must be seen to be INSIDE at the least for a stack to be used.
    Beta(x, y) is sub-Gaussian with variance proxy 1 / (4 (x + y + 1)) (Marchal and Arbel 2017, Electron. Commun.
    Probab. 22, theorem 1); proxies of independent variables add up to v, and with m = |E a − E b| > d Chernoff's bound
    is P(|a − b| < d) ≤ exp(−(m − d)² / 2v). Elsewhere w / E w ≤ 1 / (d · INSIDE), which Kish's number can judge.
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
    return float(log_highest - log(INSIDE) - 0.5 * beyond**2 / max(variance, 1e-300))


def _stacked(asked: int, densities: list[Density], seeds: list[int]) -> list[Draws | None]:
    """Draw for all problems in one go; None where proposals do not suffice or may miss a mode."""
    generators = [np.random.Generator(np.random.SFC64(seed)) for seed in seeds]
    pools = _propose(densities, generators, int(SPARE * asked) + 64)
    drawn: list[Draws | None] = [None] * len(densities)
    if len(full := np.flatnonzero(pools.inside >= max(asked, INSIDE * pools.log_weights.shape[1]))):
        weights = softmax(pools.log_weights[full])
        sizes, effective = all_draws_needed(pools.prevalence[:, full], weights, asked, asked)
        is_sound = (np.round(effective.min(axis=0)) >= asked) & (weights.max(axis=1) * pools.inside[full] <= HEAVY)
        shares, sums = 1 / np.vecdot(weights, weights) / weights.shape[1], np.cumsum(weights, axis=1)
        for place in np.flatnonzero(is_sound):
            number = full[place]
            if nats_of_conflict(densities[number], pools.of(number)) > NO_CONFLICT:
                continue
            chosen = pick(sums[place], int(sizes[place]), generators[number])
            stride = confusion_stride(len(chosen), densities[number].rows.size)
            drawn[number] = pools.draws(number, chosen, stride, effective[:, place], float(shares[place]))
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
