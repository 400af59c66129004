"""The No-U-Turn sampler of nutpie (extra ``nuts``): a reference for the other engines, not needed for an answer."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import numpy as np

from truecount import _check
from truecount._optional import load
from truecount._types import FloatArray
from truecount.inference.chains.coordinates import Coordinates
from truecount.inference.chains.hamiltonian import Moving, build_coordinates, suitable_coordinates
from truecount.inference.chains.history import History
from truecount.inference.draws import Draws, Engine, within_digits
from truecount.inference.modes.landscape import survey
from truecount.inference.run import ChainRun
from truecount.models import Density

JITTER = 0.1
"""Moves every start a little: nutpie refuses points where a slope is zero, as on a mode."""
Evaluate = Callable[[FloatArray], tuple[float, FloatArray]]
"""A log-density and its gradient, at one point."""


@dataclass(frozen=True, slots=True)
class NUTS(Engine):
    """Nutpie's No-U-Turn sampler on the coordinates that `Hamiltonian` uses.

    Parameters
    ----------
    draws
        How many to return, all chains together (rounded up to a multiple of the chains).
    chains, warmup
        How many chains, and how many draws of each tune the sampler and are thrown away.
    coordinates
        As in `Hamiltonian`.
    """

    draws: int = 4000
    chains: int = field(default=4, kw_only=True)
    warmup: int = field(default=500, kw_only=True)
    coordinates: Moving = field(default="auto", kw_only=True)

    def __post_init__(self) -> None:
        for argument, least in (("draws", 2), ("chains", 1), ("warmup", 50)):
            _check.whole_number(argument, getattr(self, argument), least=least)
        _check.one_of("coordinates", self.coordinates, ("auto", "class", "output"))

    def sample(self, density: Density, seed: int) -> Draws:
        """Draw with nutpie."""
        density = within_digits(density)
        moving = suitable_coordinates(density)[-1] if self.coordinates == "auto" else self.coordinates
        coordinates = build_coordinates(density, moving)
        starts = survey(density).starting_points(self.chains, np.random.default_rng(seed))
        each = cycle(coordinates.point(*starts))
        evaluate, size = _log_density(coordinates), len(coordinates.shapes)
        points, divergences = draw_points(
            evaluate, lambda rng: next(each) + rng.normal(scale=JITTER, size=size), size, engine=self, seed=seed
        )
        history = History(self.chains, density)
        for number in range(points.shape[1]):
            history.append(*coordinates.natural(points[:, number]))
        return history.draws(
            ChainRun(engine="NUTS", chains=self.chains, warmup=self.warmup, coordinates=moving, divergences=divergences)
        )


def draw_points(
    evaluate: Evaluate, start: Callable[[np.random.Generator], FloatArray], dimensions: int, *, engine: NUTS, seed: int
) -> tuple[FloatArray, int]:
    """Draw points from any log-density that comes with its gradient.

    Returns
    -------
    Shape (chains, draws of each, dimensions), and how many moves diverged.
    """
    nutpie = load("nutpie", feature="NUTS", extra="nuts")
    trace = nutpie.sample(
        _model(evaluate, start, dimensions),
        draws=-(-engine.draws // engine.chains),
        tune=engine.warmup,
        chains=engine.chains,
        cores=1,
        seed=seed,
        save_warmup=False,
        progress_bar=False,
    )
    points: FloatArray = trace.posterior["point"].to_numpy()
    return points, int(trace.sample_stats["diverging"].sum())


def _model(evaluate: Evaluate, start: Callable[[np.random.Generator], FloatArray], dimensions: int) -> Any:
    """Tell nutpie how to compute the density and its gradient."""
    pyfunc = load("nutpie.compiled_pyfunc", feature="NUTS", extra="nuts")

    def quietly(point: FloatArray, **_: Any) -> tuple[float, FloatArray]:
        with np.errstate(all="ignore"):
            return evaluate(point)

    return pyfunc.from_pyfunc(
        dimensions,
        lambda: quietly,
        lambda *_: lambda point, **_: {"point": point},
        [np.dtype(np.float64)],
        [(dimensions,)],
        ["point"],
        make_initial_point_fn=lambda seed: start(np.random.default_rng(seed)),
    )


def _log_density(coordinates: Coordinates) -> Evaluate:
    def evaluate(point: FloatArray) -> tuple[float, FloatArray]:
        return float(coordinates.log_density(point[None])[0]), coordinates.gradient(point[None])[0]

    return evaluate
