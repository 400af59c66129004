"""The No-U-Turn sampler of nutpie (extra ``nuts``): a reference for the other engines, not needed for an answer."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from truecount import _check
from truecount._optional import load
from truecount._types import FloatArray
from truecount.inference.coordinates import Coordinates
from truecount.inference.draws import Draws
from truecount.inference.hamiltonian import Moving, build_coordinates, suitable_coordinates
from truecount.inference.landscape import Landscape, survey
from truecount.inference.trail import Trail
from truecount.models import Density


@dataclass(frozen=True, slots=True)
class NUTS:
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
        nutpie = load("nutpie", feature="NUTS", extra="nuts")
        moving = suitable_coordinates(density)[-1] if self.coordinates == "auto" else self.coordinates
        coordinates = build_coordinates(density, moving)
        trace = nutpie.sample(
            _model(coordinates, survey(density)),
            draws=-(-self.draws // self.chains),
            tune=self.warmup,
            chains=self.chains,
            cores=1,
            seed=seed,
            save_warmup=False,
            progress_bar=False,
        )
        points: FloatArray = trace.posterior["point"].to_numpy()
        trail = Trail(self.chains, density)
        for number in range(points.shape[1]):
            trail.append(*coordinates.natural(points[:, number]))
        settings = {"engine": "NUTS", "coordinates": moving, "chains": self.chains, "warmup": self.warmup}
        return trail.draws({**settings, "divergences": int(trace.sample_stats["diverging"].sum())})


def _model(coordinates: Coordinates, landscape: Landscape) -> Any:
    """Tell nutpie how to compute the density and its gradient."""
    pyfunc = load("nutpie.compiled_pyfunc", feature="NUTS", extra="nuts")
    dimensions = len(coordinates.shapes)
    return pyfunc.from_pyfunc(
        dimensions,
        lambda: _log_density(coordinates),
        lambda *_: lambda point, **_: {"point": point},
        [np.dtype(np.float64)],
        [(dimensions,)],
        ["point"],
        make_initial_point_fn=lambda seed: _first_point(coordinates, landscape, seed),
    )


def _log_density(coordinates: Coordinates) -> Callable[..., tuple[float, FloatArray]]:
    def evaluate(point: FloatArray, **_: Any) -> tuple[float, FloatArray]:
        with np.errstate(all="ignore"):
            value, gradient = coordinates.log_density(point[None])[0], coordinates.gradient(point[None])[0]
        return float(value), gradient

    return evaluate


def _first_point(coordinates: Coordinates, landscape: Landscape, seed: int) -> FloatArray:
    first: FloatArray = coordinates.point(*landscape.starting_points(1, np.random.default_rng(seed)))[0]
    return first
