"""Files that the page opens: what is in their columns, which of them are meant, and what they count."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from datetime import date, datetime
from io import StringIO
from pathlib import Path
from typing import Any

from truecount.app.request import Chosen, shown
from truecount.cli.source import require_few_groups
from truecount.counts import Groups, Ratings
from truecount.counts.matrix import holds_matrix, read_confusion
from truecount.errors import InputError
from truecount.reading.files import File
from truecount.reading.locate import find_shards, holds_counts

SAMPLE, SHOWN = 2000, 4
"""Rows that are looked at, and that are shown."""
MOST_NAMES, MOST_GROUPS = 50, 60
"""Different values of a column that may hold classes, or groups."""
LONGEST_CELL, MOST_COLUMNS = 60, 100
LABELS = ("label", "human", "truth", "true", "gold", "class", "actual", "reference", "annotation", "target", "y")
OUTPUTS = ("prediction", "predicted", "verdict", "output", "judge", "test", "result", "model", "flag", "pred", "c")
"""What columns of labels and of outputs are often called."""


@dataclass(frozen=True, slots=True)
class Column:
    """What the first rows show of a column."""

    name: str
    values: frozenset[str]
    has_gaps: bool
    is_time: bool
    repeats: bool

    @property
    def may_be_classes(self) -> bool:
        """Whether these may be names of classes or outputs."""
        return 1 <= len(self.values) <= MOST_NAMES and not self.is_time

    @property
    def may_be_groups(self) -> bool:
        """Whether these may be groups of many rows each."""
        return 2 <= len(self.values) <= MOST_GROUPS and not self.is_time and self.repeats


def preview(path: str) -> dict[str, Any]:
    """Return what a file holds: rows with a guess of the columns, a confusion matrix, or counts."""
    if holds_counts(Path(path)):
        return {"kind": "counts"}
    find_shards(path)
    if holds_matrix(path):
        return {"kind": "matrix", "matrix": read_confusion(path).to_dict()}
    names, rows = File(path).head(SAMPLE)
    columns = [_column(name, [row[at] for row in rows]) for at, name in enumerate(names)]
    label, prediction = guess(columns)
    named = (label, prediction)
    return {
        "kind": "rows",
        "columns": names[:MOST_COLUMNS],
        "rows": [[_cell(value) for value in row[:MOST_COLUMNS]] for row in _telling(rows, names, label)],
        "label": label,
        "prediction": prediction,
        "groups": [column.name for column in columns if column.may_be_groups and column.name not in named],
        "times": [column.name for column in columns if column.is_time],
        "is_labelled": len(rows) < SAMPLE and any(each.name == label and not each.has_gaps for each in columns),
    }


def count(paths: Sequence[str], chosen: Chosen) -> dict[str, Any]:
    """Count the rows of a file, or of a labelled one and another, where they lie; only counts come back."""
    places = [place for place in (chosen.place, chosen.population) if place is not None]
    with called(dict(zip(paths, map(shown, places), strict=True))), redirect_stderr(StringIO()) as said:
        found, _ = chosen.source(*paths).read_any()
    counts = found.counts if isinstance(found, Ratings) else found
    if isinstance(counts, Groups):
        require_few_groups(counts)
    return {
        "counts": found.to_dict(),
        "labeled": float(counts.labeled.sum()),
        "unlabeled": float(counts.unlabeled.sum()),
        "notes": said.getvalue().splitlines(),
    }


@contextmanager
def called(names: Mapping[str, str]) -> Iterator[None]:
    """Let errors name files by what the user calls them, and not by where they lie."""
    try:
        yield
    except InputError as error:
        raise error.calling(names) from error


def guess(columns: Sequence[Column]) -> tuple[str | None, str | None]:
    """Return the two columns that look most like labels and outputs: gaps, names in common, what they are called."""
    able = [column for column in columns if column.may_be_classes]
    pairs = [
        (_score(label, output), label.name, output.name)
        for label in able
        for output in able
        if label is not output and _may_be_labels(label, output)
    ]
    score, label, output = max(pairs, key=lambda pair: pair[0], default=(0.0, "", ""))
    return (label, output) if score > 1 else (None, None)


def _may_be_labels(label: Column, output: Column) -> bool:
    """Whether anything suggests labels in this column; the output's name alone does not."""
    return label.has_gaps or bool(label.values & output.values) or _is_called(label.name, LABELS)


def _score(label: Column, output: Column) -> float:
    common = len(label.values & output.values) / len(label.values | output.values)
    gaps = 1.0 * label.has_gaps - 2.0 * output.has_gaps
    return 2 * common + gaps + 1.5 * _is_called(label.name, LABELS) + 1.5 * _is_called(output.name, OUTPUTS)


def _is_called(name: str, words: Sequence[str]) -> bool:
    parts = name.lower().replace("-", "_").replace(".", "_").split("_")
    return any(word in parts for word in words)


def _column(name: str, cells: Sequence[Any]) -> Column:
    filled = [value for value in cells if value is not None and str(value).strip()]
    texts = [str(value).strip() for value in filled]
    is_time = bool(filled) and all(map(_is_time, filled[:50]))
    return Column(name, frozenset(texts), len(filled) < len(cells), is_time, len(texts) >= 2 * len(set(texts)))


def _is_time(value: Any) -> bool:
    if isinstance(value, date):
        return True
    text = str(value).strip()
    if len(text) < 10 or not text[:4].isdigit():
        return False
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _telling(rows: Sequence[tuple[Any, ...]], names: Sequence[str], label: str | None) -> list[tuple[Any, ...]]:
    """Return some rows, of which half have a label where there are such."""
    if label is None:
        return list(rows[:SHOWN])
    at = names.index(label)
    having = [row for row in rows if row[at] is not None and str(row[at]).strip()]
    lacking = [row for row in rows if row[at] is None or not str(row[at]).strip()]
    few = SHOWN // 2
    return [*having[: max(few, SHOWN - len(lacking))], *lacking[: max(few, SHOWN - len(having))]][:SHOWN]


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
