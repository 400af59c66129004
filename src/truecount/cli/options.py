"""What may be written after each option of the command."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from truecount._progress import progress_style
from truecount._types import Name
from truecount._wording import nearest
from truecount.counts.survey import Rate
from truecount.errors import InputError
from truecount.models.register import KINDS
from truecount.results.by_class import unknown_class

if TYPE_CHECKING:
    from truecount.cli.source import Source
    from truecount.inference.draws import Engine
    from truecount.models import Pert
    from truecount.results.claim import Side

Made = TypeVar("Made")
ENGINES = {
    "auto": "Auto",
    "exact": "Exact",
    "gibbs": "Gibbs",
    "hamiltonian": "Hamiltonian",
    "nuts": "NUTS",
    "quadrature": "Quadrature",
}
"""Names on the command line and classes in `truecount.inference`, each of which takes the number of draws first."""


MOST_DRAWS, MOST_SEED = 10**7, 2**63 - 1
EXCLUDING = (
    ("compare", "baseline", "the first compares two groups, the second all with one"),
    ("compare", "all_pairs", "all pairs hold every other"),
    ("baseline", "all_pairs", "all pairs hold those with the baseline"),
    ("trend", "independent", "a trend goes from one period to the next, which independent groups do not"),
    ("trend", "covariate", "a trend has no covariates"),
    ("trend", "by", "a trend is one series of periods"),
    ("independent", "covariate", "covariates say where groups are pooled, and independent ones are not"),
    *(
        ("separate", name, "groups that are inferred one by one have no joint draws, which it needs")
        for name in (
            *("compare", "baseline", "all_pairs", "trend", "study", "random_labels", "above", "below"),
            *("covariate", "independent"),
        )
    ),
)
"""Options that contradict each other, and why."""
DESIGNS = {kind.option(): kind for kind in KINDS}
"""Names on the command line, and models."""


def one_of(*choices: str) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """Make a check that an option's value, if it is given, is one of `choices`."""

    def check(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
        if value is not None and value not in choices:
            meant = nearest(value, choices)
            remedy = f" Did you mean {meant!r}?" if meant else ""
            raise click.BadParameter(f"{value!r} is not one of {', '.join(choices)}.{remedy}")
        return value

    return check


def make_engine(name: str, draws: str | None) -> "Engine":
    """Make the engine of that name, with its own number of draws unless one is given."""
    from truecount import inference

    engine = getattr(inference, ENGINES[name])
    if draws is None:
        made: Engine = engine()
    else:
        made = engine(read_whole("--draws", draws, least=2, most=MOST_DRAWS, usual=4000))
    return made


def read_fraction(option: str, text: str) -> tuple[float, float]:
    """Read ``50/3330``; with a decimal point, ``50.5/1200`` is weighted, and 1200 its effective sample size."""
    numbers = [part.strip() for part in text.split("/")]
    if len(numbers) != 2 or not all(map(_is_count, numbers)):
        raise InputError(
            option, f"is {text!r:.60}", "it must be a count and a total", "Write it like 50/3330, without commas"
        )
    part, whole = (float(number) if "." in number else int(number) for number in numbers)
    return part, whole


def read_populations(option: str, entries: Sequence[str]) -> dict[str | None, tuple[float, float]]:
    """Read ``50/3330`` of one population, or ``north=50/3330`` of each of several, by name.

    >>> read_populations("--positive", ["north=50/3330", "south=7/900"])
    {'north': (50, 3330), 'south': (7, 900)}
    """
    pairs = [entry.rpartition("=") for entry in entries]
    names = [name if found else None for name, found, _ in pairs]
    remedy = "Write --positive 50/3330 once, or --positive north=50/3330 --positive south=7/900"
    if len(names) > 1 and None in names:
        raise InputError(option, f"is given {len(names)} times", "each of several populations has a name", remedy)
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(option, f"names {twice!r} twice", "each population has one survey", remedy)
    return {name: read_fraction(option, text) for name, (_, _, text) in zip(names, pairs, strict=True)}


def read_rate(option: str, text: str) -> "Rate | Pert":
    """Read ``103/122``, which was counted, ``0.96`` or ``96%``, which is known, or ``80%..95%``, which is a range.

    A range may name its most likely value, ``80%..90%..95%``, which else is its middle.
    """
    if ".." in text:
        return _read_range(option, text)
    if "/" in text:
        return read_fraction(option, text)
    written = "103/122 for counts, 0.96 or 96% for what is known, 80%..95% or 80%..90%..95% for a range"
    return read_share(option, text, f"Write {written}")


def _read_range(option: str, text: str) -> "Pert":
    from truecount.models import Pert

    remedy = "Write 80%..95%, or with its most likely value 80%..90%..95%"
    ends = [read_share(option, each.strip(), remedy) for each in text.split("..")]
    if len(ends) not in (2, 3):
        raise InputError(option, f"is {text!r:.60}", "a range has two ends, and perhaps a most likely value", remedy)
    try:
        return Pert(ends[1] if len(ends) == 3 else (ends[0] + ends[1]) / 2, ends[0], ends[-1])
    except InputError as error:
        raise InputError(option, f"is {text!r:.60}", error.needed, remedy) from error


def read_by(entries: Iterable[str]) -> dict[str, str | None]:
    """Read ``region``, ``time:week`` and ``store,week``; a name with a comma stands in double quotes.

    >>> read_by(["region", "time:week", "odd:name"])
    {'region': None, 'time': 'week', 'odd:name': None}
    >>> read_by(["store,week", '"a,b"'])
    {'store': None, 'week': None, 'a,b': None}
    """
    from truecount.reading.columns import FREQUENCIES

    columns: dict[str, str | None] = {}
    for entry in read_columns(entries):
        column, _, frequency = entry.rpartition(":")
        columns |= {column: frequency} if column and frequency in FREQUENCIES else {entry: None}
    return columns


def read_columns(entries: Iterable[str]) -> list[str]:
    """Read ``model,question``; a name with a comma stands in double quotes.

    >>> read_columns(["model,question", '"a,b"'])
    ['model', 'question', 'a,b']
    """
    from csv import reader

    return [name for names in reader(entries, skipinitialspace=True) for name in names]


def read_level(text: str) -> float:
    """Read ``0.95`` or ``95%``."""
    remedy = "Write 0.95 or 95%"
    level = read_share("--level", text, remedy)
    if not 0 < level < 1:
        raise InputError("--level", f"is {text!r}", "it must lie above 0 and below 1", remedy)
    return level


def read_conclusions(option: str, entries: Iterable[str], classes: Sequence[Name]) -> dict[Name, float]:
    """Read ``pass=80%`` and ``fail=0.1``."""
    remedy, bounds = f"Write {classes[-1]}=80% or {classes[-1]}=0.8", dict[Name, float]()
    for entry in entries:
        name, found, share = entry.rpartition("=")
        if not found:
            raise InputError(option, f"is {entry!r}", "it must name a class and a share", remedy)
        bounds[named_class(option, name, classes)] = read_share(option, share, remedy)
    return bounds


def read_whole(option: str, text: str, *, least: int, most: int, usual: int) -> int:
    """Read ``4000``."""
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(most)) or not least <= int(text) <= most:
        needed = f"it must be a whole number from {least} to {most:,}"
        raise InputError(option, f"is {text!r:.60}", needed, f"Write {option} {usual}")
    return int(text)


