r"""Counts that someone counted already: a confusion matrix and the unlabelled counts, as CSV files.

The confusion's top-left cell must read ``class\output``, so that nobody mistakes a transposed one for it::

    class\output,fail,pass
    fail,140,60
    pass,20,180

The unlabelled counts are either one row below the outputs, or a row for each output below ``output,count``::

    fail,pass                output,count
    600,400                  fail,600
                             pass,400
"""

import csv
import re
from dataclasses import replace
from itertools import chain
from os import PathLike
from pathlib import Path

import numpy as np

from truecount import _check
from truecount._wording import nearest, quoted
from truecount.counts.table import Counts
from truecount.errors import InputError
from truecount.reading.locate import BROKEN, DELIMITERS, existing_file, header, kind, open_text

CORNER = "class\\output"
TRANSPOSED = "output\\class"
LONG = ["output", "count"]
MOST_DIGITS = 18
"""Of a count, which stays below 2**63."""


def read_matrix(confusion: str | PathLike[str], unlabeled: str | PathLike[str]) -> Counts:
    r"""Read counts from a confusion matrix, whose top-left cell reads ``class\output``, and unlabelled counts."""
    counts, new = read_confusion(confusion), _by_output(unlabeled)
    outputs = [str(output) for output in counts.outputs]
    _require_same_outputs(unlabeled, set(new), set(outputs))
    return replace(counts, unlabeled=np.array([new[output] for output in outputs]))


def read_confusion(path: str | PathLike[str]) -> Counts:
    """Read labelled counts alone, without a population."""
    matrix = _cells(path)
    _require_corner(path, matrix[0][0])
    outputs, classes = matrix[0][1:], [name for name, *_ in matrix[1:]]
    _check.names(f"{path}: the header", outputs)
    labeled = [[_count(path, cell) for cell in cells] for _, *cells in matrix[1:]]
    return Counts(labeled, [0] * len(outputs), classes, outputs)


def holds_matrix(path: str | PathLike[str]) -> bool:
    """Whether a file's top-left cell says that it is a confusion matrix."""
    file = Path(path)
    return file.is_file() and kind(file) in DELIMITERS and header(file)[0][0] in (CORNER, TRANSPOSED)


def _cells(path: str | PathLike[str]) -> list[list[str]]:
    """Return the cells of a CSV file, its header first; every row is as long as the header."""
    file = existing_file(path)
    if kind(file) not in DELIMITERS:
        raise InputError(
            str(file),
            f"ends in {file.suffix!r}",
            "counts are read from CSV or TSV",
            "Convert it, or give the rows themselves",
        )
    names, delimiter = header(file)
    try:
        with open_text(file) as stream:
            rows = [
                [cell.strip() for cell in row]
                for row in csv.reader(stream, delimiter=delimiter)
                if any(map(str.strip, row))
            ]
    except BROKEN as error:
        raise InputError(
            str(file), f"cannot be read ({error})", "it must be text in UTF-8", "Save it as CSV UTF-8"
        ) from error
    if len(rows) < 2:
        raise InputError(str(file), "has no counts", "they stand below the header", "Check how it was written")
    for number, row in enumerate(rows, 1):
        if len(row) != len(names):
            found = f"has {len(row)} cells in row {number} and {len(names)} in the header"
            raise InputError(str(file), found, "all rows must be as long", "Write 0 where nothing was seen")
    return rows


def _by_output(path: str | PathLike[str]) -> dict[str, int]:
    """Return the unlabelled count of each output, from either form."""
    rows = _cells(path)
    if rows[0] == LONG:
        named = [(output, count) for output, count in rows[1:]]
    elif not any(re.search(r"\d", cell) for cell in chain(*rows[1:])):
        found = f"has {next(filter(None, chain(*rows[1:])))!r:.60} below its first line"
        needed = "counts are needed, and these look like outputs"
        raise InputError(str(path), found, needed, "Count how often each occurs, and write that below output,count")
    elif len(rows) == 2:
        named = list(zip(*rows, strict=True))
    else:
        found = f"has {len(rows) - 1} rows below {','.join(rows[0])!r:.60}"
        raise InputError(
            str(path),
            found,
            "it must be one row of counts below the outputs",
            "Or write output,count above a row for each output",
        )
    _check.names(str(path), [output for output, _ in named])
    return {output: _count(path, count) for output, count in named}


def _count(path: str | PathLike[str], cell: str) -> int:
    if cell.isascii() and cell.isdigit():
        if len(cell.lstrip("0")) > MOST_DIGITS:
            found, needed = f"has a count of {len(cell):,} digits", f"counts have at most {MOST_DIGITS} digits"
            raise InputError(str(path), found, needed, "Check how it was written")
        return int(cell)
    found = f"has the cell {cell!r:.60}"
    if re.fullmatch(r"[01]?[.,]\d+|[\d.,]+ ?%", cell, re.ASCII):
        needed = "counts are needed, and this looks like a rate, which does not say of how many"
        raise InputError(str(path), found, needed, "Write how many items were seen")
    needed = "counts are whole numbers, 0 or more"
    raise InputError(str(path), found, needed, "Write 0 where nothing was seen")


def _require_corner(path: str | PathLike[str], found: str) -> None:
    if found == CORNER:
        return
    needed = f"it must read {CORNER}, to say that rows are true classes and columns are outputs"
    remedy = f"Transpose the table if its rows are outputs, then write {CORNER} there"
    if found == TRANSPOSED:
        remedy = f"Its rows seem to be outputs: transpose the table, then write {CORNER} there"
    raise InputError(str(path), f"has '{found:.60}' in its top-left cell", needed, remedy)


def _require_same_outputs(path: str | PathLike[str], found: set[str], needed: set[str]) -> None:
    lacking, rule = sorted(needed - found), f"those of the confusion matrix are {quoted(sorted(needed))}"
    for name in sorted(found - needed):
        meant = nearest(name, lacking)
        remedy = f"Perhaps you meant {meant!r}" if meant else "Give it a column there, of zeros where no label has it"
        raise InputError(str(path), f"names the output {name!r}", rule, remedy)
    for name in lacking:
        raise InputError(str(path), f"does not name the output {name!r}", rule, "Write 0 where nothing was seen")
