"""Files of labelled and unlabelled rows: counted by DuckDB without loading them, and blamed by name."""

import re
from collections import defaultdict
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
from truecount.reading.columns import (
    Columns,
    NoColumnError,
    require_column,
    require_few_columns,
    require_in_every_shard,
)
from truecount.reading.duck import Connection, Place, Relation, columns_of, connect, literals, selected, sql_text
from truecount.reading.locate import (
    DELIMITERS,
    LINES,
    RECORDS,
    TABLES,
    Shards,
    bad_line,
    ending,
    ends_in_quotes,
    find_shards,
    folder_columns,
    header,
    is_address,
    is_database,
    may_be_log,
    require_whole,
)
from truecount.reading.names import parts_of
from truecount.reading.relations import (
    FIRST_RECORDS,
    lacking_extension,
    lines_source,
    of_parquet,
    of_records,
    records_source,
    require_keys,
    require_no_mixed_truth,
    shards_at,
    table_at,
)
from truecount.reading.rows import Row, Table, scan

CSV = """read_csv({paths}, columns={types}, delim={delimiter}, header=true, quote='"', escape='"', comment='',
    auto_detect=false, parallel={parallel}, hive_partitioning={partitioned}, hive_types_autocast=false)"""


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

    def columns(self) -> list[str]:
        """Return the columns of the first file."""
        first = _first_of(self.path)
        with connect() as connection, _blamed_on(first, Columns(prediction="")):
            return column_names(connection, first)

    def head(self, most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the columns of the first file, and its first rows, at most so many."""
        first = _first_of(self.path)
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


def _first_of(path: str | PathLike[str]) -> Shards:
    shards = find_shards(path)
    return replace(shards, files=shards.files[:1])


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


def relations(
    connection: Connection, shards: Shards, columns: Columns, *, is_careful: bool = False
) -> Iterator[Relation]:
    """Return the table that all shards make up; files whose columns differ in name, order or type are read singly.

    Where `is_careful`, CSV is read by one thread, as line breaks in quotes may need, and JSON line by line, as a byte
    order mark does.
    """
    if shards.kind in DELIMITERS:
        yield from _of_text(connection, shards, columns, "false" if is_careful else "true")
    elif shards.kind in RECORDS:
        yield of_records(connection, shards, columns, lines_source if is_careful else records_source)
    elif shards.kind in TABLES:
        yield from of_parquet(connection, shards, columns)
    else:
        raise NotImplementedError(f"files that end in {shards.kind} have no relation")


def _of_text(connection: Connection, shards: Shards, columns: Columns, parallel: str) -> Iterator[Relation]:
    """Read CSV by position, under names that no folder can have: one such as ``week=3`` replaces a column ``week``."""
    alike: defaultdict[tuple[tuple[str, ...], str], list[Place]] = defaultdict(list)
    for file in shards.files:
        names, delimiter = header(file)
        require_few_columns(str(file), len(names))
        alike[tuple(names), delimiter].append(file)
    by_file = {str(files[0]): [*named, *folder_columns(files[0])] for (named, _), files in alike.items()}
    require_in_every_shard(by_file, columns)
    for (named, delimiter), files in alike.items():
        types = "{" + ", ".join(f"'/{position}': 'VARCHAR'" for position in range(len(named))) + "}"
        source = CSV.format(
            paths=literals(files),
            types=types,
            delimiter=sql_text(delimiter),
            parallel=parallel,
            partitioned=shards.is_partitioned,
        )
        parts = columns_of(connection, source)[len(named) :]
        known = [*named, *parts]
        chosen = {column: f"#{require_column(str(files[0]), known, column) + 1}" for column in columns.wanted}
        yield selected(connection, source, columns, chosen)


def column_names(connection: Connection, shards: Shards) -> list[str]:
    """Return the columns of a table: of JSON, the keys of its first records."""
    if shards.kind in DELIMITERS:
        return header(shards.files[0])[0]
    if shards.kind in TABLES:
        source = f"read_parquet({literals(shards.files)}, hive_partitioning={shards.is_partitioned})"
        return columns_of(connection, source)
    source = f"(FROM {records_source(shards)} LIMIT {FIRST_RECORDS})"
    found = connection.sql(f"SELECT json_keys(json) FROM {source}").fetchall()  # noqa: S608
    return list(dict.fromkeys(key for (keys,) in found for key in keys or ()))


def _cells(rows: list[Row], columns: Columns) -> dict[str, tuple[Any, ...]]:
    """Return what each column holds, where there are rows."""
    nothing = (None,) * len(columns.labels), (None,) * len(columns.predictions)
    values = [
        (
            *row.group,
            *(row.cluster for _ in columns.clusters),
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
    clean = [without_secrets(part, address) for part in parts]
    raise NoColumnError(*clean, column=told.column) if isinstance(told, NoColumnError) else InputError(*clean)


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
