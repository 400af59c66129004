"""Every method by its name, so that tests, comparisons and experiments can loop over all of them."""

from typing import Literal, Protocol, TypeAlias

from truecount._types import FloatArray
from truecount.counts.scores import Scores
from truecount.counts.table import Counts

Needs: TypeAlias = Literal["counts", "scores"]


class Method(Protocol):
    """A way to estimate the prevalence of every class.

    A frozen dataclass: its fields are its settings. Methods that need counts take scores too, of which they use the
    most probable class alone; methods that need scores refuse counts with an `InputError`.
    """

    @property
    def name(self) -> str:
        """Lower case, as it is registered."""

    @property
    def needs(self) -> Needs:
        """What it works on."""

    @property
    def caution(self) -> str:
        """One sentence to know before using any answer of this method; empty where there is none."""

    def prevalence(self, data: Counts | Scores) -> FloatArray:
        """Shape (classes,): the share of each class in the unlabelled population."""


METHODS: dict[str, Method] = {}
