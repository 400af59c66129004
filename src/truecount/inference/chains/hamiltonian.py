"""Hamiltonian Monte Carlo in coordinates made for this posterior: any shape, any number of unlabelled items."""

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from truecount import _check
from truecount.errors import UnsuitableEngineError
from truecount.inference.chains.coordinates import ByClass, ByOutput, Coordinates
from truecount.inference.chains.history import History
from truecount.inference.chains.jumps import Jumps
from truecount.inference.chains.leapfrog import Chains, Effort, Tuning, begin, move, warm_up
from truecount.inference.chains.learning import Learning
from truecount.inference.chains.warp import Warped
from truecount.inference.draws import Draws, Engine, within_digits
from truecount.inference.modes.landscape import Landscape, survey
from truecount.inference.run import ChainRun
from truecount.models import Density

Moving = Literal["auto", "class", "output"]
OUTNUMBERED, HOPELESS = 3.0, 100.0
"""Unlabelled items for each labelled one: up to the first, chains move best in the class's coordinates; beyond the
second, in those of the outputs; between them both are tried."""
TRIAL = 30
"""Moves that tell which coordinates are better."""


@dataclass(frozen=True, slots=True)
class Hamiltonian(Engine):
    """Many short Hamiltonian chains, moved together.

    Parameters
    ----------
    draws
        How many to return, all chains together (rounded up to a multiple of the chains).
    effective_draws
        Go on until every class has this effective sample size, R-hat is at most 1.01, or the budget is spent.
    chains
        How many; None takes 32 for ordinary problems and fewer for large ones.
    warmup
        Moves of each chain that tune the sampler and are thrown away.
    budget
        Gradients that each chain may compute; None takes a bound that falls with the size of the problem.
    coordinates
        ``"class"`` moves prevalence and confusion, ``"output"`` the outputs' shares besides; ``"auto"`` takes the
        latter when unlabelled items far outnumber labelled ones, and tries both in between.
    """

    draws: int = 12_000
    effective_draws: int | None = field(default=None, kw_only=True)
    chains: int | None = field(default=None, kw_only=True)
    warmup: int = field(default=150, kw_only=True)
    budget: int | None = field(default=None, kw_only=True)
    coordinates: Moving = field(default="auto", kw_only=True)

    def __post_init__(self) -> None:
        _check.whole_number("draws", self.draws, least=2)
        _check.whole_number("warmup", self.warmup, least=50)
        _check.one_of("coordinates", self.coordinates, ("auto", "class", "output"))
        for argument in ("effective_draws", "chains", "budget"):
            if getattr(self, argument) is not None:
                _check.whole_number(argument, getattr(self, argument), least=2)

    def sample(self, density: Density, seed: int) -> Draws:
        """Warm up, then draw until there is enough."""
        rng, density = np.random.default_rng(seed), within_digits(density)
        dimensions = density.rows.size
        chains = self.chains or (32 if dimensions <= 1000 else 16 if dimensions <= 4000 else 8)
        budget = self.budget or int(np.clip(6e9 / (chains * dimensions), 3_000, 40_000))
        landscape = survey(density)
        candidates = suitable_coordinates(density) if self.coordinates == "auto" else (self.coordinates,)
        runs = [_Run.warmed(landscape, moving, chains, self.warmup, rng) for moving in candidates]
        run = runs[0] if len(runs) == 1 else max(runs, key=_Run.worth)
        run.advance(-(-self.draws // chains) - run.history.length, budget)
        wanted = self.effective_draws
        while (
            wanted is not None
            and run.effort.gradients < budget
            and (more := run.history.missing(wanted, of_variance=run.jumps is not None))
        ):
            run.advance(more, budget)
        told = replace(run.told(self.warmup), modes=landscape.prevalence_of_modes)
        return landscape.judged(run.history.draws(told))


@dataclass(slots=True)
class _Run:
    """Chains under way."""

    moving: str
    coordinates: Coordinates
    state: Chains
    tuning: Tuning
    jumps: Jumps | None
    rng: np.random.Generator
    effort: Effort
    history: History

    @classmethod
    def warmed(cls, land: Landscape, moving: Moving, chains: int, warmup: int, rng: np.random.Generator) -> "_Run":
        """Tune the chains in the coordinates named."""
        effort, coordinates = Effort(), build_coordinates(land.density, moving)
        state = begin(coordinates, coordinates.point(*land.starting_points(chains, rng)))
        state, tuning = warm_up(coordinates, state, warmup, rng, effort, by_chain=len(land.modes) > 1)
        jumps = None if land.is_plain else Jumps.between(land.density, land.every_allocation())
        run = cls(moving, coordinates, state, tuning, jumps, rng, effort, History(chains, land.density))
        if jumps is not None:
            run.step(warmup)
        return run

    def worth(self) -> float:
        """Effective draws for each gradient, by a short trial."""
        before = self.effort.gradients
        self.advance(TRIAL, before + TRIAL * self.tuning.steps * 2)
        effective = np.nan_to_num(self.history.effective()).min()
        return float(effective / (self.effort.gradients - before))

    def told(self, warmup: int) -> ChainRun:
        """Return how it went."""
        return ChainRun(
            engine="Hamiltonian",
            chains=self.history.chains,
            warmup=warmup,
            coordinates=self.moving,
            gradients=self.effort.gradients,
            acceptance=self.effort.accepted / self.effort.moves,
            steps=self.tuning.steps,
        )

    def advance(self, moves: int, budget: int) -> None:
        """Move so many times, or until the budget is spent (but never leave a history too short to judge)."""
        for _ in range(moves):
            self.step(1)
            self.history.append(*self.coordinates.natural(self.state.point))
            if self.effort.gradients >= budget and self.history.length >= 8:
                return

    def step(self, moves: int) -> None:
        """Move so many times without keeping a draw, so that chains forget where they began."""
        for _ in range(moves):
            self.state = move(self.coordinates, self.state, self.tuning, self.rng, self.effort)
            if self.jumps is not None:
                self.state = self.jumps.jump(self.coordinates, self.state, self.rng)


def suitable_coordinates(density: Density) -> tuple[Moving, ...]:
    """Name the coordinates worth trying: the class's, the outputs' where unlabelled items outnumber labelled ones."""
    ratio = density.unlabeled.sum() / density.rows.sum()
    if ratio <= OUTNUMBERED or density.is_known.any():
        return ("class",)
    return ("class", "output") if ratio <= HOPELESS else ("output",)


def build_coordinates(density: Density, moving: Moving) -> Coordinates:
    """Build the coordinates named, long tails bent."""
    if moving == "output" and density.is_known.any():
        raise UnsuitableEngineError(
            "coordinates", "are 'output'", "known rows cannot be kept in them", "Use Hamiltonian(coordinates='class')"
        )
    coordinates: Coordinates = ByOutput(density) if moving == "output" else ByClass(density)
    if density.is_learning:
        coordinates = Learning(coordinates, density)
    return Warped(coordinates) if (coordinates.shapes < 1).any() else coordinates
