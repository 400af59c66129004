"""Stage 2: counts and a prior become a density."""

from typing import TYPE_CHECKING

from truecount._lazy import on_demand

if TYPE_CHECKING:
    from truecount.models.discrete import Density as Density
    from truecount.models.discrete import density as density
    from truecount.models.gaussian import GaussianDensity as GaussianDensity
    from truecount.models.gaussian import GaussianPrior as GaussianPrior
    from truecount.models.gaussian import gaussian_density as gaussian_density
    from truecount.models.priors import Prior as Prior

_HOMES = {
    "Density": "discrete",
    "GaussianDensity": "gaussian",
    "GaussianPrior": "gaussian",
    "Prior": "priors",
    "density": "discrete",
    "gaussian_density": "gaussian",
}

__all__ = sorted(_HOMES)
if not TYPE_CHECKING:  # a checker would take any name for one that is there
    __getattr__, __dir__ = on_demand(__name__, _HOMES)
