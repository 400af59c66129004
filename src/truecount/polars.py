"""Stage 8, a door: ``import truecount.polars`` gives frames of polars ``df.truecount.estimate(...)``, lazy ones too."""

from truecount import _optional
from truecount.accessor import Accessor

_polars = _optional.load("polars", feature="truecount.polars", extra="backends")
_polars.api.register_dataframe_namespace("truecount")(Accessor)
_polars.api.register_lazyframe_namespace("truecount")(Accessor)
