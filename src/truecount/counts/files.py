"""Files of labelled and unlabelled rows become counts."""

import math
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import chain, repeat
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from truecount import _check
from truecount._types import Name
from truecount.counts.paths import existing_file
from truecount.counts.query import DELIMITERS, grouped, kind
from truecount.counts.table import SCHEMA, Counts
from truecount.errors import InputError

Pairs: TypeAlias = Counter[tuple[Name | None, Name | None]]
"""How many rows have each label and prediction."""

MISSING_WORDS = frozenset({"na", "n/a", "nan", "null", "none"})
SUSPECT_WORDS = MISSING_WORDS | {"unknown", "?", "-", "--", ".", "missing", "unlabeled", "unlabelled", "tbd"}
"""What may mean that a label is missing where there is nothing else to estimate."""
MOST_NAMES = 1000
FORM = (
    f'Write {{"schema": "{SCHEMA}", "classes": [...], "outputs": [...], "labeled": [[...], ...], "unlabeled": [...]}}, '
    "where labeled has a row for each class"
)


def count_files(
    table: str | PathLike[str],
    unlabeled: str | PathLike[str] | None = None,
    *,
    label: str,
    prediction: str,
    missing: str | None = None,
) -> Counts:
    """Count the rows of one file, or of a labelled and an unlabelled one, without loading them.

    Parameters
    ----------
    table
        CSV, TSV, JSON Lines or Parquet; the ending says which. Without `unlabeled`, its rows with an empty label are
        the unlabelled population.
    unlabeled
        A second file whose rows are the unlabelled population; only its predictions are read.
    label, prediction
        Names of the columns with the true class and with the output.
    missing
        A word that stands for an empty label, such as ``"NA"``; ``""`` says that no word does.

    Notes
    -----
    Text files are read as text: ``01`` is not ``1``. Blanks around a value are not part of it, and nothing but blanks
    is an empty value. JSON and Parquet keep their types, and whole numbers are whole however they are stored. Where a
    text file meets a typed one, all names are text.
    """
    if label == prediction:
        raise InputError("prediction", f"is {label!r}, as is label", "these are two columns", "Name the column of each")
    file = Path(table)
    if unlabeled is None:
        pairs = _pairs(file, (label, prediction), missing)
        _require_some_labeled(file, pairs, label)
        _require_some_unlabeled(file, pairs)
    else:
        labeled = _labeled_pairs(file, Path(unlabeled), (label, prediction), missing)
        pairs = _joined(file, labeled, Path(unlabeled), prediction)
    _require_class_names(file, pairs, label, prediction)
    return _tabulated(_named_alike(pairs))


def read_counts(path: str | PathLike[str]) -> Counts:
    """Read counts from the JSON that `Counts.to_json` gives."""
    file = existing_file(path)
    try:
        return Counts.from_json(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(str(file), "is not text", "counts are written in JSON", FORM) from error
    except InputError as error:
        raise InputError(f"{file}: {error.argument}", error.found, error.needed, FORM) from error


def _pairs(file: Path, columns: Sequence[str], missing: str | None = None) -> Pairs:
    """Count labels and predictions; where `columns` is the prediction alone, every label is empty."""
    pairs: Pairs = Counter()
    for *values, rows in grouped(file, columns):
        label, output = (None, *map(_name, values, columns, repeat(file)))[-2:]
        pairs[None if missing and str(label) == missing else label, output] += rows
    _require_predictions(file, pairs, columns[-1])
    if missing is None:
        _require_clear_labels(file, pairs)
    return pairs


def _name(value: Any, column: str, file: Path) -> Name | None:
    """Give a value as the name of a class or an output; None where there is none."""
    if isinstance(value, str):
        return value.strip() or None
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float | Decimal) and math.isnan(value):
        return None
    if isinstance(value, float | Decimal) and math.isfinite(value):
        return int(value) if value == int(value) else float(value)
    found = f"holds {value!r:.60} in column {column!r}"
    raise InputError(str(file), found, "names are strings, whole numbers or booleans", "Write the names as text")


def _labeled_pairs(file: Path, unlabeled: Path, columns: Sequence[str], missing: str | None) -> Pairs:
    """Count the first of two files, which must be labelled throughout; without any label it may be the second."""
    try:
        pairs = _pairs(file, columns, missing)
        _require_some_labeled(file, pairs, columns[0])
    except InputError as error:
        if _has_labels(unlabeled, columns[0], missing) and not _has_labels(file, columns[0], missing):
            found, needed = f"has no label and {unlabeled} has", "the labelled file comes first"
            raise InputError(str(file), found, needed, "Swap the two files") from error
        raise
    _require_all_labeled(file, pairs)
    return pairs


def _has_labels(file: Path, label: str, missing: str | None) -> bool:
    try:
        return any(_name(value, label, file) not in (None, missing) for value, _ in grouped(file, [label]))
    except InputError:
        return False


