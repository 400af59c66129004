"""Which columns of a table are read, what they may hold, and how times are cut to periods: `by={"time": "week"}`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any

from truecount._advice import Action, Advice, period
from truecount._wording import nearest, quoted
from truecount.errors import InputError

COARSE = ("day", "week", "month", "quarter", "year")
"""A back end only goes back to the start of the day; the rest is done with the few days that come back."""
FINE = {"minute": "1m", "hour": "1h"}
FREQUENCIES = (*FINE, *COARSE)
NO_NAMES = ("List", "Struct", "Array", "Binary", "Datetime", "Date", "Time", "Duration", "Map")
"""Types of columns that hold no names."""
MOST_COLUMNS = 10_000
NUMBERS = ("Int", "UInt", "Float", "Decimal")
"""How the names of types of numbers begin."""


class NoColumnError(InputError):
    """A table lacks a column, which is named."""

    def __init__(self, *parts: str, column: str = "") -> None:
        super().__init__(*parts)
        self.column = column


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which columns of a table are read; `label` is None where no row has one, and may be absent if not needed.

    Several predictions are those of several classifiers, several labels those of several raters. `study` says where the
    label of a row comes from; it may be among the columns that groups are made by. `cluster` says which items belong
    together. Of several columns, items that agree in all of them are of one study, or one cluster.
    """

    prediction: str | tuple[str, ...]
    label: str | tuple[str, ...] | None = None
    by: Mapping[str, str | None] = field(default_factory=dict)
    weight: str | None = None
    study: str | tuple[str, ...] | None = None
    cluster: str | tuple[str, ...] | None = None
    needs_label: bool = True

    @property
    def keys(self) -> list[str]:
        """Columns whose combinations are counted: groups, clusters, labels, predictions."""
        return [*self.by, *self.clusters, *self.labels, *self.predictions]

    @property
    def clusters(self) -> tuple[str, ...]:
        """The columns of clusters: one, several, or none."""
        return () if self.cluster is None else self.cluster if isinstance(self.cluster, tuple) else (self.cluster,)

    @property
    def studies(self) -> tuple[str, ...]:
        """The columns of studies: those of groups in their order, so that a group and its own labels have one name."""
        named = () if self.study is None else self.study if isinstance(self.study, tuple) else (self.study,)
        return (*(each for each in self.by if each in named), *(each for each in named if each not in self.by))

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns of labels: of each rater, one, or none."""
        return () if self.label is None else self.label if isinstance(self.label, tuple) else (self.label,)

    @property
    def predictions(self) -> tuple[str, ...]:
        """The columns of outputs, one for each classifier."""
        return self.prediction if isinstance(self.prediction, tuple) else (self.prediction,)

    @property
    def wanted(self) -> list[str]:
        """All columns that are read, each once."""
        return list(dict.fromkeys([*self.keys, *([self.weight] if self.weight is not None else [])]))

    @property
    def of_labels(self) -> "Columns":
        """What is read of labelled rows: their study, and no group."""
        return replace(self, by={each: self.by.get(each) for each in self.studies})

    @property
    def with_study(self) -> "Columns":
        """What is read of labelled and unlabelled rows at once: groups, then the study."""
        return replace(self, by={**self.by, **self.of_labels.by})

    def require_distinct(self) -> None:
        """Refuse one column in two roles; clusters within a group or a study may name its column too."""
        roles: list[tuple[str, str | None]] = [("label", each) for each in self.labels]
        roles += [*(("prediction", each) for each in self.predictions), ("weight", self.weight)]
        roles += [("study", each) for each in self.studies if each not in self.by]
        outer = {*self.by, *self.studies} if {*self.clusters} - {*self.by, *self.studies} else set()
        roles += [("cluster", each) for each in self.clusters if each not in outer]
        seen = dict.fromkeys(self.by, "by")
        for role, column in roles:
            if column is not None and not isinstance(column, str):
                raise InputError(role, f"is {column!r:.60}", "it must be the name of a column", "Pass it as a string")
            if column is not None and column in seen:
                found = f"names {column!r} twice" if seen[column] == role else f"is {column!r}, as is {seen[column]}"
                raise InputError(role, found, "these are two columns", "Name the column of each")
            seen[str(column)] = role


def require_kinds(table: str, kinds: Mapping[str, str], columns: Columns) -> None:
    """Refuse columns that are not there or hold values that are no names."""
    for column in columns.wanted:
        require_column(table, list(kinds), column)
    for column in columns.keys[len(columns.by) :]:
        if kinds[column] in NO_NAMES:
            found = f"has {kinds[column]} values in column {column!r}"
            raise InputError(table, found, "names must be strings, numbers or booleans", "Convert it to text")
    for column, frequency in columns.by.items():
        if frequency is not None and kinds[column] not in _time_kinds(frequency):
            found, needed = f"has {kinds[column]} values in column {column!r}", "a frequency needs times"
            raise InputError(table, found, needed, "Convert it to a time, or leave out the frequency")
    if columns.weight is not None and not kinds[columns.weight].startswith(NUMBERS):
        found = f"has {kinds[columns.weight]} values in column {columns.weight!r}"
        raise InputError(table, found, "weights are numbers", "Convert it, or choose another column")


def _time_kinds(frequency: str) -> tuple[str, ...]:
    """Return the types of columns that can be cut; pandas keeps dates as objects, of which days are made here."""
    return ("Date", "Datetime", "Object") if frequency in COARSE else ("Datetime",)


def require_few_columns(table: str, number: int) -> None:
    """Refuse a file with so many columns that DuckDB takes minutes to look through their names."""
    if number > MOST_COLUMNS:
        found, needed = f"has {number:,} columns", f"at most {MOST_COLUMNS:,} are looked through in CSV and Parquet"
        raise InputError(table, found, needed, "Write the columns that are needed to a file of their own")


def require_column(table: str, columns: Sequence[str], wanted: str) -> int:
    """Return the position of a column, or say which there are."""
    found = [position for position, name in enumerate(columns) if name == wanted]
    if len(found) > 1:
        needed = "each name must stand for one column"
        raise InputError(table, f"has {len(found)} columns named {wanted!r}", needed, "Rename the others")
    if not found:
        needed = f"its columns are {quoted(columns)}"
        raise NoColumnError(table, f"has no column {wanted!r}", needed, _advice(wanted, columns), column=wanted)
    return found[0]


def require_in_every_shard(names: Mapping[str, Sequence[str]], columns: Columns) -> None:
    """Refuse a file that lacks a column which another shard of the same table has; `names` are those of each file."""
    for column in columns.wanted:
        wanted = {column.casefold(), column.partition(".")[0].casefold()}
        has = {file: any(name.casefold() in wanted for name in known) for file, known in names.items()}
        if len(set(has.values())) > 1:
            one, other = (next(file for file in has if has[file] is found) for found in (False, True))
            meant = nearest(column, names[one])
            remedy = f"Perhaps you meant {meant!r}" if meant else f"Give it a column {column!r}"
            if column in columns.labels and not meant:
                remedy = f"Name files of unlabelled items apart, as a second table, or give them an empty {column!r}"
            found = f"has no column {column!r}, and {other} has"
            raise NoColumnError(one, found, "shards of one table have the same columns", remedy, column=column)


def _advice(wanted: str, columns: Sequence[str]) -> str:
    """Say which column, or which period of a column, was perhaps meant."""
    column, _, frequency = wanted.rpartition(":")
    if column in columns and frequency in FREQUENCIES:
        beside = Action("; a column beside it without a period has None", "")
        return Advice("Pass {}{}", period(column, frequency), beside)
    if column in columns:
        return f"Write the period of {column!r} as one of {', '.join(FREQUENCIES)}"
    meant = nearest(wanted, map(str, columns))
    return f"Perhaps you meant {meant!r}" if meant else "Choose one of these"


def column_names(argument: str, given: Any) -> str | tuple[str, ...]:
    """Return the name of one column, or the names of several.

    >>> column_names("prediction", ["gpt4", "bem"]), column_names("prediction", ["gpt4"])
    (('gpt4', 'bem'), 'gpt4')
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        return given
    names = tuple(given)
    if not names or not all(isinstance(name, str) for name in names):
        needed = "it must be the name of a column, or a list of names"
        raise InputError(argument, f"is {given!r:.60}", needed, f"Pass {argument}='column' or ['first', 'second']")
    return names if len(names) > 1 else names[0]


