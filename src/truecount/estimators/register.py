"""Every method by its name, so that tests, comparisons and experiments can loop over all of them."""

from difflib import get_close_matches
from typing import Literal, Protocol, TypeAlias

from truecount._advice import Action, Advice
from truecount._types import FloatArray
from truecount.counts.table import Counts
from truecount.errors import InputError
from truecount.estimators.adjusted import ACC, BBSE, PACC, InvariantRatio
from truecount.estimators.binary import RoganGladen
from truecount.estimators.counting import CC, PCC, CDEIterate
from truecount.estimators.kernel import KMM
from truecount.estimators.likelihood import EM, MAP
from truecount.estimators.matching import DyS, HDy
from truecount.estimators.regularized import RLLS
from truecount.scores.scores import Scores

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


_ALL: tuple[Method, ...] = (
    CC(),
    PCC(),
    ACC(),
    PACC(),
    InvariantRatio(),
    InvariantRatio(soft=True),
    BBSE(),
    BBSE(soft=True),
    RLLS(),
    RLLS(soft=True),
    EM(),
    MAP(),
    CDEIterate(),
    KMM(),
    HDy(),
    DyS(),
)
METHODS: dict[str, Method] = {method.name: method for method in _ALL}
"""Every method by its name, with the settings that it has by default."""
NAMED: dict[str, Method] = {**METHODS, RoganGladen.name: RoganGladen()}
"""Methods that may be asked for by name: also one that is for two classes only, where unrestricted ACC equals it."""


def is_corrected(method: Method) -> bool:
    """Whether a method corrects for misclassification, and does not only count outputs or average scores.

    >>> is_corrected(CC()), is_corrected(BBSE())
    (False, True)
    """
    return not isinstance(method, CC | PCC)


def find_method(method: Method | str) -> Method:
    """Return the method of that name, or the method itself.

    >>> find_method("bbse")
    Adjusted(system='black-box-shift', restricted=False, soft=False)
    """
    if not isinstance(method, str):
        if isinstance(method, type) or not hasattr(method, "prevalence"):
            needed = "it must be a method or its name"
            raise InputError("method", f"is {method!r}", needed, "Pass ACC(), or 'acc'")
        return method
    if method not in NAMED:
        meant = get_close_matches(method.casefold(), NAMED, n=1)
        other = Action(", or an object of truecount.estimators", "")
        remedy = f"Perhaps you meant {meant[0]!r}" if meant else Advice("Choose one of them{}", other)
        raise InputError("method", f"is {method!r}", f"the methods are {', '.join(NAMED)}", remedy)
    return NAMED[method]
