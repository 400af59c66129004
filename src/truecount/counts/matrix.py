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
from os import PathLike

from truecount import _check
from truecount.counts.paths import existing_file
from truecount.counts.query import DELIMITERS, header, kind, open_text
from truecount.counts.table import Counts
from truecount.errors import InputError

CORNER = "class\\output"
LONG = ["output", "count"]


def read_matrix(confusion: str | PathLike[str], unlabeled: str | PathLike[str]) -> Counts:
    r"""Read counts from a confusion matrix, whose top-left cell reads ``class\output``, and unlabelled counts."""
    matrix, new = _cells(confusion), _by_output(unlabeled)
    _require_corner(confusion, matrix[0][0])
    outputs, classes = matrix[0][1:], [name for name, *_ in matrix[1:]]
    _check.names(f"{confusion}: the header", outputs)
    _require_same_outputs(unlabeled, set(new), set(outputs))
    labeled = [[_count(confusion, cell) for cell in cells] for _, *cells in matrix[1:]]
    return Counts(labeled, [new[output] for output in outputs], classes, outputs)


def _cells(path: str | PathLike[str]) -> list[list[str]]:
    """Give the cells of a CSV file, its header first; every row is as long as the header."""
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
    except (UnicodeDecodeError, csv.Error) as error:
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
    """Give the unlabelled count of each output, from either form."""
    rows = _cells(path)
    if rows[0] == LONG:
        named = [(output, count) for output, count in rows[1:]]
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
    if not (cell.isascii() and cell.isdigit()):
        raise InputError(
            str(path),
            f"has the cell {cell!r:.60}",
            "counts are whole numbers, 0 or more",
            "Write 0 where nothing was seen",
        )
    return int(cell)


def _require_corner(path: str | PathLike[str], found: str) -> None:
    if found != CORNER:
        raise InputError(
            str(path),
            f"has {found!r:.60} in its top-left cell",
            f"it must read {CORNER}, to say that rows are true classes and columns are outputs",
            "Transpose the table if its rows are outputs, then write that",
        )


def _require_same_outputs(path: str | PathLike[str], found: set[str], needed: set[str]) -> None:
    for name in sorted(found ^ needed):
        side = "names" if name in found else "does not name"
        raise InputError(
            str(path),
            f"{side} the output {name!r}",
            "it must name the outputs of the confusion matrix",
            "Write 0 where nothing was seen",
        )
