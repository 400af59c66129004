"""Stage 8, a door: truecount for a scikit-learn classifier (extra ``sklearn``)."""

from truecount import _optional

_optional.load("sklearn.base", feature="truecount.sklearn", extra="sklearn")

from truecount.scores.learned import Clusters, Tree  # noqa: E402
from truecount.scores.partition import Argmax, Bins, Confidence, Intervals, Thresholds  # noqa: E402
from truecount.sklearn.quantifier import Quantifier  # noqa: E402
from truecount.sklearn.recalibrated import Recalibrated  # noqa: E402

__all__ = ["Argmax", "Bins", "Clusters", "Confidence", "Intervals", "Quantifier", "Recalibrated", "Thresholds", "Tree"]
