"""Stage 3b: a density becomes draws."""

from truecount.inference.choose import Auto
from truecount.inference.exact import Exact
from truecount.inference.gibbs import Gibbs

__all__ = ["Auto", "Exact", "Gibbs"]
