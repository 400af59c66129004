"""Stage 3b: a density becomes draws."""

from typing import TYPE_CHECKING

from truecount._lazy import on_demand

if TYPE_CHECKING:
    from truecount.inference.choose import Auto as Auto
    from truecount.inference.exact import Exact as Exact
    from truecount.inference.gibbs import Gibbs as Gibbs
    from truecount.inference.hamiltonian import Hamiltonian as Hamiltonian
    from truecount.inference.mixture import GaussianDraws as GaussianDraws
    from truecount.inference.mixture import sample_gaussian as sample_gaussian
    from truecount.inference.nuts import NUTS as NUTS
    from truecount.inference.quadrature import Quadrature as Quadrature

_HOMES = {
    "Auto": "choose",
    "Exact": "exact",
    "GaussianDraws": "mixture",
    "Gibbs": "gibbs",
    "Hamiltonian": "hamiltonian",
    "NUTS": "nuts",
    "Quadrature": "quadrature",
    "sample_gaussian": "mixture",
}

__all__ = sorted(_HOMES)
if not TYPE_CHECKING:  # a checker would take any name for one that is there
    __getattr__, __dir__ = on_demand(__name__, _HOMES)
