"""One rule for words that may mean that a value is missing, in labels and predictions alike.

The words NA, N/A, NaN, null and None, in any case, are refused in the column of labels and in that of predictions
until someone says what they mean: ``missing="NA"`` that this word stands for an empty value, ``missing=""`` that none
does, or ``classes=`` and ``outputs=`` that it is a name. Real nulls need no words and are missing always.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from truecount._types import Name
from truecount.counts.tally import Row
from truecount.errors import InputError

MISSING_WORDS = frozenset({"na", "n/a", "nan", "null", "none"})
SUSPECT_WORDS = MISSING_WORDS | {"unknown", "?", "-", "--", ".", "missing", "unlabeled", "unlabelled", "tbd"}
"""What may mean that a label is missing where there is nothing else to estimate."""


def explained(table: str, rows: Sequence[Row], missing: str | None, names: Iterable[Name] = ()) -> list[Row]:
    """Give the rows with None for the word that means a missing value, and refuse words that may.

    Parameters
    ----------
    table
        What the caller knows the table as; errors say it.
    rows
        What was counted in it.
    missing
        The word that means a missing value; "" says that none does, and None that nobody has said.
    names
        Classes and outputs that the caller named, which are what they are.
    """
    if missing is None:
        _require_clear(table, rows, frozenset(names))
    if not missing:
        return list(rows)
    return [row._replace(label=_without(row.label, missing), output=_without(row.output, missing)) for row in rows]


def _without(name: Name | None, missing: str) -> Name | None:
    return None if str(name) == missing else name


def _require_clear(table: str, rows: Sequence[Row], names: frozenset[Name]) -> None:
    often: dict[str, Counter[Name]] = {"labelled": Counter(), "predicted": Counter()}
    for row in rows:
        for role, name in (("labelled", row.label), ("predicted", row.output)):
            if name is not None and str(name).casefold() in MISSING_WORDS and name not in names:
                often[role][name] += row.rows
    for role, words in often.items():
        for word, number in words.most_common(1):
            raise InputError(
                table,
                f"has {number:,} row{'' if number == 1 else 's'} {role} {word!r}",
                "that may be a name or mean that the value is missing",
                f"Pass missing={str(word)!r} if it is missing, or missing='' for a name",
            )


def suspect_label(rows: Sequence[Row]) -> tuple[Name, int] | None:
    """Give the most frequent label that looks like a missing one and that the box never gives, and its rows."""
    outputs, often = {row.output for row in rows}, Counter[Name]()
    for row in rows:
        if row.label is not None and str(row.label).casefold() in SUSPECT_WORDS and row.label not in outputs:
            often[row.label] += row.rows
    return often.most_common(1)[0] if often else None
