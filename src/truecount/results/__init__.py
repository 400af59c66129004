"""Stage 4: what comes back."""

from truecount.results.finding import Finding
from truecount.results.posterior import Posterior

__all__ = ["Finding", "Posterior"]