def columns_by(by: str | Iterable[str] | Mapping[str, str | None] | None) -> dict[str, str | None]:
    """Return the columns that groups are made by, each with its frequency, if it has one.

    Examples
    --------
    >>> columns_by("region"), columns_by(["region", "age"]), columns_by({"region": None, "time": "week"})
    ({'region': None}, {'region': None, 'age': None}, {'region': None, 'time': 'week'})
    """
    if by is None:
        return {}
    several = by if isinstance(by, Iterable) and not isinstance(by, str) else [by]
    columns = list(by.items()) if isinstance(by, Mapping) else [(column, None) for column in several]
    for column, frequency in columns:
        if not isinstance(column, str) or frequency not in (None, *FREQUENCIES):
            raise InputError(
                "by",
                f"is {by!r}",
                f"columns are names, and a frequency is one of {', '.join(FREQUENCIES)}",
                "Pass by='region', by=['region', 'age'], by={'time': 'week'} or by={'region': None, 'time': 'week'}",
            )
    return dict(columns)


def start_of(frequency: str | None, value: Any) -> Any:
    """Return the first day of the period that a day belongs to; weeks begin on Monday. Hours and minutes stay times.

    Examples
    --------
    >>> str(start_of("week", date(2024, 5, 30))), str(start_of("quarter", datetime(2024, 5, 30)))
    ('2024-05-27', '2024-04-01')
    """
    if value is None or frequency not in COARSE:
        return value
    if not isinstance(value, date):
        found, needed = f"meets {value!r:.60}", f"a {frequency} begins with a date or a time"
        raise InputError("by", found, needed, "Convert the column to times, or leave out the frequency")
    day = value.date() if isinstance(value, datetime) else value
    if frequency == "week":
        return day - timedelta(days=day.weekday())
    if frequency == "day":
        return day
    months = {"month": day.month, "quarter": day.month - (day.month - 1) % 3, "year": 1}
    return day.replace(month=months[frequency], day=1)
