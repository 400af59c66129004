"""Stage 8, a door: truecount as a method of QuaPy, and QuaPy's aggregative quantifiers as a source of outputs."""

from truecount import _optional

_optional.load("quapy", feature="truecount.quapy", extra="quapy")

from truecount.quapy.outputs import data_of  # noqa: E402
from truecount.quapy.quantifier import Quantifier  # noqa: E402

__all__ = ["Quantifier", "data_of"]
