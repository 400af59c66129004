"""Stage 7a: a result becomes a picture.

Every function takes a result and, if wished, matplotlib axes; it returns the axes and changes nothing else. The arrays
behind a picture come from the function of the same name and ``_data``, in the same module.
"""

from truecount.plots.against import methods, prior_sensitivity
from truecount.plots.canvas import DARK, LIGHT, Theme
from truecount.plots.chains import rank, trace
from truecount.plots.classifier import confusion, predictive
from truecount.plots.groups import caterpillar, facets, groups, trend
from truecount.plots.joint import pair, ternary
from truecount.plots.plan import plan
from truecount.plots.ranks import pairs, ranks
from truecount.plots.shares import density, prevalence
from truecount.plots.trust import contraction, coverage

__all__ = [
    "DARK",
    "LIGHT",
    "Theme",
    "caterpillar",
    "confusion",
    "contraction",
    "coverage",
    "density",
    "facets",
    "groups",
    "methods",
    "pair",
    "pairs",
    "plan",
    "predictive",
    "prevalence",
    "prior_sensitivity",
    "rank",
    "ranks",
    "ternary",
    "trace",
    "trend",
]
