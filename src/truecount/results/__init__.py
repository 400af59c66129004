"""Stage 4: what comes back."""

from typing import TYPE_CHECKING

from truecount._lazy import on_demand

if TYPE_CHECKING:
    from truecount.results.comparison import Comparison as Comparison
    from truecount.results.finding import Finding as Finding
    from truecount.results.point import PointEstimate as PointEstimate
    from truecount.results.posterior import Posterior as Posterior
    from truecount.results.recalibration import Recalibration as Recalibration
    from truecount.results.summary import Summary as Summary

_HOMES = {
    "Comparison": "comparison",
    "Finding": "finding",
    "PointEstimate": "point",
    "Posterior": "posterior",
    "Recalibration": "recalibration",
    "Summary": "summary",
}

__all__ = sorted(_HOMES)
if not TYPE_CHECKING:  # a checker would take any name for one that is there
    __getattr__, __dir__ = on_demand(__name__, _HOMES)
