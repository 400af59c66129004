"""Stage 1: data becomes counts, which are all that the model needs."""

from typing import TYPE_CHECKING

from truecount._lazy import on_demand

if TYPE_CHECKING:
    from truecount.counts.arrays import count as count
    from truecount.counts.cells import Cells as Cells
    from truecount.counts.cells import read_cells as read_cells
    from truecount.counts.counter import Counter as Counter
    from truecount.counts.exchange import merge_counts as merge_counts
    from truecount.counts.frames import count_table as count_table
    from truecount.counts.groups import Groups as Groups
    from truecount.counts.learned import Clusters as Clusters
    from truecount.counts.learned import Tree as Tree
    from truecount.counts.partition import Argmax as Argmax
    from truecount.counts.partition import Bins as Bins
    from truecount.counts.partition import Intervals as Intervals
    from truecount.counts.partition import Partition as Partition
    from truecount.counts.partition import Thresholds as Thresholds
    from truecount.counts.scores import Scores as Scores
    from truecount.counts.table import Counts as Counts

_HOMES = {
    "Argmax": "partition",
    "Bins": "partition",
    "Cells": "cells",
    "Clusters": "learned",
    "Counter": "counter",
    "Counts": "table",
    "Groups": "groups",
    "Intervals": "partition",
    "Partition": "partition",
    "Scores": "scores",
    "Thresholds": "partition",
    "Tree": "learned",
    "count": "arrays",
    "count_table": "frames",
    "merge_counts": "exchange",
    "read_cells": "cells",
}

__all__ = sorted(_HOMES)
if not TYPE_CHECKING:  # a checker would take any name for one that is there
    __getattr__, __dir__ = on_demand(__name__, _HOMES)
