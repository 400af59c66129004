"""Stage 4: what comes back."""

from truecount.results.comparison import Comparison
from truecount.results.finding import Finding
from truecount.results.point import PointEstimate
from truecount.results.posterior import Posterior
from truecount.results.recalibrate import Recalibration

__all__ = ["Comparison", "Finding", "PointEstimate", "Posterior", "Recalibration"]
