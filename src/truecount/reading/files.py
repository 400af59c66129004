"""Files of labelled and unlabelled rows: counted by DuckDB without loading them, and blamed by name."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from truecount import _progress
from truecount._json import JsonError
from truecount._secrets import masked, secrets_of, without_secrets
from truecount._wording import quoted
from truecount.errors import InputError
from truecount.reading.columns import Columns, NoColumnError
from truecount.reading.duck import Connection, Place, connect
from truecount.reading.locate import (
    LINES,
    RECORDS,
    TABLES,
    Shards,
    ending,
    find_shards,
    is_address,
    is_database,
    may_be_log,
)
from truecount.reading.names import parts_of
from truecount.reading.relations import (
    Relation,
    column_names,
    lacking_extension,
    relations,
    require_keys,
    require_no_mixed_truth,
    shards_at,
    table_at,
)
from truecount.reading.rows import Row, Table
from truecount.reading.scan import scan
from truecount.reading.text import DELIMITERS, bad_line, ends_in_quotes, require_whole


@dataclass(frozen=True, slots=True)
class File:
    """A file, a pattern or a folder of them, or an address."""

    path: str | PathLike[str]

    @property
    def name(self) -> str:
        """What was typed, without the secrets of an address."""
        return masked(str(self.path)) if is_address(self.path) else str(self.path)

    @property
    def is_text(self) -> bool:
        """Whether all values are text, as in CSV."""
        if is_address(self.path):
            return not is_database(self.name) and ending(self.name)[0] in DELIMITERS
        return find_shards(self.path).kind in DELIMITERS

    def rows(self, columns: Columns) -> list[Row]:
        """Count the combinations of values in these columns, without loading the rows."""
        if is_address(self.path):
            return _rows_at(str(self.path), columns)
        return _rows_of(find_shards(self.path), columns)

    def head(self, most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the columns of the first file, and its first rows, at most so many."""
        shards = find_shards(self.path)
        first = replace(shards, files=shards.files[:1])
        with connect() as connection, _blamed_on(first, Columns(prediction="")):
            names = column_names(connection, first)
            columns = Columns(prediction=names[-1], by=dict.fromkeys(names[:-1]))
            found, *_ = relations(connection, first, columns)
            rows = found.native.limit(most).fetchall()
        return names, [tuple(map(found.decode, row)) for row in rows]


def table_of(paths: Sequence[str | PathLike[str]]) -> Table:
    """Return the log of an evaluation tool that these files are, or else the table at the first path."""
    if may_be_log(paths[0]):
        from truecount.reading.logs.log import find_log

        return find_log(paths) or File(paths[0])
    return File(paths[0])


def _rows_of(shards: Shards, columns: Columns) -> list[Row]:
    for file in shards.files:
        require_whole(file)
    with connect() as connection, _blamed_on(shards, columns):
        return _scanned(connection, shards, columns)


def _scanned(connection: Connection, shards: Shards, columns: Columns) -> list[Row]:
    """Count all shards; what DuckDB reads with care only is read again so before it is refused."""
    import duckdb

    try:
        rows = _counted(connection, shards, columns)
    except duckdb.Error as error:
        has_mark = shards.kind in LINES and "byte order mark" in str(error)
        if not has_mark and (shards.kind not in DELIMITERS or any(map(ends_in_quotes, shards.files))):
            raise
        rows = _counted(connection, shards, columns, is_careful=True)
    if shards.kind in RECORDS:
        require_keys(connection, shards, _empty_columns(rows, columns))
        require_no_mixed_truth(connection, shards, _mixed_columns(rows, columns))
    return rows


def _counted(connection: Connection, shards: Shards, columns: Columns, *, is_careful: bool = False) -> list[Row]:
    rows: list[Row] = []
    for relation in relations(connection, shards, columns, is_careful=is_careful):
        try:
            rows += _watched(connection, shards.name, relation, columns)
        except JsonError as error:
            found, needed = f"holds a value that cannot be read ({error})", "names must be strings, numbers or booleans"
            raise InputError(shards.name, found, needed, "Write the names as text") from error
    return rows


def _watched(connection: Connection, name: str, relation: Relation, columns: Columns) -> list[Row]:
    with _progress.watch(lambda: connection.query_progress() / 100):
        return scan(name, relation.native, columns, relation.decode)


def _cells(rows: list[Row], columns: Columns) -> dict[str, tuple[Any, ...]]:
    """Return what each column holds, where there are rows."""
    nothing = (None,) * len(columns.labels), (None,) * len(columns.predictions)
    values = [
        (
            *row.group,
            *(() if columns.cluster is None else (row.cluster,)),
            *(nothing[0] if row.label is None else parts_of(row.label)),
            *(nothing[1] if row.output is None else parts_of(row.output)),
        )
        for row in rows
    ]
    return dict(zip(columns.keys, zip(*values, strict=True), strict=True)) if values else {}


