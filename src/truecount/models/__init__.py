"""Stage 2: counts and a prior become a density."""

from truecount.models.discrete import Density, density
from truecount.models.gaussian import GaussianDensity, GaussianPrior, gaussian_density
from truecount.models.priors import Prior

__all__ = ["Density", "GaussianDensity", "GaussianPrior", "Prior", "density", "gaussian_density"]
