"""Logs of evaluation tools as one table: recognized by what they hold, counted like any file of JSON Lines."""

import json
import math
import tempfile
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from truecount._wording import quoted
from truecount.errors import InputError, TruecountWarning
from truecount.reading.columns import Columns, require_column
from truecount.reading.files import File
from truecount.reading.locate import existing_file, files_meant, first_sign, holds_lines, is_address
from truecount.reading.logs.deepeval import DEEPEVAL
from truecount.reading.logs.inspect import INSPECT, is_archive, read_header
from truecount.reading.logs.lm_eval import LM_EVAL
from truecount.reading.logs.mlflow import MLFLOW
from truecount.reading.logs.openai_evals import OPENAI_EVALS
from truecount.reading.logs.promptfoo import PROMPTFOO
from truecount.reading.logs.record import (
    FAILED,
    Document,
    Fields,
    Record,
    Tool,
    json_lines,
    leaves,
    other_shape,
    value_at,
)
from truecount.reading.rows import Row

TOOLS = (INSPECT, LM_EVAL, PROMPTFOO, DEEPEVAL, OPENAI_EVALS, MLFLOW)
ENDINGS = (".eval", ".json", ".jsonl")
MOST_SHOWN = 40
"""Columns that an error or a printed log names."""


@dataclass(frozen=True, slots=True)
class Log:
    """Logs of one evaluation tool, read as one table.

    Parameters
    ----------
    files
        At least one.
    tool
        What wrote them.

    Notes
    -----
    A record on which the evaluation failed before there was a prediction has the output ``error``.
    """

    files: tuple[Path, ...]
    tool: Tool

    @property
    def name(self) -> str:
        """The files, as errors say them."""
        first = str(self.files[0])
        return first if len(self.files) == 1 else f"{first} and {len(self.files) - 1} more"

    @property
    def is_text(self) -> bool:
        """Whether all values are text; those of JSON are not."""
        return False

    @property
    def fields(self) -> Fields:
        """Which fields are the label, the prediction, the group and the cluster by default."""
        return self.tool.fields

    @property
    def columns(self) -> tuple[str, ...]:
        """The fields of the records that hold one value; a dot leads into what is nested."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruecountWarning)
            return tuple(dict.fromkeys(path for record in self.records() for path in leaves(record.values)))

    def records(self) -> Iterator[Record]:
        """Return the items of all files; one run of an item that stands in two of them is refused."""
        seen: dict[str, Path] = {}
        for file in self.files:
            found = _document(file)
            if found is None or not self.tool.recognizes(found):
                needed = f"with {self.files[0]}, all must be logs of {self.tool.name}"
                raise InputError(str(file), f"is no log of {self.tool.name}", needed, "Name the logs of one tool")
            for record in _records(self.tool, found):
                if record.identity is not None and seen.setdefault(str(record.identity), file) != file:
                    said = f"holds an item that {seen[str(record.identity)]} holds too"
                    remedy = "Name one of the two; a log of a repeated evaluation holds what was done before"
                    raise InputError(str(file), said, "each item is counted once", remedy)
                yield record

    def repeats_items(self, by: Collection[str] = ()) -> bool:
        """Whether items occur several times, by the tool's field of clusters, and each in one group only."""
        cluster = self.fields.cluster
        if not isinstance(cluster, str):
            return False
        groups: dict[Any, tuple[str, ...]] = {}
        number = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TruecountWarning)
            for number, record in enumerate(self.records(), 1):  # noqa: B007
                item = str(value_at(record.values, cluster))
                group = tuple(str(value_at(record.values, column)) for column in by)
                if groups.setdefault(item, group) != group:
                    return False
        return len(groups) < number

    def rows(self, columns: Columns) -> list[Row]:
        """Count the combinations of values in these columns, as in a file that has no others."""
        with tempfile.TemporaryDirectory(prefix="truecount-") as folder:
            copy = Path(folder) / "log.jsonl"
            self._write(copy, columns)
            try:
                return File(copy).rows(columns)
            except InputError as error:
                raise error.calling({str(copy): self.name}) from error

    def _write(self, copy: Path, columns: Columns) -> None:
        """Write the columns that are read, and refuse those that no record has."""
        known: dict[str, None] = {}
        found = set()
        with copy.open("w", encoding="utf-8") as stream:
            for record in self.records():
                values = {column: _plain(value_at(record.values, column)) for column in columns.wanted}
                found |= {column for column, value in values.items() if value is not None}
                known |= dict.fromkeys(leaves(record.values))
                if record.has_failed:
                    values |= {column: FAILED for column in columns.predictions if values[column] is None}
                stream.write(json.dumps(values) + "\n")
        for column in columns.wanted:
            is_optional = column in columns.labels and not columns.needs_label
            if column not in found and column not in known and not is_optional:
                require_column(self.name, list(known), column)

    def __repr__(self) -> str:
        columns = self.columns
        roles = ((role, getattr(self.fields, role)) for role in Fields.__dataclass_fields__)
        read = ", ".join(f"{role} {field!r}" for role, field in roles if field is not None) or "no field by default"
        more = f" and {len(columns) - MOST_SHOWN} more" if len(columns) > MOST_SHOWN else ""
        shown = ", ".join(islice(columns, MOST_SHOWN))
        return f"Log of {self.tool.name}: {self.name}\nread: {read}\ncolumns: {shown}{more}"