def _empty_columns(rows: list[Row], columns: Columns) -> list[str]:
    """Return the columns that hold nothing, where there are rows."""
    empty = [column for column, cells in _cells(rows, columns).items() if all(cell is None for cell in cells)]
    return [column for column in empty if columns.needs_label or column not in columns.labels]


def _mixed_columns(rows: list[Row], columns: Columns) -> list[str]:
    """Return the columns that hold truth values beside numbers, of which Python takes True for 1."""
    kinds = {column: set(map(type, cells)) for column, cells in _cells(rows, columns).items()}
    return [column for column, found in kinds.items() if bool in found and found & {int, float}]


@contextmanager
def _blamed_on(shards: Shards, columns: Columns) -> Iterator[None]:
    """Say of which file DuckDB complains: it mostly does; else the files are read one by one."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        file = _culprit(shards, columns, str(error))
        line = bad_line(file) if shards.kind in LINES else None
        if isinstance(error, duckdb.ConversionException) and shards.kind not in TABLES and line is None:
            raise _not_convertible(file, columns, str(error)) from error
        needed = f"it must be a whole {shards.kind} file"
        reason = line or _reason(error)
        raise InputError(str(file), f"cannot be read ({reason})", needed, "Repair it, or write it again") from error


def _not_convertible(file: Place, columns: Columns, message: str) -> InputError:
    """Say which value is neither a time nor a weight: no other text is converted."""
    value = re.search(r"[\"'](.{0,60}).*[\"'](,|$| to )", message.splitlines()[0])
    times = [column for column, frequency in columns.by.items() if frequency is not None]
    is_weight = "DOUBLE" in message
    names = quoted([str(columns.weight)] if is_weight else times)
    found = f"has {value[1] if value else 'a value'!r} in column {names}"
    if is_weight:
        return InputError(str(file), found, "weights are numbers", "Correct it, or choose another column")
    remedy = "Write times like 2024-05-30 or 2024-05-30 12:00, or leave out the period"
    return InputError(str(file), found, "periods are cut from times", remedy)


def _culprit(shards: Shards, columns: Columns, message: str) -> Place:
    """Find the file that a message is about; if it names none, the first that cannot be read alone raises."""
    named = [file for file in shards.files if str(file) in message]
    if not named and len(shards.files) > 1:
        for file in shards.files:
            _rows_of(replace(shards, files=(file,)), columns)
    return min(named, key=lambda file: (message.index(str(file)), -len(str(file))), default=shards.files[0])


def _rows_at(address: str, columns: Columns) -> list[Row]:
    """Count a table at an address; no error, nor what caused it, tells the secrets of the address."""
    import duckdb

    try:
        with connect(extensions=True) as connection:
            if is_database(address):
                return _watched(connection, masked(address), table_at(connection, address, columns), columns)
            return _scanned(connection, shards_at(connection, address), columns)
    except (InputError, duckdb.Error) as error:
        told = error if isinstance(error, InputError) else _unreadable_at(address, columns, error)
        if told is error and not secrets_of(address):
            raise
        if not secrets_of(address):
            raise told from error
        parts = (told.argument, told.found, told.needed, told.remedy)
    raise _same_kind(told, [without_secrets(part, address) for part in parts])


def _same_kind(error: InputError, parts: list[str]) -> InputError:
    return NoColumnError(*parts, column=error.column) if isinstance(error, NoColumnError) else InputError(*parts)


def _unreadable_at(address: str, columns: Columns, error: Exception) -> InputError:
    """Say why DuckDB cannot read what is at an address."""
    import duckdb

    if isinstance(error, duckdb.ConversionException) and ending(address)[0] not in TABLES:
        return _not_convertible(address, columns, str(error))
    extension = lacking_extension(error)
    if extension is None:
        found = f"cannot be read ({_reason(error)})"
        return InputError(address, found, "DuckDB must be able to read it", "Check the address and the rights")
    needed = f"DuckDB reads it by its extension {extension}, which is not installed"
    remedy = f"Run python -c \"import duckdb; duckdb.sql('INSTALL {extension}')\" where there is a network"
    return InputError(address, "lies elsewhere", needed, remedy)


def _reason(error: Exception) -> str:
    """Return the gist of DuckDB's message."""
    whole = str(error)
    text = (whole.partition("Error: ")[2] or whole).split("\nPossible")[0].split("\n\nLINE")[0]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "; ".join(dict.fromkeys([lines[0], lines[-1]]))[:300]
