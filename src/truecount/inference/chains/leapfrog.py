"""Hamiltonian moves for many chains at once, and the warm-up that tunes them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from truecount._types import BoolArray, FloatArray
from truecount.inference.chains.coordinates import Coordinates

ACCEPTANCE = 0.8
WINDOWS = (0.1, 0.15, 0.25, 0.5)
"""Parts of the warm-up, each of which starts to learn anew."""
SMALL_STEPS = 0.1
"""Share of the moves with a small step."""
WORTH_CUTTING = 30_000
"""Coordinates of all chains from which on two threads are faster than one."""
LONGEST = 100
"""No trajectory has more steps than this."""


@dataclass(frozen=True, slots=True)
class Chains:
    """Where the chains stand."""

    point: FloatArray
    log_density: FloatArray
    gradient: FloatArray


@dataclass(frozen=True, slots=True)
class Tuning:
    """Step size, steps in a trajectory (on average), and the scale of each coordinate."""

    step: float
    steps: int
    scale: FloatArray


@dataclass(slots=True)
class Effort:
    """How many gradients were computed, and how many moves accepted."""

    gradients: int = 0
    moves: int = 0
    accepted: float = 0.0

    def add(self, steps: int, acceptance: float) -> None:
        """Book one move."""
        self.gradients, self.moves, self.accepted = self.gradients + steps, self.moves + 1, self.accepted + acceptance


def begin(coordinates: Coordinates, point: FloatArray) -> Chains:
    """Put the chains at these points."""
    return Chains(point, coordinates.log_density(point), coordinates.gradient(point))


def move(coordinates: Coordinates, chains: Chains, tuning: Tuning, rng: np.random.Generator, effort: Effort) -> Chains:
    """Run one trajectory in every chain, its length and step jittered, and accept or reject its end."""
    steps = int(rng.integers(max(1, tuning.steps // 2), tuning.steps + tuning.steps // 2 + 1))
    step = tuning.step * _jitter(len(chains.point), rng) * tuning.scale
    momentum = rng.standard_normal(chains.point.shape)
    thrown = rng.random(len(chains.point))
    parts = _parts(chains.point)

    def run(part: slice) -> tuple[Chains, FloatArray]:
        own = Chains(chains.point[part], chains.log_density[part], chains.gradient[part])
        return _trajectory(coordinates, own, step[part], momentum[part], steps)

    if len(parts) == 1:
        ends = [run(parts[0])]
    else:
        with ThreadPoolExecutor(len(parts)) as threads:
            ends = list(threads.map(run, parts))
    probability = np.concatenate([each for _, each in ends])
    effort.add(steps, float(probability.mean()))
    return _chosen(thrown < probability, [end for end, _ in ends], chains)


def _parts(point: FloatArray) -> list[slice]:
    """Cut many large chains in two, for two cores; by their size alone, so that draws do not depend on the machine."""
    middle = len(point) // 2 if point.size >= WORTH_CUTTING else 0
    return [slice(middle), slice(middle, None)] if middle else [slice(None)]


def _trajectory(
    coordinates: Coordinates, chains: Chains, step: FloatArray, momentum: FloatArray, steps: int
) -> tuple[Chains, FloatArray]:
    """Follow the gradient for so many steps; where that ends, and the probability to accept it."""
    before = chains.log_density - 0.5 * (momentum**2).sum(axis=1)
    point, momentum = chains.point.copy(), momentum + 0.5 * step * chains.gradient
    with np.errstate(all="ignore"):
        for _ in range(steps - 1):
            point += step * momentum
            gradient = coordinates.gradient(point)
            gradient *= step
            momentum += gradient
        point += step * momentum
        gradient, log_density = coordinates.gradient(point), coordinates.log_density(point)
        momentum += 0.5 * step * gradient
        after = log_density - 0.5 * (momentum**2).sum(axis=1)
        probability = np.exp(np.minimum(0.0, np.nan_to_num(after - before, nan=-np.inf)))
    return Chains(point, log_density, gradient), probability


def _chosen(accept: BoolArray, ends: list[Chains], chains: Chains) -> Chains:
    point, log_density, gradient = (
        np.concatenate([getattr(end, name) for end in ends]) for name in ("point", "log_density", "gradient")
    )
    return Chains(
        np.where(accept[:, None], point, chains.point),
        np.where(accept, log_density, chains.log_density),
        np.where(accept[:, None], gradient, chains.gradient),
    )


def _jitter(chains: int, rng: np.random.Generator) -> FloatArray:
    """Shape (chains, 1): factors about one, and occasionally a small one, which frees a chain that long steps jam."""
    factors = rng.uniform(0.8, 1.2, (chains, 1))
    small = rng.random((chains, 1)) < SMALL_STEPS
    return np.where(small, factors * rng.uniform(0.05, 0.5, (chains, 1)), factors)


def warm_up(
    coordinates: Coordinates,
    chains: Chains,
    length: int,
    rng: np.random.Generator,
    effort: Effort,
    *,
    by_chain: bool = False,
) -> tuple[Chains, Tuning]:
    """Find the step size by the acceptance, the scales and the trajectory's length by the spread of the chains.

    Windows grow, so that what is learned from early, unconverged points is forgotten. Where chains stand on modes of
    their own, the spread is taken `by_chain`.
    """
    tuning = Tuning(len(coordinates.shapes) ** -0.25, 8, coordinates.scale())
    for window in (max(4, int(share * length)) for share in WINDOWS):
        seen = np.empty((window, *chains.point.shape))
        log_steps = np.empty(window)
        for number in range(window):
            booked = effort.accepted
            chains = move(coordinates, chains, tuning, rng, effort)
            gain = (effort.accepted - booked - ACCEPTANCE) / (1 + number / 10) ** 0.6
            tuning = replace(tuning, step=float(np.clip(tuning.step * np.exp(gain), 1e-6, 2.0)))
            seen[number], log_steps[number] = chains.point, np.log(tuning.step)
        recent = seen[window // 2 :]
        around = recent.mean(axis=0) if by_chain else recent.mean(axis=(0, 1))
        tuning = _retuned(tuning, recent - around, log_steps[window // 2 :], rng)
    return chains, tuning


def _retuned(tuning: Tuning, deviations: FloatArray, log_steps: FloatArray, rng: np.random.Generator) -> Tuning:
    """Take scales from the spread seen, and a quarter of the slowest oscillation as the trajectory's length."""
    points = deviations.reshape(-1, deviations.shape[-1])
    scale = np.maximum(points.std(axis=0), 1e-3 * tuning.scale)
    step = float(np.exp(log_steps.mean()))
    slowest = np.sqrt(_largest_variance(points / scale, rng))
    steps = int(np.clip(np.ceil(1.5 * slowest / step), 1, LONGEST))
    return Tuning(step, steps, scale)


def _largest_variance(points: FloatArray, rng: np.random.Generator) -> float:
    """Variance along the widest direction, by power iteration."""
    direction = np.asarray(rng.standard_normal(points.shape[1]))
    for _ in range(20):
        direction = points.T @ (points @ (direction / np.linalg.norm(direction))) / len(points)
    return float(np.linalg.norm(direction))