def read_log(path: str | PathLike[str] | Sequence[str | PathLike[str]]) -> Log:
    """Return the logs of an evaluation tool, which is recognized by what they hold, as one table.

    Parameters
    ----------
    path
        A file, a pattern such as ``"logs/*.eval"``, a folder, or several: of Inspect (``.eval``, JSON),
        lm-evaluation-harness (``samples_*.jsonl``), promptfoo (JSON, JSON Lines), DeepEval (test runs), OpenAI evals
        (records) or MLflow (tables in JSON).

    Returns
    -------
    `Log`, which `count_log` and `count_table` count; printed, it says which columns there are.
    """
    paths = [path] if isinstance(path, str | PathLike) else list(path)
    found = find_log(paths)
    if found is None:
        tools = ", ".join(tool.name for tool in TOOLS)
        remedy = "Pass it to count_table, which reads tables, or check how it was written"
        raise InputError(quoted(map(str, paths)), "is no log that is known", f"logs of {tools} are read", remedy)
    return found


def find_log(paths: Sequence[str | PathLike[str]]) -> Log | None:
    """Return the log that these files are; None where the first of them is none."""
    if not paths or any(is_address(path) for path in paths):
        return None
    files = [file for path in paths for file in files_meant(path)]
    if not files or files[0].suffix.lower() not in ENDINGS or not files[0].is_file():
        return None
    first = _document(files[0])
    tool = None if first is None else next((tool for tool in TOOLS if tool.recognizes(first)), None)
    return None if tool is None else Log(tuple(map(existing_file, files)), tool)


def _records(tool: Tool, document: Document) -> Iterator[Record]:
    """Return what a log holds; whatever a tool's reader stumbles over is told as another shape."""
    try:
        yield from tool.records(document)
    except InputError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        lacking = f"of another shape ({type(error).__name__}: {error})"
        raise other_shape(
            document.path, tool.name, lacking, "fields are read where its current release has them"
        ) from error


def _document(path: Path) -> Document | None:
    """Return a file of JSON with the first object in it; None where there is none."""
    if is_archive(path):
        return Document(path, read_header(existing_file(path)))
    if path.suffix.lower() not in ENDINGS or first_sign(path) != "{":
        return None
    if path.suffix.lower() == ".jsonl" or holds_lines(path):
        return _first_line(path)
    try:
        with path.open(encoding="utf-8-sig") as stream:
            return Document(path, json.load(stream))
    except (ValueError, RecursionError):
        return None


def _first_line(path: Path) -> Document | None:
    try:
        return next((Document(path, line) for line in json_lines(path)), None)
    except (InputError, ValueError):
        return None


def _plain(value: Any) -> Any:
    """Return None for NaN, which tools write where there is no score."""
    return None if isinstance(value, float) and math.isnan(value) else value