def read_seed(text: str) -> int:
    """Read ``0``."""
    return read_whole("--seed", text, least=0, most=MOST_SEED, usual=0)


def named_class(option: str, text: str, classes: Sequence[Name]) -> Name:
    """Return the class of that name, which may be a number in the data."""
    by_text = {str(name): name for name in classes}
    if text not in by_text:
        raise unknown_class(option, f"is {text!r:.60}", text, classes)
    return by_text[text]


def read_share(option: str, text: str, remedy: str) -> float:
    """Read ``0.96``, ``96%`` or ``96 %``."""
    number = read_number(text.removesuffix("%"), remedy, option)
    return number / 100 if text.endswith("%") else number


def read_number(text: str, remedy: str, option: str = "prior") -> float:
    """Read a number, or say what to write instead."""
    try:
        return float(text)
    except ValueError:
        raise InputError(option, f"is {text!r:.60}", "it must be a number", remedy) from None


def _is_count(text: str) -> bool:
    """Whether this is a number, 0 or more, of few enough digits."""
    return re.fullmatch(r"\d{1,18}(\.\d{1,18})?", text, re.ASCII) is not None


def among(kind: type[Made], options: Mapping[str, Any]) -> Made:
    """Return what was said among all options of a command, which are named like the fields of a choice."""
    known = [each.name for each in fields(kind)]  # type: ignore[arg-type]
    return kind(**{name: options[name] for name in known if options.get(name) is not None})


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions:
    """What was said about groups; the fields are options of the command."""

    by: Sequence[str] = ()
    compare: tuple[str, str] | None = None
    baseline: str | None = None
    all_pairs: bool = False
    trend: str | None = None
    study: Sequence[str] = ()
    new_study: str | None = None
    random_labels: bool = False
    above: Sequence[str] = ()
    below: Sequence[str] = ()
    covariate: Sequence[str] = ()
    independent: bool = False
    separate: bool = False

    @property
    def given(self) -> list[str]:
        """The options that were given, beside the columns that make groups."""
        return [option(field.name) for field in fields(self) if getattr(self, field.name) and field.name != "by"]

    def require_sound(self, source: "Source", engine: str) -> None:
        """Refuse options that contradict each other or the data, before anything is read."""
        for first, second, reason in EXCLUDING:
            if getattr(self, first) and getattr(self, second):
                found = f"is given with {option(second)}"
                raise _misused(first, found, reason, f"Leave out {option(first)} or {option(second)}")
        if self.trend and self.new_study == "one":
            needed = "groups that share the rows of one new study are pooled or independent, and a trend is neither"
            remedy = f"Write --by {self.trend} in place of --trend {self.trend}, or --new-study each"
            raise _misused("new_study", "is 'one' beside --trend", needed, remedy)
        if self.compare is not None and self.compare[0] == self.compare[1]:
            found = f"names {self.compare[0]!r} twice"
            raise _misused("compare", found, "a comparison is of two groups", "Name two different groups")
        for side in ("above", "below"):
            names = [entry.rpartition("=")[0] for entry in getattr(self, side)]
            for name in names:
                if names.count(name) > 1:
                    found = f"names {name!r} {names.count(name)} times"
                    raise _misused(side, found, "a class has one threshold on a side", "Name each class once")
        if not self.of_source(source).may_be_of_groups:
            self.require_groups()
        if source.asks_for_groups and engine != "auto":
            found, needed = f"is {engine!r}", "groups are drawn jointly, by an engine of their own"
            raise _misused("engine", found, needed, "Leave out --engine")

    def require_comparisons_shown(self, is_shown: bool) -> None:
        """Refuse comparisons that go nowhere: rows and pictures are of groups, and hold none."""
        asked = next((name for name in ("compare", "baseline", "all_pairs") if getattr(self, name)), None)
        if asked is not None and not is_shown:
            needed = "comparisons stand in the table, on the page and in the JSON"
            raise _misused(asked, "is given with files of groups alone", needed, "Add --table, --html or --json")

    @property
    def joint(self) -> list[str]:
        """The options that were given which only groups that are drawn jointly have."""
        return [name for name in self.given if name != "--separate"]

    def require_groups(self) -> None:
        """Refuse options that say something of groups where there are none."""
        of_groups = [name for name in self.given if name not in ("--above", "--below")]
        if of_groups:
            found, needed = "is given without groups", "it says something of several groups"
            remedy = "Add --by COLUMN, or --trend COLUMN:PERIOD"
            raise _misused(of_groups[0].removeprefix("--"), found, needed, remedy)

    def thresholds(self, classes: Sequence[Name]) -> dict["Side", dict[Name, float]]:
        """Return the shares that classes are said to lie above and below."""
        sides: dict[Side, Sequence[str]] = {"above": self.above, "below": self.below}
        found = {side: read_conclusions(f"--{side}", entries, classes) for side, entries in sides.items()}
        for side, told in found.items():
            for name, share in told.items():
                if not 0 <= share <= 1:
                    remedy = f"Write {name}=80% or {name}=0.8"
                    raise InputError(f"--{side}", f"is {share:g}", "a share lies between 0 and 1", remedy)
        return found

    def of_source(self, source: "Source") -> "Source":
        """Return the data with the columns that these options read; counts have theirs already."""
        if not (source.label or source.prediction):
            return replace(source, study=self.study or None)
        columns = [*self.by, *([self.trend] if self.trend else [])]
        more = [column for column in self.covariate if column not in read_by(columns)]
        return replace(source, by=[*columns, *more] or None, study=self.study or None)


