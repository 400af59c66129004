"""Stage 1: data becomes counts, which are all that the model needs."""

from truecount.counts.arrays import count
from truecount.counts.scores import Scores
from truecount.counts.table import Counts

__all__ = ["Counts", "Scores", "count"]
