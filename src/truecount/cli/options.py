"""What may be written after each option of the command."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from truecount._types import FloatArray, Name
from truecount._wording import nearest
from truecount.counts import Counts
from truecount.counts.survey import Rate
from truecount.errors import InputError

if TYPE_CHECKING:
    from truecount.inference.draws import Engine
    from truecount.models import Prior

ENGINES = {
    "auto": "Auto",
    "exact": "Exact",
    "gibbs": "Gibbs",
    "hamiltonian": "Hamiltonian",
    "nuts": "NUTS",
    "quadrature": "Quadrature",
}
"""Names on the command line and classes in `truecount.inference`, each of which takes the number of draws first."""


DESIGNS = ("label-shift", "same-population", "by-prediction")


def one_of(*choices: str) -> Callable[[str], str]:
    """Make a check that an option's value is one of `choices`."""

    def check(value: str) -> str:
        if value not in choices:
            meant = nearest(value, choices)
            remedy = f" Did you mean {meant!r}?" if meant else ""
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}.{remedy}")
        return value

    return check


def make_engine(name: str, draws: str | None) -> "Engine":
    """Make the engine of that name, with its own number of draws unless one is given."""
    from truecount import inference

    engine = getattr(inference, ENGINES[name])
    made: Engine = engine() if draws is None else engine(read_whole("--draws", draws, least=2, usual=4000))
    return made


def make_prior(prevalence: str, confusion: str, counts: Counts, known: FloatArray | None) -> "Prior":
    """Read ``1`` or ``fail=2,pass=1``, and ``0.5``, ``flat``, ``sparse`` or ``diagonal:2``."""
    from truecount.models import Prior

    with _blamed_on("--prior"):
        of_prevalence = Prior(_concentrations(prevalence, counts.classes))
        of_prevalence.prevalence_for(counts)
    with _blamed_on("--prior-confusion"):
        prior = Prior(of_prevalence.prevalence, _rows(confusion), known=None if known is None else known.tolist())
        prior.confusion_for(counts)
    return prior


def read_fraction(option: str, text: str) -> tuple[int, int]:
    """Read ``50/3330``."""
    part, _, whole = text.partition("/")
    if not (_is_whole(part) and _is_whole(whole)):
        raise InputError(option, f"is {text!r}", "it must be so many of so many", "Write it like 50/3330")
    return int(part), int(whole)


def read_rate(option: str, text: str) -> Rate:
    """Read ``103/122``, which was counted, or ``0.96`` or ``96%``, which is known."""
    if "/" in text:
        return read_fraction(option, text)
    return read_share(option, text, "Write 103/122 for counts, 0.96 or 96% for what is known")


def read_by(entries: Iterable[str]) -> dict[str, str | None]:
    """Read ``region`` and ``time:week``.

    >>> read_by(["region", "time:week", "odd:name"])
    {'region': None, 'time': 'week', 'odd:name': None}
    """
    from truecount.counts.periods import FREQUENCIES

    columns: dict[str, str | None] = {}
    for entry in entries:
        column, _, frequency = entry.rpartition(":")
        columns |= {column: frequency} if column and frequency in FREQUENCIES else {entry: None}
    return columns


def read_level(text: str) -> float:
    """Read ``0.95`` or ``95%``."""
    remedy = "Write 0.95 or 95%"
    level = read_share("--level", text, remedy)
    if not 0 < level < 1:
        raise InputError("--level", f"is {text!r}", "it must lie above 0 and below 1", remedy)
    return level


def read_conclusions(option: str, entries: Iterable[str], classes: Iterable[Name]) -> dict[Name, float]:
    """Read ``pass=80%`` and ``fail=0.1``."""
    names, remedy = {str(name): name for name in classes}, "Write pass=80% or pass=0.8"
    bounds: dict[Name, float] = {}
    for entry in entries:
        name, found, share = entry.rpartition("=")
        if not found:
            raise InputError(option, f"is {entry!r}", "it must name a class and a share", remedy)
        bounds[names.get(name, name)] = read_share(option, share, remedy)
    return bounds


def read_whole(option: str, text: str, *, least: int, usual: int) -> int:
    """Read ``4000``."""
    if not _is_whole(text) or int(text) < least:
        needed = f"it must be a whole number, {least} or more"
        raise InputError(option, f"is {text!r}", needed, f"Write {option} {usual}")
    return int(text)


def _concentrations(text: str, classes: Iterable[Name]) -> float | dict[Name, float]:
    if "=" not in text:
        return _number(text, "Write 1, or a number for every class as in fail=2,pass=1")
    names = {str(name): name for name in classes}
    pairs = [entry.rpartition("=") for entry in text.split(",")]
    numbers = {
        names.get(name.strip(), name.strip()): _number(number, "Write fail=2,pass=1") for name, _, number in pairs
    }
    if len(numbers) < len(pairs):
        raise InputError("prior", f"is {text!r}", "it must name every class once", "Write fail=2,pass=1")
    return numbers


def _rows(text: str) -> Any:
    from truecount.models.priors import NAMED_ROWS, Prior

    kind, _, strength = text.partition(":")
    if kind == "diagonal":
        return Prior.diagonal(_number(strength, "Write diagonal:2")).confusion
    if text in NAMED_ROWS:
        return text
    meant = nearest(kind, (*NAMED_ROWS, "diagonal"))
    remedy = f"Or write {', '.join(NAMED_ROWS)} or diagonal:2"
    return _number(text, f"Perhaps you meant {text.replace(kind, meant)}" if meant else remedy)


def read_share(option: str, text: str, remedy: str) -> float:
    """Read ``0.96``, ``96%`` or ``96 %``."""
    number = _number(text.removesuffix("%"), remedy, option)
    return number / 100 if text.endswith("%") else number


def _number(text: str, remedy: str, option: str = "prior") -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(option, f"is {text!r}", "it must be a number", remedy) from None


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit()


@contextmanager
def _blamed_on(option: str) -> Iterator[None]:
    """Name the option in an error, which knows only the argument."""
    try:
        yield
    except InputError as error:
        raise InputError(option, error.found, error.needed, error.remedy) from error
