"""Stage 2, the other way round: a truth becomes data, to try the rest of the package on."""

from truecount.simulate.discrete import confusion, counts, prevalence

__all__ = ["confusion", "counts", "prevalence"]
