"""Rows that stream to disk while they are made, and become one file when all are there.

A run keeps its rows in a folder beside the file, ``results.parquet.parts``: ``run.json``, which says what is being
inferred, and ``part-00000000.jsonl`` and so on, each whole or not there. A run that was stopped goes on where it was;
what is written in the end depends on the parts alone.
"""

import csv
import io
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import IO, Any, cast

from truecount._advice import RESUME, Advice
from truecount._atomic import require_writable, whole_file
from truecount._wording import quoted
from truecount.errors import InputError
from truecount.results.export.values import spreadsheet_cell
from truecount.results.finding import Finding
from truecount.results.separate.rows import Row, column_kinds, key_columns, rows_alike
from truecount.results.summary import Look

ENDINGS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
RUN, SCHEMA = "run.json", "truecount.run/1"


@dataclass(frozen=True, slots=True)
class Output:
    """Where the answers of groups go that are inferred one by one, and which summary is kept of each.

    Parameters
    ----------
    path
        A file by its ending, ``.parquet``, ``.csv`` or ``.jsonl``; with `partition`, a folder. It is there whole or not
        at all; until then finished groups stand in a folder beside it, ``PATH.parts``.
    partition
        Columns of the groups that become folders, such as ``store=A``; Parquet only.
    resume
        Go on where a run that was stopped left off; it must be of the same data, model, engine, seed and version.
    look
        Level, kind and target of the intervals.
    """

    path: str | PathLike[str]
    partition: Sequence[str] = field(default=(), kw_only=True)
    resume: bool = field(default=False, kw_only=True)
    look: Look = field(default=Look(), kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.partition, str):
            object.__setattr__(self, "partition", (self.partition,))
        ending = Path(self.path).suffix.lower()
        if ending not in ENDINGS and not (self.partition and not ending):
            found = f"ends in {ending!r}" if ending else "has no ending"
            needed = "the ending says what is written: .parquet, .csv or .jsonl"
            raise InputError("output", found, needed, "Write results.parquet")
        if self.partition and self.format != "parquet":
            needed = "only Parquet is read again from folders such as store=A"
            raise InputError("partition", f"is given with {ending}", needed, "Name a folder, or leave it out")

    @property
    def format(self) -> str:
        """``parquet``, ``csv`` or ``jsonl``."""
        return ENDINGS.get(Path(self.path).suffix.lower(), "parquet")

    def require_columns(self, by: Sequence[str]) -> None:
        """Refuse to partition by a column that groups are not made by."""
        columns = key_columns(by)
        for column in self.partition:
            if column not in columns:
                needed = f"the groups are made by {quoted(columns)}" if columns else "there are no groups"
                remedy = "Name one of these" if columns else "Leave it out"
                raise InputError("partition", f"names {column!r}", needed, remedy)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFiles:
    """The parts of one run, and the file that they become.

    Parameters
    ----------
    output
        What was asked for.
    run
        What is being inferred, as plain values: a run that differs in any of them is another run.
    parts
        How many parts there will be.
    kinds
        The type of every column, as DuckDB calls it.
    """

    output: Output
    run: Mapping[str, Any]
    parts: int
    kinds: Mapping[str, str]

    @property
    def folder(self) -> Path:
        """Where the parts stand."""
        return Path(f"{os.path.realpath(self.output.path)}.parts")

    def begin(self) -> frozenset[int]:
        """Make the folder, or find the one that a stopped run left; return the numbers of the parts that are there."""
        _require_place(self.output)
        described = json.dumps({"schema": SCHEMA, **self.run, "parts": self.parts}, indent=2, default=str) + "\n"
        if not (self.folder / RUN).exists():
            self.folder.mkdir(exist_ok=True)
            _write(self.folder / RUN, described)
            return frozenset()
        if not self.output.resume:
            found = "holds what a stopped run has finished"
            needed = "another run would overwrite it"
            remedy = Advice("Pass {} to go on with it, or delete the folder", RESUME)
            raise InputError(str(self.folder), found, needed, remedy)
        if (self.folder / RUN).read_text(encoding="utf-8") != described:
            needed = "data, model, engine, seed, level and version must be the same"
            raise InputError(
                str(self.folder), f"is of another run ({self._difference()})", needed, "Delete the folder, or undo that"
            )
        return frozenset(number for number in range(self.parts) if self._part(number).exists())

    def _difference(self) -> str:
        """Name what differs from the run that was stopped."""
        before = json.loads((self.folder / RUN).read_text(encoding="utf-8"))
        now = json.loads(json.dumps({**self.run, "parts": self.parts}, default=str))
        names = [name for name in now if before.get(name) != now[name]]
        return "other " + ", ".join(names)

    def add(self, number: int, rows: Sequence[Row]) -> None:
        """Write one part."""
        text = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
        _write(self._part(number), text)

    def rows(self, number: int) -> list[Row]:
        """Read one part again."""
        with self._part(number).open(encoding="utf-8") as stream:
            return [json.loads(line) for line in stream]

    def finish(self) -> Path:
        """Make one file of all parts, or a folder of partitions, and remove the parts."""
        target = Path(self.output.path)
        if self.output.partition:
            self._write_partitions(target)
        else:
            with whole_file(target) as stream:
                getattr(self, f"_write_{self.output.format}")(stream)
        shutil.rmtree(self.folder)
        return target

    def _part(self, number: int) -> Path:
        return self.folder / f"part-{number:08d}.jsonl"

    def _write_jsonl(self, stream: IO[bytes]) -> None:
        for number in range(self.parts):
            with self._part(number).open("rb") as part:
                shutil.copyfileobj(part, stream)

    def _write_csv(self, stream: IO[bytes]) -> None:
        text = io.TextIOWrapper(cast("Any", stream), encoding="utf-8", errors="backslashreplace", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(map(spreadsheet_cell, self.kinds))
        for number in range(self.parts):
            writer.writerows(map(spreadsheet_cell, row.values()) for row in self.rows(number))
        text.detach()

    def _write_parquet(self, stream: IO[bytes]) -> None:
        """Let DuckDB write a file beside the parts, and copy it."""
        made = self.folder / "whole.parquet"
        self._copy(made, "")
        with made.open("rb") as whole:
            shutil.copyfileobj(whole, stream)

    def _write_partitions(self, target: Path) -> None:
        """Let DuckDB write all partitions beside the parts; the folder then takes its place at once."""
        from truecount.reading.duck import identifier

        made = self.folder / "partitions"
        shutil.rmtree(made, ignore_errors=True)
        self._copy(made, f", PARTITION_BY ({', '.join(map(identifier, self.output.partition))})")
        made.rename(target)

    def _copy(self, to: Path, more: str) -> None:
        """Write the rows of all parts in their order; one thread, so that the same rows are the same bytes."""
        from truecount.reading.duck import connect, identifier, sql_text, without_pattern

        columns = ", ".join(f"{identifier(name)}: {sql_text(kind)}" for name, kind in self.kinds.items())
        pattern = sql_text(f"{without_pattern(str(self.folder))}/part-*.jsonl")
        read = f"read_json({pattern}, format='newline_delimited', columns={{{columns}}})"
        with connect() as connection:
            connection.execute("SET threads = 1; SET memory_limit = '512MB'; SET preserve_insertion_order = true")
            connection.execute(f"COPY (SELECT * FROM {read}) TO {sql_text(str(to))} (FORMAT parquet{more})")  # noqa: S608


def write_rows(output: Output, rows: Sequence[Mapping[str, Any]], keys: int, findings: Iterable[Finding]) -> None:
    """Write the rows of a joint answer, or of one population, like those of groups one by one.

    Parameters
    ----------
    output
        The file.
    rows, keys, findings
        As in `rows_alike`.
    """
    alike = rows_alike(rows, keys, findings)
    columns = list(alike[0])[:keys]
    of_keys = ({name: row[name] for name in columns} for row in alike)
    kinds = column_kinds(of_keys, columns, [row["class"] for row in alike])
    files = RowFiles(output=output, run={"inference": "joint"}, parts=1, kinds=kinds)
    files.begin()
    files.add(0, alike)
    files.finish()


def _require_place(output: Output) -> None:
    """Refuse a place that cannot be written to, before any work is done."""
    if output.partition and Path(output.path).exists():
        needed = "partitions become a new folder"
        raise InputError("output", f"{str(output.path)!r} exists", needed, "Name another folder, or delete it")
    require_writable(output.path)


def _write(path: Path, text: str) -> None:
    """Write a file that takes its name when it is whole."""
    draft = path.with_suffix(".draft")
    draft.write_text(text, encoding="utf-8", errors="backslashreplace")
    draft.replace(path)
