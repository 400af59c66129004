"""Rows of plain values as a data frame, CSV or Parquet."""

import csv
import io
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

from truecount import _check
from truecount.errors import MissingExtraError
from truecount.results.export.values import spreadsheet_cell

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")
Row: TypeAlias = Mapping[str, Any]


def to_frame(rows: Sequence[Row], backend: Backend | None = None) -> Any:
    """Return rows as a data frame of pandas, polars or pyarrow: of the one asked for, or the first that is installed.

    Names of several kinds become text, since a column has one kind.
    """
    import narwhals as nw

    if backend is not None:
        _check.one_of("backend", backend, BACKENDS)
    installed = [name for name in (BACKENDS if backend is None else (backend,)) if find_spec(name) is not None]
    if not installed:
        raise MissingExtraError("to_frame()", "backends")
    return nw.from_dict(_columns(rows), backend=installed[0]).to_native()


def to_csv(rows: Sequence[Row]) -> str:
    """Return CSV in which nothing runs: a spreadsheet would take some names for formulas, a terminal for commands."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(spreadsheet_cell, rows[0]))
    writer.writerows(map(spreadsheet_cell, row.values()) for row in rows)
    return stream.getvalue()


def to_parquet(rows: Sequence[Row]) -> bytes:
    """Return the bytes of a Parquet file, which DuckDB writes.

    >>> to_parquet([{"class": "pass", "mean": 0.5}])[:4]
    b'PAR1'
    """
    import duckdb

    columns = _columns(rows)
    kinds = {name: _kind(values) for name, values in columns.items()}
    declared = ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}" {kind}' for name, kind in kinds.items())
    marks = ", ".join("?" * len(columns))
    with duckdb.connect() as connection, tempfile.TemporaryDirectory(prefix="truecount-") as folder:
        path = Path(folder) / "answer.parquet"
        connection.execute(f"CREATE TABLE answer ({declared})")
        cells = [list(row) for row in zip(*columns.values(), strict=True)]
        connection.executemany(f"INSERT INTO answer VALUES ({marks})", cells)  # noqa: S608 - question marks alone
        connection.execute(f"COPY answer TO '{path}' (FORMAT parquet)")
        return path.read_bytes()


def _columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Return the values of each column, of one kind."""
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return {name: _alike(values) for name, values in columns.items()}


def _alike(values: list[Any]) -> list[Any]:
    kind = _kind(values)
    if kind == "DOUBLE":
        return [None if value is None else float(value) for value in values]
    return [value if value is None or kind != "VARCHAR" else str(value) for value in values]


def _kind(values: Sequence[Any]) -> str:
    """Return what DuckDB calls the kind of these values; those that are all missing are numbers."""
    present = {type(value) for value in values if value is not None}
    if present <= {float, int} and present != {int}:
        return "DOUBLE"
    return {bool: "BOOLEAN", int: "BIGINT"}.get(present.pop(), "VARCHAR") if len(present) == 1 else "VARCHAR"
