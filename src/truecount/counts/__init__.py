"""Stage 1: data becomes counts, which are all that the model needs."""

from truecount.counts.arrays import count
from truecount.counts.cells import Cells, read_cells
from truecount.counts.counter import Counter
from truecount.counts.exchange import merge_counts
from truecount.counts.frames import count_table
from truecount.counts.learned import Clusters, Tree
from truecount.counts.partition import Argmax, Bins, Intervals, Partition, Thresholds
from truecount.counts.scores import Scores
from truecount.counts.table import Counts

__all__ = [
    "Argmax",
    "Bins",
    "Cells",
    "Clusters",
    "Counter",
    "Counts",
    "Intervals",
    "Partition",
    "Scores",
    "Thresholds",
    "Tree",
    "count",
    "count_table",
    "merge_counts",
    "read_cells",
]
