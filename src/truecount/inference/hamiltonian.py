"""Hamiltonian Monte Carlo in coordinates made for this posterior: any shape, any number of unlabelled items."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from truecount import _check
from truecount.errors import UnsuitableEngineError
from truecount.inference import convergence
from truecount.inference.coordinates import ByClass, ByOutput, Coordinates
from truecount.inference.draws import Draws
from truecount.inference.leapfrog import Chains, Effort, Tuning, begin, move, warm_up
from truecount.inference.trail import Trail
from truecount.inference.warp import Warped
from truecount.models import Density

Moving = Literal["auto", "class", "output"]
OUTNUMBERED = 3.0
"""Unlabelled items for each labelled one, from which on the outputs' shares get coordinates of their own."""


@dataclass(frozen=True, slots=True)
class Hamiltonian:
    """Many short Hamiltonian chains, moved together.

    Parameters
    ----------
    draws
        How many to return, all chains together (rounded up to a multiple of the chains).
    effective_draws
        Go on until every class has so many effective draws, R-hat is at most 1.01, or the budget is spent.
    chains
        How many; None takes 32 for ordinary problems and fewer for large ones.
    warmup
        Moves of each chain that tune the sampler and are thrown away.
    budget
        Gradients that each chain may compute; None takes a bound that falls with the size of the problem.
    coordinates
        ``"class"`` moves prevalence and confusion, ``"output"`` the outputs' shares besides; ``"auto"`` takes the
        latter when unlabelled items outnumber labelled ones.
    """

    draws: int = 4000
    effective_draws: int | None = field(default=None, kw_only=True)
    chains: int | None = field(default=None, kw_only=True)
    warmup: int = field(default=150, kw_only=True)
    budget: int | None = field(default=None, kw_only=True)
    coordinates: Moving = field(default="auto", kw_only=True)

    def __post_init__(self) -> None:
        _check.whole_number("draws", self.draws, least=1)
        _check.whole_number("warmup", self.warmup, least=50)
        _check.one_of("coordinates", self.coordinates, ("auto", "class", "output"))
        for argument in ("effective_draws", "chains", "budget"):
            if getattr(self, argument) is not None:
                _check.whole_number(argument, getattr(self, argument), least=2)

    def sample(self, density: Density, seed: int) -> Draws:
        """Warm up, then draw until there is enough."""
        rng, effort = np.random.default_rng(seed), Effort()
        moving, coordinates = choose_coordinates(density, self.coordinates)
        chains = self.chains or _default_chains(len(coordinates.shapes))
        budget = self.budget or _default_budget(chains * len(coordinates.shapes))
        state, tuning = warm_up(coordinates, begin(coordinates, chains, rng), self.warmup, rng, effort)
        run = _Run(coordinates, state, tuning, rng, effort, Trail(chains, density))
        run.advance(-(-self.draws // chains), budget)
        while (
            self.effective_draws is not None
            and effort.gradients < budget
            and (more := run.missing(self.effective_draws))
        ):
            run.advance(more, budget)
        record = {
            "engine": "Hamiltonian",
            "coordinates": moving,
            "chains": chains,
            "warmup": self.warmup,
            "gradients": effort.gradients,
            "acceptance": effort.accepted / effort.moves,
            "steps": tuning.steps,
        }
        return run.trail.draws(record)


@dataclass(slots=True)
class _Run:
    """Chains under way."""

    coordinates: Coordinates
    state: Chains
    tuning: Tuning
    rng: np.random.Generator
    effort: Effort
    trail: Trail

    def advance(self, moves: int, budget: int) -> None:
        """Move so many times, or until the budget is spent (but never leave a trail too short to judge)."""
        for _ in range(moves):
            self.state = move(self.coordinates, self.state, self.tuning, self.rng, self.effort)
            self.trail.append(*self.coordinates.natural(self.state.point))
            if self.effort.gradients >= budget and self.trail.length >= 8:
                return

    def missing(self, wanted: int) -> int:
        """How many more moves would bring every class to so many effective draws and the chains together."""
        seen, chains = self.trail.prevalence(), self.trail.chains
        reached = float(np.nan_to_num(convergence.effective_draws(seen, chains)).min())
        if reached < wanted:
            return int(np.clip(self.trail.length * (1.1 * wanted / max(reached, 1.0) - 1), 10, 2 * self.trail.length))
        settled = float(convergence.rhat(seen, chains).max()) <= convergence.RHAT_LIMIT
        return 0 if settled else self.trail.length // 2


def choose_coordinates(density: Density, moving: Moving) -> tuple[str, Coordinates]:
    """Build the coordinates asked for, or those that suit the counts."""
    any_known = bool(density.is_known.any())
    if moving == "output" and any_known:
        raise UnsuitableEngineError(
            "coordinates", "are 'output'", "known rows cannot be kept in them", "Use Hamiltonian(coordinates='class')"
        )
    if moving == "auto":
        moving = "output" if not any_known and _outnumbered(density) else "class"
    coordinates: Coordinates = ByOutput(density) if moving == "output" else ByClass(density)
    return moving, Warped(coordinates) if (coordinates.shapes < 1).any() else coordinates


def _outnumbered(density: Density) -> bool:
    return bool(density.unlabeled.sum() > OUTNUMBERED * density.rows.sum())


def _default_chains(dimensions: int) -> int:
    return 32 if dimensions <= 1000 else 16 if dimensions <= 4000 else 8


def _default_budget(size: int) -> int:
    return int(np.clip(6e9 / size, 3_000, 60_000))
