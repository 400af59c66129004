"""Stage 3b: a density becomes draws."""

from truecount.inference.choose import Auto
from truecount.inference.exact import Exact
from truecount.inference.gibbs import Gibbs
from truecount.inference.hamiltonian import Hamiltonian
from truecount.inference.mixture import GaussianDraws, sample_gaussian
from truecount.inference.nuts import NUTS

__all__ = ["NUTS", "Auto", "Exact", "GaussianDraws", "Gibbs", "Hamiltonian", "sample_gaussian"]
