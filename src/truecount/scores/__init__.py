"""Stage 1c: scores of items, and the partitions that sort them into cells, which are counted as outputs."""

from typing import TYPE_CHECKING

from truecount._lazy import on_demand

if TYPE_CHECKING:
    from truecount.scores.cells import Cells as Cells
    from truecount.scores.cells import read_cells as read_cells
    from truecount.scores.learned import Clusters as Clusters
    from truecount.scores.learned import Tree as Tree
    from truecount.scores.partition import Argmax as Argmax
    from truecount.scores.partition import Bins as Bins
    from truecount.scores.partition import Confidence as Confidence
    from truecount.scores.partition import Intervals as Intervals
    from truecount.scores.partition import Partition as Partition
    from truecount.scores.partition import Thresholds as Thresholds
    from truecount.scores.scores import Scores as Scores

_HOMES = {
    "Argmax": "partition",
    "Bins": "partition",
    "Cells": "cells",
    "Clusters": "learned",
    "Confidence": "partition",
    "Intervals": "partition",
    "Partition": "partition",
    "Scores": "scores",
    "Thresholds": "partition",
    "Tree": "learned",
    "read_cells": "cells",
}

__all__ = sorted(_HOMES)
if not TYPE_CHECKING:  # a checker would take any name for one that is there
    __getattr__, __dir__ = on_demand(__name__, _HOMES)
