"""Rows of plain values as a data frame, CSV or Parquet."""

import csv
import io
import tempfile
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, TypeAlias

from truecount import _check
from truecount.errors import InputError, MissingExtraError
from truecount.results.export import spreadsheet_cell

Backend: TypeAlias = Literal["pandas", "polars", "pyarrow"]
BACKENDS: tuple[Backend, ...] = ("pandas", "polars", "pyarrow")
Row: TypeAlias = Mapping[str, Any]


def to_frame(rows: Sequence[Row], backend: Backend | None = None) -> Any:
    """Return rows as a data frame of pandas, polars or pyarrow: of the one asked for, or the first that is installed.

    >>> to_frame([{"class": "pass", "mean": 0.5}], backend="pandas").shape
    (1, 2)
    """
    import narwhals as nw

    if backend is not None:
        _check.one_of("backend", backend, BACKENDS)
    wanted = BACKENDS if backend is None else (backend,)
    installed = [name for name in wanted if find_spec(name) is not None]
    if not installed:
        raise MissingExtraError(f"to_frame() needs {' or '.join(wanted)}. Install it with: pip install {wanted[0]}")
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return nw.from_dict({name: _alike(values) for name, values in columns.items()}, backend=installed[0]).to_native()


def to_csv(rows: Sequence[Row]) -> str:
    """Return CSV in which nothing runs: a spreadsheet would take some names for formulas, a terminal for commands."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(map(spreadsheet_cell, rows[0]))
    writer.writerows(map(spreadsheet_cell, row.values()) for row in rows)
    return stream.getvalue()


def to_parquet(rows: Sequence[Row]) -> bytes:
    """Return the bytes of a Parquet file, which DuckDB writes."""
    import duckdb

    names = [f'"{name.replace(chr(34), chr(34) * 2)}"' for name in rows[0]]
    kinds = [_kind([row[name] for row in rows]) for name in rows[0]]
    columns = ", ".join(f"{name} {kind}" for name, kind in zip(names, kinds, strict=True))
    cells = [
        [
            value if kind != "VARCHAR" or value is None else str(value)
            for value, kind in zip(row.values(), kinds, strict=True)
        ]
        for row in rows
    ]
    with duckdb.connect() as connection, tempfile.TemporaryDirectory(prefix="truecount-") as folder:
        path = Path(folder) / "answer.parquet"
        connection.execute(f"CREATE TABLE answer ({columns})")
        connection.executemany(f"INSERT INTO answer VALUES ({', '.join('?' * len(names))})", cells)
        connection.execute(f"COPY answer TO '{path}' (FORMAT parquet)")
        return path.read_bytes()


def require_rows(rows: Sequence[Row]) -> Sequence[Row]:
    """Refuse a table without rows, which has no columns."""
    if not rows:
        raise InputError("rows", "are none", "a table has some", "Ask for an answer that has groups and classes")
    return rows


def _kind(values: Sequence[Any]) -> str:
    present = {type(value) for value in values if value is not None}
    if present <= {float, int} and float in present:
        return "DOUBLE"
    return {bool: "BOOLEAN", int: "BIGINT"}.get(present.pop(), "VARCHAR") if len(present) == 1 else "VARCHAR"


def _alike(values: Sequence[Any]) -> list[Any]:
    """Return values of one kind, since a column of a frame has one; names of several kinds become text."""
    kind = _kind(values)
    if kind == "DOUBLE":
        return [None if value is None else float(value) for value in values]
    return [value if value is None or kind != "VARCHAR" else str(value) for value in values]
