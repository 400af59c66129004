"""Stage 8, a door: ``import truecount.pandas`` gives data frames of pandas ``df.truecount.estimate(...)``."""

from truecount import _optional
from truecount.accessor import Accessor

_optional.load("pandas", feature="truecount.pandas", extra="backends").api.extensions.register_dataframe_accessor(
    "truecount"
)(Accessor)
