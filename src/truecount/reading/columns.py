"""Which columns of a table are read, and what they may hold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from truecount._wording import nearest, quoted
from truecount.errors import InputError
from truecount.reading.periods import COARSE, FREQUENCIES

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
    """Which columns of a table are read; `label` is None where no row has one, and may be absent if not needed."""

    prediction: str
    label: str | None = None
    by: Mapping[str, str | None] = field(default_factory=dict)
    weight: str | None = None
    needs_label: bool = True

    @property
    def keys(self) -> list[str]:
        """Columns whose combinations are counted: groups, label, prediction."""
        return [*self.by, *([self.label] if self.label is not None else []), self.prediction]

    @property
    def wanted(self) -> list[str]:
        """All columns that are read, each once."""
        return [*self.keys, *([self.weight] if self.weight is not None else [])]

    def require_distinct(self) -> None:
        """Refuse one column in two roles."""
        roles = {"label": self.label, "prediction": self.prediction, "weight": self.weight}
        seen = dict.fromkeys(self.by, "by")
        for role, column in roles.items():
            if column is not None and not isinstance(column, str):
                raise InputError(role, f"is {column!r:.60}", "it must be the name of a column", "Pass it as a string")
            if column is not None and column in seen:
                found = f"is {column!r}, as is {seen[column]}"
                raise InputError(role, found, "these are two columns", "Name the column of each")
            seen[str(column)] = role


def require_kinds(table: str, kinds: Mapping[str, str], columns: Columns) -> None:
    """Refuse columns that are not there or hold what nothing is called."""
    for column in columns.wanted:
        require_column(table, list(kinds), column)
    for column in columns.keys[len(columns.by) :]:
        if kinds[column] in NO_NAMES:
            found = f"has {kinds[column]} values in column {column!r}"
            raise InputError(table, found, "names are strings, numbers or booleans", "Convert it to text")
    for column, frequency in columns.by.items():
        if frequency is not None and kinds[column] not in _time_kinds(frequency):
            found, needed = f"has {kinds[column]} values in column {column!r}", "a frequency needs times"
            raise InputError(table, found, needed, "Convert it to a time, or leave out the frequency")
    if columns.weight is not None and not kinds[columns.weight].startswith(NUMBERS):
        found = f"has {kinds[columns.weight]} values in column {columns.weight!r}"
        raise InputError(table, found, "weights are numbers", "Convert it, or choose another column")


def _time_kinds(frequency: str) -> tuple[str, ...]:
    """Give the types of columns that can be cut; pandas keeps dates as objects, of which days are made here."""
    return ("Date", "Datetime", "Object") if frequency in COARSE else ("Datetime",)


def require_few_columns(table: str, number: int) -> None:
    """Refuse a file with so many columns that DuckDB takes minutes to look through their names."""
    if number > MOST_COLUMNS:
        found, needed = f"has {number:,} columns", f"at most {MOST_COLUMNS:,} are looked through in CSV and Parquet"
        raise InputError(table, found, needed, "Write the columns that are needed to a file of their own")


def require_column(table: str, columns: Sequence[str], wanted: str) -> int:
    """Give the position of a column, or say which there are."""
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
            if column == columns.label and not meant:
                remedy = f"Name files of unlabelled items apart, as a second table, or give them an empty {column!r}"
            found = f"has no column {column!r}, and {other} has"
            raise NoColumnError(one, found, "shards of one table have the same columns", remedy, column=column)


def _advice(wanted: str, columns: Sequence[str]) -> str:
    """Say which column, or which period of a column, was perhaps meant."""
    column, _, frequency = wanted.rpartition(":")
    if column in columns and frequency in FREQUENCIES:
        return f"Pass by={{{column!r}: {frequency!r}}}; a column beside it without a period has None"
    if column in columns:
        return f"Write the period of {column!r} as one of {', '.join(FREQUENCIES)}"
    meant = nearest(wanted, map(str, columns))
    return f"Perhaps you meant {meant!r}" if meant else "Choose one of these"