def _joined(file: Path, labeled: Pairs, unlabeled_file: Path, prediction: str) -> Pairs:
    """Put the rows of two files together; text never equals a number, so both sides become text where one is."""
    unlabeled = _pairs(unlabeled_file, (prediction,))
    is_text = [kind(path) in DELIMITERS for path in (file, unlabeled_file)]
    if is_text[0] == is_text[1]:
        return labeled + unlabeled
    joined: Pairs = Counter()
    for (label, output), rows in chain(labeled.items(), unlabeled.items()):
        joined[None if label is None else str(label), str(output)] += rows
    return joined


def _named_alike(pairs: Pairs) -> Pairs:
    """Read labels as predictions are written: pandas writes a whole label ``1`` as ``1.0`` where others are missing."""
    labels, outputs = _labels(pairs), _outputs(pairs)
    shorter = {label: label.removesuffix(".0") for label in labels if isinstance(label, str)}
    if labels & outputs or len(shorter) < len(labels) or not set(shorter.values()) <= outputs:
        return pairs
    renamed: Pairs = Counter()
    for (label, output), rows in pairs.items():
        renamed[shorter.get(label), output] += rows  # type: ignore[arg-type]
    return renamed


def _tabulated(pairs: Pairs) -> Counts:
    classes, outputs = _check.sorted_names(_labels(pairs)), _check.sorted_names(_outputs(pairs))
    _check.distinguishable("classes", classes)
    _check.distinguishable("outputs", outputs)
    labeled = [[pairs[name, output] for output in outputs] for name in classes]
    return Counts(labeled, [pairs[None, output] for output in outputs], classes, outputs)


def _labels(pairs: Pairs) -> set[Name]:
    return {label for label, _ in pairs if label is not None}


def _outputs(pairs: Pairs) -> set[Name]:
    return {output for _, output in pairs if output is not None}


def _rows(number: int) -> str:
    return f"{number:,} row{'' if number == 1 else 's'}"


def _require_predictions(file: Path, pairs: Pairs, prediction: str) -> None:
    if not pairs:
        raise InputError(str(file), "has no rows", "some must stand below the column names", "Check how it was written")
    without = sum(rows for (_, output), rows in pairs.items() if output is None)
    if without:
        found = f"has {_rows(without)} without a prediction in column {prediction!r}"
        remedy = "Write what the box said, for instance 'abstained', or remove them"
        raise InputError(str(file), found, "every row needs one", remedy)


def _require_clear_labels(file: Path, pairs: Pairs) -> None:
    """Refuse a label such as ``NA`` that the box never gives: it may be a class or mean that there is no label."""
    outputs = _outputs(pairs)
    unclear = [name for name in _labels(pairs) if str(name).casefold() in MISSING_WORDS and name not in outputs]
    if unclear:
        rows = sum(number for (label, _), number in pairs.items() if label == unclear[0])
        raise InputError(
            str(file),
            f"has {_rows(rows)} labelled {unclear[0]!r}",
            "that may be a class or mean that the label is missing",
            f"Pass missing={str(unclear[0])!r} if it is missing, or missing='' for a class",
        )


def _require_all_labeled(file: Path, pairs: Pairs) -> None:
    without = sum(rows for (name, _), rows in pairs.items() if name is None)
    if without:
        found = f"has {_rows(without)} with an empty label"
        raise InputError(
            str(file),
            found,
            "the first of two files must be labelled throughout",
            "Remove them, or move them to the second file",
        )


def _require_some_labeled(file: Path, pairs: Pairs, label: str) -> None:
    if not _labels(pairs):
        raise InputError(
            str(file),
            f"has no label in column {label!r}",
            "some rows must be labelled",
            "Fill in the true class of a sample, or choose another column",
        )


def _require_some_unlabeled(file: Path, pairs: Pairs) -> None:
    if any(name is None for name, _ in pairs):
        return
    found, needed = "has a label in every row", "there is no unlabelled population to estimate"
    remedy = "Leave the label empty where it is unknown, or give the unlabelled rows in a second file"
    outputs, often = _outputs(pairs), Counter[Name | None]()
    for (label, _), rows in pairs.items():
        often[label] += rows if str(label).casefold() in SUSPECT_WORDS and label not in outputs else 0
    (word, rows), *_ = often.most_common(1)
    if rows:
        found = f"{found}, and that of {_rows(rows)} is {word!r}"
        remedy = f"Pass missing={str(word)!r} if that means that the label is missing"
    raise InputError(str(file), found, needed, remedy)


def _require_class_names(file: Path, pairs: Pairs, label: str, prediction: str) -> None:
    labels = _labels(pairs)
    if len(labels) == 1:
        raise InputError(
            str(file),
            f"has only the label {labels.pop()!r}",
            "a share needs at least two classes",
            "Label some items of another class",
        )
    for column, names in ((label, labels), (prediction, _outputs(pairs))):
        if len(names) > MOST_NAMES:
            found = f"has {len(names):,} different values in column {column!r}"
            raise InputError(
                str(file), found, f"a column of class names has at most {MOST_NAMES:,}", "Choose another column"
            )
