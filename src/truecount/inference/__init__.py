"""Stage 3b: a density becomes draws."""

from typing import TYPE_CHECKING

from truecount._lazy import on_demand

if TYPE_CHECKING:
    from truecount.inference.chains.gibbs import Gibbs as Gibbs
    from truecount.inference.chains.hamiltonian import Hamiltonian as Hamiltonian
    from truecount.inference.chains.nuts import NUTS as NUTS
    from truecount.inference.choose import Auto as Auto
    from truecount.inference.importance.exact import Exact as Exact
    from truecount.inference.integration.quadrature import Quadrature as Quadrature

_HOMES = {
    "Auto": "choose",
    "Exact": "importance.exact",
    "Gibbs": "chains.gibbs",
    "Hamiltonian": "chains.hamiltonian",
    "NUTS": "chains.nuts",
    "Quadrature": "integration.quadrature",
}

__all__ = sorted(_HOMES)
if not TYPE_CHECKING:  # a checker would take any name for one that is there
    __getattr__, __dir__ = on_demand(__name__, _HOMES)