class MisuseError(InputError):
    """Options that do not go together: bad usage, for which the exit code is 2."""


def refuse_parts_of_items(source: "Source", label_error: str | None, target_labels: str | None) -> None:
    """Refuse weights beside labels that may err, and weights and clusters beside labels of the population, unread."""
    given = {
        "--label-error": label_error,
        "--target-labels": target_labels,
        "several --label": (source.label or ())[1:],
    }
    for first in (name for name, value in given.items() if value):
        cluster, needed = None, "such labels are of items that count alike"
        if first == "--target-labels":
            cluster, needed = source.cluster, "such labels are of single items, which are independent and count alike"
        parts = {"--cluster": cluster, "--weight": source.weight}
        for second in (name for name, value in parts.items() if value):
            raise MisuseError(second, f"is given with {first}", needed, "Leave out one of them")


def option(name: str) -> str:
    """Return the option that a field stands for."""
    return f"--{name.replace('_', '-')}"


def _misused(name: str, found: str, needed: str, remedy: str) -> click.BadParameter:
    """Return the error for options that do not go together, in the four parts of any error."""
    return click.BadParameter(str(InputError(option(name), found, needed, remedy)))


def be_quiet(context: click.Context, parameter: click.Parameter, wanted: bool) -> bool:
    """Show no progress where that is wanted."""
    if wanted:
        context.with_resource(progress_style("quiet"))
    return wanted
