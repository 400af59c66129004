"""Stage 1b: rows become counts, which are all that the model needs."""

from typing import TYPE_CHECKING

from truecount._lazy import on_demand

if TYPE_CHECKING:
    from truecount.counts.combinations import Combinations as Combinations
    from truecount.counts.counter import Counter as Counter
    from truecount.counts.counting import count as count
    from truecount.counts.counting import count_table as count_table
    from truecount.counts.exchange import merge_counts as merge_counts
    from truecount.counts.groups import Groups as Groups
    from truecount.counts.ratings import Ratings as Ratings
    from truecount.counts.table import Counts as Counts

_HOMES = {
    "Combinations": "combinations",
    "Counter": "counter",
    "Counts": "table",
    "Groups": "groups",
    "Ratings": "ratings",
    "count": "counting",
    "count_table": "counting",
    "merge_counts": "exchange",
}

__all__ = sorted(_HOMES)
if not TYPE_CHECKING:  # a checker would take any name for one that is there
    __getattr__, __dir__ = on_demand(__name__, _HOMES)
